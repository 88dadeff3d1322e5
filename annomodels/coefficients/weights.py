"""Draws of item weights: one posterior for all coefficients, without a coder model.

The distribution over label patterns has a Dirichlet-process prior with a small weight on chance
items, so weights are independent Gamma variates, scaled to the number of items (Rubin 1981,
doi:10.1214/aos/1176345338, without chance items). docs/research/agreement-intervals.md has the
recipe, its coverage and rejected alternatives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annomodels.coefficients.catalogue import Coefficient
from annomodels.coefficients.distances import Distance
from annomodels.coefficients.rows import Rows, collapse
from annomodels.data.annotations import Annotations
from annomodels.types import Floats, Ints

PER_LABEL = 0.5
AGREED_AT_MOST = 2.0
DISAGREED = 1.0
N_AGREED = 96
N_DISAGREED = 64
CHANCE_LABELS = 1_500_000
MOST_TIMES = 2


def chance_items(rows: Rows) -> Rows:
    # Jeffreys' prior, from the table of two coders and two labels to any number of both: half an
    # item for each label on which all agree (at most two in total), and one of disagreement.
    # Without the first ones, a sample without the rare label implies that it does not occur.
    # In a panel, where coders label half of the items or more, all of them label each chance item;
    # in a crowd it has the coders of one item of the data. A panel of tens of thousands of coders
    # gets fewer chance items, of the same weight, so that memory grows with the labels.
    rng = np.random.default_rng(20_10)
    k = rows.n_labels
    fit = max(CHANCE_LABELS, MOST_TIMES * len(rows.item)) // rows.n_coders
    n_agreed, n_disagreed = max(2, min(N_AGREED, fit)), max(2, min(N_DISAGREED, fit))
    labels = np.arange(k) if k <= n_agreed else np.sort(rng.choice(k, n_agreed, replace=False))
    each = n_agreed // len(labels)
    item, coder = _labeled(rows, _donors(rows, each * len(labels), rng), each * len(labels))
    agreed = _rows(rows, item, coder, labels[item // each], min(PER_LABEL * k, AGREED_AT_MOST))
    if k < 2:
        return collapse(agreed)
    turns = np.arange(k) if k <= n_agreed else np.arange(n_agreed) * k // n_agreed
    most = max(1, n_disagreed // len(turns))
    most -= most % (k - 1) if most >= k else 0  # all label pairs are equally frequent
    donors = _donors(rows, n_disagreed, rng)
    item, coder = _labeled(rows, None if donors is None else donors[:most], most)
    label = _disagreeing(np.bincount(item, minlength=most), n_disagreed, k, rng)
    # rotate the labels, to make all equally frequent
    turn = np.repeat(np.arange(len(turns)), len(item))
    item, coder = np.tile(item, len(turns)) + turn * (int(item[-1]) + 1), np.tile(coder, len(turns))
    label = (np.tile(label, len(turns)) + turns[turn]) % k
    disagreed = _rows(rows, item, coder, label, DISAGREED)
    return collapse(_joined(agreed, disagreed, disagreed.times))


def _joined(rows: Rows, more: Rows, times: Floats) -> Rows:
    """Append rows, with the number of items that each represents."""
    return dataclasses.replace(
        rows,
        item=np.concatenate([rows.item, more.item + rows.n_items]),
        coder=np.concatenate([rows.coder, more.coder]),
        label=np.concatenate([rows.label, more.label]),
        n_items=rows.n_items + more.n_items,
        times=np.concatenate([rows.times, times]),
        unit=None,
    )


def _rows(rows: Rows, item: Ints, coder: Ints, label: Ints, weight: float) -> Rows:
    """Build rows whose items share a total weight."""
    n = int(item[-1]) + 1
    return Rows(item, coder, label, n, rows.n_coders, rows.n_labels, np.full(n, weight / n))


def _donors(rows: Rows, n: int, rng: np.random.Generator) -> Ints | None:
    """Choose items of a crowd whose coders label the chance items; None in a panel."""
    # If the chance items of a panel also lacked labels, each pair of coders would share only
    # some of them, and the prior of their kappa would be too weak.
    pairable = rows.pairable
    upto = np.cumsum(rows.times[pairable])
    drawn = np.searchsorted(upto, rng.random(n) * upto[-1], side="right")
    chosen = pairable[np.minimum(drawn, len(pairable) - 1)]
    return None if rows.is_panel else np.asarray(chosen)


def _labeled(rows: Rows, donors: Ints | None, n: int) -> tuple[Ints, Ints]:
    """Return the chance item and coder of each label."""
    if donors is None:
        return np.repeat(np.arange(n), rows.n_coders), np.tile(np.arange(rows.n_coders), n)
    return np.repeat(np.arange(n), rows.per_item[donors]), rows.coder[rows.where(donors)]


def _disagreeing(size: Ints, n_items: int, k: int, rng: np.random.Generator) -> Ints:
    """Return labels of items with `size` labels, not all equal, the first of each 0."""
    patterns = []
    for n, r in enumerate(size.tolist()):
        others = r - 1
        if others * np.log(k) < np.log(n_items):
            code = 1 + n % max(k**others - 1, 1)
            label = code // k ** np.arange(others) % k
        else:
            label = rng.integers(0, k, others)
            if not label.any():
                label[-1] = 1
        patterns.append(np.concatenate([[0], label]))
    return np.concatenate(patterns).astype(np.int64)


REPLACED = 2.0
MANY = 2_000
MEMORY = 1_500_000


@dataclass(frozen=True, eq=False)
class Sample:
    rows: Rows  # the items of the data, then the chance items
    point: Floats  # weights that give the classical value, 0 for chance items [item]
    shape: Floats  # shape of the Gamma weight of each unit [unit]
    unit: Ints  # unit of each item [item]
    n_units: int  # number of units in the data: items, or documents if these are resampled
    documents: bool
    recipe: str  # one sentence on how the draws are made

    @property
    def block(self) -> int:
        """Return the number of draws per block of random numbers."""
        # It must not depend on the coefficient: draws of all coefficients are joint.
        return max(1, MEMORY // len(self.shape))

    def draw(self, draws: int, seed: int, width: int) -> Iterator[Floats]:
        """Yield weights in blocks [draw, item] that leave room for `width` values per draw."""
        block = self.block
        part = max(1, MEMORY // max(width + self.rows.n_items, 1))
        unequal = np.flatnonzero(self.shape != 1)
        plain = int(unequal[0]) if len(unequal) else len(self.shape)
        for start in range(0, draws, block):
            size = min(block, draws - start)
            key = (start // block,) if start else ()
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
            # Items are contiguous in memory, because sparse products use the transpose.
            drawn = np.empty((len(self.shape), size))
            rng.standard_exponential(out=drawn[:plain])
            rng.standard_gamma(self.shape[plain:, None], out=drawn[plain:])
            drawn *= self.n_units / drawn.sum(0)
            for at in range(0, size, part):
                some = drawn[:, at : at + part]
                yield (some[self.unit] if self.documents else np.ascontiguousarray(some)).T


def make_sample(rows: Rows, drawn: bool = True) -> Sample:
    real = rows.n_items
    by_unit = rows.unit is not None
    if rows.unit is None:
        own, shape = np.arange(real), rows.times
    else:
        own, shape = rows.unit, np.ones(int(rows.unit.max()) + 1)
    n_units = int(shape.sum())
    if n_units < MANY:
        # from here the factor is 1 to three digits, and exponential weights are faster to draw
        shape = shape * (n_units / (n_units + REPLACED))
    if not drawn:
        return Sample(rows, rows.times, shape, own, n_units, by_unit, recipe="")
    chance = chance_items(rows)
    extended = _joined(rows, chance, np.zeros(chance.n_items))
    what = "whole groups of items" if by_unit else "items"
    return Sample(
        rows=extended,
        point=extended.times,
        shape=np.concatenate([shape, chance.times]),
        unit=np.concatenate([own, len(shape) + np.arange(chance.n_items)]),
        n_units=n_units,
        documents=by_unit,
        recipe=(
            f"Bayesian bootstrap over {what}, which draws their weights at random, with a little "
            f"agreement by chance added (Jeffreys' prior, worth {chance.times.sum():.3g} items) so "
            "that few items do not look certain"
        ),
    )


@dataclass(frozen=True, eq=False)
class Request:
    coefficient: Coefficient  # its entry in the catalogue
    distance: Distance
    convention: str
    # label proportions that replace the observed distribution [label]
    margins: Floats | None = None
    chance: Floats | None = None  # chance level of each item of the data [item]
    reason: str = ""  # reason it cannot be computed, a key of :data:`~.reasons.REASONS`
    note: str = ""  # note on the choice of the coefficient

    @property
    def nominal(self) -> bool:
        """True if labels are only equal or different."""
        return self.distance.name == "nominal"

    @property
    def title(self) -> str:
        entry = self.coefficient
        plain = self.nominal or entry.numeric
        return entry.title if plain else f"{entry.title}, {self.distance.name}"


@dataclass(frozen=True, eq=False)
class Basis:
    data: Annotations  # annotations, with the label set in use
    rows: Rows  # the same, with repeats resolved
    sample: Sample  # items and the distribution of their weights
    request: Request
    draws: int  # number of draws and their seed
    seed: int
