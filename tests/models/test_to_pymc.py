"""The PyMC model of a fit has its data in it, and a likelihood of each item."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

import annomodels as am
from annomodels.engines.pymc.nuts import with_data
from annomodels.errors import NotApplicable
from annomodels.models import MODELS
from annomodels.models.catalog import resolve

OF_CLASSES = sorted(
    name
    for name in MODELS
    if (model := resolve(name)).truth == "class" and not model.stacks and model.proper
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=12)
    rows = [
        (f"i{i}", f"c{j}", int(rng.random() < 0.3) ^ int(truth[i]))
        for i in range(12)
        for j in range(5)
        if rng.random() < 0.8
    ]
    found = am.Annotations.from_records(rows, labels=[0, 1])
    return found.replace(gold=np.where(np.arange(found.n_items) < 3, truth[: found.n_items], -1))


@pytest.mark.few("dawid-skene", "hierarchical", "ambiguous", "scalar-difficulty")
@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", OF_CLASSES)
def test_likelihoods_of_items_add_up_to_that_of_the_model(data, name):
    model = resolve(name).bound(data)
    pymc_model = with_data(model, data)
    point = pymc_model.initial_point()
    (labels,) = (each for each in pymc_model.potentials if each.name == "labels")
    outputs = [pymc_model["log_likelihood"], labels]
    compiled = pymc_model.compile_fn(
        pymc_model.replace_rvs_by_values(outputs),
        inputs=pymc_model.value_vars,
        on_unused_input="ignore",
    )
    each, whole = compiled(point)
    assert each.shape == (data.n_items,)
    assert each.sum() == pytest.approx(float(whole), rel=1e-10)
    assert pymc_model.named_vars_to_dims["log_likelihood"] == ("item",)
    assert list(pymc_model.coords["item"]) == data.coords["item"]


@pytest.mark.usefixtures("uncompiled")
def test_the_likelihood_of_an_item_is_that_of_its_labels(data):
    pymc_model = with_data(resolve("dawid-skene"), data)
    rng = np.random.default_rng(1)
    prevalence = rng.dirichlet([2, 2])
    confusion = rng.dirichlet([2, 2], size=(data.n_coders, 2))
    given = {"prevalence": prevalence, "confusion": confusion}
    import pymc as pm

    with pymc_model:
        fixed = pm.do(pymc_model, given)
    found = fixed["log_likelihood"].eval()
    joint = np.tile(np.log(prevalence), (data.n_items, 1))
    for i, j, label in zip(data.item, data.coder, data.label, strict=True):
        joint[i] += np.log(confusion[j, :, label])
    known = data.gold >= 0
    expected = logsumexp(joint, axis=1)
    expected[known] = joint[known, data.gold[known]]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.slow
def test_a_fit_gives_its_model_and_a_stack_says_why_it_has_none(data):
    fit = am.fit(data, "dawid-skene", chains=2, draws=20, warmup=20, seed=1, extend=False)
    assert {v.name for v in fit.to_pymc().free_RVs} >= {"prevalence"}
    with pytest.raises(NotApplicable, match="no one PyMC model"):
        with_data(resolve("stack"), data)
