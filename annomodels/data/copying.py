"""Coders who copy: pairs with more agreement than the truth explains."""

# Everything is about pairs of coders, of the busiest ones if there are many, and needs no fit.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.data.coded import Coded
from annomodels.types import AnyArray

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# coders that are compared, the busiest first
MOST, CELLS = 400, 40_000_000
# common items from which a pair is looked at, and from which it tells how good its coders are
SHARED, TELLING = 20, 5
# share of the labels that are copied, as estimated, from which a pair is one of copies; families
# stay below. And the share that chance must not explain
COPIED, SURELY = 0.72, 0.4
# share from which no more is asked; and what this share of the pairs with others stays below
NEARLY_ALL, MOST_OTHERS, ALIKE = 0.9, 0.85, 0.35
# probability of a false alarm in data without such a pair
ALARM = 0.01
# one label in so many of a coder's makes them one who gives one label
ONE_LABEL = 0.98
# share of different labels up to which a pair is the same to all intents;
# rounds of the fit, least agreement of all, squared standard errors from which a pair hardly
# counts, and standard errors above what is usual of both coders from which it does not at first
SAME = 0.02
ROUNDS, LEAST, STRANGE, FAR = 40, 0.02, 0.5, 2.5


@dataclass(frozen=True, eq=False)
class Pairs:
    """Agreement of pairs of coders on their common items."""

    coder: Ints  # codes of the coders that are compared, the busiest first, shape [place]
    item: Ints  # codes of the items that they labeled, shape [item]
    said: Ints  # their labels, -1 where they gave none; the first of several, shape [place, item]
    # common items of each pair, and those with different labels, shape [place, place]
    shared: Floats
    differ: Floats
    plain: Bools  # whether a coder gives one label nearly always, shape [place]


def compared(data: Coded, most: int = MOST) -> Pairs:
    """Compare the busiest coders in pairs.

    >>> from annomodels import Annotations
    >>> rows = [(i, j, "ab"[i % 2]) for i in range(6) for j in range(3)]
    >>> compared(Annotations.from_records(rows)).shared[0].tolist()
    [0.0, 6.0, 6.0]
    """
    busy = np.argsort(-data.per_coder, kind="stable")[: max(2, min(most, CELLS // data.n_items))]
    place = np.full(data.n_coders, -1)
    place[busy] = np.arange(len(busy))
    rows = np.flatnonzero(place[data.coder] >= 0)[::-1]
    items, item = np.unique(data.item[rows], return_inverse=True)
    said: Ints = np.full((len(busy), len(items)), -1)
    # from last to first, to keep the first of several labels
    said[place[data.coder[rows]], item] = data.label[rows]
    given = (said >= 0).astype(np.float32)
    shared, agree = given @ given.T, np.zeros((len(busy), len(busy)), dtype=np.float32)
    top = np.zeros(len(busy))
    for k in range(data.n_labels):
        hot = (said == k).astype(np.float32)
        if hot.any():
            agree += hot @ hot.T
            top = np.maximum(top, hot.sum(axis=1))
    plain = top >= ONE_LABEL * np.maximum(given.sum(axis=1), 1)
    np.fill_diagonal(shared, 0)
    np.fill_diagonal(agree, 0)
    return Pairs(
        busy,
        items.astype(np.int64),
        said,
        shared.astype(float),
        (shared - agree).astype(float),
        plain,
    )


@dataclass(frozen=True, eq=False)
class Copies:
    """Groups of coders who copy each other or one source."""

    coders: tuple[Ints, ...]  # codes of the coders of each group, the busiest first
    # share of the labels that are copied, as estimated: the mean over the pairs of each group that
    # are copies
    rate: tuple[float, ...]


def copied(pairs: Pairs) -> Copies:
    """Find coders who copy all or most of each other's labels."""
    # Coders who label independently given the truth agree by chance and by knowledge: the agreement
    # beyond chance of a pair is r_ab = l_a l_b. The l are fitted to all pairs, robustly, so that a
    # few pairs of copies do not count. A coder who copies a share c of their labels differs 1 - c
    # times as often. A pair is one of copies if the estimated share is at least .72 and chance does
    # not explain more than .4. Below .9 most other pairs of these coders must be far from it:
    # experts, or coders with a common misreading, are alike by degrees.
    from scipy.special import betainc

    shared, differ = pairs.shared, pairs.differ
    apart = _independent(pairs)
    looked = (shared >= SHARED) & ~(pairs.plain[:, None] | pairs.plain)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(looked & (apart > 0), 1.0 - differ / (shared * apart), 0.0)
    one, two = np.nonzero(np.triu(rate >= COPIED, 1))
    tests = max(int(np.triu(looked, 1).sum()), 1)
    n, k = shared[one, two], differ[one, two]
    # of so few different labels or fewer: the binomial distribution
    chance = betainc(n - k, k + 1.0, 1.0 - (1.0 - SURELY) * apart[one, two])
    sure = chance < ALARM / tests
    one, two = one[sure], two[sure]
    # at least two others, to estimate their accuracy
    far = (shared > 0) & (rate < SURELY) & ~pairs.plain
    told = (far[one] & far[two]).sum(axis=1) >= 2
    joined = np.zeros(shared.shape, dtype=bool)
    joined[one[told], two[told]] = joined[two[told], one[told]] = True
    found = []
    for group in _groups(joined):
        mean = float(rate[np.ix_(group, group)][joined[np.ix_(group, group)]].mean())
        rest = rate[group][looked[group] & ~np.isin(np.arange(len(rate)), group)]
        # coders who read items alike, such as experts, shade into others; copies do not
        if mean >= NEARLY_ALL or not len(rest) or np.quantile(rest, MOST_OTHERS) <= ALIKE:
            found.append((pairs.coder[group], mean))
    return Copies(tuple(group for group, _ in found), tuple(mean for _, mean in found))


def _independent(pairs: Pairs) -> Floats:
    """Estimate how often pairs would differ if both labeled independently, [place, place]."""
    labels = int(pairs.said.max(initial=0)) + 1
    share = np.stack([(pairs.said == k).sum(axis=1) for k in range(labels)], axis=1)
    p: Floats = share / np.maximum(share.sum(axis=1), 1)[:, None]
    by_chance = p @ p.T
    scale = np.sqrt(np.maximum(1.0 - np.diag(by_chance), 1e-9))
    scale = scale[:, None] * scale
    size = np.where(pairs.shared >= TELLING, pairs.shared, 0.0)
    size[pairs.plain] = size[:, pairs.plain] = 0.0
    beyond = 1.0 - pairs.differ / np.maximum(pairs.shared, 1) - by_chance
    beyond = np.where(size > 0, beyond / scale, 0.0)
    # nearly identical pairs carry no information on accuracy, unless all pairs are so
    same = (pairs.differ <= SAME * pairs.shared) & (pairs.shared >= SHARED)
    alone = ((size > 0) & ~same).sum(axis=1) == 0
    size[same & ~(alone[:, None] & alone)] = 0.0
    # from the medians, so that no fit begins at the copies; of few pairs they may say nothing
    typical = np.ma.median(np.ma.masked_where(size == 0, beyond), axis=1).filled(0.0)
    usual = np.maximum(typical[:, None], typical) + FAR / np.sqrt(np.maximum(size, 1))
    start = typical / np.sqrt(max(float(np.median(typical)), LEAST))
    losses = []
    for first in (size, np.where(beyond > usual, 0.0, size)):
        knows = start
        for weigh in (first, size):
            for _ in range(ROUNDS):
                weight = weigh / (1.0 + weigh * (beyond - np.outer(knows, knows)) ** 2 / STRANGE)
                fitted = (weight * beyond) @ knows / np.maximum(weight @ knows**2, 1e-9)
                knows = np.clip((knows + fitted) / 2.0, -1.0, 1.0)
        off = size * (beyond - np.outer(knows, knows)) ** 2 / STRANGE
        losses.append((float(np.log1p(off).sum()), knows))
    knows = min(losses, key=lambda each: each[0])[1]
    return np.asarray(np.clip(1.0 - by_chance - np.outer(knows, knows) * scale, 0.0, 1.0))


def _groups(joined: Bools) -> list[Ints]:
    """Return sets of places that are joined, directly or through others."""
    from scipy.sparse.csgraph import connected_components

    some = np.flatnonzero(joined.any(axis=1))
    if not len(some):
        return []
    _, part = connected_components(joined[np.ix_(some, some)], directed=False)
    return [some[part == n] for n in range(part.max() + 1)]


def kept_of_copies(item: AnyArray, coder: AnyArray, copies: Sequence[Ints], n_coders: int) -> Bools:
    """Keep only the first coder's labels of an item within each group of copies.

    >>> item, coder = np.array([0, 0, 0, 1]), np.array([0, 1, 2, 1])
    >>> kept_of_copies(item, coder, [np.array([0, 1])], 3)
    array([ True, False,  True,  True])
    """
    group, rank = np.full(n_coders, -1), np.zeros(n_coders, dtype=np.int64)
    for number, coders in enumerate(copies):
        group[coders], rank[coders] = number, np.arange(len(coders))
    kept = np.ones(len(item), dtype=bool)
    copied_ = np.flatnonzero(group[coder] >= 0)
    if len(copied_):
        mine = coder[copied_]
        _, key = np.unique(
            np.asarray(item[copied_], np.int64) * len(copies) + group[mine], return_inverse=True
        )
        first = np.full(int(key.max()) + 1, n_coders)
        np.minimum.at(first, key, rank[mine])
        kept[copied_] = rank[mine] == first[key]
    return kept


def without_copies(data: Annotations) -> Annotations:
    """Return the annotations with one label per item and group of copies."""
    copies = copied(compared(data)).coders
    if not copies:
        return data
    kept = kept_of_copies(data.item, data.coder, copies, data.n_coders)
    return data.replace(item=data.item[kept], coder=data.coder[kept], label=data.label[kept])
