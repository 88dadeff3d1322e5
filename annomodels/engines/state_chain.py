"""One Gibbs chain of a state model: states and rows given parameters, parameters given counts."""

from __future__ import annotations

from copy import deepcopy
from threading import Event

import numpy as np

from annomodels.engines.kept import StateKept, canonical_order
from annomodels.errors import EngineError
from annomodels.models.base import State
from annomodels.models.encoded import Encoded
from annomodels.models.mixtures.layout import ExtraRow, Factor, Judgement, Truths
from annomodels.models.mixtures.state_model import StateModel, cached_layout
from annomodels.models.states import SMALLEST
from annomodels.types import AnyArray

MIRROR_EVERY = 10  # iterations of the warm-up between looks for swapped classes
HOLD_OUT_EVERY = 4  # kept draws between sums of held-out densities
LEAST = 1e-6  # probability of a known truth that is not believed to be smaller in any draw
FIRST = 2**40  # number of the step before the first iteration, which no iteration reaches


class StateChain:
    """A Gibbs chain of a state model that can be advanced a slice at a time.

    Parameters
    ----------
    model
        The model.
    codes
        The items, not collapsed.
    state
        Parameters of the coders' model to begin with; changed in place.
    key
        Key of all random numbers of the chain.
    relabel
        Whether classes that have swapped their names are put right during the warm-up.
    rows
        Whether draws of all parameters are kept, with their prior density; else the prevalence.
    """

    def __init__(
        self,
        model: StateModel,
        codes: Encoded,
        state: State,
        key: int,
        relabel: bool,
        rows: bool = True,
    ) -> None:
        self.model, self.codes, self.relabel = model, codes, relabel
        self.rows = rows
        self.state = model.begin(state)
        self.key, self.iteration = np.uint64(key), 0
        self.layout = layout = cached_layout(model, codes.n_labels)
        self.volume = codes.volume
        self.alphas = model.alphas(codes.n_rows, codes.n_labels)
        self.items = {
            n: np.array(a / a.sum(axis=-1, keepdims=True)) for n, a in self.alphas.items()
        }
        self.parts = np.ascontiguousarray(layout.mix.T)
        single = layout.mix.max(axis=1) == layout.mix.sum(axis=1)
        self.only = np.where(single, layout.mix.argmax(axis=1), -1)
        names = sorted(layout.values)
        shape = (len(names), len(layout.base))
        self.values = np.array([layout.values[n] for n in names], dtype=float).reshape(shape)
        cells = codes.n_rows * codes.n_labels
        self.classes = layout.n_perceived
        self.counts = np.zeros((cells, self.classes), dtype=np.int64)
        self.extra = np.zeros((cells, max(1, layout.mix.shape[1] - self.classes)), dtype=np.int64)
        self.sizes = np.zeros(len(layout.base), dtype=np.int64)
        self.golds = np.zeros(layout.truth.shape, dtype=np.int64)
        self.drawn = np.zeros(codes.n_patterns, dtype=np.int64)
        self.table = np.empty((cells, len(layout.base)))
        # every label of an item has the one row of the coder that belongs to its state alone
        own = np.array_equal(self.only, np.arange(self.classes))
        self.holds_out = own and model.coders.collapsed(self.state) is not None
        # items of known truth once more, as if it were not known
        self.known = np.flatnonzero(codes.gold >= 0)
        self.opened = codes.of_patterns(self.known, known=False)
        self.nowhere = self.room(0, False)
        if model.scattered:
            self._scatter()

    def room(self, draws: int, single: bool) -> StateKept:
        """Make room for some draws."""
        codes = self.codes
        return StateKept(
            codes.n_patterns,
            codes.n_labels,
            draws,
            single,
            len(self.layout.base),
            sorted(self.layout.values),
            len(codes.row) if draws and self.holds_out else 0,
            len(self.known),
        )

    @property
    def kept_rows(self) -> int:
        """Confusion matrices that a draw takes the room of: of the truth, and as perceived."""
        codes = self.codes
        return codes.n_rows + codes.n_rows * self.classes // codes.n_labels

    def compile(self, single: bool) -> None:
        """Have the loops compiled, or loaded."""
        self._pass(self.nowhere, keep=False)

    def advance(self, iterations: int, thin: int, kept: StateKept | None, stop: Event) -> None:
        """Run some iterations, keeping every `thin`-th in `kept`."""
        for _ in range(iterations):
            if stop.is_set():
                return
            keep = kept is not None and self.iteration % thin == 0
            target = kept if kept is not None and keep else self.nowhere
            log_likelihood = self._pass(target, keep)
            if keep and kept is not None:
                self._open(kept)
                if self.holds_out and kept.n % HOLD_OUT_EVERY == 0:
                    self._hold_out(kept)
                values, lp = self._values(), log_likelihood
                if self.rows:
                    lp += self.model.log_prior_of(values)
                else:
                    kept.keep_whole(self._whole)
                kept.add(values, log_likelihood, lp, moved=False)
            self._draw()
            if self.relabel and kept is None and self.iteration % MIRROR_EVERY == 0:
                order = canonical_order(self.state, self.volume)
                if (order != np.arange(len(order))).any():
                    self.state = self.model.coders.ordered(self.state, order)
            self.iteration += 1

    def follow(self, other: StateChain) -> None:
        """Go on from where another chain is, with random numbers of its own."""
        self.state, self.items = deepcopy(other.state), deepcopy(other.items)

    def _values(self) -> dict[str, AnyArray]:
        if self.rows:
            return self._whole()
        truth = self.model.truth_of(self.layout, self.items)
        return {"prevalence": np.asarray(self._share() @ truth)}

    def _whole(self) -> dict[str, AnyArray]:
        held = {name: values.copy() for name, values in self.items.items()}
        values = {**self.model.coders.pymc_start(self.state), **held}
        return self.model.finish(values)

    def _open(self, kept: StateKept) -> None:
        """Add what the labels of items of known truth say of it, as if it were not known.

        The parameters have seen it; weights 1 / P(known truth) take that back.
        """
        if not len(self.known):
            return
        from annomodels.kernels.mixtures.states import state_pass

        few = self.opened
        p, values = np.zeros((few.n_patterns, few.n_labels)), np.empty((0, len(self.layout.base)))
        nothing = np.empty((0, 0))
        state_pass(
            *few.arrays, few.weight, self._share(), self.table,
            np.ascontiguousarray(self.model.truth_of(self.layout, self.items)), values, SMALLEST,
            p, np.zeros(few.n_patterns), nothing, nothing, nothing,
        )  # fmt: skip
        known = np.maximum(p[np.arange(len(p)), self.codes.gold[self.known]], LEAST)
        kept.open_sum += p / known[:, None]

    def _scatter(self) -> None:
        """Begin with items in states at random, where no truth is known."""
        codes, layout = self.codes, self.layout
        rng = np.random.Generator(np.random.Philox(key=[self.key, np.uint64(2**64 - 1)]))
        drawn = rng.integers(len(layout.base), size=codes.n_patterns)
        known = np.flatnonzero(codes.gold >= 0)
        drawn[known] = layout.truth.argmax(axis=0)[codes.gold[known]]
        for array in (self.counts, self.extra, self.sizes, self.golds):
            array.fill(0)
        row = self.only[np.repeat(drawn, np.diff(codes.starts))]
        np.add.at(self.counts, (codes.cell, row), 1)
        np.add.at(self.sizes, drawn, 1)
        np.add.at(self.golds, (drawn[known], codes.gold[known]), 1)
        self.iteration = FIRST
        self._draw()
        self.iteration = 0

    def _hold_out(self, kept: StateKept) -> None:
        """Add 1 / P(label | all other labels), the rows of the coders integrated out."""
        from annomodels.kernels.mixtures.held_out import hold_out

        codes = self.codes
        counts = self.counts.reshape(codes.n_rows, codes.n_labels, self.classes)
        alpha = self.model.coders.collapsed(self.state)
        whole = counts + np.swapaxes(np.asarray(alpha), -1, -2)
        total = whole.sum(axis=1, keepdims=True)
        without = np.maximum(whole - 1.0, SMALLEST) / np.maximum(total - 1.0, SMALLEST)
        flat = (len(self.counts), self.classes)
        hold_out(
            *self.codes.arrays, self.drawn, self._share(),
            np.ascontiguousarray(self.model.truth_of(self.layout, self.items)), SMALLEST,
            (whole / total).reshape(flat), without.reshape(flat), kept.label_sum,
        )  # fmt: skip
        kept.label_draws += 1

    def _share(self) -> AnyArray:
        """Probability of each state."""
        prevalence = np.exp(self.state.log_prevalence)
        return np.asarray(np.exp(self.model.log_share(self.layout, prevalence, self.items, np)))

    def _pass(self, kept: StateKept, keep: bool) -> float:
        """Draw states and rows, and count."""
        from annomodels.kernels.mixtures.states import fill_table, sampled_states

        layout, model = self.layout, self.model
        confusion = np.exp(self.state.log_confusion).transpose(0, 2, 1)
        rows = model.all_rows(layout, confusion, self.items)
        rows = np.ascontiguousarray(rows.reshape(len(self.counts), -1))
        fill_table(rows, self.parts, SMALLEST, self.table)
        for array in (self.counts, self.extra, self.sizes, self.golds):
            array.fill(0)
        return float(
            sampled_states(
                *self.codes.arrays, self._share(), self.table, rows, layout.mix, self.only,
                np.ascontiguousarray(model.truth_of(layout, self.items)), self.values, SMALLEST,
                self.key, self.iteration, keep, self.drawn, self.counts, self.extra, self.sizes,
                self.golds, *kept.places,
            )
        )  # fmt: skip

    def _draw(self) -> None:
        """Draw all parameters given the counts."""
        layout, k = self.layout, self.classes
        own = layout.base >= 0
        sizes = np.bincount(layout.base[own], self.sizes[own], minlength=k).astype(np.int64)
        counts = self.counts.reshape(self.codes.n_rows, self.codes.n_labels, k)
        self.model.draw(counts, sizes, self.golds.copy(), self.state, self.key, self.iteration)  # type: ignore[arg-type]
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
            "truth or judgement of its layout has that name. Use engine nuts."
        )

    def _chosen(self, factor: Factor) -> AnyArray:
        """Items by choice of a factor, those that it does not concern left out."""
        mine = factor.choice >= 0
        return np.bincount(factor.choice[mine], self.sizes[mine], minlength=len(factor.alpha))

    def _labels_of_row(self, n: int, row: ExtraRow) -> AnyArray:
        """Labels that came from the n-th extra row, by coder if each has one."""
        counts = self.extra[:, n].reshape(self.codes.n_rows, -1)
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
