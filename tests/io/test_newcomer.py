"""Files that nobody had tried are read as meant, or refused with the true reason."""

import csv
import shlex
import tomllib
from pathlib import Path

import openpyxl
import pytest

import annomodels as am
from annomodels.cli.main import main

FOLDER = Path(__file__).parent / "newcomer"
CASES = tomllib.loads((FOLDER / "cases.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_read_as_meant(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command has its exit code, says what is expected, and its proposed lines work."""
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("COLUMNS", "400")
    case = CASES[name]
    code = main(shlex.split(case["line"]))
    printed = "".join(capsys.readouterr())
    assert code == case["code"], printed
    assert [words for words in case.get("says", ()) if words not in printed] == [], printed
    assert [words for words in case.get("says_not", ()) if words in printed] == [], printed
    proposed = [line for line in printed.splitlines() if "annomodels check" in line]
    for line in proposed:
        assert main(shlex.split(line[line.index("annomodels check") :])[1:]) == 0, line


LONG = [["item", "coder", "label"], *([f"t{n}", c, "ab"[n % 2]] for n in range(9) for c in "xy")]
WIDE = [["item", "ann", "bob", "cem"], *([f"t{n}", "a", "ab"[n % 2], "b"] for n in range(9))]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("rows", [LONG, WIDE], ids=["long", "wide"])
def test_title_rows_are_named_with_the_line_that_skips_them(
    rows: list[list[str]],
    ending: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two rows above the header are the reason, and --skip-rows 2 is the way."""
    monkeypatch.setenv("COLUMNS", "400")
    path = tmp_path / f"titled.{ending}"
    titled = [["Study 1: tone of comments"], ["Exported 2026-03-02"], *rows]
    if ending == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(titled)
    else:
        book = openpyxl.Workbook()
        for row in titled:
            book.active.append(row)  # type: ignore[union-attr]
        book.save(path)
    assert main(["check", str(path)]) == 3
    printed = "".join(capsys.readouterr())
    assert "The header seems to stand in row 3" in printed, printed
    assert f"annomodels check {path} --skip-rows 2" in printed, printed
    assert main(["check", str(path), "--skip-rows", "2"]) == 0


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "table.csv",
            ["item,coder,label", *(f"t{n},{c},{n % 2}" for n in range(60) for c in "ab")],
        ),
        ("wide.csv", ["item,ann,bob", *(f"t{n},{n % 2},{n % 2}" for n in range(60))]),
        (
            "doccano",
            [f'{{"id": {n}, "text": "text {n}", "label": ["{n % 2}"]}}' for n in range(60)],
        ),
    ],
)
def test_labels_without_any_disagreement_are_a_question_in_every_format(
    name: str, lines: list[str], tmp_path: Path
) -> None:
    """From 100 labels on, agreement of exactly 1 is never passed over in silence."""
    path = tmp_path / name
    for size, asked in ((len(lines), True), (20, False)):
        if name == "doccano":
            path.mkdir(exist_ok=True)
            for coder in ("ann", "bob"):
                (path / f"{coder}.jsonl").write_text("\n".join(lines[:size]), encoding="utf-8")
        else:
            path.write_text("\n".join(lines[:size]) + "\n", encoding="utf-8")
        notes = am.read(path).notes
        assert any("No two coders differ" in note for note in notes) is asked, notes
