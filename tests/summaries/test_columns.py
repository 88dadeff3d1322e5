"""Columns: declared once, and written the same way on the page, in notebooks and terminals."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import annomodels
from annomodels.data.columns import COLUMNS, Column, columns, explained, present, to_html


def test_no_column_is_declared_twice() -> None:
    from annomodels.data.columns import _ALL

    names = [column.name for column in _ALL]
    assert not {name for name in names if names.count(name) > 1}


def test_help_begins_with_the_name_that_a_terminal_shows() -> None:
    for column in COLUMNS.values():
        head = column.help.partition(":")[0]
        assert not column.help or column.name.replace("_", " ") in head.split(", ")


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (Column("p", kind="chance"), 0.9999, ">0.99"),
        (Column("p", kind="chance"), 0.001, "<0.01"),
        (Column("p", kind="chance"), 1.0, "1.00"),
        (Column("x"), -0.004, "0.00"),
        (Column("x"), float("nan"), "–"),
        (Column("n", kind="count"), 1200.0, "1,200"),
        (Column("n", kind="count"), pd.NA, "–"),
        (Column("q", kind="quantity"), 1558.2, "1,558"),
        (Column("q", kind="quantity"), "nominal", "nominal"),
        (Column("ok", kind="tag"), True, "yes"),
        (Column("label", kind="name"), frozenset({"b", "a"}), "{a, b}"),
    ],
)
def test_a_cell_is_written_for_people(column: Column, value: object, text: str) -> None:
    assert column.written(value).text == text


def test_an_interval_stands_with_its_estimate() -> None:
    row = SimpleNamespace(accuracy=0.5, accuracy_low=0.25, accuracy_high=0.75)
    cell = COLUMNS["accuracy"].cell(row)
    assert (cell.whole, cell.bar) == ("0.50 (0.25 to 0.75)", (25, 50, 75))


def test_a_table_shows_what_it_holds() -> None:
    table = pd.DataFrame({"coder": ["a<b"] * 20, "n": 3, "bias": "", "skill": float("nan")})
    declared = columns("coder kind n skill bias")
    assert [column.name for column in present(declared, table)] == ["coder", "n"]
    html = to_html("Coders", table, declared)
    assert html.count("<tr>") == 1 + 12
    assert "a&lt;b" in html
    assert "12 of 20 rows" in html


def test_only_columns_that_need_it_are_explained() -> None:
    assert explained(["coder", "p_above_667"], 90)[0].startswith("p above 667, 800: ")
    assert "90 %" in explained(["low"], 90)[0]


@pytest.mark.slow
def test_headings_of_columns_are_written_in_one_file() -> None:
    """A heading that is declared for a name is not written again beside that name."""
    folder = Path(annomodels.__file__).parent
    again = []
    for path in folder.rglob("*.py"):
        text = path.read_text("utf-8")
        if path.name == "columns.py" or "Column(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Column"):
                continue
            words = [arg.value for arg in node.args[:2] if isinstance(arg, ast.Constant)]
            if len(words) == 2 and words[0] in COLUMNS and COLUMNS[words[0]].title == words[1]:
                again.append((path.name, *words))
    assert not again, "take it from COLUMNS"
