r"""Draws of the items' weights: one posterior for all coefficients, without a model of the coders.

The items are exchangeable; their distribution over label patterns has a Dirichlet-process prior
with a small weight on *chance items*, whose labels are drawn evenly. So the weights of a draw are
independent Gamma variates - shape 1 for each item, a little for each chance item - scaled to the
number of items (Rubin 1981, doi:10.1214/aos/1176345338, is the case without chance items).

* Two coders: the chance items are the cells of the K x K table with 1/2 each, which makes the
  draws exactly those of the Dirichlet-multinomial with Jeffreys' prior. With more than two labels
  the cells together weigh no more than `CELLS_AT_MOST` items: with five labels and 50 items, 1/2 a
  cell makes a 95 % interval of kappa cover .51, the limit of two items .93.
* More coders: `N_CHANCE` chance items by the coders of real items, together `CHANCE_WEIGHT`. They
  keep an interval open where all coders agree, and help a little where a label is rare; a whole
  item or two would pull balanced or ordinal data too far (``coverage_agreement_quick.py`` among
  the benchmarks).
* Documents: their weights are drawn and shared by all their items.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.rows import Rows

__all__ = ["Sample", "make_sample"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHANCE_WEIGHT = 0.5
N_CHANCE = 64
PER_CELL = 0.5
CELLS_AT_MOST = 2.0
MOST_CELLS = 400
MEMORY = 4_000_000


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

    def draw(self, draws: int, seed: int | np.random.Generator, width: int) -> Iterator[Floats]:
        """Weights in blocks [draw, item], small enough for `width` further numbers a draw."""
        rng = np.random.default_rng(seed)
        block = max(1, min(draws, MEMORY // max(width + 2 * self.rows.n_items, 1)))
        other = np.flatnonzero(self.shape != 1)
        for start in range(0, draws, block):
            size = min(block, draws - start)
            drawn = rng.standard_exponential((size, len(self.shape)))
            drawn[:, other] = rng.standard_gamma(self.shape[other], (size, len(other)))
            drawn *= self.n_units / drawn.sum(-1, keepdims=True)
            # Columns together in memory, as the sparse products want the transpose.
            yield np.asfortranarray(drawn[:, self.unit] if self.documents else drawn)


def make_sample(rows: Rows) -> Sample:
    """Add the chance items that the recipe asks for."""
    real = rows.n_items
    by_unit = rows.unit is not None
    cells = rows.n_labels**2
    two = rows.n_coders == 2 and not by_unit and cells <= MOST_CELLS and not rows.repeated
    if two:
        each = min(PER_CELL, CELLS_AT_MOST / cells)
        chance = _cells(rows.n_labels)
        recipe = f"Dirichlet draws of the table of label pairs with {each:.3g} added to each cell"
    else:
        each = CHANCE_WEIGHT / N_CHANCE
        chance = _patterns(rows)
        what = "documents" if by_unit else "items"
        recipe = (
            f"Bayesian bootstrap over {what}, with chance items that together weigh "
            f"{CHANCE_WEIGHT:g} of an item"
        )
    item, coder, label = chance
    n_chance = int(item.max()) + 1
    extended = dataclasses.replace(
        rows,
        item=np.concatenate([rows.item, item + real]),
        coder=np.concatenate([rows.coder, coder]),
        label=np.concatenate([rows.label, label]),
        n_items=real + n_chance,
        times=np.concatenate([rows.times, np.zeros(n_chance)]),
        unit=None,
    )
    if rows.unit is None:
        own, shape = np.arange(real), rows.times
    else:
        own, shape = rows.unit, np.ones(int(rows.unit.max()) + 1)
    return Sample(
        rows=extended,
        point=extended.times,
        shape=np.concatenate([shape, np.full(n_chance, each)]),
        unit=np.concatenate([own, len(shape) + np.arange(n_chance)]),
        n_units=int(shape.sum()),
        documents=by_unit,
        recipe=recipe,
    )


def _cells(k: int) -> tuple[Ints, Ints, Ints]:
    """One item by two coders for every pair of labels."""
    item = np.repeat(np.arange(k * k), 2)
    coder = np.tile([0, 1], k * k)
    label = np.stack(np.divmod(np.arange(k * k), k), axis=1).reshape(-1)
    return item, coder, label


def _patterns(rows: Rows) -> tuple[Ints, Ints, Ints]:
    """Chance items by the coders of items with two labels or more, labels drawn evenly."""
    rng = np.random.default_rng(20_10)
    r = rows.per_item
    pairable = np.flatnonzero(r >= 2)
    if not len(pairable):
        pairable = np.arange(rows.n_items)
    p = rows.times[pairable] / rows.times[pairable].sum()
    chosen = rng.choice(pairable, N_CHANCE, p=p)
    starts = np.cumsum(r) - r
    size = r[chosen]
    offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    coder = rows.coder[np.repeat(starts[chosen], size) + offset]
    item = np.repeat(np.arange(N_CHANCE), size)
    return item, coder, rng.integers(0, rows.n_labels, len(item))
