"""Confusion matrices of single coders, as small tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annomodels.plots.notable import notable
from annomodels.plots.style import short, told_apart
from annomodels.reporting.collect import Known

__all__ = ["Matrix", "matrices"]

_MOST = 8
_WIDEST = 8
_REST = "others"


@dataclass(frozen=True)
class Matrix:
    """Mean confusion matrix of a coder.

    Parameters
    ----------
    coder, kind
        Who it is.
    n
        Number of labels the coder gave.
    labels
        Names of columns; a last one "others" gathers what is not shown.
    rows
        Name of the truth and, for each column, percent of the row.
    """

    coder: str
    kind: str
    n: int
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


def matrices(found: Known) -> tuple[list[Matrix], str]:
    """Matrices of the flagged coders; when none is flagged, of the most notable ones.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.

    Returns
    -------
    tuple
        The matrices and a sentence that says whose they are.
    """
    draws = found.fit.tree["posterior"]["confusion"]
    table = found.coders.table
    if "coder" not in draws.dims:
        shared = np.asarray(draws.mean(("chain", "draw")).values, dtype=float)
        one = _matrix("all coders", "", int(table["n"].sum()), shared, found)
        return [one], "The pooled model gives all coders the same matrix."
    chosen = found.flagged.index.to_numpy()[:_MOST]
    said = f"{len(chosen)} of {len(found.flagged)} flagged coders."
    if len(chosen) == len(found.flagged):
        said = "The flagged coders."
    if not len(chosen):
        chosen = notable(table, 4)
        said = "No coder is flagged; these have the lowest skill."
    mean = np.asarray(draws.isel(coder=chosen).mean(("chain", "draw")).values, dtype=float)
    return [
        _matrix(table["coder"][j], table["kind"][j], int(table["n"][j]), mean[at], found)
        for at, j in enumerate(chosen)
    ], said


def _matrix(coder: object, kind: str, n: int, mean: NDArray[np.float64], found: Known) -> Matrix:
    labels = told_apart(found.data.labels, 14)
    shown = np.arange(len(labels))
    if len(labels) > _WIDEST:
        shown = np.sort(
            np.argsort(-np.array(found.health.label_counts), kind="stable")[: _WIDEST - 1]
        )
    rows = []
    for k in shown:
        row = [round(100 * float(mean[k, said])) for said in shown]
        if len(shown) < len(labels):
            row.append(round(100 * float(1 - mean[k, shown].sum())))
        rows.append((labels[k], tuple(row)))
    names = [labels[k] for k in shown] + ([_REST] if len(shown) < len(labels) else [])
    return Matrix(short(coder, 40), kind, n, tuple(names), tuple(rows))
