"""Where runs begin: soft counts from the votes, jittered for further chains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded

__all__ = ["random_shares", "soft_counts", "state_from_shares", "vote_shares"]

Floats = NDArray[np.float64]


def vote_shares(codes: Encoded) -> Floats:
    """Share of each label on each pattern, known gold as certainty, shape [pattern, truth]."""
    k = codes.n_labels
    pattern = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
    cell = pattern * k + codes.label
    if codes.n_silent:
        cell = cell[codes.row < codes.n_rows - codes.n_silent]
    flat = np.bincount(cell, minlength=codes.n_patterns * k)
    votes = flat.reshape(codes.n_patterns, k).astype(float)
    shares = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1.0)
    return clamp(shares, codes)


def clamp(shares: Floats, codes: Encoded) -> Floats:
    """Give known items their known class."""
    known = np.flatnonzero(codes.gold >= 0)
    shares[known] = 0.0
    shares[known, codes.gold[known]] = 1.0
    return shares


def random_shares(codes: Encoded, rng: np.random.Generator, votes: float) -> Floats:
    """Random class shares of each pattern, mixed with its vote shares by the weight `votes`."""
    noise = rng.dirichlet(np.ones(codes.n_labels), codes.n_patterns)
    return clamp(votes * vote_shares(codes) + (1.0 - votes) * noise, codes)


def soft_counts(codes: Encoded, shares: Floats) -> tuple[Floats, Floats]:
    """Give counts [row, label, truth] and sizes [truth] that class shares of the patterns imply."""
    k = codes.n_labels
    weighted = shares * codes.weight[:, None]
    cell = codes.row.astype(np.int64) * k + codes.label
    pattern = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
    counts = np.empty((codes.n_rows * k, k))
    for truth in range(k):
        counts[:, truth] = np.bincount(
            cell, weights=weighted[pattern, truth], minlength=codes.n_rows * k
        )
    return counts.reshape(codes.n_rows, k, k), weighted.sum(axis=0)


def state_from_shares(model: ConjugateModel, codes: Encoded, shares: Floats) -> State:
    """Parameters at their mode given class shares of the patterns."""
    return model.start(*soft_counts(codes, shares))
