"""Tables drawn on a terminal, as text, or in the format of another program."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.loading import load_fit
from annomodels.cli.options import Writing
from annomodels.cli.places import write_file
from annomodels.cli.session import current, note, say, say_notes, show_text, warn, width_of
from annomodels.data.coding import natural_key
from annomodels.data.columns import COLUMNS, Column, Kind, explained, present
from annomodels.data.names import label_text
from annomodels.data.validation import counted
from annomodels.data.widths import size
from annomodels.io.tables.table import text_of

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from annomodels.data.summary import Summary
    from annomodels.fitting.fit import Fit
    from annomodels.io.writers.catalog import Writer
    from annomodels.planning.design import Design
    from annomodels.summaries.next_labels import NextLabels


_BY_ENDING = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".md": "md", ".tex": "tex"}
ESTIMATE = "estimate.csv"  # of a run with an audit, beside the fit from before it
# number of labels above which gold files have no columns of the next label
MOST_LABELS = 50
TARGET = "p_below_target"
# columns that files omit, by the first column: parts and redundant measures; recall is in
# `coders --by label`
IN_PYTHON = {
    "coder": re.compile(r"(accuracy|bits)(_low|_high)?|p_spammer|p_adversary|recall_.*"),
    "coefficient": re.compile(r"title|(model_)?p_above_\d+"),
}


def emit(
    table: pd.DataFrame,
    writing: Writing,
    title: str = "",
    short: Sequence[Column] = (),
    level: int = 95,
    notes: Iterable[str] = (),
) -> None:
    """Write a table to the requested output, and its `notes` on stderr."""
    # a drawn table shows the columns of `short`; `level` is that of its intervals, in percent
    form = form_of(writing)
    if form == "table":
        draw(table, title, short, wide=current().verbose, level=level)
    else:
        emit_text(to_text(table, form), writing)
    say_notes(notes)


def form_of(writing: Writing) -> str:
    """Return the requested form, or that of the file extension or stdout; no file is drawn."""
    if writing.output in (None, "-"):
        return writing.form or ("table" if sys.stdout.isatty() else "tsv")
    if writing.form:
        return "tsv" if writing.form == "table" else writing.form
    ending = Path(str(writing.output)).suffix.lower()
    if ending in (".parquet", ".jsonl"):
        raise click.UsageError(f"This table is not written as {ending}: use .csv, .tsv or .json.")
    return _BY_ENDING.get(ending, "csv")


def with_left_out(table: pd.DataFrame, left_out: Mapping[str, str], form: str) -> pd.DataFrame:
    """Add a row for each question that was left out, in forms that programs read."""
    import pandas as pd

    if form not in ("json", "csv", "tsv") or not left_out:
        return table
    rows: list[dict[str, Any]] = [
        {"question": name, "note": f"Left out: {why}."} for name, why in left_out.items()
    ]
    return pd.concat([table, pd.DataFrame(rows)], ignore_index=True)[list(table.columns)]


def by_question(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(tables, names=["question"]).reset_index(level=0).reset_index(drop=True)


def note_writer(writing: Writing) -> Callable[[str], None]:
    """Return the printer of sentences: on stdout above a drawn table, else on stderr."""
    return say if form_of(writing) == "table" else note


def emit_text(text: str, writing: Writing) -> None:
    if writing.output in (None, "-"):
        show_text(text)
        return

    path = str(writing.output)
    write_file(path, lambda beside: beside.write_text(text, encoding="utf-8", newline=""))
    note(f"Wrote {path}.")


def put(writer: Writer, given: object, writing: Writing, spreadsheet: bool) -> None:
    """Write the output of a writer, and warn of cells that a spreadsheet would compute."""
    from annomodels.io.writing import WRITERS, write_table

    made = writer.make(given)
    if isinstance(made, str):
        emit_text(made, writing)
        return
    (made,) = guarded_tables([made], spreadsheet)
    path = str(writing.output or "-")
    endings = [suffix[1:].lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    form = writing.form or writer.form or (endings[-1] if endings else "")
    if path == "-" and form == "parquet":
        raise click.UsageError("Parquet goes to a file: name it with -o.")
    if path != "-" and form in WRITERS:
        write_file(path, lambda beside: write_table(made, beside, form, force=True))
        note(f"Wrote {path}.")
    else:
        emit(made, Writing(writing.form or writer.form or "", writing.output, writing.force))


def guarded_tables(tables: Sequence[pd.DataFrame], spreadsheet: bool) -> list[pd.DataFrame]:
    """Put an apostrophe before cells that a spreadsheet would compute, or warn of them."""
    from annomodels.io.writing import formulas, guarded

    if spreadsheet:
        return [table.map(guarded) for table in tables]
    if found := formulas(cell for table in tables for name in table for cell in table[name]):
        warn(
            f"{counted(found, 'cell')} would be read as a formula by a spreadsheet; "
            "add --spreadsheet if people will open the file in one."
        )
    return list(tables)


def csv_texts(tables: Mapping[str, pd.DataFrame], spreadsheet: bool) -> dict[str, str]:
    safe = guarded_tables(list(tables.values()), spreadsheet)
    return {name: to_text(table, "csv") for name, table in zip(tables, safe, strict=True)}


def to_text(table: pd.DataFrame, form: str) -> str:
    """Return a table as text in one of the forms tsv, csv, json, md, tex.

    >>> import pandas as pd
    >>> print(to_text(pd.DataFrame({"item": ["a"], "p": [0.123456789]}), "csv"), end="")
    item,p
    a,0.123457
    """
    names = [str(name) for name in table.columns]
    if form == "json":
        return to_json([dict(zip(names, row, strict=True)) for row in _rows(table)])
    rows = [[cell(value) for value in row] for row in _rows(table)]
    if form in ("csv", "tsv"):
        return text_of([names, *rows], "," if form == "csv" else "\t")
    numeric = [dtype.kind in "iuf" for dtype in table.dtypes]
    return _markdown(names, rows, numeric) if form == "md" else _latex(names, rows, numeric)


def to_json(value: object) -> str:
    """Return JSON that every reader accepts: no NaN, no infinity.

    >>> print(to_json({"p": float("nan"), "n": 3}), end="")
    {
      "p": null,
      "n": 3
    }
    """
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def plain(value: object) -> object:
    """Convert NumPy values, NaN and tuples to JSON types."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=natural_key)
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.12g}") if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def cell(value: object, digits: int = 6) -> str:
    """Return one cell as text; missing values are empty.

    >>> cell(0.123456789), cell(float("nan")), cell(True), cell(12)
    ('0.123457', '', 'true', '12')
    """
    value = label_text(value) if isinstance(value, frozenset) else plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, list):
        return " ".join(cell(part, digits) for part in value)
    return str(value)


def _rows(table: pd.DataFrame) -> Iterable[tuple[object, ...]]:
    return table.astype(object).itertuples(index=False, name=None)


def _markdown(names: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    from annomodels.reporting.words import escaped, markdown_table

    head, *body = ([" ".join(escaped(cell).split()) for cell in row] for row in (names, *rows))
    return markdown_table(head, body, numeric) + "\n"


def _latex(names: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    from annomodels.reporting.words import latex

    def line(cells: Iterable[str]) -> str:
        return " & ".join(latex(" ".join(text.split())) for text in cells) + r" \\"

    align = "".join("r" if number else "l" for number in numeric)
    body = [rf"\begin{{tabular}}{{{align}}}", r"\hline", line(names), r"\hline"]
    return "\n".join([*body, *map(line, rows), r"\hline", r"\end{tabular}"]) + "\n"


def filed(table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table that files contain."""
    left_out = IN_PYTHON.get(table.columns[0])
    if left_out is None:
        return table
    names = [name for name in table if not left_out.fullmatch(str(name))]
    if TARGET in names and table[TARGET].isna().all():  # no target was given
        names.remove(TARGET)
    return table[names]


def show(
    found: Summary | NextLabels | Design, writing: Writing, table: pd.DataFrame | None = None
) -> None:
    """Write a result, or a table made from it, with its notes on stderr."""
    shown = found.table if table is None else table
    shown = shown if form_of(writing) == "table" else filed(shown)
    emit(shown, writing, found.title, found.columns, notes=found.notes)


def loaded(path: str) -> Any:
    """Load a fit; say on stderr if it cannot be trusted, or if files beside it tell of an audit."""
    from annomodels.spans.fit import SpanFit

    fit = load_fit(path)
    note_audit(path)
    if isinstance(fit, SpanFit):
        return fit
    found = fit.check(predictive=False)  # predictive checks never forbid use
    if not found:
        warn("This fit cannot be trusted: " + " ".join(found.sentences))
    return fit


def note_audit(path: str) -> None:
    """Note on stderr if the tables next to a fit are from a later audit."""
    saved = Path(path) / "fit.nc" if Path(path).is_dir() else Path(path)
    if saved.name == "fit.nc" and saved.with_name(ESTIMATE).is_file():
        note(f"{saved} is from before the audit, and the tables beside it from after.")


def gold_table(fit: Fit, summary: Summary, threshold: float | None, soft: bool) -> pd.DataFrame:
    """Return the gold table for files; with a threshold, open labels are empty."""
    table = summary.table.copy()
    if threshold is not None:
        known = fit.data.known >= 0
        table["label"] = table["label"].where((table["state"] == "settled") | known, "")
    if not soft:
        return table
    from annomodels.io.writers.layouts import with_soft

    return with_next(fit, with_soft(replace(summary, table=table)))


def with_next(fit: Fit, table: pd.DataFrame) -> pd.DataFrame:
    """Add ``p_next_<label>``, if a fit predicts it and has few labels."""
    if fit.unsupported("p_next") or fit.data.n_labels > MOST_LABELS:
        return table
    predicted = fit.p_next().table.drop(columns="item")
    # a label may be named next_a next to a label a
    return table if set(table) & set(predicted.columns) else table.join(predicted)


def gold_back(
    fit: Fit,
    to: str,
    threshold: float | None,
    question: str,
    writing: Writing,
    spreadsheet: bool,
) -> None:
    """Write the gold labels of a saved fit in the import format of a tool."""
    from annomodels.io.writers.catalog import BACKS, Writer, named
    from annomodels.io.writers.layouts import gold_list

    summary = fit.gold(threshold)
    table = gold_table(fit, summary, threshold, soft=True)
    texts = dict(zip(fit.data.items, fit.data.texts or (), strict=False))
    if to == "parquet":
        put(Writer("", lambda given: given, to), table, writing, spreadsheet)
    else:
        put(named(to, BACKS), gold_list(table, question, texts), writing, spreadsheet)
    say_notes(summary.notes)


# -- tables on a terminal, drawn by rich -----------------------------------------------------------
# Names and numbers are complete, texts are wrapped. Columns are added from the left while there is
# room. A name that is too long for its column is printed above its row; a text without room is
# printed below the row.

GAP = 2
UNDER = 4  # indentation of a text below its row
LEAST_TEXT = 24  # width that a text needs next to the numbers
FOR_NAMES = 0.55  # fraction of the width that the names of a row may always use
LONGEST_NAME = 200  # characters; longer names are cut, so that no cell fills the screen
MOST_NAMED = 7  # columns without room to list by name


@dataclass(frozen=True)
class DrawnColumn:
    column: Column
    cells: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def heading(self) -> str:
        return self.column.heading

    @property
    def least(self) -> int:
        """Width of the longest word of the heading."""
        return max(map(size, self.heading.split()), default=0)

    @property
    def natural(self) -> int:
        """Width of the longest text."""
        return max([self.least, *map(size, self.cells)])

    def shorter_than(self, width: int) -> int:
        """Return the width of the longest text below `width`, at least that of the heading."""
        return max([self.least, *(n for n in map(size, self.cells) if n < width)])

    def wraps(self, width: int) -> bool:
        """Return True for texts, and for names that would take more than a third of the width."""
        named = self.column.kind in ("name", "tag")
        return self.column.kind == "text" or (named and self.natural > width // 3)


def draw(
    table: pd.DataFrame,
    title: str = "",
    short: Sequence[Column] = (),
    *,
    wide: bool = False,
    level: int = 95,
) -> None:
    """Draw the columns of `short`, or all with `wide`, and print their meanings below."""
    from rich.console import Console
    from rich.text import Text

    current().pause()
    width = width_of(sys.stdout)
    # no color under NO_COLOR, and no bold or italics either
    console = Console(width=width, color_system=None if os.environ.get("NO_COLOR") else "auto")
    if title:
        console.print(Text(title, style="italic"))
    first, rest = _columns(table, short)
    drawn = [DrawnColumn(one, _cells(one, table)) for one in ([*first, *rest] if wide else first)]
    shown = _in_parts(console, drawn, width, every=wide)
    console.print()
    hidden = [one.name for one in (*first, *rest) if one.name not in shown]
    if hidden:
        named, more = ", ".join(hidden), counted(len(hidden), "more column")
        if len(hidden) > MOST_NAMED:
            rest_of_them = len(hidden) - MOST_NAMED + 1
            named = f"{', '.join(hidden[: MOST_NAMED - 1])} and {rest_of_them} others"
        note(
            f"No room for {named}: make the terminal wider."
            if wide  # no room next to the names
            else f"{more}: {named}. -v shows all."
        )
    if any(one.interval and one.name in shown for one in first):
        note(f"Intervals contain the true value with {level} % probability.")
    for sentence in explained((one.name for one in drawn if one.name in shown), level):
        note(sentence)


def _columns(table: pd.DataFrame, short: Sequence[Column]) -> tuple[list[Column], list[Column]]:
    """Return the columns of `short` (all if it is empty), and the other columns."""
    first = present(short, table)
    known = {name for one in first for name in (one.name, *(one.interval or ()))}
    others = [_alone(name, table) for name in map(str, table) if name not in known]
    rest = list(present(others, table))
    return (list(first), rest) if first else (rest, [])


def _alone(name: str, table: pd.DataFrame) -> Column:
    """Return the default form of a column that `short` lacks, without its interval."""
    numeric = table[name].dtype.kind in "iuf"
    if name in COLUMNS and (numeric or not COLUMNS[name].numeric):
        return COLUMNS[name].called(interval=None, of=None, digits=3)
    kind: Kind = "count" if table[name].dtype.kind in "iu" else "number" if numeric else "text"
    return Column(name, kind=kind, digits=3, width=LONGEST_NAME)


def _cells(column: Column, table: pd.DataFrame) -> tuple[str, ...]:
    return (column.called(width=LONGEST_NAME) if column.kind == "name" else column).texts(table)


def _in_parts(
    console: Console, columns: Sequence[DrawnColumn], width: int, *, every: bool
) -> set[str]:
    """Print columns with room, or with `every` all in parts; return the names shown."""
    numbers = (n for n, one in enumerate(columns) if one.column.kind not in ("name", "tag"))
    end = next(numbers, len(columns)) or 1
    keys, others = columns[:end], columns[end:]
    shown = set[str]()
    while True:
        widths = _widths(keys, others, width)
        under = [one for one in others if one.column.kind == "text" and one.name not in widths]
        beside = [one for one in others if one.name in widths]
        _print(console, keys, beside, under, widths)
        before, shown = shown, shown.union(widths, (one.name for one in under))
        others = [one for one in others if one.name not in shown]
        if not (every and others) or shown == before:
            return shown


def _widths(
    keys: Sequence[DrawnColumn], others: Sequence[DrawnColumn], width: int
) -> dict[str, int]:
    """Return the widths of the columns that are printed side by side."""
    widths = {one.name: one.natural for one in keys}
    first = [GAP + one.natural for one in others if not one.wraps(width)][:2]
    limit = max(int(width * FOR_NAMES) if first else width, width - sum(first))
    while sum(widths.values()) + GAP * (len(keys) - 1) > limit:
        # narrow the column where each character gained moves the fewest names to a separate line
        prices = {}
        for one in keys:
            narrower, now = one.shorter_than(widths[one.name]), widths[one.name]
            if narrower < now:
                moved = sum(size(cell) > narrower for cell in one.cells)
                prices[one.name, narrower] = moved / (now - narrower)
        if not prices:
            break
        name, narrower = min(prices, key=prices.__getitem__)
        widths[name] = narrower
    room = width - sum(widths.values()) - GAP * len(keys)
    for one in others:
        if not one.wraps(width):
            if room < one.natural:
                break
            widths[one.name] = one.natural
            room -= one.natural + GAP
    for one in others:
        if one.wraps(width) and room >= min(one.natural, max(LEAST_TEXT, one.least)):
            widths[one.name] = min(one.natural, room)
            room -= widths[one.name] + GAP
    return widths


def _print(
    console: Console,
    keys: Sequence[DrawnColumn],
    beside: Sequence[DrawnColumn],
    under: Sequence[DrawnColumn],
    widths: Mapping[str, int],
) -> None:
    """Print a header and the rows, with long names above and texts below a row."""
    from rich.box import Box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    rule = Box("    \n    \n ── \n" + "    \n" * 5)

    def grid(*, header: bool) -> Table:
        made = Table(
            box=rule, show_header=header, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
        )
        for one in (*keys, *beside):
            made.add_column(
                Text(one.heading),
                justify="right" if one.column.numeric else "left",
                width=widths[one.name],
                overflow="fold",
            )
        return made

    console.print()
    part = grid(header=True)
    for n in range(len(keys[0].cells)):
        names = [one.cells[n] for one in keys]
        above = [text for one, text in zip(keys, names, strict=True)
                 if size(text) > widths[one.name]]  # fmt: skip
        if above:
            if part.show_header or part.row_count:
                console.print(part)
                part = grid(header=False)
            console.print(Text("\n".join(above)), soft_wrap=True)
        names = ["" if text in above else text for text in names]
        part.add_row(*map(Text, (*names, *(one.cells[n] for one in beside))))
        below = [one.cells[n] for one in under if one.cells[n]]
        if below:
            console.print(part, *(Padding(Text(text), (0, 0, 0, UNDER)) for text in below))
            part = grid(header=False)
    if part.show_header or part.row_count:
        console.print(part)
