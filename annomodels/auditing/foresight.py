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
    """Foresee the width of the 95 % interval of accuracy, with the model and by an audit alone.

    Answers are made up as the model, its errors on public sets, and what was audited so far, let
    expect them.

    Parameters
    ----------
    estimator
        Of the fit and its strata.
    more
        Further items to be audited, shape [stratum].
    seen
        What was audited.
    rng
        Source of chance.

    Returns
    -------
    tuple
        Medians over made-up audits.
    """
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
    """Foresee the widths for some sizes of an audit that is still to come.

    Parameters
    ----------
    p_truth
        P(truth), shape [item, truth].
    part
        Items that can be audited, shape [item].
    misjudged
        How far such a model was off on public sets, as a model declares it.
    sizes
        Sizes of the audit; those above the number of items are left out.

    Returns
    -------
    list of tuple
        Size, width with the model, width by the audit alone.
    """
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
    """Foresee the widths if further items are audited.

    Parameters
    ----------
    estimator
        Of the fit and its strata.
    seen
        What was audited.
    drawn
        How many items of each stratum were drawn, shape [stratum].
    sizes
        Numbers of further items.

    Returns
    -------
    list of tuple
        Number of further items, width with the model, width by the audit alone.
    """
    out = []
    for size in sizes:
        if size >= estimator.strata.size.sum() - drawn.sum():
            break
        more = allocate(estimator.strata, size, drawn)
        out.append((size, *widths(estimator, more, seen, np.random.default_rng(size))))
    return out


def needed(plan: list[tuple[int, float, float]], width: float, most: int) -> int:
    """Say how many items a wanted width takes, between and beyond the sizes of a plan.

    Parameters
    ----------
    plan
        Sizes and widths, as :func:`foreseen` gives them.
    width
        The width that is wanted.
    most
        Number of items that there are.

    Examples
    --------
    >>> needed([(30, 0.2, 0.3), (120, 0.1, 0.15)], 0.05, 2000)
    480
    >>> needed([(30, 0.2, 0.3), (120, 0.1, 0.15)], 0.15, 2000)
    54
    """
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
