"""Two coders and their pairs: kappa_max, prevalence, bias, mean kappa; easy and hard items."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import annomodels as am
from annomodels.errors import NotApplicable
from tests.coefficients.pairs_of_labels import of_pairs

NAMES = ["kappa", "kappa_max", "prevalence_index", "bias_index", "pabak"]


def panel_of(a, b, c, d, draws=0):
    table = {("yes", "yes"): a, ("yes", "no"): b, ("no", "yes"): c, ("no", "no"): d}
    data = of_pairs(table, labels=["yes", "no"])
    return am.agreement(data, NAMES, draws=draws)


def test_prevalence_of_feinstein_cicchetti_1990():
    """Same agreement of .85, kappa .70 and .32: the prevalence index is -.05 and .75."""
    even, skewed = panel_of(40, 9, 6, 45), panel_of(80, 10, 5, 5)
    assert even["kappa"].value == pytest.approx(0.70, abs=5e-3)
    assert skewed["kappa"].value == pytest.approx(0.32, abs=5e-3)
    assert even["prevalence_index"].value == pytest.approx(-0.05)
    assert skewed["prevalence"].value == pytest.approx(0.75)
    assert even["pabak"].value == skewed["pabak"].value == pytest.approx(0.70)
    assert skewed["bias"].value == pytest.approx(0.05)


@given(st.lists(st.integers(0, 20), min_size=4, max_size=4))
def test_kappa_from_prevalence_and_bias_byrt_1993(cells):
    a, b, c, d = cells
    n = a + b + c + d
    assume(n > 0)
    panel = panel_of(*cells)
    kappa, pabak = panel["kappa"].value, panel["s"].value
    prevalence, bias = panel["prevalence_index"].value, panel["bias_index"].value
    assert (prevalence, bias) == pytest.approx(((a - d) / n, (b - c) / n))
    scale = 1 - prevalence**2 + bias**2
    assume(scale > 1e-9)
    assert kappa == pytest.approx((pabak - prevalence**2 + bias**2) / scale)


@given(st.lists(st.integers(0, 20), min_size=4, max_size=4))
def test_kappa_max_is_reached_by_the_best_table_with_these_margins(cells):
    a, b, c, d = cells
    assume((a + b) * (c + d) + (a + c) * (b + d) > 0)
    both = min(a + b, a + c)
    neither = min(c + d, b + d)
    rest = a + b + c + d - both - neither
    more_by_first = a + b > a + c
    best = (both, rest, 0, neither) if more_by_first else (both, 0, rest, neither)
    assert panel_of(*cells)["kappa_max"].value == pytest.approx(panel_of(*best)["kappa"].value)
    assert panel_of(*cells)["kappa_max"].value >= panel_of(*cells)["kappa"].value - 1e-12


def test_draws_belong_together():
    panel = panel_of(40, 9, 6, 45, draws=500)
    p, b = panel["prevalence"].draws, panel["bias"].draws
    expected = (panel["s"].draws - p**2 + b**2) / (1 - p**2 + b**2)
    assert panel["kappa"].draws == pytest.approx(expected)
    assert (panel.difference("kappa_max", "kappa") > -1e-12).all()


def crowd(rng, n_items=60, n_coders=5, n_labels=4):
    rows = [
        (i, int(c), int(rng.integers(n_labels)))
        for i in range(n_items)
        for c in rng.choice(n_coders, rng.integers(1, n_coders + 1), replace=False)
    ]
    return am.Annotations.from_records(rows)


@pytest.mark.parametrize("distance", ["nominal", "linear", "quadratic", "ordinal"])
@pytest.mark.parametrize("missing", ["pairwise", "listwise"])
def test_mean_over_the_pairs_that_have_a_kappa(rng, distance, missing):
    data = crowd(rng)
    each = []
    for a, b in combinations(data.coders, 2):
        two = data.select(coders=[a, b])
        if missing == "listwise":
            whole = np.bincount(data.item, minlength=data.n_items) == data.n_coders
            two = two.select(items=[data.items[i] for i in np.flatnonzero(whole)])
        kappa = am.agreement(two, "weighted_kappa", distance=distance, labels=data.labels, draws=0)
        each.append([kappa.value, kappa.observed, kappa.expected])
    value, *sides = np.transpose([one for one in each if np.isfinite(one[0])])
    found = am.agreement(data, "light_kappa", distance=distance, missing=missing, draws=0)
    assert found.value == pytest.approx(value.mean(), abs=1e-12)
    assert [found.observed, found.expected] == pytest.approx([x.mean() for x in sides], abs=1e-12)


def test_the_note_says_which_pairs_are_left_out():
    # Ann and Ben agree on one label only, Cy shares nothing with Dan; two pairs have a kappa.
    items = {
        "ann": "xxxx----",
        "ben": "xxxx----",
        "cy": "xyxy----",
        "dan": "----xyxy",
        "eve": "----xxyy",
    }
    rows = [(i, c, x) for c, said in items.items() for i, x in enumerate(said) if x != "-"]
    data = am.Annotations.from_records(rows)
    found = am.agreement(data, "light_kappa", draws=0)
    # ann-cy and ben-cy are 0 (a constant coder), dan-eve is 0 by the table.
    assert found.value == pytest.approx(0.0)
    assert (
        "The mean is over 3 of 10 pairs of coders; left out: 6 that share no item, 1 that gave "
        "one and the same label on all items they share (0/0)." in found.note
    )
    whole = am.Annotations.from_records([(i, c, (i + c) % 2) for i in range(6) for c in range(3)])
    assert "left out" not in am.agreement(whole, "light_kappa", draws=0).note


def test_boxcars_of_the_tutorial():
    """A_o = .88 and A_e = .5: 24 % hard items, 12 of the 88 % agreed were guessed."""
    table = am.coefficients.easy_hard(0.88, 0.5).table
    assert table["quantity"].tolist() == ["hard", "guessed", "wrong"]
    assert table["value"].tolist() == pytest.approx([0.24, 0.12 / 0.88, 0.12])
    assert table[["low", "high"]].isna().all(axis=None)


def test_simulated_easy_and_hard_items(rng):
    """20,000 items of which 30 % are guessed: the shares come back."""
    n, p = 20_000, [0.5, 0.3, 0.2]
    truth = rng.choice(3, n, p=p)
    hard = rng.random(n) < 0.3
    labels = np.where(hard, rng.choice(3, (2, n), p=p), truth)
    rows = [(i, c, int(labels[c, i])) for i in range(n) for c in (0, 1)]
    found = am.coefficients.easy_hard(
        am.agreement(am.Annotations.from_records(rows), "k", draws=200)
    )
    agreed = labels[0] == labels[1]
    shares = hard.mean(), hard[agreed].mean(), (labels[0] != truth).mean()
    assert found.table["value"].tolist() == pytest.approx(shares, abs=0.012)
    low, value, high = (found.table[name] for name in ("low", "value", "high"))
    assert ((low < value) & (value < high) & (high - low < 0.03)).all()


def test_draws_are_those_of_the_coefficient():
    data = am.datasets.load("anesthesia")
    kappa = am.agreement(data, "k")
    found = am.coefficients.easy_hard(kappa)
    assert found.draws["share"].sel(quantity="hard").to_numpy() == pytest.approx(1 - kappa.draws)
    assert found.table["value"][0] == pytest.approx(1 - kappa.value)
    assert "42 % (" in found.notes[0]


def test_less_agreement_than_guesses_has_no_reading():
    found = am.coefficients.easy_hard(0.2, 0.5)
    assert found.table["value"].isna().all()
    assert "cannot explain this" in found.notes[0]
    rows = [(i, c, 1) for i in range(5) for c in (0, 1)]
    constant = am.agreement(am.Annotations.from_records(rows), "k")
    assert "cannot explain this" in am.coefficients.easy_hard(constant).notes[0]


def test_what_does_not_fit():
    data = am.datasets.load("anesthesia")
    with pytest.raises(NotApplicable, match="no expected agreement"):
        am.coefficients.easy_hard(am.agreement(data, "percent", draws=0))
    with pytest.raises(NotApplicable, match="no expected agreement"):
        am.coefficients.easy_hard(am.agreement(data, "alpha", distance="interval", draws=0))
    with pytest.raises(NotApplicable, match="a coefficient already has one"):
        am.coefficients.easy_hard(am.agreement(data, "k", draws=0), 0.5)
