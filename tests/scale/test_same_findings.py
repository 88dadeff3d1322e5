"""A scan says the same as a file in memory: labels that never differ, and decimal commas."""

from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from annomodels.scale.summaries import unanimous

POOLED = {"model": "pooled", "engine": "em", "seed": 1}


def write(path: Path, rows: list[tuple[object, ...]]) -> Path:
    lines = [";".join(map(str, row)) for row in [("item", "coder", "label"), *rows]]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("items", [30, 80])
def test_labels_that_never_differ(tmp_path: Path, items: int, odd: int) -> None:
    rows = [(f"t{n}", c, "ab"[n % 2]) for n in range(items) for c in "xy"]
    rows += [("t0", "z", "b")] * odd + [(f"alone{n}", "x", "b") for n in range(9)]
    path = write(tmp_path / "a.csv", rows)
    data, scanned = am.read(path), am.scan(path)
    assert unanimous(scanned) == data.unanimous
    found = [am.fit(each, **POOLED).check().findings for each in (data, scanned)]
    said = [[f.sentence for f in each if f.code == "unanimous_labels"] for each in found]
    assert said[0] == said[1]
    assert bool(said[0]) == (items == 80 and not odd)


def test_decimal_commas(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [
        (f"t{n}", c, f"{int(rng.integers(3))},5" if rng.random() < 0.8 else 1)
        for n in range(40)
        for c in "xyz"
    ]
    path = write(tmp_path / "a.csv", rows)
    data, scanned = (read(path, scale="interval") for read in (am.read, am.scan))
    assert data.labels == scanned.labels == ("0.5", "1", "1.5", "2.5")
    note = [text for text in data.notes if "decimal comma" in text]
    assert len(note) == 1
    assert note[0] in scanned.notes
    again = scanned.to_annotations()
    assert [again.labels[k] for k in again.label] == [data.labels[k] for k in data.label]
    truth = {"t1": "0,5", "t2": "1"}
    known = am.scan(path, truth=truth, scale="interval").to_annotations()
    assert np.array_equal(known.known, data.with_truth({"t1": "0.5", "t2": "1"}).known)
