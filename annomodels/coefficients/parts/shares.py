r"""Parts of the observed disagreement, beside the parts that chance would give.

:math:`D_o` is a sum over the pairs of labels within items, so every pair of labels, item, coder
and group makes up a share of it. Chance gives a pair of labels the share
:math:`n_k n_l d_{kl} / \sum_{kl} n_k n_l d_{kl}`, and an item, coder or group the share of its
labels in all pairs. The ratio of the two shares is 1 where a part disagrees like the whole.

Beside them: who shares items with whom, and labels that a coder gives more often than others do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from annomodels.coefficients.counts import Counts, sparse_sum
from annomodels.coefficients.parts.columns import interval, share_above
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.parts.two_sided import TwoSided, beside
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.rows import Rows
from annomodels.coefficients.tables import over
from annomodels.data.annotations import Annotations
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

MOST_PATHS = 60_000_000


@dataclass(frozen=True, eq=False)
class Overlap:
    """Connections between coders through items.

    Parameters
    ----------
    component
        Component of each coder; coders of different components are connected by no chain of
        shared items, shape [coder].
    components
        One row for each component: number of coders, items and labels, the largest first.
    shared
        Number of items that each coder shares with another, shape [coder].
    partners
        Number of coders that each coder shares an item with, shape [coder]; None where there are
        too many to count.
    single
        Number of items with one label only.
    """

    component: Ints
    components: pd.DataFrame
    shared: Ints
    partners: Ints | None
    single: int


def overlap(data: Annotations, rows: Rows) -> Overlap:
    """Find the components, and what each coder shares.

    Examples
    --------
    >>> from annomodels.coefficients.rows import prepare
    >>> data = Annotations.from_records([(1, "a", 0), (1, "b", 1), (2, "c", 0), (2, "d", 0)])
    >>> overlap(data, prepare(data)).components[["coders", "items"]].values.tolist()
    [[2, 1], [2, 1]]
    """
    import pandas as pd

    n_coders, n_items = rows.n_coders, rows.n_items
    ones = np.ones(len(rows.item))
    given = sparse.csr_array((ones, (rows.coder, rows.item)), (n_coders, n_items))
    given.data[:] = 1.0
    size = n_coders + n_items
    edges = sparse.coo_array((ones, (rows.coder, rows.item + n_coders)), (size, size))
    _, found = sparse.csgraph.connected_components(edges, directed=False)
    of_coder, of_item = found[:n_coders], found[n_coders:]
    k = int(found.max()) + 1
    sizes = pd.DataFrame(
        {
            "coders": np.bincount(of_coder, minlength=k),
            "items": np.bincount(of_item, minlength=k),
            "labels": np.bincount(of_coder[rows.coder], minlength=k),
        }
    )
    order = np.lexsort((np.arange(k), -sizes["labels"].to_numpy()))
    rank = np.empty(k, dtype=np.int64)
    rank[order] = np.arange(k)
    sizes = sizes.iloc[order].reset_index(drop=True)
    sizes.insert(0, "component", np.arange(1, k + 1))
    by_two = np.asarray(given.sum(0)).reshape(-1) >= 2
    return Overlap(
        component=rank[of_coder] + 1,
        components=sizes,
        shared=np.bincount(rows.coder[by_two[rows.item]], minlength=n_coders),
        partners=_partners(given),
        single=int((np.asarray(given.sum(0)).reshape(-1) < 2).sum()),
    )


def _partners(given: sparse.csr_array) -> Ints | None:
    """Count the other coders that each coder shares an item with."""
    per_item = np.asarray(given.sum(0)).reshape(-1)
    if (per_item**2).sum() > MOST_PATHS:
        return None
    together = given @ given.T
    return np.asarray(np.diff(together.indptr), dtype=np.int64) - 1


@dataclass(frozen=True, eq=False)
class Bias:
    """What each coder overuses.

    Parameters
    ----------
    label
        Label that the coder gives more often than the others by the largest margin, shape [coder].
    distance
        Total variation distance of the coder's labels and those of the others on the same items:
        the part of their disagreement that unequal margins alone enforce ("quantity disagreement",
        Pontius & Millones 2011, doi:10.1080/01431161.2011.552923), shape [coder].
    by
        Takes weights of the items, gives how much more often, as a share, [..., coder].
    """

    label: Ints
    distance: Floats
    by: Callable[[Floats], Floats]


def bias(sides: TwoSided, point: Floats) -> Bias:
    """Compare the two sides of each coder.

    Parameters
    ----------
    sides
        Each coder against the others.
    point
        Weights of the items that give the classical values, shape [item].
    """
    k, parts = sides.n_labels, sides.n_parts

    def shares(matrix: Any, weights: Floats) -> Floats:
        counted = (matrix @ weights.T).T.reshape(*weights.shape[:-1], parts, k)
        return over(counted, counted.sum(-1, keepdims=True))

    more = shares(sides.left, point) - shares(sides.right, point)
    label = np.where(np.isnan(more), -1.0, more).argmax(-1)
    rows = np.arange(parts) * k + label
    left, right = sides.left, sides.right
    own, other = left[rows], right[rows]
    every = np.arange(parts * k)
    given = sparse.csr_array((np.ones(len(every)), (every // k, every))) @ left

    def by(weights: Floats) -> Floats:
        return over(((own - other) @ weights.T).T, (given @ weights.T).T)

    return Bias(label, np.abs(more).sum(-1) / 2, by)


MOST_LABEL_PAIRS = 500


@dataclass(frozen=True, eq=False)
class Shares:
    """Observed and expected shares of parts, from weights of the items.

    Parameters
    ----------
    evaluate
        Takes weights [..., item], gives both shares [..., part].
    work
        Entries of the matrices.
    width
        Numbers held for each draw.
    """

    evaluate: Callable[[Floats], tuple[Floats, Floats]]
    work: int
    width: int


def label_pair_shares(setup: Setup, counts: Counts) -> tuple[Ints, Ints, Shares]:
    """Shares of the pairs of different labels that occur, the largest observed share first."""
    point, distance = setup.sample.point, setup.request.distance
    pooled = np.asarray(counts.pooled @ point)
    d = distance.pairs(counts.first, counts.second, pooled)
    now = np.asarray(counts.together @ point) * d
    order = np.argsort(-now, kind="stable")[:MOST_LABEL_PAIRS]
    listed = order[now[order] > 0]
    first, second = counts.first[listed], counts.second[listed]

    def evaluate(weights: Floats) -> tuple[Floats, Floats]:
        apart = (counts.together @ weights.T).T * d
        n = (counts.pooled @ weights.T).T
        by_chance = 2 * n[..., first] * n[..., second] * d[listed]
        all_chance = distance.form(n, n, np.broadcast_to(pooled, n.shape))
        whole = apart.sum(-1, keepdims=True)
        return over(apart[..., listed], whole), over(by_chance, all_chance[..., None])

    work = int(counts.together.nnz + counts.pooled.nnz)
    return first, second, Shares(evaluate, work, 6 * len(d) + 2 * len(pooled))


def part_shares(setup: Setup, part: str) -> Shares:
    """Shares of the coders ("coder"), or of the groups the items belong to ("group")."""
    rows, distance = setup.sample.rows, setup.request.distance
    weight = setup.convention.pair(rows.per_item.astype(float))
    weight = weight * used_items(rows, setup.request.convention)
    pooled = np.asarray(setup.counts().pooled @ setup.sample.point)
    a, second, others = beside(rows)
    worth = others * weight[rows.item[a]]
    apart = worth * distance.pairs(rows.label[a], second, pooled)
    if part == "coder":
        owner, size = rows.coder[a], rows.n_coders
    else:
        assert setup.data.group is not None
        real = rows.item[a] < setup.data.n_items
        a, worth, apart = a[real], worth[real], apart[real]
        owner, size = setup.data.group[rows.item[a]].astype(np.int64), len(setup.data.groups)
    shape = (size, rows.n_items)
    matrices = [sparse_sum(x, owner, rows.item[a], shape) for x in (apart, worth)]

    def evaluate(weights: Floats) -> tuple[Floats, Floats]:
        one, other = ((matrix @ weights.T).T for matrix in matrices)
        return over(one, one.sum(-1, keepdims=True)), over(other, other.sum(-1, keepdims=True))

    return Shares(evaluate, sum(int(matrix.nnz) for matrix in matrices), 4 * size)


def share_columns(point: tuple[Floats, Floats], draws: tuple[Floats, Floats] | None) -> Any:
    """Columns share, share_low, share_high, by_chance, ratio, ratio_low, ratio_high, p_more.

    Parameters
    ----------
    point
        Observed and expected shares, shape [part].
    draws
        The same for every draw, shape [draw, part], or None.
    """
    observed, expected = point
    nan = np.full(observed.shape, np.nan)
    low = high = ratio_low = ratio_high = p_more = nan
    if draws is not None:
        low, high = interval(draws[0])
        ratio = over(*draws)
        ratio_low, ratio_high = interval(ratio)
        p_more = share_above(ratio, 1.0)
    return {
        "share": observed,
        "share_low": low,
        "share_high": high,
        "by_chance": expected,
        "ratio": over(observed, expected),
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "p_more": p_more,
    }


def item_table(setup: Setup) -> pd.DataFrame:
    """Share of each item that has pairs of labels, those with the largest share first."""
    import pandas as pd

    rows, distance, data = setup.rows, setup.request.distance, setup.data
    weight = setup.convention.pair(rows.per_item.astype(float))
    weight = weight * used_items(rows, setup.request.convention)
    pooled = np.bincount(rows.label, minlength=rows.n_labels).astype(float)
    a, second, others = beside(rows)
    worth = others * weight[rows.item[a]]
    apart = np.bincount(
        rows.item[a], worth * distance.pairs(rows.label[a], second, pooled), rows.n_items
    )
    given = np.bincount(rows.item[a], worth, rows.n_items)
    shown = np.flatnonzero(given > 0)
    share, expected = (x[shown] / (x.sum() or np.nan) for x in (apart, given))
    table = pd.DataFrame(
        {
            "item": [data.items[i] for i in shown],
            "n": rows.per_item[shown],
            "disagreement": apart[shown] / given[shown],
            "share": share,
            "by_chance": expected,
            "ratio": over(share, expected),
        }
    )
    return table.sort_values("share", ascending=False, kind="stable").reset_index(drop=True)
