"""Effect of merging two labels on agreement and accuracy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from annomodels.coefficients.agreement import agreement
from annomodels.coefficients.distances import make_distance
from annomodels.coefficients.reasons import before, diagnose
from annomodels.coefficients.sums import draw_values, point_values
from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import estimated, interval
from annomodels.types import Floats, Ints

Pair = tuple[int, int]
Alpha = tuple[float, Floats | None]

MOST_MERGED = 45  # pairs of labels to merge: all pairs of ten labels
ALPHA_DRAWS = 1000


def merged_alphas(data: Annotations, pairs: Iterable[Pair]) -> dict[Pair, Alpha]:
    """Compute alpha with two labels merged, for each pair, on common draws."""
    wanted = list(dict.fromkeys(pairs))
    basis = agreement(data, "alpha", distance=_merged(data, 0, 0), draws=1).basis
    if basis is None or before(basis.request.coefficient, basis.rows, basis.request.convention):
        return dict.fromkeys(wanted, (float("nan"), None))
    requests = [
        replace(basis.request, distance=make_distance(_merged(data, *pair), data.labels))
        for pair in wanted
    ]
    points = point_values(basis.sample, requests)
    reasons = [
        diagnose(request.coefficient, basis.rows, request.convention, point)
        for request, point in zip(requests, points, strict=True)
    ]
    able = [n for n, reason in enumerate(reasons) if not reason]
    values = draw_values(basis.sample, [requests[n] for n in able], ALPHA_DRAWS, basis.seed)
    draws = dict(zip(able, values, strict=True))
    return {
        pair: (float(point.value), draws.get(n))
        for n, (pair, point) in enumerate(zip(wanted, points, strict=True))
    }


def _merged(data: Annotations, first: int, second: int) -> Floats:
    """Return the nominal distance with two labels merged."""
    distance = 1.0 - np.eye(data.n_labels)
    distance[first, second] = distance[second, first] = 0.0
    return distance


def merges(data: Annotations, mixed: Floats, *several: Ints) -> pd.DataFrame:
    """Tabulate the effect of merging, one row per pair, indexed by label codes."""
    size, every, wanted = mixed.mean(axis=0), dict[Pair, None](), [(0, 0)]
    for pairs in several:  # alpha of the most confused pairs only
        first = np.argsort(-size[pairs[:, 0], pairs[:, 1]], kind="stable")[:MOST_MERGED]
        named: list[Pair] = [(int(k), int(m)) for k, m in pairs]
        every |= dict.fromkeys(named)
        wanted += [named[n] for n in first]
    # merging the only two labels leaves nothing to agree on
    alphas = merged_alphas(data, wanted) if data.n_labels > 2 else {}
    changes = [_change(alphas[0, 0], alphas[p]) if p in alphas else (np.nan,) * 4 for p in every]
    columns = ["alpha_merged", "alpha_change", "alpha_change_low", "alpha_change_high"]
    index = pd.MultiIndex.from_tuples(list(every))
    table = pd.DataFrame(changes, index=index, columns=columns)
    k, m = np.array(list(every)).T
    return table.assign(**estimated("accuracy_gain", mixed[:, k, m]))


def _change(plain: Alpha, merged: Alpha) -> tuple[float, float, float, float]:
    low = high = float("nan")
    if plain[1] is not None and merged[1] is not None:
        difference = merged[1] - plain[1]
        difference = difference[np.isfinite(difference)]
        if len(difference) > 1:
            low, high = (float(end) for end in interval(difference))
    return merged[0], merged[0] - plain[0], low, high
