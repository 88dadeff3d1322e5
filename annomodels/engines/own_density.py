"""Densities in compiled loops of our own, in the form that nutpie samples from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.models.base import Model
from annomodels.models.continuous.density import Density
from annomodels.models.continuous.difficulty_density import DifficultyDensity
from annomodels.models.continuous.item_difficulty import ItemDifficulty
from annomodels.models.continuous.logistic_random_effects import LogisticRandomEffects
from annomodels.models.continuous.random_effects_density import RandomEffectsDensity
from annomodels.models.continuous.scalar_difficulty import ScalarDifficulty
from annomodels.models.encoded import Encoded

__all__ = ["own_density", "sampled_from"]

Floats = NDArray[np.float64]


def own_density(model: Model, codes: Encoded) -> Density | None:
    """Give the posterior in loops of our own; None where NUTS has to compile the PyMC model.

    Parameters
    ----------
    model
        Any model; one that is derived from another is another.
    codes
        The patterns of labels.
    """
    if type(model) not in (ScalarDifficulty, LogisticRandomEffects, ItemDifficulty):
        return None
    if isinstance(model, ScalarDifficulty):
        return DifficultyDensity(model, codes)
    if isinstance(model, LogisticRandomEffects | ItemDifficulty):
        return RandomEffectsDensity(model, codes)
    return None


def sampled_from(density: Density, start: Mapping[str, Any]) -> Any:
    """Give what nutpie samples from; nothing is compiled but loops that are kept on disk.

    Parameters
    ----------
    density
        The posterior.
    start
        Values of the free variables where the chains begin.

    Returns
    -------
    nutpie.CompiledModel
    """
    from nutpie.compiled_pyfunc import from_pyfunc

    begin = density.unconstrained(start)
    density.value(begin)  # loads the loops, or compiles them

    def shown_at(x: Floats) -> dict[str, Floats]:
        # nutpie takes arrays without gaps only
        found = density.constrained(x)
        return {name: np.require(value, np.float64, "C") for name, value in found.items()}

    shown = shown_at(begin)
    return from_pyfunc(
        ndim=density.n,
        make_logp_fn=lambda: density.value,
        make_expand_fn=lambda *_: shown_at,
        expanded_dtypes=[np.dtype(np.float64)] * len(shown),
        expanded_shapes=[np.shape(value) for value in shown.values()],
        expanded_names=list(shown),
        make_initial_point_fn=lambda _: begin,
    )
