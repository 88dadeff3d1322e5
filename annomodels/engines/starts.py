"""Where runs begin: soft counts from the votes, jittered for further chains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded
from annomodels.types import Floats

Parts = Callable[[], Iterable[Encoded]]


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


def start_states(
    model: ConjugateModel, parts: Parts, seed: int, weights: Sequence[float]
) -> list[State]:
    """Give the parameters at which runs begin, the first at the votes, the others near them.

    Parameters
    ----------
    model
        The model.
    parts
        Opens the data, part after part.
    seed
        Seed of the random numbers.
    weights
        Weight of the votes against random shares, one for each further run.
    """
    rng = np.random.default_rng(seed)
    ways: list[Callable[[Encoded], Floats]] = [lambda codes: vote_shares(codes)]
    ways += [partial(_near_votes, rng=rng, votes=weight) for weight in weights]
    return [_state(model, parts, shares) for shares in ways]


def _near_votes(codes: Encoded, rng: np.random.Generator, votes: float) -> Floats:
    return random_shares(codes, rng, votes)


def _state(model: ConjugateModel, parts: Parts, shares_of: Callable[[Encoded], Floats]) -> State:
    """Parameters at their mode given class shares, summed part after part in one order."""
    counts = sizes = np.empty((0, 0))
    for number, codes in enumerate(parts()):
        k = codes.n_labels
        if not number:
            counts, sizes = np.zeros((codes.n_rows * k, k)), np.zeros((1, k))
        weighted = shares_of(codes) * codes.weight[:, None]
        pattern = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
        cell = codes.cell.astype(np.int64)
        if number:  # sums run on, as those of one part do
            cell = np.concatenate([np.arange(len(counts)), cell])
        for truth in range(k):
            values = weighted[pattern, truth]
            if number:
                values = np.concatenate([counts[:, truth], values])
            counts[:, truth] = np.bincount(cell, values, minlength=len(counts))
        sizes = np.concatenate([sizes, weighted]).sum(axis=0, keepdims=True)
    return model.start(counts.reshape(-1, *[sizes.shape[1]] * 2), sizes[0])


def state_from_shares(model: ConjugateModel, codes: Encoded, shares: Floats) -> State:
    """Parameters at their mode given class shares of the patterns."""
    return _state(model, lambda: [codes], lambda _: shares)
