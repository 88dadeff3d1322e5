"""How often 95 % intervals hold where P(truth) is wrong, on arrays, with fixed seeds; panels."""

import numpy as np
import pytest

from annomodels.auditing.design import allocate, stratify
from annomodels.auditing.estimator import ENDS, Estimator, Observed, weighted
from annomodels.auditing.tables import effective


def said_and_true(kind, n, k, rng):
    """P(truth) that is right, too sure, too timid, leans to one class, or hides rare errors."""
    logits = rng.normal(0, 2.0, (n, k))
    if kind == "rare":
        truth = rng.integers(k, size=n)
        said = np.full((n, k), 0.02 / (k - 1))
        said[np.arange(n), truth] = 0.98
        said += 0.02 * rng.random((n, k))
        truth = np.where(rng.random(n) < 0.005, (truth + 1) % k, truth)
    else:
        right = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        truth = (rng.random(n)[:, None] > right.cumsum(axis=1)[:, :-1]).sum(axis=1)
        said = np.exp({"sure": 2.5, "timid": 0.4}.get(kind, 1.0) * logits)
        if kind == "class":  # of 60 % of the items of the last class the crowd says the first
            lost = (truth == k - 1) & (rng.random(n) < 0.6)
            said[lost] = np.exp(-np.abs(rng.normal(0, 2, (lost.sum(), k))))
            said[lost, 0] = said[lost].sum(axis=1) * 8
    return said / said.sum(axis=1, keepdims=True), truth


def held(kind, calibration_prior, times, size=60, k=2, n=1000):
    """Shares of audits whose intervals hold the number of wrong labels, and of the commonest."""
    rng = np.random.default_rng(1)
    said, truth = said_and_true(kind, n, k, rng)
    common = int(np.bincount(truth).argmax())
    real = {-1: (said.argmax(axis=1) != truth).sum(), common: (truth == common).sum()}
    strata = stratify(said, np.ones(n, bool), size)
    estimator, more = Estimator(said, strata, *calibration_prior), allocate(strata, size)
    pools = [np.flatnonzero(strata.stratum == s) for s in range(len(strata))]
    hits = dict.fromkeys(real, 0)
    for _ in range(times):
        drawn = [rng.choice(pool, m, replace=False) for pool, m in zip(pools, more, strict=True)]
        item = np.concatenate(drawn)
        seen = Observed(item, truth[item], np.ones(len(item)))
        for label, number in real.items():
            total, _ = estimator.total(label, seen, 400, rng)
            low, high = np.quantile(total, ENDS)
            hits[label] += np.floor(low) <= number <= np.ceil(high)
    return hits[-1] / times, hits[common] / times


@pytest.mark.calibration
@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("kind", ["right", "timid", "rare", "sure", "class"])
def test_intervals_cover_whatever_the_model_gets_wrong(kind, k):
    # .95 less two standard errors of 300 audits
    assert min(held(kind, (0.0, 0.6), 300, k=k)) >= 0.925


@pytest.mark.few("4")
@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4])
def test_slices_and_their_differences_cover_if_errors_gather_in_one(k):
    # two thirds of the errors in a third of the items, which P(truth) cannot tell from the others
    rng, n, size, times = np.random.default_rng(1), 900, 60, 200
    said, truth = said_and_true("sure", n, k, rng)
    wrong = said.argmax(axis=1) != truth
    slice_ = np.full(n, -1)
    bad, good = (rng.permutation(np.flatnonzero(part)) for part in (wrong, ~wrong))
    first = 2 * len(bad) // 3
    slice_[np.concatenate([bad[:first], good[: n // 3 - first]])] = 0
    rest = rng.permutation(np.flatnonzero(slice_ < 0))
    slice_[rest] = 1 + np.arange(len(rest)) % 2
    real = np.bincount(slice_, wrong)
    parts = [np.flatnonzero(slice_ == part) for part in range(3)]
    strata = stratify(said, np.ones(n, bool), size)
    estimator, more = Estimator(said, strata), allocate(strata, size)
    pools = [np.flatnonzero(strata.stratum == s) for s in range(len(strata))]
    covered = []
    for _ in range(times):
        drawn = [rng.choice(pool, m, replace=False) for pool, m in zip(pools, more, strict=True)]
        item = np.concatenate(drawn)
        seen = Observed(item, truth[item], np.ones(len(item)))
        found = np.stack([estimator.within(part, -1, seen, 400, rng) for part in parts], axis=1)
        draws = np.concatenate([found, found - np.roll(found, 1, axis=1)], axis=1)
        actual = np.concatenate([real, real - np.roll(real, 1)])
        low, high = np.quantile(draws, ENDS, axis=0)
        covered.append((np.floor(low) <= actual) & (actual <= np.ceil(high)))
    # .95 less two standard errors of 200 audits
    assert np.mean(covered, axis=0).min() >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.6])
def test_an_audit_alone_covers_where_all_errors_are_in_sure_strata(rate):
    # the approximation of Korn and Graubard covers 91 % of one of these
    rng = np.random.default_rng(1)
    q = np.where(np.arange(1000) < 300, 0.001, 0.4)
    wrong = (q < 0.1) * (rng.random(1000) < rate)
    strata = stratify(np.stack([1 - q, q], axis=1), np.ones(1000, bool), 120)
    more = allocate(strata, 120)
    pools = [np.flatnonzero(strata.stratum == s) for s in range(len(strata))]
    weights, hits = np.repeat(strata.size / more, more), 0
    for _ in range(600):
        drawn = [rng.choice(pool, m, replace=False) for pool, m in zip(pools, more, strict=True)]
        found = wrong[np.concatenate(drawn)].astype(float)
        _, low, high = weighted(found, weights, 1000, cautious=True)
        hits += low - 1e-9 <= wrong.mean() <= high + 1e-9
    assert hits / 600 >= 0.95


def test_independent_coders_are_worth_their_number_and_copies_one():
    rng = np.random.default_rng(1)
    alone = (rng.random((3000, 5)) < 0.3).astype(float)
    worth, together = effective(alone, np.ones(3000), 200, rng)
    assert worth.mean() == pytest.approx(5, abs=0.4)
    assert abs(together.mean()) < 0.03
    copies = np.repeat(alone[:, :1], 5, axis=1)
    assert effective(copies, np.ones(3000), 50, rng)[0] == pytest.approx(1)


def test_half_correlated_coders_are_worth_what_kish_says():
    # errors are those of a common coin with the chance sqrt(.5), else own: a correlation of .5
    rng = np.random.default_rng(2)
    shared, own = rng.random((6000, 1)) < 0.3, rng.random((6000, 4)) < 0.3
    errors = np.where(rng.random((6000, 4)) < np.sqrt(0.5), shared, own).astype(float)
    errors[rng.random(errors.shape) < 0.2] = np.nan
    worth, together = effective(errors, np.ones(6000), 200, rng)
    assert together.mean() == pytest.approx(0.5, abs=0.03)
    assert worth.mean() == pytest.approx(4 / (1 + 3 * 0.5), abs=0.1)


def test_coders_with_too_few_items_in_common_are_not_paired():
    errors = np.full((18, 2), np.nan)
    errors[:9, 0] = errors[9:, 1] = 1.0
    assert not effective(errors, np.ones(18), 10, np.random.default_rng(0))[0].size
