"""Rows to buckets on disk, each a stretch of the sorted items; in a bucket rows keep their order.

Edges between buckets come from a sample of the names. A bucket that turns out too large is cut
again, so that what is held at once does not depend on how the names are spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.scale.naturalorder import buckets, keys_of, ranks

__all__ = ["BUCKET_ROWS", "Bucket", "Spill", "cut_again", "edges_of"]

BUCKET_ROWS = 1 << 20
MOST_BUCKETS = 256
# a bucket is cut again when it holds this many times what it should
TOO_LARGE = 4
SAMPLED = 200_000


@dataclass(frozen=True)
class Bucket:
    """A file with the rows of some stretch of the items.

    Parameters
    ----------
    path
        The file, an Arrow stream.
    rows
        Number of rows.
    """

    path: Path
    rows: int

    def read(self) -> tuple[Any, dict[str, NDArray[Any]]]:
        """Give the distinct names of items, and the columns: ``item`` holds places in the names."""
        import pyarrow as pa

        with pa.OSFile(str(self.path)) as file, pa.ipc.open_stream(file) as reader:
            table = reader.read_all().unify_dictionaries()
        item = table.column("item")
        names = item.chunk(0).dictionary
        columns = {
            name: table.column(name).to_numpy() for name in table.column_names if name != "item"
        }
        columns["item"] = np.concatenate([chunk.indices.to_numpy() for chunk in item.chunks])
        return names, columns

    def pieces(self) -> Iterator[tuple[Any, dict[str, NDArray[Any]]]]:
        """Give the same piece by piece."""
        import pyarrow as pa

        with pa.OSFile(str(self.path)) as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                item = batch.column("item")
                columns = {
                    name: batch.column(name).to_numpy()
                    for name in batch.schema.names
                    if name != "item"
                }
                columns["item"] = item.indices.to_numpy()
                yield item.dictionary, columns


class Spill:
    """Buckets that are being filled.

    Parameters
    ----------
    folder
        Where the files go; it is made.
    edges
        Keys at which buckets begin, sorted; one bucket more than edges.
    """

    def __init__(self, folder: Path, edges: list[bytes]) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.edges = edges
        self.rows = np.zeros(len(edges) + 1, dtype=np.int64)
        self._writers: dict[int, tuple[Any, Any]] = {}

    def add(self, names: Any, columns: Mapping[str, NDArray[Any]]) -> None:
        """Spread some rows over the buckets.

        Parameters
        ----------
        names
            Distinct names of items, ``large_string``.
        columns
            Columns of the rows; ``item`` holds places in `names`.
        """
        import pyarrow as pa

        if not len(columns["item"]):
            return
        where = buckets(keys_of(names), self.edges)
        by_bucket = np.argsort(where, kind="stable")
        names = names.take(pa.array(by_bucket))
        bounds = np.searchsorted(where[by_bucket], np.arange(len(self.edges) + 2))
        place = np.empty(len(names), dtype=np.int32)
        place[by_bucket] = np.arange(len(names), dtype=np.int32)
        bucket = where[columns["item"]].astype(np.int16)
        order = np.argsort(bucket, kind="stable")  # by radix: the keys have 16 bits
        item = place[columns["item"]][order]
        rest = {name: values[order] for name, values in columns.items() if name != "item"}
        ends = np.searchsorted(bucket[order], np.arange(len(self.edges) + 2))
        for b in np.flatnonzero(np.diff(ends)).tolist():
            lo, hi = int(ends[b]), int(ends[b + 1])
            first, last = int(bounds[b]), int(bounds[b + 1])
            coded = pa.DictionaryArray.from_arrays(
                pa.array(item[lo:hi] - first), names.slice(first, last - first)
            )
            columns_here = [coded, *(pa.array(values[lo:hi]) for values in rest.values())]
            batch = pa.record_batch(columns_here, names=["item", *rest])
            self._writer(b, batch.schema).write_batch(batch)
            self.rows[b] += hi - lo

    def close(self) -> list[Bucket]:
        """Finish the files and give those that hold something, in the order of the items."""
        for writer, file in self._writers.values():
            writer.close()
            file.close()
        self._writers.clear()
        return [Bucket(self._path(b), int(n)) for b, n in enumerate(self.rows) if n]

    def _path(self, bucket: int) -> Path:
        return self.folder / f"{bucket:05d}.arrow"

    def _writer(self, bucket: int, schema: Any) -> Any:
        import pyarrow as pa

        if bucket not in self._writers:
            file = pa.OSFile(str(self._path(bucket)), "wb")
            self._writers[bucket] = (pa.ipc.new_stream(file, schema), file)
        return self._writers[bucket][0]


def edges_of(samples: Sequence[Any], rows: int, size: int = BUCKET_ROWS) -> list[bytes]:
    """Keys that cut sampled names into buckets of about `size` rows each.

    Parameters
    ----------
    samples
        Arrays of names, one for each sampled row.
    rows
        Number of rows in all.
    size
        Rows that a bucket should hold.
    """
    import pyarrow as pa

    n = min(MOST_BUCKETS, -(-rows // size))
    if n < 2 or not samples:
        return []
    names = pa.concat_arrays([pa.array(sample, pa.large_string()) for sample in samples])
    counts = names.value_counts()
    keys, places = keys_of(counts.field("values"))
    order, _ = ranks((keys, places))
    share = np.cumsum(counts.field("counts").to_numpy()[order])
    cuts = np.searchsorted(share, share[-1] * np.arange(1, n) / n)
    chosen = np.unique(order[np.unique(cuts)][: len(order)])
    found = {keys[places[i] : places[i + 1]].tobytes() for i in chosen.tolist()}
    return sorted(found)


def cut_again(bucket: Bucket, size: int = BUCKET_ROWS) -> list[Bucket]:
    """Cut a bucket that is too large; gives it back as it is when that does not help."""
    import pyarrow as pa

    if bucket.rows <= TOO_LARGE * size:
        return [bucket]
    step = max(1, bucket.rows // SAMPLED)
    sampled = []
    for names, columns in bucket.pieces():
        sampled.append(names.take(pa.array(columns["item"][::step])))
    edges = edges_of(sampled, bucket.rows, size)
    if not edges:
        return [bucket]
    spill = Spill(bucket.path.with_suffix(""), edges)
    for names, columns in bucket.pieces():
        spill.add(names, columns)
    parts = spill.close()
    if len(parts) < 2:
        return [bucket]
    bucket.path.unlink()
    return [piece for part in parts for piece in cut_again(part, size)]
