"""Who guesses among many classes is found, though a confusion matrix is then mostly prior."""

import numpy as np
import pytest

import annomodels as am
from annomodels.limits import CERTAIN
from annomodels.summaries.coders import guessing


def crowd(classes: int, items: int, seed: int) -> am.Annotations:
    """Ten coders who are mostly right, one who guesses any class and one by their shares."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(classes, 0.7))
    rows = []
    for item in range(items):
        truth = rng.choice(classes, p=shares)
        for coder in rng.choice(12, 6, replace=False):
            guess = rng.integers(classes) if coder == 10 else rng.choice(classes, p=shares)
            label = truth if coder < 10 and rng.random() < 0.75 else guess
            rows.append((f"i{item}", f"c{coder:02d}", f"l{label:02d}"))
    return am.Annotations.from_records(rows)


@pytest.mark.slow
def test_pure_guessers_are_no_good_coders_on_many_classes() -> None:
    data = crowd(20, 120, 1)
    fit = am.fit(data, "hierarchical", chains=2, draws=200, warmup=200, seed=1, extend=False)
    table = fit.coders().table.set_index("coder")
    assert table.loc[["c10", "c11"], "kind"].tolist() == ["spammer", "spammer"]
    assert table.loc[["c10", "c11"], "advice"].tolist() == ["stop", "stop"]
    assert (table["kind"] == "good").sum() >= 9
    assert (table.loc[table["kind"] == "good", "p_spammer"] < 0.5).all()


@pytest.mark.parametrize("hits", [0.05, 0.6, 0.9])
def test_it_is_told_from_the_share_of_right_labels_of_coders_with_few(hits: float) -> None:
    data = crowd(30, 120, 2)
    right = np.full((50, data.n_coders), hits)
    found = guessing(right, np.full((50, data.n_labels), 1 / data.n_labels), data)
    assert (found >= CERTAIN).all() == (hits < 0.2)
    assert (found < 0.5).all() == (hits > 0.5)
    few_classes = crowd(3, 120, 3)  # rows are learned there
    right = np.full((50, few_classes.n_coders), hits)
    assert not guessing(right, np.full((50, 3), 1 / 3), few_classes).any()
