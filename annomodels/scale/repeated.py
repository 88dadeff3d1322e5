"""Rows that repeat an annotation id are taken once, as :func:`annomodels.read` takes them.

What is spilled of an id is a number of 64 bits that stands for id, coder and label together; only
rows of one item are compared, so that two different rows are taken for one with a probability of
one in 10^19 for each pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ids_of", "marks", "repeats"]

Marks = NDArray[np.uint64]
COLUMN = "annotation_id"
BETWEEN = "\0"


def ids_of(header: Sequence[str], taken: Sequence[str]) -> str | None:
    """Column that holds annotation ids; None where there is none, or it holds something else.

    Examples
    --------
    >>> ids_of(["item", "Annotation_ID"], ["item"]), ids_of(["annotation_id"], ["annotation_id"])
    ('Annotation_ID', None)
    """
    found = next((name for name in header if name.strip().casefold() == COLUMN), None)
    return None if found in taken else found


def marks(columns: Mapping[str, Any], kept: NDArray[np.int64]) -> Marks:
    """Give some rows of a chunk a number each for id, coder and label; 0 without an id.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = {"id": ["1", "1", "", "1"], "coder": ["a", "a", "a", "b"], "label": ["x"] * 4}
    >>> columns = {name: pa.array(texts, pa.large_string()) for name, texts in cells.items()}
    >>> found = marks(columns, np.arange(4))
    >>> bool(found[0] == found[1]), bool(found[0] == found[3]), int(found[2])
    (True, False, 0)
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pandas.util import hash_array

    if "id" not in columns:
        return np.zeros(len(kept), dtype=np.uint64)
    cells = [columns[role].take(pa.array(kept)) for role in ("id", "coder", "label")]
    whole = pc.binary_join_element_wise(*cells, pa.scalar(BETWEEN, pa.large_string()))
    found = hash_array(whole.to_numpy(zero_copy_only=False), categorize=False)
    none = pc.equal(cells[0], "").to_numpy(zero_copy_only=False)
    return np.where(none, np.uint64(0), np.maximum(found, np.uint64(1)))


def repeats(item: NDArray[Any], mark: Marks) -> NDArray[np.bool_]:
    """Which rows have an item and a mark that an earlier row has.

    Examples
    --------
    >>> repeats(np.array([0, 1, 0, 0]), np.array([7, 7, 7, 0], dtype=np.uint64)).tolist()
    [False, False, True, False]
    """
    order = np.lexsort((mark, item))  # rows that are alike stay in their order
    first, second = order[:-1], order[1:]
    again = (item[first] == item[second]) & (mark[first] == mark[second]) & (mark[second] > 0)
    out = np.zeros(len(item), dtype=bool)
    out[second] = again
    return out
