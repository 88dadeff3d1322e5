"""Blocks on disk: sorted, coded items in an Arrow file, and their names in a Parquet file."""

# A block is read as a whole, not memory-mapped, so that a pass needs one block per thread.

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from annomodels.models.encoded import Encoded
from annomodels.types import AnyArray

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_LABELS = 1 << 19


@dataclass(frozen=True)
class Block:
    """Sizes of a block."""

    first: int  # number of the first item
    n_items: int  # number of items and of labels
    n_annotations: int


@dataclass(frozen=True)
class Stored:
    """Items in a file: they are sent as a path and read where they are needed."""

    path: str  # the Arrow file
    n_coders: int  # number of coders and size of the label set
    n_labels: int
    shared: bool = False  # whether all coders share one confusion matrix
    # number of additional matrices, whose labels are not votes; see
    # :func:`annomodels.models.encoded.expanded`
    silent: int = 0

    def read(self) -> Encoded:
        """Read the codes of the items."""
        import pyarrow as pa

        with pa.OSFile(self.path) as file:
            # in one read: reading a small block in pieces takes longer than a pass over it
            batch = pa.ipc.open_file(pa.BufferReader(file.read_buffer())).get_batch(0)
        label = batch.column("label")
        row = batch.column("coder").values.to_numpy()
        n_items = batch.num_rows
        return Encoded(
            starts=label.offsets.to_numpy().astype(np.int64),
            row=np.zeros(len(row), dtype=np.int32) if self.shared else row,
            label=label.values.to_numpy(),
            gold=batch.column("gold").to_numpy().copy(),
            weight=np.ones(n_items),
            inverse=np.arange(n_items),
            n_rows=1 if self.shared else self.n_coders + self.silent,
            n_labels=self.n_labels,
            n_silent=self.silent,
        )


def cuts(starts: AnyArray, size: int = BLOCK_LABELS) -> list[int]:
    """Return the first items of blocks of at most `size` labels, and the number of items."""
    edges = [0]
    last = len(starts) - 1
    while edges[-1] < last:
        here = edges[-1]
        following = int(np.searchsorted(starts, starts[here] + size, side="right")) - 1
        edges.append(max(here + 1, min(following, last)))
    return edges


def write_block(
    folder: Path,
    number: int,
    names: pa.Array,
    starts: AnyArray,
    coder: AnyArray,
    label: AnyArray,
    gold: AnyArray,
) -> None:
    """Write one block: names [item], starts [item + 1], codes [annotation] and gold [item]."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    write_codes(labels_path(folder, number), starts, coder, label, gold)
    columns = {
        "item": names,
        "n": pa.array(np.diff(starts).astype(np.int32)),
        "gold": pa.array(gold.astype(np.int32)),
    }
    few_values = ["n", "gold"]
    target = items_path(folder, number)
    pq.write_table(pa.table(columns), target, compression="zstd", use_dictionary=few_values)


def write_codes(
    path: Path, starts: AnyArray, coder: AnyArray, label: AnyArray, gold: AnyArray
) -> None:
    """Write the codes of a block into one Arrow file; see :func:`write_block`."""
    import pyarrow as pa

    offsets = pa.array(starts.astype(np.int32))
    columns = {
        "coder": pa.ListArray.from_arrays(offsets, pa.array(coder.astype(np.int32))),
        "label": pa.ListArray.from_arrays(offsets, pa.array(label.astype(np.int32))),
        "gold": pa.array(gold.astype(np.int32)),
    }
    batch = pa.record_batch(columns)
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, batch.schema) as writer,
    ):
        writer.write_batch(batch)


def labels_path(folder: Path, number: int) -> Path:
    """Return the path of the codes of a block."""
    return folder / "labels" / f"{number:06d}.arrow"


def expanded_path(folder: Path, number: int) -> Path:
    """Return the path of the codes of a block that include whether coders answered."""
    return folder / "expanded" / f"{number:06d}.arrow"


def items_path(folder: Path, number: int) -> Path:
    """Return the path of the item names of a block."""
    return folder / "items" / f"{number:06d}.parquet"
