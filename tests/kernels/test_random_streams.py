"""Random numbers have the distributions they claim and depend on their address only."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats


def _stream(seed: int) -> np.ndarray:
    return np.array([seed], dtype=np.uint64)


def test_uniform_numbers_are_uniform_and_uncorrelated():
    from annomodels.kernels.random import uniform_at

    key = np.uint64(11)
    grid = np.array([[uniform_at(key, i, 1, j) for j in range(200)] for i in range(200)])
    assert stats.kstest(grid.ravel(), "uniform").pvalue > 1e-3
    for shifted in (grid[1:], grid[:, 1:]):
        base = grid[: shifted.shape[0], : shifted.shape[1]]
        r = np.corrcoef(base.ravel(), shifted.ravel())[0, 1]
        assert abs(r) < 4 / np.sqrt(base.size)


def test_addresses_differ_by_key_iteration_purpose_and_index():
    from annomodels.kernels.random import address

    seen = {
        int(address(np.uint64(key), iteration, purpose, index))
        for key in (1, 2, 2**63)
        for iteration in range(5)
        for purpose in range(5)
        for index in range(5)
    }
    assert len(seen) == 3 * 5**3


@pytest.mark.parametrize("shape", [0.02, 0.4, 1.0, 2.5, 80.0])
def test_gamma_numbers_follow_their_distribution(shape):
    from annomodels.kernels.random import log_gamma_variate

    state, pair = _stream(5), np.empty(2)
    left, draws = 0, np.empty(20_000)
    for n in range(len(draws)):
        draws[n], left = log_gamma_variate(state, pair, left, shape)
    assert np.isfinite(draws).all()
    assert stats.kstest(draws, stats.loggamma(shape).cdf).pvalue > 1e-3


def test_dirichlet_numbers_have_their_moments_even_for_tiny_shapes():
    from annomodels.kernels.random import log_dirichlet

    alpha = np.array([0.01, 0.5, 3.0])
    state, pair, out = _stream(9), np.empty(2), np.empty(3)
    draws = np.empty((20_000, 3))
    for n in range(len(draws)):
        log_dirichlet(state, pair, alpha, out)
        draws[n] = np.exp(out)
    expected = stats.dirichlet(alpha)
    np.testing.assert_allclose(draws.sum(axis=1), 1.0, atol=1e-12)
    error = 4 * np.sqrt(expected.var() / len(draws))
    assert (np.abs(draws.mean(axis=0) - expected.mean()) < error).all()
    np.testing.assert_allclose(draws.var(axis=0), expected.var(), rtol=0.05, atol=2e-4)
