"""Files made to do harm: bombs, names that lead out, entities, formulas, endless texts."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import annomodels as am
from annomodels import read, read_spans
from annomodels.errors import AnnotationError, MissingDependency
from annomodels.io import objects
from annomodels.io.border import check_xml, open_zip
from annomodels.io.objects import streamed_array
from annomodels.io.records import Records
from annomodels.io.roles import of_things
from annomodels.io.source import Options, Source
from annomodels.io.tables import table
from annomodels.io.tables.plain import read_wide

# -- bombs ---------------------------------------------------------------------------------------


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(AnnotationError) as caught:
        read(path, **options)
    return str(caught.value)


def limited(code: str, megabytes: int) -> subprocess.CompletedProcess[str]:
    """Run code in a process that may not hold more memory than so much."""
    import resource

    limit = megabytes * 1_000_000

    def set_limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=900,
        preexec_fn=set_limit,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory can be limited on Linux only")
@pytest.mark.parametrize("kind", ["gzip", "zip", "xlsx"])
def test_bombs_are_refused_in_little_memory(kind: str, tmp_path: Path) -> None:
    zeros = bytes(1 << 24)
    path = tmp_path / f"bomb.{kind}"
    if kind == "gzip":
        with gzip.open(path, "wb") as file:
            for _ in range(20):  # a third of a gigabyte
                file.write(zeros)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            if kind == "xlsx":
                archive.writestr("xl/workbook.xml", "<a/>")
            for n in range(20):
                archive.writestr(f"{n}.jsonl", zeros)
    code = f"""
from annomodels.io.source import Source, Options
from annomodels.io.assembly import chosen
from annomodels.errors import AnnotationError
try:
    source = Source({str(path)!r})
    chosen("auto", source, Options())
    source.table
except AnnotationError as error:
    print(error)
"""
    done = limited(code, 2500)
    assert "unpacks to" in done.stdout, done.stderr[-500:]
    assert path.stat().st_size < 2_000_000


@pytest.mark.slow
def test_an_honest_archive_may_shrink_a_lot(tmp_path: Path) -> None:
    text = "item,coder,label\n" + "".join(f"t{n},{c},x\n" for n in range(50_000) for c in "ab")
    path = tmp_path / "votes.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert read(path).n_items == 50_000
    with zipfile.ZipFile(tmp_path / "votes.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("votes.csv", text)
    assert read(tmp_path / "votes.zip").n_items == 50_000


def test_an_archive_that_lies_about_sizes_is_damaged(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ana.jsonl", b"x" * 100_000)
    small = (100_000).to_bytes(4, "little"), (100).to_bytes(4, "little")
    path = tmp_path / "lie.zip"
    path.write_bytes(packed.getvalue().replace(*small))
    members = open_zip(path, "lie.zip")
    with pytest.raises(AnnotationError, match="damaged"):
        members.read("ana.jsonl")


def test_an_archive_in_an_archive_in_an_archive(tmp_path: Path) -> None:
    content, name = b"item,coder,label\nt,a,x\n", "votes.csv"
    for depth in range(3):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(name, content)
        content, name = packed.getvalue(), f"{depth}.zip"
    path = tmp_path / "nest.zip"
    path.write_bytes(content)
    assert "archive inside an archive" in refused(path)


# -- names that lead out -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../ana.jsonl", "/etc/ana.jsonl", "a/../../b.jsonl", "C:\\a.jsonl"]
)
def test_names_that_lead_out_of_an_archive(name: str, tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, '{"id": 1, "text": "t", "label": ["x"]}\n')
    assert "points outside it" in refused(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["export.zip"]


def test_links_that_lead_out_of_a_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text('{"id": 1, "text": "t", "label": ["x"]}\n')
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "ana.jsonl").symlink_to(secret)
    assert "outside the folder" in refused(folder)


def test_a_locked_archive(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("ana.jsonl", b"{}")
    data = bytearray(packed.getvalue())
    data[6] |= 1  # the mark of encryption, in both places where it stands
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "locked.zip"
    path.write_bytes(bytes(data))
    assert "password" in refused(path)


# -- XML -----------------------------------------------------------------------------------------

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><xmi:XMI>&i;</xmi:XMI>"
)
FILE = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    "<xmi:XMI>&a;</xmi:XMI>"
)


@pytest.mark.parametrize("text", [BOMB, FILE], ids=["bomb", "file"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_before_any_parser_sees_them(
    text: str, encoding: str, tmp_path: Path
) -> None:
    with pytest.raises(AnnotationError, match="declares a document type"):
        check_xml(text.encode(encoding), "a.xmi")
    folder = tmp_path / "annotation" / "d.txt"
    folder.mkdir(parents=True)
    (folder / "ana.xmi").write_bytes(text.encode(encoding))
    (tmp_path / "TypeSystem.xml").write_text("<typeSystemDescription/>")
    with pytest.raises(AnnotationError, match="declares a document type"):
        read_spans(tmp_path)


def test_a_type_system_with_entities(export: Any) -> None:
    path, options = export("cas")
    (path / "TypeSystem.xml").write_text(BOMB)
    with pytest.raises(AnnotationError, match="declares a document type"):
        read(path, **options)


# -- formulas ------------------------------------------------------------------------------------

EVIL = ('=HYPERLINK("http://x","y")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "=1")


def test_formulas_reach_no_spreadsheet_unless_they_are_the_data(tmp_path: Path) -> None:
    rows = [(f"t{n}", evil, "x") for n, evil in enumerate(EVIL)] + [("t9", "ana", "-1")]
    data = am.Annotations.from_records(rows)
    plain = am.write(data, tmp_path / "plain.csv")
    assert set(read(plain).coders) == {*EVIL, "ana"}
    guarded = am.write(data, tmp_path / "guarded.csv", spreadsheet=True)
    coders = pd.read_csv(guarded, dtype=str, keep_default_na=False)["coder"]
    assert not [coder for coder in coders if coder.startswith(("=", "+", "-", "@", "\t"))]
    assert read(guarded).labels == ("-1", "x")


def test_the_command_line_warns_of_formulas(tmp_path: Path, capsys: Any) -> None:
    from annomodels.cli.main import main

    path = tmp_path / "votes.csv"
    path.write_text("item,coder,label\nt,=1+1,x\nt,ana,-1\nt,ben,-\n")
    assert main(["convert", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "\t=1+1\t" in out
    assert "1 cell would be read as a formula" in err
    assert main(["convert", str(path), "--spreadsheet"]) == 0
    out, err = capsys.readouterr()
    assert "\t'=1+1\t" in out
    assert "formula" not in err


# -- size ----------------------------------------------------------------------------------------


def big_tasks(path: Path, megabytes: int) -> int:
    filler = "word " * 2000
    with path.open("w") as file:
        file.write("[")
        number = 0
        while file.tell() < megabytes * 1_000_000:
            number += 1
            task = {"id": number, "data": {"page": filler}, "annotations": [
                {"id": 2 * number + k, "completed_by": k, "result": [
                    {"from_name": "q", "type": "choices", "value": {"choices": [f"l{k}"]}}]}
                for k in range(2)]}  # fmt: skip
            file.write((",\n" if number > 1 else "") + json.dumps(task))
        file.write("]")
    return number


@pytest.mark.slow
def test_large_json_is_read_piece_by_piece(tmp_path: Path, monkeypatch: Any, measured: Any) -> None:
    path = tmp_path / "big.json"
    number = big_tasks(path, 30)
    whole = read(path)
    monkeypatch.setattr(objects, "LARGE", 1_000_000)
    monkeypatch.setattr(objects, "PIECE", 100_000)
    streamed, most = measured(read, path)
    assert streamed.n_items == number
    assert streamed.fingerprint == whole.fingerprint
    assert most < path.stat().st_size / 3
    lines = tmp_path / "big.jsonl"
    lines.write_text("".join(json.dumps(task) + "\n" for task in json.loads(path.read_text())))
    assert read(lines).fingerprint == whole.fingerprint


def test_large_json_that_is_broken_or_cannot_be_streamed(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "big.json"
    big_tasks(path, 1)
    monkeypatch.setattr(objects, "LARGE", 1000)
    path.write_text(path.read_text()[:-500])
    assert "not JSON" in refused(path)
    path.write_text('{"a": 1}\n{"a": \n' + " " * 1000)
    assert "not JSON" in refused(path)
    path.write_bytes(b'{"a": "\xff"}\n' + b" " * 1000)
    assert "not UTF-8" in refused(path)
    monkeypatch.setitem(sys.modules, "ijson", None)
    big_tasks(path, 1)
    with pytest.raises(MissingDependency, match="pip install ijson"):
        read(path)


@pytest.mark.parametrize("depth", [900, 100_000])
@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_deep_nesting_fills_no_memory(
    depth: int, pair: str, tmp_path: Path, monkeypatch: Any
) -> None:
    opening = pair[0] if pair == "[]" else '{"a":'
    deep = opening * depth + "1" + pair[1] * depth
    path = tmp_path / "deep.json"
    path.write_text('[{"id": 1, "data": {}, "annotations": [{"result": ' + deep + "}]}]")
    assert "nested" in refused(path) or depth < 1000
    monkeypatch.setattr(objects, "LARGE", 100)
    assert "nested too deeply" in refused(path)


@pytest.mark.slow
def test_a_long_text_in_a_large_file_is_read_in_time(tmp_path: Path, monkeypatch: Any) -> None:
    """Streamed in small pieces, the time grows with the square of the longest text."""
    path, long = tmp_path / "long.json", "y" * 50_000_000
    path.write_text(f'[{{"item": "a", "text": "{long}"}}, {{"item": "b"}}]')

    def spent() -> float:
        began = time.process_time()
        assert [row for row, _ in streamed_array(path, "long.json")] == [1, 2]
        return time.process_time() - began

    now = spent()
    monkeypatch.setattr(objects, "PIECE", 1 << 16)  # the default of ijson
    assert now < spent() / 3


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("i2,a," + "x" * 5000, 3),
        ('i2,a,"' + "x" * 5000 + '"\ni3,a,no', 3),
        ('i2,a,"' + "x\n" * 2500 + '"', 3),
        ('i2,a,"' + "x\n" * 2500, 3),
        ("i2,b,no\n" * 9 + "i3,a," + "x" * 5000, 12),
    ],
    ids=["bare", "quoted", "of many lines", "quote not closed", "below other rows"],
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_cell_that_fills_memory_is_refused_where_it_is(
    text: str, row: int, delimiter: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(table, "_PIECE", 100)
    monkeypatch.setattr(table, "_LONGEST", 2000)
    path = tmp_path / "votes.csv"
    path.write_text(f"item,coder,label\ni1,a,yes\n{text}\n".replace(",", delimiter))
    with pytest.raises(AnnotationError) as caught:
        read(path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("long-cell", f"votes.csv, row {row}")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_short_lines_are_read_however_they_end(end: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(table, "_PIECE", 100)
    monkeypatch.setattr(table, "_LONGEST", 200)
    rows = ["item,coder,label", *(f"i{n},{coder},yes" for n in range(99) for coder in "ab")]
    path = tmp_path / "votes.csv"
    path.write_bytes(end.join(rows).encode())
    assert len(read(path)) == 198


class Name(str):
    """Name of a column that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.mark.slow
def test_ragged_rows_are_counted_and_not_kept(measured: Any) -> None:
    """Of rows that do not fit, only the places are kept: a long file of them fills no memory."""
    text = "item,coder,label\n" + "t,c,a,b,c\n" * 200_000
    rows = table.TextRows(text, "votes.csv")
    found, most = measured(table.from_records, rows, lambda: rows.lines, "x")
    assert [problem.code for problem in found.problems] == ["ragged"]
    assert found.problems[0].what.startswith("200,000 rows of 5 cells where the header has 3")
    assert most < 60_000_000


def test_columns_are_not_compared_with_each_other() -> None:
    """The work of a wide table grows with its columns, not with their square."""

    def compared(n: int) -> int:
        columns = {Name(f"c{j}"): ["yes", "no", "yes"] for j in range(n)}
        wide = table.Table({"item": ["a", "b", "c"], **columns}, [2, 3, 4], "wide.csv")
        found, Name.compared = Records(Source.of_table(wide), Options()), 0
        read_wide(found)
        assert len(found.chosen().rows) == 3 * n
        return Name.compared

    assert compared(800) <= 3 * compared(400)


def test_names_longer_than_labels_are_not_taken_apart() -> None:
    """Patterns take time that grows with the square of the length of a name."""
    assert of_things(["answer_1_score", "answer_2_score"])
    assert not of_things([f"answer_{n}_{'x' * 200}" for n in (1, 2)])
