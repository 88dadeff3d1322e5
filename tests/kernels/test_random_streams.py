"""Random numbers have the distributions they claim and depend on their address only."""

import numpy as np
import pytest
from scipy import stats

# the small steps can be called by compiled code only


@pytest.fixture(scope="module")
def uniform_at():
    import numba

    from annomodels.kernels import random

    step = random.uniform_at
    return numba.njit(lambda key, iteration, purpose, index: step(key, iteration, purpose, index))


@pytest.fixture(scope="module")
def address():
    import numba

    from annomodels.kernels import random

    step = random.address
    return numba.njit(lambda key, iteration, purpose, index: step(key, iteration, purpose, index))


@pytest.fixture(scope="module")
def gammas():
    import numba

    from annomodels.kernels.random import gamma_variate

    @numba.njit
    def draw(seed, shape, out):
        state, pair, left = np.array([seed], dtype=np.uint64), np.empty(2), np.int64(0)
        for n in range(len(out)):
            out[n], left = gamma_variate(state, pair, left, shape)
        return out

    return draw


@pytest.fixture(scope="module")
def log_dirichlets():
    import numba

    from annomodels.kernels.random import log_dirichlet

    @numba.njit
    def draw(seed, alpha, out):
        state, pair = np.array([seed], dtype=np.uint64), np.empty(2)
        for n in range(len(out)):
            log_dirichlet(state, pair, alpha, out[n])
        return out

    return draw


def test_uniform_numbers_are_uniform_and_uncorrelated(uniform_at):
    key = np.uint64(11)
    grid = np.array([[uniform_at(key, i, 1, j) for j in range(200)] for i in range(200)])
    assert stats.kstest(grid.ravel(), "uniform").pvalue > 1e-3
    for shifted in (grid[1:], grid[:, 1:]):
        base = grid[: shifted.shape[0], : shifted.shape[1]]
        r = np.corrcoef(base.ravel(), shifted.ravel())[0, 1]
        assert abs(r) < 4 / np.sqrt(base.size)


def test_addresses_differ_by_key_iteration_purpose_and_index(address):
    seen = {
        int(address(np.uint64(key), iteration, purpose, index))
        for key in (1, 2, 2**63)
        for iteration in range(5)
        for purpose in range(5)
        for index in range(5)
    }
    assert len(seen) == 3 * 5**3


@pytest.mark.parametrize("shape", [1.0, 1.3, 2.5, 80.0])
def test_gamma_numbers_follow_their_distribution(shape, gammas):
    draws = gammas(5, shape, np.empty(50_000))
    assert stats.kstest(draws, stats.gamma(shape).cdf).pvalue > 1e-3


@pytest.mark.parametrize("alpha", [[0.02, 0.4], [1.0, 1.0], [0.7, 3.0], [2.8, 1.2], [45.0, 7.5]])
def test_dirichlet_numbers_of_two_classes_follow_a_beta_distribution(alpha, log_dirichlets):
    draws = np.exp(log_dirichlets(7, np.array(alpha), np.empty((50_000, 2))))
    np.testing.assert_allclose(draws.sum(axis=1), 1.0, atol=1e-12)
    assert stats.kstest(draws[:, 0], stats.beta(*alpha).cdf).pvalue > 1e-3


@pytest.mark.parametrize("alpha", [[0.01, 0.5, 3.0], [1.0, 2.0, 6.0]])
def test_dirichlet_numbers_have_their_moments_even_for_tiny_shapes(alpha, log_dirichlets):
    draws = np.exp(log_dirichlets(9, np.array(alpha), np.empty((50_000, 3))))
    expected = stats.dirichlet(alpha)
    np.testing.assert_allclose(draws.sum(axis=1), 1.0, atol=1e-12)
    error = 4 * np.sqrt(expected.var() / len(draws))
    assert (np.abs(draws.mean(axis=0) - expected.mean()) < error).all()
    np.testing.assert_allclose(draws.var(axis=0), expected.var(), rtol=0.05, atol=2e-4)


def test_tiny_shapes_do_not_underflow(log_dirichlets):
    draws = log_dirichlets(3, np.array([1e-3, 1e-3, 1e-3]), np.empty((20_000, 3)))
    assert np.isfinite(draws).all()
    assert draws.min() < -1000
