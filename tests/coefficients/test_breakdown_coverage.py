"""Intervals of parts cover the truth about as often as they say, in a small simulation."""

from itertools import combinations

import numpy as np
import pytest

import annomodels as am

PREVALENCE = 0.35
ACCURACY = {"a": 0.95, "b": 0.9, "c": 0.9, "d": 0.7}
N_ITEMS = 120
REPLICATIONS = 200


def pair_table(first, second):
    joint = np.zeros((2, 2))
    for truth, share in ((0, 1 - PREVALENCE), (1, PREVALENCE)):
        p, q = (np.eye(2)[truth] * (2 * ACCURACY[c] - 1) + 1 - ACCURACY[c] for c in (first, second))
        joint += share * np.outer(p, q)
    return joint


def population(coders):
    """Alpha and specific agreement of label 1 for infinitely many items."""
    joint = np.mean([pair_table(*pair) for pair in combinations(coders, 2)], axis=0)
    p = (joint.sum(0) + joint.sum(1))[1] / 2
    alpha = 1 - (joint[0, 1] + joint[1, 0]) / (2 * p * (1 - p))
    return alpha, joint[1, 1] / p


def sample(rng):
    truth = (rng.random(N_ITEMS) < PREVALENCE).astype(int)
    return am.Annotations.from_records(
        [
            (i, c, int(t if rng.random() < accuracy else 1 - t))
            for i, t in enumerate(truth)
            for c, accuracy in ACCURACY.items()
        ],
        labels=[0, 1],
    )


@pytest.fixture(scope="module")
def intervals():
    """Intervals of every replication: what -> [replication, 2]."""
    rng = np.random.default_rng(20101)
    found = {"specific": [], "category": [], "without d": [], "coder a": [], "a - d": []}
    for replication in range(REPLICATIONS):
        data = sample(rng)
        label = am.breakdown(data, "label", draws=400, seed=replication).table.iloc[1]
        found["specific"].append((label["specific_low"], label["specific_high"]))
        found["category"].append((label["low"], label["high"]))
        coders = am.breakdown(data, "coder", draws=400, seed=replication)
        rows = coders.table.set_index("coder")
        found["without d"].append(rows.loc["d", ["difference_low", "difference_high"]].tolist())
        found["coder a"].append(rows.loc["a", ["low", "high"]].tolist())
        found["a - d"].append(coders.difference("a", "d").interval())
    return {name: np.array(spans, dtype=float) for name, spans in found.items()}


def against_rest(coder):
    """Alpha of a coder's pairs for infinitely many items."""
    joint = np.mean([pair_table(coder, other) for other in ACCURACY if other != coder], axis=0)
    p = (joint.sum(0) + joint.sum(1))[1] / 2
    return 1 - (joint[0, 1] + joint[1, 0]) / (2 * p * (1 - p))


@pytest.mark.calibration
@pytest.mark.slow
@pytest.mark.parametrize("what", ["specific", "category", "without d", "coder a", "a - d"])
def test_intervals_of_parts_cover_the_truth(what, intervals):
    alpha, specific = population(ACCURACY)
    truth = {
        "specific": specific,
        "category": alpha,
        "without d": population("abc")[0] - alpha,
        "coder a": against_rest("a"),
        "a - d": against_rest("a") - against_rest("d"),
    }[what]
    low, high = intervals[what].T
    covered = np.mean((low <= truth) & (truth <= high))
    # Nominal .95; three standard errors of 200 replications are .046.
    assert 0.9 <= covered <= 0.995
    assert np.isfinite(low).all()
