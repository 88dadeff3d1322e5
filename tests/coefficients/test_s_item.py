"""S with a chance level of its own for every item (Kopec & Ogrodniczuk 2014, section 4)."""

import numpy as np
import pytest

import annomodels as am

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


def test_by_hand():
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


@pytest.mark.parametrize(
    ("missing", "weight"),
    [("krippendorff", lambda r: r), ("gwet", lambda r: 1), ("pairs", lambda r: r * (r - 1))],
)
def test_conventions_weigh_items_by_hand(missing, weight, rng):
    labels = {i: rng.integers(0, 3, 1 + i % 4) for i in range(20)}
    rows = [(i, c, int(x)) for i, given in labels.items() for c, x in enumerate(given)]
    chance = rng.random(20)
    found = am.agreement(
        am.Annotations.from_records(rows), "s_item", missing=missing, chance=chance
    )
    used = {i: given for i, given in labels.items() if len(given) > 1}
    w = np.array([weight(len(given)) for given in used.values()], dtype=float)
    agreed = [
        np.mean([a == b for n, a in enumerate(given) for m, b in enumerate(given) if n != m])
        for given in used.values()
    ]
    a_o, a_e = w @ agreed / w.sum(), w @ chance[list(used)] / w.sum()
    assert (found.observed, found.expected) == pytest.approx((a_o, a_e))
    assert found.value == pytest.approx((a_o - a_e) / (1 - a_e))


def test_draws_belong_together_with_those_of_the_panel(rng):
    rows = [(i, c, int(rng.random() < 0.8)) for i in range(60) for c in range(3)]
    data = am.Annotations.from_records(rows)
    panel = am.agreement(data, chance=np.full(60, 0.5))
    assert list(panel)[-1] == "s_item"
    assert panel.difference("s_item", "s") == pytest.approx(0, abs=1e-9)
    low, high = panel["s_item"].interval()
    assert low < panel["s_item"].value < high
