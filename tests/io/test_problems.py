"""Everything that can be wrong with a file is said in words, all at once, with its row."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from annomodels import read
from annomodels.errors import AnnotationError, Problem
from annomodels.io import border


@pytest.fixture
def problems(tmp_path: Path) -> Any:
    """Problems of reading a file with this content."""

    def reading(content: str | bytes, name: str = "votes.csv", **options: Any) -> list[Problem]:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        with pytest.raises(AnnotationError) as caught:
            read(path, **options)
        assert all(p.what and p.remedy for p in caught.value.problems)
        return list(caught.value.problems)

    return reading


def one(found: list[Problem]) -> Problem:
    assert len(found) == 1, found
    return found[0]


# -- files -----------------------------------------------------------------------------------


def test_a_missing_file_is_told_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("x")
    with pytest.raises(AnnotationError, match=r"Did you mean votes\.csv"):
        read(tmp_path / "vote.csv")
    with pytest.raises(AnnotationError, match="does not exist either"):
        read(tmp_path / "elsewhere" / "votes.csv")
    with pytest.raises(AnnotationError, match=r"does not exist|cannot be read"):
        read("a\0b.csv")


def test_a_folder_is_told_what_is_in_it(tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="folder, not a file"):
        read(tmp_path)
    (tmp_path / "votes.csv").write_text("x")
    with pytest.raises(AnnotationError, match=r"only one column(.|\n)*votes\.csv"):
        read(tmp_path)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("x")

    def closed(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(border, "_bytes_of", closed)
    with pytest.raises(AnnotationError, match="permission to read"):
        read(path)


def test_what_is_not_a_path(tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="from_frame"):
        read({"item": []})  # type: ignore[arg-type]
    with pytest.raises(AnnotationError, match="from_records"):
        read([("t1", "ana", "yes")])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (b"\n\n \n", "one column"),
        (b"\n\n\n", "blank lines"),
        (b"item,coder,label\n", "no row below"),
        (b"item\nt1\nt2\n", "only one column"),
        (b"item coder label\nt1 ana x\n", "only one column"),
        (b"PK\x03\x04rest", "Excel"),
        (b"PAR1rest", "Parquet file is damaged"),
        (b"\x1f\x8b\x08rest", "gzip file is damaged"),
        (gzip.compress(b"item,coder,label\nt,a,x\n", mtime=0)[:-6], "gzip file is damaged"),
        (b"item,coder,label\nt,\0,x\n", "NUL byte"),
        (b"\xff\xfe\x00", "is not UTF-16"),
    ],
)
def test_content_that_is_no_table(problems: Any, content: bytes, what: str) -> None:
    assert what in one(problems(content)).what


def test_another_encoding_is_located_and_can_be_said(problems: Any, tmp_path: Path) -> None:
    content = "item,coder,label\nt1,ana,x\nt2,José,x\n".encode("cp1252")
    problem = one(problems(content))
    assert problem.where == "votes.csv, row 3"
    assert "Byte 33 of the file (0xe9)" in problem.what
    assert "encoding=" in problem.remedy
    assert read(tmp_path / "votes.csv", encoding="cp1252").coders == ("ana", "José")
    assert "Unknown encoding 'klingon'" in one(problems(content, encoding="klingon")).what
    assert "not an encoding of text" in one(problems(b"YQ==", encoding="base64")).what
    assert "NUL bytes" in one(problems(b"\x00\xff\x00\xfe" * 9)).what


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("項目,評価者,ラベル\n1,田中,肯定\n1,鈴木,否定\n", "cp932"),
        ("文章,标注员,标签\n1,王,正面\n1,李,负面\n", "gb18030"),
        ("문서,평가자,라벨\n1,김,긍정\n1,이,부정\n", "cp949"),
        ("文章,標註者,標籤\n1,王,正面\n1,李,負面\n", "big5"),
        ("Текст;Аннотатор;Метка\n1;Иван;да\n1;Анна;нет\n", "cp1251"),
        ("κείμενο;κριτής;ετικέτα\n1;Μαρία;ναι\n1;Γιώργος;όχι\n", "cp1253"),
        ("metin;etiketleyen;etiket\n1;Ayşe;değil\n1;Gökçe;olumsuz\n", "cp1254"),
        ("Artikel;Kodierer;Urteil\n1;Jörg;schön\n1;Käthe;häßlich\n", "cp1252"),
        ("id;annotateur;étiquette\n1;Hélène;négatif\n1;Zoë;positif\n", "cp1252"),
        ("é" * 70_000, "cp1252"),
    ],
)
def test_the_likely_encoding_is_proposed(problems: Any, text: str, encoding: str) -> None:
    assert one(problems(text.encode(encoding))).options == (("encoding", encoding),)


# -- tables ----------------------------------------------------------------------------------


def test_columns_that_are_not_found_are_all_listed(problems: Any) -> None:
    problem = one(problems("a,b,c\n1,x,7\n1,y,8\n"))
    assert problem.what == "Item, coder and label columns not found: the columns are 'a', 'b', 'c'."
    assert "item=..., coder=..., label=..." in problem.remedy
    assert "item=..., coder=..., label=..." in problem.remedy
    assert "format='wide'" in problem.remedy
    problem = one(problems("task,worker,sentiment\n1,x,7\n1,y,8\n"))
    assert problem.what.startswith("Label column not found")
    assert "label='sentiment'." in problem.remedy


def test_a_wrong_name_is_told_the_nearest(problems: Any) -> None:
    found = problems("item,coder,label\nt,a,x\n", coder="Coder", label="labels", truth="truth")
    assert [p.what[:10] for p in found] == ["Column 'Co", "Column 'la", "Column 'tr"]
    assert "Did you mean 'coder'" in found[0].remedy
    assert "Did you mean 'label'" in found[1].remedy


def test_one_column_cannot_be_two_things(problems: Any) -> None:
    found = problems("item,coder,label\nt,a,x\n", coder="item")
    assert "The column 'item' is given as coder" in one(found).what
    found = problems("item,coder,label\nt,a,x\n", coder="item", item="item")
    assert "used for two things" in one(found).what


def test_names_that_occur_twice_and_ragged_rows_come_together(problems: Any) -> None:
    text = "item,coder,label,label\nt1,a,x,y\nt2,a\nt3,b,x,y,z\nt4,b,x,y,,\n"
    twice, ragged = sorted(problems(text), key=lambda p: "cells" in p.what)
    assert "'label'" in twice.what
    assert ragged.what == "1 row of 5 cells where the header has 4."
    assert ragged.where == "votes.csv, row 4"


def test_mixed_delimiters_are_seen(problems: Any) -> None:
    problem = one(problems("item,coder,label\nt1;ana;x\nt2;ana;y\n"))
    assert "separated by a semicolon, the header by a comma" in problem.remedy


def test_a_column_without_a_name(problems: Any) -> None:
    wide = "item,ana,,ben\n" + "".join(f"t{n},x,y,{'xy'[n % 2]}\n" for n in range(9))
    assert "Column 3 has cells but no name; is it a coder?" in one(problems(wide)).what
    # at the end of the header it is no name of rows, as R has them
    ragged, _ = problems("item,ana,ben,\nt1,x,y,x\nt2,x,y,y\nt3,x,x,y\n")
    assert ragged.what == "3 rows of 4 cells where the header has 3."
    assert "5 cells" in one(problems("item,coder,label,,\nt,a,x\nt,b,x,,y\n")).what


def test_quotes_that_do_not_match(problems: Any) -> None:
    problem = one(problems('item,coder,label\nt1,a,x\nt2,"a,x\nt3,b,y\n'))
    assert "quotation marks do not match" in problem.what
    assert problem.where == "votes.csv, row 3"


def test_rows_without_item_or_coder_come_together(problems: Any) -> None:
    item, coder = problems("item,coder,label\n,a,x\nt,,x\nt,b,x\n,,\n,c,\n")
    assert (item.where, coder.where) == (
        "votes.csv, row 2, column 'item'",
        "votes.csv, row 3, column 'coder'",
    )


def test_conflicts_about_an_item(problems: Any) -> None:
    text = "item,coder,label,truth,doc\nt,a,x,x,1\nt,b,x,y,2\n"
    gold, group = problems(text, truth="truth", group="doc")
    assert "more than one truth" in gold.what
    assert "more than one group" in group.what
    assert gold.where == "votes.csv, row 3, column 'truth'"


def test_long_labels_and_free_text(problems: Any, tmp_path: Path) -> None:
    problem = one(problems(f"item,coder,label\nt,a,{'x' * 10_000}\nt,b,y\n"))
    assert "column of texts" in problem.remedy
    assert problem.where == "votes.csv, row 2"
    body = "".join(f"t{n},a,so many words {n}\n" for n in range(60))
    assert "free text" in one(problems("item,coder,label\n" + body)).remedy
    numbers = "".join(f"t{n},a,{n * 1.7:.1f}\n" for n in range(60))
    assert "scale='interval'" in one(problems("item,coder,label\n" + numbers)).remedy
    assert read(tmp_path / "votes.csv", scale="interval").n_labels == 60


def test_no_label_at_all(problems: Any) -> None:
    assert "No cell contains a label" in one(problems("item,coder,label\nt,a,\nt,b,\n")).what


def test_labels_outside_the_declared_set(problems: Any) -> None:
    text = "item,coder,label\nt,a,\nt,a,x\nt,b,z\n"
    found = problems(text, labels=["x", "y"])
    assert one(found).where == "votes.csv, row 4"


def test_wide_problems(problems: Any) -> None:
    wide = "item,ana,ben\nt,x,y\nu,y,x\n"
    assert "no label column" in one(problems(wide, format="wide", label="x")).what
    found = problems(wide, coder_columns=["anna", "ben"], item="itm")
    assert [p.what for p in found] == [
        "Column 'itm' (given as item) does not exist.",
        "Column 'anna' (given as coder) does not exist.",
    ]
    assert "'wide'" in one(problems(wide, format="wied")).remedy
    assert "cannot be a delimiter" in one(problems(wide, delimiter="--")).what
    assert "not a scale" in one(problems(wide, scale="odd")).what


def test_json_problems(problems: Any) -> None:
    assert "row 2" in one(problems('{"item": 1}\n{"item"\n', "votes.jsonl")).where
    assert "not JSON" in one(problems("[1, 2", "votes.json")).what
    assert "Not a JSON object: 2 rows" in one(problems("[1, 2]", "votes.json")).what
    assert "no record" in problems("[]", "votes.json")[0].what
    assert "holds a label" in one(problems("[{}, {}]", "votes.json", format="wide")).what
    assert "nested too deeply" in one(problems("[" * 200_000, "votes.json")).what
    nested = json.dumps([{"item": "t", "coder": "a", "label": ["x", "y"]}])
    assert "type 'list'" in one(problems(nested, "votes.json")).what
    half = '{"item": "t", "coder": "a", "label": "\\ud800"}\n'
    assert "broken characters" in one(problems(half, "votes.jsonl")).what


def test_a_matrix_has_no_names(problems: Any) -> None:
    found = problems("1,2\n2,2\n", format="matrix", truth="g")
    assert "no column names" in one(found).what
    assert "without the 2 cells" in one(problems("1,2\n2,2,1\n1,1\n", format="matrix")).what


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_broken_link_is_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(AnnotationError, match="does not exist"):
        read(tmp_path / "link.csv")


def test_a_column_without_a_name_does_no_harm_beside_those_that_are_named(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,,coder,label\nt1,7,a,x\nt1,8,b,y\n")
    data = read(path)
    assert (data.n_items, data.n_coders, len(data)) == (1, 2, 2)
    assert "Column not used: '(column 2)'." in data.notes


@pytest.mark.parametrize(
    "header", ["id,fluency,Coherence (1-5),relevance_score", "id,Is it clear?,Is it new?,Is it so?"]
)
def test_ratings_of_what_was_asked_are_no_coders(problems: Any, header: str) -> None:
    rows = [f"d{n},{1 + n % 5},{1 + n % 4},{1 + n % 3}" for n in range(30)]
    found = one(problems("\n".join([header, *rows])))
    assert "are called after what was asked: they are questions" in found.what
    rows = [f"d{n},-1,{n % 2},{1 - n % 2}" for n in range(30)]
    assert "are called after" in one(problems("\n".join([header, *rows]))).what
