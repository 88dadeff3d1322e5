"""Buckets of rows on disk, each an interval of the sorted items; rows keep their order."""

# Edges between buckets come from a sample of the names. A bucket that is too large is split again,
# so that memory use does not depend on the distribution of the names.

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annomodels.scale.naturalorder import buckets, keys_of
from annomodels.types import AnyArray

BUCKET_ROWS = 1 << 20
MOST_BUCKETS = 256
# a bucket is split again if it is this many times the target size
TOO_LARGE = 4
SAMPLED = 200_000
Columns = dict[str, AnyArray]


@dataclass(frozen=True)
class Bucket:
    """Arrow stream file with the rows of an interval of the sorted items."""

    path: Path
    rows: int

    def read(self) -> tuple[pa.LargeStringArray, Columns]:
        """Return the item names, and the columns; ``item`` contains indices of the names."""
        with pa.OSFile(str(self.path)) as file, pa.ipc.open_stream(file) as reader:
            return _split(reader.read_all().unify_dictionaries().combine_chunks().to_batches()[0])

    def pieces(self) -> Iterator[tuple[pa.LargeStringArray, Columns]]:
        """Yield the results of `read` batch by batch."""
        with pa.OSFile(str(self.path)) as file, pa.ipc.open_stream(file) as reader:
            yield from map(_split, reader)

    def cut(self, size: int = BUCKET_ROWS) -> Iterator[Bucket]:
        """Split a bucket that is too large, if possible, and yield its parts in order."""
        if self.rows > TOO_LARGE * size:
            step = max(1, self.rows // SAMPLED)
            sample = [names.take(pa.array(cells["item"][::step])) for names, cells in self.pieces()]
            spill = Spill(self.path.with_suffix(""), edges_of(sample, self.rows, size))
            for names, columns in self.pieces() if spill.n_buckets > 1 else ():
                spill.add(names, columns)
            parts = spill.close()
            if len(parts) > 1:
                self.path.unlink()
                for part in parts:
                    yield from part.cut(size)
                return
        yield self


class Spill:
    """Buckets that are being filled, one more than there are edges."""

    def __init__(self, folder: Path, edges: pa.LargeBinaryArray) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.edges = edges
        self.n_buckets = len(edges) + 1
        self._files: dict[int, tuple[Any, Any]] = {}
        self._rows = np.zeros(self.n_buckets, dtype=np.int64)

    def add(self, names: pa.LargeStringArray, columns: Mapping[str, AnyArray]) -> None:
        """Add rows to the buckets; ``item`` contains indices of `names`, a ``large_string``."""
        if not len(columns["item"]):
            return
        if self.n_buckets == 1:
            self._write(0, names, columns)
            return
        bucket = buckets(keys_of(names), self.edges)
        by_name, firsts = self._apart(bucket)
        place = np.empty(len(names), dtype=np.int32)
        place[by_name] = np.arange(len(names), dtype=np.int32)
        rows, begins = self._apart(bucket[columns["item"]])
        names = names.take(pa.array(by_name))
        ordered = {name: values[rows] for name, values in columns.items()}
        ordered["item"] = place[ordered["item"]]
        for b in np.flatnonzero(np.diff(begins)).tolist():
            first, end = int(firsts[b]), int(firsts[b + 1])
            here = {name: cells[begins[b] : begins[b + 1]] for name, cells in ordered.items()}
            here["item"] = here["item"] - first
            self._write(b, names.slice(first, end - first), here)

    def close(self) -> list[Bucket]:
        """Close the files and return the nonempty buckets, in item order."""
        for writer, file in self._files.values():
            writer.close()
            file.close()
        return [Bucket(self._path(b), int(self._rows[b])) for b in sorted(self._files)]

    def _apart(self, bucket: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Return the order by bucket, and the offset of each bucket."""
        order = np.argsort(bucket, kind="stable")  # a radix sort, because the numbers have 16 bits
        return order, np.searchsorted(bucket[order], np.arange(self.n_buckets + 1))

    def _path(self, bucket: int) -> Path:
        return self.folder / f"{bucket:05d}.arrow"

    def _write(self, bucket: int, names: object, columns: Mapping[str, AnyArray]) -> None:
        arrays = {name: pa.array(values) for name, values in columns.items()}
        arrays["item"] = pa.DictionaryArray.from_arrays(arrays["item"], names)
        batch = pa.record_batch(arrays)
        if bucket not in self._files:
            file = pa.OSFile(str(self._path(bucket)), "wb")
            self._files[bucket] = (pa.ipc.new_stream(file, batch.schema), file)
        self._files[bucket][0].write_batch(batch)
        self._rows[bucket] += len(batch)


def edges_of(samples: Sequence[object], rows: int, size: int = BUCKET_ROWS) -> pa.LargeBinaryArray:
    """Return keys that split `rows` rows into buckets of about `size`, from sampled names."""
    n = min(MOST_BUCKETS, -(-rows // size))
    if n < 2 or not samples:
        return pa.array([], pa.large_binary())
    counts = pa.concat_arrays(samples).value_counts()
    keys = keys_of(counts.field("values"))
    order = np.asarray(pc.sort_indices(keys))
    share = np.cumsum(counts.field("counts").to_numpy()[order])
    cuts = np.searchsorted(share, share[-1] * np.arange(1, n) / n)
    return keys.take(pa.array(order[np.unique(cuts)]))


def _split(batch: pa.RecordBatch) -> tuple[pa.LargeStringArray, Columns]:
    columns = {name: batch.column(name) for name in batch.schema.names}
    names = columns["item"].dictionary
    columns["item"] = columns["item"].indices
    return names, {name: cells.to_numpy() for name, cells in columns.items()}
