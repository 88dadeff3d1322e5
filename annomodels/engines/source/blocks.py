"""Labels on disk: columns of codes that are memory-mapped, and the names of items in Parquet."""

# A block is a range of items: its labels are views of the columns, its names a row group.

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annomodels.models.encoded import Encoded
from annomodels.types import AnyArray

BLOCK_LABELS = 1 << 19


@dataclass(frozen=True)
class Block:
    """Sizes of a block."""

    first: int  # number of the first item
    n_items: int  # number of items and of labels
    n_annotations: int


@dataclass(frozen=True)
class Stored:
    """Items of a folder of columns: they are sent as a path and mapped where they are needed."""

    folder: str  # folder of the columns
    first: int  # range of the items
    end: int
    n_coders: int  # number of coders and size of the label set
    n_labels: int
    n_codes: int  # number of label codes to read, see :class:`annomodels.models.encoded.Encoded`
    shared: bool = False  # whether all coders share one confusion matrix

    def read(self) -> Encoded:
        """Return the codes of the items."""
        folder, n_items = Path(self.folder), self.end - self.first
        starts = mapped(folder, "starts")[self.first : self.end + 1]
        rows = slice(int(starts[0]), int(starts[-1]))
        columns = (mapped(folder, name)[rows] for name in ("coder", "label"))
        starts, coder, label = below(self.n_codes, starts - starts[0], *columns)
        return Encoded(
            starts=starts,
            row=np.zeros(len(label), dtype=np.int32) if self.shared else coder,
            label=label,
            gold=mapped(folder, "gold")[self.first : self.end].copy(),
            weight=np.ones(n_items),
            inverse=np.arange(n_items),
            n_rows=1 if self.shared else self.n_coders,
            n_labels=self.n_labels,
            n_codes=self.n_codes,
        )


def below(
    n_codes: int, starts: AnyArray, coder: AnyArray, label: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return starts, coders and labels of the labels with codes below `n_codes`."""
    wanted = label < n_codes
    if wanted.all():  # columns stay mapped
        return starts, coder, label
    before = np.append(0, np.cumsum(wanted))
    return before[starts], coder[wanted], label[wanted]


def cuts(starts: AnyArray, size: int) -> list[int]:
    """Return the first items of blocks of at most `size` labels, and the number of items."""
    edges = [0]
    last = len(starts) - 1
    while edges[-1] < last:
        here = edges[-1]
        following = int(np.searchsorted(starts, starts[here] + size, side="right")) - 1
        edges.append(max(here + 1, min(following, last)))
    return edges


def mapped(folder: Path, name: str) -> AnyArray:
    """Return a column of a folder, read-only and read from disk where it is used."""
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))


@contextmanager
def column(
    folder: Path, name: str, shape: tuple[int, ...], dtype: type = np.int32
) -> Iterator[Callable[[AnyArray], object]]:
    """Yield a function that appends values to a new column of `shape`."""
    # written, not mapped: a mapped file on a full disk ends the process
    about = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    with (folder / f"{name}.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, about)
        yield lambda values: file.write(np.ascontiguousarray(values, dtype).data)


def items_path(folder: Path) -> Path:
    """Return the path of the item names, a row group per block."""
    return folder / "items.parquet"
