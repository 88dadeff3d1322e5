"""Matrices without a header: rows are items, columns coders (K-Alpha, ReCal, MACE)."""

from __future__ import annotations

from collections import Counter

from annomodels.data.coding import natural_key
from annomodels.data.validation import all_numbers, at_rows, counted
from annomodels.errors import Option, Problem
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns, assemble, matched
from annomodels.io.tables.counts import Counts, counts_problem, looks_like_counts

NO_LABEL = frozenset({"NA", "#"})
_LOOKED_AT = 20_000  # rows that decide


def is_matrix(source: Source, options: Options) -> bool:
    """Whether the first row holds labels, not names of columns."""
    named = [*options.roles.values(), *options.extra.values(), options.coder_columns]
    if any(name is not None for name in (*named, source.columns)):
        return False
    rows = [record for record in source.rows.head(_LOOKED_AT) if any(record)]
    if not rows or len(rows[0]) < 2:
        return False
    first, rest = rows[0], rows[1:]
    if not first[0] and len({row[0] for row in rest}) == len(rest) > 1:
        return False  # an unnamed first column of items, as data frames write it
    skip = {"", *NO_LABEL, *options.missing}
    if all(cell in skip or all_numbers([cell]) for row in rows for cell in row):
        return True
    labels = {cell for row in rest for cell in row} - {""}
    own = [cell for cell in first if cell not in ("", *options.missing)]
    if not own or len(rest) < 2 or not set(own) <= labels:
        return False
    # Coders share labels; the columns of a long table without a header do not.
    columns = [{row[j] for row in rows if j < len(row)} - {""} for j in range(len(first))]
    times = Counter(cell for column in columns for cell in column)
    return all(any(times[cell] > 1 for cell in column) for column in columns if column)


def read_matrix(source: Source, options: Options) -> Columns:
    """Columns of a matrix; items and coders get numbers, blank lines are items without a label."""
    records, lines = source.rows.rows, source.rows.lines
    filled = [record for record in records if any(record)]
    if not filled:
        what = "There are no rows."
        return Columns(problems=[Problem(what, source.name, "Give rows of labels.")])
    if any(value is not None for value in (*options.roles.values(), *options.extra.values())):
        what = "A matrix without a header has no column names."
        remedy = (
            f"Leave out {Option('item')}, {Option('coder')}, {Option('label')}, "
            f"{Option('gold')}, {Option('group')} and {Option('text')}, or add a header."
        )
        return Columns(problems=[Problem(what, source.name, remedy)])
    width = len(filled[0])
    ragged = [n for n, record in enumerate(records) if any(record) and len(record) != width]
    if ragged:
        what = f"{counted(len(ragged), 'row')} without the {width} cells of the first row."
        where = at_rows(source.name, [lines[n] for n in ragged])
        return Columns(problems=[Problem(what, where, "Leave cells without a label empty.")])
    if not options.forced:
        problem = _other_shape(filled, source.name)
        if problem is not None:
            return Columns(problems=[problem])
    numeric = all(all_numbers([c]) for r in filled for c in r if c and c not in NO_LABEL)
    columns = assemble(
        {
            "item": [str(n) for n in range(1, len(records) + 1) for _ in range(width)],
            "coder": [str(j) for _ in records for j in range(1, width + 1)],
            "label": [c for r in records for c in (r if any(r) else [""] * width)],
        },
        [row for row in lines for _ in range(width)],
        source.name,
        {},
        lambda cell: options.is_skip(cell) or (numeric and cell in NO_LABEL),
    )
    note = "Read as a matrix without a header: rows are items, columns are coders, both numbered."
    columns.notes = [note, *columns.notes]
    return columns


def _other_shape(rows: list[list[str]], source: str) -> Problem | None:
    columns = list(zip(*rows, strict=True))
    if looks_like_counts(columns):
        return counts_problem(Counts((), "", False), source, form="matrix")
    names = [str(n) for n in range(len(rows[0]) + 1)]
    if len(rows[0]) > 2 and rows[0] in (names[1:], names[:-1]):
        what = f"The first row ({', '.join(rows[0][:6])}) could be labels or names of coders."
        remedy = (
            f"If they are labels, say {Option('format', 'matrix')}; if they are names, "
            "put a first column with the items before them."
        )
        return Problem(what, f"{source}, row 1", remedy)
    pairs = set(zip(columns[0], columns[1], strict=True))
    sizes = [len(set(column)) for column in columns]
    filled = not any(cell in ("", *NO_LABEL) for pair in pairs for cell in pair)
    triples = len(rows) >= 6 and len(columns) == 3 and len(pairs) == len(rows)
    if filled and triples and sizes[2] <= sizes[0]:
        shown = ", ".join(sorted(set(columns[2]), key=natural_key)[:3])
        what = f"This looks like a long table without a header (labels {shown})."
        remedy = (
            f"Name the columns in their order: {Option('columns', ['item', 'coder', 'label'])}; "
            f"or say {Option('format', 'matrix')} if the "
            "rows are items and the columns coders."
        )
        return Problem(what, source, remedy)
    return None


MOST = 20_000_000  # judgements


def is_grouped(source: Source, options: Options) -> bool:
    """Whether the last column is ``n`` with whole numbers, and the others share their labels."""
    if source.header[-1:] != ("n",) or options.coder_columns:
        return False
    header = source.table.header
    if len(header) < 3 or header[-1] != "n" or matched(header)["item"]:
        return False
    if options.item or options.coder or options.label:
        return False
    *coders, counts = source.table.columns.values()
    if any(isinstance(cell, (list, dict)) for cells in (*coders, counts) for cell in cells):
        return False
    if not set(coders[0]) <= {cell for cells in coders[1:] for cell in cells}:
        return False  # the first column names items, so n is something else
    return all(isinstance(n, str) and n.isascii() and n.isdigit() for n in counts)


def read_grouped(found: Records) -> None:
    """Columns of patterns written out; items are named by row and number."""
    table = found.table
    coders = table.header[:-1]
    if "n" not in table.columns or not len(coders):
        found.problem("There is no column n after the coders.", "Give one column for each coder.")
        return
    counts = [str(count) for count in table.columns["n"]]
    if any(not count.isdigit() or len(count) > 9 for count in counts):
        found.problem("The column n holds cells that are not counts.", "Give whole numbers.")
        return
    if sum(map(int, counts)) * len(coders) > MOST:
        found.problem(f"It means more than {MOST:,} judgements.", "Give a part of it.")
        return
    for row, cells in table.records():
        for number in range(1, int(str(cells["n"])) + 1):
            for coder in coders:
                found.add(f"{row}.{number}", coder, "label", cells[coder], row)
    found.note("Read as patterns with counts: each row means n items.")
