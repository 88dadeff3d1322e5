"""Counts in all items from P(truth) and audited truths, and predicted interval widths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from annomodels.auditing.design import Strata, allocate, stratify
from annomodels.auditing.rectify import (
    ENDS,
    LEAST,
    OF_CODERS,
    OF_SHARES,
    OF_WRONG,
    WEAK,
    Prior,
    Rectifier,
    effective,
    exact,
    moved,
    of_group,
    stretched,
)
from annomodels.types import Bools, Floats, Ints

SMALL = 1e-9
# proportion of the items for which a model is assumed to know only the overall rate
LAPSE = 0.02


@dataclass(frozen=True, eq=False)
class Observed:
    """Audited items, their truths and their counts."""

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
        audited = self._audited(seen)[item]
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

    def _audited(self, seen: Observed) -> Bools:
        out = np.zeros(len(self.p), dtype=bool)
        out[seen.item] = True
        return out


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
        if size >= part.sum():
            break
        strata = stratify(p_truth, part, size)
        estimator = Estimator(p_truth, strata, *calibration_prior)
        rng = np.random.default_rng(size)
        out.append((size, *widths(estimator, allocate(strata, size), none, rng)))
    return out


def further(estimator: Estimator, seen: Observed, drawn: Ints) -> list[tuple[int, float, float]]:
    """Predict both widths for further items; `drawn` counts items drawn so far [stratum]."""
    out = []
    for size in LADDER:
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
