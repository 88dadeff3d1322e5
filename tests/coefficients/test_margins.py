"""Chance from elsewhere: a distribution of labels (margins), or a level for every item (S)."""

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients.distances import make_distance
from tests.coefficients.pairs_of_labels import of_pairs

TABLE = {("a", "a"): 20, ("a", "b"): 5, ("b", "a"): 10, ("b", "b"): 15}


@pytest.mark.parametrize("name", ["pi", "k", "alpha", "ac2"])
def test_by_hand(name):
    found = am.agreement(of_pairs(TABLE), name, margins={"a": 0.9, "b": 0.1}, draws=0)
    chance = 2 * 0.9 * 0.1 if name == "ac2" else 0.9**2 + 0.1**2
    assert (found.observed, found.expected) == pytest.approx((0.7, chance))
    assert found.value == pytest.approx((0.7 - chance) / (1 - chance))


def test_the_margins_found_change_nothing_but_the_correction_of_alpha():
    data = of_pairs(TABLE)
    for name in ("pi", "k", "ac1"):
        given = am.agreement(data, name, margins={"a": 55, "b": 45}, draws=0)
        assert given.value == pytest.approx(am.agreement(data, name, draws=0).value)
    alpha = am.agreement(data, "alpha", margins={"a": 55, "b": 45}, draws=0)
    assert alpha.value == pytest.approx(am.agreement(data, "k", draws=0).value)


def test_with_a_distance(rng):
    rows = [(i, c, int(rng.integers(1, 4))) for i in range(20) for c in range(3)]
    data = am.Annotations.from_records(rows, labels=[1, 2, 3], scale="ordinal")
    p = np.array([0.2, 0.5, 0.3])
    table = make_distance("quadratic", [1, 2, 3], np.array([1.0, 2, 3]))
    first, second = (x.ravel() for x in np.indices((3, 3)))
    d_e = p @ table.pairs(first, second, p).reshape(3, 3) @ p
    margins = dict(zip([1, 2, 3], p, strict=True))
    found = am.agreement(data, "k", distance="quadratic", margins=margins, draws=0)
    assert found.expected == pytest.approx(d_e)
    assert found.value == pytest.approx(1 - found.observed / d_e)


def test_labels_that_nobody_used_join_the_label_set():
    found = am.agreement(of_pairs(TABLE), "ac1", margins={"a": 0.5, "b": 0.3, "c": 0.2}, draws=0)
    assert found.expected == pytest.approx((0.25 + 0.21 + 0.16) / 2)


def test_numbers_and_words_that_read_the_same_are_the_same():
    rows = [(str(i), c, str(label)) for i in range(4) for c, label in enumerate((i % 2, 1))]
    data = am.Annotations.from_records(rows)
    by_number = am.agreement(data, "k", margins={0: 0.3, 1: 0.7}, draws=0)
    assert by_number.expected == pytest.approx(0.58)
    chances = dict.fromkeys(range(4), 0.25)
    assert am.agreement(data, "s_item", chance=chances, draws=0).expected == pytest.approx(0.25)
    assert am.agreement(data, "s_item", chance=0.25, draws=0).expected == pytest.approx(0.25)


def test_draws_vary_with_the_observed_agreement_alone():
    found = am.agreement(of_pairs(TABLE), "k", margins={"a": 0.5, "b": 0.5})
    parts = found.parts()
    assert np.ptp(parts.expected) < 1e-12
    assert found.draws == pytest.approx(1 - parts.observed / 0.5)
    error = found.analytic()
    assert error.se == pytest.approx(np.sqrt(0.7 * 0.3 / 49) / 0.5)


def test_a_panel_uses_them_where_they_make_sense():
    panel = am.agreement(of_pairs(TABLE), margins={"a": 0.9, "b": 0.1}, draws=0)
    assert panel["k"].expected == pytest.approx(0.82)
    assert panel["s"].expected == pytest.approx(0.5)
    assert any("margins given" in note and "pi, k, alpha, ac1" in note for note in panel.notes)


HEADS = [("m1", 3, (0, 0)), ("m2", 1, (0, 0)), ("m3", 2, (0, 1)), ("m4", 4, (2, 2))]
ROWS = [
    (item, coder, label) for item, _, pair in HEADS for coder, label in zip("AB", pair, strict=True)
]
CHANCE = {item: 1 / tokens for item, tokens, _ in HEADS}


def test_heads_of_mentions_kopec_ogrodniczuk_2014():
    """17,363 of 17,530 heads agree; with a mean chance of .6832, S is .96993 (printed: .9700)."""
    agree = np.arange(17_530) < 17_363
    rows = [(i, c, 1 if c or same else 0) for i, same in enumerate(agree) for c in (0, 1)]
    data = am.Annotations.from_records(rows)
    found = am.agreement(data, "s_item", chance=np.full(17_530, 0.6832), draws=0)
    assert found.observed == pytest.approx(0.9905, abs=5e-5)
    assert found.expected == pytest.approx(0.6832)
    assert found.value == pytest.approx(0.96993, abs=5e-6)


def test_chance_levels_by_hand():
    found = am.agreement(am.Annotations.from_records(ROWS), "s_item", chance=CHANCE, draws=0)
    expected = (1 / 3 + 1 + 1 / 2 + 1 / 4) / 4
    assert (found.observed, found.expected) == pytest.approx((0.75, expected))
    assert found.value == pytest.approx((0.75 - expected) / (1 - expected))
    in_order = np.array([CHANCE[item] for item in ("m1", "m2", "m3", "m4")])
    again = am.agreement(am.Annotations.from_records(ROWS[::-1]), "s_item", chance=in_order)
    assert again.value == pytest.approx(found.value)


def test_the_same_chance_everywhere_is_s():
    rng = np.random.default_rng(3)
    rows = [(i, c, int(rng.integers(4))) for i in range(30) for c in range(4) if rng.random() < 0.8]
    data = am.Annotations.from_records(rows, labels=range(4))
    for missing in ("krippendorff", "gwet", "pairs", "listwise"):
        one = am.agreement(data, "s_item", chance=np.full(data.n_items, 0.25), missing=missing)
        other = am.agreement(data, "s", missing=missing)
        assert one.value == pytest.approx(other.value)
        assert one.expected == pytest.approx(other.expected)


def test_draws_belong_together_with_those_of_the_panel(rng):
    rows = [(i, c, int(rng.random() < 0.8)) for i in range(60) for c in range(3)]
    data = am.Annotations.from_records(rows)
    panel = am.agreement(data, chance=np.full(60, 0.5))
    assert list(panel)[-1] == "s_item"
    assert panel.difference("s_item", "s") == pytest.approx(0, abs=1e-9)
    low, high = panel["s_item"].interval()
    assert low < panel["s_item"].value < high
