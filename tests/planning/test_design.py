"""Designs: the studies on paper are what they say, and the verdicts follow."""

import numpy as np
import pytest

import annomodels as am
from annomodels.models.states import States
from annomodels.planning.design import (
    _items,
    assumed,
    like_pilot,
    trial,
    verdict,
)
from annomodels.summaries.draws import Draws
from annomodels.summaries.gold import by_vote_of


@pytest.mark.slow
def test_votes_of_equal_coders_are_right_as_often_as_the_binomial_says():
    found = am.design(
        items=400,
        coders=3,
        labels_per_item=[1, 3],
        accuracy=0.8,
        replications=20,
        seed=2,
        model="dawid-skene",
    ).table.set_index("labels_per_item")
    assert found.loc[1, "vote"] == pytest.approx(0.8, abs=0.015)
    assert found.loc[3, "vote"] == pytest.approx(0.8**3 + 3 * 0.8**2 * 0.2, abs=0.015)
    assert found.loc[1, "accuracy"] == found.loc[1, "vote"]
    assert np.isnan(found.loc[1, "alpha_width"])
    # kappa of two coders with accuracy .8 and equal classes is (.68 - .5) / .5
    assert found.loc[3, "alpha"] == pytest.approx(0.36, abs=0.02)


@pytest.mark.calibration
def test_more_labels_give_better_gold_and_more_items_narrower_intervals():
    found = am.design(
        items=[50, 200],
        coders=12,
        labels_per_item=[2, 6],
        replications=12,
        target=0.999,
        seed=1,
        model="dawid-skene",
    )
    table = found.table.set_index(["items", "labels_per_item"])
    for items in (50, 200):
        assert table.loc[(items, 6), "accuracy"] > table.loc[(items, 2), "accuracy"] + 0.05
    ratio = table.loc[(50, 6), "alpha_width"] / table.loc[(200, 6), "alpha_width"]
    assert ratio == pytest.approx(2, rel=0.15)
    assert list(found.table["labels"]) == sorted(found.table["labels"])
    assert found.smallest is None
    assert found.notes[0].startswith("No design is certain to reach 99.9 % right gold labels")


@pytest.mark.slow
def test_the_table_is_the_mean_of_the_studies_and_states_its_error():
    found = am.design(items=60, coders=6, labels_per_item=4, replications=5, accuracy=0.7, seed=3)
    row = found.table.iloc[0]
    seen = found.draws["accuracy"].values[0]
    assert row["accuracy"] == pytest.approx(seen.mean())
    assert row["accuracy_mcse"] == pytest.approx(seen.std(ddof=1) / np.sqrt(5))
    data, truth = assumed(accuracy=0.7)(60, 6, 4, 3 * 100_003 + 2)
    alpha = am.agreement(data, "alpha", draws=500, seed=3 * 100_003 + 2)
    assert found.draws["width"].values[0, 2] == pytest.approx(alpha.high - alpha.low)
    assert found.draws["vote"].values[0, 2] == by_vote_of(data)[np.arange(60), truth].mean()


@pytest.mark.slow
def test_the_smallest_design_is_the_cheapest_that_surely_reaches_the_target():
    found = am.design(
        items=80,
        coders=[6, 9],
        labels_per_item=[1, 3, 6],
        accuracy=0.9,
        replications=8,
        seed=4,
        model="dawid-skene",
    )
    sure = found.table[found.table["reaches"] == "yes"]
    assert found.smallest is not None
    assert found.smallest["labels"] == sure["labels"].min()
    assert found.notes[0].startswith("The smallest design that reaches 95.0 % right gold labels")
    assert "8 times on simulated data" in found.notes[-2]
    assert "those of dawid-skene; with one label per item, they are the votes" in found.notes[-1]
    widths = am.design(
        of="alpha", target=5.0, items=30, coders=4, labels_per_item=[1, 3], replications=3
    )
    assert "those of stack, the default of am.fit" in widths.notes[-1]
    assert list(widths.table["reaches"]) == ["no", "yes"]


@pytest.mark.parametrize(
    ("mean", "error", "above", "said"),
    [
        (0.97, 0.01, True, "yes"),
        (0.969, 0.01, True, "unclear"),
        (0.931, 0.01, True, "unclear"),
        (0.929, 0.01, True, "no"),
        (0.929, 0.01, False, "yes"),
        (0.98, 0.01, False, "no"),
        (float("nan"), float("nan"), False, "no"),
    ],
)
def test_verdicts_allow_for_the_monte_carlo_error(mean, error, above, said):
    assert verdict(np.array([mean]), np.array([error]), 0.95, above=above) == [said]


@pytest.fixture(scope="module")
def pilots():
    """Fits of a small and a large pilot of the same crowd."""
    options = {"chains": 2, "draws": 200, "warmup": 100, "seed": 1, "extend": False}
    crowd = {"prevalence": [0.8, 0.2], "accuracy": am.priors.Beta(16, 4), "seed": 5}
    return [
        am.fit(am.simulate(n, 8, 2, 4, **crowd).annotations, "hierarchical", **options)
        for n in (20, 600)
    ]


@pytest.mark.calibration
@pytest.mark.slow
def test_a_pilot_hands_its_uncertainty_on(pilots):
    spread = []
    for pilot in pilots:
        world = like_pilot(pilot)
        shares = [world(2000, 4, 2, seed)[1].mean() for seed in range(40)]
        posterior = pilot.tree["posterior"]["prevalence"].values[..., 1]
        assert np.mean(shares) == pytest.approx(posterior.mean(), abs=4 * posterior.std() / 6)
        spread.append(np.std(shares))
    assert spread[0] > 3 * spread[1]


@pytest.mark.slow
def test_new_coders_come_from_the_population_of_the_pilot(pilots):
    world = like_pilot(pilots[1])
    right = []
    for seed in range(30):
        data, truth = world(300, 10, 10, seed)
        right.append(np.bincount(data.coder, data.label == truth[data.item]) / 300)
    # eight coders say little of how good others may be, but the middle must fit
    assert np.mean(right) == pytest.approx(0.8, abs=0.06)
    assert np.std(right) > 0.05


@pytest.mark.slow
def test_models_without_a_population_hand_on_the_coders_of_the_pilot():
    made = am.simulate(300, 6, 2, 6, accuracy=[0.6, 0.6, 0.6, 0.98, 0.98, 0.98], seed=2)
    pilot = am.fit(
        made.annotations, "dawid-skene", chains=1, draws=100, warmup=50, seed=1, extend=False
    )
    data, truth = like_pilot(pilot)(500, 40, 40, 3)
    right = np.bincount(data.coder, data.label == truth[data.item]) / 500
    good = right > 0.9
    assert 8 < good.sum() < 32
    assert right[good].mean() == pytest.approx(0.98, abs=0.03)
    assert right[~good].mean() == pytest.approx(0.6, abs=0.12)


def test_items_with_states_get_the_truth_of_their_state(rng):
    share = np.array([[0.5, 0.3, 0.2]])
    truth = np.array([[[1.0, 0.0], [0.0, 1.0], [0.25, 0.75]]])
    draws = Draws(
        np.ones((1, 2)), np.zeros((1, 1, 2, 2)), States(share, np.full((1, 1, 3, 2), 0.5), truth)
    )
    state, found = _items(draws, 0, 40_000, rng)
    np.testing.assert_allclose(np.bincount(state) / 40_000, share[0], atol=0.01)
    assert found[state == 2].mean() == pytest.approx(0.75, abs=0.02)
    assert (found[state == 1] == 1).all()


@pytest.mark.slow
def test_a_design_from_a_pilot_takes_its_sizes(pilots):
    found = am.design(pilots[0], labels_per_item=[2, 4], replications=3)
    assert set(found.table["items"]) == {20}
    assert set(found.table["coders"]) == {8}
    assert "posterior of the pilot" in found.notes[-2]
    with pytest.raises(am.errors.NotApplicable, match="The pilot already sets accuracy"):
        am.design(pilots[0], accuracy=0.9)


def test_what_cannot_be_fitted_is_voted():
    data, truth = assumed(labels=2)(30, 5, 1, 1)
    found = trial(data, truth, "dawid-skene", 1)
    assert found.accuracy == found.vote
    assert np.isnan(found.width)


@pytest.mark.parametrize(
    "wrong",
    [
        {"of": "kappa"}, {"target": 0.0}, {"target": 1.5}, {"target": -1, "of": "alpha"},
        {"items": 0}, {"coders": []}, {"labels_per_item": 0}, {"labels_per_item": 9, "coders": 3},
        {"replications": 1},
    ],
    ids=str,
)  # fmt: skip
def test_impossible_designs_are_refused(wrong):
    with pytest.raises(am.errors.NotApplicable, match=r"Use one|give|needs|fewer"):
        am.design(**wrong)
