"""Coders: formulas on known matrices, kinds on simulated crowds."""

import json

import numpy as np
import pytest
import xarray as xr

from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable
from annomodels.models.catalog import MODELS
from annomodels.summaries import skills
from annomodels.summaries.coders import KINDS, coders, notable
from annomodels.summaries.skills import coder_draws


def test_formulas_on_a_known_matrix():
    prevalence, confusion = np.array([0.2, 0.8]), np.array([[[0.7, 0.3], [0.1, 0.9]]])
    # accuracy .2*.7 + .8*.9; says (.22, .78); chance .2*.22 + .8*.78
    accuracy, chance = 0.86, 0.668
    assert skills.accuracy(prevalence, confusion)[0] == pytest.approx(accuracy)
    np.testing.assert_allclose(skills.says(prevalence, confusion)[0], [0.22, 0.78])
    kappa = (accuracy - chance) / (1 - chance)
    assert skills.skill(prevalence, confusion)[0] == pytest.approx(kappa)
    joint = prevalence[:, None] * confusion[0]
    outer = np.outer(joint.sum(1), joint.sum(0))
    information = (joint * np.log2(joint / outer)).sum()
    assert skills.bits(prevalence, confusion)[0] == pytest.approx(information)


@pytest.mark.parametrize("n_labels", [2, 3, 6])
def test_ends_of_the_scales(make, n_labels, rng):
    prevalence = rng.dirichlet(np.ones(n_labels))
    perfect = np.eye(n_labels)
    row = rng.dirichlet(np.ones(n_labels))
    spammer = np.broadcast_to(row, (n_labels, n_labels))
    swapped = np.roll(perfect, 1, axis=1)
    pair = np.stack([perfect, spammer, swapped])
    np.testing.assert_allclose(skills.skill(prevalence, pair)[:2], [1, 0], atol=1e-12)
    assert skills.skill(prevalence, pair)[2] < 0
    entropy = skills.entropy_bits(prevalence)
    np.testing.assert_allclose(skills.bits(prevalence, pair), [entropy, 0, entropy], atol=1e-9)


def test_people_see_the_coders_to_act_on_first():
    """Who gave many labels and may be useless is no afterthought; who gave few is."""
    import pandas as pd

    rows = [
        ("fine", "good", "ask", 60, 0.9),
        ("thin", "not enough evidence", "ask", 60, 0.3),
        ("few", "not enough evidence", "give test items", 2, 0.1),
        ("doubtful", "not enough evidence", "give test items", 60, 0.1),
        ("little", "not enough evidence", "ask others first", 60, 0.2),
        ("swaps", "adversary", "correct: swaps a and b", 60, 0.0),
        ("biased", "biased", "retrain: says a too often", 60, 0.5),
        ("spammer", "spammer", "stop", 60, 0.0),
    ]
    table = pd.DataFrame(rows, columns=["coder", "kind", "advice", "n", "skill"])
    order = tuple(notable(table).tolist())
    seen = ["swaps", "spammer", "doubtful", "little", "biased", "fine", "few", "thin"]
    assert table["coder"].iloc[list(order)].tolist() == seen
    found = Summary("Coders", table, order=order)
    assert found.seen["coder"].tolist() == seen
    for text in (found.as_text(2), found._repr_html_()):
        assert text.index("swaps") < text.index("spammer")
    assert "fine" not in found.as_text(2)
    many = Summary("Coders", pd.concat([table] * 2, ignore_index=True), order=order * 2)
    assert "12 of 16 rows, most notable first" in many._repr_html_()


def test_table_is_the_mean_and_quantiles_of_the_draws(make):
    world = make.world(n_items=60, n_coders=4, per_item=3, n_labels=3)
    tree = make.gibbs(world.data, draws=100)
    found = coders(tree, world.data, target=0.8)
    prevalence = tree["posterior"]["prevalence"].values.reshape(200, 3)
    confusion = tree["posterior"]["confusion"].values.reshape(200, 4, 3, 3)
    accuracy = np.einsum("sk,sjkk->sj", prevalence, confusion)
    table = found.table
    np.testing.assert_allclose(table["accuracy"], accuracy.mean(axis=0))
    np.testing.assert_allclose(table["accuracy_low"], np.quantile(accuracy, 0.025, axis=0))
    below = (found.draws["share_right"].values < 0.8).mean(axis=0)
    np.testing.assert_allclose(table["p_below_target"], below)
    says = np.einsum("sk,sjkl->sjl", prevalence, confusion)
    chance = np.einsum("sk,sjk->sj", prevalence, says)
    skill = (accuracy - chance) / (1 - chance)
    np.testing.assert_allclose(table["skill_high"], np.quantile(skill, 0.975, axis=0))
    np.testing.assert_allclose(table["recall_b"], confusion[:, :, 1, 1].mean(axis=0))
    assert found.draws["recall"].dims == ("sample", "coder", "truth")
    p = tree["truth"]["p_truth"].values[world.data.item, world.data.label]
    right = np.bincount(world.data.coder, p) / world.data.per_coder
    np.testing.assert_allclose(table["share_right"], right, atol=0.03)
    assert (table["share_right_low"] <= table["share_right"]).all()
    assert (table["share_right"] <= table["share_right_high"]).all()


def test_labels_of_known_truth_leave_no_doubt_of_the_share_that_is_right(make):
    world = make.world(n_items=40, n_coders=4, per_item=3, n_labels=2)
    data = world.data.replace(gold=world.truth)
    table = coders(make.gibbs(data, draws=60), data).table
    right = np.bincount(data.coder, data.label == world.truth[data.item]) / data.per_coder
    for name in ("share_right", "share_right_low", "share_right_high"):
        np.testing.assert_allclose(table[name], right)
    assert (table["accuracy_high"] - table["accuracy_low"] > 0.02).all()


def test_blocks_and_thinning_do_not_change_the_result(make):
    world = make.world(n_items=60, n_coders=9, per_item=3)
    tree = make.gibbs(world.data, draws=40)
    every = coder_draws(tree, world.data)
    some = coder_draws(tree, world.data, budget=8 * 9 * 7 * 20)
    assert len(some.skill) == 20
    np.testing.assert_allclose(some.skill, every.skill[::4])
    np.testing.assert_allclose(some.over_use, every.over_use[::4])


@pytest.mark.slow
def test_spammers_and_adversaries_are_found(crowd):
    world, tree = crowd
    table = coders(tree, world.data).table
    assert table["kind"].tolist() == ["good"] * 9 + ["spammer", "spammer", "adversary"]
    assert table["bias"][10] == "says b too often"
    assert (table["bias"][:9] == "").all()
    assert table["p_adversary"][11] > 0.99
    assert table["p_chance"][11] > 0.99
    assert (table["p_spammer"][:9] < 0.01).all()
    inside = (table["accuracy_low"] < np.array([0.9, 0.85, 0.8, 0.85, 0.75, 0.9] + [0] * 6))[:6]
    assert inside.sum() >= 5


@pytest.mark.slow
def test_biased_coder_is_informative_but_named(make):
    world = make.world(n_items=400, n_coders=6, per_item=5, accuracy=0.85)
    confusion = world.confusion.copy()
    confusion[2] = [[0.6, 0.4], [0.02, 0.98]]
    data = make.annotate(np.random.default_rng(1), world.truth, confusion, 5)
    table = coders(make.gibbs(data), data).table
    assert (table["kind"][2], table["bias"][2]) == ("biased", "says b too often")
    assert (table["kind"].drop(2) == "good").all()


@pytest.mark.slow
def test_spammers_are_found_among_many_labels_and_few_data(make):
    """Five labels and 150 labels per coder: bits of noise must not pass for information."""
    accuracy = np.full(30, 0.75)
    accuracy[:5] = 0.2
    world = make.world(n_items=960, n_coders=30, n_labels=5, per_item=5, accuracy=accuracy)
    table = coders(make.gibbs(world.data), world.data).table
    assert table["kind"][:5].isin(["spammer", "not enough evidence"]).sum() >= 4
    assert table["advice"][:5].isin(["stop", "give test items"]).sum() >= 4
    assert (table["kind"][5:] != "spammer").all()


def test_a_few_labels_are_not_enough_evidence(make):
    world = make.world(n_items=200, n_coders=5, per_item=5, accuracy=0.8)
    data = world.data
    keep = (data.coder != 0) | (data.item < 4)
    few = data.replace(item=data.item[keep], coder=data.coder[keep], label=data.label[keep])
    table = coders(make.gibbs(few), few).table
    assert table["n"][0] == 4
    assert table["kind"][0] == "not enough evidence"
    assert (table["kind"][1:] == "good").all()


def test_em_gives_point_values_and_says_so(make):
    world = make.world(n_coders=3, per_item=3, n_items=50)
    tree = make.exact(world.data, world.prevalence, world.confusion, engine="em")
    found = coders(tree, world.data, target=0.9)
    table = found.table
    np.testing.assert_allclose(table["accuracy"], 0.8)
    hollow = ["accuracy_low", "skill_high", "bits_low", "p_spammer", "p_below_target"]
    assert table[hollow].isna().all(axis=None)
    assert any("em" in note for note in found.notes)
    assert set(table["kind"]) <= set(KINDS)


@pytest.mark.slow
def test_no_target_no_probability(crowd):
    world, tree = crowd
    assert coders(tree, world.data).table["p_below_target"].isna().all()
    with pytest.raises(NotApplicable, match="between 0 and 1"):
        coders(tree, world.data, target=80)


def test_pooled_model_says_that_it_cannot_tell_coders_apart(make):
    world = make.world(n_coders=3, per_item=3, n_items=50)
    tree = make.exact(world.data, world.prevalence, world.confusion[0])
    found = coders(tree, world.data)
    np.testing.assert_allclose(found.table["accuracy"], 0.8)
    assert "cannot compare them" in " ".join(found.notes)


def test_shift_and_spread_of_ordered_labels_are_columns_with_intervals(crowd):
    world, tree = crowd
    assert "shift" not in coders(tree, world.data).table
    rng = np.random.default_rng(3)
    tree = tree.copy(deep=False)
    posterior = tree["posterior"].to_dataset()
    size = posterior.sizes["chain"], posterior.sizes["draw"], world.data.n_coders
    shift = np.linspace(-0.4, 0.4, size[2]) + 0.05 * rng.normal(size=size)
    dims = ("chain", "draw", "coder")
    posterior = posterior.assign(shift=(dims, shift), spread=(dims, np.exp(shift)))
    tree["posterior"] = xr.DataTree(posterior)
    tree.attrs = {**tree.attrs, "model": json.dumps(MODELS["ordinal"]().to_dict())}
    table = coders(tree, world.data).table
    np.testing.assert_allclose(table["shift"], shift.mean(axis=(0, 1)))
    assert (table["shift_low"] < table["shift"]).all()
    assert (table["shift"] < table["shift_high"]).all()
    assert (table["spread_low"] > 0).all()
