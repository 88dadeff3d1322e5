"""Empirical Bayes: the mode of the population of coders given (soft) counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln
from threadpoolctl import ThreadpoolController

from annomodels.models.conjugate import log_shares
from annomodels.priors import ScalePrior
from annomodels.types import Floats

# lock for the thread limit of linear algebra: the first caller to finish would lift it for others
_ALONE = Lock()


def population_mode(counts: Floats, anchor: Floats, scale: ScalePrior) -> tuple[Floats, Floats]:
    """Return the mode of (mean, concentration) per row, with the coders' rows integrated out."""
    # Maximizes the Dirichlet-multinomial density of the counts [row, label, truth] times the prior,
    # on the scale of log-ratios and log concentration.
    _, n_labels, k = counts.shape
    mean = np.empty((k, n_labels))
    concentration = np.empty(k)
    constant, linear, square, lower = scale.coefficients()
    del constant
    floor = np.log(lower) if lower > 0 else np.log(1e-2)
    with _one_thread():
        for truth in range(k):
            n = counts[:, :, truth]
            n = n[n.sum(axis=1) > 0]
            start = np.log((anchor[truth] + n.sum(axis=0)) / (anchor[truth].sum() + n.sum()))
            x0 = np.append(start, max(np.log(10.0), floor + 0.1))
            bounds = [(-30.0, 1.0)] * n_labels + [(floor, np.log(1e4))]
            args = (n, n.sum(axis=1), anchor[truth], linear, square)
            found = minimize(_loss, x0, args=args, jac=True, method="L-BFGS-B", bounds=bounds)
            mean[truth] = np.exp(log_shares(found.x[:-1], 0))
            concentration[truth] = np.exp(found.x[-1])
    return mean, concentration


@contextmanager
def _one_thread() -> Iterator[None]:
    # L-BFGS-B solves small systems, where the synchronization of threads takes ten times as long
    # as the computation
    with _ALONE, _linear_algebra().limit(limits=1):
        yield


@cache
def _linear_algebra() -> ThreadpoolController:
    """Return the linear algebra libraries; cached, as the search takes a millisecond."""
    return ThreadpoolController().select(user_api="blas")


def anchor_strength(
    counts: Floats, shares: Floats, concentration: Floats, median: float, spread: float
) -> Floats:
    """Return the mode of the prior strength of each row's mean, with the mean integrated out."""
    # the labels of a coder are weighted by their effective number of independent draws from the
    # mean; counts [row, label, truth], shares [truth, label], concentration [truth]
    each = counts.sum(axis=1)
    worth = (concentration + 1.0) / (concentration + np.maximum(each, 1.0))
    told = np.einsum("jlk,jk->kl", counts, worth)
    z = np.linspace(-4.0, 3.0, 57)[:, None]
    strength = median * np.exp(spread * z)
    shapes = strength[:, :, None] * shares
    value = (gammaln(shapes + told) - gammaln(shapes)).sum(axis=2) - 0.5 * z**2
    value += gammaln(strength) - gammaln(strength + told.sum(axis=1))
    return np.asarray(strength[value.argmax(axis=0), 0])


def _loss(
    x: Floats, n: Floats, total: Floats, anchor: Floats, linear: float, square: float
) -> tuple[float, Floats]:
    """Return negative log density and gradient for (logits of the mean, log concentration)."""
    log_m, log_c = log_shares(x[:-1], 0), x[-1]
    m, c = np.exp(log_m), np.exp(log_c)
    a = c * m
    value = (gammaln(a + n) - gammaln(a)).sum() - (gammaln(c + total) - gammaln(c)).sum()
    value += anchor @ log_m + linear * log_c + square * log_c**2 + log_c
    by_a = (digamma(a + n) - digamma(a)).sum(axis=0)
    by_log_m = by_a * a + anchor
    by_c = by_a @ m - (digamma(c + total) - digamma(c)).sum()
    by_log_c = by_c * c + linear + 2 * square * log_c + 1.0
    by_logit = by_log_m - m * by_log_m.sum()
    return -float(value), -np.append(by_logit, by_log_c)
