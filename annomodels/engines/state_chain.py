"""One Gibbs chain of a state model: states and rows given parameters, parameters given counts."""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from annomodels.engines.kept import FewDraws, canonical_order
from annomodels.engines.source.held import Block
from annomodels.engines.source.states import Keeping, LeftOut, Passing, many_drawn
from annomodels.errors import EngineError
from annomodels.models.base import State
from annomodels.models.mixtures.layout import ExtraRow, Factor, Judgement, Truths
from annomodels.models.mixtures.state_model import StateModel, cached_layout
from annomodels.models.states import SMALLEST
from annomodels.types import AnyArray, Floats, Ints

MIRROR_EVERY = 10  # iterations of the warm-up between looks for swapped classes
HOLD_OUT_EVERY = 4  # kept draws between sums of held-out densities
FIRST = 2**40  # number of the step before the first iteration, which no iteration reaches


class StateChain:
    """Gibbs chain of a state model, without the items: others pass over them and count."""

    def __init__(
        self,
        model: StateModel,
        volume: Floats,
        state: State,
        key: int,
        relabel: bool,
        rows: bool = True,
    ) -> None:
        self.model, self.volume, self.relabel = model, volume, relabel
        self.rows = rows
        self.n_rows, self.n_labels = state.log_confusion.shape[:2]
        self.state = model.begin(state)
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
        # every label of an item has the one row of the coder that belongs to its state alone
        own = np.array_equal(self.only, np.arange(self.classes))
        self.holds_out = own and model.coders.collapsed(self.state) is not None
        # nothing is drawn but what coders are like and the states, which many steps in a call do
        self.many = model.step_arguments(self.state) is not None

    def room(self, draws: int, single: bool) -> FewDraws:
        """Make room for some draws."""
        return FewDraws(0, self.n_labels, draws, single)

    @property
    def kept_rows(self) -> int:
        """Confusion matrices that a draw takes the room of: of the truth, and as perceived."""
        return int(self.n_rows + self.n_rows * self.classes // self.n_labels)

    def passing(self) -> Passing:
        """Return the parameters as a pass over items needs them."""
        layout, model = self.layout, self.model
        if self.many:
            share, rows = self._chances(self.n_rows)
            truth, k = model.truth_of(layout, self.items), self.classes
            return Passing(share, rows, layout.mix, self.only, truth, self.values, k, rows)
        confusion = np.exp(self.state.log_confusion).transpose(0, 2, 1)
        rows = model.all_rows(layout, confusion, self.items)
        rows = np.ascontiguousarray(rows.reshape(len(self.counts), -1))
        truth = np.ascontiguousarray(model.truth_of(layout, self.items))
        share = self._share()
        return Passing(share, rows, layout.mix, self.only, truth, self.values, self.classes)

    def _chances(self, n_rows: int) -> tuple[Floats, Floats]:
        """Return P(state), and P(label | state) of coders, as many steps in one call have them."""
        from annomodels.kernels.mixtures.kind_iterations import chances_of

        share, table = np.empty(self.classes), np.empty((n_rows * self.n_labels, self.classes))
        rows = self.state.log_confusion[:n_rows]
        chances_of(self.state.log_prevalence, rows, SMALLEST, share, table)
        return share, table

    def advance(self, block: Block, n: int, keeping: Keeping | None, kept: FewDraws | None) -> None:
        """Take `n` steps over all items, which are in one block here; all are kept or none."""
        arguments = self.model.step_arguments(self.state)
        assert arguments is not None
        truth = np.ascontiguousarray(self.model.truth_of(self.layout, self.items))
        state = self.state.log_prevalence, self.state.log_confusion
        counted = self.counts, self.sizes, self.golds
        found = many_drawn(
            block, truth, self.values, self.only, (*arguments, *state, *counted), self.key,
            self.iteration, n, keeping,
        )  # fmt: skip
        self.iteration += n
        if kept is not None:
            for prevalence, log_likelihood in zip(*found, strict=True):
                kept.add({"prevalence": prevalence}, log_likelihood, log_likelihood, moved=False)

    def count(self, counts: Ints, extra: Ints, sizes: Ints, golds: Ints) -> None:
        """Take the counts of a pass over all items."""
        self.counts, self.extra, self.sizes, self.golds = counts, extra, sizes, golds

    def begin_at(self, counts: Ints, sizes: Ints, golds: Ints) -> None:
        """Draw the first parameters from items that were put into states."""
        self.count(counts, np.zeros_like(self.extra), sizes, golds)
        self.iteration = FIRST
        self._draw()
        self.iteration = 0

    def left_out(self) -> LeftOut:
        """Return what the counts say of a label that is left out, the rows integrated out."""
        counts = self.counts.reshape(self.n_rows, self.n_labels, self.classes)
        alpha = self.model.coders.collapsed(self.state)
        whole = counts + np.swapaxes(np.asarray(alpha), -1, -2)
        total = whole.sum(axis=1, keepdims=True)
        without = np.maximum(whole - 1.0, SMALLEST) / np.maximum(total - 1.0, SMALLEST)
        flat = (len(self.counts), self.classes)
        truth = np.ascontiguousarray(self.model.truth_of(self.layout, self.items))
        given = (whole / total).reshape(flat)
        return LeftOut(self._share(), truth, given, without.reshape(flat))

    def take(self, kept: FewDraws | None, log_likelihood: float, warming: bool) -> None:
        """Complete an iteration after its pass: keep the parameters, and draw new ones."""
        if kept is not None:
            values, lp = self._values(), log_likelihood
            if self.rows:
                lp += self.model.log_prior_of(values)
            else:
                kept.keep_whole(self._whole)
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
        if self.rows:
            return self._whole()
        share, truth = self._share(), self.model.truth_of(self.layout, self.items)
        if not self.many:
            return {"prevalence": np.asarray(share @ truth)}
        from annomodels.kernels.mixtures.kind_iterations import prevalence_of

        prevalence_of(share, truth, out := np.empty(truth.shape[1]))
        return {"prevalence": out}

    def _whole(self) -> dict[str, AnyArray]:
        held = {name: values.copy() for name, values in self.items.items()}
        values = {**self.model.coders.pymc_start(self.state), **held}
        return self.model.result_values(values)

    def _share(self) -> AnyArray:
        """Probability of each state."""
        if self.many:
            return self._chances(0)[0]
        prevalence = np.exp(self.state.log_prevalence)
        return np.asarray(np.exp(self.model.log_share(self.layout, prevalence, self.items, np)))

    def _draw(self) -> None:
        """Draw all parameters given the counts."""
        layout, k = self.layout, self.classes
        own = layout.base >= 0
        sizes = np.bincount(layout.base[own], self.sizes[own], minlength=k).astype(np.int64)
        counts = self.counts.reshape(self.n_rows, self.n_labels, k)
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
