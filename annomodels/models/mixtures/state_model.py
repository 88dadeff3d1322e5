"""State models: coders as in a confusion model, items in one of several states."""

# state[i] ~ Categorical(share), row[n] ~ Categorical(mix[state[item[n]]]), label[n] ~
# Categorical(rows[coder[n], row[n]]), truth[i] ~ Categorical(truth[state[i]]).
# The first rows of a coder are those of the coders' model, one for each perceived class. Each
# subclass defines the states (its Layout). This module has the common parts: the PyMC model, the
# state probabilities, the conjugate draws and the item states.

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import DrawsOf, Model, Populated, State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.mixtures.layout import Layout
from annomodels.models.parameters import Known, Parameter, Variables
from annomodels.models.states import SMALLEST, ItemStates, States, marginals, together
from annomodels.priors import Dirichlet
from annomodels.priors.distributions import DirichletRows
from annomodels.priors.shares import dirichlet_rows
from annomodels.types import Floats, TensorLike

# names of the coders' variables in a result, next to prevalence and confusion of the truth
PERCEIVED = {"prevalence": "perceived_prevalence", "confusion": "perceived_confusion"}


@dataclass(frozen=True)
class StateModel(Model):
    """Base of models whose items have states beyond the classes."""

    engines: ClassVar[tuple[str, ...]] = ("gibbs", "nuts")
    swappable: ClassVar[bool] = False

    # model of the labels given the perceived class
    coders: ConjugateModel = field(default_factory=HierarchicalDawidSkene)

    # -- defined by subclasses ------------------------------------------------------------------

    @abstractmethod
    def layout(self, n_labels: int) -> Layout:
        """Return the states of the items."""

    # -- common to all --------------------------------------------------------------------------

    @property
    def prevalence(self) -> Dirichlet:  # type: ignore[override]
        """Prior of the prevalence of the perceived classes."""
        return self.coders.prevalence

    @property
    def starter(self) -> ConjugateModel:
        return self.coders

    def labeled_by(
        self, one: Floats, other: Floats, draws_of: DrawsOf, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        """Return state probabilities and the label rows of two coders with these matrices."""
        # the same items, labeled by new coders with new extra rows
        n_labels = one.shape[-1]
        alphas = self.alphas(2, n_labels)
        values = {
            each.name: dirichlet_rows(np.stack([alphas[each.name]] * len(one)), rng)
            if "coder" in each.dims
            else draws_of(each.name)
            for each in self.item_parameters(n_labels)
        }
        values["perceived_prevalence"] = draws_of("perceived_prevalence")
        values["perceived_confusion"] = np.stack([one, other], axis=1)
        found = self.states(values)
        return found.share, found.emission[:, 0], found.emission[:, 1]

    def with_data(self, data: Annotations) -> Self:
        known = super().with_data(data)
        return replace(known, coders=self.coders.with_data(data))

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        layout = cached_layout(self, len(labels))
        choices = {dim: list(names) for dim, names in layout.choices.items()}
        own = {"perceived": list(labels), "state": list(layout.names), **choices}
        return {**self.coders.coords(labels), **own}

    def describe(self) -> list[str]:
        own = (each.about for each in self.item_parameters(2) if each.about)
        return [*self.coders.describe(), *self.story(), *own]

    def parameters(self, n_labels: int = 2) -> tuple[Parameter, ...]:
        """Declare the variables of a result, for the truth and for perceived classes."""
        rows = ("coder", "perceived", "label")
        return (
            *super().variables(n_labels),
            *self.coders.variables(n_labels)[2:],
            Parameter("perceived_prevalence", ("perceived",), "simplex"),
            Parameter("perceived_confusion", rows, "simplex", watched=""),
            *self.item_parameters(n_labels),
        )

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the variables of the PyMC model, in which classes are perceived classes."""
        prevalence, *coders = self.coders.variables(n_labels)
        own = self.item_parameters(n_labels)
        return (replace(prevalence, dims=("perceived",)), *coders, *own)

    def item_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the item variables, which are all Dirichlet."""
        return tuple(part.parameter for part in cached_layout(self, n_labels).parts)

    def alphas(self, n_coders: int, n_labels: int) -> dict[str, Floats]:
        """Return the pseudo-counts of the item variables."""
        out = {}
        for each in self.item_parameters(n_labels):
            assert isinstance(each.prior, DirichletRows)
            alpha = np.asarray(each.prior.alpha)
            wide = "coder" in each.dims
            out[each.name] = np.broadcast_to(alpha, (n_coders, n_labels)) if wide else alpha
        return out

    def log_share(
        self,
        layout: Layout,
        prevalence: TensorLike,
        items: Mapping[str, TensorLike],
        xp: ModuleType,
    ) -> TensorLike:
        """Return the log probability of each state, for NumPy arrays and PyTensor variables."""
        padded = xp.concatenate([xp.log(prevalence), xp.zeros(1)])  # index -1: no choice
        out = padded[layout.base]
        if layout.weight is not None:
            out = out + xp.log(layout.weight)
        for factor in layout.factors:
            padded = xp.concatenate([xp.log(items[factor.name]), xp.zeros(1)])
            out = out + padded[factor.choice]
        return out

    def truth_of(self, layout: Layout, items: Mapping[str, TensorLike]) -> TensorLike:
        """Return P(truth | state), shape [state, truth]."""
        if layout.judgement is not None:
            weights = items[layout.judgement.name]
            return (weights[:, None, None] * layout.judgement.tables).sum(axis=0)
        return layout.truth if layout.truths is None else layout.truth @ items[layout.truths.name]

    def all_rows(
        self,
        layout: Layout,
        confusion: TensorLike,
        items: Mapping[str, TensorLike],
        xp: ModuleType = np,
    ) -> TensorLike:
        """Return the rows [coder, label, row] in the order of the layout."""
        n_labels = layout.n_perceived
        coders = confusion.shape[0]
        parts = [confusion.transpose(0, 2, 1)]
        for row in layout.rows:
            values = items[row.name]
            wide = values if row.by_coder else xp.broadcast_to(values, (coders, n_labels))
            parts.append(wide[:, :, None])
        if layout.said:
            parts.append(xp.broadcast_to(np.eye(n_labels), (coders, n_labels, n_labels)))
        return xp.concatenate(parts, axis=2)

    def item_states(self, v: Variables) -> ItemStates:
        layout = cached_layout(self, v.n_labels)
        items = {each.name: v[each.name] for each in self.item_parameters(v.n_labels)}
        rows = self.all_rows(layout, v.xp.exp(self.coders.log_rows(v)), items, v.xp)
        return self._states(_with_data(layout, v), v["prevalence"], rows, items, v.xp)

    def _states(
        self,
        layout: Layout,
        prevalence: TensorLike,
        rows: TensorLike,
        items: Mapping[str, TensorLike],
        xp: ModuleType,
    ) -> ItemStates:
        return ItemStates(
            self.log_share(layout, prevalence, items, xp),
            self.truth_of(layout, items),
            emission=xp.swapaxes(rows @ layout.mix.T, 1, 2),
            values=layout.values,
        )

    def pymc_start(self, state: State) -> dict[str, Floats]:
        n_coders, n_labels, _ = state.log_confusion.shape
        items = {
            name: alpha / alpha.sum(axis=-1, keepdims=True)
            for name, alpha in self.alphas(n_coders, n_labels).items()
        }
        return {**self.coders.pymc_start(state), **items}

    def result_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        values = self.coders.result_values(values)
        out = {PERCEIVED.get(name, name): array for name, array in values.items()}
        found = self.states({name: array[None] for name, array in out.items()})
        pair = marginals(found.share[0], found.emission[0], found.truth[0])
        out["prevalence"], out["confusion"] = pair
        return out

    def states(self, values: dict[str, Floats]) -> States:
        prevalence, confusion = values["perceived_prevalence"], values["perceived_confusion"]
        n_labels = confusion.shape[-1]
        layout, own = cached_layout(self, n_labels), self.item_parameters(n_labels)

        def under(d: int) -> ItemStates:
            items = {each.name: values[each.name][d] for each in own}
            rows = self.all_rows(layout, confusion[d], items)
            return self._states(layout, prevalence[d], rows, items, np)

        return together(map(under, range(len(prevalence))))

    def pymc_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        return {**values, **{name: values[own] for name, own in PERCEIVED.items()}}

    def log_prior(self, values: dict[str, Floats]) -> Floats:
        n_labels = values["perceived_confusion"].shape[-1]
        declared = self.item_parameters(n_labels)
        items = {each.name: np.maximum(values[each.name], SMALLEST) for each in declared}
        own = Known(declared, n_labels, items).log_priors().values()
        return np.asarray(self.coders.log_prior(self.pymc_values(values)) + sum(own))


def _with_data(layout: Layout, v: Variables) -> Layout:
    """Return a layout with data variables instead of constants, as some depend on the labels."""
    numbers: dict[str, Any] = {"mix": v.data("mix", layout.mix)}
    if layout.judgement is None:
        numbers["truth"] = v.data("truth", layout.truth)
    else:
        tables = v.data("tables", layout.judgement.tables)
        numbers["judgement"] = replace(layout.judgement, tables=tables)
    if layout.weight is not None:
        numbers["weight"] = v.data("state_weight", layout.weight)
    return replace(layout, **numbers)


def coders_of(model: Model) -> Model:
    """Return the model of the coders: the model itself, unless its items have states."""
    return model.coders if isinstance(model, StateModel) else model


def layout_of(model: Model, n_labels: int) -> Layout | None:
    """Return the layout of the states of an item, if these are not points of a number."""
    return cached_layout(model, n_labels) if isinstance(model, StateModel) else None


def newcomers(
    model: Model, draws_of: DrawsOf, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats] | None:
    """Return state probabilities and the label rows of two new coders in each state."""
    coders = coders_of(model)
    if not isinstance(coders, Populated):
        return None
    one, other = coders.new_rows(draws_of, rng), coders.new_rows(draws_of, rng)
    if one is None or other is None:
        return None
    if isinstance(model, StateModel):
        return model.labeled_by(one, other, draws_of, rng)
    return draws_of("prevalence"), one, other


@lru_cache(maxsize=64)
def cached_layout(model: StateModel, n_labels: int) -> Layout:
    """Return the cached layout of a model for a number of labels."""
    return model.layout(n_labels)
