"""Parts of the items that are processed where they lie: here, in another process, on a cluster."""

# A source is a whole cut into partitions. A partition knows the number of its first item, since
# random numbers belong to (key, iteration, item of the whole); everything else it counts from 0. It
# is what travels: opening it where it arrives gives the codes of its items.

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from annomodels.engines.source.itemsums import ItemMeans
from annomodels.models.encoded import Encoded
from annomodels.types import AnyArray, Floats

if TYPE_CHECKING:
    from annomodels.data.schema import ItemFields

Finish = Callable[["Partition", Any], Any] | None


class Partition(Protocol):
    """Run of items that can be pickled, sent away and opened there."""

    # Two optional attributes: ``streamed``, if it is opened again for every pass instead of being
    # held, and ``scratch``, a folder for sums over its items.

    @property
    def first(self) -> int:
        """Number of its first item in the whole."""

    @property
    def n_items(self) -> int:
        """Number of items."""

    @property
    def n_annotations(self) -> int:
        """Number of labels."""

    def open(self) -> Encoded:
        """Return the codes of its items, not collapsed, numbered from 0; may read a file."""


class Source(Protocol):
    """The whole: its sizes and its partitions, which follow each other without gaps."""

    @property
    def partitions(self) -> Sequence[Partition]:
        """The parts, in the order of their items."""

    @property
    def n_items(self) -> int:
        """Number of items."""

    @property
    def n_labels(self) -> int:
        """Number of labels that can be given."""

    @property
    def n_rows(self) -> int:
        """Number of confusion matrices: coders, or 1 where all share one."""

    @property
    def n_annotations(self) -> int:
        """Number of labels that were given."""

    @property
    def volume(self) -> Floats:
        """Share of the labels that each confusion matrix gave, shape [row]."""

    @property
    def has_gold(self) -> bool:
        """Return True if the truth of any item is known."""

    @property
    def fingerprint(self) -> str:
        """A text that changes when the data change."""

    @property
    def finish(self) -> Finish:
        """Function that finishes the results of a partition where it lies, or None."""

    def gathered(self, parts: Sequence[Any]) -> ItemFields:
        """Fields of a result that concern items, from what came back of each partition."""

    def believed(self, fields: ItemFields) -> Iterator[Floats]:
        """Return P(truth) of the items of each partition, from the fields of a result."""


@dataclass(frozen=True, eq=False)
class MemoryPartition:
    """A run of items in memory."""

    first: int  # number of the first item in the whole
    codes: Encoded  # its items, numbered from 0

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.codes.n_patterns

    @property
    def n_annotations(self) -> int:
        """Number of labels."""
        return len(self.codes.row)

    def open(self) -> Encoded:
        """Return the codes."""
        return self.codes


@dataclass(frozen=True, eq=False)
class MemorySource:
    """Data in memory, cut into partitions."""

    whole: Encoded
    partitions: tuple[MemoryPartition, ...] = field(repr=False)
    fingerprint: str = ""  # a text that changes when the data change
    finish: Finish = None

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.whole.inverse)

    @property
    def n_labels(self) -> int:
        """Number of labels that can be given."""
        return self.whole.n_labels

    @property
    def n_rows(self) -> int:
        """Number of confusion matrices."""
        return self.whole.n_rows

    @property
    def n_annotations(self) -> int:
        """Number of labels that were given."""
        return len(self.whole.row)

    @property
    def volume(self) -> Floats:
        """Share of the labels that each confusion matrix gave, shape [row]."""
        return self.whole.volume

    @property
    def has_gold(self) -> bool:
        """Return True if the truth of any item is known."""
        return bool((self.whole.gold >= 0).any())

    def gathered(self, parts: Sequence[Any]) -> ItemFields:
        """P(truth) of all items; with its Monte Carlo error where draws were taken."""
        if isinstance(parts[0], ItemMeans):
            names = ("p_truth", "p_truth_mcse", "conditional_entropy")
            p, mcse, entropy = (
                np.concatenate([getattr(part, name) for part in parts])[self.whole.inverse]
                for name in names
            )
            return {"p_truth": p, "p_truth_mcse": mcse, "conditional_entropy": entropy}
        from annomodels.kernels.products import entropies

        p = np.concatenate(parts)[self.whole.inverse]
        mcse = np.full_like(p, np.nan)
        return {"p_truth": p, "p_truth_mcse": mcse, "conditional_entropy": entropies(p)}

    def believed(self, fields: ItemFields) -> Iterator[Floats]:
        """Return P(truth) of the items of each partition."""
        for part in self.partitions:
            yield fields["p_truth"][part.first : part.first + part.n_items]


def codes_of(source: Source) -> Callable[[], Iterator[Encoded]]:
    """Return what opens all partitions, one after the other."""
    return lambda: (partition.open() for partition in source.partitions)


def cut(codes: Encoded, parts: int, fingerprint: str = "") -> MemorySource:
    """Cut items into parts with about as many labels each."""
    parts = max(1, min(parts, codes.n_patterns))
    if parts == 1:
        return MemorySource(codes, (MemoryPartition(0, codes),), fingerprint)
    wanted = np.linspace(0, codes.starts[-1], parts + 1)[1:-1]
    edges = sorted({0, *np.searchsorted(codes.starts, wanted).tolist(), codes.n_patterns})
    pieces = tuple(MemoryPartition(lo, _slice(codes, lo, hi)) for lo, hi in pairwise(edges))
    return MemorySource(codes, pieces, fingerprint)


def _slice(codes: Encoded, lo: int, hi: int) -> Encoded:
    """Items lo..hi with numbers of their own; labels and rows are views."""
    begin, end = int(codes.starts[lo]), int(codes.starts[hi])
    own: dict[str, AnyArray] = {name: getattr(codes, name)[lo:hi] for name in ("gold", "weight")}
    return Encoded(
        starts=codes.starts[lo : hi + 1] - begin,
        row=codes.row[begin:end],
        label=codes.label[begin:end],
        inverse=np.arange(hi - lo),
        n_rows=codes.n_rows,
        n_labels=codes.n_labels,
        n_silent=codes.n_silent,
        **own,
    )
