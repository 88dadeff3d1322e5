"""Groups of coders side by side."""

import numpy as np
import pytest

import annomodels as am
from annomodels.summaries.skills import coder_draws

GROUPS = {f"h{j}": "human" for j in range(5)} | {f"m{j}": "model" for j in range(2)}


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fit() -> am.Fit:
    """Five people who are right in 85 % and two programs that are right in 65 %."""
    rng = np.random.default_rng(4)
    rows = []
    for i in range(250):
        truth = int(rng.integers(3))
        for name in [*GROUPS, "x"]:
            right = rng.random() < (0.65 if name[0] == "m" else 0.85)
            label = truth if right else (truth + int(rng.integers(1, 3))) % 3
            if name[0] == "m" or rng.random() < 0.5:
                rows.append((i, name, label))
    data = am.Annotations.from_records(rows, labels=range(3))
    return am.fit(data, "hierarchical", chains=2, draws=400, seed=1)


def test_the_better_group_is_found(fit) -> None:
    found = fit.groups(GROUPS)
    table = found.table.set_index("group")
    assert table.index.tolist() == ["human", "model", "human - model"]
    assert table["coders"].tolist()[:2] == [5, 2]
    assert table.loc["human", "accuracy_low"] < 0.86 < table.loc["human", "accuracy_high"] + 0.03
    pair = table.loc["human - model"]
    # drawn together by the common population, see the notes of the function
    assert 0.08 < pair["accuracy"] < 0.25
    assert pair["accuracy_p_above"] > 0.99
    assert pair["skill_low"] > 0
    assert found.notes[0].endswith("no group: 1 of 8.")


def test_a_group_is_the_mean_of_its_coders_on_every_draw(fit) -> None:
    draws = coder_draws(fit.tree, fit.data)
    mine = [j for j, name in enumerate(fit.data.coders) if str(name).startswith("h")]
    found = fit.groups(GROUPS)
    assert np.allclose(found.draws["accuracy"].sel(group="human"), draws.accuracy[:, mine].mean(1))
    n = np.bincount(fit.data.coder)[mine]
    weighted = fit.groups(GROUPS, by_labels=True)
    expected = draws.accuracy[:, mine] @ (n / n.sum())
    assert np.allclose(weighted.draws["accuracy"].sel(group="human"), expected)


def test_one_judge_against_people_is_that_coder(fit) -> None:
    groups = {name: "human" for name in GROUPS if name[0] == "h"} | {"m0": "judge"}
    table = fit.groups(groups).table.set_index("group")
    coders = fit.coders().table.set_index("coder")
    assert table.loc["judge", "accuracy"] == pytest.approx(coders.loc["m0", "accuracy"])
    assert np.isnan(table.loc["judge", "accuracy_p_above"])


def test_what_cannot_be_compared_is_refused(fit) -> None:
    with pytest.raises(am.errors.AnnotationError, match="1 name with a group is not among"):
        fit.groups({"nobody": "human"})
    with pytest.raises(am.errors.NotApplicable, match="No coder has a group"):
        fit.groups({})
    pooled = am.fit(fit.data, "pooled", engine="em", starts=1, seed=1)
    with pytest.raises(am.errors.NotApplicable, match="one confusion matrix"):
        pooled.groups(GROUPS)
    em = am.fit(fit.data, engine="em", starts=1, seed=1)
    table = em.groups(GROUPS).table
    assert table["accuracy_low"].isna().all()


@pytest.fixture(scope="module")
def grouped(fit) -> am.Fit:
    """Fit the same labels with a population of their own for the two programs."""
    model = am.models.GroupedCoders(groups={"m0": "program", "m1": "program"}, rest="person")
    return am.fit(fit.data, model, chains=2, draws=400, seed=1)


@pytest.mark.calibration
def test_groups_of_the_model_are_not_drawn_together(fit, grouped) -> None:
    ours = grouped.groups()
    table = ours.table.set_index("group")
    assert table.index.tolist() == ["person", "program", "person - program"]
    assert table["coders"].tolist()[:2] == [6, 2]
    groups = {name: "program" if str(name)[0] == "m" else "person" for name in fit.data.coders}
    plain = fit.groups(groups).table.set_index("group")
    # under one population the difference is too small
    pair = "person - program"
    assert table.loc[pair, "accuracy"] > plain.loc[pair, "accuracy"]
    assert table.loc["program", "population_low"] < 0.65 < table.loc["program", "population_high"]
    assert table.loc["person", "population_low"] < 0.85 < table.loc["person", "population_high"]
    assert table.loc[pair, "population_p_above"] > 0.95
    assert "population" not in plain.columns


@pytest.mark.calibration
def test_the_table_of_coders_says_who_is_in_which_group(grouped) -> None:
    found = grouped.coders()
    table = found.table.set_index("coder")
    assert table.loc["m0", "group"] == "program"
    assert table.loc["x", "group"] == "person"
    notes = " ".join(found.notes)
    assert "Population accuracy of person: 0.8" in notes
    assert "P(person better than program) = " in notes
