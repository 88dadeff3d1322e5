"""Counts in all items from P(truth) and audited truths, and predicted interval widths.

Also intervals of audits alone, without a model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, betaln, expit, log_expit, logit, ndtri

from annomodels.auditing.design import Strata, allocate, stratify
from annomodels.types import Bools, Floats, Ints

# probabilities of a model are clipped to at least this
LEAST = 1e-6
# quantiles of nominal 95 % intervals: with few audited items, the coverage of 2.5 to 97.5 % is
# about one percentage point too low on the hardest public data sets
ENDS = (0.02, 0.98)
# grid points of shift, slope and weight; range of the grid in standard deviations
SHIFTS, SLOPES, WEIGHTS = 49, 9, 5
REACH, STEEPEST, REACH_OF_WEIGHT = 3.0, 2.0, 1.8
# prior sample size, in groups, of the proportion of groups far off; its grid points
GROUPS, DOUBTS = 10.0, 24


@dataclass(frozen=True)
class Prior:
    """Prior of the error of predicted proportions, before the audit."""

    # theta_s ~ Beta(w mu_s, w (1 - mu_s)), logit mu_s = a + c_b + b logit m_s, a ~ (1 - h) N(a0,
    # s1^2) + h N(a0, s2^2), b ~ N(1, s_b^2) on [0, 2], log w ~ N(log w0, s_w^2), where m_s is the
    # model's mean probability in stratum s, and c_b keeps the total it expects.

    shift: float = 0.0  # a0, in log-odds
    near: float = 0.6  # s1
    far: float = 1.3  # s2
    doubt: float = 0.4  # h
    slope: float = 0.5  # s_b
    weight: float = 30.0  # w0, in items
    weight_spread: float = 1.0  # s_w


# before an audit: for wrong labels, whose number a stack predicts best, and for label proportions
OF_WRONG = Prior()
OF_SHARES = Prior(near=1.0, doubt=0.3, slope=0.3, weight=15.0)
# with audited items, for any model: nearly flat, so that the audited items determine the result
WEAK = Prior(near=2.0, far=2.0, slope=1.0)
# for a coder, relative to all items
OF_CODERS = Prior(near=0.2, far=2.4, doubt=0.15)


class Rectifier:
    """Grid posterior of the proportions of all strata, given the hits of audited items."""

    def __init__(self, mean: Floats, size: Ints | Floats, prior: Prior = OF_WRONG) -> None:
        self.mean = np.clip(mean, LEAST, 1.0 - LEAST)
        self.size = np.asarray(size, dtype=float)
        reach = np.linspace(-1.0, 1.0, SHIFTS) * REACH * max(prior.near, prior.far)
        of_weight = np.linspace(-1.0, 1.0, WEIGHTS) * REACH_OF_WEIGHT
        slope = np.linspace(0.0, STEEPEST, SLOPES)
        weight = prior.weight * np.exp(prior.weight_spread * of_weight)
        centred = self._centred(slope)
        mu = expit((prior.shift + reach)[:, None, None] + centred[None])
        mu = np.clip(mu.reshape(-1, len(self.mean)), 1e-9, 1.0 - 1e-9)
        self.a = (weight[:, None, None] * mu).reshape(-1, len(self.mean))
        self.b = (weight[:, None, None] * (1.0 - mu)).reshape(-1, len(self.mean))
        of_shift = np.log(
            (1.0 - prior.doubt) * np.exp(-0.5 * (reach / prior.near) ** 2) / prior.near
            + prior.doubt * np.exp(-0.5 * (reach / prior.far) ** 2) / prior.far
        )
        self.log_prior = (
            -0.5 * of_weight[:, None, None] ** 2
            + of_shift[None, :, None]
            - 0.5 * ((slope - 1.0) / prior.slope)[None, None, :] ** 2
        ).ravel()
        # cached log likelihood of each grid point, by stratum and counts
        self._gains: dict[tuple[int, float, float], Floats] = {}

    def _centred(self, slope: Floats) -> Floats:
        """Return the log-odds of the strata for each slope, keeping the expected total."""
        odds = np.log(self.mean / (1.0 - self.mean))
        total = float((self.size * self.mean).sum())
        stretched = slope[:, None] * odds[None]
        low, high = np.full(len(slope), -60.0), np.full(len(slope), 60.0)
        for _ in range(50):
            middle = (low + high) / 2
            over = (expit(stretched + middle[:, None]) * self.size).sum(axis=1) > total
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        return np.asarray(stretched + ((low + high) / 2)[:, None])

    def weights(self, seen: Floats, found: Floats) -> Floats:
        """Return the posterior of the grid points from audited items and hits [stratum]."""
        log_p = self.log_prior.copy()
        for stratum in np.flatnonzero(seen > 0).tolist():
            log_p += self._gain(stratum, float(seen[stratum]), float(found[stratum]))
        p = np.exp(log_p - log_p.max())
        return np.asarray(p / p.sum())

    def _gain(self, stratum: int, seen: float, found: float) -> Floats:
        """Return the log likelihood of the audited items of one stratum, shape [point]."""
        key = stratum, seen, found
        if key not in self._gains:
            a, b = self.a[:, stratum], self.b[:, stratum]
            gain = betaln(a + found, b + seen - found) - betaln(a, b)
            self._gains[key] = np.asarray(gain)
        return self._gains[key]

    def shares(self, seen: Floats, found: Floats, draws: int, rng: np.random.Generator) -> Floats:
        """Draw the proportion of each stratum, shape [draw, stratum]."""
        p = self.weights(seen, found)
        # systematic sampling: the number of draws of each point is within one of its expectation
        at = np.searchsorted(np.cumsum(p), (np.arange(draws) + rng.random()) / draws)
        at = np.minimum(at, len(p) - 1)
        rng.shuffle(at)
        return np.asarray(rng.beta(self.a[at] + found, self.b[at] + seen - found))


def of_group(
    expected: Floats,
    n: Floats,
    seen: Floats,
    found: Floats,
    audited: Floats,
    rng: np.random.Generator,
    prior: Prior,
) -> Floats:
    """Draw the number of hits in each group, shape [draw, group]."""
    # A group differs from its strata by a shift in log-odds, which is estimated from its audited
    # units. The proportion h of groups far off is estimated from all groups, h ~ Beta(10 h0, 10 (1
    # - h0)). `expected` [draw, group] is the expected number of hits among the `n` units not
    # audited, `audited` that among the audited units.
    shift = np.linspace(-1.0, 1.0, 2 * SHIFTS - 1) * REACH * max(prior.near, prior.far)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(seen > 0, audited / np.maximum(seen, 1e-9), 0.5)
    odds = _logit(rate)[:, None] + shift[None]
    log_p = found[:, None] * log_expit(odds) + (seen - found)[:, None] * log_expit(-odds)
    likelihood = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    bells = (np.exp(-0.5 * (shift / spread) ** 2) for spread in (prior.near, prior.far))
    near, far = (likelihood * (bell / bell.sum()) for bell in bells)
    p = _mixed(near, far, prior.doubt)
    sums = np.cumsum(p / p.sum(axis=1, keepdims=True), axis=1)
    draws = len(expected)
    at = np.empty(expected.shape, dtype=np.int64)
    for group, steps in enumerate(sums):
        points = (rng.permutation(draws) + rng.random()) / draws
        at[:, group] = np.minimum(np.searchsorted(steps, points), len(shift) - 1)
    width = shift[1] - shift[0]
    moved = shift[at] + width * (rng.random(at.shape) - 0.5)
    share = expit(_logit(expected / np.maximum(n, 1.0)) + moved)
    return np.asarray(found + rng.binomial(np.round(n).astype(np.int64)[None], share))


def _mixed(near: Floats, far: Floats, doubt: float) -> Floats:
    """Return the posterior of each group's points, with h integrated out."""
    # `near` and `far` are likelihood times prior under each component, shape [group, point].
    share = (np.arange(DOUBTS) + 0.5) / DOUBTS
    odds = np.stack([1.0 - share, share])
    each = odds[0][:, None] * near.sum(axis=1) + odds[1][:, None] * far.sum(axis=1)
    before = GROUPS * np.array([1.0 - doubt, doubt]) - 1.0
    log_p = np.log(each).sum(axis=1) + before @ np.log(odds)
    p = np.exp(log_p - log_p.max())
    of_near, of_far = ((p / p.sum() * part) @ (1.0 / each) for part in odds)
    return np.asarray(of_near[:, None] * near + of_far[:, None] * far)


def moved(expected: Floats, n: Floats, mean: Floats, shares: Floats) -> Floats:
    """Return the hits of each group [draw, group] under other proportions of the strata."""
    # All probabilities of a stratum, or their complements, are scaled by one factor. `expected` and
    # `n` are sums of probabilities and counts of units [stratum, group].
    down = np.minimum(shares / mean, 1.0)
    up = np.maximum((shares - mean) / (1.0 - mean), 0.0)
    return np.asarray(down @ expected + up @ (n - expected))


def _logit(p: Floats) -> Floats:
    return np.asarray(logit(np.clip(p, LEAST, 1.0 - LEAST)))


LEVEL = 0.95


@lru_cache(maxsize=4096)
def exact(size: int, seen: int, found: int, level: float = LEVEL) -> tuple[int, int]:
    """Return the exact interval of a count in a finite population from a simple random sample."""
    # All totals that neither tail of the hypergeometric distribution rejects: Clopper & Pearson
    # 1934, doi:10.2307/2331986; Buonaccorsi 1987, doi:10.1080/00031305.1987.10475484. Its coverage
    # is at least nominal for any true total.
    tail = (1.0 - level) / 2
    totals = range(found, size - (seen - found) + 1)

    def enough(marked: int) -> bool:
        return 1.0 - _up_to(found - 1, size, marked, seen) > tail

    def too_many(marked: int) -> bool:
        return _up_to(found, size, marked, seen) <= tail

    least = min(bisect_left(totals, True, key=enough), len(totals) - 1)
    return totals[least], totals[max(bisect_left(totals, True, key=too_many) - 1, 0)]


def _up_to(found: int, size: int, marked: int, seen: int) -> float:
    """Return P(at most `found` marked items in the sample), hypergeometric."""
    x = np.arange(max(0, seen - (size - marked)), min(found, marked, seen) + 1)
    logp = _log_choose(marked, x) + _log_choose(size - marked, seen - x)
    return float(np.exp(logp - _log_choose(size, seen)).sum())


def _log_choose(n: int, k: Ints | int) -> Floats:
    return np.asarray(-betaln(1 + n - k, 1 + k) - np.log1p(n))


def weighted(
    found: Floats,
    weights: Floats,
    size: int,
    cluster: Ints | None = None,
    level: float = LEVEL,
    cautious: bool = False,
) -> tuple[float, float, float]:
    """Return proportion, low and high from an audit alone with unequal probabilities."""
    # Clopper-Pearson limits for n* p of n*, n* = (sum w)^2 / sum w^2 (Korn & Graubard 1998, Survey
    # Methodology 24(2), 193-201). Hits can be concentrated on large weights, so `cautious` uses n*
    # = sum w / max w, whose variance is never smaller. Equal weights give the exact interval. A
    # cluster counts as one item with the sum of its weights.
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
    low = float(betaincinv(y, worth - y + 1.0, tail)) if y > 0 else 0.0
    high = float(betaincinv(y + 1.0, worth - y, 1.0 - tail)) if y < worth else 1.0
    return share, low, high


def effective(share: Floats, n: Floats, size: Ints) -> float:
    """Return the effective sample size of a stratified audit."""
    # n* = p (1 - p) / sum_s (N_s / N)^2 p_s (1 - p_s) / n_s (1 - n_s / N_s), from the variance of
    # the stratified estimate, which does not depend on a model. A stratum without audited items has
    # the sampling rate of all items.
    if not n.any():
        return 0.0
    part = size / size.sum()
    asked = np.where(n > 0, n, size * n.sum() / size.sum())
    open_part = np.maximum(1.0 - asked / size, 0.0)
    variance = float((part**2 * share * (1.0 - share) / asked * open_part).sum())
    mean = float(part @ share)
    return mean * (1.0 - mean) / variance if variance > 0 else np.inf


def stretched(total: Floats, least: float, most: float, size: float, worth: float) -> Floats:
    """Stretch draws of a count if their interval is narrower than the sample allows."""
    # The Jeffreys interval, Beta(n* p + .5, n* (1 - p) + .5), around the mean of the draws (Brown,
    # Cai & DasGupta 2001, doi:10.1214/ss/1009213286). The posterior is biased toward the model; an
    # interval as wide as that of an unbiased estimate allows for this bias.
    if least == most or not 0 < worth < np.inf:  # all items are known, or none is informative
        return total
    middle, ends = float(total.mean()), np.quantile(total, ENDS)
    a, b = (worth * part + 0.5 for part in (middle / size, 1.0 - middle / size))
    goals = np.clip(size * betaincinv(a, b, ENDS), least, most)
    reach = np.where(ends == middle, np.inf, ends - middle)
    below, above = np.maximum((goals - middle) / reach, 1.0)
    moved = middle + (total - middle) * np.where(total < middle, below, above)
    return np.asarray(np.clip(moved, least, most))


def prediction_powered(
    truth: Floats, told: Floats, told_of_rest: Floats, power: float | None = None
) -> tuple[float, float, float]:
    """Return the prediction-powered mean from a simple random sample: mean, low and high."""
    # mu = l mean_N(f) + mean_n(y - l f), se^2 = l^2 var_N(f) / N + var_n(y - l f) / n, clipped to 0
    # and 1; if `power` is None, l minimizes the variance in the sample. Too narrow if errors are
    # rare. Angelopoulos et al. 2023, doi:10.1126/science.adi6000; PPI++, arXiv:2311.01453.
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
    reach = float(ndtri((1.0 + LEVEL) / 2)) * se
    mean, low, high = np.clip([mean, mean - reach, mean + reach], 0.0, 1.0).tolist()
    return mean, low, high


SMALL = 1e-9
# proportion of the items for which a model is assumed to know only the overall rate
LAPSE = 0.02


@dataclass(frozen=True, eq=False)
class Observed:
    item: Ints  # codes [audited]
    truth: Ints
    count: Floats  # 1, or less with clusters or unequal chances [audited]


class Estimator:
    """Joint estimates from P(truth) [item, truth] and audited items, for one set of strata."""

    # `shift` and `spread`: mean and standard deviation of the model's error in the log-odds of a
    # wrong label, on public data sets.

    def __init__(
        self, p_truth: Floats, strata: Strata, shift: float = 0.0, spread: float = OF_WRONG.near
    ) -> None:
        self.p, self.strata = p_truth, strata
        self.inside = strata.stratum >= 0
        self.best = p_truth.argmax(axis=1)
        self.wrong = np.clip(1.0 - p_truth.max(axis=1), SMALL, 1.0 - SMALL)
        wide = max(OF_WRONG.far, 1.5 * spread)
        self.prior: Prior = replace(OF_WRONG, shift=shift, near=spread, far=wide)
        self._rectifiers: dict[tuple[int, bool], list[tuple[Bools, Rectifier]]] = {}

    def told(self, label: int) -> Floats:
        """Return the probability that each item is wrong (-1) or has a label."""
        return self.wrong if label < 0 else np.asarray(self.p[:, label])

    def mean(self, label: int) -> Floats:
        """Return the mean of these probabilities, shape [stratum]."""
        return np.clip(self.strata.mean(self.told(label)), LEAST, 1.0 - LEAST)

    def shares(
        self, label: int, n: Floats, y: Floats, draws: int, rng: np.random.Generator
    ) -> Floats:
        """Draw the proportion of each stratum that is wrong (-1) or has a label [draw, stratum]."""
        # Strata that mostly have the label and other strata have separate shifts: missed items of a
        # label do not make found items doubtful.
        key = label, bool(n.any())
        if key not in self._rectifiers:
            prior = WEAK if n.any() else self.prior if label < 0 else OF_SHARES
            size, mean = self.strata.size, self.mean(label)
            every = float((mean * size).sum()) / max(float(size.sum()), 1.0)
            mean = mean + LAPSE * (every - mean)
            most = mean >= (0.5 if label >= 0 else 0.0)
            self._rectifiers[key] = [
                (side, Rectifier(mean[side], size[side], prior))
                for side in (most, ~most)
                if side.any()
            ]
        out = np.empty((draws, len(n)))
        for side, each in self._rectifiers[key]:
            out[:, side] = each.shares(n[side], y[side], draws, rng)
        return out

    def found(self, label: int, seen: Observed) -> Floats:
        """Return 1 for audited items that are wrong (-1) or have a label, else 0."""
        if label < 0:
            return np.asarray(seen.truth != self.best[seen.item], dtype=float)
        return np.asarray(seen.truth == label, dtype=float)

    def total(
        self, label: int, seen: Observed, draws: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draw the number of items that are wrong (-1) or have a label; also return proportions."""
        n, y = self.counts(label, seen)
        shares = self.shares(label, n, y, draws, rng)
        asked, known = self.strata.count(seen.item), float(self.found(label, seen).sum())
        return self.counted(shares, n, asked, known, rng), shares

    def counted(
        self, shares: Floats, n: Floats, asked: Floats, known: float, rng: np.random.Generator
    ) -> Floats:
        """Draw a count in all items, not narrower than the design allows, shape [draw]."""
        # `n` is the effective and `asked` the actual number of audited items by stratum, `known`
        # the number of their hits.
        rest = self.strata.size - asked.astype(np.int64)
        total: Floats = rng.binomial(rest[None], shares).sum(axis=1) + np.float64(known)
        worth = effective(shares.mean(axis=0), n, self.strata.size)
        size = float(self.strata.size.sum())
        return stretched(total, known, known + float(rest.sum()), size, worth)

    def counts(self, label: int, seen: Observed) -> tuple[Floats, Floats]:
        """Count audited items, and those that are wrong (-1) or have a label, shape [stratum]."""
        n = self.strata.count(seen.item, seen.count)
        return n, self.strata.count(seen.item, seen.count * self.found(label, seen))

    def within(
        self, items: Ints, label: int, seen: Observed, draws: int, rng: np.random.Generator
    ) -> Floats:
        """Draw the number of some items that are wrong (-1) or have a label, shape [draw]."""
        # They are a separate population. Errors may cluster in them, so other audited items are not
        # evidence about them.
        chosen = np.isin(seen.item, items)
        own = Observed(seen.item[chosen], seen.truth[chosen], seen.count[chosen])
        part = Estimator(self.p, self.strata.only(items), self.prior.shift, self.prior.near)
        return part.total(label, own, draws, rng)[0]

    def coders(
        self,
        seen: Observed,
        shares: Floats,
        labels: tuple[Ints, Ints, Ints],
        n_coders: int,
        rng: np.random.Generator,
    ) -> tuple[Floats, Ints]:
        """Draw the number of right labels [draw, coder], and count the labels [coder]."""
        # A label is right with P(truth), corrected like the wrong labels of its stratum.
        item, coder, label = labels
        use = self.inside[item]
        item, coder, label = item[use], coder[use], label[use]
        audited = np.isin(item, seen.item)
        truth = np.full(len(self.p), -1)
        truth[seen.item] = seen.truth
        agrees = label == self.best[item]
        q, p = self.wrong[item], self.p[item, label]
        sums = _sums(self.strata.stratum[item], coder, len(self.strata), n_coders)
        mean = self.mean(-1)
        average = shares.mean(axis=0, keepdims=True)

        def right(chosen: Bools, drawn: Floats) -> Floats:
            yes, no = chosen & agrees, chosen & ~agrees
            wrong = moved(sums(q * yes), sums(yes.astype(float)), mean, drawn)
            less = sums(p * no)
            more = sums(p / q * (1.0 - q) * no)
            return np.asarray(
                sums(yes.astype(float)).sum(axis=0) - wrong
                + moved(less, less + more, mean, drawn)
            )  # fmt: skip

        n = np.bincount(coder[~audited], minlength=n_coders).astype(float)
        given = np.bincount(coder[audited], minlength=n_coders).astype(float)
        hits = np.bincount(coder[audited], (label == truth[item])[audited], n_coders)
        rest, asked = right(~audited, shares), right(audited, average)[0]
        drawn = of_group(rest, n, given, hits, asked, rng, OF_CODERS)
        return drawn, np.bincount(coder, minlength=n_coders)


def _sums(stratum: Ints, group: Ints, n_strata: int, n_groups: int) -> Callable[[Floats], Floats]:
    """Return a function that sums values of units, shape [stratum, group]."""
    cell, size = stratum * n_groups + group, n_strata * n_groups
    return lambda values: np.bincount(cell, values, size).reshape(n_strata, n_groups)


# sizes in a plan; number of simulated audits per median width, and of draws
LADDER = (30, 60, 120, 240, 480, 960)
AUDITS, DRAWS = 40, 500


def widths(
    estimator: Estimator, more: Ints, seen: Observed, rng: np.random.Generator
) -> tuple[float, float]:
    """Predict the width of the interval of accuracy, with the model and by the audit alone."""
    # Medians over simulated audits, with answers from the model, its errors on public data sets and
    # the items audited so far; `more` is the number of further items by stratum.
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


def forecast_widths(
    p_truth: Floats,
    part: Bools,
    calibration_prior: tuple[float, float],
    sizes: tuple[int, ...] = LADDER,
) -> list[tuple[int, float, float]]:
    """Predict both widths for some audit sizes: (size, with the model, audit alone)."""
    none = Observed(*(np.empty(0, dtype=np.int64),) * 2, np.empty(0))
    out = []
    for size in sizes:
        strata = stratify(p_truth, part, size)
        estimator = Estimator(p_truth, strata, *calibration_prior)
        out += further(estimator, none, np.zeros_like(strata.size), (size,))
    return out


def further(
    estimator: Estimator, seen: Observed, drawn: Ints, sizes: tuple[int, ...] = LADDER
) -> list[tuple[int, float, float]]:
    """Predict both widths for further items; `drawn` counts items drawn so far [stratum]."""
    out = []
    for size in sizes:
        if size >= estimator.strata.size.sum() - drawn.sum():
            break
        more = allocate(estimator.strata, size, drawn)
        out.append((size, *widths(estimator, more, seen, np.random.default_rng(size))))
    return out


def needed(plan: list[tuple[int, float, float]], width: float, most: int) -> int:
    """Return the number of items for a width, by interpolation or extrapolation of a plan."""
    # a width of 0 has no logarithm
    plan = [row for row in plan if row[1] > 0]
    if len(plan) < 2:
        return most
    sizes, each = np.log(np.array(plan)[:, :2]).T
    order = np.argsort(each)
    wanted = np.log(width)
    if each.min() <= wanted <= each.max():
        found = float(np.interp(wanted, each[order], sizes[order]))
    else:
        # beyond the plan, the width falls with the square root of the size
        nearest = -1 if wanted < each[-1] else 0
        found = float(sizes[nearest] + 2.0 * (each[nearest] - wanted))
    return int(min(max(np.ceil(np.exp(found) - 1e-6), 1), most))
