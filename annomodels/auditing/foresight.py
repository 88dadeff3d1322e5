"""How narrow an answer will be before items are judged, and how many a wanted width takes."""

from __future__ import annotations

import numpy as np

from annomodels.auditing.estimator import Estimator, Seen
from annomodels.auditing.plain import exact
from annomodels.auditing.rectify import ENDS
from annomodels.auditing.strata import allocate, stratify
from annomodels.types import Bools, Floats, Ints

# sizes that a plan shows, and how many made-up audits a width is the median of
LADDER = (30, 60, 120, 240, 480, 960)
AUDITS, DRAWS = 40, 500


def widths(
    estimator: Estimator, more: Ints, seen: Seen, rng: np.random.Generator
) -> tuple[float, float]:
    """Predict the width of the interval of accuracy, with the model and by the audit alone."""
    # Medians over simulated audits, whose answers follow the model, its errors on public data sets
    # and the items audited so far; `more` is the number of further items by stratum.
    n, y = estimator.counts(-1, seen)
    size = estimator.strata.size
    total, plain = int(size.sum()), int(len(seen.item) + more.sum())
    had = estimator.strata.count(seen.item)
    with_model, alone = [], []
    for share in estimator.shares(-1, n, y, AUDITS, rng):
        found = rng.binomial(more, share)
        then = estimator.shares(-1, n + more, y + found, DRAWS, rng)
        known = float((y + found).sum())
        wrong = estimator.counted(then, n + more, had + more, known, rng)
        with_model.append(float(np.ptp(np.quantile(wrong, ENDS))))
        guess = (size * share).sum() / total
        low, high = exact(total, plain, int(rng.binomial(plain, guess)))
        alone.append(float(high - low))
    return float(np.median(with_model)) / total, float(np.median(alone)) / total


def foreseen(
    p_truth: Floats, part: Bools, misjudged: tuple[float, float], sizes: tuple[int, ...] = LADDER
) -> list[tuple[int, float, float]]:
    """Predict both widths for some sizes of an audit: (size, with the model, audit alone)."""
    none = Seen(*(np.empty(0, dtype=np.int64),) * 2, np.empty(0))
    out = []
    for size in sizes:
        if size >= part.sum():
            break
        strata = stratify(p_truth, part, size)
        estimator = Estimator(p_truth, strata, *misjudged)
        rng = np.random.default_rng(size)
        out.append((size, *widths(estimator, allocate(strata, size), none, rng)))
    return out


def further(
    estimator: Estimator, seen: Seen, drawn: Ints, sizes: tuple[int, ...] = LADDER
) -> list[tuple[int, float, float]]:
    """Predict both widths for further items; `drawn` are those drawn so far [stratum]."""
    out = []
    for size in sizes:
        if size >= estimator.strata.size.sum() - drawn.sum():
            break
        more = allocate(estimator.strata, size, drawn)
        out.append((size, *widths(estimator, more, seen, np.random.default_rng(size))))
    return out


def needed(plan: list[tuple[int, float, float]], width: float, most: int) -> int:
    """Return the number of items for a width, between or beyond the sizes of a plan."""
    if len(plan) < 2:
        return most
    sizes, each, _ = (np.log(column) for column in np.array(plan).T)
    order = np.argsort(each)
    wanted = np.log(width)
    if each.min() <= wanted <= each.max():
        found = float(np.interp(wanted, each[order], sizes[order]))
    else:
        # beyond the plan it falls with the root of the size
        nearest = -1 if wanted < each[-1] else 0
        found = float(sizes[nearest] + 2.0 * (each[nearest] - wanted))
    return int(min(max(np.ceil(np.exp(found) - 1e-6), 1), most))
