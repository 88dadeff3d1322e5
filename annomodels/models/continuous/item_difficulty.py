"""Item difficulty of Paun et al. (2018): each item has separate logits; coders are identical."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import Model, State
from annomodels.models.continuous.contrasts import against_last, log_softmax, point_states
from annomodels.models.continuous.quadrature import effect_nodes, enough_nodes
from annomodels.models.dawid_skene import Pooled
from annomodels.models.parameters import Parameter, Variables
from annomodels.models.states import ItemStates
from annomodels.priors import Dirichlet, HalfNormal, Scale
from annomodels.priors.distributions import Normal
from annomodels.types import Floats


class ItemEffects(Model):
    """Base of models with effects of items on the logits of labels, relative to the last label."""

    item_scale: Scale
    nodes: int | None

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        points, _ = effect_nodes(len(labels) - 1, self.nodes)
        state = [f"{label}/{m}" for label in labels for m in range(len(points))]
        return {"contrast": labels[:-1], "state": state}

    def with_data(self, data: Annotations) -> Self:
        known = super().with_data(data)
        if known.nodes is not None:
            return known
        return replace(known, nodes=enough_nodes(data.n_labels - 1, np.diff(data.starts)))

    @abstractmethod
    def item_effects(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return logits [row, truth, contrast] and scales of the summed-out effects of a draw."""

    @property
    def spread_parameter(self) -> Parameter:
        """Declare the spread of the item effects."""
        return Parameter(
            "item_spread", ("truth", "contrast"), "positive", prior=HalfNormal(self.item_scale),
            about="Spread of the items of a class: half-normal with scale "
            f"{self.item_scale:g} logits.",
        )  # fmt: skip


@dataclass(frozen=True)
class ItemDifficulty(ItemEffects):
    r"""Each item has logits drawn around those of its class; coders are identical.

    .. math::

        c_i \sim Cat(\pi), \quad \theta_{i,l} \mid c_i = k \sim N(\eta_{k,l}, \chi_{k,l}^2)
        \; (l < K), \quad \theta_{i,K} = 0, \quad y_n \sim Cat(softmax(\theta_{i_n}))

    with :math:`\eta_{k,l} \sim N(0, s^2)` and :math:`\chi_{k,l} \sim N^+(0, t^2)`. The logits of
    an item are summed out over the points of
    :func:`~annomodels.models.continuous.quadrature.effect_nodes`.

    The last label is the reference, as in the paper. With three or more labels, results therefore
    depend on the order of the labels.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    location_spread
        Standard deviation s of the location of a class.
    item_scale
        Scale t of the half-normal prior of the spread of the items.
    nodes
        Number of points, see :func:`~annomodels.models.continuous.quadrature.effect_nodes`; None
        chooses it from the number of labels per item, see
        :func:`~annomodels.models.continuous.quadrature.enough_nodes`.

    References
    ----------
    S. Paun, B. Carpenter, J. Chamberlain, D. Hovy, U. Kruschwitz and M. Poesio (2018). Comparing
    Bayesian models of annotation. TACL 6, 571-585. doi:10.1162/tacl_a_00040

    Examples
    --------
    >>> ItemDifficulty().engines
    ('nuts',)
    """

    name: ClassVar[str] = "item-difficulty"
    title: ClassVar[str] = "item difficulty"
    citation: ClassVar[str] = "doi:10.1162/tacl_a_00040"
    family: ClassVar[str] = "alike"
    shared: ClassVar[bool] = True

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    location_spread: Scale = 1.0
    item_scale: Scale = 1.0
    nodes: int | None = None

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        return (
            *super().variables(n_labels),
            Parameter(
                "item_location", ("truth", "contrast"), prior=Normal(0.0, self.location_spread),
                about=f"Location of a class: normal with spread {self.location_spread:g} logits.",
            ),
            self.spread_parameter,
        )  # fmt: skip

    def item_states(self, v: Variables) -> ItemStates:
        k = v.n_labels
        points, weights = effect_nodes(k - 1, self.nodes)
        effect = v["item_spread"][:, None, :] * points
        rows = log_softmax(v["item_location"][:, None, :] + effect, v.xp)
        return point_states(v, weights, rows[None], effect)

    @property
    def starter(self) -> Pooled:
        return Pooled(self.prevalence)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        rows = state.log_confusion[0].T
        location = against_last(rows)
        return {
            "prevalence": np.exp(state.log_prevalence),
            "item_location": location,
            "item_spread": np.full(location.shape, 0.5),
        }

    def item_effects(self, values: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        return values["item_location"][None], values["item_spread"]

    def story(self) -> list[str]:
        return [
            "Every item has one true class and its own logits, normal around those of its "
            "class, relative to the last label; coders are alike."
        ]


def item_effects(model: Model, values: Mapping[str, Floats]) -> tuple[Floats, Floats] | None:
    """Return the summed-out item effects of a draw; None for models without them."""
    return model.item_effects(values) if isinstance(model, ItemEffects) else None
