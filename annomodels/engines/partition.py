"""Parts of the items that are processed where they lie: in this process, in another, on a cluster.

A source is a whole cut into partitions. A partition knows the number of its first item, since
random numbers belong to (key, iteration, item of the whole); everything else it counts from 0. It
is what travels: opening it where it arrives gives the codes of its items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from annomodels.models.encoded import Encoded

__all__ = ["MemoryPartition", "MemorySource", "Partition", "Source", "cut"]

Floats = NDArray[np.float64]


class Partition(Protocol):
    """A run of items that can be sent away and opened there; it can be pickled.

    Two further attributes are heeded where they are there: ``streamed``, whether it is opened anew
    for every pass instead of being held, and ``scratch``, a folder for sums over its items.
    """

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
        """Give the codes of its items, not collapsed, numbered from 0; may read a file."""


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
        """Whether the truth of any item is known."""

    @property
    def fingerprint(self) -> str:
        """A text that changes when the data change."""


@dataclass(frozen=True, eq=False)
class MemoryPartition:
    """A run of items in memory.

    Parameters
    ----------
    first
        Number of the first item in the whole.
    codes
        Its items, numbered from 0.
    """

    first: int
    codes: Encoded

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.codes.n_patterns

    @property
    def n_annotations(self) -> int:
        """Number of labels."""
        return len(self.codes.row)

    def open(self) -> Encoded:
        """Give the codes."""
        return self.codes


@dataclass(frozen=True, eq=False)
class MemorySource:
    """Data in memory, cut into partitions.

    Parameters
    ----------
    whole
        All items.
    partitions
        The parts.
    fingerprint
        A text that changes when the data change.
    """

    whole: Encoded
    partitions: tuple[MemoryPartition, ...] = field(repr=False)
    fingerprint: str = ""

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.whole.n_patterns

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
        return np.bincount(self.whole.row, minlength=self.n_rows) / len(self.whole.row)

    @property
    def has_gold(self) -> bool:
        """Whether the truth of any item is known."""
        return bool((self.whole.gold >= 0).any())


def cut(codes: Encoded, parts: int, fingerprint: str = "") -> MemorySource:
    """Cut items into parts with about as many labels each.

    Parameters
    ----------
    codes
        All items.
    parts
        Number of parts; fewer where there are fewer items.
    fingerprint
        A text that changes when the data change.

    Examples
    --------
    >>> import annomodels as am
    >>> from annomodels.models.encoded import encode
    >>> rows = [(i, j, (i + j) % 2) for i in range(5) for j in range(3)]
    >>> source = cut(encode(am.Annotations.from_records(rows), collapse=False), 2)
    >>> [(part.first, part.n_items, part.n_annotations) for part in source.partitions]
    [(0, 2, 6), (2, 3, 9)]
    """
    parts = max(1, min(parts, codes.n_patterns))
    wanted = np.linspace(0, codes.starts[-1], parts + 1)[1:-1]
    inner = np.searchsorted(codes.starts, wanted, side="right") - 1
    edges = sorted({0, *(int(edge) for edge in inner), codes.n_patterns})
    pieces = tuple(MemoryPartition(lo, _slice(codes, lo, hi)) for lo, hi in pairwise(edges))
    return MemorySource(codes, pieces, fingerprint)


def _slice(codes: Encoded, lo: int, hi: int) -> Encoded:
    """Items lo..hi with numbers of their own; labels and rows are views."""
    begin, end = int(codes.starts[lo]), int(codes.starts[hi])
    own: dict[str, Any] = {name: getattr(codes, name)[lo:hi] for name in ("gold", "weight")}
    return Encoded(
        starts=codes.starts[lo : hi + 1] - begin,
        row=codes.row[begin:end],
        label=codes.label[begin:end],
        inverse=np.arange(hi - lo),
        n_rows=codes.n_rows,
        n_labels=codes.n_labels,
        **own,
    )
