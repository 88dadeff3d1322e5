"""Parts of the observed disagreement, next to the parts that chance would give; shared items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from annomodels.coefficients.intervals import interval, share_above
from annomodels.coefficients.parts.results import SHARES
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.rows import Rows
from annomodels.coefficients.sums import Sums, of_items
from annomodels.coefficients.tables import over
from annomodels.data.alike import components
from annomodels.types import Floats, Ints

MOST_PATHS = 60_000_000
MOST_LABEL_PAIRS = 500
ROUNDING = 1e-9  # a part that is all of the disagreement has a ratio of 1, give or take this


@dataclass(frozen=True, eq=False)
class Overlap:
    """Connections between coders through items; components are numbered from the largest."""

    component: Ints  # of each coder, [coder]
    components: pd.DataFrame  # number of coders, items and labels of each
    shared: Ints  # items that a coder shares with another, [coder]
    partners: Ints | None  # coders that a coder shares items with, [coder]; None: too many to count
    single: int  # items with one label


def overlap(rows: Rows) -> Overlap:
    """Find the connected components, and what each coder shares."""
    n_coders, n_items = rows.n_coders, rows.n_items
    ones = np.ones(len(rows.item))
    given = sparse.csr_array((ones, (rows.coder, rows.item)), (n_coders, n_items))
    given.data[:] = 1.0
    part = np.arange(n_coders)
    known = components(rows.item, rows.coder)
    part[: len(known)] = known
    of_coder = np.unique(part, return_inverse=True)[1]
    first = rows.coder[rows.starts[rows.per_item > 0]]
    members = {"coders": of_coder, "items": of_coder[first], "labels": of_coder[rows.coder]}
    k = int(of_coder.max()) + 1
    sizes = {name: np.bincount(x, minlength=k) for name, x in members.items()}
    order = np.argsort(-sizes["labels"], kind="stable")
    table = pd.DataFrame({"component": np.arange(k) + 1} | {n: x[order] for n, x in sizes.items()})
    per_item = np.asarray(given.sum(0)).reshape(-1)
    together = given @ given.T if (per_item**2).sum() <= MOST_PATHS else None
    return Overlap(
        component=np.argsort(order)[of_coder] + 1,
        components=table,
        shared=np.bincount(rows.coder[(per_item >= 2)[rows.item]], minlength=n_coders),
        partners=None if together is None else np.diff(together.indptr).astype(np.int64) - 1,
        single=int((per_item < 2).sum()),
    )


class Bias:
    """The label that each coder gives more often than the others do on the same items."""

    # `distance` is the total variation distance of the coder's labels and those of the others: the
    # disagreement that unequal margins alone enforce ("quantity disagreement", Pontius & Millones
    # 2011, doi:10.1080/01431161.2011.552923).

    def __init__(self, sums: Sums, point: Floats) -> None:
        k = sums.n_labels
        counted = (sums.times(side, point, k) for side in sums.sides)
        one, other = (over(x, x.sum(-1, keepdims=True)) for x in counted)
        more = one - other
        self.label: Ints = np.where(np.isnan(more), -1.0, more).argmax(-1)
        self.distance: Floats = np.abs(more).sum(-1) / 2
        rows = np.arange(len(self.label)) * k + self.label
        left, right = sums.sides
        self._more, self._given = left[rows] - right[rows], sums.total

    def by(self, weights: Floats) -> Floats:
        """Difference of the shares of that label, [..., item] -> [..., coder]."""
        return over((self._more @ weights.T).T, (self._given @ weights.T).T)


class LabelPairs:
    """Pairs of different labels that occur, those with the largest share of disagreement first."""

    def __init__(self, setup: Setup) -> None:
        self.sums, self.distance = setup.sums, setup.request.distance
        self.cells, _, first, second = self.sums.cells
        self.pooled = setup.pooled
        self.d = self.distance.pairs(first, second, self.pooled)
        now = np.asarray(self.cells @ setup.sample.point) * self.d
        order = np.argsort(-now, kind="stable")[:MOST_LABEL_PAIRS]
        self.listed = order[now[order] > 0]
        self.first, self.second = first[self.listed], second[self.listed]

    def shares(self, weights: Floats) -> tuple[Floats, Floats]:
        """See :meth:`.Sums.shares`."""
        apart = (self.cells @ weights.T).T * self.d
        n = (self.sums.of_all @ weights.T).T
        by_chance = 2 * n[..., self.first] * n[..., self.second] * self.d[self.listed]
        all_chance = self.distance.form(n, n, np.broadcast_to(self.pooled, n.shape))
        whole = apart.sum(-1, keepdims=True)
        return over(apart[..., self.listed], whole), over(by_chance, all_chance[..., None])


def share_columns(point: tuple[Floats, Floats], draws: tuple[Floats, Floats]) -> dict[str, Floats]:
    """Columns of observed and expected shares, [part] each; their draws are [draw, part]."""
    ratio = over(*draws)
    spans = *interval(draws[0], value=point[0]), point[1]
    ratios = over(*point), *interval(ratio, value=over(*point)), share_above(ratio, 1.0 + ROUNDING)
    return dict(zip(SHARES, (point[0], *spans, *ratios), strict=True))


def item_table(setup: Setup) -> pd.DataFrame:
    """Share of each item that has pairs of labels, those with the largest share first."""
    sums = of_items(setup.rows, setup.convention)
    apart = sums.apart(setup.request.distance, setup.pooled).toarray()[0]
    given = sums.total.toarray()[0]
    shown = np.flatnonzero(given > 0)
    share, expected = (x[shown] / (x.sum() or np.nan) for x in (apart, given))
    table = pd.DataFrame(
        {
            "item": [setup.data.items[i] for i in shown],
            "n": setup.rows.per_item[shown],
            "disagreement": apart[shown] / given[shown],
            "share": share,
            "by_chance": expected,
            "ratio": over(share, expected),
        }
    )
    return table.sort_values("share", ascending=False, kind="stable").reset_index(drop=True)
