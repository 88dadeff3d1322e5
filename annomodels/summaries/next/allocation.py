"""Allocation of labels to items and coders."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import places_of
from annomodels.errors import NotApplicable, Option
from annomodels.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Steps:
    """Portions of labels, by decreasing gain per label."""

    item: Ints
    size: Ints
    gain: Floats


def steps(gains: Floats, room: Ints) -> Steps:
    """Cut the labels of each item into portions of decreasing gain per label."""
    # Portions are the edges of the concave hull: if 1 label gains 0 and 3 labels gain 0.3, the
    # portion is 3 labels.
    n_items, most = gains.shape
    total = np.concatenate([np.zeros((n_items, 1)), gains], axis=1)
    number = np.arange(most + 1)
    here = np.zeros(n_items, dtype=np.int64)
    found: list[tuple[Ints, Ints, Floats]] = []
    for _ in range(most):
        ahead = number[None] - here[:, None]
        possible = (ahead > 0) & (number[None] <= room[:, None])
        slope = (total - total[np.arange(n_items), here][:, None]) / np.maximum(ahead, 1)
        slope = np.where(possible, slope.round(12), -np.inf)  # rounding errors must not break ties
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
    """Choose portions by decreasing gain while they fit the budget."""
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


def has_labeled(data: Annotations, items: Ints, coders: Ints) -> Bools:
    """Flag items that a coder has already labeled, shape [item, coder]."""
    row = np.full(data.n_items, -1)
    row[items] = np.arange(len(items))
    column = np.full(data.n_coders, -1)
    column[coders] = np.arange(len(coders))
    at, of = row[data.item], column[data.coder]
    inside = (at >= 0) & (of >= 0)
    out = np.zeros((len(items), len(coders)), dtype=bool)
    out[at[inside], of[inside]] = True
    return out


def choose_coders(
    wanted: Ints, bits: Floats, done: Bools, limit: Ints, most: int | None = None
) -> list[list[int]]:
    """Choose the most informative coders for each item, those below `most` labels first."""
    given = np.zeros_like(limit)
    out = []
    for i, n in enumerate(wanted.tolist()):
        able = ~done[i] & (given < limit)
        fresh = able if most is None else able & (given < most)
        value = np.where(able, bits[i], -np.inf)
        order = np.lexsort((-value, ~fresh))[: min(n, int(able.sum()))]
        given[order] += 1
        out.append([int(j) for j in order])
    return out


@dataclass(frozen=True, eq=False)
class Pool:
    """Coders who may be asked, the most informative first."""

    coders: Ints
    limit: Ints
    weight: Floats
    new: bool


def make_pool(
    data: Annotations,
    bits: Floats,
    willing: Bools,
    budget: int,
    names: Sequence[Hashable] | None,
    per_coder: int | None,
    per_item: int,
) -> Pool:
    """Return the coders to ask: those named, or all willing ones."""
    n = data.per_coder
    if names is None:
        who = np.flatnonzero(willing & (n > 0))
    elif not len(who := np.sort(places_of(data.coders, names, "coder"))):
        raise NotApplicable(
            f"Name some of the {data.n_coders} coders, or leave {Option('coders')} out for all of "
            "these coders and new ones."
        )
    who = who[np.argsort(-bits[who], kind="stable")]
    limit = np.full(len(who), int(n.max()) if per_coder is None else per_coder, dtype=np.int64)
    # labels of one item come from different coders, which limits each coder
    useful = np.minimum(limit, -(-budget // min(per_item, max(len(who), 1))))
    before = np.concatenate([[0], np.cumsum(useful)[:-1]])
    given = np.clip(budget - before, 0, useful)
    return Pool(who, limit, given / max(given.sum(), 1), names is None)
