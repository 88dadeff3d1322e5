"""What other priors would change: against fits with such priors, and for every model."""

import numpy as np
import pytest
from scipy.stats import beta, dirichlet, lognorm

import annomodels as am
from annomodels.models.answering import answers_of
from annomodels.models.catalog import MODELS
from annomodels.models.continuous.item_covariates import item_kinds
from annomodels.models.encoded import encode
from annomodels.priors import Diagonal, Dirichlet
from annomodels.priors.shares import inside
from annomodels.summaries.trust import priors
from annomodels.summaries.trust.held_out import power_sensitivity, smoothed
from annomodels.summaries.trust.priors import log_chosen_priors


def by_pymc(model, data, values, names):
    """Log density of some variables by the PyMC model, [sample]."""
    from pymc.model.transform.conditioning import remove_value_transforms

    known = data.coords
    coords = {dim: known[dim] for dim in ("truth", "label", "coder")}
    coords |= model.coords(coords["label"])
    codes = encode(data, shared=model.shared, kind=item_kinds(model))
    defined = remove_value_transforms(model.build(codes, coords))
    logp = defined.compile_fn(
        defined.logp([defined[name] for name in names]),
        inputs=defined.value_vars,
        mode="FAST_COMPILE",
        on_unused_input="ignore",
    )
    whole = {each.name for each in defined.discrete_value_vars}
    point = {defined.rvs_to_values[rv].name: values[rv.name] for rv in defined.free_RVs}
    point = {name: v.astype(int) if name in whole else v for name, v in point.items()}
    draws = range(len(values["prevalence"]))
    return np.array([logp({name: v[draw] for name, v in point.items()}) for draw in draws])


POWERS = {"weaker": 0.8, "stronger": 1.25}


def simulated(n_coders):
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=15)
    right = rng.random((15, n_coders)) < 0.75
    rows = [(i, j, int(truth[i] == right[i, j])) for i in range(15) for j in range(n_coders)]
    return am.Annotations.from_records(rows)


@pytest.fixture(scope="module")
def small():
    return simulated(4)


@pytest.fixture(autouse=True)
def all_draws(monkeypatch):
    """Look at all draws, so that these two ways to say the same differ by little."""
    monkeypatch.setattr(priors, "MOST_DRAWS", 40_000)


def test_what_is_weighed_in_the_hierarchical_model(small):
    model = am.models.HierarchicalDawidSkene()
    rng = np.random.default_rng(1)
    drawn = [model.pymc_start(model.sample_parameters(4, 2, rng)) for _ in range(5)]
    values = {name: np.stack([each[name] for each in drawn]) for name in drawn[0]}
    found, weighed = log_chosen_priors(model, small, values)
    assert set(weighed) == {"prevalence", "common_accuracy", "population", "concentration"}
    for n, v in enumerate(drawn):
        a = float(v["common_accuracy"])
        wanted = dirichlet.logpdf(v["prevalence"], [1.0, 1.0]) + beta.logpdf(a, 7.0, 3.0)
        wanted += dirichlet.logpdf(v["population"][0], [300 * a, 300 * (1 - a)])
        wanted += dirichlet.logpdf(v["population"][1], [300 * (1 - a), 300 * a])
        wanted += lognorm.logpdf(v["concentration"], s=0.7, scale=5.0).sum()
        assert found[n] == pytest.approx(wanted, abs=1e-6)


def test_shares_that_were_rounded_to_nothing(small):
    values = {
        "prevalence": np.array([[1.0, 0.0]]),
        "accuracy": np.array([[1.0, 0.0, 0.5, 0.9]]),
    }
    found, weighed = log_chosen_priors(am.models.OneCoin(), small, values)
    assert weighed == ["prevalence", "accuracy"]
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    "model",
    [
        am.models.HierarchicalDawidSkene(),
        am.models.HierarchicalDawidSkene.carpenter(),
        am.models.HierarchicalDawidSkene(population=Diagonal(300.0, 0.7, 10.0, spread=1.0)),
        am.models.HierarchicalDawidSkene(population=Diagonal(50.0, 0.8, spread=0.5)),
        am.models.Stack(),
    ],
)
def test_priors_that_a_model_says_are_those_of_its_definition(model, small):
    rng = np.random.default_rng(2)
    drawn = [model.pymc_start(model.sample_parameters(4, 2, rng)) for _ in range(5)]
    values = {name: np.stack([each[name] for each in drawn]) for name in drawn[0]}
    values["population"][0, 0] = 1.0, 0.0
    found, weighed = log_chosen_priors(model, small, values)
    values["population"] = inside(values["population"])
    wanted = by_pymc(answers_of(model), small, values, weighed)
    # PyMC computes the constant of a Beta with whole numbers in single precision
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-6)
    np.testing.assert_allclose(found - found[0], wanted - wanted[0], rtol=1e-9, atol=1e-9)


def drawn_from_priors(model, data, n=3):
    """Draws of the variables of the result from the PyMC model, [sample, ...]."""
    import pymc as pm

    known = data.coords
    coords = {dim: known[dim] for dim in ("truth", "label", "coder")}
    coords |= model.coords(coords["label"])
    defined = model.build(encode(data, shared=model.shared), coords)
    variables = [*defined.free_RVs, *defined.deterministics]
    arrays = pm.draw(variables, draws=n, random_seed=1, mode="FAST_COMPILE")
    each = [
        model.result_values({v.name: a[i] for v, a in zip(variables, arrays, strict=True)})
        for i in range(n)
    ]
    return {key: np.stack([np.asarray(values[key]) for values in each]) for key in each[0]}


@pytest.mark.calibration
@pytest.mark.parametrize("name", list(MODELS))
def test_priors_of_every_model_are_found(name, small):
    model = MODELS[name]().with_data(small)
    values = drawn_from_priors(model, small)
    found, weighed = log_chosen_priors(model, small, values)
    assert np.isfinite(found).all()
    wanted = by_pymc(model, small, model.pymc_values(values), weighed)
    np.testing.assert_allclose(found - found[0], wanted - wanted[0], rtol=1e-6, atol=1e-6)
    assert len(set(found)) == 3
    assert "prevalence" in weighed
    assert len(weighed) >= 2


@pytest.mark.calibration
def test_weighing_agrees_with_fitting_again(small):
    def fit(power):
        right, wrong = power * (5.6 - 1) + 1, power * (2.4 - 1) + 1
        rows = Diagonal(right + wrong, right / (right + wrong))
        model = am.models.Pooled(Dirichlet(power * (6.0 - 1) + 1), rows)
        return am.fit(small, model, chains=4, draws=8000, seed=1)

    fitted = fit(1.0)
    found = fitted.prior_sensitivity()
    assert "The draws were reweighted" in found.notes[0]
    table = found.table.set_index(["what", "name"])
    for column, power in POWERS.items():
        again = fit(power)
        posterior = again.tree["posterior"]
        for k in (0, 1):
            wanted = float(posterior["prevalence"].values[..., k].mean())
            assert table.loc[("prevalence", str(k)), column] == pytest.approx(wanted, abs=0.005)
        wanted = again.coders().table["accuracy"].iloc[0]
        mean = fitted.coders().table["accuracy"].iloc[0]
        assert table.loc[("accuracy", "0"), column] == pytest.approx(wanted, abs=0.003)
        assert abs(wanted - mean) > 0.003  # else the line above would hold without weights


def test_where_few_draws_would_carry_the_weight_the_change_is_to_first_order():
    rng = np.random.default_rng(1)
    log_prior = -5.0 * rng.standard_exponential(2000)  # weaker priors: weights without a variance
    weights = priors._weights(log_prior)
    assert not weights.reliable
    x = rng.normal(log_prior, 3.0)
    covariance = np.cov(x, log_prior, ddof=0)[0, 1]
    for weight, power in ((weights.weaker, 0.8), (weights.stronger, 1.25)):
        assert weight.sum() == pytest.approx(1.0)
        assert weight @ x == pytest.approx(x.mean() + (power - 1.0) * covariance)
    assert priors._weights(0.1 * log_prior).reliable


@pytest.mark.parametrize("scale", [0.01, 0.5, 5.0])
@pytest.mark.parametrize("n", [60, 1000])
def test_weights_are_smoothed_and_distances_measured_as_arviz_does(scale, n):
    from arviz_stats.base import array_stats

    rng = np.random.default_rng(1)
    ratios, values = scale * rng.standard_normal(n), rng.standard_normal(n)
    found, k = smoothed(ratios)
    wanted, wanted_k = array_stats.psislw(-ratios)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert k == pytest.approx(float(wanted_k), rel=1e-12)
    pair = np.exp(smoothed(0.01 * ratios)[0]), np.exp(smoothed(-0.01 * ratios)[0])
    one_chain = [part[None, None] for part in (values, *pair)]
    slope = array_stats.power_scale_sense(*one_chain, 0.99, 1.01)[0]
    assert power_sensitivity(values, pair, (0.99, 1.01)) == pytest.approx(slope, rel=1e-12)


def test_weights_that_cannot_be_smoothed():
    with pytest.raises(ValueError, match="too few"):
        smoothed(np.arange(20.0))
    with pytest.raises(ValueError, match="are the same"):
        smoothed(np.zeros(100))


@pytest.mark.slow
def test_few_labels_are_sensitive_and_many_are_not():
    rows = [(i, j, (i + (j == 3) * (i % 3 == 0)) % 2) for i in range(400) for j in range(5)]
    many = am.fit(am.Annotations.from_records(rows), "pooled", seed=1).prior_sensitivity()
    few = am.fit(am.Annotations.from_records(rows[:20]), "pooled", seed=1).prior_sensitivity()
    assert not many.table["sensitive"].any()
    assert "No result is sensitive" in many.notes[1]
    assert "None of the 400 gold labels" in many.notes[2]
    assert few.table["sensitive"].any()
    assert "Sensitive to the priors" in few.notes[1]


@pytest.mark.slow
def test_one_value_tells_nothing(small):
    found = am.fit(small, engine="em", starts=1).prior_sensitivity()
    assert found.table.empty
    assert "Too few draws" in found.notes[0]
