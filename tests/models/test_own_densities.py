"""The density of scalar difficulty in loops of our own is that of the PyMC model."""

import dataclasses

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.pymc.nuts import start_point
from annomodels.models.continuous.difficulty_density import DifficultyDensity, density_of
from annomodels.models.continuous.item_covariates import item_kinds
from annomodels.models.encoded import encode
from annomodels.priors import Beta, Dirichlet
from tests.models.densities import built
from tests.models.enumeration import tiny

pytestmark = pytest.mark.slow

SKEWED = Dirichlet(2.0, shares=(0.6, 0.3, 0.1))
CASES = {
    "two labels": (2, am.models.ScalarDifficulty()),
    "vague": (2, am.models.ScalarDifficulty.carpenter()),
    "fixed": (2, am.models.ScalarDifficulty.carpenter(1.0)),
    "no difficulty": (3, am.models.ScalarDifficulty(difficulty=0.0, difficulty_fixed=True)),
    "three labels": (3, am.models.ScalarDifficulty(by_class=True, prevalence=SKEWED)),
    "everything": (
        4,
        am.models.ScalarDifficulty(by_class=True, discrimination=0.5, guessing=Beta(1, 4)),
    ),
    "guessing": (2, am.models.ScalarDifficulty(guessing=Beta(2, 9), nodes=9, accuracy=0.8)),
}
WITHOUT_GOLD = ("two labels", "everything")
cases = pytest.mark.parametrize("case", CASES)


def crowd(case, rng, gold=True):
    k, model = CASES[case]
    data = tiny(rng, n_items=9, n_coders=4, n_labels=k, gold=gold)
    return model.with_data(data), data


def codes_of(model, data):
    return encode(data, shared=model.shared, kind=item_kinds(model))


def pymc_point(density, pymc_model, x):
    """Unconstrained numbers as the PyMC model takes them."""
    free = density.cut(x)
    assert set(free) == {variable.name for variable in pymc_model.free_RVs}
    return {pymc_model.rvs_to_values[pymc_model[name]].name: value for name, value in free.items()}


@pytest.mark.calibration
@cases
def test_value_and_variables_are_those_of_the_pymc_model(case, rng):
    model, data = crowd(case, rng, gold=case not in WITHOUT_GOLD)
    pymc_model = built(model, data)
    density = density_of(model, codes_of(model, data))
    named = [*pymc_model.free_RVs, *pymc_model.deterministics]
    wanted = pymc_model.compile_fn(
        [pymc_model.logp(), *pymc_model.replace_rvs_by_values(named)],
        inputs=pymc_model.value_vars,
        mode="FAST_COMPILE",
    )
    for scale in (0.3, 1.0, 3.0):
        x = scale * rng.normal(size=density.n)
        value, *values = wanted(pymc_point(density, pymc_model, x))
        # PyMC knows the share that is cut off from a normal distribution to some nine digits
        assert density.value(x)[0] == pytest.approx(float(value), rel=1e-10, abs=1e-8)
        found = density.constrained(x)
        assert set(found) == {variable.name for variable in named}
        for variable, expected in zip(named, values, strict=True):
            assert found[variable.name].shape == np.shape(expected)
            np.testing.assert_allclose(found[variable.name], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.calibration
@cases
def test_the_gradient_is_that_of_the_value(case, rng):
    """Against differences of two sides, at points near and far."""
    model, data = crowd(case, rng)
    density = density_of(model, codes_of(model, data))
    for scale in (0.3, 1.0):
        x = scale * rng.normal(size=density.n)
        step = 1e-5 * np.eye(density.n)
        differences = [
            (density.value(x + d)[0] - density.value(x - d)[0]) / 2e-5 for d in step
        ]  # fmt: skip
        gradient = density.value(x)[1]
        np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=2e-6)
        assert np.abs(gradient).min() > 0  # every number moves something


@cases
def test_there_and_back(case, rng):
    model, data = crowd(case, rng)
    density = density_of(model, codes_of(model, data))
    x = rng.normal(size=density.n)
    np.testing.assert_allclose(density.unconstrained(density.constrained(x)), x, atol=1e-12)


@cases
def test_the_start_is_finite(case, rng):
    model, data = crowd(case, rng)
    codes = codes_of(model, data)
    density = density_of(model, codes)
    value, gradient = density.value(density.unconstrained(start_point(model, codes)))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("far", [40.0, 300.0, 800.0])
def test_far_away_the_density_is_low_and_no_error(far, rng):
    """The first steps of NUTS are long: what they meet must turn them back."""
    for case in ("two labels", "everything"):
        model, data = crowd(case, rng)
        density = density_of(model, codes_of(model, data))
        for sign in (-1.0, 1.0):
            value, _ = density.value(np.full(density.n, sign * far))
            assert not value > density.value(np.zeros(density.n))[0]


def test_a_model_that_is_derived_has_its_own_pymc_model(rng):
    @dataclasses.dataclass(frozen=True)
    class Derived(am.models.ScalarDifficulty):
        pass

    codes = encode(tiny(rng))
    assert isinstance(density_of(am.models.ScalarDifficulty(), codes), DifficultyDensity)
    assert density_of(Derived(), codes) is None
    assert density_of(am.models.HierarchicalDawidSkene(), codes) is None
    assert density_of(am.models.ItemDifficulty(), codes) is None
