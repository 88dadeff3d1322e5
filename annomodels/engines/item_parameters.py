"""Item-level variables of a state model: their values, and draws given counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from annomodels.errors import EngineError
from annomodels.models.base import State
from annomodels.models.mixtures.state_model import StateModel, cached_layout
from annomodels.models.states import SMALLEST
from annomodels.types import AnyArray, Ints

if TYPE_CHECKING:
    from annomodels.kernels.passes import Given


@dataclass(frozen=True, eq=False)
class PassCounts:
    """Counts of a pass over the items, other than those of the coders' rows."""

    extra: Ints  # labels by additional row, shape [cell, row]
    sizes: Ints  # items by state, shape [state]
    golds: Ints  # items with known labels, shape [state, truth]


class ItemParameters:
    """Item-level variables of one chain, all Dirichlet."""

    def __init__(self, model: StateModel, n_rows: int, n_labels: int) -> None:
        self.model, self.n_rows = model, n_rows
        self.layout = layout = cached_layout(model, n_labels)
        self.alphas = model.alphas(n_rows, n_labels)
        self.values = {
            n: np.array(a / a.sum(axis=-1, keepdims=True)) for n, a in self.alphas.items()
        }
        single = layout.mix.max(axis=1) == layout.mix.sum(axis=1)
        self.only = np.where(single, layout.mix.argmax(axis=1), -1)
        numbers = [layout.values[n] for n in self.names]
        self.numbers = np.array(numbers, dtype=float).reshape(-1, len(layout.base))

    @property
    def names(self) -> list[str]:
        """Names of the state values."""
        return sorted(self.layout.values)

    def given(self, state: State) -> Given:
        """Return the parameters of coders and items in the layout of a pass."""
        from annomodels.kernels.passes import StateLayout

        layout, model = self.layout, self.model
        confusion = np.exp(state.log_confusion).transpose(0, 2, 1)
        wide = model.all_rows(layout, confusion, self.values)
        rows = np.ascontiguousarray(wide.reshape(-1, wide.shape[2]))
        prevalence = np.exp(state.log_prevalence)
        share = np.exp(model.log_share(layout, prevalence, self.values, np))
        # a state may rule a label out; a floor keeps its logarithm finite, as in the PyMC model
        table = np.maximum(np.einsum("cr,sr->cs", rows, layout.mix), SMALLEST)
        truth = np.ascontiguousarray(model.truth_of(layout, self.values))
        states = StateLayout(truth, self.only, layout.mix, rows, self.numbers, SMALLEST)
        return np.asarray(share), table, None, states

    def by_class(self, sizes: Ints) -> Ints:
        """Count items by the class that coders perceive, for states that have one."""
        base, k = self.layout.base, self.layout.n_perceived
        return np.bincount(base[base >= 0], sizes[base >= 0], minlength=k).astype(np.int64)

    def draw(self, counted: PassCounts, key: int, iteration: int) -> None:
        """Draw all variables given the counts."""
        if not self.alphas:  # a generator reads system entropy even if it has a key
            return
        own = np.array([key, iteration], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=own))
        for name, alpha in self.alphas.items():
            shape = rng.standard_gamma(alpha + self.counts_of(name, counted, rng))
            shape = np.maximum(shape, 1e-300)
            self.values[name] = shape / shape.sum(axis=-1, keepdims=True)

    def counts_of(self, name: str, counted: PassCounts, rng: np.random.Generator) -> AnyArray:
        """Return the counts that update one of the variables."""
        layout = self.layout
        for factor in layout.factors:
            if factor.name == name:  # excludes items that it does not affect
                mine = factor.choice >= 0
                return np.bincount(
                    factor.choice[mine], counted.sizes[mine], minlength=len(factor.alpha)
                )
        for n, row in enumerate(layout.rows):
            if row.name == name:
                counts = counted.extra[:, n].reshape(self.n_rows, -1)
                return counts if row.by_coder else counts.sum(axis=0)
        known = list(zip(*np.nonzero(counted.golds), strict=True))
        if layout.truths is not None and layout.truths.name == name:
            # perceived class by true class, drawn if a state mixes them
            out = np.zeros(layout.truths.alpha.shape)
            for s, truth in known:
                weight = layout.truth[s] * self.values[name][:, truth]
                out[:, truth] += rng.multinomial(counted.golds[s, truth], weight / weight.sum())
            return out
        if layout.judgement is not None and layout.judgement.name == name:
            # draw which table produced each known truth from the state
            out = np.zeros(len(layout.judgement.alpha))
            for s, truth in known:
                weight = self.values[name] * layout.judgement.tables[:, s, truth]
                out += rng.multinomial(counted.golds[s, truth], weight / weight.sum())
            return out
        raise EngineError(
            f"Gibbs cannot sample {name} of the {self.model.title} model: no choice, row, truth or "
            "judgment of its layout has that name. Use engine nuts."
        )
