r"""Parts of the observed disagreement, beside the parts that chance would give.

:math:`D_o` is a sum over the pairs of labels within items, so every pair of labels, item, coder
and group makes up a share of it. Chance gives a pair of labels the share
:math:`n_k n_l d_{kl} / \sum_{kl} n_k n_l d_{kl}`, and an item, coder or group the share of its
labels in all pairs. The ratio of the two shares is 1 where a part disagrees like the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.breakdown.neighbours import beside
from annomodels.coefficients.breakdown.posterior import interval, share_above
from annomodels.coefficients.breakdown.setup import Setup
from annomodels.coefficients.counts import Counts, sparse_sum
from annomodels.coefficients.reasons import used_items

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Shares", "item_table", "label_pair_shares", "part_shares", "share_columns"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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


def _over(part: Floats, whole: Floats) -> Floats:
    """Part of a whole; NaN where there is no whole."""
    return np.asarray(part / np.where(whole > 0, whole, np.nan)[..., None])


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
        return _over(apart[..., listed], apart.sum(-1)), _over(by_chance, all_chance)

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
        return _over(one, one.sum(-1)), _over(other, other.sum(-1))

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
        ratio = _ratio(*draws)
        ratio_low, ratio_high = interval(ratio)
        p_more = share_above(ratio, 1.0)
    return {
        "share": observed,
        "share_low": low,
        "share_high": high,
        "by_chance": expected,
        "ratio": _ratio(observed, expected),
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "p_more": p_more,
    }


def _ratio(part: Floats, whole: Floats) -> Floats:
    out = np.full(np.shape(part), np.nan)
    return np.asarray(np.divide(part, whole, out=out, where=whole > 0))


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
            "ratio": _ratio(share, expected),
        }
    )
    return table.sort_values("share", ascending=False, kind="stable").reset_index(drop=True)
