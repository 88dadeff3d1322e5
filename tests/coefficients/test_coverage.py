"""Intervals contain the estimates of any data, and cover the truth about as often as they say."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.implied import evaluate
from annomodels.coefficients.intervals import interval
from annomodels.coefficients.tables import from_joint

pytestmark = pytest.mark.slow

PREVALENCE = 0.35
ACCURACY = {"a": 0.95, "b": 0.9, "c": 0.9, "d": 0.7}
N_ITEMS = 120
REPLICATIONS = 200


def simulated(rng, truth, right):
    """Labels 0 and 1 of coders a, b, ... who are right with these probabilities [item, coder]."""
    labels = np.where(rng.random(right.shape) < right, truth[:, None], 1 - truth[:, None])
    rows = [(i, "abcd"[c], int(label)) for (i, c), label in np.ndenumerate(labels)]
    return am.Annotations.from_records(rows, labels=[0, 1])


def pair_table(first, second):
    joint = np.zeros((2, 2))
    for truth, share in ((0, 1 - PREVALENCE), (1, PREVALENCE)):
        p, q = (np.eye(2)[truth] * (2 * ACCURACY[c] - 1) + 1 - ACCURACY[c] for c in (first, second))
        joint += share * np.outer(p, q)
    return joint


def population(pairs):
    """Alpha and specific agreement of label 1 for infinitely many items of some coder pairs."""
    joint = np.mean([pair_table(*pair) for pair in pairs], axis=0)
    p = (joint.sum(0) + joint.sum(1))[1] / 2
    alpha = 1 - (joint[0, 1] + joint[1, 0]) / (2 * p * (1 - p))
    return alpha, joint[1, 1] / p


@pytest.fixture(scope="module")
def intervals():
    """Intervals of every replication: what -> [replication, 2]."""
    rng = np.random.default_rng(20101)
    right = np.tile(list(ACCURACY.values()), (N_ITEMS, 1))
    found = {"specific": [], "category": [], "without d": [], "coder a": [], "a - d": []}
    for replication in range(REPLICATIONS):
        data = simulated(rng, (rng.random(N_ITEMS) < PREVALENCE).astype(int), right)
        label = am.breakdown(data, "label", draws=400, seed=replication).table.iloc[1]
        found["specific"].append((label["specific_low"], label["specific_high"]))
        found["category"].append((label["low"], label["high"]))
        coders = am.breakdown(data, "coder", draws=400, seed=replication)
        rows = coders.table.set_index("coder")
        found["without d"].append(rows.loc["d", ["difference_low", "difference_high"]].tolist())
        found["coder a"].append(rows.loc["a", ["low", "high"]].tolist())
        found["a - d"].append(coders.difference("a", "d").interval())
    return {name: np.array(spans, dtype=float) for name, spans in found.items()}


@pytest.mark.calibration
@pytest.mark.parametrize("what", ["specific", "category", "without d", "coder a", "a - d"])
def test_intervals_of_parts_cover_the_truth(what, intervals):
    alpha, specific = population(combinations(ACCURACY, 2))
    without_d, _ = population(combinations("abc", 2))
    of_a, of_d = (population((c, other) for other in ACCURACY if other != c)[0] for c in "ad")
    truth = {
        "specific": specific,
        "category": alpha,
        "without d": without_d - alpha,
        "coder a": of_a,
        "a - d": of_a - of_d,
    }[what]
    low, high = intervals[what].T
    covered = np.mean((low <= truth) & (truth <= high))
    # Nominal .95; three standard errors of 200 replications are .046.
    assert 0.9 <= covered <= 0.995
    assert np.isfinite(low).all()


@pytest.mark.calibration
@pytest.mark.parametrize("same", [True, False])
def test_intervals_of_differences_cover_the_truth(same, rng):
    """Hard items are hard in both rounds: paired intervals are shorter and still cover."""
    covered, widths = [], []
    for replication in range(80):
        truth, hard = rng.integers(0, 2, N_ITEMS), rng.random(N_ITEMS) < 0.4
        right = [np.tile(np.where(hard, 0.65, easy), (3, 1)).T for easy in (0.95, 0.88)]
        rounds = [simulated(rng, truth, of_round) for of_round in right]
        found = am.coefficients.compare_agreement(
            *rounds, "s", same_items=same, draws=400, seed=replication
        )
        # S = 2 A_o - 1 and A_o = p^2 + (1 - p)^2 for an item of accuracy p.
        easy = [p * p + (1 - p) ** 2 for p in (0.95, 0.88)]
        expected = 2 * 0.6 * (easy[0] - easy[1])
        covered.append(found.low <= expected <= found.high)
        widths.append(found.high - found.low)
    assert np.mean(covered) >= 0.88
    assert 0.05 < np.mean(widths) < 0.4


@pytest.mark.parametrize(
    ("n_coders", "name", "prevalence"),
    [(2, "kappa", 0.5), (2, "kappa", 0.9), (3, "alpha", 0.5), (3, "alpha", 0.9)],
)
def test_coverage_of_the_interval(n_coders, name, prevalence, rng):
    """A quick look: nominal 95 % intervals of 50 items, accuracy .9, 120 samples."""
    p = np.array([prevalence, 1 - prevalence])
    confusion = np.array([[0.9, 0.1], [0.1, 0.9]])
    true = evaluate(name, from_joint(np.einsum("k,kl,km->lm", p, confusion, confusion))).value
    inside = 0
    for seed in range(120):
        truth = (rng.random(50) < p[1]).astype(int)
        data = simulated(rng, truth, np.full((50, n_coders), 0.9))
        low, high = am.agreement(data, name, draws=400, seed=seed).interval()
        inside += low <= true <= high
    assert 0.86 <= inside / 120 <= 1.0


ROUNDING = 1e-12


def random_data(rng):
    """Draw panels and crowds from agreement in everything to labels at random."""
    n_coders = int(rng.choice((2, 3, 5, 40)))
    n_items = int(rng.choice((1, 2, 5, 10, 30, 100)))
    n_labels, most = int(rng.choice((2, 3, 10))), int(min(n_coders, rng.choice((2, 3, 5, 40))))
    accuracy, missing = rng.choice((0.0, 0.3, 0.8, 1.0)), rng.random() < 0.5
    shares = rng.dirichlet(np.full(n_labels, rng.choice((0.2, 1.0, 10.0))))
    rows = []
    for i in range(n_items):
        truth = rng.choice(n_labels, p=shares)
        size = int(rng.integers(1, most + 1)) if missing else most
        for c in rng.choice(n_coders, size, replace=False):
            said = truth if rng.random() < accuracy else rng.choice(n_labels, p=shares)
            rows.append((f"i{i:03}", f"c{c:02}", int(said), f"g{i % 3}"))
    scale = str(rng.choice(("nominal", "ordinal", "interval")))
    labels = None if scale == "nominal" else list(range(n_labels))
    frame = pd.DataFrame(rows, columns=["item", "coder", "label", "group"])
    group = "group" if rng.random() < 0.3 else None
    return am.Annotations.from_frame(frame, scale=scale, labels=labels, group=group)


def outside(value, low, high):
    value, low, high = (np.asarray(x, dtype=float) for x in (value, low, high))
    return (value < low - ROUNDING) | (value > high + ROUNDING)


def all_inside(table, *values):
    """Test each value that a table has with its interval; that of "value" has no prefix."""
    for value in values:
        low, high = (f"{value}_{end}".removeprefix("value_") for end in ("low", "high"))
        column = "over_by" if value == "over" else value
        if low in table and column in table:
            assert not outside(table[column], table[low], table[high]).any(), value


@pytest.mark.parametrize("seed", range(40))
def test_every_coefficient(seed):
    data = random_data(np.random.default_rng([1, seed]))
    names = [name for name in COEFFICIENTS if name != "s_item"]
    chance = {"chance": 0.3} if seed % 2 else {}
    table = am.agreement(data, "all" if chance else names, draws=150, seed=seed, **chance).table
    wrong = table[outside(table["value"], table["low"], table["high"])]
    assert wrong.empty, wrong[["coefficient", "value", "low", "high"]]
    assert seed or table["low"].notna().any()


@pytest.mark.parametrize("seed", range(16))
def test_every_breakdown(seed):
    data = random_data(np.random.default_rng([2, seed]))
    for by in ("label", "item", "coder", "pair", "group"):
        for name in ("alpha", "k", "multi_kappa"):
            try:
                found = am.breakdown(data, by, name, draws=100, seed=seed)
            except am.errors.NotApplicable:
                continue
            all_inside(found.table, "value", "difference", "specific", "further")
            all_inside(found.overall, "value")


@pytest.mark.parametrize("seed", range(8))
def test_every_share_of_a_diagnosis(seed):
    found = am.diagnose(random_data(np.random.default_rng([3, seed])), draws=100, seed=seed)
    for _, table in found.tables():
        all_inside(table, "value", "share", "ratio", "difference", "over")


def test_full_agreement_reaches_one():
    rows = [(i, c, i % 2) for i in range(30) for c in "ab"]
    found = am.agreement(am.Annotations.from_records(rows), "kappa", draws=200)
    assert found.value == found.high == found.interval(0.5)[1] == 1
    assert found.low < 1
    assert am.coefficients.easy_hard(found).table["low"][0] == 0


def test_intervals_of_many_quantities_are_those_of_each():
    rng = np.random.default_rng(8)
    draws = rng.normal(size=(101, 3))
    draws[::2, 1] = np.nan
    draws[:, 2] = np.nan
    low, high = interval(draws, 0.9, np.array([9.0, np.nan, 0.0]))
    assert low[0] == np.quantile(draws[:, 0], 0.05)
    assert high[0] == 9
    assert high[1] == np.quantile(draws[1::2, 1], 0.95)
    assert np.isnan([low[2], high[2]]).all()
    with pytest.raises(ValueError, match="between 0 and 1"):
        interval(draws, 95)
