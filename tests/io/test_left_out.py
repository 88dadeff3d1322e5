"""Answers that are left out are counted, and known truth is not a coder's label."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import annomodels as am
from annomodels.errors import AnnotationError

CASES = Path(__file__).parent / "cases"


def test_empty_answers_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    rows = [{"id": n, "annotators": ["a", "b"], "annotations": [["x"], []]} for n in range(3)]
    rows += [{"id": 9, "annotators": ["a", "b"], "annotations": [["y"], ["x"]]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    said = "Left out because they have no label (skipped or empty): 3 of 8 answers."
    assert said in am.read(path).notes
    path = tmp_path / "long.csv"
    path.write_text("item,coder,label\nt,a,x\nt,b,\nu,a,y\nu,b,y\n")
    assert any("1 of 4 answers" in note for note in am.read(path).notes)


def test_answers_to_another_question_are_counted() -> None:
    data = am.read(CASES / "zooniverse_shortcut.csv", question="T0")
    said = "Left out because they answer only 'T1', not 'T0': 57 of 240 answers."
    assert said in data.notes


def test_known_truth_is_not_read_as_labels(tmp_path: Path) -> None:
    rows = [
        (f"p{n}", who, n % 2, (n + who * (n % 3 == 0)) % 2) for n in range(20) for who in (0, 1)
    ]
    text = "instance,annotator,label,response\n"
    path = tmp_path / "reviews.csv"
    path.write_text(text + "".join(",".join(map(str, row)) + "\n" for row in rows))
    with pytest.raises(AnnotationError, match="seems to be the known truth") as caught:
        am.read(path)
    assert "label='response' and truth='label'" in str(caught.value)
    data = am.read(path, label="response", truth="label")
    assert data.gold is not None
    assert (data.gold >= 0).all()
    assert am.read(path, label="label").n_coders == 2
