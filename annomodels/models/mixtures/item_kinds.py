"""Kinds of items: what coders take alike is a kind, and which class it belongs to is inferred."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import Model, State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.dawid_skene import DawidSkene
from annomodels.models.mixtures.kind_rows import KindPriors, KindRows
from annomodels.models.mixtures.layout import Layout
from annomodels.models.mixtures.state_model import StateModel
from annomodels.models.parameters import Parameter
from annomodels.types import Ints, Tensor


@dataclass(frozen=True)
class KindsOfItems(KindPriors, StateModel):
    r"""Items come in kinds that coders take alike; a kind belongs to a class, which is inferred.

    .. math::

        k_i \sim Cat(\pi), \quad m_i \sim Cat(\rho_{k_i}), \quad
        t_j \sim Cat(w), \quad \mu_{t,k,m} \sim Dir(\alpha_k), \quad
        \theta_{j,k,m} \sim Dir(s_{t_j,k,m}\, \mu_{t_j,k,m}), \quad
        y_n \sim Cat(\theta_{j_n, k_{i_n}, m_{i_n}})

    Coders who err on the same items are not independent given the class; given the kind they are.
    Rows are drawn towards those of the other coders of a community, so that few labels per coder
    suffice. Chains begin with items put at random into kinds, and whole kinds move between
    classes: where the labels do not say which class a kind belongs to, P(truth) does not either.

    Parameters
    ----------
    prevalence, kinds, communities, first, others, shares, concentration, lapse_rate, anchored
        As in :class:`KindPriors`.

    References
    ----------
    Y. Li, B. I. P. Rubinstein and T. Cohn (2019). Exploiting worker correlation for label
    aggregation in crowdsourcing. ICML, PMLR 97, 3886-3895, for subtypes of a class; P. Welinder, S.
    Branson, S. Belongie and P. Perona (2010). The multidimensional wisdom of crowds. NIPS 23.

    Examples
    --------
    >>> KindsOfItems(kinds=2).perceived(["no", "yes"])
    ['no/1', 'no/2', 'yes/1', 'yes/2']
    """

    name: ClassVar[str] = "item-kinds"
    title: ClassVar[str] = "kinds of items"
    citation: ClassVar[str] = "this package"
    family: ClassVar[str] = "readings"

    @cached_property
    def coders(self) -> KindRows:  # type: ignore[override]
        """Model of the coders."""
        return KindRows(**{each.name: getattr(self, each.name) for each in fields(KindPriors)})

    @property
    def full_name(self) -> str:
        """Name with the numbers of kinds and of communities."""
        several = [f"x {self.communities}"] * (self.communities > 1)
        return " ".join([self.name, str(self.kinds), *several])

    @property
    def scattered(self) -> bool:
        """Kinds find each other from a start at random; a class alone begins at its mode."""
        return self.kinds > 1

    @property
    def starter(self) -> ConjugateModel:
        """The conjugate model whose mode is the starting point."""
        return DawidSkene(self.prevalence)

    def begin(self, state: State) -> State:
        """Parameters of the coders' model that correspond to a state of the starting model."""
        return self.coders.expand(state)

    def with_data(self, data: Annotations) -> Self:
        """Copy that knows the data; its priors name neither coders nor labels."""
        return Model.with_data(self, data)

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare what coders perceive: kinds of a class may be numbered in any order."""
        return tuple(
            replace(each, exchangeable=("perceived",)) if each.dims == ("perceived",) else each
            for each in super().own_parameters(n_labels)
        )

    def n_states(self, n_labels: int) -> int:
        """Return the number of states an item may be in: the kinds of all classes."""
        return n_labels * self.kinds

    def perceived(self, labels: list[str]) -> list[str]:
        """Name the kinds."""
        return [f"{label}/{m + 1}" for label in labels for m in range(self.kinds)]

    def layout(self, n_labels: int) -> Layout:
        """Return the states of the items: class and kind."""
        names = tuple(self.perceived([str(k) for k in range(n_labels)]))
        stray = self.lapse_rate / (n_labels - 1)
        truth = np.where(np.eye(n_labels, dtype=bool), 1.0 - self.lapse_rate, stray)
        return Layout(
            names=names,
            mix=np.eye(len(names)),
            base=np.arange(len(names)),
            truth=np.repeat(truth, self.kinds, axis=0),
        )

    def pymc_prevalence(self, n_perceived: int) -> Tensor:
        """Shares of all kinds, with their prior; in a model context."""
        import pymc as pm
        import pytensor.tensor as pt

        share = pm.Dirichlet("prevalence", a=np.ones(n_perceived), dims="perceived")
        pm.Potential("shares", self.coders.log_shares(share, n_perceived // self.kinds, pt))
        return share

    def draw(
        self, counts: object, sizes: object, known: Ints, state: State, key: int, iteration: int
    ) -> None:
        """Gibbs step of the coders' model, in which kinds may move between classes."""
        self.coders.draw_beside(counts, sizes, known, state, key, iteration)

    def step_arguments(self, state: State) -> tuple[object, ...] | None:
        """Return the arguments of a Gibbs step; one call takes many steps."""
        return self.coders.step_arguments(state)
