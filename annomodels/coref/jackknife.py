r"""Draws of alpha on chains: how it varies from text to text.

A mention that one coder puts elsewhere changes the labels of a whole chain, so labels cannot be
resampled one by one; texts can. What a text does to alpha is what is lost without it,

.. math:: \alpha_t = T \alpha - (T - 1) \alpha_{-t},

and the mean of these over texts like them has the same model as kappas of texts (``overtexts``).
Source: Tukey (1958); Efron and Tibshirani (1993), An introduction to the bootstrap, chapter 11.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from annomodels.coref.alphas import Disagreement, Piece, together
from annomodels.coref.overtexts import over_texts
from annomodels.coref.setdistances import SizeDistance

__all__ = ["FEWEST", "by_text", "chance_corrected_draws"]

Floats = NDArray[np.float64]

FEWEST = 3
"""Texts below which there is no interval: two hardly tell how texts differ."""


def by_text(found: Sequence[Piece], distance: SizeDistance, nominal: bool) -> Floats:
    """Give what each text does to alpha, or to K, shape [text]; those without labels do nothing."""
    own = [piece for piece in found if piece.n_labels]
    whole = _coefficient(together(own, distance), nominal)
    without = [
        _coefficient(together([*own[:t], *own[t + 1 :]], distance), nominal)
        for t in range(len(own))
    ]
    return np.asarray(len(own) * whole - (len(own) - 1) * np.array(without, dtype=float))


def _coefficient(found: Disagreement, nominal: bool) -> float:
    expected = found.drawn if nominal else found.without_replacement
    return 1 - found.observed / expected if expected > 0 else float("nan")


def chance_corrected_draws(
    found: Sequence[Piece], distance: SizeDistance, nominal: bool, draws: int, seed: int
) -> Floats | None:
    """Draws of alpha, or K, over texts like these; None with too few texts.

    Parameters
    ----------
    found
        What each text adds.
    distance
        Distance of sets from their sizes.
    nominal
        Whether K is meant, whose expected disagreement draws with replacement.
    draws, seed
        Number of draws, and seed of the random numbers.

    Returns
    -------
    numpy.ndarray or None
        Shape [draw], around alpha itself.
    """
    if sum(piece.n_labels > 0 for piece in found) < FEWEST:
        return None
    values = by_text(found, distance, nominal)
    if np.isnan(values).any():
        return None
    whole = _coefficient(together(found, distance), nominal)
    drawn = over_texts(values, None, 0.0, draws, np.random.default_rng([seed, 3])).mean[0]
    return np.asarray(np.clip(drawn - values.mean() + whole, -1.0, 1.0))
