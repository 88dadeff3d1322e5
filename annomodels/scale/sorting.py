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

from annomodels.data.annotations import Annotations
from annomodels.data.validation import counted, some
from annomodels.engines.source.blocks import (
    BLOCK_LABELS,
    EXPANDED,
    Block,
    column,
    cuts,
    items_path,
    mapped,
)
from annomodels.errors import Problem
from annomodels.models.encoded import expanded
from annomodels.scale.intake import Places
from annomodels.scale.rows import CodedRows
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
    n, truth = rows.sizes()
    gold = np.where(truth >= 0, np.append(recoding.gold, -1)[truth], -1)
    starts = np.concatenate([[0], np.cumsum(n)])
    _write_labels(rows, folder, starts, recoding.label, lambda share: tell(0.2 + 0.6 * share))
    _write_items(rows, folder, starts, gold, recoding.known, census)
    tell(0.9)
    if recoding.n_kinds:
        _write_expanded(rows.answers(), folder, census)
    return census


def _write_labels(
    rows: CodedRows, folder: Path, starts: Ints, codes: AnyArray, tell: Callable[[float], object]
) -> None:
    total, done = int(starts[-1]), 0
    with (
        column(folder, "coder", (total,)) as add_coders,
        column(folder, "label", (total,)) as add_labels,
    ):
        for batch in rows.labels():
            add_coders(batch["coder"])
            add_labels(codes[batch["label"]])
            done += len(batch["label"])
            tell(done / total)


def _write_items(
    rows: CodedRows,
    folder: Path,
    starts: Ints,
    gold: AnyArray,
    known: Mapping[str, int] | None,
    census: SortedCounts,
) -> None:
    """Write names and truths of the items, a row group per block, and count each block."""
    coder, label = (mapped(folder, name) for name in ("coder", "label"))
    n = np.diff(starts)
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


def _write_expanded(answers: Mapping[str, AnyArray], folder: Path, census: SortedCounts) -> None:
    """Count answers that are no class, and write columns that include who answered."""
    # each coder gets an additional row per kind, see :func:`annomodels.models.encoded.expanded`
    item, coder, kind = (answers[name] for name in ("number", "coder", "kind"))
    np.add.at(census.unanswered, (kind, coder), 1)
    with column(folder, "unanswered", (len(item), 3)) as add:
        add(np.column_stack([item, coder, kind]))
    starts, *cells = (mapped(folder, name) for name in ("starts", "coder", "label"))
    per_item = np.diff(starts)
    (folder / EXPANDED).mkdir()
    # per kind, a further cell for each label, and for each answer of this or a later kind
    total = len(cells[0]) * (census.n_kinds + 1) + int((kind + 1).sum())
    begins = [np.zeros(1, dtype=np.int64)]
    with (
        column(folder / EXPANDED, "coder", (total,)) as add_coders,
        column(folder / EXPANDED, "label", (total,)) as add_labels,
    ):
        for block in census.blocks:
            edges = block.first, block.first + block.n_items
            inside = slice(*np.searchsorted(item, edges))
            rows = slice(int(starts[edges[0]]), int(starts[edges[1]]))
            whole = expanded(
                Annotations(
                    item=np.repeat(np.arange(block.n_items), per_item[slice(*edges)]),
                    coder=cells[0][rows], label=cells[1][rows],
                    items=(), coders=tuple(range(census.n_coders)), labels=(),
                    dont_know=tuple(range(census.n_kinds)),
                    unanswered=np.column_stack(
                        [item[inside] - block.first, coder[inside], kind[inside]]
                    ),
                )
            )  # fmt: skip
            add_coders(whole.coder)
            add_labels(whole.label)
            ends = np.searchsorted(whole.item, np.arange(1, block.n_items + 1))
            begins.append(begins[-1][-1] + ends)
    with column(folder / EXPANDED, "starts", (len(starts),), np.int64) as add:
        add(np.concatenate(begins))
