"""Files of all plain shapes become the table that was written, and nothing is guessed."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annomodels import Annotations, read, read_questions
from annomodels.errors import AnnotationError
from annomodels.io import source
from annomodels.io.tables.keys import key_cells, key_of

# The made-up table of tests/formats: 4 items, 3 coders, 10 labels.
CANON = {
    *[("t1", "ana", "pos"), ("t1", "ben", "pos"), ("t1", "cho", "neu"), ("t2", "ana", "neg")],
    *[("t2", "ben", "neg"), ("t2", "cho", "neg"), ("t3", "ana", "pos"), ("t3", "ben", "neu")],
    *[("t4", "ana", "neg"), ("t4", "cho", "pos")],
}
LONG = "item,coder,label\n" + "".join(",".join(row) + "\n" for row in sorted(CANON))


def rows_of(data: Annotations) -> list[tuple[str, ...]]:
    return [tuple(row) for row in data.to_frame().to_numpy().tolist()]


# -- the shapes of the one table are in cases/shapes.toml -----------------------------------------


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


# -- nothing is guessed ----------------------------------------------------------------------


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


def test_the_likely_encoding_of_a_long_text_is_proposed(write: Any) -> None:
    with pytest.raises(AnnotationError) as caught:
        read(write(("é" * 70_000).encode("cp1252")))
    assert caught.value.problems[0].options == (("encoding", "cp1252"),)


def test_names_of_a_key_are_never_the_same_for_different_rows() -> None:
    cells = ["", "a", ",", '"', 'a"', "a,", "a\nb", '""', '","']
    rows = list(itertools.product(cells, repeat=3))
    names = key_cells([list(column) for column in zip(*rows, strict=True)])
    assert len(set(names)) == len(rows)
    assert names[rows.index(("", "", ""))] == ""
    assert [key_of(row) for row in rows] == names


def test_a_file_is_parsed_once_however_many_questions_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []
    own = source.TextRows

    def counting(*args: object) -> object:
        parsed.append(args)
        return own(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(source, "TextRows", counting)
    names = ",".join(f"q{k}" for k in range(50))
    rows = [f"t{n},{c}," + ",".join(str((n + k + ord(c)) % 3) for k in range(50))
            for n in range(40) for c in "abc"]  # fmt: skip
    path = tmp_path / "sheet.csv"
    path.write_text("\n".join([f"item,coder,{names}", *rows]) + "\n")
    assert len(read_questions(path)) == 50
    assert len(parsed) == 1


def test_an_export_is_read_once_though_its_question_is_named_later(tmp_path, monkeypatch):
    from annomodels.io.tools import mturk

    calls, reader = [], mturk.read_mturk
    monkeypatch.setattr(mturk, "read_mturk", lambda found: (calls.append(1), reader(found)))
    rows = [f"h{n},w{k},{'ab'[n % 2]},{'xy'[(n + k) % 2]}" for n in range(30) for k in range(3)]
    path = tmp_path / "batch.csv"
    path.write_text("\n".join(["HITId,WorkerId,Answer.tone,Answer.frame", *rows]))
    with pytest.raises(AnnotationError) as error:
        read(path)
    assert error.value.proposal.new == {"question": "frame"}
    assert len(calls) == 1
