"""Buckets to blocks: one bucket at a time, items by name, labels of an item by coder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.validation import SHOWN, counted, some
from annomodels.errors import Problem
from annomodels.scale.blocks import BLOCK_LABELS, Block, cuts, write_block
from annomodels.scale.intake import SILENT
from annomodels.scale.naturalorder import keys_of, ranks
from annomodels.scale.places import Places
from annomodels.scale.repeated import repeats
from annomodels.scale.spill import BUCKET_ROWS, Bucket, cut_again
from annomodels.scale.unanswered import Expansion, expansion

__all__ = ["Census", "Recoding", "sort_buckets", "used_truths"]

Ints = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Recoding:
    """From the numbers under which names were met to their final codes.

    Parameters
    ----------
    coder, label, gold
        Final code of each number.
    known
        Known truth by name of the item as final codes, instead of a column of gold.
    n_labels
        Size of the label set.
    n_kinds
        Number of labels that are no class.
    """

    coder: Ints
    label: Ints
    gold: Ints
    known: Mapping[str, int] | None = None
    n_labels: int = 0
    n_kinds: int = 0


@dataclass(eq=False)
class Census:
    """What is counted while blocks are written."""

    per_coder: Ints
    pairs: Ints
    same: Ints
    parent: Ints
    # how often each label was given, shape [label], and each that is no class, [kind, coder]
    per_label: Ints
    unanswered: Ints
    # repeats, repeats that differ, items with two coders, fewest and most labels of an item
    found: Ints = field(default_factory=lambda: np.array([0, 0, 0, np.iinfo(np.int64).max, 0]))
    blocks: list[Block] = field(default_factory=list)
    unlabelled: int = 0
    # items that have no label but those that are no class
    silent: int = 0
    # rows that repeat an annotation id, and those among them without a label
    dropped: int = 0
    dropped_skips: int = 0
    compared: int = 0
    known: int = 0
    conflicts: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, n_coders: int, n_labels: int, n_kinds: int = 0) -> Census:
        """Begin to count."""
        per_coder, pairs, same = (np.zeros(n_coders, dtype=np.int64) for _ in range(3))
        unanswered = np.zeros((n_kinds, n_coders), dtype=np.int64)
        per_label = np.zeros(n_labels, dtype=np.int64)
        return cls(per_coder, pairs, same, np.arange(n_coders), per_label, unanswered)

    @property
    def n_items(self) -> int:
        """Number of items so far."""
        return self.blocks[-1].first + self.blocks[-1].n_items if self.blocks else 0

    @property
    def components(self) -> int:
        """In how many parts that share no item the coders fall."""
        return int((self.parent == np.arange(len(self.parent))).sum())

    def problems(self, column: str) -> list[Problem]:
        """Say which items have more than one known truth."""
        if not self.conflicts:
            return []
        names = [name for name, _ in self.examples]
        more = " ..." if self.conflicts > len(names) else ""
        what = f"{counted(self.conflicts, 'item')} with more than one gold: {some(names)}{more}."
        where = "; ".join(place for _, place in self.examples) + f", column {column!r}"
        return [Problem(what, where, "Give every item one gold.")]


def used_truths(buckets: Iterable[Bucket], wanted: Ints) -> set[int]:
    """Which of some truths, by their numbers, are known of items that somebody labelled."""
    found: set[int] = set()
    for bucket in buckets:
        names, columns = bucket.read()
        labelled = np.zeros(len(names), dtype=bool)
        labelled[columns["item"][columns["label"] >= 0]] = True
        gold = columns["gold"][labelled[columns["item"]]]
        found |= set(np.unique(gold[np.isin(gold, wanted)]).tolist())
    return found


def sort_buckets(
    buckets: list[Bucket],
    folder: Path,
    recoding: Recoding,
    places: Places,
    tell: Callable[[float], None],
    bucket_rows: int = BUCKET_ROWS,
    block_labels: int = BLOCK_LABELS,
) -> Census:
    """Write blocks, bucket after bucket, and count.

    Parameters
    ----------
    buckets
        The spilled rows; their files are removed when they are done.
    folder
        Where the blocks go.
    recoding
        Final codes.
    places
        Where rows stand, for messages.
    tell
        Called with the share of the rows that is done.
    bucket_rows, block_labels
        Rows that a bucket should hold, and labels that a block may hold.
    """
    census = Census.of(int(recoding.coder.max()) + 1, recoding.n_labels, recoding.n_kinds)
    total, done = sum(bucket.rows for bucket in buckets), 0
    for bucket in buckets:
        for part in cut_again(bucket, bucket_rows):
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
    import pyarrow as pa

    from annomodels.kernels.ordering import group, survey

    names, columns = _once(*bucket.read(), census)
    given = columns["label"] >= 0
    labelled, asked = (
        np.bincount(columns["item"][rows], minlength=len(names)) > 0
        for rows in (given, columns["label"] <= SILENT)
    )
    census.unlabelled += int((~labelled & ~asked).sum())
    census.silent += int((~labelled & asked).sum())
    if not labelled.any():
        return
    kept = np.flatnonzero(labelled)
    names = names.take(pa.array(kept))
    order, rank = ranks(keys_of(names))
    names = names.take(pa.array(order))
    place = np.full(len(labelled), -1, dtype=np.int64)
    place[kept] = rank
    item = place[columns["item"][given]]
    coder = recoding.coder[columns["coder"][given]]
    label = recoding.label[columns["label"][given]]
    starts = np.zeros(len(names) + 1, dtype=np.int64)
    rows = np.empty(len(item), dtype=np.int64)
    group(item, coder, starts, rows)
    coder, label = coder[rows], label[rows]
    gold = _gold(names, columns, place, recoding, places, census)
    survey(
        starts, coder, label, recoding.n_labels,
        census.per_coder, census.pairs, census.same, census.parent, census.found,
    )  # fmt: skip
    census.compared += int(((np.diff(starts) > 1) | (gold >= 0)).sum())
    census.per_label += np.bincount(label, minlength=recoding.n_labels)
    whole = _with_unanswered(columns, place, recoding, census, (starts, coder, label))
    edges = cuts(starts, block_labels)
    for lo, hi in pairwise(edges):
        begin, end = int(starts[lo]), int(starts[hi])
        write_block(
            folder, len(census.blocks), names.slice(lo, hi - lo), starts[lo : hi + 1] - begin,
            coder[begin:end], label[begin:end], gold[lo:hi],
        )  # fmt: skip
        if whole is not None:
            whole.write(folder, len(census.blocks), lo, hi, gold[lo:hi])
        census.blocks.append(Block(census.n_items, hi - lo, end - begin))


def _once(names: Any, columns: dict[str, Ints], census: Census) -> tuple[Any, dict[str, Ints]]:
    """Leave out rows that repeat an annotation id with the same item, coder and label."""
    if "once" not in columns:
        return names, columns
    again = repeats(columns["item"], columns["once"])
    census.dropped += int(again.sum())
    census.dropped_skips += int((again & (columns["label"] == -1)).sum())
    return names, {name: values[~again] for name, values in columns.items()}


def _with_unanswered(
    columns: Mapping[str, Ints],
    place: Ints,
    recoding: Recoding,
    census: Census,
    codes: tuple[Ints, Ints, Ints],
) -> Expansion | None:
    """Count labels that are no class, and put them beside the sorted codes of the others."""
    if not recoding.n_kinds:
        return None
    n_coders = census.unanswered.shape[1]
    silent = np.flatnonzero(columns["label"] <= SILENT)
    item, kind = place[columns["item"][silent]], SILENT - columns["label"][silent]
    coder = recoding.coder[columns["coder"][silent]]
    known = (item >= 0) & (coder >= 0)
    rows = np.column_stack([item[known], coder[known], kind[known]])
    np.add.at(census.unanswered, (rows[:, 2], rows[:, 1]), 1)
    return expansion(*codes, rows, n_coders, recoding.n_kinds)


def _gold(
    names: Any,
    columns: Mapping[str, Ints],
    place: Ints,
    recoding: Recoding,
    places: Places,
    census: Census,
) -> Ints:
    """Known truth of the items, -1 where unknown."""
    gold = np.full(len(names), -1, dtype=np.int32)
    if recoding.known is not None:
        import pyarrow as pa
        import pyarrow.compute as pc

        known = pa.array(list(recoding.known), pa.large_string())
        codes = np.array([*recoding.known.values(), -1], dtype=np.int32)
        found = pc.fill_null(pc.index_in(names, value_set=known), len(codes) - 1)
        gold = codes[found.to_numpy()]
    elif "gold" in columns:
        item = place[columns["item"]]
        chosen = np.flatnonzero((columns["gold"] >= 0) & (item >= 0))
        item, value = item[chosen], columns["gold"][chosen]
        backwards = np.arange(len(chosen) - 1, -1, -1)
        gold[item[backwards]] = value[backwards]  # the first that was said
        other = gold[item] != value
        if other.any():
            twice, first = np.unique(item[other], return_index=True)
            census.conflicts += len(twice)
            rows = columns["row"][chosen][other][first]
            for i, row in zip(twice, rows, strict=True):
                if len(census.examples) < SHOWN:
                    census.examples.append((names[int(i)].as_py(), places.where(int(row))))
        gold = np.where(gold >= 0, recoding.gold[gold], -1).astype(np.int32)
    census.known += int((gold >= 0).sum())
    return gold
