"""Labels that depend on no truth: no recommended model settles one, and all say so."""

import numpy as np
import pytest

import annomodels as am

OPTIONS = {"chains": 2, "draws": 300, "warmup": 200, "seed": 1, "extend": False}
DOES = "Gold labels may be no better than guessing."
SAID = ("The labels hardly depend on any truth", "The labels may hardly depend on any truth")
# shares of the labels, coders, and the model that advise names for so many
CASES = {
    "few coders": ((1 / 3, 1 / 3, 1 / 3), 5, "stack"),
    "few coders, two labels": ((0.5, 0.5), 5, "stack"),
    # every item looks alike: a prevalence near 1 is no knowledge of an item
    "few coders, nearly one label": ((0.85, 0.15), 5, "stack"),
    "few coders, hardly two labels": ((0.95, 0.05), 5, "stack"),
    "crowd": ((1 / 3, 1 / 3, 1 / 3), 20, "stack"),
    "crowd, nearly one label": ((0.85, 0.15), 20, "stack"),
}


def random_labels(shares, coders, n_items=150, per_item=5, gold=None):
    rng = np.random.default_rng(0)
    rows = [
        (i, int(j), int(rng.choice(len(shares), p=shares)))
        for i in range(n_items)
        for j in rng.choice(coders, per_item, replace=False)
    ]
    return am.Annotations.from_records(rows, labels=range(len(shares)), truth=gold)


@pytest.mark.few("few coders", "crowd, nearly one label")
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_recommended_model_settles_no_label_and_says_why(case):
    shares, coders, name = CASES[case]
    data = random_labels(shares, coders)
    advice = am.advise(data)
    assert advice.model == name
    fit = am.fit(data, advice.model, **OPTIONS)
    check, gold = fit.check(), fit.gold()
    assert check.verdict in ("needs review", "do not use")
    assert check.sentences[0].startswith(tuple(f"{DOES} {said}" for said in SAID))
    assert not (gold.table["state"] == "settled").any()
    assert gold.notes[-1].startswith(SAID)
    if shares[0] < 0.6:
        assert gold.table["probability"].max() < 0.95


@pytest.mark.slow
def test_known_gold_stays_settled_and_labels_with_signal_do():
    known = {i: i % 2 for i in range(10)}
    table = (
        am.fit(random_labels((0.85, 0.15), 5, gold=known), "hierarchical", **OPTIONS).gold().table
    )
    np.testing.assert_array_equal(table["state"] == "decided", table["item"].isin(range(10)))
    assert not (table["state"] == "settled").any()
    made = am.simulate(80, 5, 2, 5, seed=1)
    found = am.fit(made.annotations, "hierarchical", **OPTIONS).gold()
    assert (found.table["state"] == "settled").mean() > 0.5
    assert not any("hardly depend" in note for note in found.notes)
