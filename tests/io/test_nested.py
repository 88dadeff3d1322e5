"""Lists and objects in cells are taken apart: who said what of each item."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from annomodels import Annotations, read
from annomodels.errors import AnnotationError

VOTES = {
    "t1": {"ana": "1", "ben": "0"},
    "t2": {"ana": "1", "cem": "1", "ben": "1"},
    "t3": {"cem": "0", "ana": "0"},
}
ROWS = sorted((item, coder, label) for item, row in VOTES.items() for coder, label in row.items())

SHAPES: dict[str, Callable[[dict[str, str]], dict[str, Any]]] = {
    "lists": lambda row: {"annotators": list(row), "labels": list(row.values())},
    "numbers": lambda row: {"annotator_ids": list(row), "labels": [int(x) for x in row.values()]},
    "texts": lambda row: {"annotators": ",".join(row), "annotations": ",".join(row.values())},
    "objects": lambda row: {
        "annotations": [{"annotator_id": c, "label": x, "id": 7} for c, x in row.items()]
    },
    "by coder": lambda row: {"annotations": row},
    "by coder, numbers": lambda row: {"ratings": {c: int(x) for c, x in row.items()}},
    "votes beside shares": lambda row: {
        "soft_label": {"0": 0.5, "1": 0.5}, "label": {"0": 0.3, "1": 0.7}, "votes": row,
        "number of annotations": len(row),
    },
}  # fmt: skip


def rows_of(data: Annotations) -> list[tuple[str, ...]]:
    return sorted(tuple(row) for row in data.to_frame().to_numpy().tolist())


@pytest.mark.parametrize(
    ("names", "votes"),
    [("a;b;c", "x;y;x"), ("a, b, c", "x, y, x"), ("['a' 'b' 'c']", "['x' 'y' 'x']")],
)
def test_cells_with_signs_between_coders_and_arrays_as_they_are_printed(
    tmp_path: Path, names: str, votes: str
) -> None:
    path = tmp_path / "a.csv"
    pd.DataFrame({"id": range(6), "annotators": names, "labels": votes}).to_csv(path, index=False)
    data = read(path)
    assert (data.n_items, data.coders, data.labels) == (6, ("a", "b", "c"), ("x", "y"))


FORMS = ("lines", "array", "named", "csv", "python", "parquet")


def can_be_written(shape: str, form: str) -> bool:
    """Tell whether a form has this shape.

    Texts with commas stand in JSON only, and Parquet has no objects with keys of their own.
    """
    if form in ("lines", "array", "named"):
        return True
    keys = "by coder" in shape or "votes" in shape
    return shape != "texts" and not (form == "parquet" and keys)


@pytest.mark.parametrize(
    ("shape", "form"), [(s, f) for s in SHAPES for f in FORMS if can_be_written(s, f)]
)
def test_labels_of_all_coders_in_a_cell(shape: str, form: str, tmp_path: Path) -> None:
    made = {item: SHAPES[shape](row) for item, row in VOTES.items()}
    records = [{"id": item, "text": f"Text {item}", **cells} for item, cells in made.items()]
    path = tmp_path / {"csv": "a.csv", "python": "a.csv", "lines": "a.jsonl",
                       "parquet": "a.parquet"}.get(form, "a.json")  # fmt: skip
    if form == "lines":
        path.write_text("\n".join(map(json.dumps, records)))
    elif form == "array":
        path.write_text(json.dumps(records))
    elif form == "named":
        path.write_text(json.dumps({item: {"text": "so", **cells} for item, cells in made.items()}))
    elif form == "parquet":
        pd.DataFrame(records).to_parquet(path)
    else:
        write = json.dumps if form == "csv" else repr
        cells = [
            {k: v if isinstance(v, (str, int)) else write(v) for k, v in r.items()} for r in records
        ]
        pd.DataFrame(cells).to_csv(path, index=False)
    data = read(path)
    assert rows_of(data) == ROWS
    assert data.texts is not None


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def test_several_questions_are_never_mixed(tmp_path: Path) -> None:
    record = {"uid": "a", "workers": ["x", "y"], "tone": ["up", "down"], "topic": ["war", "war"]}
    path = lines(tmp_path / "a.jsonl", [record, {**record, "uid": "b"}])
    with pytest.raises(AnnotationError, match="2 questions: 'tone'") as caught:
        read(path)
    assert caught.value.problems[0].choices == ("tone", "topic")
    assert read(path, question="topic").labels == ("war",)
    assert read(path, label="tone").labels == ("down", "up")
    objects = [{"uid": n, "annotations": [{"annotator": c, "tone": "up", "topic": "war"}
                                          for c in "xy"]} for n in "ab"]  # fmt: skip
    assert read(lines(tmp_path / "b.jsonl", objects), question="tone").n_annotations == 4
    nested = [{"uid": n, "labels": {c: {"tone": "up", "topic": "war"} for c in "xy"}} for n in "ab"]
    assert read(lines(tmp_path / "c.jsonl", nested), question="topic").n_annotations == 4


def test_items_are_named_by_a_field_a_key_or_the_row(tmp_path: Path) -> None:
    records = [
        {"doc": "d", "n": n, "meta": {"page": n}, "labels": {"a": "x", "b": "y"}} for n in (1, 2)
    ]
    path = lines(tmp_path / "a.jsonl", records)
    assert read(path).items == ("1", "2")  # rows
    assert read(path, item=["doc", "n"]).items == ("d,1", "d,2")
    assert read(path, item="meta.page").items == ("1", "2")


def test_lists_of_different_lengths_are_left_out_and_counted(tmp_path: Path) -> None:
    good = [{"id": n, "annotators": ["a", "b"], "labels": ["x", "y"]} for n in range(60)]
    path = lines(
        tmp_path / "a.jsonl", [*good, {"id": 99, "annotators": ["a"], "labels": ["x", "y"]}]
    )
    data = read(path)
    assert data.n_items == 60
    assert any("different lengths in 1 record" in note for note in data.notes)


def test_several_labels_of_a_coder_are_a_set(tmp_path: Path) -> None:
    records = [{"id": n, "annotations": {"a": ["x", "y"], "b": ["x"]}} for n in range(3)]
    path = lines(tmp_path / "a.jsonl", records)
    assert read(path).labels == ("x", "x|y")
    assert read(path, sets=True).labels == (frozenset({"x"}), frozenset({"x", "y"}))


def test_places_by_coder_are_spans(tmp_path: Path) -> None:
    records = [
        {"docid": "d1", "PER": {"ana": [[0, 4], [9, 12]], "ben": []}, "LOC": {"ben": [[0, 4]]}},
        {"docid": "d2", "PER": {"ana": [[1, 2]]}, "LOC": {}},
    ]
    path = lines(tmp_path / "a.jsonl", records)
    data = read(path, units="exact")
    assert (data.n_items, data.coders) == (3, ("ana", "ben"))
    assert data.labels == ("(none)", "LOC", "PER")
    with pytest.raises(AnnotationError, match="marked stretches of text"):
        read(path)


def judgment(unit: int, worker: int, **more: Any) -> dict[str, Any]:
    data = {"found": "yes" if unit % 2 else "no", "words": ["1", "2"]}
    about = {
        "unit_id": unit,
        "unit_data": {"text": "so", "ref": f"r{unit}"},
        "id": unit * 10 + worker,
    }
    return {**about, "worker_id": worker, "data": data, "tainted": False, "rejected": None, **more}


def test_full_reports_of_appen_as_json(tmp_path: Path) -> None:
    records = [
        {"id": unit, "results": {"judgments": [judgment(unit, 1), judgment(unit, 2),
                                               judgment(unit, 3, tainted=True)]}}
        for unit in (1, 2)
    ]  # fmt: skip
    path = lines(tmp_path / "a.json", records)
    with pytest.raises(AnnotationError, match="2 questions: 'found'"):
        read(path)
    data = read(path, question="found", item="ref")
    assert (data.items, data.coders, data.labels) == (("r1", "r2"), ("1", "2"), ("no", "yes"))
    assert any("Left out because they are tainted: 2 answers" in note for note in data.notes)


def test_words_that_differ_between_coders_are_aligned_by_the_text(tmp_path: Path) -> None:
    sheets = {
        "ana": "Anna B-PER\nMay I-PER\nsees O\nRome B-LOC\n\nOn O\nMonday O\n",
        "ben": "Anna B-PER\nMay I-PER\nsees O\nRome B-ORG\n\nOn O\nMonday O\n",
        "cem": "Anna B-PER\n May I-PER\nRome B-LOC\n\nOn O\n/ B-LOC\nMonday O\n",
        "dan": "Quite O\nanother B-LOC\ntext O\n",
    }
    for coder, text in sheets.items():
        (tmp_path / "out" / coder).mkdir(parents=True)
        (tmp_path / "out" / coder / "d.txt").write_text(text)
    data = read(tmp_path / "out", units="token")
    frame = data.to_frame().pivot(index="item", columns="coder", values="label")
    assert data.coders == ("ana", "ben", "cem")
    assert list(frame.index) == ["d:0-4", "d:14-18", "d:19-21", "d:22-28"]  # without May and sees
    assert frame.loc["d:14-18"].tolist() == ["LOC", "ORG", "LOC"]
    said = " ".join(data.notes)
    assert "The words of 1 document differ between coders" in said
    assert "d by dan" in said
    assert "1 mark." in said
    assert "a tag stands there without a word: 1 line" in said


def test_counts_of_labels_are_no_labels_of_coders(tmp_path: Path) -> None:
    for field, cell in (("votes", {"positive": 2, "negative": 1}), ("counts", {"a": 1, "b": 0})):
        path = tmp_path / f"{field}.jsonl"
        path.write_text("".join(json.dumps({"id": n, field: cell}) + "\n" for n in range(9)))
        with pytest.raises(AnnotationError, match="not who gave which"):
            read(path)
