"""Numeric tables: matrices without a header, and label counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from annomodels.data.coding import natural_key
from annomodels.data.validation import all_numbers, at_rows, counted, is_hashable, some
from annomodels.errors import Option, Problem
from annomodels.io.border import NoLabels
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import assemble, matched
from annomodels.io.tables.table import Table, distinct

NO_LABEL = frozenset({"NA", "#"})
MOST_CLASSES = 1_000  # maximum number of distinct whole numbers in labels of one coder
_LOOKED_AT = 20_000  # rows that are inspected


def is_matrix(source: Source, options: Options) -> bool:
    named = [*options.roles.values(), *options.extra.values(), options.coder_columns]
    if any(name is not None for name in (*named, source.opening.columns)):
        return False
    if all(matched(source.table.header).values()):
        return False  # a long table
    rows = [record for record in source.rows.head(_LOOKED_AT) if any(record)]
    if not rows or len(rows[0]) < 2:
        return False
    first, rest = rows[0], rows[1:]
    if not first[0] and len({row[0] for row in rest}) == len(rest) > 1:
        return False  # an unnamed first column of items, such as the index of a data frame
    skip = {"", *NO_LABEL, *options.missing}
    if all(cell in skip or all_numbers([cell]) for row in rows for cell in row):
        return True
    labels = {cell for row in rest for cell in row} - {""}
    own = [cell for cell in first if cell not in ("", *options.missing)]
    if not own or len(rest) < 2 or not set(own) <= labels:
        return False
    # Coders share labels; the columns of a long table without a header, or words and tags, do not.
    columns = [[row[j] for row in rows if j < len(row) and row[j]] for j in range(len(first))]
    times = Counter(cell for column in columns for cell in {*column})
    return all(2 * sum(times[cell] > 1 for cell in own) >= len(own) for own in columns)


def read_matrix(found: Records) -> None:
    """Read a matrix; items and coders get numbers, and blank lines are items without labels."""
    source, options = found.source, found.options
    records, lines = source.rows.rows, source.rows.lines
    filled = [record for record in records if any(record)]
    if not filled:
        found.problem("The table has no rows.", "Give rows of labels.")
        return
    if any(value is not None for value in (*options.roles.values(), *options.extra.values())):
        found.problem(
            "A matrix without a header has no column names.",
            f"Leave out {Option('item')}, {Option('coder')}, {Option('label')}, "
            f"{Option('truth')}, {Option('group')} and {Option('text')}, or add a header.",
            code="matrix-names",
        )
        return
    width = len(filled[0])
    ragged = [n for n, record in enumerate(records) if any(record) and len(record) != width]
    if ragged:
        what = f"{counted(len(ragged), 'row')} without the {width} cells of the first row."
        where = at_rows(source.name, [lines[n] for n in ragged])
        found.problem(what, "Leave cells without a label empty.", where, code="ragged")
        return
    if not options.forced and (problem := _other_shape(filled, source.name)) is not None:
        found.problems.append(problem)
        return
    numeric = all(all_numbers([c]) for r in filled for c in r if c and c not in NO_LABEL)
    cells = {
        "item": [str(n) for n in range(1, len(records) + 1)],
        "coder": [str(j) for j in range(1, width + 1)],
        "label": [c for r in records for c in (r if any(r) else [""] * width)],
    }
    none = NO_LABEL if numeric else ()
    columns = assemble(
        cells, lines, source.name, {}, lambda cell: options.is_skip(cell) or cell in none
    )
    found.note(
        "Read as a matrix without a header: rows are items, columns are coders, both numbered."
    )
    found.default = lambda: columns


def _other_shape(rows: list[list[str]], source: str) -> Problem | None:
    columns = list(zip(*rows, strict=True))
    if looks_like_counts(columns):
        return counts_problem(Counts((), "", False), source, form="matrix")
    names = [str(n) for n in range(len(rows[0]) + 1)]
    if len(rows[0]) > 2 and rows[0] in (names[1:], names[:-1]):
        what = f"The first row ({', '.join(rows[0][:6])}) could be labels or names of coders."
        remedy = (
            f"If they are labels, use {Option('format', 'matrix')}; if they are names, add a first "
            "column with the items."
        )
        return Problem(what, f"{source}, row 1", remedy, code="header-or-labels")
    in_order = (
        f"Name the columns in their order: {Option('columns', ['item', 'coder', 'label'])}; or "
        f"use {Option('format', 'matrix')} if rows are items and columns are coders."
    )
    pairs = set(zip(columns[0], columns[1], strict=True))
    sizes = [len(set(column)) for column in columns]
    if max(sizes) > MOST_CLASSES and all(cell.isdigit() for row in rows for cell in row):
        what = (
            f"The first row holds only numbers, and a column holds {max(sizes):,} different whole "
            "numbers: they look like identifiers, such as pairs of items, not like labels."
        )
        return NoLabels(what, source, in_order, code="identifiers")
    if problems := measured(dict(zip(names[1:], columns, strict=True)), source, "matrix"):
        return problems[0]
    filled = not any(cell in ("", *NO_LABEL) for pair in pairs for cell in pair)
    triples = len(rows) >= 6 and len(columns) == 3 and len(pairs) == len(rows)
    if filled and triples and sizes[2] <= sizes[0]:
        shown = ", ".join(sorted(set(columns[2]), key=natural_key)[:3])
        what = f"This looks like a long table without a header (labels {shown})."
        return NoLabels(what, source, in_order, code="long-without-header")
    return None


# -- tables that count the labels per class, without coders ----------------------------------------


_ROWS = 2_000  # rows that are inspected
_FEWEST = 5  # minimum number of rows
_COUNTED_AT_MOST = 30  # maximum number of columns in which sums are searched
_APART = re.compile(r"[._|-]")  # between the parts of a name
_WHOLE = re.compile(r"[0-9]{1,9}(\.0+)?")


@dataclass(frozen=True)
class Counts:
    """Columns of whole numbers that add up to a total in every row."""

    classes: tuple[str, ...]
    total: str
    is_sure: bool


def counts_in(table: Table, coders: Sequence[str] = ()) -> Counts | None:
    """Find columns that count labels, by their row sums or their names."""
    if coders and looks_like_counts([table.columns[name] for name in coders]):
        return Counts(tuple(coders), "", False)
    numbers = {name: found for name, cells in table.columns.items() if (found := _whole(cells))}
    header = [name for name in table.header if name in numbers]
    for total in header:
        rest = [name for name in header if name != total]
        for run in _runs(table.header, rest):
            if _adds_up(numbers, run, numbers[total]):
                return Counts(run, total, True)
    if run := _called_counts(header):
        return Counts(run, "", True)
    for run in _runs(table.header, header):
        first = sum(numbers[name][0] for name in run)
        if len(run) > 2 and _adds_up(numbers, run, [first] * len(numbers[run[0]])):
            return Counts(run, "", False)
    return None


_COUNTED = re.compile(r"(votes|counts|freq|n|num|number)[_ .-](?:of[_ .-])?(.+)", re.IGNORECASE)


def _called_counts(header: Sequence[str]) -> tuple[str, ...]:
    """Return columns with names such as votes_no and votes_yes, unless all end in numbers."""
    by_word: dict[str, dict[str, str]] = {}
    for name in header:
        if found := _COUNTED.fullmatch(name.strip()):
            by_word.setdefault(found[1].casefold(), {})[name] = found[2]
    for names in by_word.values():
        if len(names) > 2 and not all(map(str.isdigit, names.values())):
            return tuple(names)
    return ()


def counts_problem(found: Counts, source: str, *, form: str) -> Problem:
    if found.is_sure:
        why = "are called so" if not found.total else f"add up to {found.total!r} in every row"
        what = (
            f"The columns {some(found.classes)} {why}: they count the labels of each class, but do "
            "not say which coder gave which label."
        )
        remedy = "Give the individual labels, one row each: item, coder, label."
        return Problem(what, source, remedy, code="counts")
    what = "Every row holds whole numbers with the same sum: are these counts of labels, or labels?"
    remedy = (
        f"If they are labels of coders, use {Option('format', form)}. If they are counts, give the "
        "individual labels as item, coder, label: counts do not show which coder gave which label."
    )
    return Problem(what, source, remedy, code="counts-or-labels")


def cross_table(table: Table, item: str) -> list[Problem]:
    """Report a table whose columns are named after its rows, and that counts pairs of labels."""
    cells = {name: column for name, column in table.columns.items() if name != item}
    if not 1 < len(table) <= len(cells):
        return []
    rows = list(dict.fromkeys(map(str, table.columns[item])))
    parts = {name: f" {_APART.sub(' ', name)} " for name in (*cells, *rows)}
    of_rows = [{row for row in rows if parts[row] in parts[name]} for name in cells]
    if (
        not all(of_rows)
        or len(set().union(*of_rows)) < len(rows)
        or not all(map(_whole, cells.values()))
    ):
        return []
    what = (
        f"The columns are named after the rows ({some(rows)}) and hold whole numbers: a cross "
        "table counts labels, but does not say which item they belong to."
    )
    remedy = "Give the individual labels, one row each: item, coder, label."
    return [Problem(what, table.source, remedy, code="counts")]


def looks_like_counts(columns: Sequence[Sequence[object]]) -> bool:
    """Return True if cells could count coders: whole numbers with the same sum in each row."""
    if len(columns) < 2 or len(columns[0]) < 3:
        return False
    numbers = [found for cells in columns if (found := _whole(cells, len(cells)))]
    rows = set(zip(*numbers, strict=True))
    return len(numbers) == len(columns) and len(set(map(sum, rows))) == 1 and len(rows) > 1


_MEASURES = 20  # number of distinct values above which columns may be measurements


def measured(cells: Mapping[str, Sequence[object]], source: str, form: str) -> list[Problem]:
    """Report columns that look like measurements: on different scales, or with fractions."""
    none = {"", *NO_LABEL}
    if not cells or not all(all_numbers(distinct(column) - none) for column in cells.values()):
        return []
    filled = {
        name: [c for c in column if is_hashable(c) and c not in none]
        for name, column in cells.items()
    }
    if not all(len(column) >= _FEWEST for column in filled.values()):
        return []
    columns = {name: sorted(float(str(cell)) for cell in own) for name, own in filled.items()}
    numbers = [number for column in columns.values() for number in column]
    # if coders rate the same items, the ranges of most of their cells overlap
    most = {n: (c[len(c) // 10], c[-1 - len(c) // 10]) for n, c in columns.items()}
    low, high = min(most, key=lambda n: most[n][1]), max(most, key=lambda n: most[n][0])
    odd = [number for number in numbers if number * 4 % 1]
    if len(set(numbers)) <= _MEASURES:
        return []
    if most[low][1] < most[high][0]:
        ranges = [f"{name!r} {most[name][0]:g} to {most[name][1]:g}" for name in (low, high)]
        what = f"The columns hold numbers on different scales (mostly {' and '.join(ranges)})"
    elif 2 * len(odd) > len(numbers):
        what = f"Most cells hold numbers with fractions, such as {odd[0]:g}"
    else:
        return []
    what += ": they look like measurements or means, not like the labels of one coder per column."
    remedy = (
        f"If each column is a coder, use {Option('format', form)}. Otherwise, give the individual "
        "labels as item, coder, label: means do not show which coder gave which label."
    )
    return [Problem(what, source, remedy, code="measurements")]


def _runs(header: Sequence[str], names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return all runs of at least two adjacent columns, the longest first."""
    if len(names) > _COUNTED_AT_MOST:
        return []
    runs = [[*run] for is_one, run in groupby(header, {*names}.__contains__) if is_one]
    parts = [tuple(run[a:b]) for run in runs for b in range(len(run) + 1) for a in range(b - 1)]
    return sorted(parts, key=lambda part: -len(part))


def _adds_up(
    numbers: Mapping[str, Sequence[int]], run: Sequence[str], total: Sequence[int]
) -> bool:
    columns = [numbers[name] for name in run]
    if sum(column[0] for column in columns) != total[0]:
        return False
    rows = zip(*columns, strict=True)
    if not all(sum(row) == whole for row, whole in zip(rows, total, strict=True)):
        return False
    kinds = set(zip(*columns, strict=True))
    several = len(total) >= _FEWEST and len(kinds) > 1 and all(map(any, columns))
    return several and any(max(row) > 1 for row in kinds)


def _whole(cells: Sequence[object], most: int = _ROWS) -> list[int] | None:
    """Return the first `most` cells as integers, or None if any is not a whole number."""
    few = cells[:most]
    kinds = distinct(few)
    if not kinds or not all(isinstance(cell, str) and _WHOLE.fullmatch(cell) for cell in kinds):
        return None
    numbers = {cell: int(float(str(cell))) for cell in kinds}
    return [numbers[cell] for cell in few] if {*map(type, few)} == {str} else None
