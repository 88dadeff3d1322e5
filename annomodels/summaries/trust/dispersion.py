"""Whether errors gather on some items: the sign of items that differ in difficulty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import Draws, choices, state_probabilities
from annomodels.summaries.replicates import draw_labels, per_item

__all__ = ["error_dispersion"]

Floats = NDArray[np.float64]


def error_dispersion(
    draws: Draws, data: Annotations, rng: np.random.Generator, repeats: int = 1
) -> tuple[Floats, Floats]:
    r"""Compare how unevenly errors fall on items with what the model expects.

    With the truth c drawn from P(truth | labels, parameters), item i has e_i errors where
    m_i = sum_n (1 - a_n) are expected, a_n = confusion[coder_n, c_i, c_i] (where items have states,
    the probability of c_i under the state that is drawn with it). The discrepancy

    D = sum_i (e_i - m_i)^2 / sum_n a_n (1 - a_n)

    is 1 when errors are independent given the truth, and larger when some items draw more
    errors than others. It is computed for the observed labels and for labels replicated on the
    same truth.

    Source: realised discrepancies of Gelman, Meng & Stern 1996, Statistica Sinica 6, 733-807.

    Parameters
    ----------
    draws
        Draws of the parameters.
    data
        The labels.
    rng
        Source of chance.
    repeats
        How often each draw is used.

    Returns
    -------
    tuple
        D of the observed and of the replicated labels, shape [repeats * sample].

    Examples
    --------
    >>> from annomodels.summaries.draws import thinned
    >>> from annomodels.summaries.examples import small_fit
    >>> tree, data = small_fit(2000)
    >>> observed, replicated = error_dispersion(thinned(tree, data), data, np.random.default_rng(1))
    >>> round(float(replicated.mean()), 1)
    1.0
    """
    observed: list[float] = []
    replicated: list[float] = []
    for _ in range(repeats):
        for step, p in state_probabilities(draws, data):
            emission = draws.emission[step]
            state = choices(p, rng.random(data.n_items))
            given = draws.truth(step)[state]
            if data.gold is not None:
                known = np.flatnonzero(data.gold >= 0)
                given[known] = np.eye(data.n_labels)[data.gold[known]]
            truth = choices(given, rng.random(data.n_items))[data.item]
            label = draw_labels(emission, data.coder, state[data.item], rng)
            right = emission[data.coder, state[data.item], truth]
            variance = max(float((right * (1 - right)).sum()), 1e-12)
            for found, said in ((observed, data.label), (replicated, label)):
                excess = per_item((said != truth) - (1 - right), data.starts)
                found.append(float((excess**2).sum()) / variance)
    return np.array(observed), np.array(replicated)
