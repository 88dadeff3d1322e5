"""What counting two labels as one would do to agreement and to accuracy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from annomodels.coefficients.agreement import agreement
from annomodels.coefficients.distances import make_distance
from annomodels.coefficients.evaluation import draw_values, point_values
from annomodels.coefficients.reasons import before, diagnose
from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import estimated, interval
from annomodels.types import Floats, Ints

Pair = tuple[int, int]
Alpha = tuple[float, Floats | None]

MOST_MERGED = 45  # pairs of labels whose merging is worked out: all pairs of ten labels
ALPHA_DRAWS = 1000


def merged_alphas(data: Annotations, pairs: Iterable[Pair]) -> dict[Pair, Alpha]:
    """Compute alpha with two labels counted as one, for each pair, on common draws."""
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
    """Nominal distance with two labels counted as one."""
    distance = 1.0 - np.eye(data.n_labels)
    distance[first, second] = distance[second, first] = 0.0
    return distance


def worth_merging(data: Annotations, mixed: Floats, chosen: Ints) -> list[Pair]:
    """Return those of the pairs whose alpha is worked out: the most confused ones."""
    if data.n_labels < 3:
        return []  # merging two of two labels leaves nothing to agree on
    size = mixed.mean(axis=0)[chosen[:, 0], chosen[:, 1]]
    first = np.argsort(-size, kind="stable")[:MOST_MERGED]
    return [(int(k), int(m)) for k, m in chosen[first]]


def merges(mixed: Floats, chosen: Ints, alphas: dict[Pair, Alpha]) -> pd.DataFrame:
    """Work out what merging does, one row for each pair of labels, indexed by their codes."""
    changes = [
        _change(alphas[0, 0], alphas[k, m]) if (k, m) in alphas else (np.nan,) * 4
        for k, m in chosen.tolist()
    ]
    rows: dict[str, Any] = dict(
        zip(
            ("alpha_merged", "alpha_change", "alpha_change_low", "alpha_change_high"),
            np.array(changes).reshape(-1, 4).T,
            strict=True,
        )
    )
    rows |= estimated("accuracy_gain", mixed[:, chosen[:, 0], chosen[:, 1]])
    index = pd.MultiIndex.from_tuples([(int(k), int(m)) for k, m in chosen])
    return pd.DataFrame(rows, index=index)


def _change(plain: Alpha, merged: Alpha) -> tuple[float, float, float, float]:
    low = high = float("nan")
    if plain[1] is not None and merged[1] is not None:
        difference = merged[1] - plain[1]
        difference = difference[np.isfinite(difference)]
        if len(difference) > 1:
            low, high = (float(end) for end in interval(difference))
    return merged[0], merged[0] - plain[0], low, high
