"""Every form of a table says the same."""

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from annomodels.cli.options import Writing
from annomodels.cli.tables import emit, to_json, to_text

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
