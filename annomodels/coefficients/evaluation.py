"""Any coefficients of one sample, as a value and as draws that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annomodels.coefficients.catalogue import Request
from annomodels.coefficients.counts import Counts, count_for
from annomodels.coefficients.distances import Distance, Nominal
from annomodels.coefficients.formulas import evaluate_with, ratio
from annomodels.coefficients.grouped import Grouped, Pairwise, all_pairs
from annomodels.coefficients.rows import CONVENTIONS, Rows
from annomodels.coefficients.tables import Evaluated, over
from annomodels.coefficients.weights import Sample
from annomodels.types import Floats


class ItemChance:
    """S with a separate chance level :math:`p_i` for every item."""

    # (A_o - A_e) / (1 - A_e), A_e the mean of the p_i, each item weighted as in A_o. Chance items
    # take the mean chance level.

    width = 4

    def __init__(self, rows: Rows, convention: str, chance: Floats | None) -> None:
        chance = np.zeros(0) if chance is None else chance
        counts = Counts(rows, CONVENTIONS[convention])
        pairs = np.asarray(counts.together.sum(0)).reshape(-1)
        alike = counts.together[counts.first == counts.second]
        agreed = np.asarray(alike.sum(0)).reshape(-1)
        some = pairs[: len(chance)] > 0
        mean = chance[some].mean() if some.any() else 0.0
        level = np.concatenate([chance, np.full(rows.n_items - len(chance), mean)])
        self.sums = np.stack([pairs, pairs - agreed, pairs * (1.0 - level)], axis=1)

    def evaluate(self, weights: Floats) -> Evaluated:
        """Coefficient under weights of the items, shape [item] or [draw, item]."""
        sums = weights @ self.sums
        mean = over(sums[..., 1:], sums[..., :1])
        return ratio(mean[..., 0], mean[..., 1], np.ones(()))


Key = tuple[str, str]
"""Convention, and the distance that the values of nodes belong to, or none."""


class Statistics:
    """The linear statistics that some requests need, counted once."""

    def __init__(self, rows: Rows, requests: Sequence[Request]) -> None:
        self.rows = rows
        self.requests = requests
        self.own: dict[int, ItemChance] = {}  # by request
        self.pairs: dict[int, Grouped] = {}  # by request
        self.counts: dict[Key, Counts | Pairwise] = {}
        self.by_coder: dict[Key, bool] = {}
        self._tables: dict[int, tuple[Key, Distance]] = {}
        for n, r in enumerate(requests):
            if r.coefficient.chance:
                self.own[n] = ItemChance(rows, r.convention, r.chance)
            elif r.coefficient.each_pair:
                self.pairs[n] = all_pairs(rows, r)
            else:
                self._count(n, r)

    def _count(self, n: int, request: Request) -> None:
        """Find or make the statistics of a request that tables are made from."""
        name, expectation = request.convention, request.coefficient.expectation
        if name == "pairwise":
            key, distance = (name, ""), request.distance
            if key not in self.counts:
                self.counts[key] = Pairwise(self.rows, request)
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
        return counts + sum(x.width for x in (*self.own.values(), *self.pairs.values()))

    def evaluate(self, weights: Floats) -> list[Evaluated]:
        """All requests under the same weights of the items, shape [item] or [draw, item]."""
        made = {key: x.tables(weights, self.by_coder[key]) for key, x in self.counts.items()}
        found = []
        for n, request in enumerate(self.requests):
            if n in self.own:
                found.append(self.own[n].evaluate(weights))
            elif n in self.pairs:
                found.append(self.pairs[n].evaluate(weights).mean(-1))
            else:
                key, distance = self._tables[n]
                tables = made[key]
                if request.margins is not None:
                    given = np.broadcast_to(request.margins, tables.pooled.shape)
                    tables = replace(tables, pooled=given, n=np.full_like(tables.n, np.inf))
                found.append(evaluate_with(request.coefficient.expectation, tables, distance))
        return found

    def pairs_left_out(self, n: int, weights: Floats) -> tuple[int, int]:
        """Count pairs of coders that a mean leaves out: they share no item, or are 0/0."""
        value = self.pairs[n].evaluate(weights).value
        every = self.rows.n_coders * (self.rows.n_coders - 1) // 2
        return every - value.size, int(np.isnan(value).sum())


def point_values(sample: Sample, requests: Sequence[Request]) -> list[Evaluated]:
    """Classical values, one for each request."""
    return Statistics(sample.rows, requests).evaluate(sample.point)


def draw_values(sample: Sample, requests: Sequence[Request], draws: int, seed: int) -> list[Floats]:
    """Draw the sampling posterior, shape [draw] for each request."""
    if not draws:
        return [np.empty(0) for _ in requests]
    return [found.value for found in draw_parts(sample, requests, draws, seed)]


def draw_parts(
    sample: Sample, requests: Sequence[Request], draws: int, seed: int
) -> list[Evaluated]:
    """Draw coefficients with their observed and expected disagreement, shape [draw] each."""
    # The weights depend on the sample and the seed alone, so draws of different coefficients of the
    # same data belong together, whether they are asked for at once or one by one.
    if not requests:
        return []
    statistics = Statistics(sample.rows, requests)
    blocks = [statistics.evaluate(w) for w in sample.draw(draws, seed, statistics.width)]
    return [
        Evaluated(*(np.concatenate(part) for part in zip(*of_one, strict=True)))
        for of_one in zip(*blocks, strict=True)
    ]
