"""The PyMC model of a fit has its data in it, and a likelihood of each item."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import logsumexp

import annomodels as am
from annomodels.engines.pymc.handed import with_data
from annomodels.engines.pymc.nuts import coords_of
from annomodels.errors import NotApplicable
from annomodels.models import MODELS
from annomodels.models.base import is_proper, n_states
from annomodels.models.catalog import is_stack, resolve
from annomodels.models.encoded import encode
from annomodels.models.parameters import Parameter
from annomodels.priors.distributions import Normal
from annomodels.summaries.draws import thinned
from annomodels.summaries.trust.predictive import Assignment, _replicate, _statistics

OF_CLASSES = sorted(
    name
    for name in MODELS
    if (model := resolve(name)).truth == "class" and not is_stack(model) and is_proper(model)
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


def evaluated(pymc_model, point, *outputs):
    compiled = pymc_model.compile_fn(
        pymc_model.replace_rvs_by_values(list(outputs)),
        inputs=pymc_model.value_vars,
        on_unused_input="ignore",
    )
    return compiled(point)


def moved(pymc_model, seed=4):
    """Give a point away from where everything is alike."""
    rng = np.random.default_rng(seed)
    point = pymc_model.initial_point()
    whole = {each.name for each in pymc_model.discrete_value_vars}
    return {
        name: value if name in whole else value + 0.3 * rng.normal(size=np.shape(value))
        for name, value in point.items()
    }


@pytest.mark.few("dawid-skene", "hierarchical", "scalar-difficulty")
@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", OF_CLASSES)
def test_it_is_the_density_that_is_sampled_with_the_labels_observed(data, name):
    model = resolve(name).with_data(data)
    handed = with_data(model, data)
    coords = coords_of(model, data, "truth", "label", "coder")
    inner = model.build(encode(data, shared=model.shared), coords)
    point = moved(handed)
    (each,) = evaluated(handed, point, handed["log_likelihood"])
    assert set(point) == {value.name for value in inner.value_vars}
    assert each.shape == (data.n_items,)
    assert handed.named_vars_to_dims["log_likelihood"] == ("item",)
    assert list(handed.coords["item"]) == data.coords["item"]
    whole, seen = (
        float(handed.compile_fn(part, inputs=handed.value_vars, on_unused_input="ignore")(point))
        for part in (handed.logp(), handed.logp([handed["labels"]]))
    )
    assert each.sum() == pytest.approx(seen, rel=1e-10)
    assert whole == pytest.approx(float(inner.compile_logp()(point)), rel=1e-9)
    assert [each.name for each in handed.observed_RVs] == ["labels"]
    assert "labels" not in {each.name for each in handed.potentials}
    if name in ("hierarchical", "scalar-difficulty", "beta-binomial-by-item"):
        gradient = handed.compile_dlogp()(point)
        np.testing.assert_allclose(gradient, inner.compile_dlogp()(point), rtol=1e-6, atol=1e-8)


@pytest.mark.few("dawid-skene", "hierarchical", "ambiguous", "scalar-difficulty")
@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", OF_CLASSES)
def test_draws_have_the_names_of_pymc(data, name):
    """What a result keeps of a point of the PyMC model gives all of that point again."""
    labels = 2 if name == "beta-binomial-by-item" else 3
    data = data.replace(labels=tuple(range(labels)))
    model = resolve(name).with_data(data)
    handed = with_data(model, data)
    free = [each.name for each in handed.free_RVs]
    variables = [*handed.free_RVs, *handed.deterministics]
    found = evaluated(handed, moved(handed), *variables)
    values = dict(zip([each.name for each in variables], found, strict=True))
    kept = model.result_values(dict(values)) if n_states(model, labels) else dict(values)
    declared = {each.name for each in model.parameters(labels)}
    kept = {name: value for name, value in kept.items() if name in declared}
    again = model.pymc_values({name: np.asarray(value)[None] for name, value in kept.items()})
    assert not set(free) - set(again)
    for name in free:
        np.testing.assert_allclose(again[name][0], values[name], rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.slow
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
    draws = fit.pymc_draws()["posterior"]
    kept = fit.tree["posterior"]
    assert draws["confusion"].dims == kept["confusion"].dims
    np.testing.assert_allclose(draws["confusion"], kept["confusion"])
    with pytest.raises(NotApplicable, match="not a single PyMC model"):
        with_data(resolve("stack"), data)


def test_a_result_that_lacks_a_variable_says_which(data):
    @dataclass(frozen=True)
    class Forgetful(am.models.DawidSkene):
        def variables(self, n_labels):
            mood = Parameter("mood", ("coder",), prior=Normal(0.0, 1.0), kept=False)
            return (*super().variables(n_labels), mood)

    fit = am.fit(data, Forgetful(), chains=2, draws=20, warmup=20, seed=1, extend=False)
    with pytest.raises(NotApplicable, match=r"no draws of mood.*variables.*pymc_values"):
        fit.pymc_draws()


# -- labels drawn anew ---------------------------------------------------------------------------

KINDS = [
    "dawid-skene", "ambiguous", "beta-binomial-by-item", "logistic-random-effects", "logit-normal",
]  # fmt: skip


@pytest.mark.few("dawid-skene-True")
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled", "uncompiled")
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_labels_drawn_by_pymc_are_those_of_the_predictive_checks(data, name, known):
    """Use of labels by coder, agreement of pairs and votes: means within Monte Carlo error.

    Both draw labels for the same parameters, which need not be of the posterior.
    """
    import pymc as pm

    if not known:
        data = data.replace(gold=None)
    fit = am.fit(data, name, chains=2, draws=400, warmup=200, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = pm.sample_posterior_predictive(
            fit.pymc_draws(), model=fit.to_pymc(), progressbar=False, random_seed=5
        )
    labels = drawn["posterior_predictive"]["labels"]
    assert labels.dims == ("chain", "draw", "annotation")
    assert labels.shape == (*fit.tree["sample_stats"]["lp"].shape, len(data))
    design = Assignment(data)
    theirs = [_statistics(design, row) for row in labels.values.reshape(-1, len(data))]
    draws = thinned(fit.tree, data)
    ours = _replicate(draws, design, np.random.default_rng(1), 3)
    for kind in ("uses", "pairs", "cells", "agreement"):
        a, b = np.stack([each[kind] for each in theirs]), ours[kind]
        error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b)) + 1e-9
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) / error).max() < 4.5, kind
        assert a.std(axis=0) == pytest.approx(b.std(axis=0), rel=0.25, abs=0.02), kind


@pytest.mark.usefixtures("uncompiled")
def test_it_gives_prior_predictive_labels(data):
    import pymc as pm

    with with_data(resolve("dawid-skene"), data):
        prior = pm.sample_prior_predictive(20, random_seed=1)
    drawn = prior["prior_predictive"]["labels"]
    assert drawn.shape == (1, 20, len(data))
    assert set(np.unique(drawn)) == {0, 1}
    assert prior["prior"]["confusion"].shape == (1, 20, data.n_coders, 2, 2)


@pytest.mark.nuts
@pytest.mark.full("Compiles for a minute; reduced runs have the densities and labels drawn anew.")
def test_pymc_samples_it_as_it_is(data):
    import pymc as pm

    fit = am.fit(data, "dawid-skene", chains=2, draws=1000, seed=1)
    with fit.to_pymc():
        drawn = pm.sample(300, tune=300, chains=2, cores=1, random_seed=1, progressbar=False)
    found = drawn["posterior"]
    assert found["log_likelihood"].shape == (2, 300, data.n_items)
    mean, spread = (float(fit.tree["posterior"]["confusion"][..., 0, 0, 0].mean()), 0.02)
    assert float(found["confusion"][..., 0, 0, 0].mean()) == pytest.approx(mean, abs=3 * spread)
