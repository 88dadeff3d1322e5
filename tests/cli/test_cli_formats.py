"""``convert`` and ``gold --to``: exports in, layouts and tools' files out; forms of a table."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from annomodels.cli.declared import UNITS as UNITS_OF_CLI
from annomodels.cli.options import Writing
from annomodels.cli.tables import emit, to_json, to_text
from annomodels.io.formats import FORMATS
from annomodels.io.span_builder import UNITS
from annomodels.io.writers.catalog import BACKS, LAYOUTS


def test_formats_lists_all_that_can_be_read_or_written(call: Any) -> None:
    done = call("convert", "--list", "--format", "json")
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert list(rows)[: len(FORMATS)] == [form.name for form in FORMATS]
    assert rows.keys() == {form.name for form in FORMATS} | LAYOUTS.keys() | BACKS.keys()
    assert all(row["known_by"] for row in rows.values() if row["read"])
    assert rows["brat"]["read"] == "spans"
    assert rows["toloka"]["written"] == "gold"
    assert rows["prodigy"]["written"] == "labels, gold"
    assert tuple(UNITS) == UNITS_OF_CLI


@pytest.mark.parametrize("to", LAYOUTS)
def test_convert_writes_every_layout_to_a_file_and_to_stdout(
    to: str, call: Any, votes: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    done = call("convert", votes, "--to", to, "-o", out)
    assert (done.code, done.out) == (0, "")
    assert f"Wrote {out}" in done.err
    assert call("convert", votes, "--to", to, "-o", out).code == 2
    shown = call("convert", votes, "--to", to, "--format", "csv").out
    assert shown.replace("\r\n", "\n") == out.read_text()
    if to in ("k-alpha", "cleanlab"):
        assert "labels as numbers" in done.err


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "tsv", "csv.gz", "json"])
def test_convert_writes_tables_by_their_ending(
    ending: str, call: Any, votes: Path, tmp_path: Path
) -> None:
    out = tmp_path / f"out.{ending}"
    assert call("convert", votes, "-o", out).code == 0
    again = call("convert", out, "--format", "csv", "-q").out
    assert again == call("convert", votes, "--format", "csv", "-q").out


@pytest.mark.few("prodigy", "label-studio")
@pytest.mark.slow
@pytest.mark.parametrize("to", BACKS)
def test_gold_goes_back_into_every_tool(to: str, call: Any, saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "gold"
    words = ("gold", saved, "--to", to, "--question", "caries", "-q")
    assert call(*words, "-o", out).code == 0
    text = out.read_text()
    assert "caries" in text or to in ("prodigy", "hugging-face")
    assert call(*words).out.replace("\r\n", "\n") == text
    if to in ("toloka", "appen"):
        full = text.count("\n")
        fewer = call(*words, "--threshold", "1").out.count("\n")
        assert fewer < full


@pytest.mark.slow
def test_gold_as_parquet_has_soft_labels(call: Any, saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "gold.parquet"
    assert call("gold", saved, "--to", "parquet", "-o", out).code == 0
    frame = pd.read_parquet(out)
    soft = frame[[name for name in frame.columns if re.match("p_(?!next_)", name)]]
    assert soft.shape[1] >= 2
    assert soft.sum(axis=1).between(0.999, 1.001).all()
    done = call("gold", saved, "--to", "parquet")
    assert done.code == 2
    assert "name it with -o" in done.err


def test_an_excel_workbook_with_two_sheets_asks_which(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    frame = pd.DataFrame({"item": ["t", "t"], "coder": ["a", "b"], "label": ["x", "y"]})
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="one", index=False)
        frame.to_excel(book, sheet_name="two", index=False)
    assert "--read sheet=one" in call("check", path).err
    assert call("check", path, "--read", "sheet=two").code == 0


# -- every form of a table says the same ----------------------------------------------------------

TABLE = pd.DataFrame(
    {
        "name": ["a,b", "tab\there", "new\nline", 'quo"te', "pipe|{x}_50%&$#~^\\"],
        "p": [0.123456789, float("nan"), 1e-12, 1.0, -2.5],
        "n": [1, 2, 3, 4, 5],
        "ok": [True, False, True, True, False],
    }
)


@pytest.mark.parametrize(("form", "mark"), [("csv", ","), ("tsv", "\t")])
def test_delimited_text_reads_back(form: str, mark: str) -> None:
    rows = list(csv.reader(io.StringIO(to_text(TABLE, form)), delimiter=mark))
    assert rows[0] == ["name", "p", "n", "ok"]
    assert [row[0] for row in rows[1:]] == TABLE["name"].tolist()
    assert [row[1] for row in rows[1:]] == ["0.123457", "", "1e-12", "1", "-2.5"]
    assert rows[1][2:] == ["1", "true"]


def test_json_has_null_for_nan_and_nothing_that_readers_refuse() -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    rows = json.loads(to_text(TABLE, "json"), parse_constant=refuse)
    assert rows[1] == {"name": "tab\there", "p": None, "n": 2, "ok": False}
    assert json.loads(to_json({"x": float("inf"), "y": (1, {2})})) == {"x": None, "y": [1, [2]]}


def test_markdown_and_latex_keep_their_cells_together() -> None:
    lines = to_text(TABLE, "md").splitlines()
    assert len(lines) == 2 + len(TABLE)
    assert lines[1] == "|---|---:|---:|---|"
    assert r"pipe\|\{x\}\_50" in lines[-1]
    lines = to_text(TABLE, "tex").splitlines()
    assert lines[0] == r"\begin{tabular}{lrrl}"
    assert (
        r"pipe|\{x\}\_50\%\&\$\#\textasciitilde{}\textasciicircum{}\textbackslash{} &" in lines[8]
    )


def test_the_ending_of_the_file_chooses_the_form(tmp_path: Path) -> None:
    for ending, start in ((".json", "["), (".tsv", "name\tp"), (".md", "| name"), (".x", "name,p")):
        path = tmp_path / f"t{ending}"
        emit(TABLE, Writing("", str(path), False))
        assert path.read_text().startswith(start)
    emit(TABLE, Writing("tex", str(tmp_path / "t.csv"), False))
    assert (tmp_path / "t.csv").read_text().startswith(r"\begin")


def test_a_drawn_table_shows_user_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.DataFrame({"label": ["[red]pos[/red]", "\x1b[31mneg"], "p": [0.5, float("nan")]})
    emit(table, Writing("table", None, False), "A title")
    out = capsys.readouterr().out
    assert "A title" in out
    assert "[red]pos[/red]" in out
    assert "\x1b" not in out
    assert "0.500" in out
