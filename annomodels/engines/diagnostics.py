"""R-hat and effective sample sizes of the parameters that must have mixed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BUSIEST", "ess", "mixing", "monitors", "rhat"]

Floats = NDArray[Any]
BUSIEST = 100


def rhat(draws: Floats) -> Floats:
    """Rank-normalised split R-hat of each column; NaN with fewer than four draws.

    Parameters
    ----------
    draws
        Shape [chain, draw, parameter].
    """
    return _by_column(draws, "rhat")


def ess(draws: Floats) -> Floats:
    """Bulk effective sample size of each column; NaN with fewer than four draws.

    Parameters
    ----------
    draws
        Shape [chain, draw, parameter].
    """
    return _by_column(draws, "ess")


def _by_column(draws: Floats, what: str) -> Floats:
    from arviz_stats.base import array_stats

    if draws.shape[1] < 4 or not draws.shape[2]:
        return np.full(draws.shape[2], np.nan)
    columns = np.ascontiguousarray(np.moveaxis(draws, 2, 0), dtype=float)
    varies = np.ptp(columns, axis=(1, 2)) > 0
    out = np.full(len(columns), np.nan)
    if varies.any():
        function = getattr(array_stats, what)
        with np.errstate(divide="ignore", invalid="ignore"):
            out[varies] = function(columns[varies], chain_axis=1, draw_axis=2)
    return out


def monitors(posterior: dict[str, Floats], volume: Floats) -> Floats:
    """Parameters to watch, shape [chain, draw, parameter].

    Prevalence, population, concentration, and the accuracy of the busiest coders.

    Parameters
    ----------
    posterior
        Draws by variable with leading dimensions [chain, draw].
    volume
        Number or share of labels by coder.
    """
    prevalence = np.asarray(posterior["prevalence"], dtype=float)
    chains, draws, _ = prevalence.shape
    parts = [prevalence]
    means = [posterior[name] for name in ("population", "location") if name in posterior]
    scales = [posterior[name] for name in ("concentration", "scale") if name in posterior]
    parts += [np.diagonal(values, axis1=2, axis2=3) for values in means]
    parts += [np.log(values) for values in scales]
    if "common_accuracy" in posterior:
        parts.append(posterior["common_accuracy"][:, :, None])
    confusion = posterior["confusion"]
    if confusion.ndim == 4:
        confusion = confusion[:, :, None]
    busiest = np.argsort(-volume, kind="stable")[:BUSIEST]
    right = np.diagonal(confusion[:, :, busiest], axis1=3, axis2=4)
    parts.append(np.einsum("cdjk,cdk->cdj", right, prevalence))
    return np.concatenate([part.reshape(chains, draws, -1) for part in parts], axis=2)


def mixing(posterior: dict[str, Floats], volume: Floats) -> tuple[float, float]:
    """Largest R-hat and smallest bulk effective sample size of the watched parameters."""
    watched = monitors(posterior, volume)
    r, n = rhat(watched), ess(watched)
    if np.isnan(r).all():
        return float("nan"), float("nan")
    return float(np.nanmax(r)), float(np.nanmin(n))
