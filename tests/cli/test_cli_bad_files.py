"""Several files and codebooks that do not fit: every problem at once, with its place and remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.errors import AnnotationError

Call = Callable[..., Any]
SHEET = (
    "item,coder,tone,stage,stage_2\nt1,ana,up,1,2\nt1,ben,down,2,2\nt2,ana,up,3,1\n"
    "t2,ben,up,2,1\nt3,ana,up,3,1\nt3,ben,down,1,2\n"
)


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write files into the folder where commands run."""
    monkeypatch.chdir(tmp_path)

    def write(**files: str) -> None:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


def refused(done: Any, *said: str) -> None:
    """Check that it was refused with all of these words, and a remedy for each problem."""
    assert done.code == 3
    assert done.out == ""
    assert [words for words in said if words not in done.err] == []
    assert done.err.count("fix:") == max(1, done.err.count("where:"))


def test_a_key_column_missing_in_some_files_is_named_for_each(call: Call, put: Any) -> None:
    put(
        k__ana_dot_csv="doc,seg,tone\nd1,1,up\nd1,2,down\n",
        k__ben_dot_csv="doc,tone\nd1,up\nd2,down\n",
        k__cem_dot_csv="document,seg,ton\nd1,1,up\nd1,2,down\n",
    )
    done = call("check", "k", "--item", "doc,seg", "--label", "tone")
    refused(done, "3 problems", "Column 'seg'", "Column 'doc'", "Column 'tone'")
    assert "'doc,seg'" not in done.err
    assert (done.err.count("ben.csv"), done.err.count("cem.csv")) == (1, 2)


def test_the_columns_of_a_key_are_no_questions_of_one_file_per_coder(call: Call, put: Any) -> None:
    put(
        k__ana_dot_csv="doc,seg,tone,depth\nd1,1,up,1\nd1,2,down,2\n",
        k__ben_dot_csv="doc,seg,tone,depth\nd1,1,up,2\nd1,2,up,2\n",
    )
    refused(call("check", "k", "--item", "doc,seg"), "2 questions: 'depth'", "'tone' (4 labels)")
    found = am.read_questions("k", item="doc,seg")
    assert list(found) == ["tone", "depth"]
    assert (found["tone"].items, found["tone"].coders) == (("d1,1", "d1,2"), ("ana", "ben"))


def test_a_coder_in_two_files_is_told_with_the_rows_of_both(call: Call, put: Any) -> None:
    put(
        s__a_dot_csv="item,coder,label\nt1,ana,up\nt2,ana,down\nt1,ben,up\n",
        s__b_dot_csv="item,coder,label\nt9,ana,up\nt1,ana,down\nt2,ana,down\nt1,ben,up\n",
    )
    done = call("check", "s")
    refused(done, "2 problems", "a.csv, rows 2, 3 and b.csv, rows 3, 4", "row 4 and b.csv, row 5")


@pytest.mark.parametrize("paths", [["s"], ["s/x", "s/y"], ["s/x/v.csv", "s/y/v.csv"]])
def test_files_that_are_called_alike_are_told_apart(paths: list[str], call: Call, put: Any) -> None:
    put(
        s__x__v_dot_csv="item,coder,label\nt1,ana,up\n" + "t2,ben,up\n",
        s__y__v_dot_csv="item,coder,label\nt9,ana,up\nt1,ana,down\n",
    )
    refused(
        call("check", *paths), "labeled 1 item in two files", "x/v.csv, row 2", "y/v.csv, row 3"
    )
    for folder in "xy":
        put(**{f"s__{folder}__v_dot_csv": "item,tone\nt1,up\nt2,down\n"})
    data = am.read(paths, item="item", label="tone")
    assert data.coders == ("x", "y")
    assert [note.split(":")[0][-7:] for note in data.notes[:2]] == ["x/v.csv", "y/v.csv"]


def test_a_file_that_is_given_twice(call: Call, put: Any) -> None:
    put(
        a_dot_csv="item,coder,label\nt1,ana,up\nt2,ben,up\n", b_dot_csv="item,coder,label\nt1,c,x\n"
    )
    refused(
        call("check", "a.csv", "b.csv", "./a.csv", "no.csv"),
        "2 problems",
        "given 2 times",
        "no.csv",
    )


def test_coders_keep_their_names_where_files_call_their_column_differently(put: Any) -> None:
    put(
        m__a_dot_csv="item,coder,label\nt1,ana,up\nt2,ben,down\n",
        m__d_dot_jsonl='{"item":"t1","annotator":"dan","label":"up"}\n'
        '{"item":"t2","annotator":"eva","label":"down"}\n',
    )
    data = am.read("m")
    assert data.coders == ("ana", "ben", "dan", "eva")
    assert not any("not used" in note for note in data.notes)


def test_files_of_another_shape_are_all_named(call: Call, put: Any) -> None:
    put(
        m__a_dot_csv="item,coder,label\nt1,ana,up\nt2,ana,down\n",
        m__w_dot_csv="id,ben,cem\nt1,down,up\nt2,down,up\n",
        m__x_dot_csv="item,coder,ton\nt1,dan,up\nt2,dan,down\n",
    )
    done = call("check", "m")
    refused(done, "2 problems", "label columns not found", "w.csv", "x.csv", "--coder-columns")


def test_what_is_wrong_with_files_of_many_formats_is_told_at_once(call: Call, put: Any) -> None:
    box = {"id": 1, "completed_by": 1, "result": [
        {"from_name": "r", "to_name": "i", "type": "rectanglelabels", "original_width": 9,
         "original_height": 9, "value": {"x": 1, "y": 1, "width": 2, "height": 2,
                                         "rectanglelabels": ["cat"]}}]}  # fmt: skip
    put(
        m__a_dot_csv="item,coder,label\nt1,ana,up\nt2,ana,down\n",
        m__b_dot_json="<html>",
        m__c_dot_json=json.dumps([{"id": 1, "data": {"image": "a.png"}, "annotations": [box]}]),
    )
    refused(call("check", "m"), "2 problems", "b.json, row 1", "bounding box", "c.json")


def test_a_table_without_coders_beside_an_export_is_the_work_of_whom_it_is_called(put: Any) -> None:
    put(
        m__both_dot_jsonl='{"item": "t1", "annotators": ["ana", "ben"], "labels": ["up", "down"]}\n'
        '{"item": "t2", "annotators": ["ana", "ben"], "labels": ["up", "up"]}\n',
        m__zoe_dot_csv="item,label\nt1,up\nt2,up\n",
    )
    data = am.read("m", item="item")
    assert (data.items, data.coders) == (("t1", "t2"), ("ana", "ben", "zoe"))


@pytest.mark.parametrize("command", [["check"], ["agree"], ["run", "-o", "out"]])
@pytest.mark.parametrize("asked", [["--question", "*"], ["--question", "tone"]])
def test_names_of_a_codebook_that_fit_no_question(
    command: list[str], asked: list[str], call: Call, put: Any
) -> None:
    book = "question,scale,labels\nstge,ordinal,1|2|3\nstage,ordinal,1|2|3\nfoo_*,ordinal,\n"
    put(q_dot_csv=SHEET, book_dot_csv=book)
    done = call(command[0], "q.csv", *command[1:], *asked, "--read", "codebook=book.csv")
    refused(
        done, "2 problems", "'stge'", "book.csv, row 2", "'stage'?", "'foo_*'", "book.csv, row 4"
    )
    assert not Path("out").exists()


def test_a_codebook_may_speak_of_questions_that_are_not_read(put: Any) -> None:
    put(
        q_dot_csv=SHEET,
        book_dot_csv="question,scale\nstage*,ordinal\ntone,nominal\n",
        plain_dot_csv="item,coder,label\nt1,ana,1\nt1,ben,2\n",
        one_dot_csv="question,scale\nlabel,ordinal\n",
    )
    assert am.read("q.csv", question="stage", codebook="book.csv").scale == "ordinal"
    assert am.read("plain.csv", codebook="one.csv").scale == "ordinal"
    for read in (am.read, am.read_questions):
        with pytest.raises(AnnotationError, match="No question is called 'tone'"):
            read("plain.csv", codebook="book.csv")


@pytest.mark.parametrize("command", [["check"], ["agree"], ["run", "-o", "out"]])
def test_a_map_that_makes_all_labels_one(command: list[str], call: Call, put: Any) -> None:
    put(q_dot_csv=SHEET)
    new = ["--read", "map=up=x", "--read", "map=down=x"]
    done = call(command[0], "q.csv", *command[1:], "--question", "tone", *new)
    refused(done, "All 2 labels become 'x': 'up', 'down'", "q.csv, column 'tone'", "--read map")
    assert not Path("out").exists()


def test_a_map_that_makes_all_labels_of_every_question_one(call: Call, put: Any) -> None:
    put(q_dot_csv=SHEET)
    new = [word for label in ("up", "down", "1", "2", "3") for word in ("--read", f"map={label}=x")]
    done = call("check", "q.csv", "--question", "*", *new)
    refused(done, "None of 3 questions", "'tone' (all 2 labels become 'x'", "Recode fewer labels")
