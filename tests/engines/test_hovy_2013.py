"""MACE (Hovy et al. 2013) against a run of its authors' program on two of Snow et al.'s sets."""

import numpy as np
import pandas as pd
import pytest

import annomodels as am

pytestmark = pytest.mark.shared


def _reference(shared, name):
    folder = shared / "data" / name
    data = am.read(folder / "labels.csv")
    coders = pd.read_csv(folder / "mace_coders.csv", dtype={"coder": str}).set_index("coder")
    items = pd.read_csv(folder / "mace_items.csv", dtype={"item": str}).set_index("item")
    gold = pd.read_csv(folder / "gold.csv", dtype=str).set_index("item")["label"]
    chances = items.loc[list(data.items), [f"p_{label}" for label in data.labels]].to_numpy()
    competence = coders["competence"].loc[list(data.coders)].to_numpy()
    return data, chances, competence, gold.loc[list(data.items)].to_numpy()


# accuracy of the authors' program on the gold labels, and how many labels it may give otherwise
@pytest.mark.calibration
@pytest.mark.parametrize(("name", "accuracy"), [("snow_rte", 0.92625), ("snow_temp", 435 / 462)])
@pytest.mark.parametrize(("engine", "apart"), [("em", 0.03), ("gibbs", 0.04)])
def test_labels_probabilities_and_competences_of_the_authors_program(
    name, accuracy, engine, apart, shared
):
    data, chances, competence, gold = _reference(shared, name)
    fit = am.fit(data, am.models.Mace.hovy(), engine=engine, seed=1)
    p_truth = fit.tree["truth"]["p_truth"].values
    same = p_truth.argmax(axis=1) == chances.argmax(axis=1)
    assert (~same).sum() <= 1
    labels = np.asarray(data.labels)
    theirs = (labels[chances.argmax(axis=1)] == gold).mean()
    assert theirs == pytest.approx(accuracy, abs=1e-9)
    ours = (labels[p_truth.argmax(axis=1)] == gold).mean()
    assert ours == pytest.approx(accuracy, abs=1.5 / len(gold))
    assert np.abs(p_truth - chances).mean() < apart / 2
    found = fit.tree["posterior"]["competence"].values.mean(axis=(0, 1))
    assert np.corrcoef(found, competence)[0, 1] > 0.99
    assert np.abs(found - competence).mean() < apart
    busy = np.bincount(data.coder) >= 40
    assert np.abs(found - competence)[busy].max() < 0.08


@pytest.mark.slow
def test_shuffled_rows_give_the_same_result_where_crowd_kit_ranges_from_55_to_93_percent(shared):
    data, *_ = _reference(shared, "snow_rte")
    order = np.random.default_rng(3).permutation(len(data))
    rows = [
        (data.items[data.item[n]], data.coders[data.coder[n]], data.labels[data.label[n]])
        for n in order
    ]
    options = {"chains": 2, "draws": 100, "seed": 1, "extend": False}
    first = am.fit(data, "mace", **options)
    second = am.fit(am.Annotations.from_records(rows), "mace", **options)
    np.testing.assert_array_equal(
        first.tree["posterior"]["competence"].values, second.tree["posterior"]["competence"].values
    )
    np.testing.assert_array_equal(
        first.tree["truth"]["p_truth"].values, second.tree["truth"]["p_truth"].values
    )
