"""Mixing of chains: R-hat and effective sample sizes, for engines and tables alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from annomodels.types import Floats

BLOCK = 2_000_000
CONSTANT = 1e-12


def rhat(draws: Floats) -> Floats:
    """Return rank-normalized split R-hat by column; NaN with one chain or fewer than 4 draws."""
    # the larger one of sqrt(((n-1)/n W + B/n) / W) of the draws and of their distances from the
    # median, both as normal scores of their ranks (Vehtari et al. 2021, doi:10.1214/20-BA1221);
    # draws [chain, draw, parameter]
    if len(draws) < 2:
        return np.full(draws.shape[2], np.nan)
    return _by_column(draws, _largest_rhat)


def ess(draws: Floats) -> Floats:
    """Return the bulk effective sample size of each column; NaN with fewer than four draws."""
    # the number of draws over 1 + 2 sum_t rho_t, with the autocorrelations of the normal scores of
    # the ranks, cut off and made monotone after Geyer (Vehtari et al. 2021)
    return _by_column(draws, lambda split: _effective(_normal_scores(split)))


def ess_of_mean(draws: Floats) -> Floats:
    """Return the effective sample size for each column mean; otherwise as :func:`ess`."""
    return _by_column(draws, _effective)


def _by_column(draws: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """Apply a function to split chains [parameter, half chain, draw] that vary."""
    _, n, parameters = draws.shape
    out = np.full(parameters, np.nan)
    if n < 4 or not parameters:
        return out
    varies = np.flatnonzero(np.ptp(draws, axis=(0, 1)) > CONSTANT)
    # in batches, to limit memory for the spectra of long runs
    block = max(1, BLOCK // (draws.shape[0] * n))
    for first in range(0, len(varies), block):
        chosen = varies[first : first + block]
        columns = np.moveaxis(draws[:, :, chosen], 2, 0).astype(float)
        halves = np.concatenate([columns[..., : n // 2], columns[..., -(n // 2) :]], axis=1)
        out[chosen] = function(halves)
    return out


def _largest_rhat(split: Floats) -> Floats:
    middle = np.median(split, axis=(1, 2), keepdims=True)
    folded = np.abs(split - middle)
    return np.fmax(_rhat(_normal_scores(split)), _rhat(_normal_scores(folded)))


def _rhat(z: Floats) -> Floats:
    n = z.shape[2]
    between = z.mean(axis=2).var(axis=1, ddof=1)
    within = z.var(axis=2, ddof=1).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((between + (n - 1) / n * within) / within))


def _normal_scores(split: Floats) -> Floats:
    """Turn each value into the normal quantile of its (average) rank within its parameter."""
    # Values that differ by rounding share a rank. The two in the middle always do so in their
    # distance from the median, and which is larger would depend on the machine.
    flat = split.reshape(len(split), -1)
    n = flat.shape[1]
    order = np.argsort(flat, axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    place = np.arange(n)
    # first and last place of each run of equal values, so that twice their mean is a whole number
    spread = ordered[:, [3 * n // 4]] - ordered[:, [n // 4]]
    new = np.diff(ordered) > CONSTANT * spread
    first, last = place, place
    if not new.all():
        true = np.ones((len(flat), 1), dtype=bool)
        begins, ends = np.hstack([true, new]), np.hstack([new, true])
        first = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
        last = np.minimum.accumulate(np.where(ends, place, n)[:, ::-1], axis=1)[:, ::-1]
    scores = _quantiles(2 * n)[first + last + 1]
    out = np.empty(flat.shape)
    np.put_along_axis(out, order, np.broadcast_to(scores, flat.shape), axis=1)
    return out.reshape(split.shape)


@lru_cache(4)
def _quantiles(twice_n: int) -> Floats:
    """Return the normal quantiles of the ranks 1/2, 1, 3/2, ... among twice_n / 2 values."""
    # the standard library's quantile saves loading scipy.stats or scipy.special at every start
    quantile, n = NormalDist().inv_cdf, twice_n / 2
    return np.array([quantile((r / 2 - 0.375) / (n + 0.25)) for r in range(1, twice_n + 1)])


def _effective(z: Floats) -> Floats:
    """Return the effective sample size of split chains [parameter, half chain, draw]."""
    _, chains, n = z.shape
    centred = z - z.mean(axis=2, keepdims=True)
    length = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, length, axis=2)
    covariance = np.fft.irfft(spectrum * spectrum.conj(), length, axis=2)[:, :, :n] / n
    covariance = covariance.mean(axis=1)
    within = covariance[:, 0] * n / (n - 1)
    total = within * (n - 1) / n + z.mean(axis=2).var(axis=1, ddof=1)
    rho = 1.0 - (within[:, None] - covariance) / total[:, None]
    rho[:, 0] = 1.0
    # Geyer: sums of pairs are positive and fall; the last lags are not used
    most = max((n - 1) // 2, 1)
    pairs = rho[:, 0 : 2 * most : 2] + rho[:, 1 : 2 * most : 2]
    positive = np.logical_and.accumulate(pairs > 0, axis=1)
    used = np.minimum(positive.sum(axis=1), most - 1)
    monotone = np.where(np.arange(most) < used[:, None], np.minimum.accumulate(pairs, axis=1), 0.0)
    # one more lag counts half: as it is where the draws ended before the sums did, else if positive
    at = used[:, None]
    beyond = np.take_along_axis(rho, 2 * at, axis=1)[:, 0]
    ended = np.take_along_axis(pairs, at, axis=1)[:, 0] < 0
    beyond = np.where(ended, np.maximum(beyond, 0.0), beyond)
    tau = 2.0 * monotone.sum(axis=1) - 1.0 + beyond
    return np.asarray(chains * n / np.maximum(tau, 1.0 / np.log10(chains * n)))


def mixing(draws: Floats) -> tuple[Floats, Floats]:
    """R-hat and ESS of each column of draws [chain, draw, parameter]; one chain is cut in two."""
    if len(draws) == 1:
        half = draws.shape[1] // 2
        draws = np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
    return rhat(draws), ess(draws)


def worst(r: Floats, n: Floats) -> tuple[float, float]:
    """Return the largest R-hat and smallest effective sample size; NaN without any."""
    if np.isnan(r).all():
        return float("nan"), float("nan")
    return float(np.nanmax(r)), float(np.nanmin(n))
