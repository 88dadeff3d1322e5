"""Partitions of the items, processed where they are: here, in threads or on a cluster."""

# A source is a sequence of partitions without gaps. A partition has the number of its first item in
# the source, because random numbers depend on (key, iteration, item of the source). All other
# numbers start at 0. Partitions are sent; opening one at its destination gives the codes of its
# items, which it contains or reads from a file.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from annomodels.data.copying import kept_of_copies
from annomodels.engines.source.blocks import Stored
from annomodels.engines.source.itemsums import ItemMeans
from annomodels.models.encoded import Encoded
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    from annomodels.data.schema import ItemFields

# finishes the results of a partition where it is
Finish = Callable[["Partition", Any], Any] | None


@dataclass(frozen=True, eq=False)
class Alike:
    """Coders that are merged, because they are exchangeable or copies of each other."""

    place: Ints  # code of each coder after merging, shape [coder]
    copies: Sequence[Ints]  # coders of each group of copies; the first one counts

    def merged(self, codes: Encoded) -> Encoded:
        """Return items with merged coders, and with the first label of each group of copies."""
        if self.copies:
            item = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
            left = kept_of_copies(item, codes.row, self.copies, len(self.place))
            n = np.bincount(item[left], minlength=codes.n_patterns)
            starts = np.concatenate([[0], np.cumsum(n)]).astype(codes.starts.dtype)
            codes = replace(codes, starts=starts, row=codes.row[left], label=codes.label[left])
        return replace(codes, row=self.place[codes.row], n_rows=int(self.place.max()) + 1)


@dataclass(frozen=True, eq=False)
class Partition:
    """Consecutive items that can be pickled, sent and opened at the destination."""

    first: int  # number of its first item in the source
    n_items: int
    n_annotations: int  # number of labels
    items: Encoded | Stored = field(repr=False)  # not collapsed, numbered from 0
    number: int = 0  # number of its block on disk
    scratch: str = ""  # folder for sums over its items; if empty, these are in memory
    alike: Alike | None = None

    @property
    def streamed(self) -> bool:
        """Return True if each pass reads it again; a place with only one keeps it in memory."""
        return isinstance(self.items, Stored)

    @property
    def whole(self) -> Partition:
        """The partition with all coders."""
        return self if self.alike is None else replace(self, alike=None)

    def open(self) -> Encoded:
        """Return the codes of its items."""
        codes = self.items.read() if isinstance(self.items, Stored) else self.items
        return codes if self.alike is None else self.alike.merged(codes)


class Output(Protocol):
    """Destination of item fields that are not in memory."""

    @property
    def finish(self) -> Finish:
        """Function that writes the results of a partition where it is."""

    def gathered(self, parts: Sequence[Any]) -> ItemFields:
        """Return the item fields of a result, from the results of `finish` per partition."""

    def believed(self, fields: ItemFields) -> Iterator[Floats]:
        """Yield P(truth) of the items of each partition, as it was written."""


@dataclass(frozen=True, eq=False)
class ItemSource:
    """All items: sizes and partitions."""

    partitions: Sequence[Partition] = field(repr=False)
    n_items: int
    n_labels: int  # size of the label set, and number of labels given
    n_annotations: int
    volume: Floats  # proportion of the labels from each confusion matrix, shape [row]
    has_gold: bool  # whether any item has a known truth
    inverse: Ints | None = None  # position of each item among those of the partitions
    output: Output | None = None

    @property
    def n_rows(self) -> int:
        """Number of confusion matrices: that of the coders, or 1 if all share one."""
        return len(self.volume)

    @property
    def finish(self) -> Finish:
        """Function that finishes the results of a partition where it is, or None."""
        return None if self.output is None else self.output.finish

    def opened(self) -> Iterator[Encoded]:
        """Yield the codes of each partition."""
        return (partition.open() for partition in self.partitions)

    def gathered(self, parts: Sequence[Any]) -> ItemFields:
        """Return the item fields of a result, from the results of each partition."""
        if self.output is not None:
            return self.output.gathered(parts)
        if isinstance(parts[0], ItemMeans):
            names = ("p_truth", "p_truth_mcse", "conditional_entropy")
            p, mcse, entropy = (
                np.concatenate([getattr(part, name) for part in parts])[self.inverse]
                for name in names
            )
            return {"p_truth": p, "p_truth_mcse": mcse, "conditional_entropy": entropy}
        from annomodels.kernels.products import entropies

        p = np.concatenate(parts)[self.inverse]
        mcse = np.full_like(p, np.nan)
        return {"p_truth": p, "p_truth_mcse": mcse, "conditional_entropy": entropies(p)}

    def believed(self, fields: ItemFields) -> Iterator[Floats]:
        """Yield P(truth) of the items of each partition, from the fields of a result."""
        if self.output is not None:
            yield from self.output.believed(fields)
            return
        for part in self.partitions:
            yield fields["p_truth"][part.first : part.first + part.n_items]


def alike(source: ItemSource, place: Ints, copies: Sequence[Ints] = ()) -> ItemSource:
    """Merge coders of equal `place` [coder], and keep the first label of copies per item."""
    if np.array_equal(place, np.arange(len(place))) and not copies:
        return source
    merged = Alike(place, copies)
    parts = [replace(part, alike=merged) for part in source.partitions]
    return replace(source, partitions=parts, volume=np.bincount(place, source.volume))


def cut(codes: Encoded, parts: int) -> ItemSource:
    """Cut items in memory into parts with about as many labels each."""
    parts = max(1, min(parts, codes.n_patterns))
    wanted = np.linspace(0, codes.starts[-1], parts + 1)[1:-1]
    edges = sorted({0, *np.searchsorted(codes.starts, wanted).tolist(), codes.n_patterns})
    whole = [codes] if len(edges) == 2 else [_slice(codes, *some) for some in pairwise(edges)]
    pieces = [
        Partition(first, part.n_patterns, len(part.row), part)
        for first, part in zip(edges[:-1], whole, strict=True)
    ]
    return ItemSource(
        pieces, len(codes.inverse), codes.n_labels, len(codes.row), codes.volume,
        bool((codes.gold >= 0).any()), codes.inverse,
    )  # fmt: skip


def _slice(codes: Encoded, lo: int, hi: int) -> Encoded:
    """Return items lo..hi, renumbered from 0; labels and rows are views."""
    begin, end = int(codes.starts[lo]), int(codes.starts[hi])
    return replace(
        codes,
        starts=codes.starts[lo : hi + 1] - begin,
        row=codes.row[begin:end],
        label=codes.label[begin:end],
        gold=codes.gold[lo:hi],
        weight=codes.weight[lo:hi],
        inverse=np.arange(hi - lo),
        kind=None,
    )
