"""Spending labels: how many for which item, and by whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Steps:
    """Portions of labels, the most rewarding first.

    Parameters
    ----------
    item
        Shape [step].
    size
        Labels in the portion, shape [step].
    gain
        Expected gain per label, shape [step].
    """

    item: Ints
    size: Ints
    gain: Floats


def steps(gains: Floats, room: Ints) -> Steps:
    """Cut the labels of each item into portions of decreasing gain per label.

    The next portion of an item is the number of labels with the largest gain per label; later
    portions never gain more per label than earlier ones (they are the edges of the concave hull).

    Parameters
    ----------
    gains
        Expected gain of 1, 2, ... labels, shape [item, number].
    room
        Most labels that each item may get, shape [item].

    Examples
    --------
    One label gains nothing, three gain .3: they are one portion.

    >>> found = steps(np.array([[0.0, 0.1, 0.3], [0.2, 0.21, 0.21]]), np.array([3, 3]))
    >>> found.item.tolist(), found.size.tolist(), found.gain.round(2).tolist()
    ([1, 0, 1], [1, 3, 1], [0.2, 0.1, 0.01])
    """
    n_items, most = gains.shape
    total = np.concatenate([np.zeros((n_items, 1)), gains], axis=1)
    number = np.arange(most + 1)
    here = np.zeros(n_items, dtype=np.int64)
    found: list[tuple[Ints, Ints, Floats]] = []
    for _ in range(most):
        ahead = number[None] - here[:, None]
        possible = (ahead > 0) & (number[None] <= room[:, None])
        slope = (total - total[np.arange(n_items), here][:, None]) / np.maximum(ahead, 1)
        slope = np.where(possible, slope, -np.inf)
        best = slope.argmax(axis=1)
        gain = slope[np.arange(n_items), best]
        good = np.flatnonzero(gain > 0)
        if not len(good):
            break
        found.append((good, best[good] - here[good], gain[good]))
        here = np.where(gain > 0, best, most)
    if not found:
        empty = np.empty(0, dtype=np.int64)
        return Steps(empty, empty, np.empty(0))
    item, size, gain = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(-gain, kind="stable")
    return Steps(item[order], size[order], gain[order])


def allocate(portions: Steps, budget: int, stop: float) -> Ints:
    """Take portions, the most rewarding first, while they fit.

    Parameters
    ----------
    portions
        What there is.
    budget
        Number of labels.
    stop
        Least gain per label.

    Returns
    -------
    array
        Which portions, in order. When a portion is too large for what is left of the budget, no
        later portion of its item is taken.

    Examples
    --------
    >>> found = steps(np.array([[0.0, 0.1, 0.3], [0.2, 0.21, 0.21]]), np.array([3, 3]))
    >>> allocate(found, 2, 0.0).tolist(), allocate(found, 9, 0.05).tolist()
    ([0, 2], [0, 1])
    """
    left = budget
    taken = []
    closed: set[int] = set()
    for number, (item, size, gain) in enumerate(
        zip(portions.item.tolist(), portions.size.tolist(), portions.gain.tolist(), strict=True)
    ):
        if left == 0 or gain < stop:
            break
        if item in closed:
            continue
        if size > left:
            closed.add(item)
            continue
        taken.append(number)
        left -= size
    return np.array(taken, dtype=np.int64)


def has_labelled(data: Annotations, items: Ints, coders: Ints) -> Bools:
    """Whether a coder has labelled an item already, shape [item, coder] of those given.

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> has_labelled(small_fit()[1], np.array([1]), np.array([0, 2])).tolist()
    [[True, True]]
    """
    row = np.full(data.n_items, -1)
    row[items] = np.arange(len(items))
    column = np.full(data.n_coders, -1)
    column[coders] = np.arange(len(coders))
    at, of = row[data.item], column[data.coder]
    inside = (at >= 0) & (of >= 0)
    out = np.zeros((len(items), len(coders)), dtype=bool)
    out[at[inside], of[inside]] = True
    return out


def choose_coders(wanted: Ints, bits: Floats, done: Bools, limit: Ints) -> list[list[int]]:
    """Choose for each item the coders whose labels tell most, as long as they have time.

    Parameters
    ----------
    wanted
        Number of labels of each item, the most rewarding item first, shape [item].
    bits
        What a label tells, shape [item, coder].
    done
        Whether the coder labelled the item already, shape [item, coder].
    limit
        Most labels of each coder, shape [coder].

    Returns
    -------
    list
        Columns of the coders of each item, best first; fewer than wanted where nobody is left.

    Examples
    --------
    >>> bits = np.array([[0.5, 0.4, 0.1], [0.5, 0.4, 0.1]])
    >>> done = np.array([[False, True, False], [False, False, False]])
    >>> choose_coders(np.array([2, 2]), bits, done, np.array([1, 9, 9]))
    [[0, 2], [1, 2]]
    """
    left = limit.copy()
    out = []
    for i, n in enumerate(wanted.tolist()):
        value = np.where(done[i] | (left <= 0), -np.inf, bits[i])
        order = np.argsort(-value, kind="stable")[:n]
        chosen = [int(j) for j in order if np.isfinite(value[j])]
        left[chosen] -= 1
        out.append(chosen)
    return out
