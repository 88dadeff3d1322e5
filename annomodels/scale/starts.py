"""Where streamed runs begin: the soft counts of ``engines.starts``, taken block after block.

Sums run on in the order of the labels, as they do in memory, so that a chain begins at the very
same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from annomodels.engines.partition import Source
from annomodels.engines.starts import Floats, random_shares, vote_shares
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded

__all__ = ["start_states"]


def start_states(
    model: ConjugateModel, source: Source, seed: int, weights: Sequence[float]
) -> list[State]:
    """Give the parameters at which runs begin, the first at the votes, the others near them.

    Parameters
    ----------
    model
        The model.
    source
        The blocks.
    seed
        Seed of the random numbers.
    weights
        Weight of the votes against random shares, one for each further run.
    """
    rng = np.random.default_rng(seed)
    ways: list[Callable[[Encoded], Floats]] = [vote_shares]
    ways += [partial(random_shares, rng=rng, votes=weight) for weight in weights]
    return [_state(model, source, shares) for shares in ways]


def _state(model: ConjugateModel, source: Source, shares_of: Callable[[Encoded], Floats]) -> State:
    k = source.n_labels
    counts = np.zeros((source.n_rows * k, k))
    sizes = np.zeros((1, k))
    for partition in source.partitions:
        codes = partition.open()
        shares = shares_of(codes)
        item = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
        cell = codes.cell.astype(np.int64)
        for truth in range(k):
            np.add.at(counts[:, truth], cell, shares[item, truth])
        sizes = np.concatenate([sizes, shares]).sum(axis=0, keepdims=True)
    return model.start(counts.reshape(-1, k, k), sizes[0])
