"""Data of two coders, from pairs of labels or a table of their numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

import annomodels as am


def of_pairs(pairs: Any, **options: Any) -> am.Annotations:
    """Make data of pairs of labels, or of {pair: number}; coders are 0 and 1."""
    if isinstance(pairs, Mapping):
        pairs = [pair for pair, n in pairs.items() for _ in range(n)]
    rows = [(i, c, label) for i, pair in enumerate(pairs) for c, label in enumerate(pair)]
    return am.Annotations.from_records(rows, **options)


def of_table(table: Any, names: Any = None, **options: Any) -> am.Annotations:
    """Make data of a table of numbers; rows are labels of the first coder."""
    names = range(len(table)) if names is None else names
    cells = {(names[k], names[m]): int(n) for (k, m), n in np.ndenumerate(np.asarray(table))}
    return of_pairs(cells, **options)
