"""What an audit says without a model, and the normal form of prediction-powered means."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from annomodels.auditing.rectify import ENDS
from annomodels.types import Floats, Ints

LEVEL = 0.95
# standard errors from the middle to an end of a 95 % interval
ONE_IN_TWENTY = 1.96
# standard errors between an audit alone and what model and audit say together: from where on less
# is believed of the model, and from where on nothing
BEGINS, WHOLLY = 0.3, 0.7


@lru_cache(maxsize=4096)
def exact(size: int, seen: int, found: int) -> tuple[int, int]:
    """Give the exact 95 % interval of a count in a finite population, of a simple random sample.

    All totals are in it with which so few or so many found would not be too rare, each with 2.5 %:
    tails of the hypergeometric distribution. It is never too narrow, whatever the truth.

    Parameters
    ----------
    size
        Number of items.
    seen, found
        Number of items in the sample, and of those that have what is counted.

    References
    ----------
    C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits. Biometrika
    26(4), 404-413, doi:10.2307/2331986. J. Buonaccorsi (1987). A note on confidence intervals for
    proportions in finite populations. The American Statistician 41(3), 215-218,
    doi:10.1080/00031305.1987.10475484.

    Examples
    --------
    >>> exact(800, 60, 4), exact(60, 60, 4)
    ((16, 126), (4, 4))
    """
    tail = (1.0 - LEVEL) / 2
    low, high = found, size - (seen - found)

    def least() -> int:
        begin, end = low, high
        while begin < end:
            middle = (begin + end) // 2
            rare = 1.0 - _up_to(found - 1, size, middle, seen) <= tail
            begin, end = (middle + 1, end) if rare else (begin, middle)
        return begin

    def most() -> int:
        begin, end = low, high
        while begin < end:
            middle = (begin + end + 1) // 2
            rare = _up_to(found, size, middle, seen) <= tail
            begin, end = (begin, middle - 1) if rare else (middle, end)
        return begin

    return least(), most()


def _up_to(found: int, size: int, marked: int, seen: int) -> float:
    """P(no more than so many of the marked items are among those seen): hypergeometric."""
    x = np.arange(max(0, seen - (size - marked)), min(found, marked, seen) + 1)
    logp = _log_choose(marked, x) + _log_choose(size - marked, seen - x)
    return float(np.exp(logp - _log_choose(size, seen)).sum())


def _log_choose(n: int, k: Ints | int) -> Floats:
    from scipy.special import betaln

    return np.asarray(-betaln(1 + n - k, 1 + k) - np.log1p(n))


def weighted(
    found: Floats, weights: Floats, size: int, cluster: Ints | None = None
) -> tuple[float, float, float]:
    r"""Share by an audit alone whose items had unequal chances, with a 95 % interval.

    .. math::

        \hat p = \frac{\sum_i w_i y_i}{\sum_i w_i}, \quad
        n^* = \frac{(\sum_i w_i)^2}{\sum_i w_i^2}

    with the limits of Clopper and Pearson for :math:`n^* \hat p` found of :math:`n^*`. With equal
    weights it is the exact interval of a finite population. In :math:`n^*` the items of a cluster
    are one, whose weight is the sum of theirs.

    Parameters
    ----------
    found
        Whether each audited item has what is counted, shape [audited].
    weights
        One over the chance of each to be audited, up to a factor, shape [audited].
    size
        Number of items that could have been audited.
    cluster
        Cluster of each audited item, from 0, shape [audited].

    Returns
    -------
    tuple
        Share, low and high.

    References
    ----------
    E. L. Korn and B. I. Graubard (1998). Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data. Survey Methodology 24(2), 193-201.

    Examples
    --------
    >>> found = np.array([1.0, 0, 0, 0, 0, 0])
    >>> [round(x, 3) for x in weighted(found, np.array([1.0, 1, 1, 9, 9, 9]), 200)]
    [0.033, 0.0, 0.666]
    """
    from scipy.stats import beta

    n = len(found)
    if not n:
        return np.nan, 0.0, 1.0
    share = float((weights * found).sum() / weights.sum())
    mass = weights if cluster is None else np.bincount(cluster, weights)
    equal = len(mass) == n and np.ptp(weights) <= 1e-9 * weights.max()
    if equal and np.isin(found, (0.0, 1.0)).all():
        least, most = exact(size, n, int(found.sum()))
        return share, least / size, most / size
    effective = float(mass.sum() ** 2 / (mass**2).sum())
    tail, y = (1.0 - LEVEL) / 2, share * effective
    low = float(beta.ppf(tail, y, effective - y + 1.0)) if y > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, y + 1.0, effective - y)) if y < effective else 1.0
    return share, low, high


def led(total: Floats, alone: Floats) -> Floats:
    r"""Lead draws of a count towards the audit alone where it contradicts them.

    .. math::

        f = \min\left(1, \max\left(0, \frac{z - 0.3}{0.7 - 0.3}\right)\right), \quad
        z = \frac{|\hat t - \bar t|}{se}

    A model that is very wrong is not put right by some items of each stratum. So the further the
    audit alone, :math:`\hat t` with the standard error se, lies from the mean of the draws, the
    more of the way to it the draws go: their mean and the ends of their 95 % interval by the
    share f.

    Parameters
    ----------
    total
        Draws of a count by audit and model, shape [draw].
    alone
        The count by the audit alone, and the ends of its 95 % interval.

    Returns
    -------
    ndarray
        Shape [draw]; the draws themselves where nothing contradicts them.

    Examples
    --------
    >>> draws = np.arange(40.0, 61.0)
    >>> led(draws, np.array([52.0, 30, 74])).max()
    np.float64(60.0)
    >>> np.quantile(led(draws, np.array([80.0, 60, 96])), ENDS).round().tolist()
    [60.0, 96.0]
    """
    middle, (low, high) = float(total.mean()), np.quantile(total, ENDS)
    share, least, most = alone
    error = max((most - least) / (2 * ONE_IN_TWENTY), 1e-12)
    part = min(1.0, (abs(share - middle) / error - BEGINS) / (WHOLLY - BEGINS))
    if part <= 0.0:
        return total
    goal = [old + part * (new - old) for old, new in ((middle, share), (low, least), (high, most))]
    below = (goal[0] - goal[1]) / max(middle - low, 1e-12)
    above = (goal[2] - goal[0]) / max(high - middle, 1e-12)
    return np.asarray(goal[0] + (total - middle) * np.where(total < middle, below, above))


def prediction_powered(
    truth: Floats, told: Floats, told_of_rest: Floats, power: float | None = None
) -> tuple[float, float, float]:
    r"""Prediction-powered mean of a simple random sample, with its normal 95 % interval.

    .. math::

        \hat\mu = \lambda \bar f_N + \overline{(y - \lambda f)}_n, \quad
        se^2 = \frac{\lambda^2 s^2_f}{N} + \frac{s^2_{y - \lambda f}}{n}

    The classical form beside the posterior: where errors are rare its intervals are too narrow.

    Parameters
    ----------
    truth
        Of the audited items, shape [audited].
    told
        What the model says of them, shape [audited].
    told_of_rest
        What it says of the others, shape [other].
    power
        :math:`\lambda`; None takes the one that is best by the sample.

    Returns
    -------
    tuple
        Mean, low and high.

    References
    ----------
    A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic (2023).
    Prediction-powered inference. Science 382, 669-674, doi:10.1126/science.adi6000.
    A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023). PPI++: efficient prediction-powered
    inference. arXiv:2311.01453.

    Examples
    --------
    >>> told = np.array([0.9, 0.2, 0.8, 0.1])
    >>> mean, low, high = prediction_powered(np.array([1.0, 0, 1, 0]), told, told, power=1.0)
    >>> round(mean, 3), round(low, 3), round(high, 3)
    (0.5, 0.12, 0.88)
    """
    from scipy.stats import norm

    n, rest = len(truth), len(told_of_rest)
    if not rest:  # all are known
        return (float(truth.mean()),) * 3
    if power is None:
        centre = told_of_rest.mean() + (truth - told).mean()
        both = np.concatenate([told, told_of_rest]) - centre
        shared = float(((truth - centre - (truth - centre).mean()) * (told - told.mean())).mean())
        spread = float(both.var(ddof=1)) * (1.0 + n / rest)
        power = min(max(shared / spread, 0.0), 1.0) if spread > 0 else 0.0
    mean = float((power * told_of_rest).mean() + (truth - power * told).mean())
    se = float(np.sqrt((power * told_of_rest).var() / rest + (truth - power * told).var() / n))
    reach = float(norm.ppf((1.0 + LEVEL) / 2)) * se
    return mean, mean - reach, mean + reach
