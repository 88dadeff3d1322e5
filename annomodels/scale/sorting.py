"""From rows to columns of sorted codes, with their counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from annomodels.data.validation import counted, some
from annomodels.engines.source.blocks import (
    BLOCK_LABELS,
    Block,
    below,
    column,
    cuts,
    items_path,
    mapped,
)
from annomodels.errors import Problem
from annomodels.scale.intake import Places
from annomodels.scale.rows import SILENT, CodedRows
from annomodels.types import AnyArray, Ints


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
class SortedCounts:
    """Counts of the sorted labels; most have the names of fields of :class:`Scanned`."""

    # unlabelled: items without a label. silent: items with only labels that are not classes.
    # dropped: rows that repeat an annotation id. dropped_skips: those of them without a label.

    n_coders: int
    n_labels: int
    n_kinds: int
    repeats: int = 0
    conflicts: int = 0
    shared_items: int = 0
    compared_items: int = 0
    fewest: int = 0
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
    def components(self) -> int:
        """Number of groups of coders that share no item."""
        return int((self._parent == np.arange(self.n_coders)).sum())

    def count_items(self, n: Ints, gold: AnyArray) -> None:
        """Count the labels and truths of all items."""
        self.fewest, self.most = int(n.min()), int(n.max())
        self.n_gold = int((gold >= 0).sum())
        self.compared_items = int(((n > 1) | (gold >= 0)).sum())

    def count_labels(self, starts: Ints, coder: AnyArray, label: AnyArray) -> None:
        """Add the sorted labels of complete items to the counts."""
        from annomodels.kernels.ordering import survey

        none = label >= self.n_labels
        np.add.at(self.unanswered, (label[none] - self.n_labels, coder[none]), 1)
        starts, coder, label = below(self.n_labels, starts, coder, label)
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


def write_sorted(
    rows: CodedRows,
    folder: Path,
    recoding: Recoding,
    places: Places,
    tell: Callable[[float], object],
) -> SortedCounts:
    """Sort the rows into columns of a folder, and return counts."""
    census = SortedCounts(int(recoding.coder.max()) + 1, recoding.n_labels, recoding.n_kinds)
    census.dropped, census.dropped_skips = rows.dropped()
    census.unlabelled, census.silent = rows.number_items(recoding.coder)
    census.two_truths, two = rows.two_truths()
    census.examples = [(name, places.where(row)) for name, row in two]
    tell(0.2)
    n, asked, truth = rows.sizes()
    gold = np.where(truth >= 0, np.append(recoding.gold, -1)[truth], -1)
    starts = np.concatenate([[0], np.cumsum(asked)])
    _write_labels(rows, folder, int(starts[-1]), recoding, lambda share: tell(0.2 + 0.6 * share))
    _write_items(rows, folder, starts, n, gold, recoding.known, census)
    tell(0.9)
    return census


def _write_labels(
    rows: CodedRows, folder: Path, total: int, recoding: Recoding, tell: Callable[[float], object]
) -> None:
    done = 0
    with (
        column(folder, "coder", (total,)) as add_coders,
        column(folder, "label", (total,)) as add_labels,
    ):
        for batch in rows.labels():
            add_coders(batch["coder"])
            given, none = batch["label"], recoding.n_labels + SILENT - batch["label"]
            add_labels(np.where(given < 0, none, recoding.label[np.maximum(given, 0)]))
            done += len(given)
            tell(done / total)


def _write_items(
    rows: CodedRows,
    folder: Path,
    starts: Ints,
    n: Ints,
    gold: AnyArray,
    known: Mapping[str, int] | None,
    census: SortedCounts,
) -> None:
    """Write names and truths of the items, a row group per block, and count each block."""
    coder, label = (mapped(folder, name) for name in ("coder", "label"))
    schema = pa.schema({"item": pa.string(), "n": pa.int32(), "gold": pa.int32()})
    writer = pq.ParquetWriter(
        items_path(folder), schema, compression="zstd", use_dictionary=["n", "gold"]
    )
    with writer:
        for lo, hi in pairwise(cuts(starts, BLOCK_LABELS)):
            names = rows.names(lo, hi)
            if known is not None:
                gold[lo:hi] = _known(names, known)
            cells = slice(int(starts[lo]), int(starts[hi]))
            census.count_labels(starts[lo : hi + 1] - starts[lo], coder[cells], label[cells])
            census.blocks.append(Block(lo, hi - lo, cells.stop - cells.start))
            table = pa.table(
                [names, n[lo:hi].astype(np.int32), gold[lo:hi].astype(np.int32)], schema=schema
            )
            writer.write_table(table, row_group_size=hi - lo)
    census.count_items(n, gold)
    for name, values, dtype in (("starts", starts, np.int64), ("gold", gold, np.int32)):
        with column(folder, name, values.shape, dtype) as add:
            add(values)


def _known(names: pa.Array, known: Mapping[str, int]) -> AnyArray:
    given = pa.array(list(known), pa.string())
    codes = np.array([*known.values(), -1], dtype=np.int32)
    place = pc.fill_null(pc.index_in(names, value_set=given), len(codes) - 1)
    out: AnyArray = codes[place.to_numpy()]
    return out
