"""State models: coders as in a model of the confusion family, items in one of several states."""

# state[i] ~ Categorical(share), row[n] ~ Categorical(mix[state[item[n]]]), label[n] ~
# Categorical(rows[coder[n], row[n]]), truth[i] ~ Categorical(truth[state[i]]).
# The first rows of a coder are those of the coders' model, one for each class that they perceive. A
# member of the family says which states there are (its Layout); the PyMC model, the shares, the
# conjugate draws and the consequences for the items are written here once.

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import DrawsOf, Model, State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded
from annomodels.models.mixtures.layout import Layout
from annomodels.models.observed import observed
from annomodels.models.parameters import Parameter, Watched
from annomodels.models.states import SMALLEST, States, add_states, marginals
from annomodels.priors import Dirichlet
from annomodels.priors.shares import dirichlet_rows
from annomodels.types import Floats, PyMCModel, TensorLike

# what the coders' own variables are called beside prevalence and confusion of the truth
PERCEIVED = {"prevalence": "perceived_prevalence", "confusion": "perceived_confusion"}


class StateModel(Model):
    """Base of the models whose items are more than members of a class."""

    # the field coders is a model of the confusion family: how coders label what they perceive

    engines: ClassVar[tuple[str, ...]] = ("gibbs", "nuts")
    swappable: ClassVar[bool] = False
    by_states: ClassVar[bool] = True
    coders: ConjugateModel

    # -- what a member says ---------------------------------------------------------------------

    @abstractmethod
    def layout(self, n_labels: int) -> Layout:
        """Return the states of the items."""

    # -- shared by all --------------------------------------------------------------------------

    @property
    def prevalence(self) -> Dirichlet:  # type: ignore[override]
        """Prior of the prevalence of the perceived classes."""
        return self.coders.prevalence

    @property
    def starter(self) -> ConjugateModel:
        """The conjugate model whose mode is the starting point."""
        return self.coders

    @property
    def coder_model(self) -> ConjugateModel:
        """Model of how coders label what they perceive."""
        return self.coders

    def group_of(self, coders: Sequence[str]) -> dict[str, str]:
        """Group of each coder, where the coders of the data have several; else empty."""
        return self.coders.group_of(coders)

    def population_accuracy(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Accuracy of the mean coder of each group on what is perceived, shape [chain, draw]."""
        perceived = {**values, "prevalence": values["perceived_prevalence"]}
        return self.coders.population_accuracy(perceived)

    def newcomers(
        self, draws_of: DrawsOf, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats] | None:
        """Two coders yet to come: shares of the states, and what each says in every state."""
        one, other = self.coders.new_rows(draws_of, rng), self.coders.new_rows(draws_of, rng)
        if one is None or other is None:
            return None
        # the same items, labeled by coders whose own rows are new too
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

    def state_truth(self, n_labels: int) -> Floats | None:
        """P(truth | state), shape [state, truth]."""
        return cached_layout(self, n_labels).truth

    def yes_or_no(self, n_labels: int) -> frozenset[str]:
        """Values of the states that are 1 or 0, so that their mean is a probability."""
        values = cached_layout(self, n_labels).values
        return frozenset(name for name, v in values.items() if np.isin(v, (0, 1)).all())

    def with_data(self, data: Annotations) -> Self:
        """Copy that knows the data it will be fitted to, and whose coders do."""
        known = super().with_data(data)
        return replace(known, coders=self.coders.with_data(data))

    @property
    def proper(self) -> bool:
        """Return True if all priors are proper, as sampling needs."""
        return self.coders.proper

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Names along the dimensions that only this model has."""
        layout = cached_layout(self, len(labels))
        choices = {f"{factor.name}_choice": list(factor.names) for factor in layout.factors}
        if layout.judgement is not None:
            choices[f"{layout.judgement.name}_choice"] = list(layout.judgement.names)
        own = {"perceived": list(labels), "state": list(layout.names), **choices}
        return {**self.coders.coords(labels), **own}

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the variables of the coders' model, of what they perceive, and of the items."""
        rows = ("coder", "perceived", "label")
        return (
            *self.coders.own_parameters(n_labels),
            Parameter("perceived_prevalence", ("perceived",), "simplex"),
            Parameter("perceived_confusion", rows, "simplex", watched=""),
            *self.item_parameters(n_labels),
        )

    def item_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the variables that are the items' own, all Dirichlet."""
        layout = cached_layout(self, n_labels)
        chosen = [factor.name for factor in layout.factors]
        if layout.judgement is not None:
            chosen.append(layout.judgement.name)
        out = [Parameter(name, (f"{name}_choice",), "simplex") for name in chosen]
        for row in layout.rows:
            dims = ("coder", "label") if row.by_coder else ("label",)
            watched: Watched = "" if row.by_coder else "all"
            out.append(Parameter(row.name, dims, "simplex", watched))
        if layout.truths is not None:
            out.append(Parameter(layout.truths.name, ("perceived", "truth"), "simplex"))
        return tuple(out)

    def alphas(self, n_coders: int, n_labels: int) -> dict[str, Floats]:
        """Pseudo-counts of the variables that are the items' own, all Dirichlet."""
        layout = cached_layout(self, n_labels)
        out = {factor.name: factor.alpha for factor in layout.factors}
        for row in layout.rows:
            wide = (n_coders, n_labels)
            out[row.name] = np.broadcast_to(row.alpha, wide) if row.by_coder else row.alpha
        if layout.truths is not None:
            out[layout.truths.name] = layout.truths.alpha
        if layout.judgement is not None:
            out[layout.judgement.name] = layout.judgement.alpha
        return out

    def log_share(
        self,
        layout: Layout,
        prevalence: TensorLike,
        items: Mapping[str, TensorLike],
        xp: ModuleType,
    ) -> TensorLike:
        """Logarithm of the probability of each state, for NumPy arrays and PyTensor variables."""
        padded = xp.concatenate([xp.log(prevalence), xp.zeros(1)])  # -1 stands for no choice
        out = padded[layout.base]
        if layout.weight is not None:
            out = out + xp.log(layout.weight)
        for factor in layout.factors:
            padded = xp.concatenate([xp.log(items[factor.name]), xp.zeros(1)])
            out = out + padded[factor.choice]
        return out

    def truth_of(self, layout: Layout, items: Mapping[str, TensorLike]) -> TensorLike:
        """P(truth | state), shape [state, truth]."""
        if layout.judgement is not None:
            weights = items[layout.judgement.name]
            return (weights[:, None, None] * layout.judgement.tables).sum(axis=0)
        return layout.truth if layout.truths is None else layout.truth @ items[layout.truths.name]

    def all_rows(self, layout: Layout, confusion: Floats, items: dict[str, Floats]) -> Floats:
        """Rows [coder, label, row] in the order of the layout, from perceived confusions."""
        coders, _, n_labels = confusion.shape
        parts = [confusion.transpose(0, 2, 1)]
        for row in layout.rows:
            values = items[row.name]
            wide = values if row.by_coder else np.broadcast_to(values, (coders, n_labels))
            parts.append(wide[:, :, None])
        if layout.mix.shape[1] > sum(part.shape[2] for part in parts):
            parts.append(np.broadcast_to(np.eye(n_labels), (coders, n_labels, n_labels)))
        return np.concatenate(parts, axis=2)

    def build(self, codes: Encoded, coords: dict[str, list[str]]) -> PyMCModel:
        """Build the PyMC model with state and truth summed out."""
        import pymc as pm
        import pytensor.tensor as pt

        layout = cached_layout(self, codes.n_labels)
        k = layout.n_perceived
        with pm.Model(coords=coords) as model:
            alpha = self.prevalence.alpha(k)
            prevalence = pm.Dirichlet("prevalence", a=alpha, dims="perceived")
            confusion = pt.exp(self.coders.pymc_log_confusion(codes.n_labels))
            dims = {each.name: each.dims for each in self.item_parameters(codes.n_labels)}
            items = {
                name: pm.Dirichlet(name, a=alpha, dims=dims[name])
                for name, alpha in self.alphas(codes.n_rows, codes.n_labels).items()
            }
            n_rows = layout.mix.shape[1]
            width = k + len(layout.rows)
            seen = _observed_layout(layout)
            emission = pt.tensordot(confusion, seen.mix[:, :k], axes=([1], [1]))
            for n, row in enumerate(layout.rows):
                values = items[row.name] if row.by_coder else items[row.name][None]
                emission = emission + values[:, :, None] * seen.mix[:, k + n]
            if n_rows > width:
                emission = emission + seen.mix[:, width:].T[None]
            log_emission = pt.log(pt.maximum(emission.transpose(0, 2, 1), SMALLEST))
            log_truth = pt.log(pt.maximum(self.truth_of(seen, items), SMALLEST))
            share = self.log_share(seen, prevalence, items, pt)
            add_states(codes, share, log_emission, log_truth)
        return model

    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Values of the PyMC variables that correspond to a state of the coders' model."""
        n_coders, n_labels, _ = state.log_confusion.shape
        items = {
            name: alpha / alpha.sum(axis=-1, keepdims=True)
            for name, alpha in self.alphas(n_coders, n_labels).items()
        }
        return {**self.coders.pymc_start(state), **items}

    def result_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Turn one draw of the PyMC variables into the variables of the result."""
        values = {**values, "confusion": self.coders.confusion_of(values)}
        out = {PERCEIVED.get(name, name): array for name, array in values.items()}
        found = self.states({name: array[None] for name, array in out.items()})
        pair = marginals(found.share[0], found.emission[0], found.truth[0])
        out["prevalence"], out["confusion"] = pair
        return out

    def n_states(self, n_labels: int) -> int:
        """Return the number of states an item may be in."""
        return len(cached_layout(self, n_labels).base)

    def states(self, values: dict[str, Floats]) -> States:
        """States of the items under draws of the result's variables [draw, ...]."""
        prevalence, confusion = values["perceived_prevalence"], values["perceived_confusion"]
        layout = cached_layout(self, confusion.shape[-1])
        draws, n_states = len(prevalence), len(layout.base)
        n_coders, _, n_labels = confusion.shape[1:]
        share = np.empty((draws, n_states))
        truth = np.empty((draws, *layout.truth.shape))
        emission = np.empty((draws, n_coders, n_states, n_labels))
        own = [each.name for each in self.item_parameters(n_labels)]
        for d in range(draws):
            items = {name: values[name][d] for name in own}
            share[d] = np.exp(self.log_share(layout, prevalence[d], items, np))
            truth[d] = self.truth_of(layout, items)
            rows = self.all_rows(layout, confusion[d], items)
            emission[d] = np.swapaxes(rows @ layout.mix.T, 1, 2)
        numbers = {n: np.broadcast_to(v, share.shape) for n, v in layout.values.items()}
        return States(share, emission, truth, numbers)

    def prior_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Return prevalence and confusion of what coders perceive their names in the PyMC model."""
        return {**values, **{name: values[own] for name, own in PERCEIVED.items()}}

    def log_prior_of(self, values: dict[str, Floats]) -> float:
        """Log prior density of one draw of the result's variables."""
        from scipy.stats import dirichlet

        confusion = values["perceived_confusion"]
        log_rows = np.log(np.maximum(confusion.transpose(0, 2, 1), np.finfo(float).tiny))
        items = {each.name for each in self.item_parameters(confusion.shape[-1])}
        own = {*items, *PERCEIVED, *PERCEIVED.values()}
        held = {name: np.asarray(v) for name, v in values.items() if name not in own}
        state = State(np.log(values["perceived_prevalence"]), np.ascontiguousarray(log_rows), held)
        total = self.coders.log_prior(state)
        for name, alpha in self.alphas(len(confusion), confusion.shape[-1]).items():
            for a, x in zip(np.atleast_2d(alpha), np.atleast_2d(values[name]), strict=True):
                if len(a) > 1:
                    total += float(dirichlet.logpdf(np.maximum(x, SMALLEST) / x.sum(), a))
        return total

    def log_prior_of_draws(self, values: dict[str, Floats]) -> Floats:
        """Log prior density [draw] of draws of the result's variables."""
        draws = range(len(values["prevalence"]))
        return np.array([self.log_prior_of({n: v[d] for n, v in values.items()}) for d in draws])


def _observed_layout(layout: Layout) -> Layout:
    """Layout whose shares are variables of the PyMC model: some follow from the data."""
    numbers: dict[str, Any] = {"mix": observed("mix", layout.mix)}
    if layout.judgement is None:
        numbers["truth"] = observed("truth", layout.truth)
    else:
        tables = observed("tables", layout.judgement.tables)
        numbers["judgement"] = replace(layout.judgement, tables=tables)
    if layout.weight is not None:
        numbers["weight"] = observed("state_weight", layout.weight)
    return replace(layout, **numbers)


@lru_cache(maxsize=64)
def cached_layout(model: StateModel, n_labels: int) -> Layout:
    """Return the layout of a model, built once for a number of labels."""
    return model.layout(n_labels)
