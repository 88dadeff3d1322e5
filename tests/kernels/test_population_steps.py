"""Slice steps for the population leave its Dirichlet-multinomial posterior unchanged."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from annomodels.priors import LogNormal, Pareto


def _grid_posterior(counts, anchor, prior):
    """Mean of (m, log c) by brute force on a grid, for two labels."""
    m = np.linspace(0.0025, 0.9975, 200)[:, None]
    log_c = np.linspace(np.log(max(prior.coefficients()[3], 1e-2)), np.log(1e4), 400)[None, :]
    c = np.exp(log_c)
    a, b = c * m, c * (1 - m)
    logp = (anchor[0] - 1) * np.log(m) + (anchor[1] - 1) * np.log1p(-m)
    logp = logp + prior.logp(c) + log_c
    for x, y in counts:
        logp = logp + gammaln(a + x) - gammaln(a) + gammaln(b + y) - gammaln(b)
        logp = logp - gammaln(c + x + y) + gammaln(c)
    w = np.exp(logp - logsumexp(logp))
    return (w * m).sum(), (w * log_c).sum()


@pytest.mark.few(f"rows beyond the table-{LogNormal(10.0, 1.0)!r}")
@pytest.mark.slow
@pytest.mark.parametrize("prior", [LogNormal(10.0, 1.0), Pareto(1.5, 1.0)], ids=repr)
@pytest.mark.parametrize("busy", [False, True], ids=["short rows", "rows beyond the table"])
def test_population_draws_agree_with_a_grid(prior, busy):
    from annomodels.kernels.population import CAP, draw_population

    counts = np.array([[8, 2], [5, 0], [3, 3], [0, 0], [9, 4]])
    if busy:
        counts = np.vstack([counts, [[CAP + 90, CAP + 10], [CAP - 1, 40]]])
    anchor = np.array([3.0, 1.5])
    table = np.zeros((len(counts), 2, 2), dtype=np.int64)
    table[:, :, 0] = counts
    mean, concentration = np.full((2, 2), 0.5), np.full(2, 5.0)
    anchors = np.stack([anchor, anchor[::-1]])
    scale = np.array(prior.coefficients())
    # the last coder is of another group
    member = np.append(np.zeros(len(counts), dtype=np.int64), 1)
    table = np.concatenate([table, np.full((1, 2, 2), 50)])
    draws = np.empty((30_000, 2))
    for n in range(len(draws)):
        draw_population(table, member, 0, anchors, scale, 1, np.uint64(3), n, mean, concentration)
        draws[n] = mean[0, 0], np.log(concentration[0])
    expected = _grid_posterior(counts, anchor, prior)
    batches = draws.reshape(50, -1, 2).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(50)
    assert (np.abs(draws.mean(axis=0) - expected) < 4.5 * error + 2e-3).all()


@pytest.mark.slow
def test_population_density_matches_the_dirichlet_multinomial(rng):
    import numba

    from annomodels.kernels.population import CAP, log_density, tally

    # a small step, which compiled code alone may call
    @numba.njit
    def density(phi, anchor, scale, above, high, n_high, longest, out):
        return log_density(
            phi, anchor, scale, above, high, n_high, longest, np.full(2, np.nan), out
        )

    counts = rng.poisson(3, (6, 3, 3)).astype(np.int64)
    counts[0, 1, 1] = CAP + 30
    above, high = np.zeros((4, CAP)), np.zeros((4, 6), dtype=np.int64)
    n_high, out = np.zeros(4, dtype=np.int64), np.empty(3)
    member = np.zeros(len(counts), dtype=np.int64)
    longest = tally(counts, member, 0, 1, above, high, n_high)
    anchor, prior = np.array([2.0, 5.0, 1.0]), LogNormal(10, 1)

    def fast(phi):
        scale = np.array(prior.coefficients())
        return density(phi, anchor, scale, above, high, n_high, longest, out)

    def slow(phi):
        m = np.exp(np.append(phi[:2], 0.0))
        m, c = m / m.sum(), np.exp(phi[2])
        n = counts[:, :, 1]
        value = prior.logp(c) + phi[2] + (anchor * np.log(m)).sum()
        value += (gammaln(c * m + n) - gammaln(c * m)).sum()
        return value - (gammaln(c + n.sum(axis=1)) - gammaln(c)).sum()

    points = rng.normal(0, 1, (20, 3))
    np.testing.assert_allclose([fast(p) for p in points], [slow(p) for p in points], rtol=1e-10)
