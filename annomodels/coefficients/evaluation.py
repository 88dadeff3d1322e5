"""The engine: any coefficients of one sample, as a value and as draws that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.catalogue import Coefficient
from annomodels.coefficients.coder_pairs import CoderPairs, count_pairs
from annomodels.coefficients.conventions import CONVENTIONS
from annomodels.coefficients.counts import Counts, count
from annomodels.coefficients.distances import Distance
from annomodels.coefficients.formulas import Evaluated, evaluate_with
from annomodels.coefficients.rows import Rows
from annomodels.coefficients.tables import Tables
from annomodels.coefficients.weights import Sample

__all__ = ["Request", "Statistics", "draw_values", "point_values"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Request:
    """A coefficient to compute.

    Parameters
    ----------
    coefficient
        Its entry in the catalogue.
    distance
        Distance between labels.
    convention
        How missing labels are treated.
    """

    coefficient: Coefficient
    distance: Distance
    convention: str


class Statistics:
    """The linear statistics that some requests need, counted once.

    Parameters
    ----------
    rows
        The labels; their items are those that the weights belong to.
    requests
        What is to be computed.
    """

    def __init__(self, rows: Rows, requests: Sequence[Request]) -> None:
        self.rows = rows
        self.requests = requests
        self.by_coder = {
            name: any(r.coefficient.by_coder for r in requests if r.convention == name)
            for name in {r.convention for r in requests}
        }

    @cached_property
    def counts(self) -> dict[str, Counts]:
        """Statistics of each convention but ``pairwise``."""
        plain = {r.convention for r in self.requests if not r.coefficient.each_pair}
        return {name: count(self.rows, CONVENTIONS[name]) for name in plain if name != "pairwise"}

    @cached_property
    def pairs(self) -> dict[str, CoderPairs]:
        """Statistics of the pairs of coders, for all items or complete ones."""
        asked = {
            r.convention
            for r in self.requests
            if r.coefficient.each_pair or r.convention == "pairwise"
        }
        return {name: count_pairs(self.rows, name == "listwise") for name in asked}

    @property
    def width(self) -> int:
        """Numbers held for each draw."""
        counts = sum(c.width(self.by_coder[name]) for name, c in self.counts.items())
        return counts + sum(pairs.width() for pairs in self.pairs.values())

    def evaluate(self, weights: Floats) -> list[Evaluated]:
        """All requests under the same weights of the items, shape [item] or [draw, item]."""
        tables: dict[str, Tables] = {
            name: counts.tables(weights, self.by_coder[name])
            for name, counts in self.counts.items()
        }
        if any(r.convention == "pairwise" and not r.coefficient.each_pair for r in self.requests):
            tables["pairwise"] = self.pairs["pairwise"].tables(weights)
        return [
            self._mean_of_pairs(request, weights)
            if request.coefficient.each_pair
            else evaluate_with(
                request.coefficient.expectation, tables[request.convention], request.distance
            )
            for request in self.requests
        ]

    def _mean_of_pairs(self, request: Request, weights: Floats) -> Evaluated:
        """Mean over the pairs of coders for whom the coefficient is defined."""
        each = self.pairs[request.convention].each(weights)
        found = evaluate_with(request.coefficient.expectation, each, request.distance)
        defined = ~np.isnan(found.value)
        n = defined.sum(-1)
        sums = (np.where(defined, x, 0.0).sum(-1) for x in found)
        return Evaluated(
            *(np.divide(x, n, out=np.full(np.shape(x), np.nan), where=n > 0) for x in sums)
        )


def point_values(sample: Sample, requests: Sequence[Request]) -> list[Evaluated]:
    """Classical values, one for each request."""
    return Statistics(sample.rows, requests).evaluate(sample.point)


def draw_values(sample: Sample, requests: Sequence[Request], draws: int, seed: int) -> list[Floats]:
    """Draws of the sampling posterior, shape [draw] for each request.

    The weights depend on the sample and the seed alone, so draws of different coefficients of the
    same data belong together, whether they are asked for at once or one by one.
    """
    if not requests:
        return []
    if not draws:
        return [np.empty(0) for _ in requests]
    statistics = Statistics(sample.rows, requests)
    blocks = [
        [found.value for found in statistics.evaluate(weights)]
        for weights in sample.draw(draws, seed, statistics.width)
    ]
    return [np.concatenate(column) for column in zip(*blocks, strict=True)]
