"""Labels on disk as a source, and P(truth) as Parquet, written where a block is."""

# Columns are item, n (labels), gold (known truth, or null), ``p_<label>`` per label, entropy in
# nats, and, after sampling, mcse (the largest Monte Carlo error of the probabilities). Temporary
# folders are removed with their owner, as are those that a killed process left.

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

import numpy as np

from annomodels.data.names import label_text
from annomodels.engines.source.blocks import items_path
from annomodels.engines.source.itemsums import ItemMeans
from annomodels.engines.source.partition import ItemSource, Partition
from annomodels.models.answering import uses_unanswered
from annomodels.models.base import Model
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from annomodels.data.schema import ItemFields

PREFIX, HELD = "annomodels-", "held"  # of temporary folders and their lock files


class Keeper:
    """Temporary folder that is removed with this object or at the end of the process."""

    # a killed process cannot remove its folder; the next process that makes a folder does

    def __init__(self) -> None:
        sweep(Path(tempfile.gettempdir()))
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = _lock(self.folder / "new")
        if self._lock is not None:
            # locked before it is renamed, so that no other process finds it unlocked
            (self.folder / "new").rename(self.folder / HELD)
        self._end = weakref.finalize(self, _remove, self.folder, self._lock)


def sweep(parent: Path) -> list[Path]:
    """Remove folders whose process has died: their lock file is not locked."""
    gone = []
    try:
        ours = [parent / name for name in os.listdir(parent) if name.startswith(PREFIX)]
    except OSError:  # a folder that is writable but not readable
        return []
    for folder in ours:
        held = folder / HELD
        # another user's folder looks like one without a lock file; Path.is_file raises before 3.13
        lock = _lock(held) if os.path.isfile(held) else None
        if lock is not None:
            _remove(folder, lock)
            gone.append(folder)
    return gone


def _lock(path: Path) -> IO[bytes] | None:
    """Open and lock a file; return None if it is locked elsewhere, or cannot be locked."""
    try:
        import fcntl
    except ImportError:  # Windows: a killed process leaves its folder
        return None
    try:
        file = path.open("ab")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _remove(folder: Path, lock: IO[bytes] | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        lock.close()


class LabelsOnDisk(Protocol):
    """The interface of a scan for engines."""

    @property
    def folder(self) -> Path:
        """Folder of the blocks."""

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """Names of the labels."""

    @property
    def per_coder(self) -> Ints:
        """Number of labels of each coder, shape [coder]."""

    def sources(
        self, shared: bool = False, scratch: str = "", unanswered: bool = False
    ) -> ItemSource:
        """Return the blocks as a source."""


@dataclass(frozen=True, eq=False)
class TruthOnDisk:
    """P(truth) as written by a run."""

    folder: Path  # folder of the files, one per block
    # expected number of wrong gold labels, for items without known truth
    expected_errors: float
    blocks: int  # number of files
    keeper: Keeper  # removes the folder when it is no longer needed


@dataclass(frozen=True, eq=False)
class TruthFolder:
    """Folder where a run writes the item results of a scan, block by block."""

    finish: WriteTruth
    keeper: Keeper

    def gathered(self, parts: Sequence[Written]) -> ItemFields:
        """Return empty item fields, and the location of the items on disk."""
        errors = sum(part.expected_errors for part in parts)
        folder = Path(self.finish.folder)
        none = np.zeros((0, len(self.finish.labels)))
        return {
            "p_truth": none,
            "p_truth_mcse": none,
            "conditional_entropy": np.zeros(0),
            "on_disk": TruthOnDisk(folder, errors, len(parts), self.keeper),
        }

    def believed(self, fields: ItemFields) -> Iterator[Floats]:
        """Yield P(truth) of the items of each block, as it was written."""
        written: TruthOnDisk = fields["on_disk"]
        for table in read_truths(written.folder, written.blocks):
            names = [name for name in table.column_names if name.startswith("p_")]
            yield np.column_stack([table[name].to_numpy() for name in names])


def opened(data: LabelsOnDisk, model: Model) -> ItemSource:
    """Return the blocks of a scan, with a new folder for P(truth) and for sums."""
    keeper = Keeper()
    for name in ("truth", "scratch"):
        (keeper.folder / name).mkdir()
    labels = tuple(label_text(name) for name in data.labels)
    write = WriteTruth(str(data.folder), str(keeper.folder / "truth"), labels)
    scratch = str(keeper.folder / "scratch")
    source = data.sources(model.shared, scratch, uses_unanswered(model))
    return replace(source, output=TruthFolder(write, keeper))


@dataclass(frozen=True, eq=False)
class Written:
    """Totals of a written block."""

    sums: Floats  # sum of the class probabilities over the items, shape [truth]
    expected_errors: float  # expected number of wrong gold labels


@dataclass(frozen=True)
class WriteTruth:
    """Function that writes the item results of a block; sent to where the block is processed."""

    scan: str  # folder of the scan
    folder: str  # folder of the files
    labels: tuple[str, ...]  # names of the labels

    def __call__(self, partition: Partition, result: ItemMeans | Floats) -> Written:
        """Write the file of one block."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from annomodels.kernels.products import entropies

        number = partition.number
        with pq.ParquetFile(items_path(Path(self.scan))) as file:
            about = file.read_row_group(number, use_threads=False)
        if isinstance(result, ItemMeans):
            p, entropy = result.p_truth, result.conditional_entropy
            mcse: Floats | None = result.p_truth_mcse.max(axis=1)
        else:
            p, mcse = result, None
            entropy = entropies(p)
        gold = about["gold"].to_numpy()
        codes = pa.array(gold, mask=gold < 0)
        columns = {
            "item": about["item"],
            "n": about["n"],
            "gold": pa.DictionaryArray.from_arrays(codes, pa.array(self.labels)).cast(pa.string()),
            **{f"p_{name}": pa.array(p[:, k]) for k, name in enumerate(self.labels)},
            "entropy": pa.array(entropy),
        }
        if mcse is not None:
            columns["mcse"] = pa.array(mcse)
        target = truth_path(Path(self.folder), number)
        partial = target.with_suffix(".partial")
        # names and probabilities hardly repeat; their dictionaries would take most of the time
        few_values = ["n", "gold"]
        pq.write_table(pa.table(columns), partial, compression="zstd", use_dictionary=few_values)
        partial.replace(target)
        open_items = gold < 0
        return Written(p.sum(axis=0), float((1.0 - p[open_items].max(axis=1)).sum()))


def truth_path(folder: Path, number: int) -> Path:
    """Return the path of the file with P(truth) of a block."""
    return folder / f"{number:06d}.parquet"


def read_truths(folder: Path, n_blocks: int) -> Iterator[pa.Table]:
    """Yield the tables of all blocks, in item order."""
    import pyarrow.parquet as pq

    for number in range(n_blocks):
        yield pq.read_table(truth_path(folder, number))
