"""Coefficients beside what a model implies."""

import json

import numpy as np
import pytest

from annomodels.models.catalog import MODELS
from annomodels.summaries.agreement import agreement
from annomodels.summaries.coders import new_coders


def test_kappa_of_two_coders_carpenter_2008(make):
    """Specificity .9, sensitivity .85, prevalence .5: agreement .7825 and kappa .5639."""
    coder = np.array([[0.9, 0.1], [0.15, 0.85]])
    data = make.coded(
        np.repeat(np.arange(4), 2), np.tile([0, 1], 4), np.array([0, 0, 1, 1, 0, 1, 1, 1]), 4, 2, 2
    )
    found = agreement(make.exact(data, [0.5, 0.5], np.array([coder, coder])), data, draws=20)
    model = found.table.set_index("coefficient")["model"]
    assert model["percent"] == pytest.approx(0.7825)
    assert model["kappa"] == pytest.approx(0.5639, abs=5e-5)
    assert found.draws["model"].dims == ("sample", "coefficient")
    assert found.draws["sampling"].sizes["draw"] == 20


@pytest.mark.slow
def test_model_and_classical_value_agree_when_the_model_is_true(make):
    world = make.world(
        n_items=1500, n_coders=6, per_item=4, n_labels=3, accuracy=np.linspace(0.6, 0.9, 6)
    )
    table = agreement(make.gibbs(world.data), world.data, draws=300).table.set_index("coefficient")
    for name in ("percent", "k", "alpha", "multi_kappa", "ac1"):
        row = table.loc[name]
        assert row["model"] == pytest.approx(row["value"], abs=0.02)
        assert row["model_low"] < row["model"] < row["model_high"]
    assert table.loc["kappa", ["value", "model"]].isna().all()
    assert table.loc["alpha", "model_p_above_667"] in (0, pytest.approx(0, abs=0.05))


@pytest.mark.slow
def test_ordinal_alpha_takes_its_distance_in_the_model_too(make):
    """Errors fall on neighbors: the ordinal alpha is far above the nominal one, in both."""
    world = make.world(n_items=800, n_coders=5, n_labels=4)
    near = np.exp(-1.5 * np.abs(np.subtract.outer(np.arange(4), np.arange(4))))
    confusion = np.stack([near / near.sum(axis=1, keepdims=True)] * 5)
    data = make.annotate(np.random.default_rng(1), world.truth, confusion, 5)
    tree = make.gibbs(data)
    nominal = agreement(tree, data, draws=20).table.set_index("coefficient").loc["alpha"]
    data = data.replace(scale="ordinal")
    ordinal = agreement(tree, data, draws=20).table.set_index("coefficient").loc["alpha"]
    assert ordinal["model"] == pytest.approx(ordinal["value"], abs=0.04)
    assert nominal["model"] == pytest.approx(nominal["value"], abs=0.04)
    assert ordinal["value"] - nominal["value"] > 0.2
    assert ordinal["model"] - nominal["model"] > 0.2


def test_em_has_values_and_no_intervals(make):
    world = make.world(n_items=100, n_coders=4, per_item=4)
    tree = make.exact(world.data, world.prevalence, world.confusion, engine="em")
    found = agreement(tree, world.data, draws=20)
    alpha = found.table.set_index("coefficient").loc["alpha"]
    # accuracy .8 each, prevalence .5: agreement .68, kappa .36
    assert alpha["model"] == pytest.approx(0.36)
    assert np.isnan([alpha["model_low"], alpha["model_high"], alpha["model_p_above_800"]]).all()
    assert "em" in found.notes[-1]


@pytest.mark.slow
def test_new_coders_follow_their_population(make):
    """Rows ~ Dir(concentration m): mean m, variance m (1 - m) / (concentration + 1)."""
    world = make.world(n_items=20, n_coders=3, per_item=2)
    tree = make.gibbs(world.data, chains=2, draws=2000, warmup=1)
    assert new_coders(tree, 10) is None
    centre, total = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([8.0, 4.0])
    posterior = tree["posterior"].to_dataset()
    posterior["population"] = (
        ("chain", "draw", "truth", "label"),
        np.tile(centre, (2, 2000, 1, 1)),
    )
    posterior["concentration"] = (("chain", "draw", "truth"), np.tile(total, (2, 2000, 1)))
    tree["posterior"] = type(tree)(posterior)
    tree.attrs = {**tree.attrs, "model": json.dumps(MODELS["hierarchical"]().to_dict())}
    new = new_coders(tree, 4000)
    np.testing.assert_allclose(new.first.mean(axis=0), centre, atol=0.02)
    expected = centre[:, 0] * centre[:, 1] / (total + 1)
    np.testing.assert_allclose(new.second.var(axis=0)[:, 0], expected, rtol=0.1)
    assert abs(np.corrcoef(new.first[:, 0, 0], new.second[:, 0, 0])[0, 1]) < 0.05
    assert "further coders" in agreement(tree, world.data, draws=10).notes[-1]
