"""Coefficients of one sample: values and joint draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annomodels.coefficients.distances import Distance, Nominal, Squared
from annomodels.coefficients.formulas import ratio
from annomodels.coefficients.rows import CONVENTIONS, Rows
from annomodels.coefficients.sums import Sums, by_coder_pair, nodes_for, of_items, pairable_labels
from annomodels.coefficients.tables import Evaluated, over
from annomodels.coefficients.weights import Request, Sample
from annomodels.errors import NotApplicable
from annomodels.types import Floats

MOST_CELLS = 20_000_000


def all_pairs(rows: Rows, request: Request) -> Sums:
    """Collect each pair of coders, if all fit into memory at once."""
    pairs, names = by_coder_pair(rows, request.convention == "listwise")
    size, k = len(names), rows.n_labels
    if size * k > MOST_CELLS:
        raise NotApplicable(
            f"{size:,} pairs of coders with {k:,} labels need {size * k:,} cells (at most "
            f"{MOST_CELLS:,}). Take another convention than pairwise, or fewer coders."
        )
    return pairs


def pairwise(rows: Rows, request: Request) -> Sums:
    """Collect pairs of coders with a shared item, with equal weights."""
    number = pairable_labels(rows, CONVENTIONS["krippendorff"])
    return replace(all_pairs(rows, request), even=True, number=number)


def item_chances(rows: Rows, request: Request) -> Floats:
    """Return pairs, disagreeing pairs, and those expected by chance, shape [item, 3]."""
    # S with a separate chance level p_i for every item is (A_o - A_e) / (1 - A_e), A_e the mean of
    # the p_i, each item weighted as in A_o. Chance items take the mean chance level.
    chance = np.zeros(0) if request.chance is None else request.chance
    sums = of_items(rows, CONVENTIONS[request.convention])
    pairs = sums.total.toarray()[0]
    apart = sums.apart(Nominal(), np.ones(rows.n_labels)).toarray()[0]
    some = pairs[: len(chance)] > 0
    mean = chance[some].mean() if some.any() else 0.0
    level = np.concatenate([chance, np.full(rows.n_items - len(chance), mean)])
    return np.stack([pairs, apart, pairs * (1.0 - level)], axis=1)


class Statistics:
    """Linear statistics that some requests need, computed once."""

    def __init__(self, rows: Rows, requests: Sequence[Request]) -> None:
        self.rows = rows
        self.requests = requests
        self.items: dict[int, Floats] = {}  # by request
        self.pairs: dict[int, Sums] = {}  # by request
        self.sums: dict[tuple[str, str], Sums] = {}  # by convention and distance of nodes
        self._of: dict[int, tuple[tuple[str, str], Distance]] = {}
        for n, request in enumerate(requests):
            if request.coefficient.chance:
                self.items[n] = item_chances(rows, request)
            elif request.coefficient.each_pair:
                self.pairs[n] = all_pairs(rows, request)
            else:
                self._of[n] = self._sums(request)
        self.by_coder = {
            key: any(
                requests[n].coefficient.by_coder for n, (of, _) in self._of.items() if of == key
            )
            for key in self.sums
        }

    def _sums(self, request: Request) -> tuple[tuple[str, str], Distance]:
        name = request.convention
        if name == "pairwise":
            if (name, "") not in self.sums:
                self.sums[name, ""] = pairwise(self.rows, request)
            return (name, ""), request.distance
        given = request.distance if request.margins is None else Nominal()
        nodes = nodes_for(given, request.coefficient.expectation)
        key = name, "" if nodes is None else given.name
        if key not in self.sums:
            values = given.values if nodes and isinstance(given, Squared) else None
            self.sums[key] = of_items(self.rows, CONVENTIONS[name], values)
        return key, nodes or request.distance

    @property
    def width(self) -> int:
        distances = dict(self._of.values())
        counts = sum(x.width(distances[key], self.by_coder[key]) for key, x in self.sums.items())
        pairs = (x.width(self.requests[n].distance, True) for n, x in self.pairs.items())
        return counts + sum(pairs) + 4 * len(self.items)

    def evaluate(self, weights: Floats) -> list[Evaluated]:
        """Evaluate all requests under the same item weights, shape [item] or [draw, item]."""
        tables = {key: x.tables(weights, self.by_coder[key]) for key, x in self.sums.items()}
        found = []
        for n, request in enumerate(self.requests):
            if n in self.items:
                sums = weights @ self.items[n]
                mean = over(sums[..., 1:], sums[..., :1])
                found.append(ratio(mean[..., 0], mean[..., 1], np.ones(())))
            elif n in self.pairs:
                found.append(self.pairs[n].evaluate(weights, request).mean(-1))
            else:
                key, distance = self._of[n]
                found.append(self.sums[key].evaluate(weights, request, distance, tables[key]))
        return found

    def pairs_left_out(self, n: int, weights: Floats) -> tuple[int, int]:
        """Count coder pairs that a mean omits: they share no item, or are 0/0."""
        value = self.pairs[n].evaluate(weights, self.requests[n]).value
        every = self.rows.n_coders * (self.rows.n_coders - 1) // 2
        return every - value.size, int(np.isnan(value).sum())


def point_values(sample: Sample, requests: Sequence[Request]) -> list[Evaluated]:
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
    # The weights depend only on the sample and the seed, so draws of different coefficients of the
    # same data are joint, whether computed in one call or several.
    if not requests:
        return []
    statistics = Statistics(sample.rows, requests)
    blocks = [statistics.evaluate(w) for w in sample.draw(draws, seed, statistics.width)]
    return [
        Evaluated(*(np.concatenate(part) for part in zip(*of_one, strict=True)))
        for of_one in zip(*blocks, strict=True)
    ]
