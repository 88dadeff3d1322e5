r"""Expected utility of further labels of an item.

Let k be the truth of an item, y the labels it may still get and s a draw of the parameters. The
joint probability given all labels so far is the mean over the draws

    P(k, y) = mean_s sum_z P(z | labels, s) T[s, z, k] prod_n E[s, coder_n, z, y_n],

where z is the state of the item (the truth itself in models with confusion matrices), T is
P(truth | state) and E is P(label | state) of a coder. The draws are averaged first, so
uncertainty about the coders lowers the value of a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import gammaln, xlogy

from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import SMALLEST, Draws, evenly, state_probabilities
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    from annomodels.summaries.stacked import Stacked

By = Literal["gold", "bits"]
Beliefs = Callable[[Ints], Iterator[tuple[slice, Floats]]]

MOST_OUTCOMES = 2000
BUDGET = 128 * 2**20


def beliefs(
    draws: Draws, data: Annotations, items: Ints, budget: int = BUDGET
) -> Iterator[tuple[slice, Floats]]:
    """Yield P(state | labels of the item, draw) of some items in blocks."""
    n_samples, n_states = draws.share.shape
    size = max(1, budget // (8 * n_samples * n_states))
    for first in range(0, len(items), size):
        block = only(data, items[first : first + size])
        out = np.empty((block.n_items, n_samples, n_states))
        for step, p in state_probabilities(draws, block):
            out[:, step] = p
        yield slice(first, first + block.n_items), out


def stack_beliefs(stack: Stacked, count: int) -> Beliefs:
    """Return the counterpart of :func:`beliefs` for a stack."""
    some = stack.at(evenly(len(stack), count))

    def believe(items: Ints) -> Iterator[tuple[slice, Floats]]:
        size = max(1, BUDGET // (8 * count * some.log_q.shape[1]))
        for part, p in some.parts(items, size):
            yield (
                slice(part.start, part.start + p.shape[1]),
                np.ascontiguousarray(p.transpose(1, 0, 2)),
            )

    return believe


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


def outcomes(n_labels: int, m: int) -> tuple[Ints, Floats]:
    """Return all possible counts of m labels, [outcome, label], and log(m! / prod counts!)."""
    chosen = np.array(list(combinations_with_replacement(range(n_labels), m)))
    counts = (chosen[:, :, None] == np.arange(n_labels)).sum(axis=1)
    return counts, gammaln(m + 1) - gammaln(counts + 1).sum(axis=1)


def most_labels(n_labels: int, wanted: int) -> int:
    """Limit the number of labels per item so that all outcomes can be enumerated."""
    ways = 1.0
    for m in range(1, wanted + 1):
        ways *= (n_labels + m - 1) / m
        if ways > MOST_OUTCOMES:
            return max(m - 1, 1)
    return wanted


def gains(draws: Draws, state: Floats, typical: Floats, most: int, by: By = "gold") -> Floats:
    """Compute the expected gain from 1, 2, ..., `most` further labels, [item, number]."""
    # "gold": sum_y max_k P(k, y) - max_k P(k), zero if no outcome changes the label (Howard
    # 1966, doi:10.1109/TSSC.1966.300074). "bits": mutual information of the truth and the labels.
    log_typical = np.log(np.maximum(typical, SMALLEST))
    n_samples = len(log_typical)
    now = np.stack([joint.sum(axis=1) for _, joint in draws.parts(state)], axis=1) / n_samples
    out = np.empty((len(state), most))
    for m in range(1, most + 1):
        counts, log_ways = outcomes(log_typical.shape[2], m)
        # [sample, state, outcome]
        seen = np.exp(log_typical @ counts.T + log_ways) / n_samples
        joint = np.stack(
            [p @ seen[:, some].reshape(-1, len(counts)) for some, p in draws.parts(state)], axis=2
        )
        out[:, m - 1] = _worth(joint, now, by)
    return out


def coder_bits(draws: Draws, state: Floats, coders: Ints) -> Floats:
    """Compute the mutual information of truth and a coder's next label in bits, [item, coder]."""
    n_samples, _, _, n_labels = draws.emission.shape
    some_coders = draws.emission[:, coders]
    step = max(1, BUDGET // (16 * draws.n_truths * n_labels * max(len(coders), 1)))
    out = np.empty((len(state), len(coders)))
    for first in range(0, len(state), step):
        block = state[first : first + step]
        joint = np.empty((len(block), len(coders), n_labels, draws.n_truths))
        now = np.empty((len(block), draws.n_truths))
        for k, (some, p) in enumerate(draws.parts(block)):
            says = some_coders[:, :, some].transpose(0, 2, 1, 3).reshape(p.shape[1], -1)
            joint[..., k] = (p @ says).reshape(len(block), len(coders), n_labels) / n_samples
            now[:, k] = p.sum(axis=1) / n_samples
        out[first : first + step] = _worth(joint, now[:, None], "bits")
    return out


def _worth(joint: Floats, now: Floats, by: By) -> Floats:
    """Compute the gain from P(truth, outcome) [..., outcome, truth] over P(truth) [..., truth]."""
    if by == "gold":
        gained = joint.max(axis=-1).sum(axis=-1) - now.max(axis=-1)
    else:
        after = xlogy(joint, joint).sum(axis=(-2, -1))
        outcome = joint.sum(axis=-1)
        gained = after - xlogy(outcome, outcome).sum(axis=-1) - xlogy(now, now).sum(axis=-1)
        gained /= np.log(2)
    # rounding errors can be negative, about -1e-17
    return np.asarray(np.where(gained > 1e-12, gained, 0.0))
