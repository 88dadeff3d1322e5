"""Items: the entropy identity, quadrants, and what the flag of ambiguity is worth."""

import numpy as np
import pytest
from scipy.stats import rankdata

from annomodels.limits import STATES
from annomodels.summaries.items import items
from annomodels.summaries.skills import entropy_bits


def auc(score, positive):
    rank = rankdata(score)
    n1, n0 = positive.sum(), (~positive).sum()
    return (rank[positive].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)


def ambiguous_world(make, seed, per_item, n_labels=3, n_items=400, n_coders=40):
    """15 % of the items have two readings; 15 % of the coders are careless."""
    rng = np.random.default_rng(seed)
    confusion = np.empty((n_coders, n_labels, n_labels))
    for j, accuracy in enumerate(rng.beta(8, 2, n_coders)):
        for k in range(n_labels):
            errors = rng.dirichlet(np.full(n_labels - 1, 2.0)) * (1 - accuracy)
            confusion[j, k] = np.insert(errors, k, accuracy)
    for j in range(int(0.15 * n_coders)):
        confusion[j] = rng.dirichlet(np.full(n_labels, 4.0))
    truth = rng.integers(0, n_labels, n_items)
    ambiguous = rng.random(n_items) < 0.15
    other = (truth + rng.integers(1, n_labels, n_items)) % n_labels
    share = rng.beta(4, 4, n_items)
    item = np.repeat(np.arange(n_items), per_item)
    coder = np.concatenate([rng.permutation(n_coders)[:per_item] for _ in range(n_items)])
    second = ambiguous[item] & (rng.random(len(item)) < share[item])
    rows = confusion[coder, np.where(second, other[item], truth[item])]
    label = (rng.random(len(item))[:, None] > rows.cumsum(1)[:, :-1]).sum(1)
    return make.coded(item, coder, label, n_items, n_coders, n_labels), ambiguous


def test_entropy_is_the_sum_of_its_parts(crowd):
    world, tree = crowd
    table = items(tree, world.data).table
    p = tree["truth"]["p_truth"].values
    np.testing.assert_allclose(table["doubt"], entropy_bits(p))
    np.testing.assert_allclose(table["doubt"], table["reducible"] + table["irreducible"])
    assert (table["reducible"] >= 0).all()
    assert table["reducible"].max() > 0.001
    np.testing.assert_allclose(
        table["irreducible"], tree["truth"]["conditional_entropy"].values / np.log(2)
    )


def test_reducible_part_is_zero_for_known_parameters(make):
    world = make.world(n_items=50)
    tree = make.exact(world.data, world.prevalence, world.confusion)
    np.testing.assert_allclose(items(tree, world.data).table["reducible"], 0, atol=1e-9)


def test_disagreement_counts_pairs(make):
    item = np.array([0, 0, 0, 0, 1, 2, 2])
    data = make.coded(
        item, np.array([0, 1, 2, 3, 0, 0, 1]), np.array([0, 0, 0, 1, 1, 2, 2]), 3, 4, 3
    )
    tree = make.exact(data, np.ones(3) / 3, np.array([make.matrix(0.8, 3)] * 4))
    np.testing.assert_allclose(items(tree, data).table["disagreement"], [0.5, np.nan, 0])


@pytest.mark.calibration
@pytest.mark.few("3")
@pytest.mark.parametrize("n_labels", [3, 5])
def test_ambiguous_items_are_ranked_better_than_by_entropy(make, n_labels):
    scores, found = [], []
    for seed in range(4):
        data, ambiguous = ambiguous_world(make, seed, 10, n_labels, n_items=500)
        tree = make.gibbs(data, draws=150)
        table = items(tree, data).table
        votes = data.votes / data.votes.sum(axis=1, keepdims=True)
        rivals = (table["p_contested"], table["doubt"], entropy_bits(votes))
        scores.append([auc(np.asarray(score), ambiguous) for score in rivals])
        flagged = (table["state"] == "contested").to_numpy()
        found.append(flagged[ambiguous].mean())
        assert flagged[~ambiguous].mean() < 0.06
    assert min(found) > 0.05
    assert np.mean(found) > 0.3
    contested, entropy, vote = np.mean(scores, axis=0)
    assert contested > entropy > vote
    assert contested > 0.84


@pytest.mark.slow
def test_careless_dissent_is_not_contested(make):
    """Three spammers against three good coders: hard, but settled, and the reason says why."""
    accuracy = np.array([0.95, 0.95, 0.95, 0.5, 0.5, 0.5])
    world = make.world(n_items=300, n_coders=6, per_item=6, accuracy=accuracy)
    data = world.data
    label = data.label.copy()
    label[:6] = [0, 0, 0, 1, 1, 1]
    data = data.replace(label=label)
    row = items(make.gibbs(data), data).table.iloc[0]
    assert row["state"] == "settled"
    assert row["label"] == "a"
    assert row["reason"].startswith("3 of 6 labels are not 'a'")
    assert "less reliable coders" in row["reason"]


@pytest.mark.slow
def test_states_reasons_and_notes_go_together(make):
    data, _ = ambiguous_world(make, 7, 4)
    found = items(make.gibbs(data, draws=100), data)
    table = found.table
    assert set(table["state"]) <= set(STATES)
    assert (table["reason"][table["state"] != "settled"] != "").all()
    assert (table["reason"][table["disagreement"] == 0][table["state"] == "settled"] == "").all()
    needy = table[table["state"] == "needs labels"]
    assert (needy["probability"] < 0.95).all()
    assert needy["reason"].str.fullmatch(r".*, which has probability .* of the time\.").all()
    assert not table["reason"].str.contains("bits").any(), "bits are for files only"
    assert f"{len(needy)} need labels" in found.notes[0]


def test_an_item_with_one_label_needs_more(make):
    item, coder = np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2])
    data = make.coded(item, coder, np.array([0, 1, 1, 1]), 2, 3, 2)
    tree = make.exact(data, [0.5, 0.5], np.array([make.matrix(0.9, 2)] * 3))
    table = items(tree, data).table
    assert table["state"].tolist() == ["needs labels", "settled"]
    assert table["reason"][0] == (
        "The only label is 'a', which has probability 0.90; from a coder who is right 90 % of the "
        "time."
    )


def test_known_gold_needs_no_labels(make):
    data = make.coded(np.zeros(2, int), np.arange(2), np.array([0, 1]), 1, 2, 2, gold=np.array([0]))
    tree = make.exact(data, [0.5, 0.5], np.array([make.matrix(0.8, 2)] * 2))
    row = items(tree, data).table.iloc[0]
    assert (row["label"], row["state"], row["doubt"]) == ("a", "decided", 0)
    assert "which is known" in row["reason"]
