"""Coders who have not been seen yet, drawn from the population of a hierarchical model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annomodels.summaries.draws import model_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Newcomers", "new_coders"]

Floats = NDArray[np.float64]


class Newcomers(NamedTuple):
    """Two new coders for every draw: shares of the items' states, what each says in them."""

    share: Floats
    first: Floats
    second: Floats


def new_coders(tree: xr.DataTree, n_max: int, seed: int = 0) -> Newcomers | None:
    """Draw two new coders from the population on every draw; None without a population.

    Dirichlet populations give rows ~ Dir(concentration_k population_k), logit-normal ones rows =
    softmax(location_k + scale_k z) with standard normal z less its mean over the labels.

    Parameters
    ----------
    tree
        Result of a fit.
    n_max
        Most draws to take.
    seed
        Seed of the new coders.

    Returns
    -------
    Shares of the states, or prevalence, [sample, state] and what two coders say in each state
    [sample, state, label].

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> new_coders(small_fit()[0], 100) is None
    True
    """
    posterior = tree["posterior"].to_dataset()
    total = int(posterior.sizes["chain"] * posterior.sizes["draw"])
    count = min(n_max, total)
    chosen = (np.arange(count) * total) // count

    def draws_of(name: str) -> Floats:
        values = posterior[name].values
        return values.reshape(total, *values.shape[2:])[chosen].astype(np.float64)

    rng = np.random.default_rng(seed)
    found = model_of(tree).newcomers(draws_of, rng)
    return None if found is None else Newcomers(*found)
