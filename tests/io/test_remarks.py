"""What reading says of labels, options and names that are perhaps not what they seem."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import annomodels as am
from annomodels.auditing.answers import read_answers
from annomodels.errors import AnnotationError
from annomodels.io.mappings import item_columns, items_from, rows_about, truths_from, truths_of

Write = Callable[..., Path]


# -- items of several columns ----------------------------------------------------------------


@pytest.fixture
def composite() -> am.Annotations:
    rows = [
        (f"q{q}", system, coder, "xy"[(q + n) % 2])
        for q in range(4) for n, system in enumerate(("gpt", "llama")) for coder in "ab"
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["prompt", "system", "judge", "label"])
    return am.Annotations.from_frame(frame, item="prompt,system")


@pytest.mark.parametrize("header", ["prompt,system,label", "system,note,prompt,truth"])
def test_truths_name_items_by_several_columns(
    write: Write, composite: am.Annotations, header: str
) -> None:
    cells = {"prompt": "q{}", "system": "gpt", "label": "x", "truth": "x", "note": "n{}"}
    rows = [",".join(cells[name] for name in header.split(",")).format(q, q) for q in range(3)]
    path = write("\n".join([header, *rows]) + "\n", "truth.csv")
    expected = {f"q{q},gpt": "x" for q in range(3)}
    assert truths_from(path, composite.items) == expected
    assert truths_of(path, composite) == expected
    assert read_answers(composite, path) == expected


def test_columns_about_items_of_several_columns(write: Write) -> None:
    path = write("prompt,system,length\nq1,gpt,10\nq1,llama,20\nq1,gpt,10\n", "items.csv")
    found = item_columns(path, ["length", "system"], "prompt,system")
    assert found["length"] == {"q1,gpt": "10", "q1,llama": "20"}
    assert found["system"]["q1,llama"] == "llama"
    known = ["q1,gpt", "q1,llama"]
    assert item_columns(path, ["length"], items=known)["length"] == found["length"]
    assert items_from(path, items=known) == known
    coders = write("coder,years\na,1\nb,\n", "coders.csv")
    more = write("system,prompt,genre\nllama,q1,x\n", "more.csv")
    rows = rows_about([path, coders, more], known)
    assert rows["coder"] == [{"coder": "a", "years": 1.0}, {"coder": "b", "years": None}]
    assert rows["item"] == [
        {"item": "q1,gpt", "length": 10.0, "genre": None},
        {"item": "q1,llama", "length": 20.0, "genre": "x"},
    ]


def test_truths_by_another_identifier_name_the_column_to_read_by(
    write: Write, composite: am.Annotations
) -> None:
    path = write("ext_id,truth\n900,x\n901,y\n", "truth.csv")
    with pytest.raises(AnnotationError, match="item='ext_id'"):
        truths_of(path, composite)


def test_truths_in_a_workbook(tmp_path: Path, composite: am.Annotations) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "truth.xlsx"
    pd.DataFrame({"item": ["q1,gpt"], "truth": ["x"]}).to_excel(path, index=False)
    assert truths_of(path, composite) == {"q1,gpt": "x"}


def test_soft_labels_go_to_parquet(tmp_path: Path) -> None:
    gold = pd.DataFrame({"item": ["t1"], "label": ["x"], "probability": [0.9], "p_x": [0.9]})
    path = am.write_gold(gold, tmp_path / "gold.parquet", to="parquet")
    assert pd.read_parquet(path)["p_x"].tolist() == [0.9]
