"""P(truth) as Parquet: each block is written where it was processed, and never held wholly.

Columns are item, n (labels), gold (known truth, or none), ``p_<label>`` for each label, entropy in
nats, and, of a run that samples, mcse (the largest Monte Carlo error of the probabilities).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.itemsums import ItemMeans
from annomodels.scale.blocks import items_path

__all__ = ["WriteTruth", "Written", "read_truths", "truth_path"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Written:
    """What is remembered of a block.

    Parameters
    ----------
    sums
        Sum of the class probabilities over the items, shape [truth].
    expected_errors
        Expected number of wrong labels among the most probable ones.
    """

    sums: Floats
    expected_errors: float


@dataclass(frozen=True)
class WriteTruth:
    """Writes what is known of the items of a block; it is sent to where the block is processed.

    Parameters
    ----------
    scan
        Folder of the scan.
    folder
        Where the files go.
    labels
        Names of the labels.
    """

    scan: str
    folder: str
    labels: tuple[str, ...]

    def __call__(self, partition: Any, result: ItemMeans | Floats) -> Written:
        """Write the file of one block."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from annomodels.kernels.products import entropies

        number = partition.number
        with pq.ParquetFile(items_path(Path(self.scan), number)) as file:
            about = file.read(use_threads=False)
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
        # probabilities hardly repeat, and names never; a dictionary of them takes most of the time
        few_values = ["n", "gold"]
        pq.write_table(pa.table(columns), partial, compression="zstd", use_dictionary=few_values)
        partial.replace(target)
        open_items = gold < 0
        return Written(p.sum(axis=0), float((1.0 - p[open_items].max(axis=1)).sum()))


def truth_path(folder: Path, number: int) -> Path:
    """File with P(truth) of a block."""
    return folder / f"{number:06d}.parquet"


def read_truths(folder: Path, n_blocks: int) -> Iterator[Any]:
    """Give the tables of all blocks, in the order of the items."""
    import pyarrow.parquet as pq

    for number in range(n_blocks):
        yield pq.read_table(truth_path(folder, number))
