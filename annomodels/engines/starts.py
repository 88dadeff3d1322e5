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
# class shares of patterns, shape [pattern, truth]
Way = Callable[[Encoded], Floats]
# counts [row, label, truth] and class sizes [truth]
SoftCounts = tuple[Floats, Floats]


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


def known_only(codes: Encoded) -> Floats:
    """Give class shares of the patterns of known truth alone: the others say nothing."""
    return clamp(np.zeros((codes.n_patterns, codes.n_labels)), codes)


def moved_on(codes: Encoded) -> Floats:
    """Give the vote shares of each class to the next one: all coders mean another class."""
    return clamp(np.roll(vote_shares(codes), 1, axis=1), codes)


def near_votes(votes: float, rng: np.random.Generator) -> Way:
    """Give the way to random shares, mixed with the votes."""
    return partial(random_shares, rng=rng, votes=votes)


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
    ways: list[Way] = [vote_shares, *(near_votes(weight, rng) for weight in weights)]
    return [model.start(*soft_counts(parts, way)) for way in ways]


def soft_counts(parts: Parts, shares_of: Way) -> SoftCounts:
    """Count labels [row, label, truth] and class sizes [truth] under class shares of the patterns.

    They are summed part after part in one order, so that they are the same however many parts
    there are, to the last bit.
    """
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
    return counts.reshape(-1, *[sizes.shape[1]] * 2), sizes[0]


def mixed(one: SoftCounts, other: SoftCounts, weight: float) -> SoftCounts:
    """Give the counts under a mixture of two kinds of class shares, the first of this weight."""
    counts, sizes = (weight * a + (1.0 - weight) * b for a, b in zip(one, other, strict=True))
    return counts, sizes


def state_from_shares(model: ConjugateModel, codes: Encoded, shares: Floats) -> State:
    """Parameters at their mode given class shares of the patterns."""
    return model.start(*soft_counts(lambda: [codes], lambda _: shares))
