"""All situations in which the product gives advice, and the places that no situation reaches.

The situations are in ``commands.toml``, ``reading.toml`` and ``calls.toml``. ``{NAME}`` in a line
is a text of the table ``short``. A file is a text; or a header and rows of a table; or, after @,
a text of the table ``files``, or one that is made here, as it is long or no text.
"""

import io
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openpyxl

from tests.advice.follow import Situation

HERE = Path(__file__).parent
TABLES = [
    tomllib.loads((HERE / f"{n}.toml").read_text("utf-8")) for n in ("commands", "reading", "calls")
]
SHORT: Mapping[str, str] = {
    name: text for table in TABLES for name, text in table.get("short", {}).items()
}


def long(header: str, *rows: str) -> str:
    """Return a table of labels by two coders of twelve items; `rows` have {n} and {x}."""
    lines = [row.format(n=n, x="ab"[n % 2], y="ab"[n % 3 % 2]) for n in range(12) for row in rows]
    return "\n".join([header, *lines]) + "\n"


def book(**sheets: str) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, text in sheets.items():
        sheet = made.create_sheet(name)
        for line in text.splitlines():
            sheet.append(line.split(","))
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def remarks(n_items: int, text: str) -> str:
    """Return a table whose labels are texts, beside a column of labels."""
    rows = [
        f"t{n},{c},{text.format(n=n, c=c)},{'ab'[n % 2]}\n" for n in range(n_items) for c in "xy"
    ]
    return "item,coder,label,kind\n" + "".join(rows)


PLAIN = long("item,coder,label", "t{n},x,{x}", "t{n},y,{y}")
REMARK = "a long remark of its own about {n}{c}"
MADE: Mapping[str, str | bytes] = {
    "free.csv": remarks(120, REMARK),
    "remarks.csv": remarks(300, REMARK),
    "longlabels.csv": remarks(9, "word " * 60),
    "two.xlsx": book(main=PLAIN, about="a,b\n1,2\n"),
    "coders.xlsx": book(ana=long("item,label", "t{n},{x}"), ben=long("item,label", "t{n},{y}")),
    "coded.csv": PLAIN.replace("t1,", "tä,").encode("cp1252"),
    "wide16.csv": PLAIN.encode("utf-16-le"),
}


def filled(line: str) -> str:
    """Return a line with the texts that it has short names for."""
    for name, text in SHORT.items():
        line = line.replace(f"{{{name}}}", text)
    return line


def content(given: str | list[str], texts: Mapping[str, str]) -> str | bytes:
    if not isinstance(given, str):
        return long(*given)
    name = given.removeprefix("@")
    return given if name == given else {**MADE, **texts}[name]


def situation(row: Mapping[str, Any], texts: Mapping[str, str]) -> Situation:
    """Return a situation of a table, which has these texts of files."""
    lines = {name: tuple(map(filled, row[name])) for name in ("after", "setup") if name in row}
    names = {name: tuple(row[name]) for name in ("apart", "also") if name in row}
    files = {name: content(given, texts) for name, given in row.get("files", {}).items()}
    rest = {name: row[name] for name in ("stdin", "stays", "compiles") if name in row}
    return Situation(filled(row["before"]), files=files, **lines, **names, **rest)


SITUATIONS = tuple(
    situation(row, table.get("files", {})) for table in TABLES for row in table["situation"]
)
# reason -> places; the list may only become shorter
UNREACHED: Mapping[str, list[str]] = tomllib.loads((HERE / "unreached.toml").read_text("utf-8"))
