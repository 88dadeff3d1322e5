"""The engine: any coefficients of one sample, as a value and as draws that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annomodels.coefficients.catalogue import Request
from annomodels.coefficients.counts import CoderPairs, Counts, count_for, count_pairs
from annomodels.coefficients.distances import Distance, Nominal, Ordinal
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.own import OWN, Own, PairKappas
from annomodels.coefficients.rows import CONVENTIONS, Rows
from annomodels.coefficients.tables import Evaluated
from annomodels.coefficients.weights import Sample
from annomodels.types import Floats

Key = tuple[str, str]
"""Convention, and the distance whose values nodes stand for, or none."""


class Statistics:
    """The linear statistics that some requests need, counted once."""

    def __init__(self, rows: Rows, requests: Sequence[Request]) -> None:
        self.rows = rows
        self.requests = requests
        self.own: dict[int, Own] = {}  # statistics that are not tables of label pairs, by request
        self.pairs: dict[str, CoderPairs] = {}  # of all items, or of complete ones
        self.counts: dict[Key, Counts | CoderPairs] = {}
        self.by_coder: dict[Key, bool] = {}
        self._tables: dict[int, tuple[Key, Distance]] = {}
        for n, r in enumerate(requests):
            if r.coefficient.own:
                self.own[n] = OWN[r.coefficient.own](rows, r.distance, r.convention, r.chance)
            elif r.is_mean_kappa and not isinstance(r.distance, Ordinal):
                self.own[n] = PairKappas(rows, r.distance, r.convention == "listwise")
            elif r.from_pairs:
                self._pairs(r.convention)
            else:
                self._count(n, r)

    def _pairs(self, convention: str) -> CoderPairs:
        if convention not in self.pairs:
            self.pairs[convention] = count_pairs(self.rows, convention == "listwise")
        return self.pairs[convention]

    def _count(self, n: int, request: Request) -> None:
        """Find or make the statistics of a request that tables are made from."""
        name, expectation = request.convention, request.coefficient.expectation
        if name == "pairwise":
            key, distance = (name, ""), request.distance
            self.counts[key] = self._pairs(name)
        else:
            given = request.distance if request.margins is None else Nominal()
            made, distance = count_for(self.rows, CONVENTIONS[name], given, expectation)
            key = name, "" if distance is given else given.name
            self.counts.setdefault(key, made)
            distance = request.distance if distance is given else distance
        self._tables[n] = key, distance
        self.by_coder[key] = self.by_coder.get(key, False) or request.coefficient.by_coder

    @property
    def width(self) -> int:
        """Numbers held for each draw."""
        counts = sum(x.width(self.by_coder[key]) for key, x in self.counts.items())
        own = sum(x.width for x in self.own.values())
        alone = [x for name, x in self.pairs.items() if (name, "") not in self.counts]
        return counts + own + sum(x.width() for x in alone)

    def evaluate(self, weights: Floats) -> list[Evaluated]:
        """All requests under the same weights of the items, shape [item] or [draw, item]."""
        made = {key: x.tables(weights, self.by_coder[key]) for key, x in self.counts.items()}
        found = []
        for n, request in enumerate(self.requests):
            if n in self.own:
                found.append(self.own[n].evaluate(weights))
            elif n not in self._tables:
                found.append(self._of_pairs(request, weights).mean(-1))
            else:
                key, distance = self._tables[n]
                tables = made[key]
                if request.margins is not None:
                    given = np.broadcast_to(request.margins, tables.pooled.shape)
                    tables = replace(tables, pooled=given, n=np.full_like(tables.n, np.inf))
                found.append(evaluate_with(request.coefficient.expectation, tables, distance))
        return found

    def _of_pairs(self, request: Request, weights: Floats) -> Evaluated:
        """Coefficient of each pair of coders who share an item, shape [..., coder pair]."""
        each = self.pairs[request.convention].each(weights)
        return evaluate_with(request.coefficient.expectation, each, request.distance)

    def pairs_left_out(self, n: int, weights: Floats) -> tuple[int, int]:
        """Count pairs of coders that a mean leaves out: they share no item, or are 0/0."""
        mean = self.own.get(n)
        each = (
            mean.each(weights)
            if isinstance(mean, PairKappas)
            else self._of_pairs(self.requests[n], weights)
        )
        every = self.rows.n_coders * (self.rows.n_coders - 1) // 2
        return every - each.value.size, int(np.isnan(each.value).sum())


def point_values(sample: Sample, requests: Sequence[Request]) -> list[Evaluated]:
    """Classical values, one for each request."""
    return Statistics(sample.rows, requests).evaluate(sample.point)


def draw_values(sample: Sample, requests: Sequence[Request], draws: int, seed: int) -> list[Floats]:
    """Draw the sampling posterior, shape [draw] for each request."""
    # The weights depend on the sample and the seed alone, so draws of different coefficients of the
    # same data belong together, whether they are asked for at once or one by one.
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


def draw_parts(sample: Sample, request: Request, draws: int, seed: int) -> Evaluated:
    """Draws of a coefficient with its observed and expected disagreement, shape [draw] each."""
    statistics = Statistics(sample.rows, [request])
    blocks = [
        statistics.evaluate(weights)[0] for weights in sample.draw(draws, seed, statistics.width)
    ]
    return Evaluated(*(np.concatenate(column) for column in zip(*blocks, strict=True)))
