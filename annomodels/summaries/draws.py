"""Draws of a result tree, thinned to a budget, its stack, and the item posteriors they imply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from annomodels.coefficients.intervals import interval as around
from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.models import from_dict
from annomodels.models.base import Model, n_states
from annomodels.models.catalog import is_stack
from annomodels.models.mixtures.stack import Stack, layered
from annomodels.models.states import Kinds, States
from annomodels.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array


BUDGET = 256 * 2**20
SMALLEST = 1e-12  # lower bound of probabilities: EM without a prior gives exact zeros
LEAST_LOG = -690.0  # lower bound of the log probability of a state that an item's kind rules out
SHORT = 16
Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Draws:
    """Posterior draws, with chains concatenated."""

    prevalence: Floats
    confusion: Floats
    states: States | None = None
    kinds: Kinds | None = None

    def __len__(self) -> int:
        return len(self.prevalence)

    @property
    def share(self) -> Floats:
        """Probability of each state, or of each class, shape [sample, state]."""
        return self.prevalence if self.states is None else self.states.share

    @property
    def emission(self) -> Floats:
        """P(label | state), shape [sample, coder, state, label]."""
        return self.confusion if self.states is None else self.states.emission

    def truth(self, sample: int) -> Floats:
        """P(truth | state) on one draw, shape [state, truth]."""
        if self.states is None:
            return np.eye(self.prevalence.shape[1])
        truth: Floats = self.states.truth[sample]
        return truth

    @property
    def n_truths(self) -> int:
        return int(self.prevalence.shape[1])

    def parts(self, state: Floats) -> Iterator[tuple[Ints, Floats]]:
        """Yield the states of each truth, and P(truth, state), shape [item, sample * state]."""
        # The last axis runs over samples and these states; the state varies fastest.
        for k in range(self.n_truths):
            if self.states is None:
                yield np.array([k]), np.ascontiguousarray(state[:, :, k])
                continue
            truth = self.states.truth
            some = np.flatnonzero(truth[:, :, k].max(axis=0) > 0)
            yield some, (state[:, :, some] * truth[None, :, some, k]).reshape(len(state), -1)

    def kinds_of(self, data: Annotations) -> Ints | None:
        """Return the kind of each item (all fitted items or some); None without kinds."""
        if self.kinds is None:
            return None
        return self.kinds.of_items([label_text(name) for name in data.items])

    def log_share(self, sample: int, kinds: Ints | None) -> Floats:
        """Return the prior log P(state) on one draw, [item, state]; one row if items share it."""
        if self.kinds is None or kinds is None:
            return np.asarray(np.log(np.maximum(self.share[sample], SMALLEST))[None])
        return np.asarray(np.maximum(self.kinds.of(sample, kinds), LEAST_LOG))

    def of_item(self, data: Annotations, item: int) -> Draws:
        """Return the draws with the state probabilities of one item."""
        kinds = self.kinds_of(data)
        if kinds is None or self.states is None:
            return self
        mine = [np.exp(self.log_share(d, kinds[[item]]))[0] for d in range(len(self))]
        return replace(self, states=replace(self.states, share=np.stack(mine)), kinds=None)


def two_readings(tree: xr.DataTree, data: Annotations) -> Bools:
    """Flag items with two readings by an expert's decision, shape [item]."""
    entries = json.loads(tree.attrs.get("decisions", "[]"))
    names = {name for name, entry in entries if entry.get("two")}
    found = np.zeros(data.n_items, dtype=bool)
    if names:
        found[:] = [label_text(name) in names for name in data.items]
    return found & (data.known < 0)


def model_of(tree: xr.DataTree) -> Model:
    return _read_model(tree.attrs["model"])


STACK_NOTE = (
    "Coders and classes are those of the hierarchical model, given truths drawn from the "
    "stack: their intervals include the uncertainty about the truth."
)


def told_by(tree: xr.DataTree) -> tuple[str, ...]:
    """Note which model estimates coders and classes, if P(truth) is from another one."""
    return (STACK_NOTE,) if is_stack(model_of(tree)) else ()


@lru_cache(maxsize=16)
def _read_model(text: str) -> Model:
    return from_dict(json.loads(text))


def n_samples(tree: xr.DataTree) -> int:
    sizes = tree["posterior"].sizes
    return int(sizes["chain"] * sizes["draw"])


def flat(tree: xr.DataTree, name: str, chosen: Ints | slice = slice(None)) -> Floats:
    """Return the draws of a posterior variable, chains concatenated, [sample, ...]."""
    values: Floats = tree["posterior"].to_dataset()[name].values
    values = values.reshape(-1, *values.shape[2:])[chosen]
    return np.asarray(values.astype(np.float64, copy=False))


def thinned(
    tree: xr.DataTree, data: Annotations, n_max: int | None = None, budget: int = BUDGET
) -> Draws:
    """Return evenly thinned draws of prevalence and confusion."""
    posterior = tree["posterior"]
    model = model_of(tree)
    total = n_samples(tree)
    per_draw = 8 * int(np.prod(posterior["confusion"].shape[2:]))
    size = n_states(model, data.n_labels)
    per_draw *= max(1, size // data.n_labels)
    wanted = total if n_max is None else min(n_max, total)
    count = max(1, min(wanted, budget // per_draw))
    chosen = evenly(total, count)
    confusion = flat(tree, "confusion", chosen)
    if confusion.ndim == 3:
        shape = (count, data.n_coders, *confusion.shape[1:])
        confusion = np.broadcast_to(confusion[:, None], shape)
    states = None
    if size:
        states = model.states({str(n): flat(tree, str(n), chosen) for n in posterior.data_vars})
        if model.shared and states is not None:
            shape = (count, data.n_coders, *states.emission.shape[2:])
            states = replace(states, emission=np.broadcast_to(states.emission, shape))
    kinds = None if states is None else states.kinds
    return Draws(flat(tree, "prevalence", chosen), confusion, states, kinds)


def evenly(total: int, count: int) -> Ints:
    """Return the indices of `count` draws, evenly spaced among `total`."""
    return np.asarray((np.arange(count) * total) // count)


def counts_matrix(data: Annotations, alike: bool = False) -> csr_array:
    """Count labels per item and coder, sparse, [item, coder * label]; if alike, [item, label]."""
    from scipy.sparse import csr_array

    row = np.zeros(len(data), np.int64) if alike else data.coder.astype(np.int64)
    column = row * data.n_labels + data.label
    shape = (data.n_items, (1 if alike else data.n_coders) * data.n_labels)
    return csr_array((np.ones(len(data)), column, data.starts), shape=shape)


def as_known(p: Floats, data: Annotations) -> Floats:
    """Set P(truth) [item, truth] to certainty for known truths, in place."""
    known = np.flatnonzero(data.known >= 0)
    p[known] = np.eye(p.shape[1])[data.known[known]]
    return p


def truth_probabilities(
    draws: Draws, data: Annotations, budget: int = BUDGET // 4
) -> Iterator[tuple[int, Floats]]:
    """Yield P(truth | labels, parameters) of every item on each draw; known truths are certain."""
    for step, p_state in state_probabilities(draws, data, budget):
        p = p_state if draws.states is None else p_state @ draws.truth(step)
        yield step, as_known(p, data)


def state_probabilities(
    draws: Draws, data: Annotations, budget: int = BUDGET // 4
) -> Iterator[tuple[int, Floats]]:
    """Yield P(state | labels, parameters) of every item on each draw."""
    n_states, emitted = draws.share.shape[1], draws.emission
    alike = emitted.strides[1] == 0  # a broadcast view: all coders share one matrix
    emitted, counts = emitted[:, :1] if alike else emitted, counts_matrix(data, alike)
    widest = max(counts.shape)
    block = max(1, budget // (8 * n_states * widest))
    known, kinds = np.flatnonzero(data.known >= 0), draws.kinds_of(data)
    for first in range(0, len(draws), block):
        emission = np.log(np.maximum(emitted[first : first + block], SMALLEST))
        size = len(emission)
        table = emission.transpose(1, 3, 0, 2).reshape(-1, size * n_states)
        logp = (counts @ table).reshape(data.n_items, size, n_states)
        if kinds is None:
            logp += np.log(np.maximum(draws.share[first : first + block], SMALLEST))
        for offset in range(0 if kinds is None else size):
            logp[:, offset] += draws.log_share(first + offset, kinds)
        for offset in range(size if len(known) else 0):
            given = np.maximum(draws.truth(first + offset), 1e-300)
            logp[known, offset] += np.log(given).T[data.known[known]]
        logp -= _largest(logp)[:, :, None]
        np.exp(logp, out=logp)
        logp /= logp.sum(axis=2, keepdims=True)
        for offset in range(size):
            yield first + offset, logp[:, offset]


def choices(probabilities: Floats, uniform: Floats) -> Ints:
    """Draw one class per row: count the cumulative probabilities below the uniform number."""
    below = np.zeros(probabilities.shape[:-1])
    picked: Ints = np.zeros(below.shape, dtype=np.int64)
    for k in range(probabilities.shape[-1] - 1):  # few, long columns: faster than cumsum
        below += probabilities[..., k]
        picked += uniform > below
    return picked


def _largest(values: Floats) -> Floats:
    """Return the maximum over a short last axis, many times faster than ``max``."""
    if values.shape[-1] > SHORT:
        return np.asarray(values.max(axis=-1))
    top = values[..., 0].copy()
    for k in range(1, values.shape[-1]):
        np.maximum(top, values[..., k], out=top)
    return top


def interval(samples: Floats, prob: float = 0.95) -> tuple[Floats, Floats]:
    """Return an equal-tailed interval over axis 0 that contains the mean; NaN for one draw."""
    some = samples if len(samples) > 1 else samples[:0]
    low, high = around(some, prob, mean_of(samples))
    return low[()], high[()]  # 0-d arrays become scalars


def mean_of(samples: Floats) -> Floats:
    """Return the mean over the first axis; equal draws give exactly their value."""
    mean: Floats = samples.mean(axis=0)
    return np.clip(mean, samples.min(axis=0), samples.max(axis=0))


def estimated(
    name: str, draws: Floats, prob: float = 0.95, ends: tuple[str, str] | None = None
) -> dict[str, Floats]:
    """Return columns of the mean of draws [sample, row] and their interval, named by `ends`."""
    low, high = ends or (f"{name}_low", f"{name}_high")
    return {name: mean_of(draws), **dict(zip((low, high), interval(draws, prob), strict=True))}


def draw_labels(confusion: Floats, coder: Codes, truth: Codes, rng: np.random.Generator) -> Ints:
    if confusion.strides[0] == 0:  # a broadcast view: all coders share one matrix
        confusion, coder = confusion[:1], np.zeros_like(coder)
    n_truths, n_labels = confusion.shape[1:]
    row = coder.astype(np.int64) * n_truths + truth
    uniform = rng.random(len(row))
    below = np.cumsum(confusion, axis=2).reshape(-1, n_labels)
    if n_labels > SHORT:  # offset each row by 2, so that one sorted search serves all rows
        line = (below[:, :-1] + 2.0 * np.arange(len(below))[:, None]).ravel()
        place = np.searchsorted(line, uniform + 2.0 * row, side="right")
        return np.asarray(place - row * (n_labels - 1))
    label = np.zeros(len(row), dtype=np.int64)
    for k in range(n_labels - 1):
        label += uniform >= below[:, k][row]
    return label


def only(data: Annotations, items: Ints) -> Annotations:
    """Return the labels of some items in the given order, without known gold; keep all coders."""
    lengths = np.diff(data.starts)[items]
    inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows = np.repeat(data.starts[items], lengths) + inside
    return data.replace(
        item=np.repeat(np.arange(len(items)), lengths),
        coder=data.coder[rows],
        label=data.label[rows],
        items=tuple(data.items[i] for i in items),
        gold=None,
        group=None,
        groups=(),
        texts=None,
        unanswered=None,
        declared=True,
    )


def per_item(values: Floats, starts: Ints) -> Floats:
    """Sum over the labels of each item, zero for items without labels, shape [item, ...]."""
    out = np.zeros((len(starts) - 1, *values.shape[1:]))
    full = np.flatnonzero(np.diff(starts) > 0)
    if len(full):
        out[full] = np.add.reduceat(values, starts[:-1][full], axis=0)
    return out


# items per block of P(truth)
AT_ONCE = 5_000
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Stacked:
    """Mixture of a model and the votes, and draws of the layer."""

    log_q: Floats  # log of the mixture, shape [item, truth]
    sharpness: Floats  # draws of the layer, shapes [draw], [draw, truth] and [draw, truth]
    unknown: Floats
    tilt: Floats
    known: Ints  # known truths of items in streamed data, shape [item]
    spread: float  # spread of a coder's accuracy around that under drawn truths, in logits

    def __len__(self) -> int:
        return len(self.unknown)

    def at(self, draws: slice | Ints) -> Stacked:
        layer = {name: getattr(self, name)[draws] for name in ("sharpness", "unknown", "tilt")}
        return replace(self, **layer)

    def typical(self) -> Stacked:
        """Return the median of the layer, the typical distance of a crowd from an expert."""
        layer = {name: np.median(getattr(self, name), axis=0, keepdims=True)
                 for name in ("sharpness", "unknown", "tilt")}  # fmt: skip
        return replace(self, **layer)

    def p(self, items: slice | Ints = slice(None)) -> Floats:
        """Compute P(truth) of some items under the draws, shape [draw, item, truth]."""
        return layered(self.log_q[items], self.sharpness, self.unknown, self.tilt)

    def parts(self, items: Ints, size: int = AT_ONCE) -> Iterator[tuple[slice, Floats]]:
        for begin in range(0, len(items), size):
            some = slice(begin, begin + size)
            yield some, self.p(items[some])

    def wrong(self, items: Ints, best: Ints, rng: np.random.Generator) -> Floats:
        """Draw the number of items whose label is not `best`, ignoring known truths."""
        wrong = np.zeros(len(self))
        for some, p in self.parts(items):
            p_right = p[:, np.arange(p.shape[1]), best[some]]
            wrong += (rng.random(p_right.shape) < 1.0 - p_right).sum(axis=1)
        return wrong

    def far_off(self, accuracy: Floats) -> Floats:
        """Add noise to accuracies [draw, coder], calibrated on public data sets."""
        odds = np.log(np.maximum(accuracy, TINY) / np.maximum(1.0 - accuracy, TINY))
        odds += self.spread * np.random.default_rng(4).standard_normal(odds.shape)
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


def stacked(tree: xr.DataTree) -> Stacked | None:
    """Return the stack of a fit, None under a single model; known items only if streamed."""
    if "stack" not in tree.children:
        return None
    found = tree["stack"].to_dataset()
    held = next((n for n in ("log_mixture", "known_mixture") if n in found), "")
    k = found.sizes["truth"]
    log_q = found[held].values if held else np.zeros((0, k))
    return Stacked(
        log_q,
        sharpness=found["sharpness"].values,
        unknown=found["unknown"].values,
        tilt=found["tilt"].values,
        known=found["known_truth"].values if "known_truth" in found else np.zeros(0, dtype=int),
        spread=cast("Stack", model_of(tree)).far_off,
    )


def truth_draws(
    tree: xr.DataTree, data: Annotations, most: int
) -> tuple[int, Iterator[tuple[int, Floats]]]:
    """Return the number of draws (up to `most`), and P(truth) [item, truth] on each of them."""
    stack = stacked(tree)
    if stack is None:
        draws = thinned(tree, data, most)
        return len(draws), truth_probabilities(draws, data)
    some = stack.at(evenly(len(stack), min(most, len(stack))))

    def each() -> Iterator[tuple[int, Floats]]:
        for n in range(len(some)):
            yield n, as_known(some.at(slice(n, n + 1)).p()[0], data)

    return len(some), each()
