"""What is written comes back: layouts of other programs, gold labels for tools."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import annomodels as am
from annomodels import Annotations, read
from annomodels.cli.commands import tables
from annomodels.cli.commands.data import TO
from annomodels.errors import AnnomodelsError, AnnotationError, NotApplicable
from annomodels.io.writers.catalog import BACKS, LAYOUTS, SPAN_BACKS

ROWS = [
    ("t1", "ana", "pos"), ("t1", "ben", "neg"), ("t2", "ana", "neg"), ("t2", "cho", "neu"),
    ("t10", "ben", "pos"), ("t10", "cho", "pos"),
]  # fmt: skip


def triples(data: Annotations) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, data.to_frame().to_numpy().tolist()))


@pytest.fixture
def data() -> Annotations:
    made = Annotations.from_records(ROWS, truth={"t2": "neg"})
    return made.replace(texts=("Good 😊", 'So "so"', "=1+1"))


# -- layouts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("to", "ending", "options"),
    [
        ("long", "csv", {"truth": "gold", "text": "text"}),
        ("long", "tsv", {"truth": "gold"}),
        ("long", "jsonl", {"truth": "gold"}),
        ("long", "parquet", {"truth": "gold"}),
        ("crowd-kit", "csv", {}),
        ("wide", "csv", {}),
        ("label-studio", "json", {"item": "item"}),
        ("prodigy", "jsonl", {"item": "item"}),
        ("argilla", "json", {}),
    ],
)
def test_labels_come_back_as_they_went(
    to: str, ending: str, options: dict[str, str], data: Annotations, tmp_path: Path
) -> None:
    path = am.write(data, tmp_path / f"out.{ending}", to=to)
    back = read(path, **options)
    assert triples(back) == sorted(ROWS)
    if "truth" in options or to == "label-studio":
        assert back.gold is not None
        assert back.gold.tolist() == [-1, 0, -1]
    if to in ("label-studio", "prodigy", "argilla") or "text" in options:
        assert back.texts == data.texts


# What a file of text can hold: no half characters, no NUL.
ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.text(ANY, min_size=1, max_size=3)),
        min_size=1, max_size=8, unique_by=lambda row: row[:2],
    ),
    st.sampled_from(["long", "label-studio", "prodigy", "argilla"]),
)  # fmt: skip
def test_any_names_survive_every_tool(rows: list[tuple[int, int, str]], to: str) -> None:
    import tempfile

    clean = [(f"i{i}\n,", f'é{j}"', x) for i, j, x in rows]
    ending = {"long": "csv", "prodigy": "jsonl"}.get(to, "json")
    with tempfile.TemporaryDirectory() as folder:
        path = am.write(Annotations.from_records(clean), Path(folder) / f"x.{ending}", to=to)
        options = {"item": "item"} if to in ("label-studio", "prodigy") else {}
        assert triples(read(path, labels=sorted({r[2] for r in clean}), **options)) == sorted(clean)


def test_matrices_of_the_calculators(data: Annotations, tmp_path: Path) -> None:
    k_alpha = am.write(data, tmp_path / "k.csv", to="k-alpha").read_text()
    assert k_alpha == "3,1,NA\n1,NA,2\nNA,3,3\n"
    recal = am.write(data, tmp_path / "r.csv", to="recal").read_text()
    assert recal == k_alpha.replace("NA", "#")
    mace = am.write(data, tmp_path / "m.csv", to="mace").read_text()
    assert mace == "pos,neg,\nneg,,neu\n,pos,pos\n"
    for path in (tmp_path / "k.csv", tmp_path / "m.csv"):
        assert read(path, format="matrix").votes.sum() == len(ROWS)
    numbers = Annotations.from_records([(1, "a", "4"), (1, "b", "5"), (2, "a", "5")])
    assert am.write(numbers, tmp_path / "n.csv", to="k-alpha").read_text() == "4,5\n5,NA\n"
    odd = Annotations.from_records([(1, "a", 'x,"y"'), (1, "b", "z")])
    text = am.write(odd, tmp_path / "o.csv", to="mace").read_text()
    assert next(csv.reader(io.StringIO(text))) == ['x,"y"', "z"]


def test_cleanlab_takes_numbers_from_zero_with_gaps(data: Annotations, tmp_path: Path) -> None:
    frame = pd.read_csv(am.write(data, tmp_path / "c.csv", to="cleanlab"), index_col="item")
    expected = [[2, 0, np.nan], [0, np.nan, 1], [np.nan, 2, 2]]
    np.testing.assert_array_equal(frame.to_numpy(dtype=float), expected)
    assert frame.index.tolist() == ["t1", "t2", "t10"]


def test_krippendorff_reads_the_matrix_and_agrees(data: Annotations, tmp_path: Path) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    path = am.write(data, tmp_path / "k.csv", to="k-alpha")
    table = csv.reader(path.read_text().splitlines())
    rows = [[np.nan if cell == "NA" else float(cell) for cell in row] for row in table]
    alpha = krippendorff.alpha(np.array(rows).T, level_of_measurement="nominal")
    ours = am.agreement(data, "alpha").value
    assert ours == pytest.approx(alpha)


def test_a_matrix_holds_one_label_each(tmp_path: Path) -> None:
    twice = Annotations.from_records([("t", "a", "x"), ("t", "a", "y"), ("t", "b", "x")])
    with pytest.raises(AnnotationError, match="without_repeats"):
        am.write(twice, tmp_path / "x.csv", to="mace")
    assert not list(tmp_path.iterdir())
    assert am.write(twice.without_repeats(), tmp_path / "x.csv", to="mace").read_text() == "x,x\n"


def test_unknown_layouts_and_files_in_the_way(data: Annotations, tmp_path: Path) -> None:
    with pytest.raises(NotApplicable, match="Did you mean 'k-alpha'"):
        am.write(data, tmp_path / "x.csv", to="kalpha")
    (tmp_path / "x.csv").write_text("mine")
    with pytest.raises(AnnomodelsError, match="A file with this name"):
        am.write(data, tmp_path / "x.csv", to="mace")
    assert am.write(data, tmp_path / "x.csv", to="mace", force=True).read_text() != "mine"


# -- gold ----------------------------------------------------------------------------------------

GOLD = pd.DataFrame(
    {
        "item": ["t1", "t2", "7"], "label": ["pos", "", "neg"], "probability": [0.9, 0.5, 1.0],
        "votes": ["pos 2", "neg 1, pos 1", "neg 2"],
        "p_neg": [0.1, 0.5, 0.0], "p_pos": [0.9, 0.5, 1.0],
    }
)  # fmt: skip
TEXTS = {"t1": "Good 😊", "t2": "So so"}


def write_gold(to: str, tmp_path: Path, ending: str = "json") -> Path:
    return am.write_gold(GOLD, tmp_path / f"g.{ending}", to, question="mood", texts=TEXTS)


def check(value: Any, shape: Any) -> None:
    """Hold a JSON value to the shape that a tool documents."""
    if isinstance(shape, dict):
        assert isinstance(value, dict)
        assert set(value) == set(shape)
        for key, part in shape.items():
            check(value[key], part)
    elif isinstance(shape, list):
        assert isinstance(value, list)
        for part in value:
            check(part, shape[0])
    else:
        assert isinstance(value, shape)


def test_label_studio_predictions_have_the_documented_shape(tmp_path: Path) -> None:
    tasks = json.loads(write_gold("label-studio", tmp_path).read_text())
    result = {"from_name": str, "to_name": str, "type": str, "value": {"choices": [str]}}
    prediction = {"model_version": str, "score": float, "result": [result]}
    shares = {"neg": float, "pos": float}
    data = {"text": str, "item": str, "doubt": float, "votes": str, "p": shares}
    check(tasks, [{"data": data, "predictions": [prediction]}])
    assert [task["data"]["item"] for task in tasks] == ["t1", "t2", "7"]
    assert tasks[0]["predictions"][0]["score"] == 0.9
    assert tasks[1]["predictions"][0]["result"] == []
    for task in tasks:  # as the tool exports it again
        task["annotations"] = []
    (tmp_path / "back.json").write_text(json.dumps(tasks))
    back = read(tmp_path / "back.json", item="item", models=True)
    assert triples(back) == [("7", "model:annomodels", "neg"), ("t1", "model:annomodels", "pos")]


def test_tasks_to_review_begin_with_the_most_doubtful(tmp_path: Path) -> None:
    tasks = json.loads(write_gold("label-studio-review", tmp_path).read_text())
    assert [task["data"]["item"] for task in tasks] == ["t2", "t1", "7"]
    assert [task["data"]["doubt"] for task in tasks] == [1.0, 0.469, 0.0]


def test_prodigy_examples_to_review(tmp_path: Path) -> None:
    path = write_gold("prodigy", tmp_path, "jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["meta"]["item"] for row in rows] == ["t2", "t1", "7"]
    assert rows[0]["answer"] == "ignore"
    assert rows[1]["options"] == [{"id": k, "text": k} for k in ("neg", "pos")]
    assert rows[2]["_input_hash"] == 7
    assert all(isinstance(row[key], int) for row in rows for key in ("_input_hash", "_task_hash"))
    back = read(path, item="item")
    assert triples(back) == [("7", "annomodels", "neg"), ("t1", "annomodels", "pos")]
    assert back.skips == 1


def test_argilla_suggestions(tmp_path: Path) -> None:
    records = json.loads(write_gold("argilla", tmp_path).read_text())
    assert records[0]["suggestions"]["mood"] == {
        "value": "pos", "score": 0.9, "agent": "annomodels",
    }  # fmt: skip
    assert records[1]["suggestions"] == {}
    back = read(tmp_path / "g.json", models=True)
    assert triples(back) == [("7", "model:annomodels", "neg"), ("t1", "model:annomodels", "pos")]


def test_toloka_and_appen_rows_hold_what_is_settled(tmp_path: Path) -> None:
    toloka = [
        line.split("\t") for line in write_gold("toloka", tmp_path, "tsv").read_text().splitlines()
    ]
    assert toloka == [
        ["INPUT:item", "INPUT:text", "GOLDEN:mood", "HINT:text"],
        ["t1", "Good 😊", "pos", ""],
        ["7", "7", "neg", ""],
    ]
    appen = list(csv.reader(write_gold("appen", tmp_path, "csv").read_text().splitlines()))
    assert appen[0] == ["item", "text", "_golden", "mood_gold", "mood_gold_reason"]
    assert [row[2:4] for row in appen[1:]] == [["TRUE", "pos"], ["TRUE", "neg"]]


@pytest.mark.slow
def test_gold_of_a_fit_needs_nothing_else(tmp_path: Path) -> None:
    crowd = am.datasets.load("crowd")
    fit = am.fit(crowd.select(items=crowd.items[:30]), engine="em", seed=1, starts=1)
    path = am.write_gold(fit.gold(), tmp_path / "g.jsonl", "prodigy")
    first = json.loads(path.read_text().splitlines()[0])
    assert [option["id"] for option in first["options"]] == ["neg", "neu", "pos"]
    with pytest.raises(AnnotationError, match="lacks label, probability"):
        am.write_gold(pd.DataFrame({"item": ["t"]}), tmp_path / "x.json")
    wrong = pd.DataFrame({"item": ["t"], "label": ["x"], "probability": [7.0]})
    with pytest.raises(AnnotationError, match="between 0 and 1"):
        am.write_gold(wrong, tmp_path / "x.json")


def test_hugging_face_rows_have_soft_labels_as_one_column(tmp_path: Path) -> None:
    crowd = am.datasets.load("crowd")
    fit = am.fit(crowd.select(items=crowd.items[:30]), engine="em", seed=1, starts=1)
    path = am.write_gold(fit.gold(), tmp_path / "g.jsonl", "hugging-face")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0]["label_names"] == ["neg", "neu", "pos"]
    assert all(sum(row["soft_label"]) == pytest.approx(1, abs=1e-4) for row in rows)


# -- command line --------------------------------------------------------------------------------


def test_the_command_line_knows_every_writer() -> None:
    assert tuple(LAYOUTS) == TO
    of_spans = [name for name in SPAN_BACKS if name not in BACKS]
    assert (*BACKS, "parquet", *of_spans) == tables.TO
