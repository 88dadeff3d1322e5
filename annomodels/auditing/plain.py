"""What an audit says without a model, and the normal form of prediction-powered means."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from annomodels.auditing.rectify import ENDS
from annomodels.types import Floats, Ints

LEVEL = 0.95


@lru_cache(maxsize=4096)
def exact(size: int, seen: int, found: int, level: float = LEVEL) -> tuple[int, int]:
    """Return the exact interval of a count in a finite population, simple random sample."""
    # All totals for which so few or so many would not be too rare (tails of the hypergeometric):
    # Clopper & Pearson 1934, doi:10.2307/2331986; Buonaccorsi 1987,
    # doi:10.1080/00031305.1987.10475484. It is never too narrow, whatever the truth.
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
    """P(at most `found` of the marked items are among those seen): hypergeometric."""
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
    """Return share, low and high by an audit alone whose items had unequal chances."""
    # Clopper-Pearson limits for n* p of n*, n* = (sum w)^2 / sum w^2 (Korn & Graubard 1998, Survey
    # Methodology 24(2), 193-201). Hits can gather where weights are large, so `cautious` takes n* =
    # sum w / max w, whose variance is never smaller. Equal weights: the exact interval. The items
    # of a cluster are one, with the sum of their weights.
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
    """Return the size of a simple random sample that an audit of strata is worth."""
    # n* = p (1 - p) / sum_s (N_s / N)^2 p_s (1 - p_s) / n_s (1 - n_s / N_s): the variance of the
    # stratified estimate, which no model biases. A stratum without audited items counts as sampled
    # at the rate of all items.
    if not n.any():
        return 0.0
    part = size / size.sum()
    asked = np.where(n > 0, n, size * n.sum() / size.sum())
    open_part = np.maximum(1.0 - asked / size, 0.0)
    variance = float((part**2 * share * (1.0 - share) / asked * open_part).sum())
    mean = float(part @ share)
    return mean * (1.0 - mean) / variance if variance > 0 else np.inf


def stretched(total: Floats, least: float, most: float, size: float, worth: float) -> Floats:
    """Stretch draws of a count if their interval is narrower than a sample allows."""
    # The interval of Jeffreys, Beta(n* p + .5, n* (1 - p) + .5), around the mean of the draws. A
    # posterior is biased towards the model; an interval as wide as that of an unbiased estimate
    # leaves room for it (Brown, Cai & DasGupta 2001, doi:10.1214/ss/1009213286).
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
    """Return a prediction-powered mean of a simple random sample: mean, low and high."""
    # mu = l mean_N(f) + mean_n(y - l f), se^2 = l^2 var_N(f) / N + var_n(y - l f) / n, cut at 0 and
    # 1; `power` None takes the l that is best by the sample. Too narrow if errors are rare.
    # Angelopoulos et al. 2023, doi:10.1126/science.adi6000; PPI++, arXiv:2311.01453.
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
