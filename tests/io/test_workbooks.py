"""Excel and SPSS through the libraries made for them, and what is said when they are missing."""

from __future__ import annotations

import builtins
import datetime
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from annomodels import read
from annomodels.cli.main import main
from annomodels.errors import AnnotationError, MissingDependency

LONG = pd.DataFrame(
    {"item": [1, 1, 2, 2], "coder": list("abab"), "label": ["NA", "x", "None", "x"]}
)


def triples(data: Any) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, data.to_frame().to_numpy().tolist()))


EXPECTED = [("1", "a", "NA"), ("1", "b", "x"), ("2", "a", "None"), ("2", "b", "x")]


def test_excel_cells_are_what_people_see(tmp_path: Path) -> None:
    path = tmp_path / "votes.xlsx"
    LONG.to_excel(path, index=False)
    assert triples(read(path)) == EXPECTED
    kinds = [1, 1.0, 1.5, True, "1.0", datetime.datetime(2026, 1, 2), datetime.date(2026, 1, 2)]
    odd = pd.DataFrame({"item": range(7), "coder": "a", "label": pd.Series(kinds, dtype=object)})
    odd.to_excel(path, index=False)
    labels = [label for _, _, label in triples(read(path))]
    assert labels[:5] == ["1", "1", "1.5", "true", "1.0"]
    assert all(label.startswith("2026-01-02") for label in labels[5:])


def test_excel_wide_sheets_and_matrices(tmp_path: Path) -> None:
    path = tmp_path / "votes.xlsx"
    wide = pd.DataFrame({"item": ["t1", "t2"], "ana": ["x", "y"], "ben": ["x", None]})
    wide.to_excel(path, index=False)
    data = read(path)
    assert (data.coders, data.skips) == (("ana", "ben"), 1)
    pd.DataFrame([[1, 2], [2, 2], [1, 1]]).to_excel(path, index=False, header=False)
    assert read(path).labels == ("1", "2")


def test_excel_with_several_sheets_asks_which(tmp_path: Path) -> None:
    path = tmp_path / "votes.xlsx"
    with pd.ExcelWriter(path) as book:
        LONG.to_excel(book, sheet_name="first", index=False)
        LONG.assign(label="y").to_excel(book, sheet_name="second", index=False)
        pd.DataFrame().to_excel(book, sheet_name="empty")
    with pytest.raises(AnnotationError, match="2 sheets of the workbook have cells: 'first'"):
        read(path)
    assert read(path, sheet="second").labels == ("y",)
    with pytest.raises(AnnotationError, match="No sheet with cells is called 'third'"):
        read(path, sheet="third")


def book(path: Path, sheets: dict[str, pd.DataFrame]) -> Path:
    with pd.ExcelWriter(path) as file:
        for name, frame in sheets.items():
            frame.to_excel(file, sheet_name=name, index=False)
    return path


def sheets_of(coders: dict[str, str], first: int = 0) -> dict[str, pd.DataFrame]:
    """Return a sheet per name; the labels of item n are the signs of the text."""
    return {
        name: pd.DataFrame({"Post ID": range(first, first + len(said)), "tone": list(said)})
        for name, said in coders.items()
    }


ANA, BEN = "abcabcabcabcabcabcab", "abcabcabcabcabcaaaaa"


def test_a_workbook_with_a_sheet_per_coder_is_read_as_files_of_coders(tmp_path: Path) -> None:
    sheets = sheets_of({"Ana": ANA, "Ben": BEN})
    path = book(tmp_path / "votes.xlsx", {**sheets, "codebook": pd.DataFrame({"code": ["a"]})})
    how: Any = {"item": "Post ID", "label": "tone"}
    data = read(path, sheet="*", **how)
    for name, frame in sheets.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    assert triples(data) == triples(read({n: tmp_path / f"{n}.csv" for n in sheets}, **how))
    assert data.coders == ("Ana", "Ben")
    with pytest.raises(AnnotationError, match=r"sheets of the workbook have cells") as caught:
        read(book(path, sheets))
    assert caught.value.proposal.new == {"sheet": "*", "item": "Post ID", "label": "tone"}
    assert triples(read(path, **caught.value.proposal.new)) == triples(data)


def test_a_cell_right_of_the_table_drops_no_row(tmp_path: Path) -> None:
    sheets = sheets_of({"Ana": ANA * 6, "Ben": BEN * 6})
    sheets["Ana"][""] = ["checked", *[""] * 119]
    data = read(book(tmp_path / "v.xlsx", sheets), sheet="*", item="Post ID", label="tone")
    assert len(data) == 240
    assert "Not read: cells right of the last column with a name (Ana, row 2)." in data.notes


@pytest.mark.parametrize("first", [["Guidelines"], ["Legend:", "1 - good", "2 - bad"]])
def test_a_header_below_other_rows_is_found(tmp_path: Path, first: list[str]) -> None:
    rows = [[f"t{n // 2}", "ab"[n % 2], "xyz"[n % 3], "so"] for n in range(12)]
    above = [first, [], ["", "Read this."], ["item", "coder", "label", "why"]]
    path = tmp_path / "votes.xlsx"
    cells = [[*row, *[""] * (4 - len(row))] for row in (*above, *rows)]
    pd.DataFrame(cells).to_excel(path, index=False, header=False)
    with pytest.raises(AnnotationError) as caught:
        read(path)
    assert str(caught.value).startswith("The header seems to stand in row 4")
    assert "skip_rows=3" in str(caught.value)
    assert read(path, skip_rows=3).n_items == 6


@pytest.mark.parametrize(
    "sheets",
    [
        {**sheets_of({"2019": ANA}), **sheets_of({"2020": BEN}, 100)},
        {**sheets_of({"train": ANA}), **sheets_of({"test": BEN}, 100)},
        sheets_of({"anger": ANA, "joy": BEN[::-1]}),
    ],
    ids=["years", "splits", "questions"],
)
def test_sheets_that_need_not_be_of_coders_are_not_proposed_as_such(
    tmp_path: Path, sheets: dict[str, pd.DataFrame]
) -> None:
    with pytest.raises(AnnotationError, match="2 sheets of the workbook have cells") as caught:
        read(book(tmp_path / "votes.xlsx", sheets))
    assert "sheet='*'" in str(caught.value)
    assert caught.value.proposal is None


def test_the_sheet_with_labels_of_coders_is_found_beside_others(tmp_path: Path) -> None:
    rows = [(f"p{n}", f"c{k}", "abc"[(n + n * k) % 3], "") for n in range(20) for k in range(3)]
    votes = pd.DataFrame(rows, columns=["post_id", "worker", "tone", ""])
    votes = pd.concat([votes, pd.DataFrame({"tone": ["a"], "share": ["0.7"]})], axis=1)
    about = pd.DataFrame({"tone": ["a", "b"] * 9, "frame": ["x", "y", "y"] * 6})
    with pytest.raises(AnnotationError) as caught:
        read(book(tmp_path / "votes.xlsx", {"about": about, "votes": votes}))
    data = read(tmp_path / "votes.xlsx", **caught.value.proposal.new)
    assert (data.n_coders, len(data)) == (3, 60)
    assert any("right of empty column 4" in note for note in data.notes)
    with pytest.raises(AnnotationError, match="None reads as labels of several coders") as caught:
        read(book(tmp_path / "none.xlsx", {"Ana": about, "Ben": about, "x": about[["tone"]]}))
    assert "If 'Ana', 'Ben' are of one coder each, add a column" in str(caught.value)


def test_spss_labels_stand_for_codes(tmp_path: Path) -> None:
    import pyreadstat

    path = tmp_path / "votes.sav"
    frame = pd.DataFrame({"item": ["t1", "t1", "t2", "t2"], "coder": list("abab"),
                          "rating": [1.0, 2.0, 9.0, np.nan]})  # fmt: skip
    pyreadstat.write_sav(
        frame, str(path), variable_value_labels={"rating": {1: "low", 2: "high"}},
        missing_ranges={"rating": [9]},
    )  # fmt: skip
    data = read(path)
    assert triples(data) == [("t1", "a", "low"), ("t1", "b", "high")]
    assert data.skips == 2
    wide = pd.DataFrame({"case": [1.0, 2.0], "r1": [1.0, 2.0], "r2": [2.0, 2.0]})
    pyreadstat.write_sav(wide, str(path), compress=True)
    assert read(path).items == ("1", "2")
    assert read(path).labels == ("1", "2")


@pytest.mark.parametrize("version", [10, 13, 15])
def test_stata_labels_stand_for_codes(tmp_path: Path, version: int) -> None:
    import pyreadstat

    path = tmp_path / "votes.dta"
    frame = pd.DataFrame({"item": ["t1", "t1", "t2", "t2"], "coder": list("abab"),
                          "rating": [1.0, 2.0, 2.0, np.nan]})  # fmt: skip
    labels = {"rating": {1: "low", 2: "high"}}
    pyreadstat.write_dta(frame, str(path), variable_value_labels=labels, version=version)
    data = read(path)
    assert triples(data) == [("t1", "a", "low"), ("t1", "b", "high"), ("t2", "a", "high")]
    assert data.skips == 1


@pytest.mark.parametrize(
    ("magic", "word"),
    [(b"$FL2@(#) SPSS", "SPSS"), (b"<stata_dta>", "Stata"), (b"PK\x03\x04", "Excel")],
)
def test_damaged_files_are_said_to_be_so(tmp_path: Path, magic: bytes, word: str) -> None:
    path = tmp_path / "votes"
    path.write_bytes(magic + b"\0" * 500)
    with pytest.raises(AnnotationError, match=rf"{word}.*damaged"):
        read(path)


@pytest.mark.parametrize(
    ("package", "name", "installed"),
    [
        ("openpyxl", "excel", "openpyxl"),
        ("cassis", "cas", "dkpro-cassis"),
        ("pyreadstat", "sav", "pyreadstat"),
    ],
)
def test_without_the_package_the_line_that_installs_it(
    package: str,
    installed: str,
    name: str,
    export: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    path = tmp_path / "votes.sav"
    path.write_bytes(b"$FL2")
    options: dict[str, Any] = {}
    if name != "sav":
        path, options = export(name)
    real = builtins.__import__

    def without(module: str, *rest: Any, **more: Any) -> Any:
        if module.partition(".")[0] == package:
            raise ImportError(module)
        return real(module, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependency, match=rf"pip install {installed}\.$"):
        read(path, **options)
    assert main(["check", str(path), *(["--units", "exact"] if name == "cas" else [])]) == 5
    assert "pip install" in capsys.readouterr().err


def test_a_workbook_with_entities_is_refused(tmp_path: Path) -> None:
    import zipfile

    packed = io.BytesIO()
    LONG.to_excel(packed, index=False)
    path = tmp_path / "bad.xlsx"
    bad = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e "boom">]><worksheet>&e;</worksheet>'
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(path, "w") as new:
        for part in old.namelist():
            new.writestr(part, bad if "sheet1" in part else old.read(part))
    with pytest.raises(AnnotationError, match="declares a document type"):
        read(path)
