"""Draws of the sampling posterior, spread over processes or machines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.evaluation import Request, draw_values
from annomodels.coefficients.weights import Sample
from annomodels.executors.choose import team

__all__ = ["spread_draws"]

Floats = NDArray[np.float64]
Piece = tuple[Sample, Sequence[Request], int, int, int]


def spread_draws(
    executor: Any, sample: Sample, requests: Sequence[Request], draws: int, seed: int
) -> list[Floats]:
    """Draw as ``evaluation.draw_values`` does, the same numbers, wherever `executor` says.

    Blocks of draws have random numbers of their own; each place gets a run of blocks.

    Parameters
    ----------
    executor
        What :func:`annomodels.executors.choose.team` takes.
    sample, requests, draws, seed
        As of ``draw_values``.
    """
    if executor is None or not requests or not draws:
        return draw_values(sample, requests, draws, seed)
    crew = team(executor)
    try:
        blocks = -(-draws // sample.block)
        edges = np.linspace(0, blocks, min(crew.places, blocks) + 1).round().astype(int)
        ends = np.minimum(edges * sample.block, draws).tolist()
        pieces = [(sample, requests, end, seed, first) for first, end in pairwise(ends)]
        parts = crew.map(_some, pieces)
    finally:
        if crew is not executor:
            crew.close()
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _some(piece: Piece) -> list[Floats]:
    sample, requests, end, seed, first = piece
    return draw_values(sample, requests, end, seed, first)
