"""Coders side by side on audited items: how many independent ones they are worth."""

from __future__ import annotations

import numpy as np

from annomodels.types import Floats

# pairs of coders with fewer audited items in common say nothing; more coders are not paired
FEWEST_SHARED, MOST_CODERS = 10, 150


def effective(
    errors: Floats, counts: Floats, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    r"""Draw the effective number of coders, and the mean correlation of their errors.

    .. math:: n_{eff} = \frac{J}{1 + (J - 1) \bar\rho}

    where :math:`\bar\rho`, no less than 0, is the mean correlation of wrong labels over pairs of
    coders; audited items are drawn again and again (Bayesian bootstrap).

    Parameters
    ----------
    errors
        1 where a coder's label of an audited item is wrong, 0 where it is right, NaN where there
        is none, shape [audited, coder].
    counts
        What each item counts for, shape [audited].
    draws
        Number of draws.
    rng
        Source of chance.

    Returns
    -------
    tuple
        Shapes [draw] and [draw]; empty where no two coders share enough items.

    References
    ----------
    L. Kish (1965). Survey sampling. Wiley. D. B. Rubin (1981). The Bayesian bootstrap. Annals of
    Statistics 9(1), 130-134, doi:10.1214/aos/1176345338.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> errors = (rng.random((400, 1)) < 0.3) * np.ones((1, 4))
    >>> effective(errors, np.ones(400), 50, rng)[0].round(2).max()
    np.float64(1.0)
    """
    given = np.isfinite(errors)
    n_coders = errors.shape[1]
    shared = given.T.astype(float) @ given
    pairs = np.argwhere(np.triu(shared >= FEWEST_SHARED, 1))
    if not len(pairs) or n_coders > MOST_CODERS:
        return np.empty(0), np.empty(0)
    there = given.astype(float)
    wrong = np.where(given, errors, 0.0)
    correlation = np.empty(draws)
    for draw in range(draws):
        weight = (rng.standard_exponential(len(errors)) * counts)[:, None]
        n = (there * weight).T @ there
        both = (wrong * weight).T @ wrong
        of_first = (wrong * weight).T @ there
        a, b = pairs.T
        total = np.maximum(n[a, b], 1e-300)
        p, q = of_first[a, b] / total, of_first[b, a] / total
        spread = np.sqrt(p * (1 - p) * q * (1 - q))
        with np.errstate(invalid="ignore", divide="ignore"):
            rho = np.where(spread > 1e-12, (both[a, b] / total - p * q) / spread, np.nan)
        correlation[draw] = np.nanmean(rho) if np.isfinite(rho).any() else np.nan
    correlation = correlation[np.isfinite(correlation)]
    worth = n_coders / (1.0 + (n_coders - 1) * np.clip(correlation, 0.0, 1.0))
    return worth, correlation
