"""The engine: any coefficients of one sample, as a value and as draws that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from annomodels.coefficients.catalogue import Request
from annomodels.coefficients.counts import (
    CoderPairs,
    Counts,
    Moments,
    count,
    count_pairs,
    few_nodes,
)
from annomodels.coefficients.distances import Distance, Ordinal, Squared
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.own import OWN, Own, PairKappas
from annomodels.coefficients.rows import CONVENTIONS, Rows
from annomodels.coefficients.tables import Evaluated, Tables
from annomodels.coefficients.weights import Sample
from annomodels.types import Floats


class Statistics:
    """The linear statistics that some requests need, counted once."""

    def __init__(self, rows: Rows, requests: Sequence[Request]) -> None:
        self.rows = rows
        self.requests = requests
        self.by_coder = {
            name: any(r.coefficient.by_coder for r in requests if r.convention == name)
            for name in {r.convention for r in requests}
        }

    @cached_property
    def own(self) -> dict[int, Own]:
        """Statistics that are not tables of label pairs, by the number of their request."""
        found: dict[int, Own] = {}
        for n, r in enumerate(self.requests):
            if r.coefficient.own:
                found[n] = OWN[r.coefficient.own](self.rows, r.distance, r.convention, r.chance)
            elif r.is_mean_kappa and not isinstance(r.distance, Ordinal):
                found[n] = PairKappas(self.rows, r.distance, r.convention == "listwise")
        return found

    @cached_property
    def moments(self) -> dict[int, tuple[Moments, Distance]]:
        """Statistics of squared differences of many values, by the number of their request."""
        made: dict[tuple[str, str], Moments] = {}
        found: dict[int, tuple[Moments, Distance]] = {}
        for n, r in enumerate(self.requests):
            nodes = few_nodes(r.distance, r.coefficient.expectation)
            if nodes is None or not r.from_tables or r.convention == "pairwise":
                continue
            if r.margins is None and isinstance(r.distance, Squared):
                key = r.convention, r.distance.name
                new = Moments(self.rows, CONVENTIONS[r.convention], r.distance.values)
                found[n] = made.setdefault(key, new), nodes
        return found

    @cached_property
    def counts(self) -> dict[str, Counts]:
        """Statistics of each convention but ``pairwise``."""
        plain = {
            r.convention
            for n, r in enumerate(self.requests)
            if r.from_tables and n not in self.moments
        }
        return {name: count(self.rows, CONVENTIONS[name]) for name in plain if name != "pairwise"}

    @cached_property
    def pairs(self) -> dict[str, CoderPairs]:
        """Statistics of the pairs of coders, for all items or complete ones."""
        asked = {
            r.convention
            for n, r in enumerate(self.requests)
            if n not in self.own and (r.from_pairs or r.convention == "pairwise")
        }
        if not asked:
            return {}
        return {name: count_pairs(self.rows, name == "listwise") for name in asked}

    @property
    def width(self) -> int:
        """Numbers held for each draw."""
        counts = sum(c.width(self.by_coder[name]) for name, c in self.counts.items())
        counts += sum(
            part.width(self.requests[n].coefficient.by_coder)
            for n, (part, _) in self.moments.items()
        )
        pairs = sum(pairs.width() for pairs in self.pairs.values())
        return counts + pairs + sum(own.width for own in self.own.values())

    def evaluate(self, weights: Floats) -> list[Evaluated]:
        """All requests under the same weights of the items, shape [item] or [draw, item]."""
        tables: dict[str, Tables] = {
            name: counts.tables(weights, self.by_coder[name])
            for name, counts in self.counts.items()
        }
        if any(r.convention == "pairwise" and r.from_tables for r in self.requests):
            tables["pairwise"] = self.pairs["pairwise"].tables(weights)
        found = []
        for n, request in enumerate(self.requests):
            if n in self.own:
                found.append(self.own[n].evaluate(weights))
            elif n in self.moments:
                part, nodes = self.moments[n]
                some = part.tables(weights, request.coefficient.by_coder)
                found.append(evaluate_with(request.coefficient.expectation, some, nodes))
            elif request.from_pairs:
                found.append(self._of_pairs(request, weights).mean(-1))
            else:
                found.append(_of_tables(request, tables[request.convention]))
        return found

    def _of_pairs(self, request: Request, weights: Floats) -> Evaluated:
        """Coefficient of each pair of coders who share an item, shape [..., coder pair]."""
        each = self.pairs[request.convention].each(weights)
        return evaluate_with(request.coefficient.expectation, each, request.distance)

    def pairs_left_out(self, n: int, weights: Floats) -> tuple[int, int]:
        """How many pairs of coders a mean leaves out, as they share no item, and as 0/0."""
        mean = self.own.get(n)
        each = (
            mean.each(weights)
            if isinstance(mean, PairKappas)
            else self._of_pairs(self.requests[n], weights)
        )
        every = self.rows.n_coders * (self.rows.n_coders - 1) // 2
        return every - each.value.size, int(np.isnan(each.value).sum())


def _of_tables(request: Request, tables: Tables) -> Evaluated:
    """Coefficient of tables, with the distribution of labels that the user gave, if any."""
    if request.margins is not None:
        given = np.broadcast_to(request.margins, tables.pooled.shape)
        tables = replace(tables, pooled=given, n=np.full_like(tables.n, np.inf))
    return evaluate_with(request.coefficient.expectation, tables, request.distance)


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


def draw_parts(sample: Sample, request: Request, draws: int, seed: int) -> Evaluated:
    """Draws of a coefficient with its observed and expected disagreement, shape [draw] each."""
    statistics = Statistics(sample.rows, [request])
    blocks = [
        statistics.evaluate(weights)[0] for weights in sample.draw(draws, seed, statistics.width)
    ]
    return Evaluated(*(np.concatenate(column) for column in zip(*blocks, strict=True)))
