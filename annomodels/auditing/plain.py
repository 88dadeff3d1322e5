"""What an audit says without a model, and the normal form of prediction-powered means."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from annomodels.auditing.rectify import ENDS
from annomodels.types import Floats, Ints

LEVEL = 0.95


@lru_cache(maxsize=4096)
def exact(size: int, seen: int, found: int, level: float = LEVEL) -> tuple[int, int]:
    """Give the exact 95 % interval of a count in a finite population, of a simple random sample.

    All totals are in it with which so few or so many found would not be too rare, each with 2.5 %:
    tails of the hypergeometric distribution. It is never too narrow, whatever the truth.

    Parameters
    ----------
    size
        Number of items.
    seen, found
        Number of items in the sample, and of those that have what is counted.
    level
        Probability that the interval is to cover the count, at least.

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
    tail = (1.0 - level) / 2
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
    found: Floats,
    weights: Floats,
    size: int,
    cluster: Ints | None = None,
    level: float = LEVEL,
    cautious: bool = False,
) -> tuple[float, float, float]:
    r"""Share by an audit alone whose items had unequal chances, with a 95 % interval.

    .. math::

        \hat p = \frac{\sum_i w_i y_i}{\sum_i w_i}, \quad
        n^* = \frac{(\sum_i w_i)^2}{\sum_i w_i^2}

    with the limits of Clopper and Pearson for :math:`n^* \hat p` found of :math:`n^*`, an
    approximation. Items with what is counted may gather where weights are large, so `cautious`
    takes :math:`n^* = \sum_i w_i / \max_i w_i`: a sample of so many items has a variance that is
    never smaller, whichever strata they are in. With equal weights it is the exact interval of a
    finite population. In :math:`n^*` the items of a cluster are one, whose weight is the sum of
    theirs.

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
    level
        Probability that the interval is to cover the share.
    cautious
        Whether the largest weight decides.

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
        least, most = exact(size, n, int(found.sum()), level)
        return share, least / size, most / size
    worth = float(mass.sum() / (mass.max() if cautious else (mass**2).sum() / mass.sum()))
    tail, y = (1.0 - level) / 2, share * worth
    low = float(beta.ppf(tail, y, worth - y + 1.0)) if y > 0 else 0.0
    high = float(beta.ppf(1.0 - tail, y + 1.0, worth - y)) if y < worth else 1.0
    return share, low, high


def effective(share: Floats, n: Floats, size: Ints) -> float:
    r"""Say how many items of a simple random sample an audit of strata is worth.

    .. math::

        n^* = \bar\theta (1 - \bar\theta) \Big/ \sum_s \left(\frac{N_s}{N}\right)^2
        \frac{\theta_s (1 - \theta_s)}{n_s} \left(1 - \frac{n_s}{N_s}\right)

    the variance of the stratified estimate, which no model biases; the latter has shape [stratum].
    A stratum of which none was audited counts as sampled at the rate of all items.

    >>> effective(np.array([0.2]), np.array([60.0]), np.array([1_000_000])) < 60.01
    True
    """
    if not n.any():
        return 0.0
    part = size / size.sum()
    asked = np.where(n > 0, n, size * n.sum() / size.sum())
    open_part = np.maximum(1.0 - asked / size, 0.0)
    variance = float((part**2 * share * (1.0 - share) / asked * open_part).sum())
    mean = float(part @ share)
    return mean * (1.0 - mean) / variance if variance > 0 else np.inf


def stretched(total: Floats, least: float, most: float, size: float, worth: float) -> Floats:
    r"""Stretch draws of a count whose interval is narrower than a sample of that worth allows.

    .. math:: \text{Beta}(n^* \hat p + .5, \; n^* (1 - \hat p) + .5)

    is the interval of Jeffreys around the mean of the draws, between the smallest and the largest
    count there can be. A posterior is biased towards the model; an interval as wide as that of an
    estimate without bias leaves room for it (Korn and Graubard 1998 for the effective size; L. D.
    Brown, T. T. Cai and A. DasGupta 2001, Statistical Science 16(2), doi:10.1214/ss/1009213286).

    >>> np.quantile(stretched(np.arange(45.0, 56.0), 10, 950, 1000, 100.0), ENDS).round().tolist()
    [18.0, 109.0]
    """
    from scipy.stats import beta

    if not 0 < worth < np.inf:
        return total
    middle, ends = float(total.mean()), np.quantile(total, ENDS)
    a, b = (worth * part + 0.5 for part in (middle / size, 1.0 - middle / size))
    goals = np.clip(size * beta.ppf(ENDS, a, b), least, most)
    reach = np.where(ends == middle, np.inf, ends - middle)
    below, above = np.maximum((goals - middle) / reach, 1.0)
    moved = middle + (total - middle) * np.where(total < middle, below, above)
    return np.asarray(np.clip(moved, least, most))


def prediction_powered(
    truth: Floats, told: Floats, told_of_rest: Floats, power: float | None = None
) -> tuple[float, float, float]:
    r"""Prediction-powered mean of a simple random sample, with its normal 95 % interval.

    .. math::

        \hat\mu = \lambda \bar f_N + \overline{(y - \lambda f)}_n, \quad
        se^2 = \frac{\lambda^2 s^2_f}{N} + \frac{s^2_{y - \lambda f}}{n}

    The classical form beside the posterior: where errors are rare its intervals are too narrow.
    It is cut at 0 and 1.

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
    mean, low, high = np.clip([mean, mean - reach, mean + reach], 0.0, 1.0).tolist()
    return mean, low, high
