"""Steps of the accuracy that all rows share leave its posterior unchanged, and move far."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.special import betaln, gammaln, logsumexp

from annomodels.kernels.common_accuracy import draw_accuracy, draw_common, fill_anchor
from annomodels.kernels.population import draw_population
from annomodels.priors import Diagonal, LogNormal

pytestmark = pytest.mark.slow

CONCENTRATION = LogNormal(10.0, 1.0)
ROWS = np.array([[[8, 2], [1, 6]], [[5, 0], [2, 2]], [[3, 3], [0, 9]], [[0, 0], [1, 1]]])


def posterior(strength, beta):
    """Mean of common accuracy, its square, m[0, 0] and m[1, 1], summed over a grid."""
    a = np.linspace(0.01, 0.99, 99)[:, None, None]
    m = np.linspace(0.0025, 0.9975, 200)[None, :, None]
    log_c = np.linspace(np.log(0.05), np.log(2e3), 80)[None, None, :]
    c = np.exp(log_c)
    on, off = strength * a, strength * (1 - a)
    prior = (on - 1) * np.log(m) + (off - 1) * np.log1p(-m) - betaln(on, off)
    log_a = (beta[0] - 1) * np.log(a) + (beta[1] - 1) * np.log1p(-a)
    parts, means = [], []
    for k in range(2):
        logp = CONCENTRATION.logp(c) + log_c
        for row in ROWS:
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
    out = np.empty((draws, 4))
    for n in range(draws):
        fill_anchor(accuracy[0], numbers[0], anchor)
        draw_population(counts, anchor, scale, 1, np.uint64(3), n, mean, concentration)
        if joint:
            draw_common(counts, mean, concentration, accuracy, numbers, np.uint64(3), n)
        else:
            accuracy[0] = draw_accuracy(
                mean, numbers[1], numbers[2], numbers[0], np.uint64(3), n, accuracy[0]
            )
        out[n] = accuracy[0], accuracy[0] ** 2, mean[0, 0], mean[1, 1]
    return out


def sampled(strength, beta, *, joint, draws):
    counts = np.ascontiguousarray(ROWS.transpose(0, 2, 1))
    scale = np.array(CONCENTRATION.coefficients())
    return chain(counts, scale, np.array([strength, *beta, 1.0]), joint, draws)


@pytest.mark.parametrize("strength", [4.0, 40.0, 300.0])
def test_draws_agree_with_a_grid(strength):
    beta = Diagonal(strength, 0.7, 10.0).beta
    draws = sampled(strength, beta, joint=True, draws=60_000)
    batches = draws.reshape(50, -1, 4).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(50)
    assert (np.abs(draws.mean(axis=0) - posterior(strength, beta)) < 4.5 * error + 1e-3).all()


def test_a_strong_prior_does_not_hold_the_accuracy_in_place():
    def next_to_each_other(joint):
        a = sampled(300.0, (7.0, 3.0), joint=joint, draws=20_000)[:, 0]
        return np.corrcoef(a[10:], a[:-10])[0, 1]

    assert next_to_each_other(joint=False) > 0.3
    assert next_to_each_other(joint=True) < 0.1
