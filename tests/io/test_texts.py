"""Texts of items: found by the name of their column, and always those of the same item."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from annomodels.io.words import TEXT_COLUMNS

FORMATS = Path(__file__).resolve().parents[1] / "formats"


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def task_file(path: Path, seed: int) -> tuple[Path, dict[str, str], str]:
    """Write tasks of several items each, whose inputs have names and joints at random."""
    rng = np.random.default_rng(seed)
    per_task, joint = int(rng.integers(2, 12)), str(rng.choice(["", "_", "-"]))
    word = str(rng.choice(TEXT_COLUMNS))
    texts: dict[str, str] = {}
    rows = []
    for task in range(int(rng.integers(3, 7))):
        inputs: dict[str, str] = {}
        for n in range(1, per_task + 1):
            name = f"item {task}-{n}"
            texts[name] = f"text of {name}"
            inputs |= {f"Input.id{joint}{n}": name, f"Input.{word}{joint}{n}": texts[name]}
        for coder in "abc":
            answers = {
                f"Answer.said{n}": str(rng.choice(["x", "y"])) for n in range(1, per_task + 1)
            }
            cells = {"HITId": f"H{task}", "AssignmentId": f"{task}{coder}", "WorkerId": coder}
            rows.append(cells | inputs | answers | {"Answer.feedback": ""})
    names = list(rows[0])
    order = [names[n] for n in rng.permutation(len(names))]
    return write(path, [{name: row[name] for name in order} for row in rows]), texts, word


@pytest.mark.parametrize("seed", range(12))
def test_items_of_a_task_have_their_own_texts(tmp_path: Path, seed: int) -> None:
    path, texts, word = task_file(tmp_path / "batch.csv", seed)
    for item in ("id", "Input.id"):
        for asked in ({}, {"text": word}):
            data = am.read(path, item=item, **asked)
            assert set(data.items) == set(texts)
            assert dict(zip(data.items, data.texts, strict=True)) == texts


@pytest.mark.parametrize("seed", range(12))
def test_items_of_a_table_have_their_own_texts(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    word = str(rng.choice(TEXT_COLUMNS)).title()
    texts = {f"i{n}": f"text {n}" for n in range(8)}
    rows = [
        {"item": item, "coder": coder, "label": str(rng.choice(["x", "y"])), word: text}
        for item, text in texts.items()
        for coder in "abc"
    ]
    rows = [rows[n] for n in rng.permutation(len(rows))]
    data = am.read(write(tmp_path / "t.csv", rows))
    assert dict(zip(data.items, data.texts, strict=True)) == texts
    assert f"Column {word!r} is shown as the text of the items." in data.notes
