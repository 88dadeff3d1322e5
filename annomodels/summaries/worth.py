"""What coders are worth, on every draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.summaries import skills
from annomodels.summaries.draws import n_samples

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["CoderDraws", "coder_draws"]

Floats = NDArray[np.float64]

BUDGET = 256 * 2**20


@dataclass(frozen=True, eq=False)
class CoderDraws:
    """Draws of what coders are worth.

    Parameters
    ----------
    accuracy, skill, bits
        Shape [sample, coder]; see :mod:`annomodels.summaries.skills`.
    sensitivity
        P(label k | truth k), shape [sample, coder, truth].
    over_use
        How often the coder says a label, less its prevalence, shape [sample, coder, label].
    prevalence
        Shape [sample, truth].
    """

    accuracy: Floats
    skill: Floats
    bits: Floats
    sensitivity: Floats
    over_use: Floats
    prevalence: Floats


def coder_draws(tree: xr.DataTree, data: Annotations, budget: int = BUDGET) -> CoderDraws:
    """Compute what coders are worth on every draw, thinned when there are very many coders.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.
    budget
        Most bytes of the result. Coders are worked on in blocks, so that no array of all draws
        and all confusion matrices is made.
    """
    n_labels, n_coders, total = data.n_labels, data.n_coders, n_samples(tree)
    count = max(1, min(total, budget // (8 * n_coders * (3 + 2 * n_labels))))
    chosen = (np.arange(count) * total) // count
    posterior = tree["posterior"].to_dataset()
    prevalence = posterior["prevalence"].values.reshape(total, -1)[chosen].astype(np.float64)
    values = posterior["confusion"].values
    values = values.reshape(total, *values.shape[2:])
    shared = values.ndim == 3
    if shared:
        values = values[:, None]
    n_blocks = values.shape[1]
    step = max(1, budget // (32 * count * n_labels**2))
    scalars = np.empty((3, count, n_blocks))
    vectors = np.empty((2, count, n_blocks, n_labels))
    for first in range(0, n_blocks, step):
        some = slice(first, first + step)
        part = values[chosen, some].astype(np.float64, copy=False)
        scalars[0, :, some] = skills.accuracy(prevalence, part)
        scalars[1, :, some] = skills.skill(prevalence, part)
        scalars[2, :, some] = skills.bits(prevalence, part)
        vectors[0, :, some] = np.diagonal(part, axis1=-2, axis2=-1)
        vectors[1, :, some] = skills.says(prevalence, part) - prevalence[:, None]
    if shared:
        scalars = np.broadcast_to(scalars, (3, count, n_coders))
        vectors = np.broadcast_to(vectors, (2, count, n_coders, n_labels))
    return CoderDraws(
        accuracy=scalars[0],
        skill=scalars[1],
        bits=scalars[2],
        sensitivity=vectors[0],
        over_use=vectors[1],
        prevalence=prevalence,
    )
