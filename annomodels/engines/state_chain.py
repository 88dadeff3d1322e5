"""One Gibbs chain of a state model: states and rows given parameters, parameters given counts."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from annomodels.engines.kept import DrawStore, canonical_order
from annomodels.engines.source.states import Passing
from annomodels.errors import EngineError
from annomodels.models.base import State
from annomodels.models.mixtures.layout import ExtraRow, Factor, Judgement, Truths
from annomodels.models.mixtures.state_model import StateModel, cached_layout
from annomodels.types import AnyArray, Floats, Ints

MIRROR_EVERY = 10  # iterations of the warm-up between looks for swapped classes


class StateChain:
    """Gibbs chain of a state model, without the items: others pass over them and count."""

    def __init__(
        self, model: StateModel, volume: Floats, state: State, key: int, relabel: bool
    ) -> None:
        self.model, self.volume, self.relabel = model, volume, relabel
        self.n_rows, self.n_labels = state.log_confusion.shape[:2]
        self.state = state
        self.key, self.iteration = np.uint64(key), 0
        self.layout = layout = cached_layout(model, self.n_labels)
        self.alphas = model.alphas(self.n_rows, self.n_labels)
        self.items = {
            n: np.array(a / a.sum(axis=-1, keepdims=True)) for n, a in self.alphas.items()
        }
        single = layout.mix.max(axis=1) == layout.mix.sum(axis=1)
        self.only = np.where(single, layout.mix.argmax(axis=1), -1)
        names = sorted(layout.values)
        shape = (len(names), len(layout.base))
        self.values = np.array([layout.values[n] for n in names], dtype=float).reshape(shape)
        cells = self.n_rows * self.n_labels
        self.classes = layout.n_perceived
        self.counts: Ints = np.zeros((cells, self.classes), dtype=np.int64)
        extra = max(1, layout.mix.shape[1] - self.classes)
        self.extra: Ints = np.zeros((cells, extra), dtype=np.int64)
        self.sizes: Ints = np.zeros(len(layout.base), dtype=np.int64)
        self.golds: Ints = np.zeros(layout.truth.shape, dtype=np.int64)

    def room(self, draws: int, single: bool) -> DrawStore:
        """Make room for some draws."""
        return DrawStore(0, self.n_labels, draws, single)

    @property
    def kept_rows(self) -> int:
        """Confusion matrices that a draw takes the room of: of the truth, and as perceived."""
        return int(self.n_rows + self.n_rows * self.classes // self.n_labels)

    def passing(self) -> Passing:
        """Return the parameters as a pass over items needs them."""
        layout, model = self.layout, self.model
        confusion = np.exp(self.state.log_confusion).transpose(0, 2, 1)
        rows = model.all_rows(layout, confusion, self.items)
        rows = np.ascontiguousarray(rows.reshape(len(self.counts), -1))
        truth = np.ascontiguousarray(model.truth_of(layout, self.items))
        share = self._share()
        return Passing(share, rows, layout.mix, self.only, truth, self.values, self.classes)

    def count(self, counts: Ints, extra: Ints, sizes: Ints, golds: Ints) -> None:
        """Take the counts of a pass over all items."""
        self.counts, self.extra, self.sizes, self.golds = counts, extra, sizes, golds

    def take(self, kept: DrawStore | None, log_likelihood: float, warming: bool) -> None:
        """Complete an iteration after its pass: keep the parameters, and draw new ones."""
        if kept is not None:
            values = self._values()
            lp = log_likelihood + self.model.log_prior_of(values)
            kept.add(values, log_likelihood, lp, moved=False)
        self._draw()
        if self.relabel and warming and self.iteration % MIRROR_EVERY == 0:
            order = canonical_order(self.state, self.volume)
            if (order != np.arange(len(order))).any():
                self.state = self.model.coders.ordered(self.state, order)
        self.iteration += 1

    def follow(self, other: StateChain) -> None:
        """Go on from where another chain is, with random numbers of its own."""
        self.state, self.items = deepcopy(other.state), deepcopy(other.items)

    def _values(self) -> dict[str, AnyArray]:
        held = {name: values.copy() for name, values in self.items.items()}
        values = {**self.model.coders.pymc_start(self.state), **held}
        return self.model.result_values(values)

    def _share(self) -> AnyArray:
        """Probability of each state."""
        prevalence = np.exp(self.state.log_prevalence)
        return np.asarray(np.exp(self.model.log_share(self.layout, prevalence, self.items, np)))

    def _draw(self) -> None:
        """Draw all parameters given the counts."""
        layout, k = self.layout, self.classes
        own = layout.base >= 0
        sizes = np.bincount(layout.base[own], self.sizes[own], minlength=k).astype(np.int64)
        counts = self.counts.reshape(self.n_rows, self.n_labels, k)
        self.model.coders.draw(counts, sizes, self.state, self.key, self.iteration)  # type: ignore[arg-type]
        if not self.alphas:  # a generator asks the system for bits even where its key is given
            return
        key = np.array([self.key, self.iteration], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key))
        for name, alpha in self.alphas.items():
            shape = rng.standard_gamma(alpha + self._given(name, rng))
            shape = np.maximum(shape, 1e-300)
            self.items[name] = shape / shape.sum(axis=-1, keepdims=True)

    def _given(self, name: str, rng: np.random.Generator) -> AnyArray:
        """Count what the items and labels say of one of the items' own variables."""
        layout = self.layout
        for factor in layout.factors:
            if factor.name == name:
                return self._chosen(factor)
        for n, row in enumerate(layout.rows):
            if row.name == name:
                return self._labels_of_row(n, row)
        if layout.truths is not None and layout.truths.name == name:
            return self._classes_of_gold(layout.truths, rng)
        if layout.judgement is not None and layout.judgement.name == name:
            return self._ways_of_gold(layout.judgement, rng)
        raise EngineError(
            f"Gibbs does not know what {name} of the {self.model.title} model is: no choice, row, "
            "truth or judgment of its layout has that name. Use engine nuts."
        )

    def _chosen(self, factor: Factor) -> AnyArray:
        """Items by choice of a factor, those that it does not concern left out."""
        mine = factor.choice >= 0
        return np.bincount(factor.choice[mine], self.sizes[mine], minlength=len(factor.alpha))

    def _labels_of_row(self, n: int, row: ExtraRow) -> AnyArray:
        """Labels that came from the n-th extra row, by coder if each has one."""
        counts = self.extra[:, n].reshape(self.n_rows, -1)
        return counts if row.by_coder else counts.sum(axis=0)

    def _classes_of_gold(self, truths: Truths, rng: np.random.Generator) -> AnyArray:
        """Perceived class by truth of the items whose truth is known, drawn where states mix."""
        out = np.zeros(truths.alpha.shape)
        for s, truth in zip(*np.nonzero(self.golds), strict=True):
            weight = self.layout.truth[s] * self.items[truths.name][:, truth]
            out[:, truth] += rng.multinomial(self.golds[s, truth], weight / weight.sum())
        return out

    def _ways_of_gold(self, judgement: Judgement, rng: np.random.Generator) -> AnyArray:
        """Count in which way the known truths followed from the states, drawn."""
        out = np.zeros(len(judgement.alpha))
        for s, truth in zip(*np.nonzero(self.golds), strict=True):
            weight = self.items[judgement.name] * judgement.tables[:, s, truth]
            out += rng.multinomial(self.golds[s, truth], weight / weight.sum())
        return out
