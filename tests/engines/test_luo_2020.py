"""Luo, Card & Jurafsky (2020): stance on global warming, against the authors' own posterior."""

import csv

import numpy as np
import pytest
from scipy.stats import spearmanr

import annomodels as am
from tests.engines.crowds import p_truth


@pytest.fixture(scope="module")
def gwsd(shared):
    """Labels, and the stance of each item (P(agree) - P(disagree)) by the authors' model."""
    folder = shared / "data" / "gwsd"
    with (folder / "labels.csv").open(newline="") as file:
        rows = [(r["item"], r["coder"], r["label"]) for r in csv.DictReader(file)]
    with (folder / "posterior.csv").open(newline="") as file:
        found = {r["item"]: float(r["agree"]) - float(r["disagree"]) for r in csv.DictReader(file)}
    data = am.Annotations.from_records(rows, labels=["disagrees", "neutral", "agrees"])
    return data, np.array([found[item] for item in data.items])


@pytest.mark.slow
def test_luo_2020_stance_ranks_items_as_the_posterior_of_the_authors(gwsd):
    data, theirs = gwsd
    assert (data.n_items, data.n_coders, len(data)) == (2050, 398, 16400)
    fit = am.fit(data, "hierarchical", chains=2, draws=200, warmup=200, seed=1, extend=False)
    ours = p_truth(fit) @ [-1.0, 0.0, 1.0]
    votes = data.votes @ np.array([-1.0, 0.0, 1.0]) / data.votes.sum(axis=1)
    # measured: .983, and .969 for the votes
    assert spearmanr(ours, theirs).statistic > 0.975
    assert spearmanr(votes, theirs).statistic < 0.97
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95
