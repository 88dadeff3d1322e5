"""Steps of the accuracy that all rows share leave its posterior unchanged, and move far."""

import numba
import numpy as np
import pytest
from scipy.special import betaln, gammaln, logsumexp

from annomodels.kernels.common_accuracy import (
    draw_accuracy,
    draw_common,
    draw_strength,
    fill_anchor,
)
from annomodels.kernels.population import draw_population
from annomodels.priors import Diagonal, LogNormal

pytestmark = pytest.mark.slow

CONCENTRATION = LogNormal(10.0, 1.0)
ROWS = np.array([[[8, 2], [1, 6]], [[5, 0], [2, 2]], [[3, 3], [0, 9]], [[0, 0], [1, 1]]])


def posterior(strength, beta, spread=0.0, rows=ROWS):
    """Mean of common accuracy, its square, m[0, 0] and m[1, 1], summed over a grid."""
    z = np.linspace(-5.0, 5.0, 41) if spread else np.zeros(1)
    strengths, weight = strength * np.exp(spread * z), np.exp(-0.5 * z**2)
    a = np.linspace(0.01, 0.99, 99)[:, None, None]
    m = np.linspace(0.0025, 0.9975, 200)[None, :, None]
    log_c = np.linspace(np.log(0.05), np.log(2e3), 80)[None, None, :]
    c = np.exp(log_c)
    log_m, log_rest = np.log(m), np.log1p(-m)
    prior = logsumexp(
        [
            (s * a - 1) * log_m + (s * (1 - a) - 1) * log_rest - betaln(s * a, s * (1 - a))
            for s in strengths
        ],
        b=(weight / weight.sum())[:, None, None, None],
        axis=0,
    )
    log_a = (beta[0] - 1) * np.log(a) + (beta[1] - 1) * np.log1p(-a)
    parts, means = [], []
    for k in range(2):
        logp = CONCENTRATION.logp(c) + log_c
        for row in rows:
            right, wrong = row[k, k], row[k, 1 - k]
            logp = logp + gammaln(c * m + right) - gammaln(c * m) - gammaln(c + right + wrong)
            logp = logp + gammaln(c * (1 - m) + wrong) - gammaln(c * (1 - m)) + gammaln(c)
        logp = logp + prior
        parts.append(logsumexp(logp, axis=(1, 2)))
        means.append(
            np.exp(logsumexp(logp, b=np.broadcast_to(m, logp.shape), axis=(1, 2)) - parts[-1])
        )
    total = log_a[:, 0, 0] + parts[0] + parts[1]
    w = np.exp(total - logsumexp(total))
    a = a[:, 0, 0]
    return np.array([w @ a, w @ a**2, w @ means[0], w @ means[1]])


@numba.njit
def chain(counts, scale, numbers, joint, draws):
    mean, concentration = np.full((2, 2), 0.5), np.full(2, 5.0)
    accuracy, anchor = np.full(1, 0.5), np.empty((2, 2))
    strength = np.full(2, numbers[0])
    member = np.zeros(len(counts), dtype=np.int64)
    out = np.empty((draws, 4))
    for n in range(draws):
        fill_anchor(accuracy[0], strength, anchor)
        draw_population(counts, member, 0, anchor, scale, 1, np.uint64(3), n, mean, concentration)
        if joint:
            draw_common(
                counts, member, 0, mean, concentration, accuracy, strength, numbers, np.uint64(3), n
            )
        else:
            accuracy[0] = draw_accuracy(
                mean, numbers[1], numbers[2], strength, np.uint64(3), n, accuracy[0]
            )
        if numbers[4] > 0:
            draw_strength(mean, accuracy[0], strength, numbers, np.uint64(3), n)
        out[n] = accuracy[0], accuracy[0] ** 2, mean[0, 0], mean[1, 1]
    return out


def sampled(strength, beta, *, joint, draws, spread=0.0, rows=ROWS):
    counts = np.ascontiguousarray(rows.transpose(0, 2, 1))
    scale = np.array(CONCENTRATION.coefficients())
    return chain(counts, scale, np.array([strength, *beta, 1.0, spread]), joint, draws)


@pytest.mark.few("40.0")
@pytest.mark.parametrize("strength", [4.0, 40.0, 300.0])
def test_draws_agree_with_a_grid(strength):
    prior = Diagonal(strength, 0.7, 10.0).beta
    beta = prior.a, prior.b
    draws = sampled(strength, beta, joint=True, draws=60_000)
    batches = draws.reshape(50, -1, 4).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(50)
    assert (np.abs(draws.mean(axis=0) - posterior(strength, beta)) < 4.5 * error + 1e-3).all()


@pytest.mark.calibration
def test_draws_of_the_strength_agree_with_a_grid():
    # the coders take the second class for the first: its strength falls, and its mean is free
    rows = np.array([[[8, 1], [5, 4]], [[9, 0], [6, 2]], [[7, 2], [5, 3]], [[9, 1], [8, 3]]])
    prior = Diagonal(300.0, 0.7, 10.0).beta
    beta = prior.a, prior.b
    draws = sampled(300.0, beta, joint=True, draws=120_000, spread=1.2, rows=rows)
    batches = draws.reshape(50, -1, 4).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(50)
    wanted = posterior(300.0, beta, 1.2, rows)
    assert np.abs(wanted - posterior(300.0, beta, rows=rows)).max() > 0.02
    assert (np.abs(draws.mean(axis=0) - wanted) < 4.5 * error + 1e-3).all()


def test_a_strong_prior_does_not_hold_the_accuracy_in_place():
    def next_to_each_other(joint):
        a = sampled(300.0, (7.0, 3.0), joint=joint, draws=20_000)[:, 0]
        return np.corrcoef(a[10:], a[:-10])[0, 1]

    assert next_to_each_other(joint=False) > 0.3
    assert next_to_each_other(joint=True) < 0.1
