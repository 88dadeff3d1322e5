"""Agreement read by easy and hard items (Artstein & Poesio 2008; Carpenter & Poesio 2010)."""

import numpy as np
import pytest

import annomodels as am
from annomodels.errors import NotApplicable


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
