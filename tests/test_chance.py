"""The test against chance, which needs no model."""

import numpy as np
import pytest

import annomodels as am
from annomodels.data import chance
from annomodels.data.chance import BY_CHANCE, WEAK, alpha_high, chance_p_value
from benchmarks import crowds

NOISE = (
    {"k": 2},
    {"k": 4, "n_coders": 20, "per_item": 3},
    {"k": 3, "habits": 1.0, "size": 120, "n_coders": 5},
    {"k": 2, "n_coders": 2, "per_item": None},
)
INFORMATIVE = ("adversaries", "rare", "spammers", "two_coders", "sparse", "near_chance")


def made(make, seed, **options):
    return am.Annotations.from_records(make(np.random.default_rng(seed), **options)[0])


def p_value(data):
    return chance_p_value(data.coder, data.label, data.starts, data.n_coders, data.n_labels)


@pytest.mark.parametrize("options", NOISE, ids=str)
def test_labels_without_truth_are_found_out(options):
    found = [made(crowds.noise, [5, seed], **options) for seed in range(40)]
    assert sum(data.by_chance for data in found) >= 38
    # p is uniform
    p = np.array([p_value(data) for data in found])
    assert 0.25 < (p < 0.5).mean() < 0.75


@pytest.mark.parametrize("name", INFORMATIVE)
def test_no_crowd_that_knows_something_is_refused(name):
    assert not any(made(getattr(crowds, name), [6, seed]).by_chance for seed in range(8))


def test_p_is_that_of_permuted_labels(rng):
    """Shuffle within coders, as the moments assume."""
    rows, _ = crowds.clean(rng, 60, k=2, n_coders=5, per_item=3, low=0.55, high=0.7)
    data = am.Annotations.from_records(rows)
    label = data.label.copy()
    by_shuffling = []
    for _ in range(300):
        for j in range(5):
            mine = data.coder == j
            label[mine] = rng.permutation(label[mine])
        by_shuffling.append(
            chance_p_value(data.coder, label, data.starts, data.n_coders, data.n_labels)
        )
    for level in (0.05, 0.2, 0.5):
        assert np.mean(np.array(by_shuffling) < level) == pytest.approx(level, abs=0.06)


def test_nothing_is_said_of_labels_that_nothing_compares():
    alone = am.Annotations.from_records([(i, i % 3, i % 2) for i in range(30)])
    same = am.Annotations.from_records([(i, j, "a") for i in range(30) for j in range(3)])
    assert not alone.by_chance
    assert not same.by_chance
    assert p_value(alone) == p_value(same) == 1.0


def test_rules_that_give_one_label_each_are_not_called_chance():
    """What a rule of a program gives never varies, so that nothing can be compared."""
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=200)
    rows = [(i, j, j % 2) for i in range(200) for j in range(6) if truth[i] == j % 2]
    rows += [(i, j, j % 2) for i in range(200) for j in range(6) if rng.random() < 0.3]
    rules = am.Annotations.from_records(sorted(set(rows)))
    # neither agreement nor permutations within the rules would clear them
    assert alpha_high(rules.label, rules.starts, rules.n_labels) < WEAK
    assert p_value(rules) > BY_CHANCE
    assert not rules.by_chance


def test_order_and_names_change_nothing(rng):
    rows, _ = crowds.noise(rng, 80, k=3)
    turned = [(item, f"x{9 - int(coder[1:])}", label) for item, coder, label in rows[::-1]]
    one, two = (am.Annotations.from_records(each) for each in (rows, turned))
    assert p_value(one) == pytest.approx(p_value(two))


@pytest.mark.parametrize("k", [2, 5])
def test_the_end_of_alpha_is_that_of_its_interval(k):
    data = made(crowds.clean, 3, k=k)
    found = am.agreement(data, "alpha").high
    assert alpha_high(data.label, data.starts, data.n_labels) == pytest.approx(found, abs=0.02)


def test_pairs_of_one_item_with_thousands_of_labels_are_bounded(monkeypatch):
    monkeypatch.setattr(chance, "PAIRS", 5_000)
    one, two = chance._row_pairs(np.arange(4_000), np.array([0, 4_000]))
    assert 10_000 <= len(one) < 14_000
    assert set(one) | set(two) == set(range(4_000))
