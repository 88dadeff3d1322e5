"""Candidate spans with their probabilities, and the layer that maximizes expected F1."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from annomodels.errors import NotApplicable
from annomodels.spans.groups import Groups
from annomodels.types import AnyArray, Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

Metric = Literal["precision", "recall"]
# maximum iterations of the search for the largest expected F1, which converges in a few
ROUNDS = 50


def candidates(groups: Groups, p_class: Floats, p_shape: Floats) -> pd.DataFrame:
    """Tabulate every span that a coder marked, with each of its plausible labels.

    Parameters
    ----------
    groups
        Groups of overlapping marks.
    p_class
        P(class) of each group, shape [group, class].
    p_shape
        P(candidate is true) of each candidate.
    """
    import pandas as pd

    names = ("group", "start", "end", "label", "shape", "piece", "p_exact")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for g in range(len(groups)):
        marked = p_class[g, 1:].sum()
        given = p_class[g, 1:] / marked if marked > 0 else p_class[g, 1:]
        merged: dict[tuple[int, int, int], list[float]] = {}
        for s in range(groups.shape_first[g], groups.shape_first[g + 1]):
            chances = groups.other_labels[s]
            for n, (start, end) in enumerate(groups.shapes[s]):
                alone = chances is None or n == groups.longest[s]
                of_label = given if alone else chances[n]  # type: ignore[index]
                for k in np.flatnonzero(of_label > 0):
                    entry = merged.setdefault((start, end, int(k)), [0.0, int(s), n])
                    entry[0] += float(p_shape[s] * of_label[k])
        for (start, end, label), (p, shape, piece) in sorted(merged.items()):
            for name, value in zip(names, (g, start, end, label + 1, shape, piece, p), strict=True):
                columns[name].append(value)
    table = pd.DataFrame(columns).astype(dict.fromkeys(names[:-1], np.int64))
    table["p_exact"] = table["p_exact"].clip(0.0, 1.0)
    table.insert(0, "document", groups.document[table["group"].to_numpy()])
    return table


def choose(
    table: pd.DataFrame,
    expected: float,
    nested: bool,
    threshold: float | None = None,
    metric: Metric | None = None,
) -> Bools:
    """Choose the spans of the gold layer; returns a mask of the rows of the table.

    Parameters
    ----------
    table
        Candidates.
    expected
        Expected number of true spans, including spans that no coder marked.
    nested
        Whether spans of the layer may be nested.
    threshold, metric
        Precision or recall that the layer should reach; without a metric, the minimum probability
        of a span; without a threshold, the layer maximizes expected F1.

    Raises
    ------
    NotApplicable
        If the threshold is not a probability, or the metric is unknown.
    """
    p = table["p_exact"].to_numpy()
    if threshold is not None and not 0 <= threshold <= 1:
        raise NotApplicable(f"The threshold is {threshold}. Give a number between 0 and 1.")
    if metric is not None and (metric not in ("precision", "recall") or threshold is None):
        raise NotApplicable(
            f"The metric is {metric!r}. Give 'precision' or 'recall', with a threshold."
        )
    if threshold is None:
        cost = 0.4
        for _ in range(ROUNDS):
            chosen = _layer(table, cost, nested)
            before, cost = cost, float(p[chosen].sum()) / max(chosen.sum() + expected, 1e-12)
            if abs(cost - before) < 1e-9:
                break
        return _layer(table, cost, nested)
    if metric is None:
        return _layer(table, threshold, nested) & (p >= threshold)
    best = _layer(table, 0.0, nested)
    order = np.flatnonzero(best)[np.argsort(-p[best], kind="stable")]
    total, out = np.cumsum(p[order]), np.zeros(len(p), dtype=bool)
    if metric == "precision":
        good = np.flatnonzero(total / np.arange(1, len(order) + 1) >= threshold)
        many = int(good[-1]) + 1 if len(good) else 0
    else:
        good = np.flatnonzero(total >= threshold * expected)
        many = int(good[0]) + 1 if len(good) else len(order)
    out[order[:many]] = True
    return out


def _layer(table: pd.DataFrame, cost: float, nested: bool) -> Bools:
    """Choose spans that maximize the sum of p - cost without overlapping, or without crossing."""
    value = table["p_exact"].to_numpy() - cost
    chosen = np.zeros(len(value), dtype=bool)
    rows = np.flatnonzero(value > 0)
    starts, ends = table["start"].to_numpy(), table["end"].to_numpy()
    by: dict[int, list[int]] = defaultdict(list)
    for row, place in zip(
        rows, table["document" if nested else "group"].to_numpy()[rows], strict=True
    ):
        by[int(place)].append(int(row))
    for few in by.values():
        if len(few) == 1:
            chosen[few] = True
        elif nested:
            chosen[_uncrossed(few, value, starts, ends)] = True
        else:
            chosen[_apart(few, value, starts, ends)] = True
    return chosen


def _apart(rows: list[int], value: Floats, starts: AnyArray, ends: AnyArray) -> list[int]:
    """Choose disjoint intervals with the largest sum (weighted interval scheduling)."""
    rows = sorted(rows, key=lambda row: (ends[row], starts[row], row))
    finish = [ends[row] for row in rows]
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for n, row in enumerate(rows):
        before = best[bisect_right(finish, starts[row], 0, n)]
        with_row = before[0] + float(value[row])
        if with_row > best[n][0]:
            best.append((with_row, [*before[1], row]))
        else:
            best.append(best[n])
    return best[-1][1]


def _uncrossed(rows: list[int], value: Floats, starts: AnyArray, ends: AnyArray) -> list[int]:
    """Choose spans greedily by value; chosen spans are disjoint or nested."""
    kept: list[int] = []
    for row in sorted(rows, key=lambda row: (-value[row], row)):
        a, b = starts[row], ends[row]
        if all(_fits(a, b, starts[other], ends[other]) for other in kept):
            kept.append(row)
    return kept


def _fits(a: int, b: int, c: int, d: int) -> bool:
    apart = b <= c or d <= a
    within = (a <= c and d <= b) or (c <= a and b <= d)
    return apart or (within and (a, b) != (c, d))
