"""The coefficient without each item, for all items at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.breakdown.setup import Setup
from annomodels.coefficients.counts import Counts
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.tables import Tables

__all__ = ["without_each_item"]

Floats = NDArray[np.float64]

BLOCK = 2_000_000
MOST_NUMBERS = 2_000_000_000


def without_each_item(setup: Setup, counts: Counts) -> Floats:
    """Coefficient without each item, shape [item].

    NaN where it would be undefined, for a mean over pairs of coders, and where there are too many
    items for a coefficient that tells the coders apart.
    """
    entry, n = setup.request.coefficient, int(counts.together.shape[1])
    out = np.full(n, np.nan)
    width = counts.width(entry.by_coder) + (n if entry.by_coder else 0)
    entries = int(counts.coders.nnz) if entry.by_coder else 1
    if entry.each_pair or n * max(width, entries) > MOST_NUMBERS:
        return out
    full = counts.tables(np.ones(n), by_coder=False)
    columns = [matrix.tocsc() for matrix in (counts.together, counts.pooled)]
    step = max(1, BLOCK // width)
    for start in range(0, n, step):
        piece = slice(start, min(start + step, n))
        if entry.by_coder:
            weights = np.ones((piece.stop - start, n))
            weights[np.arange(piece.stop - start), np.arange(start, piece.stop)] = 0.0
            tables = counts.tables(weights)
        else:
            tables = _less(full, columns, counts.n, piece)
        found = evaluate_with(entry.expectation, tables, setup.request.distance)
        out[piece] = found.value
    return out


def _less(full: Tables, columns: list[Any], n: Floats, piece: slice) -> Tables:
    """Tables of all items less each item of a range."""

    def less(whole: Floats, matrix: Any) -> Floats:
        left = whole - matrix[:, piece].toarray().T
        return np.where(left > 1e-9 * whole, left, 0.0)

    none = np.zeros((piece.stop - piece.start, 0, 0))
    return Tables(
        first=full.first,
        second=full.second,
        together=less(full.together, columns[0]),
        pooled=less(full.pooled, columns[1]),
        left=none,
        right=none,
        sign=full.sign,
        n=full.n - n[piece],
    )
