"""Log-odds of two truths of an item, and what each label has to do with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annomodels.summaries.draws import SMALLEST, Draws

__all__ = ["along_the_path", "log_odds", "log_truth"]

Floats = NDArray[np.float64]

NODES = 32  # of the Gauss-Legendre rule


def along_the_path(draws: Draws, logp: Floats, first: int, second: int) -> Floats:
    r"""Part of each label in the log-odds where an item has states besides its truth.

    The odds are then sums over states and no product over labels. Let all labels count with a
    weight t that goes from 0 to 1; the log-odds move from those of the prevalence to those of the
    posterior, and label n moves them by

    .. math:: \int_0^1 E_{q_a(t)}[\log \theta_{j_n, s, y_n}]
              - E_{q_b(t)}[\log \theta_{j_n, s, y_n}] \, dt,

    with q_a(t) the probabilities of the states given truth a and labels of weight t (Aumann and
    Shapley's way to share a joint effect). With one state for each truth this is the plain
    log-ratio.

    Parameters
    ----------
    draws
        Draws of the parameters.
    logp
        log P(label | state), shape [sample, n, state].
    first, second
        The two truths.

    Returns
    -------
    ndarray, shape [sample, n]
        Parts whose sum is the change of the log-odds.
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    truth = np.stack([draws.truth(sample) for sample in range(len(draws))])
    share, every = np.log(np.maximum(draws.share, SMALLEST)), logp.sum(axis=1)
    out = np.zeros(logp.shape[:2])
    for t, width in zip((nodes + 1) / 2, weights / 2, strict=True):
        score = share + t * every
        for sign, k in ((1.0, first), (-1.0, second)):
            q = score + np.log(np.maximum(truth[:, :, k], SMALLEST))
            q = np.exp(q - q.max(axis=1, keepdims=True))
            q /= q.sum(axis=1, keepdims=True)
            out += sign * width * np.einsum("ds,dns->dn", q, logp)
    change = log_odds(draws, every, first, second)
    change -= log_odds(draws, np.zeros_like(every), first, second)
    left: Floats = change - out.sum(axis=1)  # what the integration rule missed
    out += left[:, None] / logp.shape[1]
    return out


def log_odds(draws: Draws, every: Floats, first: int, second: int) -> Floats:
    """Log-odds of two truths on each draw, shape [sample].

    Parameters
    ----------
    draws
        Draws of the parameters.
    every
        Log-likelihood of an item's labels in each state, shape [sample, state]; zeros give the
        odds before any label.
    first, second
        The two truths.
    """
    a, b = (log_truth(draws, every)[:, k] for k in (first, second))
    return np.asarray(a - b)


def log_truth(draws: Draws, every: Floats) -> Floats:
    """Log joint probability of each truth and the labels, shape [sample, truth].

    Parameters
    ----------
    draws
        Draws of the parameters.
    every
        Log-likelihood of an item's labels in each state, shape [sample, state].
    """
    score = np.log(np.maximum(draws.share, SMALLEST)) + every
    if draws.states is None:
        return score
    top = score.max(axis=1, keepdims=True)
    joint = np.einsum("ds,dsk->dk", np.exp(score - top), draws.states.truth)
    return np.asarray(np.log(np.maximum(joint, 1e-300)) + top)
