"""From buckets to blocks: sort items by name and labels of an item by coder, by bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annomodels.data.annotations import Annotations
from annomodels.data.validation import SHOWN, counted, some
from annomodels.engines.source.blocks import (
    BLOCK_LABELS,
    Block,
    cuts,
    expanded_path,
    write_block,
    write_codes,
)
from annomodels.errors import Problem
from annomodels.models.encoded import expanded
from annomodels.scale.intake import SILENT, Places
from annomodels.scale.naturalorder import keys_of
from annomodels.scale.spill import BUCKET_ROWS, Bucket, Columns
from annomodels.types import AnyArray, Bools, Ints


@dataclass(frozen=True, eq=False)
class Recoding:
    """Map from the numbers of names in the intake to their final codes."""

    coder: AnyArray  # final code of each number
    label: AnyArray
    gold: AnyArray
    # final code of the known truth by item name, instead of a gold column
    known: Mapping[str, int] | None = None
    n_labels: int = 0  # size of the label set
    n_kinds: int = 0  # number of labels that are not classes


@dataclass(eq=False)
class Census:
    """Counts while blocks are written; most have the names of fields of :class:`Scanned`."""

    # unlabelled: items without a label. silent: items with only labels that are not classes.
    # dropped: rows that repeat an annotation id. dropped_skips: those of them without a label.

    n_coders: int
    n_labels: int
    n_kinds: int
    repeats: int = 0
    conflicts: int = 0
    shared_items: int = 0
    compared_items: int = 0
    fewest: int = np.iinfo(np.int64).max
    most: int = 0
    n_gold: int = 0
    blocks: list[Block] = field(default_factory=list)
    unlabelled: int = 0
    silent: int = 0
    dropped: int = 0
    dropped_skips: int = 0
    # number of items with two truths, and the first ones with the location of the second truth
    two_truths: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        shape = (3, self.n_coders)
        self.per_coder, self.repeated_pairs, self.repeats_agree = np.zeros(shape, dtype=np.int64)
        self.per_label = np.zeros(self.n_labels, dtype=np.int64)
        self.unanswered = np.zeros((self.n_kinds, self.n_coders), dtype=np.int64)
        self._parent = np.arange(self.n_coders)

    @property
    def n_items(self) -> int:
        """Number of items so far."""
        return self.blocks[-1].first + self.blocks[-1].n_items if self.blocks else 0

    @property
    def components(self) -> int:
        """Number of groups of coders that share no item."""
        return int((self._parent == np.arange(self.n_coders)).sum())

    def count(self, starts: Ints, coder: AnyArray, label: AnyArray, gold: AnyArray) -> None:
        """Add the sorted labels of complete items to the counts."""
        from annomodels.kernels.ordering import survey

        per_item = np.diff(starts)
        self.fewest = min(self.fewest, int(per_item.min()))
        self.most = max(self.most, int(per_item.max()))
        self.n_gold += int((gold >= 0).sum())
        self.compared_items += int(((per_item > 1) | (gold >= 0)).sum())
        self.per_coder += np.bincount(coder, minlength=self.n_coders)
        self.per_label += np.bincount(label, minlength=self.n_labels)
        repeats, conflicts, shared = survey(
            starts, coder, label, self.n_labels,
            self.repeated_pairs, self.repeats_agree, self._parent,
        )  # fmt: skip
        self.repeats += repeats
        self.conflicts += conflicts
        self.shared_items += shared

    def problems(self, column: str) -> list[Problem]:
        """List the problem of items with more than one known truth."""
        if not self.two_truths:
            return []
        names = [name for name, _ in self.examples]
        more = " ..." if self.two_truths > len(names) else ""
        what = f"{counted(self.two_truths, 'item')} with more than one gold: {some(names)}{more}."
        where = "; ".join(place for _, place in self.examples) + f", column {column!r}"
        return [Problem(what, where, "Give every item one gold.")]


def used_truths(buckets: Iterable[Bucket], wanted: AnyArray) -> set[int]:
    """Return which of the wanted truths, by number, labeled items have."""
    used: set[int] = set()
    for bucket in buckets:
        names, columns = bucket.read()
        labeled = _having(names, columns["item"], columns["label"] >= 0)
        gold = columns["gold"][labeled[columns["item"]]]
        used |= set(np.unique(gold[np.isin(gold, wanted)]).tolist())
    return used


def sort_buckets(
    buckets: list[Bucket],
    folder: Path,
    recoding: Recoding,
    places: Places,
    tell: Callable[[float], object],
    bucket_rows: int = BUCKET_ROWS,
    block_labels: int = BLOCK_LABELS,
) -> Census:
    """Write the blocks of each bucket, and return counts."""
    census = Census(int(recoding.coder.max()) + 1, recoding.n_labels, recoding.n_kinds)
    total, done = sum(bucket.rows for bucket in buckets), 0
    for bucket in buckets:
        for part in bucket.cut(bucket_rows):
            _sort(part, folder, recoding, places, census, block_labels)
            part.path.unlink()
        done += bucket.rows
        tell(done / total)
    return census


def _sort(
    bucket: Bucket,
    folder: Path,
    recoding: Recoding,
    places: Places,
    census: Census,
    block_labels: int,
) -> None:
    names, columns = bucket.read()
    if "once" in columns:
        columns = _once(columns, census)
    given, silent = columns["label"] >= 0, columns["label"] <= SILENT
    present, labeled, asked = (
        _having(names, columns["item"], rows) for rows in (slice(None), given, silent)
    )
    census.unlabelled += int((present & ~labeled & ~asked).sum())
    census.silent += int((asked & ~labeled).sum())
    if not labeled.any():
        return
    names = names.filter(pa.array(labeled))
    order = pc.sort_indices(keys_of(names)).to_numpy()
    place = np.full(len(labeled), -1, dtype=np.int64)
    place[np.flatnonzero(labeled)[order]] = np.arange(len(names))
    names = names.take(pa.array(order))
    columns["item"] = place[columns["item"]]
    gold = _gold(names, columns, recoding, places, census)
    starts, coder, label = _by_item_and_coder(
        columns["item"][given],
        recoding.coder[columns["coder"][given]],
        recoding.label[columns["label"][given]],
        (len(names), census.n_coders),
    )
    census.count(starts, coder, label, gold)
    layers = [(starts, coder, label)]
    if recoding.n_kinds:
        rows = {name: cells[silent] for name, cells in columns.items()}
        layers.append(_with_unanswered(rows, recoding, census, layers[0]))
    for lo, hi in pairwise(cuts(starts, block_labels)):
        number = len(census.blocks)
        block, *more = (_between(lo, hi, *codes) for codes in layers)
        write_block(folder, number, names.slice(lo, hi - lo), *block, gold[lo:hi])
        for whole in more:
            write_codes(expanded_path(folder, number), *whole, gold[lo:hi])
        census.blocks.append(Block(census.n_items, hi - lo, int(starts[hi] - starts[lo])))


def _between(
    lo: int, hi: int, starts: Ints, coder: AnyArray, label: AnyArray
) -> tuple[Ints, AnyArray, AnyArray]:
    """Return the sorted codes of items lo..hi, with offsets from 0."""
    rows = slice(int(starts[lo]), int(starts[hi]))
    return starts[lo : hi + 1] - starts[lo], coder[rows], label[rows]


def _having(names: Sized, item: AnyArray, rows: AnyArray | slice) -> Bools:
    """Return True for names that occur in some of the rows."""
    return np.bincount(item[rows], minlength=len(names)) > 0


def _by_item_and_coder(
    item: AnyArray, coder: AnyArray, label: AnyArray, sizes: tuple[int, int]
) -> tuple[Ints, AnyArray, AnyArray]:
    """Sort stably by item and coder; return offsets of items, coders and labels."""
    from annomodels.kernels.ordering import in_order

    rows, by_coder = np.empty((2, len(item)), dtype=np.int64)
    starts = np.zeros(sizes[0] + 1, dtype=np.int64)
    in_order(coder, np.arange(len(item)), np.zeros(sizes[1] + 1, dtype=np.int64), by_coder)
    in_order(item, by_coder, starts, rows)
    return starts, coder[rows], label[rows]


def _once(columns: Columns, census: Census) -> Columns:
    """Drop rows that repeat an annotation id with the same item, coder and label."""
    item, mark = columns["item"], columns["once"]
    order = np.lexsort((mark, item))  # a stable sort
    first, second = order[:-1], order[1:]
    again = np.zeros(len(item), dtype=bool)
    again[second] = (
        (item[first] == item[second]) & (mark[first] == mark[second]) & (mark[second] > 0)
    )
    census.dropped += int(again.sum())
    census.dropped_skips += int((again & (columns["label"] == -1)).sum())
    return {name: cells[~again] for name, cells in columns.items()}


def _with_unanswered(
    columns: Columns, recoding: Recoding, census: Census, codes: tuple[Ints, AnyArray, AnyArray]
) -> tuple[Ints, AnyArray, AnyArray]:
    """Count labels that are not classes, and add them to the sorted codes of the labels."""
    # each coder gets an additional row per kind, see :func:`annomodels.models.encoded.expanded`
    starts, coder, label = codes
    n_items = len(starts) - 1
    item, kind = columns["item"], SILENT - columns["label"]
    rows = np.column_stack([item, recoding.coder[columns["coder"]], kind])
    rows = rows[(rows[:, 0] >= 0) & (rows[:, 1] >= 0)]
    np.add.at(census.unanswered, (rows[:, 2], rows[:, 1]), 1)
    whole = expanded(
        Annotations(
            item=np.repeat(np.arange(n_items), np.diff(starts)), coder=coder, label=label,
            items=(), coders=tuple(range(census.n_coders)), labels=(),
            dont_know=tuple(range(census.n_kinds)), unanswered=rows[np.lexsort(rows.T[::-1])],
        )
    )  # fmt: skip
    begins = np.searchsorted(whole.item, np.arange(n_items + 1))
    return begins, whole.coder, whole.label


def _gold(
    names: pa.LargeStringArray, columns: Columns, recoding: Recoding, places: Places, census: Census
) -> AnyArray:
    """Return the known truth of the sorted items, -1 if unknown."""
    gold = np.full(len(names), -1, dtype=np.int32)
    if recoding.known is not None:
        known = pa.array(list(recoding.known), pa.large_string())
        codes = np.array([*recoding.known.values(), -1], dtype=np.int32)
        gold = codes[pc.fill_null(pc.index_in(names, value_set=known), len(codes) - 1).to_numpy()]
    elif "gold" in columns:
        chosen = (columns["gold"] >= 0) & (columns["item"] >= 0)
        item, value, row = (columns[name][chosen] for name in ("item", "gold", "row"))
        gold[item[::-1]] = value[::-1]  # the first truth counts
        other = gold[item] != value
        twice, first = np.unique(item[other], return_index=True)
        census.two_truths += len(twice)
        for i, number in list(zip(twice, row[other][first], strict=True))[:SHOWN]:
            if len(census.examples) < SHOWN:
                census.examples.append((names[int(i)].as_py(), places.where(int(number))))
        gold = np.where(gold >= 0, recoding.gold[gold], -1).astype(np.int32)
    return gold
