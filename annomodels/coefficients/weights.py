r"""Draws of the items' weights: one posterior for all coefficients, without a model of the coders.

The items are exchangeable; their distribution over label patterns has a Dirichlet-process prior
with a small weight on *chance items* (:mod:`~annomodels.coefficients.chance`). So the weights of a
draw are independent Gamma variates, scaled to the number of items (Rubin 1981,
doi:10.1214/aos/1176345338, is the case without chance items).

* The chance items are Jeffreys' prior, from the table of two coders and two labels to any number
  of both: half an item for each label on which all agree (together two at most), and one item of
  disagreement. What an interval needs most are the first ones: without them a sample that missed
  the rare label is sure that there is none.
* Each of the N items of the data has the shape N / (N + 2) instead of 1. The variance of a mean
  over the items is then :math:`s^2 / N` with the unbiased :math:`s^2`; Rubin's is smaller by the
  factor (N - 1) / (N + 1).
* Documents: their weights are drawn and shared by all their items.

``benchmarks/coverage_agreement.py`` measures how often the intervals hold the true value, and what
became of other recipes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.chance import chance_items
from annomodels.coefficients.rows import Rows

__all__ = ["Sample", "make_sample"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REPLACED = 2.0
MANY = 2_000
MEMORY = 1_500_000


@dataclass(frozen=True, eq=False)
class Sample:
    """Items, chance items, and how to draw their weights.

    Parameters
    ----------
    rows
        The items of the data, then the chance items.
    point
        Weights that give the classical value, 0 for chance items, shape [item].
    shape
        Shape of the Gamma weight of each unit, shape [unit].
    unit
        Unit of each item, shape [item].
    n_units
        Number of units in the data: items, or documents where these are drawn.
    documents
        Whether the units are documents.
    recipe
        One sentence that says how the draws are made.
    """

    rows: Rows
    point: Floats
    shape: Floats
    unit: Ints
    n_units: int
    documents: bool
    recipe: str

    @property
    def block(self) -> int:
        """Number of draws whose random numbers belong together.

        It must not depend on what is computed: draws of different coefficients of the same data
        belong together.
        """
        return max(1, MEMORY // len(self.shape))

    def draw(
        self, draws: int, seed: int | np.random.Generator, width: int, first: int = 0
    ) -> Iterator[Floats]:
        """Weights in blocks [draw, item], small enough for `width` further numbers a draw.

        Draws from `first`, where a block begins, up to `draws`. Each block has random numbers of
        its own, so that it does not matter who draws it; a generator goes through all in turn.
        """
        block = self.block
        part = max(1, MEMORY // max(width + self.rows.n_items, 1))
        unequal = np.flatnonzero(self.shape != 1)
        plain = int(unequal[0]) if len(unequal) else len(self.shape)
        for start in range(first, draws, block):
            size = min(block, draws - start)
            rng = _generator(seed, start // block)
            # Items together in memory, as the sparse products want the transpose.
            drawn = np.empty((len(self.shape), size))
            rng.standard_exponential(out=drawn[:plain])
            rng.standard_gamma(self.shape[plain:, None], out=drawn[plain:])
            drawn *= self.n_units / drawn.sum(0)
            for at in range(0, size, part):
                some = drawn[:, at : at + part]
                yield (some[self.unit] if self.documents else np.ascontiguousarray(some)).T


def _generator(seed: int | np.random.Generator, block: int) -> np.random.Generator:
    if isinstance(seed, np.random.Generator) or block == 0:
        return np.random.default_rng(seed)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))


def make_sample(rows: Rows, drawn: bool = True) -> Sample:
    """Add the chance items and say how the weights are drawn.

    Parameters
    ----------
    rows
        The items of the data.
    drawn
        Whether there will be draws; the value alone needs no chance items.
    """
    real = rows.n_items
    by_unit = rows.unit is not None
    if rows.unit is None:
        own, shape = np.arange(real), rows.times
    else:
        own, shape = rows.unit, np.ones(int(rows.unit.max()) + 1)
    n_units = int(shape.sum())
    if n_units < MANY:
        # from here on the factor is 1 to three digits, and exponential weights are drawn faster
        shape = shape * (n_units / (n_units + REPLACED))
    if not drawn:
        return Sample(rows, rows.times, shape, own, n_units, by_unit, recipe="")
    chance = chance_items(rows)
    extended = dataclasses.replace(
        rows,
        item=np.concatenate([rows.item, chance.item + real]),
        coder=np.concatenate([rows.coder, chance.coder]),
        label=np.concatenate([rows.label, chance.label]),
        n_items=real + chance.n_items,
        times=np.concatenate([rows.times, np.zeros(chance.n_items)]),
        unit=None,
    )
    what = "documents" if by_unit else "items"
    return Sample(
        rows=extended,
        point=extended.times,
        shape=np.concatenate([shape, chance.times]),
        unit=np.concatenate([own, len(shape) + np.arange(chance.n_items)]),
        n_units=n_units,
        documents=by_unit,
        recipe=(
            f"Bayesian bootstrap over {what} with Jeffreys' prior in the form of chance items that "
            f"together weigh {chance.times.sum():.3g} items"
        ),
    )
