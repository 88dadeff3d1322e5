"""Files of all plain shapes become the table that was written, and nothing is guessed."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annomodels import Annotations, read
from annomodels.errors import AnnotationError

# The made-up table of tests/formats: 4 items, 3 coders, 10 labels.
CANON = {
    *[("t1", "ana", "pos"), ("t1", "ben", "pos"), ("t1", "cho", "neu"), ("t2", "ana", "neg")],
    *[("t2", "ben", "neg"), ("t2", "cho", "neg"), ("t3", "ana", "pos"), ("t3", "ben", "neu")],
    *[("t4", "ana", "neg"), ("t4", "cho", "pos")],
}
LONG = "item,coder,label\n" + "".join(",".join(row) + "\n" for row in sorted(CANON))


def rows_of(data: Annotations) -> list[tuple[str, ...]]:
    return [tuple(row) for row in data.to_frame().to_numpy().tolist()]


# -- the shapes of the one table are in test_shapes.py ---------------------------------------------


def test_shared_data_sets_keep_every_row(shared: Path) -> None:
    for name in ("snow_rte", "anesthesia", "web", "varierr", "polyseme_classes"):
        path = shared / "data" / name / "labels.csv"
        with path.open(encoding="utf-8", newline="") as file:
            want = [(r["item"], r["coder"], r["label"]) for r in csv.DictReader(file) if r["label"]]
        assert sorted(rows_of(read(path))) == sorted(want), name


# -- ways to write the rows ----------------------------------------------------------------------


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_delimiters_line_ends_and_encodings(write: Any, mark: str, end: str, encoding: str) -> None:
    text = LONG.replace("ana", "Ána").replace(",", mark).replace("\n", end)
    data = read(write(text.encode(encoding)))
    assert {(i, c.replace("Á", "a"), x) for i, c, x in rows_of(data)} == CANON


def test_gzip_standard_input_and_path_as_text(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(gzip.compress(LONG.encode()), "votes.csv.gz")
    assert set(rows_of(read(str(path)))) == CANON
    stdin = io.TextIOWrapper(io.BytesIO(LONG.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    data = read("-")
    assert set(rows_of(data)) == CANON
    assert data.source == "standard input"


def test_json_lines_json_and_parquet(write: Any, tmp_path: Path) -> None:
    records = [dict(zip(("item", "coder", "label"), row, strict=True)) for row in sorted(CANON)]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    for name in ("votes.jsonl", "votes.ndjson", "votes.txt"):
        assert set(rows_of(read(write(lines, name)))) == CANON
    for name in ("votes.json", "votes.dat"):
        assert set(rows_of(read(write(json.dumps(records, indent=2), name)))) == CANON
    path = tmp_path / "votes.parquet"
    pd.DataFrame(records).to_parquet(path)
    assert set(rows_of(read(path))) == CANON


def test_numbers_in_json_and_parquet_become_the_text_they_are(write: Any, tmp_path: Path) -> None:
    lines = '{"item": 1, "coder": "a", "label": 1.0}\n{"item": 1, "coder": "b", "label": true}\n'
    lines += '{"item": 2, "coder": "a", "label": null}\n{"item": 2, "coder": "b", "label": "1"}\n'
    data = read(write(lines, "votes.jsonl"))
    assert (data.labels, data.items, data.skips) == (("1", "1.0", "true"), ("1", "2"), 1)
    path = tmp_path / "votes.parquet"
    frame = pd.DataFrame({"item": [1, 1, 2], "coder": ["a", "b", "a"], "label": [1, 3, None]})
    frame.to_parquet(path)
    data = read(path)
    assert (data.items, data.labels, data.skips) == (("1",), ("1", "3"), 1)


def test_a_line_of_excel_that_names_the_delimiter(write: Any) -> None:
    assert set(rows_of(read(write("sep=;\n" + LONG.replace(",", ";"))))) == CANON


def test_semicolons_in_texts_do_not_win_over_commas(write: Any) -> None:
    text = "item,coder,label,text\n" + "".join(
        f"{i},{c},{x},a;b;c;d;e;{n}\n" for n, (i, c, x) in enumerate(sorted(CANON))
    )
    assert set(rows_of(read(write(text)))) == CANON


def test_quoted_cells_keep_delimiters_line_breaks_and_quotes(write: Any) -> None:
    text = 'item,coder,label\n"a,\n1",ana,"say ""yes"""\nb,ben,no,\n\nc,,no\n'
    with pytest.raises(AnnotationError, match="row 6, column 'coder'"):
        read(write(text))
    data = read(write(text.replace("c,,no", "c,ana,no")))
    assert data.items == ("a,\n1", "b", "c")
    assert 'say "yes"' in data.labels


def test_bare_quotes_in_tab_separated_text(write: Any) -> None:
    text = 'item\tcoder\tlabel\ttext\nt\ta\tx\t"Hm" he said\nt\tb\ty\t5" wide\n'
    assert read(write(text)).n_coders == 2


# -- nothing is guessed ----------------------------------------------------------------------


def test_labels_survive_as_they_are_written(write: Any) -> None:
    odd = ["None", "NA", "null", "NaN", "001", "1", "1.0", "1e3", "True", "-", " x", "x ", "#", "é"]
    text = "item,coder,label\n" + "".join(f"t{n},a,{label}\n" for n, label in enumerate(odd))
    data = read(write(text))
    assert set(data.labels) == set(odd)
    assert data.skips == 0


def test_missing_texts_are_skips(write: Any) -> None:
    text = "item,coder,label\nt1,a,NA\nt1,b,x\nt2,a,\nt2,b,-9\nt3,a,\n"
    data = read(write(text), missing=["NA", "-9"])
    assert (data.labels, data.skips, data.items) == (("x",), 4, ("t1",))
    assert any("2 items" in note for note in data.notes)
    assert read(write(text), missing="NA").labels == ("-9", "x")


def test_spelling_variants_are_kept_apart_and_reported(write: Any) -> None:
    data = read(write("item,coder,label\nt,ana,pos\nt,Ana,Pos\nu,ana,pos \nu,ben, neg\n"))
    assert data.labels == (" neg", "Pos", "pos", "pos ")
    notes = "\n".join(data.notes)
    assert "label 'Pos' (1), 'pos' (1), 'pos ' (1)" in notes
    assert "coder 'Ana' (1), 'ana' (2)" in notes
    assert "' neg' begins or ends with a space" in notes


def test_columns_left_over_are_named_and_gold_is_not_taken_unasked(write: Any) -> None:
    path = write("item,coder,label,gold,time\nt,a,x,y,3\nt,b,y,y,4\nu,a,x,,1\n")
    data = read(path)
    assert data.gold is None
    assert "Columns not used: 'gold', 'time'." in data.notes
    assert any("truth='gold'" in note for note in data.notes)
    data = read(path, truth="gold")
    assert data.gold is not None
    assert data.gold.tolist() == [1, -1]
    assert read(path, truth={"u": "x"}).gold.tolist() == [-1, 0]  # type: ignore[union-attr]


def test_group_and_text_belong_to_items(write: Any) -> None:
    path = write("item,coder,label,doc,words\nt,a,x,d1,Hi\nt,b,y,d1,Hi\nu,a,x,d0,\n")
    data = read(path, group="doc", text="words")
    assert data.groups == ("d0", "d1")
    assert data.group is not None
    assert data.group.tolist() == [1, 0]
    assert data.texts == ("Hi", "")


def test_questions_are_never_mixed(write: Any) -> None:
    path = write("item,coder,question,label\nt,a,tone,x\nt,a,topic,z\nt,b,tone,y\n")
    with pytest.raises(
        AnnotationError, match=r"2 questions: 'tone' \(2 labels\), 'topic' \(1 label\)"
    ):
        read(path)
    assert read(path, question="tone").labels == ("x", "y")
    with pytest.raises(AnnotationError, match="Unknown question 'tune'"):
        read(path, question="tune")
    with pytest.raises(AnnotationError, match="No column 'question'"):
        read(write(LONG), question="tone")


def test_an_annotation_exported_twice_counts_once(write: Any) -> None:
    head = "annotation_id,item,coder,label\n"
    data = read(write(head + "1,t,a,x\n2,t,b,y\n1,t,a,x\n,t,a,x\n,t,a,x\n"))
    assert (len(data), data.repeats) == (4, 2)
    assert any("1 row dropped" in note for note in data.notes)
    data = read(write(head + "1,t,a,x\n1,t,a,y\n2,t,b,y\n"))
    assert len(data) == 3
    assert any("already used" in note for note in data.notes)


@given(st.randoms())
def test_the_order_of_rows_in_the_file_does_not_matter(chance: random.Random) -> None:
    lines = LONG.splitlines(keepends=True)
    shuffled = lines[:1] + chance.sample(lines[1:], len(lines) - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("".join(shuffled).encode())))
        data = read("-")
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LONG.encode())))
        same = read("-")
    assert rows_of(data) == rows_of(same)
    assert data.fingerprint == same.fingerprint
    assert data.notes == same.notes


# -- wide tables and matrices --------------------------------------------------------------------


def test_wide_with_item_gold_text_and_chosen_coders(write: Any) -> None:
    text = "words,id,gold,ana,ben,conf\nHi,t1,pos,pos,neg,.5\nBye,t2,,neg,neg,.6\nEh,t3,neg,,,.1\n"
    data = read(write(text), item="id", truth="gold", text="words", coder_columns=["ana", "ben"])
    assert (data.items, data.coders, data.skips) == (("t1", "t2"), ("ana", "ben"), 2)
    assert data.texts == ("Hi", "Bye")
    assert data.gold is not None
    assert data.gold.tolist() == [1, -1]
    assert "Column not used: 'conf'." in data.notes
    assert any("1 item" in note for note in data.notes)


def test_wide_from_a_data_frame_with_its_index(write: Any) -> None:
    frame = pd.DataFrame({"1": ["x", "y", "x"], "2": ["y", "y", "x"]})
    data = read(write(frame.to_csv()))
    assert (data.items, data.coders) == (("0", "1", "2"), ("1", "2"))


def test_counts_are_asked_about_and_format_settles_it(write: Any) -> None:
    path = write("item,neg,neu,pos\nt1,0,1,4\nt2,5,0,0\nt3,2,2,1\n")
    with pytest.raises(AnnotationError, match="counts of labels, or labels"):
        read(path)
    assert read(path, format="wide").n_coders == 3
    path = write("0,1,4\n5,0,0\n2,2,1\n")
    with pytest.raises(AnnotationError, match="counts of labels, or labels"):
        read(path)
    assert read(path, format="matrix").n_coders == 3


def test_a_gold_or_text_column_is_not_taken_for_a_coder(write: Any) -> None:
    with pytest.raises(AnnotationError, match="a coder or the known truth"):
        read(write("item,ana,ben,gold\nt1,x,y,x\nt2,x,x,x\n"))
    with pytest.raises(AnnotationError, match="information about the items"):
        read(write("item,text,ana,ben\nt1,Hi there,y,x\nt2,Bye,x,x\n"))
    with pytest.raises(AnnotationError, match="shares no label"):
        read(write("item,ana,ben,minutes\nt1,x,y,17\nt2,x,x,3\n"))


def test_a_long_table_with_unknown_names_is_not_taken_for_a_wide_one(write: Any) -> None:
    text = "nr,sentence,person,mark\n" + "".join(
        f"{n},s{n % 9},p{n % 4},{'ab'[n % 2]}\n" for n in range(36)
    )
    with pytest.raises(AnnotationError, match="Name the columns with item="):
        read(write(text))
    data = read(write(text), item="sentence", coder="person", label="mark")
    assert (data.n_items, data.n_coders, data.n_labels) == (9, 4, 2)


def test_matrix_keeps_blank_lines_as_items(write: Any) -> None:
    data = read(write("pos,,neg\n\nneg,pos,neg\npos,pos,pos\n"))
    assert data.items == ("1", "3", "4")
    assert data.skips == 4


def test_rows_that_could_be_a_header_or_triples_are_asked_about(write: Any) -> None:
    with pytest.raises(AnnotationError, match="labels or names of coders"):
        read(write("1,2,3\n1,1,1\n2,2,1\n"))
    triples = "".join(f"{n // 3},{n % 3},{n % 2}\n" for n in range(12))
    with pytest.raises(AnnotationError, match="long table without a header"):
        read(write(triples))
    assert read(write(triples), format="matrix").n_items == 12
    words = "".join(f"t{n // 3},w{n % 3},{'xy'[n % 2]}\n" for n in range(12))
    with pytest.raises(AnnotationError, match="looks like data, not like names"):
        read(write(words))
