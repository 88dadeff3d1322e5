"""Annotations prepared for coefficients, and draws of item weights.

Repeats are resolved, and equal items counted once. A convention sets the weight of an item with r
labels; all agree on complete data.

One posterior serves all coefficients, without a coder model: the distribution over label patterns
has a Dirichlet-process prior with a small weight on chance items, so weights are independent Gamma
variates, scaled to the number of items (Rubin 1981, doi:10.1214/aos/1176345338, without chance
items). docs/research/agreement-intervals.md has the recipe, its coverage and rejected alternatives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.catalogue import Coefficient
from annomodels.coefficients.distances import Distance
from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, NotApplicable, Option, Problem
from annomodels.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Convention:
    """Weights of an item with r labels."""

    name: str  # name and description for tables and reports
    sentence: str
    # weight of each ordered pair of labels on an item with r labels
    pair: Callable[[Floats], Floats]
    pooled: Callable[[Floats], Floats]  # weight of each label in the distribution over all coders
    coder: Callable[[Floats], Floats]  # weight of each label in the coder's distribution
    # whether every pair of coders counts the same in the agreement expected between coders;
    # otherwise a pair counts by the product of its coders' labels
    equal_coders: bool = False


def _from_two(weight: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """Apply a weight to items with two labels or more; the rest get 0."""
    return lambda r: np.where(r >= 2, weight(np.maximum(r, 2.0)), 0.0)


_KRIPPENDORFF = Convention(
    "krippendorff",
    "items with two labels or more, each item weighted by its number of labels",
    pair=_from_two(lambda r: 1.0 / (r - 1.0)),
    pooled=_from_two(np.ones_like),
    coder=_from_two(np.ones_like),
)

CONVENTIONS: dict[str, Convention] = {
    "krippendorff": _KRIPPENDORFF,
    "gwet": Convention(
        "gwet",
        "plain mean over items with two labels or more; label shares from all items",
        pair=_from_two(lambda r: 1.0 / (r * (r - 1.0))),
        pooled=lambda r: 1.0 / np.maximum(r, 1.0),
        coder=np.ones_like,
        equal_coders=True,
    ),
    "pairs": Convention(
        "pairs",
        "every pair of labels of an item counts the same",
        pair=_from_two(np.ones_like),
        pooled=_from_two(lambda r: r - 1.0),
        coder=_from_two(lambda r: r - 1.0),
    ),
    "listwise": dataclasses.replace(
        _KRIPPENDORFF, name="listwise", sentence="items that every coder labeled"
    ),
}
"""Conventions by name; ``pairwise`` is a function of ``sums``."""

PAIRWISE = "each pair of coders on the items both labeled, then the mean over the pairs"


Duplicates = Literal["first", "last", "keep", "error"]

SOME = 2_000
PANEL = 2.0
MOST_MEETINGS = 50_000_000


@dataclass(frozen=True, eq=False)
class ItemRows:
    """Labels as codes, sorted by item, with a count for each item."""

    item: Ints  # codes [annotation]
    coder: Ints
    label: Ints
    n_items: int  # sizes
    n_coders: int
    n_labels: int
    times: Floats  # number of data items that each item represents [item]
    # document or batch, the unit of resampling [item]; None if items are resampled
    unit: Ints | None = None

    @cached_property
    def per_item(self) -> Ints:
        """Return the number of labels on each item, shape [item]."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def starts(self) -> Ints:
        """Return the position of the first label of each item, shape [item]."""
        return np.asarray(np.cumsum(self.per_item) - self.per_item)

    def where(self, items: Ints) -> Ints:
        """Return the positions of the labels of some items, item by item."""
        return ranges(self.starts[items], self.per_item[items])[0]

    @cached_property
    def pairable(self) -> Ints:
        """Return items with two or more labels; all items if there are none."""
        found = np.flatnonzero(self.per_item >= 2)
        return found if len(found) else np.arange(self.n_items)

    @cached_property
    def is_panel(self) -> bool:
        """True if coders labeled half of the pairable items or more, and none twice."""
        items, labels = self.times[self.pairable], (self.times * self.per_item)[self.pairable]
        return bool(self.n_coders * items.sum() <= PANEL * labels.sum()) and not self.repeated

    @cached_property
    def repeated(self) -> bool:
        """True if a coder labeled an item more than once."""
        cell = self.item * self.n_coders + self.coder
        if (cell[1:] > cell[:-1]).all():
            return False
        return len(np.unique(cell)) < len(cell)


def with_labels(data: Annotations, labels: Sequence[Hashable]) -> Annotations:
    declared = tuple(labels)
    lookup = {name: code for code, name in enumerate(declared)}
    used = {data.labels[code] for code in np.unique(data.label)}
    problems = []
    if len(lookup) < len(declared):
        what = "A label is declared twice."
        remedy = "Name each label once."
        problems.append(Problem(what, f"labels {declared}", remedy))
    unknown = sorted(label_text(name) for name in used if name not in lookup)
    if unknown:
        what = f"The data use labels that are not declared: {', '.join(unknown[:5])}."
        remedy = "Declare them too, or fix the data."
        problems.append(Problem(what, f"declared {', '.join(map(label_text, declared))}", remedy))
    if problems:
        raise AnnotationError(problems)
    recode = np.array([lookup.get(name, -1) for name in data.labels], dtype=np.int32)
    gold = None
    if data.gold is not None:
        gold = np.where(data.gold >= 0, recode[data.gold], -1)
    return data.replace(label=recode[data.label], labels=declared, declared=True, gold=gold)


def prepare(data: Annotations, duplicates: Duplicates = "first", groups: bool = False) -> ItemRows:
    """Resolve repeats; the rows keep one item per item of the data."""
    if duplicates not in get_args(Duplicates):
        raise NotApplicable(
            f"duplicates={duplicates!r} is unknown. Use one of {', '.join(get_args(Duplicates))}."
        )
    if duplicates == "error" and data.repeats:
        same = (data.item[1:] == data.item[:-1]) & (data.coder[1:] == data.coder[:-1])
        at = int(np.flatnonzero(same)[0])
        what = f"{counted(data.repeats, 'label')} repeat an earlier one of the same coder and item."
        remedy = 'Take duplicates="first" or "last" to leave them out, "keep" to count them.'
        raise AnnotationError(
            what,
            f"first: coder {data.coders[data.coder[at]]}, item {data.items[data.item[at]]}",
            remedy,
        )
    if duplicates in ("first", "last"):
        data = data.without_repeats("first" if duplicates == "first" else "last")
    unit = None
    if groups and data.group is not None:
        unit = np.unique(data.group, return_inverse=True)[1].astype(np.int64)
    return ItemRows(
        item=data.item.astype(np.int64),
        coder=data.coder.astype(np.int64),
        label=data.label.astype(np.int64),
        n_items=data.n_items,
        n_coders=data.n_coders,
        n_labels=data.n_labels,
        times=np.ones(data.n_items),
        unit=unit,
    )


def collapse(rows: ItemRows) -> ItemRows:
    """Merge items with equal labels by the same coders, and count them."""
    # 3,869 X-rays by five dentists are 32 different items. Not in a crowd, where few items
    # are equal, nor if groups are resampled.
    if rows.unit is not None or not len(rows.item):
        return rows
    some = np.arange(0, rows.n_items, -(-rows.n_items // SOME))
    if len(some) < rows.n_items and len(np.unique(_marks(rows, some))) > len(some) / 2:
        return rows
    marks = _marks(rows, np.arange(rows.n_items))
    _, chosen, pattern = np.unique(marks, return_index=True, return_inverse=True)
    order = np.argsort(chosen)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    chosen = chosen[order]
    kept = rows.where(chosen)
    return dataclasses.replace(
        rows,
        item=np.repeat(np.arange(len(chosen)), rows.per_item[chosen]),
        coder=rows.coder[kept],
        label=rows.label[kept],
        n_items=len(chosen),
        times=np.bincount(place[pattern], weights=rows.times, minlength=len(chosen)),
    )


def restrict(rows: ItemRows, kept: Bools, items: bool = False) -> ItemRows:
    """Keep some annotations with their coders, and all items or only theirs."""
    coders, coder = np.unique(rows.coder[kept], return_inverse=True)
    found = dataclasses.replace(
        rows, item=rows.item[kept], coder=coder, label=rows.label[kept], n_coders=len(coders)
    )
    if not items:
        return found
    names, item = np.unique(found.item, return_inverse=True)
    return dataclasses.replace(
        found, item=item, n_items=len(names), times=rows.times[names], unit=None
    )


def _marks(rows: ItemRows, items: Ints) -> NDArray[np.uint64]:
    """Hash items: equal items always collide, others with probability 2 to the -64."""
    rng = np.random.default_rng(1979)
    by_coder, by_label = (
        rng.integers(0, 2**64, size, dtype=np.uint64) for size in (rows.n_coders, rows.n_labels)
    )
    kept = rows.where(items)
    mixed = (by_coder[rows.coder[kept]] ^ by_label[rows.label[kept]]) * np.uint64(
        0x9E3779B97F4A7C15
    )
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    upto = np.concatenate([[np.uint64(0)], np.cumsum(mixed)])
    ends = np.cumsum(rows.per_item[items])
    return np.asarray(upto[ends] - upto[ends - rows.per_item[items]])


def intra_coder(data: Annotations) -> tuple[float, int]:
    """Return intra-coder agreement on items that a coder labeled more than once."""
    cell = data.item.astype(np.int64) * data.n_coders + data.coder
    _, code, size = np.unique(cell, return_inverse=True, return_counts=True)
    _, alike = np.unique(code * np.int64(data.n_labels) + data.label, return_counts=True)
    pairs = int((size * (size - 1) // 2).sum())
    agree = int((alike * (alike - 1) // 2).sum())
    return (agree / pairs if pairs else float("nan")), pairs


def constant_labels(coder: Ints, label: Ints, n_coders: int) -> Ints:
    """Return the label of each coder who used only one, else -1, shape [coder]."""
    low, high = np.full((2, n_coders), -1)
    low[coder] = label
    np.minimum.at(low, coder, label)
    np.maximum.at(high, coder, label)
    return np.where(low == high, low, -1)


def label_counts(rows: ItemRows) -> tuple[Ints, Ints, Ints, Ints]:
    """Count each item's labels: item, label and count of each cell; start of each item."""
    cell, times = np.unique(rows.item * rows.n_labels + rows.label, return_counts=True)
    item, label = np.divmod(cell, rows.n_labels)
    starts = np.searchsorted(item, np.arange(rows.n_items + 1))
    return item, label, times, starts


def ranges(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the concatenated positions of ranges, and the range of each."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return (starts - before)[owner] + np.arange(len(owner)), owner


def within_items(owner: Ints, size: int) -> tuple[Ints, Ints]:
    """Return all position pairs (a <= b) with the same owner; `owner` is sorted, < `size`."""
    ends, position = np.cumsum(np.bincount(owner, minlength=size)), np.arange(len(owner))
    b, a = ranges(position, ends[owner] - position)
    return a, b


class Meetings(NamedTuple):
    """Items that two coders both labeled, for all pairs of coders."""

    pairs: Ints  # the two coders as one integer [coder pair]
    pair: Ints  # pair of coders, item, and the labels of the two [meeting]
    item: Ints
    first: Ints
    second: Ints


def meetings(rows: ItemRows, complete_only: bool = False) -> Meetings:
    r = rows.per_item
    if (r * (r - 1) // 2).sum() > MOST_MEETINGS:
        raise NotApplicable(
            f"The items hold more than {MOST_MEETINGS:,} pairs of labels, too many to look at each "
            f"pair of coders. Use alpha, k or multi_kappa, {Option('by', 'coder')}, or fewer items."
        )
    item, coder, label = rows.item, rows.coder, rows.label
    if complete_only:
        full = (r == rows.n_coders)[item]
        item, coder, label = item[full], coder[full], label[full]
    a, b = within_items(item, rows.n_items)
    differ = coder[a] != coder[b]
    a, b = a[differ], b[differ]
    pairs, pair = np.unique(coder[a] * rows.n_coders + coder[b], return_inverse=True)
    return Meetings(pairs, pair, item[a], label[a], label[b])


PER_LABEL = 0.5
AGREED_AT_MOST = 2.0
DISAGREED = 1.0
N_AGREED = 96
N_DISAGREED = 64
CHANCE_LABELS = 1_500_000
MOST_TIMES = 2


def chance_items(rows: ItemRows) -> ItemRows:
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


def _joined(rows: ItemRows, more: ItemRows, times: Floats) -> ItemRows:
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


def _rows(rows: ItemRows, item: Ints, coder: Ints, label: Ints, weight: float) -> ItemRows:
    """Build rows whose items share a total weight."""
    n = int(item[-1]) + 1
    return ItemRows(item, coder, label, n, rows.n_coders, rows.n_labels, np.full(n, weight / n))


def _donors(rows: ItemRows, n: int, rng: np.random.Generator) -> Ints | None:
    """Choose items of a crowd whose coders label the chance items; None in a panel."""
    # If the chance items of a panel also lacked labels, each pair of coders would share only
    # some of them, and the prior of their kappa would be too weak.
    pairable = rows.pairable
    upto = np.cumsum(rows.times[pairable])
    drawn = np.searchsorted(upto, rng.random(n) * upto[-1], side="right")
    chosen = pairable[np.minimum(drawn, len(pairable) - 1)]
    return None if rows.is_panel else np.asarray(chosen)


def _labeled(rows: ItemRows, donors: Ints | None, n: int) -> tuple[Ints, Ints]:
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
    rows: ItemRows  # the items of the data, then the chance items
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


def make_sample(rows: ItemRows, drawn: bool = True) -> Sample:
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
    rows: ItemRows  # the same, with repeats resolved
    sample: Sample  # items and the distribution of their weights
    request: Request
    draws: int  # number of draws and their seed
    seed: int
