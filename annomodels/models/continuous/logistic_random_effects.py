"""Logistic random effects of Paun et al. (2018): logits of the coder less those of the item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import ClassVar, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import State
from annomodels.models.continuous.centring import centred_share, of_each, partly_centred
from annomodels.models.continuous.contrasts import (
    against_last,
    difficulties,
    log_softmax,
    state_truth,
)
from annomodels.models.continuous.covariates import Regressed, right_direction
from annomodels.models.continuous.density import Density
from annomodels.models.continuous.quadrature import effect_nodes, enough_nodes
from annomodels.models.encoded import Encoded
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.observed import observed
from annomodels.models.parameters import Parameter
from annomodels.models.states import SMALLEST, States, add_states, marginals
from annomodels.priors import Covariates, Diagonal, Dirichlet, Scale
from annomodels.types import Floats, PyMCModel, TensorLike

PARAMETERS = (
    Parameter("coder_location", ("truth", "contrast")),
    Parameter("coder_spread", ("truth", "contrast"), "positive"),
    Parameter("item_spread", ("truth", "contrast"), "positive"),
    Parameter("coder_logit", ("coder", "truth", "contrast"), watched=""),
)


@dataclass(frozen=True)
class LogisticRandomEffects(Regressed):
    r"""Coders have logits for every class, and every item takes away from them.

    .. math::

        \beta_{j,k,l} \sim N(\zeta_{k,l}, \Omega_{k,l}^2), \quad
        \theta_{i,l} \mid c_i = k \sim N(0, \chi_{k,l}^2) \; (l < K), \quad
        y_n \sim Cat(softmax(\beta_{j_n, c_{i_n}} - \theta_{i_n}))

    with :math:`\beta_{j,k,K} = \theta_{i,K} = 0`, :math:`\zeta_{k,l} \sim N(0, s^2)`,
    :math:`\Omega_{k,l} \sim N^+(0, t^2)` and :math:`\chi_{k,l} \sim N^+(0, u^2)`. The effects of
    the items are summed out over the points of
    :func:`~annomodels.models.continuous.quadrature.effect_nodes`.

    The last label is the reference, as in the paper. For two labels the effect of an item is one
    difficulty; for three and more the labels are not alike, and another order of them gives other
    results.

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
        takes what the labels of an item ask for, see
        :func:`~annomodels.models.continuous.quadrature.enough_nodes`.
    coder_covariates
        What is known of the coders: a mapping from coders to mappings from columns to values, a
        table with a column "coder", or :class:`annomodels.priors.Covariates`. The log-odds that a
        coder is right are regressed on it: :math:`\sum_t x_{j,t} \gamma_t` is added to
        :math:`\zeta_{k,k}` for k < K, and taken from all :math:`\zeta_{K,l}`. The classes are then
        not exchangeable, and chains are not relabelled.

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
    item_effects_summed: ClassVar[bool] = True
    title: ClassVar[str] = "logistic random effects"
    citation: ClassVar[str] = "doi:10.1162/tacl_a_00040"
    family: ClassVar[str] = "hardness"

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    location_spread: Scale = 1.0
    coder_scale: Scale = 1.0
    item_scale: Scale = 1.0
    nodes: int | None = None
    coder_covariates: Covariates | None = None

    @property
    def swappable(self) -> bool:  # type: ignore[override]
        """Return True if parameters with swapped classes belong to the model, too."""
        return self.coder_covariates is None

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Names along the dimensions that only this model has."""
        points, _ = effect_nodes(len(labels) - 1, self.nodes)
        state = [f"{label}/{m}" for label in labels for m in range(len(points))]
        return {"contrast": labels[:-1], "state": state, **self.effect_coords}

    def with_data(self, data: Annotations) -> Self:
        """Take the number of points from the labels, where it is not given."""
        known = super().with_data(data)
        if known.nodes is not None:
            return known
        return replace(known, nodes=enough_nodes(data.n_labels - 1, np.diff(data.starts)))

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare locations and spreads of the logits."""
        return (*PARAMETERS, *self.effect_parameters)

    def n_states(self, n_labels: int) -> int:
        """Return the number of states an item may be in."""
        return n_labels * len(effect_nodes(n_labels - 1, self.nodes)[1])

    def _log_emission(
        self, logit: TensorLike, spread: TensorLike, n_rows: int, n_labels: int, xp: ModuleType
    ) -> TensorLike:
        """Log P(label | state, coder), shape [coder, state, label]."""
        points, _ = effect_nodes(n_labels - 1, self.nodes)
        effect = spread[:, None, :] * points
        logits = logit[:, :, None, :] - effect[None]
        return xp.reshape(log_softmax(logits, xp), (n_rows, n_labels * len(points), n_labels))

    def build(self, codes: Encoded, coords: dict[str, list[str]]) -> PyMCModel:
        """Build the PyMC model with truth and effects of the items summed out."""
        import pymc as pm
        import pytensor.tensor as pt

        k = codes.n_labels
        _, weights = effect_nodes(k - 1, self.nodes)
        with pm.Model(coords=coords) as model:
            prevalence = pm.Dirichlet("prevalence", a=self.prevalence.alpha(k), dims="truth")
            dims = ("truth", "contrast")
            location = pm.Normal("coder_location", 0.0, self.location_spread, dims=dims)
            coder_spread = pm.HalfNormal("coder_spread", self.coder_scale, dims=dims)
            item_spread = pm.HalfNormal("item_spread", self.item_scale, dims=dims)
            centred = observed("centred_share", centred_share(codes))[:, None, None]
            expected, ability = location[None], self.pymc_effect()
            if ability is not None:
                expected = expected + ability[:, None, None] * right_direction(k)
            logit = pm.Normal(
                "coder_logit",
                of_each(expected, centred),
                coder_spread[None],
                dims=("coder", *dims),
                transform=partly_centred(centred),
            )
            log_emission = self._log_emission(logit, item_spread, codes.n_rows, k, pt)
            share = (pt.log(prevalence)[:, None] + np.log(weights)[None, :]).flatten()
            log_truth = np.log(np.maximum(state_truth(k, len(weights)), SMALLEST))
            add_states(codes, share, log_emission, log_truth)
        return model

    def density(self, codes: Encoded) -> Density | None:
        """Return the posterior in compiled loops, for this class but not for derived ones."""
        if type(self) is not LogisticRandomEffects or self.coder_covariates is not None:
            return None
        from annomodels.models.continuous.random_effects_density import RandomEffectsDensity

        return RandomEffectsDensity(self, codes, self.coder_scale)

    @property
    def starter(self) -> HierarchicalDawidSkene:
        """The conjugate model whose mode is the starting point."""
        return HierarchicalDawidSkene(self.prevalence, Diagonal(300.0, 0.7))

    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Values of the PyMC variables that correspond to a state of the starting model."""
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

    def result_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Add the confusion matrices of the coders for items in general."""
        found = self.states({name: array[None] for name, array in values.items()})
        pair = marginals(found.share[0], found.emission[0], found.truth[0])
        return {**values, "confusion": pair[1]}

    def states(self, values: dict[str, Floats]) -> States:
        """States (class, point) of the items under draws of the variables [draw, ...]."""
        prevalence, spread, logit = (
            values[name] for name in ("prevalence", "item_spread", "coder_logit")
        )
        draws, k = prevalence.shape
        points, weights = effect_nodes(k - 1, self.nodes)
        share = (prevalence[:, :, None] * weights).reshape(draws, -1)
        n_rows = logit.shape[1]
        emission = np.empty((draws, n_rows, share.shape[1], k))
        for d in range(draws):
            emission[d] = np.exp(self._log_emission(logit[d], spread[d], n_rows, k, np))
        truth = np.broadcast_to(state_truth(k, len(weights)), (draws, share.shape[1], k))
        difficulty = difficulties(-spread[:, :, None, :] * points).reshape(draws, -1)
        return States(share, emission, truth, {"difficulty": difficulty})

    def item_effects(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Logits without the effects of items, and what these are multiplied with, of one draw."""
        return values["coder_logit"], -values["item_spread"]

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        return [
            "Every item has one true class and an effect on the logits of all coders; every coder "
            "has logits for each class around a population that is estimated too. All logits are "
            "relative to the last label.",
            f"Prevalence: {self.prevalence.in_words}.",
            f"Population location: normal with spread {self.location_spread:g} logits.",
            f"Spread of the coders: half-normal with scale {self.coder_scale:g} logits.",
            f"Spread of the items of a class: half-normal with scale {self.item_scale:g} logits.",
            *self.effect_story,
        ]
