"""The memory of a scan does not grow with the labels (time: benchmarks/linear.py)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from annomodels.io.tables import chunks
from annomodels.scale import rows, sorting
from annomodels.scale.scanning import scan

K, PER_ITEM = 4, 5


@pytest.mark.calibration
def test_the_memory_of_a_scan_does_not_grow_with_the_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: Callable[..., Any]
) -> None:
    monkeypatch.setattr(chunks, "ROWS", 4000)
    monkeypatch.setattr(rows, "MEMORY", "32MB")  # all rows together need more
    monkeypatch.setattr(rows, "BATCH", 4000)
    monkeypatch.setattr(sorting, "BLOCK_LABELS", 4000)
    peaks = []
    for n in (30_000, 150_000):
        rng = np.random.default_rng(n)
        item = rng.permutation(n) // PER_ITEM
        frame = pd.DataFrame(
            {
                "item": [f"a name of some length {i}" for i in item],
                "coder": rng.integers(0, 200, n).astype(str),
                "label": rng.integers(0, K, n).astype(str),
            }
        )
        path = tmp_path / f"{n}.parquet"
        frame.to_parquet(path, row_group_size=4000)
        del frame
        before, held = pa.total_allocated_bytes(), [0]

        def look(*_: object, before: int = before, held: list[int] = held) -> None:
            held[0] = max(held[0], pa.total_allocated_bytes() - before)

        found, peak = measured(scan, path, progress=look)
        peaks.append(held[0] + peak)
        assert (found.n_annotations, len(found.blocks)) == (n, -(-n // 4000))
    assert peaks[1] < 1.5 * peaks[0]
