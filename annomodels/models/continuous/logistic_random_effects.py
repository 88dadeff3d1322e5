"""Logistic random effects of Paun et al. (2018): coder logits minus item effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.base import State
from annomodels.models.continuous.centring import PartlyCentred
from annomodels.models.continuous.contrasts import against_last, log_softmax, point_states
from annomodels.models.continuous.covariates import Regressed, right_direction
from annomodels.models.continuous.item_difficulty import ItemEffects
from annomodels.models.continuous.quadrature import effect_nodes
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.parameters import Parameter, Variables
from annomodels.models.states import ItemStates
from annomodels.priors import Covariates, Diagonal, Dirichlet, HalfNormal, Scale
from annomodels.priors.distributions import Normal
from annomodels.types import Floats


@dataclass(frozen=True)
class LogisticRandomEffects(ItemEffects, Regressed):
    r"""Coders have logits for each class, from which item effects are subtracted.

    .. math::

        \beta_{j,k,l} \sim N(\zeta_{k,l}, \Omega_{k,l}^2), \quad
        \theta_{i,l} \mid c_i = k \sim N(0, \chi_{k,l}^2) \; (l < K), \quad
        y_n \sim Cat(softmax(\beta_{j_n, c_{i_n}} - \theta_{i_n}))

    with :math:`\beta_{j,k,K} = \theta_{i,K} = 0`, :math:`\zeta_{k,l} \sim N(0, s^2)`,
    :math:`\Omega_{k,l} \sim N^+(0, t^2)` and :math:`\chi_{k,l} \sim N^+(0, u^2)`. The effects of
    the items are summed out over the points of
    :func:`~annomodels.models.continuous.quadrature.effect_nodes`.

    The last label is the reference, as in the paper. With two labels, the effect of an item is one
    difficulty; with three or more, results depend on the order of the labels.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    location_spread
        Standard deviation s of the population location.
    coder_scale
        Scale t of the half-normal prior of the spread of the coders.
    item_scale
        Scale u of the half-normal prior of the spread of the items.
    nodes
        Number of points, see :func:`~annomodels.models.continuous.quadrature.effect_nodes`; None
        chooses it from the number of labels per item, see
        :func:`~annomodels.models.continuous.quadrature.enough_nodes`.
    coder_covariates
        Covariates of the coders: a mapping from coders to mappings from columns to values, a table
        with a column "coder", or :class:`annomodels.priors.Covariates`. The log-odds of a correct
        label are regressed on them: :math:`\sum_t x_{j,t} \gamma_t` is added to :math:`\zeta_{k,k}`
        for k < K, and subtracted from all :math:`\zeta_{K,l}`. The classes are then not
        exchangeable, and chains are not relabeled.

    References
    ----------
    S. Paun, B. Carpenter, J. Chamberlain, D. Hovy, U. Kruschwitz and M. Poesio (2018). Comparing
    Bayesian models of annotation. TACL 6, 571-585. doi:10.1162/tacl_a_00040

    Examples
    --------
    >>> LogisticRandomEffects().engines
    ('nuts',)
    """

    name: ClassVar[str] = "logistic-random-effects"
    title: ClassVar[str] = "logistic random effects"
    citation: ClassVar[str] = "doi:10.1162/tacl_a_00040"
    family: ClassVar[str] = "hardness"

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    location_spread: Scale = 1.0
    coder_scale: Scale = 1.0
    item_scale: Scale = 1.0
    nodes: int | None = None
    coder_covariates: Covariates | None = None

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        return {**super().coords(labels), **self.effect_coords}

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        dims = ("truth", "contrast")

        def logits(v: Variables) -> PartlyCentred:
            mean = v["coder_location"][..., None, :, :]
            if self.coder_covariates is not None:
                mean = mean + self.effect_of(v)[..., None, None] * right_direction(n_labels)
            return PartlyCentred(mean, v["coder_spread"][..., None, :, :], v.codes)

        return (
            *super().variables(n_labels),
            Parameter(
                "coder_location", dims, prior=Normal(0.0, self.location_spread),
                about=f"Population location: normal with spread {self.location_spread:g} logits.",
            ),
            Parameter(
                "coder_spread", dims, "positive", prior=HalfNormal(self.coder_scale),
                about=f"Spread of the coders: half-normal with scale {self.coder_scale:g} logits.",
            ),
            self.spread_parameter,
            Parameter("coder_logit", ("coder", *dims), watched="", prior=logits),
            *self.effect_parameters,
        )  # fmt: skip

    def item_states(self, v: Variables) -> ItemStates:
        points, weights = effect_nodes(v.n_labels - 1, self.nodes)
        effect = -v["item_spread"][:, None, :] * points
        rows = log_softmax(v["coder_logit"][:, :, None, :] + effect[None], v.xp)
        return point_states(v, weights, rows, effect)

    @property
    def starter(self) -> HierarchicalDawidSkene:
        return HierarchicalDawidSkene(self.prevalence, Diagonal(300.0, 0.7))

    def pymc_start(self, state: State) -> dict[str, Floats]:
        logit = against_last(state.log_confusion.transpose(0, 2, 1))
        location = logit.mean(axis=0)
        spread = np.maximum(logit.std(axis=0), 0.2)
        return {
            "prevalence": np.exp(state.log_prevalence),
            "coder_location": location,
            "coder_spread": spread,
            "item_spread": np.full(location.shape, 0.5),
            "coder_logit": logit,
            **self.effect_start,
        }

    def item_effects(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        return values["coder_logit"], -values["item_spread"]

    def story(self) -> list[str]:
        return [
            "Every item has one true class and an effect on the logits of all coders; every coder "
            "has logits for each class around a population that is estimated too. All logits are "
            "relative to the last label."
        ]
