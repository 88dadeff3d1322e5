"""Coders who have not been seen yet, drawn from the population of a hierarchical model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annomodels.models.mixtures.state_model import StateModel
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
    if "concentration" in posterior and "population" in posterior:
        shape = draws_of("concentration")[:, :, None] * draws_of("population")
        pair = [_normalised(rng.standard_gamma(np.maximum(shape, 1e-6))) for _ in range(2)]
    elif "location" in posterior and "scale" in posterior:
        location, scale = draws_of("location"), draws_of("scale")[..., None]
        pair = [_softmax(location + scale * _zero_sum(rng, location.shape)) for _ in range(2)]
    else:
        return None
    model = model_of(tree)
    if not isinstance(model, StateModel):
        return Newcomers(draws_of("prevalence"), *pair)
    # the same items, labelled by coders whose own rows are new too
    n_labels = pair[0].shape[-1]
    alphas = model.alphas(2, n_labels)
    values = {
        name: _normalised(rng.standard_gamma(alphas[name], (count, *alphas[name].shape)))
        if "coder" in dims
        else draws_of(name)
        for name, dims in model.dims(n_labels).items()
        if name in alphas
    }
    values["perceived_prevalence"] = draws_of("perceived_prevalence")
    values["perceived_confusion"] = np.stack(pair, axis=1)
    found = model.states(values)
    return Newcomers(found.share, found.emission[:, 0], found.emission[:, 1])


def _normalised(values: Floats) -> Floats:
    values = np.maximum(values, 1e-300)
    out: Floats = values / values.sum(axis=-1, keepdims=True)
    return out


def _zero_sum(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    z: Floats = rng.normal(size=shape)
    return z - z.mean(axis=-1, keepdims=True)


def _softmax(logits: Floats) -> Floats:
    return _normalised(np.exp(logits - logits.max(axis=-1, keepdims=True)))
