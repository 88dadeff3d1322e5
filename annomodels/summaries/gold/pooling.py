"""What an opinion pool says of the truth: how far its models are believed, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from annomodels.models.mixtures.opinion_pool import pooled_probabilities
from annomodels.summaries.draws import model_of

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.models.mixtures.opinion_pool import OpinionPool

__all__ = ["pool_notes", "pooled_truths"]

Floats = NDArray[np.float64]


def pooled_truths(tree: xr.DataTree, most: int) -> Iterator[tuple[int, Floats]]:
    """Go through P(truth) under draws of the pool's weights and error, [item, truth].

    Parameters
    ----------
    tree
        Result of a fit of an opinion pool.
    most
        Most draws to go through.
    """
    pool = tree["pool"].to_dataset()
    log_p, weight = pool["member_log_p"].values, pool["weight"].values
    error = pool["error"].values
    # evenly spread: neighbouring draws may be the same one
    chosen = np.unique(np.linspace(0, len(error) - 1, min(most, len(error))).astype(int))
    gold = tree["observed_data"].to_dataset().get("gold")
    known = np.full(log_p.shape[1], -1) if gold is None else gold.values
    given = np.flatnonzero(known >= 0)
    for n, draw in enumerate(chosen):
        p = pooled_probabilities(log_p, weight[draw : draw + 1], error[draw : draw + 1])[0]
        p[given] = np.eye(p.shape[1])[known[given]]
        yield n, p


def pool_notes(tree: xr.DataTree) -> tuple[str, ...]:
    """Say where P(truth) comes from, if from an opinion pool.

    Parameters
    ----------
    tree
        Result of a fit.
    """
    if tree.attrs.get("unpooled"):
        return (
            "The run ended before all models of the opinion pool were fitted: P(truth) is that of "
            "the readings alone.",
        )
    if "pool" not in tree.children:
        return ()
    model = cast("OpinionPool", model_of(tree))
    pool = tree["pool"].to_dataset()
    means = zip(model.names, pool["weight"].values.mean(axis=0), strict=True)
    told = "gold" in tree["observed_data"].to_dataset()
    taught = "as the known gold taught" if told else "by their prior, since no gold taught them"
    return (
        "P(truth) is pooled from models of the labels alone, each believed only so far: "
        f"{', '.join(f'{name} {weight:.2g}' for name, weight in means)} ({taught}; 1 would be to "
        f"believe a model as it stands). Of {float(pool['error'].mean()):.1%} of the items the "
        "crowd is taken to know nothing.",
    )
