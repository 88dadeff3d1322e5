"""Who shares items with whom, as a graph of coders and items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from annomodels.coefficients.rows import Rows
from annomodels.data.annotations import Annotations

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Overlap", "overlap"]

Ints = NDArray[np.int64]

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
