"""R-hat and effective sample sizes equal those of arviz-stats, for chains of every kind."""

import numpy as np
import pytest

from annomodels.data.mixing import ess, rhat


def autoregressive(rng, chains, draws, parameters, rho):
    noise = rng.normal(size=(chains, draws, parameters))
    out = np.empty_like(noise)
    out[:, 0] = noise[:, 0]
    for n in range(1, draws):
        out[:, n] = rho * out[:, n - 1] + np.sqrt(1 - rho**2) * noise[:, n]
    return out


def by_arviz(draws, name):
    from arviz_stats.base import array_stats

    columns = np.ascontiguousarray(np.moveaxis(draws, 2, 0))
    return getattr(array_stats, name)(columns, chain_axis=1, draw_axis=2)


def equal_to_arviz(draws):
    # With so few digits, distances from the median have no rounding error. Otherwise arviz ranks
    # the two in the middle, which are equally far from it, by the error.
    draws = np.round(draws * 2.0**30) / 2.0**30
    np.testing.assert_allclose(rhat(draws), by_arviz(draws, "rhat"), rtol=1e-10)
    np.testing.assert_allclose(ess(draws), by_arviz(draws, "ess"), rtol=1e-9)


@pytest.mark.parametrize("rho", [-0.9, -0.3, 0.0, 0.5, 0.95, 0.999])
@pytest.mark.parametrize("size", [(1, 40), (2, 101), (4, 250), (3, 1000)])
def test_vehtari_et_al_2021_on_autoregressive_chains(rho, size, rng):
    equal_to_arviz(autoregressive(rng, *size, 5, rho))


@pytest.mark.parametrize("draws", [4, 5, 6, 7, 8, 9, 11])
def test_very_short_chains(draws, rng):
    equal_to_arviz(rng.normal(size=(3, draws, 20)))


def test_ties_and_chains_that_disagree(rng):
    equal_to_arviz(rng.integers(0, 4, (4, 200, 5)).astype(float))
    equal_to_arviz(rng.normal(size=(4, 200, 3)) + np.arange(4)[:, None, None])
    equal_to_arviz(rng.normal(size=(4, 200, 3)) * np.arange(1, 5)[:, None, None])
    equal_to_arviz(rng.standard_cauchy((4, 300, 3)))


def test_rounding_errors_rank_nothing(rng):
    draws = autoregressive(rng, 4, 100, 50, 0.5)
    for unit in (3.0, 0.1, 1 / 7):
        np.testing.assert_allclose(rhat(draws * unit), rhat(draws), rtol=1e-12)
        np.testing.assert_allclose(ess(draws * unit), ess(draws), rtol=1e-10)


def test_what_never_varies_or_is_too_short_has_no_value(rng):
    draws = rng.normal(size=(2, 50, 3))
    draws[:, :, 1] = 7.0
    assert np.isnan(rhat(draws)).tolist() == [False, True, False]
    assert np.isnan(ess(draws)).tolist() == [False, True, False]
    assert np.isnan(ess(draws[:, :3])).all()
    assert ess(draws[:, :, :0]).shape == (0,)


def test_many_parameters_go_through_in_blocks(rng, monkeypatch):
    from annomodels.data import mixing

    draws = autoregressive(rng, 2, 60, 30, 0.5)
    whole = rhat(draws), ess(draws)
    monkeypatch.setattr(mixing, "BLOCK", 2 * 60 * 4)
    np.testing.assert_array_equal(rhat(draws), whole[0])
    np.testing.assert_array_equal(ess(draws), whole[1])
