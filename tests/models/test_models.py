"""Models are immutable values: comparable, printable, and they survive being written down."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import annomodels as am
from annomodels.models import MODELS, from_dict, resolve
from annomodels.models.encoded import encode
from annomodels.priors import Beta, Diagonal, Dirichlet, LogNormal, Pareto


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_a_value(name):
    model = resolve(name)
    assert model == resolve(name)
    assert from_dict(model.to_dict()) == model
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.prevalence = Dirichlet(2.0)
    assert len(model.describe()) >= 3
    assert set(model.engines) <= {"gibbs", "nuts", "em"}


def test_a_changed_prior_survives_being_written_down():
    model = am.models.HierarchicalDawidSkene(Dirichlet(2), Diagonal(50, 0.8), Pareto(1.5, 1.0))
    assert from_dict(model.to_dict()) == model
    assert model != am.models.HierarchicalDawidSkene()


def test_models_are_named_as_they_are_asked_for():
    assert [resolve(name).name for name in MODELS] == list(MODELS)


def test_unknown_models_and_engines_are_named_with_what_there_is():
    data = am.datasets.load("anesthesia")
    with pytest.raises(
        am.errors.NotApplicable, match=r"stack, hierarchical, dawid-skene, .* for research"
    ):
        am.fit(data, "bayes")
    with pytest.raises(am.errors.NotApplicable, match="auto, gibbs, nuts, em"):
        am.fit(data, "hierarchical", engine="stan")
    with pytest.raises(am.errors.NotApplicable, match="does not support"):
        am.fit(data, "logit-normal", engine="gibbs")
    with pytest.raises(am.errors.NotApplicable, match="proper priors"):
        am.fit(data, am.models.DawidSkene.unsmoothed(), engine="gibbs")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Dirichlet(-1.0),
        lambda: Diagonal(4, 1.0),
        lambda: Diagonal(float("nan"), 0.7),
        lambda: LogNormal(0.0, 1.0),
        lambda: Pareto(0.0, 1.0),
        lambda: Beta(0.0, 1.0),
        lambda: Beta(1.0, float("inf")),
    ],
)
def test_impossible_priors_are_refused(make):
    with pytest.raises(ValueError, match="needs"):
        make()


@pytest.mark.parametrize("prior", [LogNormal(10, 1), LogNormal(3, 0.5), Pareto(1.5, 1.0)])
def test_scale_priors_integrate_to_one_and_match_their_coefficients(prior, rng):
    log_x = np.linspace(np.log(max(prior.coefficients()[3], 1e-6)), np.log(1e9), 400_001)
    density = np.exp(prior.logp(np.exp(log_x)) + log_x)
    assert np.trapezoid(density, log_x) == pytest.approx(1.0, abs=1e-4)
    a, b, c, lower = prior.coefficients()
    x = lower + rng.lognormal(1, 1, 50)
    np.testing.assert_allclose(a + b * np.log(x) + c * np.log(x) ** 2, prior.logp(x), rtol=1e-9)
    draws = prior.sample(rng, (20_000,))
    below = np.mean(draws < np.exp(np.median(np.log(draws))))
    assert draws.min() >= prior.coefficients()[3]
    assert below == pytest.approx(0.5, abs=0.01)


def test_population_mode_is_a_stationary_point(rng):
    from annomodels.models.population import _loss

    n = rng.poisson(4, (7, 3)).astype(float)
    x = rng.normal(0, 1, 4)
    args = (n, n.sum(axis=1), np.array([3.0, 1.0, 1.0]), 1.3, -0.5)
    value, gradient = _loss(x, *args)
    assert np.isfinite(value)
    np.testing.assert_allclose(
        gradient, approx_fprime(x, lambda z: _loss(z, *args)[0], 1e-6), rtol=1e-4, atol=1e-4
    )


def test_equal_items_are_collapsed_with_their_multiplicity():
    data = am.datasets.load("caries")
    codes = encode(data)
    assert codes.n_patterns == 32
    assert codes.weight.sum() == data.n_items == 3869
    sizes = np.bincount(codes.inverse)
    np.testing.assert_array_equal(sizes, codes.weight)
    for item in (0, 100, 3868):
        of_item = slice(data.starts[item], data.starts[item + 1])
        pattern = codes.inverse[item]
        of_pattern = slice(codes.starts[pattern], codes.starts[pattern + 1])
        mine = sorted(zip(data.coder[of_item], data.label[of_item], strict=True))
        assert mine == sorted(zip(codes.row[of_pattern], codes.label[of_pattern], strict=True))
