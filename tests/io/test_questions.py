"""Several questions of one file: read in one pass, each with its scale, the rest with a reason."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.io import source as sources
from annomodels.io.tables import plain as long
from tests.io.asked import refused

ROWS = 40


def sheet(tmp_path: Path, name: str = "sheet.csv", **columns: Any) -> Path:
    """Write a coding sheet of three coders with questions and much that is none."""
    rows = []
    for n in range(ROWS):
        for k, coder in enumerate(("ana", "ben", "cem")):
            rows.append(
                {
                    "item": f"t{n}",
                    "coder": coder,
                    "stage_1": (n + k) % 5,
                    "stage_2": (n * k) % 5,
                    "tone": "pos" if (n + k) % 3 else "neg",
                    "captcha": "ok",
                    "reply": f"words of {coder} on {n}",
                    "form": json.dumps({"a": n, "b": k}),
                    "marked": f"a <b>{n}</b> c",
                    "begun": f"2026-01-0{k + 1}T10:00:0{k}",
                    "page_submit": n + k / 10,
                    "age": 30 + k,
                    "source": "paper" if n % 2 else "radio",
                    **{key: make(n, k) for key, make in columns.items()},
                }
            )
    path = tmp_path / name
    head = list(rows[0])
    lines = [
        ",".join(f'"{str(row[c]).replace(chr(34), chr(34) * 2)}"' for c in head) for row in rows
    ]
    path.write_text("\n".join([",".join(head), *lines]) + "\n")
    return path


def test_what_is_no_question_is_left_out_with_the_reason(tmp_path: Path) -> None:
    found = am.read_questions(sheet(tmp_path))
    assert list(found) == ["stage_1", "stage_2", "tone"]
    assert found["tone"].labels == ("neg", "pos")
    reasons = {
        "captcha": "all 120 answers are 'ok'",
        "reply": "free text, 120 different answers among 120",
        "form": "JSON, not labels",
        "marked": "text with markup in it, which is not read",
        "begun": "times",
        "page_submit": "its name says that it describes the item, the coder or the session",
        "age": "it is the same in all rows of each coder, so it is about coders",
        "source": "it is the same for all coders of each item, so it is about items",
    }
    assert found.left_out == reasons
    assert "Left out: 'captcha' (all 120 answers are 'ok')" in repr(found)


def test_names_and_patterns_choose_and_a_full_name_is_always_tried(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    assert list(am.read_questions(path, "stage_*")) == ["stage_1", "stage_2"]
    some = am.read_questions(path, ["tone", "source", "c*"])
    assert list(some) == ["tone", "source"]
    assert list(some.left_out) == ["captcha"]
    told = refused(path, verb=am.read_questions, question=["stag_1", "x*"])
    assert "No question is called 'stag_1'" in told
    assert "Did you mean 'stage_1'?" in told
    assert "No question fits 'x*'" in told
    assert "free text" in refused(path, verb=am.read_questions, question="reply")
    assert am.read(path, question="source").labels == ("paper", "radio")


def test_scales_by_question_from_a_mapping_and_from_a_codebook(tmp_path: Path) -> None:
    path = sheet(tmp_path)
    said = {"*": "nominal", "stage_*": "ordinal", "stage_2": "interval"}
    found = am.read_questions(path, scale=said)
    assert [data.scale for data in found.values()] == ["ordinal", "interval", "nominal"]
    book = tmp_path / "codebook.csv"
    book.write_text("question,scale,labels\nstage_1,ordinal,4|3|2|1|0\ntone,,neg|zero|pos\n")
    found = am.read_questions(path, codebook=book, scale={"stage_2": "ratio"})
    assert [data.scale for data in found.values()] == ["ordinal", "ratio", "nominal"]
    assert found["stage_1"].labels == ("4", "3", "2", "1", "0")
    assert found["tone"].labels == ("neg", "zero", "pos")
    one = am.read(path, question="stage_1", codebook=book)
    assert (one.scale, one.labels) == ("ordinal", ("4", "3", "2", "1", "0"))
    as_json = tmp_path / "codebook.json"
    as_json.write_text(json.dumps({"stage_*": "ordinal", "tone": {"labels": ["pos", "neg"]}}))
    assert am.read_questions(path, codebook=as_json)["tone"].labels == ("pos", "neg")


def test_all_faults_of_a_codebook_are_told_at_once(tmp_path: Path) -> None:
    book = tmp_path / "book.csv"
    book.write_text("variable,scale\nstage_1,ordered\nstage_2,ranks\nstage_1,nominal\n")
    told = refused(sheet(tmp_path), verb=am.read_questions, codebook=book)
    assert "'ordered' is not a scale" in told
    assert "book.csv, row 2" in told
    assert "'ranks' is not a scale" in told
    assert "'stage_1' stands there twice" in told
    book.write_text("variable,scale\nstage_9,ordinal\ntune,nominal\n")
    told = refused(sheet(tmp_path), verb=am.read_questions, codebook=book)
    assert "No question is called 'stage_9'" in told
    assert "No question is called 'tune'" in told
    book.write_text("a,b\n1,2\n3,4\n")
    assert "has the columns question, scale and labels" in refused(
        sheet(tmp_path), verb=am.read_questions, codebook=book
    )


def test_the_rest_is_read_where_a_question_cannot_be(tmp_path: Path) -> None:
    found = am.read_questions(sheet(tmp_path), scale={"tone": "ordinal"})
    assert list(found) == ["stage_1", "stage_2"]
    assert (
        found.left_out["tone"] == "the scale is ordinal but the labels are words without an order"
    )


def test_metadata_do_not_stand_in_the_way_of_the_only_question(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    rows = ["item,coder,tone,lead_time", "t1,ana,pos,7", "t1,ben,neg,8", "t2,ana,neg,9"]
    path.write_text("\n".join([*rows, "t2,ben,neg,4"]) + "\n")
    data = am.read(path)
    assert data.labels == ("neg", "pos")
    assert any("Not read as questions: 'lead_time'" in note for note in data.notes)


def test_a_file_is_parsed_once_however_many_questions_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def count(module: Any, name: str) -> None:
        own = getattr(module, name)

        def counting(*args: Any) -> Any:
            calls.append(name)
            return own(*args)

        monkeypatch.setattr(module, name, counting)

    count(sources, "TextRows")
    for name in ("matched", "find_roles", "unused_columns"):
        count(long, name)
    looked = []
    for number in (5, 50):
        calls.clear()
        more = {f"q{n}": lambda n, k: (n + k) % 3 for n in range(number)}
        assert len(am.read_questions(sheet(tmp_path, **more))) == 3 + number
        looked.append(Counter(calls))
    assert looked[0] == looked[1]  # the header is not gone through again for each question
    assert looked[0]["TextRows"] == 1


def test_rows_with_a_column_of_questions_and_variables_of_coders(tmp_path: Path) -> None:
    long = tmp_path / "long.csv"
    rows = [f"t{n},{c},{n % 2},q1\nt{n},{c},yes,q2" for n in range(6) for c in "abc"]
    long.write_text("item,coder,label,question\n" + "\n".join(rows) + "\n")
    found = am.read_questions(long)
    assert (list(found), list(found.left_out)) == (["q1"], ["q2"])
    wide = tmp_path / "wide.csv"
    lines = [f"t{n},{n % 2},{(n + 1) % 3 % 2},war,peace" for n in range(6)]
    head = "item,tone_ana,tone_ben,frame_ana,frame_ben"
    wide.write_text("\n".join([head, *lines]) + "\n")
    found = am.read_questions(wide)
    assert found["tone"].coders == ("ana", "ben")
    assert found["frame"].labels == ("peace", "war")


def test_a_survey_with_a_row_for_each_respondent_is_no_table_of_items(tmp_path: Path) -> None:
    path = tmp_path / "form.csv"
    rows = [f"2026/01/0{n} 10:00:0{n} AM GMT+1,{n % 3},{(n + 1) % 3},{n % 2}" for n in range(1, 7)]
    path.write_text("Timestamp,I like it,I would buy it,I use it\n" + "\n".join(rows) + "\n")
    assert "looks like a survey with a row for each respondent" in refused(path)
    assert am.read(path, item="Timestamp").n_coders == 3


def test_text_with_marks_inside_is_told_for_what_it_is(tmp_path: Path) -> None:
    cell = '"a <mqm:startIssue type=""x"" id=""1""/>word<mqm:endIssue id=""1""/> here {}"'
    rows = [",".join(cell.format(f"{n}{k}") for k in range(2)) for n in range(5)]
    for name in ("ana", "ben"):
        (tmp_path / "marks").mkdir(exist_ok=True)
        (tmp_path / "marks" / f"{name}.csv").write_text("PBMT,NMT\n" + "\n".join(rows) + "\n")
    for path in (tmp_path / "marks", tmp_path / "marks" / "ana.csv"):
        told = refused(path)
        assert "'PBMT', 'NMT' hold marked text, with tags inside such as <mqm:startIssue …>" in told
        assert "a row for each mark" in told
    html = tmp_path / "html.csv"
    rows = [f"t{n},{c},<b>text</b> {n},{n % 2}" for n in range(4) for c in "ab"]
    html.write_text("item,coder,text,label\n" + "\n".join(rows) + "\n")
    assert am.read(html).labels == ("0", "1")
