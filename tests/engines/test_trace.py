"""Where memory keeps few draws, what is watched is noted of every iteration."""

import json

import numpy as np
import pytest

import annomodels as am
from annomodels.data.mixing import ess, rhat
from annomodels.models.parameters import watched_draws

pytestmark = pytest.mark.slow

# room for a hundred draws of eight coders
FEW = {"chains": 2, "draws": 350, "warmup": 42, "seed": 4, "extend": False, "memory": 90_000}


def draws(fit, name):
    return fit.tree["posterior"][name].values


@pytest.fixture(scope="module")
def whole(data):
    return am.fit(data, "hierarchical", **{**FEW, "memory": 400_000_000, "draws": 1400})


@pytest.fixture(scope="module")
def few(data):
    return am.fit(data, "hierarchical", **FEW)


def thinned(data, few) -> int:
    """Thinning of the run, which must be one."""
    kept = draws(few, "prevalence").shape[1]
    assert 100 <= kept < 350
    assert few.tree.attrs["thin"] == -(-350 // kept) == 3  # a third of the warm-up, too
    return int(few.tree.attrs["thin"])


def test_as_many_iterations_are_made_as_draws_were_asked_for(data, few, whole):
    thin = thinned(data, few)
    kept = draws(few, "prevalence").shape[1]
    assert few.tree.attrs["iterations"] == 42 + kept * thin
    for name in ("prevalence", "confusion", "population", "concentration"):
        every = draws(whole, name)[:, ::thin][:, :kept]
        np.testing.assert_array_equal(draws(few, name), every.astype(np.float32))


def test_rhat_is_that_of_every_iteration(data, few, whole):
    thin = thinned(data, few)
    kept = draws(few, "prevalence").shape[1]
    posterior = {
        name: whole.tree["posterior"][name].values[:, : kept * thin]
        for name in whole.tree["posterior"].data_vars
    }
    volume = data.per_coder / data.n_annotations
    watched = watched_draws(whole.model.parameters(data.n_labels), posterior, volume)
    noted = json.loads(few.tree.attrs["watched"])
    np.testing.assert_allclose(noted["rhat"], rhat(watched), atol=1e-4)
    np.testing.assert_allclose(noted["ess"], ess(watched), rtol=1e-3)
    assert few.tree.attrs["rhat_max"] == pytest.approx(max(noted["rhat"]), abs=1e-4)
    # results agree, so that the R-hat of the parameter is a detail of the check
    (said,) = (each.said for each in few.check().findings if each.code == "r_hat")
    assert f" is {few.tree.attrs['rhat_max']:.3f}" in said
    assert said in few.check().details


@pytest.mark.few("hierarchical")
@pytest.mark.parametrize("model", ["dawid-skene", "mace", "one-coin", "hierarchical"])
def test_parts_elsewhere_give_the_same(data, model):
    here = am.fit(data, model, **FEW)
    there = am.fit(data, model, executor="threads", partitions=3, **FEW)
    assert here.tree.attrs["watched"] == there.tree.attrs["watched"]
    np.testing.assert_array_equal(draws(here, "confusion"), draws(there, "confusion"))
