"""Wide tables: one row for each item, one column for each coder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from annomodels.data.validation import LONGEST_LABEL, MANY_LABELS, all_numbers, some
from annomodels.errors import Option, Problem
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns, choose, matched, named_column
from annomodels.io.tables.counts import counts_in, counts_problem
from annomodels.io.tables.long import GOLD_WORDS, by_value, melted, unfit
from annomodels.io.tables.questions import are_times
from annomodels.io.tables.table import Table
from annomodels.io.tables.variables import Grid, grid_of, several

# columns that are made of the labels of coders
DERIVED_WORDS = (
    *("consensus", "final", "final_label", "final label", "majority", "majority_label"),
    *("majority label", "majority_vote", "adjudicated", "adjudication", "aggregated", "mode"),
)
BOXES = {"0", "1", "true", "false", "yes", "no", "x"}
# what columns with a box for each question are called after, and no coder is
_ASKED = re.compile(
    r"(is|has|label|class)?_?(severe_)?(toxic(ity)?|obscen(e|ity)|insult(ing)?|threat(ening)?|"
    r"hate(ful|_speech)?|identity_(hate|attack)|offen[sc]ive(ness)?|profan(e|ity)|abus(e|ive)|"
    r"sexual(ly)?(_explicit)?|violen(t|ce)|spam|sarcas(m|tic)|iron(y|ic)|humou?r(ous)?|"
    r"anger|angry|disgust(ed)?|fear|joy|sad(ness)?|surprise|trust|anticipation|love|optimism|"
    r"positive|negative|neutral|relevan(t|ce)|harm(ful)?|helpful(ness)?|fluen(t|cy)|"
    r"coheren(t|ce)|factual(ity)?|correct(ness)?|grammatical(ity)?|readab(le|ility)|clarity|"
    r"consisten(t|cy)|safety|quality|racis(m|t)|sexis(m|t)|misogyn(y|ous))",
    re.IGNORECASE,
)
TEXT_WORDS = ("text", "sentence", "comment", "comments", "document", "doc", "group", "batch")


def is_wide(source: Source, options: Options) -> bool:
    """Whether the first column names each item once and the other columns share their labels."""
    if options.coder_columns is not None:
        return True
    if options.coder is not None or options.label is not None:
        return False
    table = source.table
    hits = matched(table.header)
    if hits["coder"] or hits["label"] or len(table.header) < 3 or not len(table):
        return False
    if any(isinstance(cell, (list, dict)) for cells in table.columns.values() for cell in cells):
        return False
    items = table.columns[options.item if options.item in table.columns else table.header[0]]
    return _distinct(items) == len(items)


def read_wide(source: Source, options: Options) -> Columns:
    """Columns of a wide table; a cell without a label is a skip."""
    table, asked = source.table, options.question_column
    if not table.columns:
        return Columns(problems=table.problems)
    if asked is not None and not table.problems:
        if wrong := named_column(table.header, asked, "question_column", table.source):
            return Columns(problems=wrong)
        rest = replace(options, question=None, question_column=None, every=False, aside=(asked,))
        return by_value(table, asked, options, lambda own: read_wide(Source.of_table(own), rest))
    item = options.item if options.item is not None else table.header[0]
    problems = [*table.problems, *named_column(table.header, item, "item", table.source)]
    for role, name in options.extra.items():
        problems += named_column(table.header, name, role, table.source)
    grid = _grid(table, options, item)
    for role in ("coder", "label", "question"):
        if getattr(options, role) is not None and not (role == "question" and grid):
            what = f"A wide table has no {role} column: each further column is a coder."
            remedy = f"Leave out {Option(role)}, or say {Option('format', 'long')}."
            problems.append(Problem(what, table.source, remedy))
    coders = {name: name for name in _coders(table, options, item)}
    names = {} if grid is None else _named_beside(table, grid)
    by_variable = grid is not None and bool(names or options.every or options.question is not None)
    if grid is not None and grid.apart and not by_variable and not options.forced:
        problems.append(several(grid, table.source))
    for name in (name for name in coders if name not in table.columns):
        problems += named_column(table.header, name, "coder", table.source)
    if not coders:
        what = "There is no column for a coder."
        problems.append(Problem(what, table.source, "Give one column for each coder."))
    if problems:
        return Columns(problems=list(dict.fromkeys(problems)))
    if grid is not None and by_variable:
        return _by_variable(table, grid, item, options, names)
    if options.coder_columns is None:
        if options.item is None and are_times(table.columns[item]):
            return Columns(problems=[_survey(table, item)])
        counts = None if options.forced else counts_in(table, list(coders))
        if counts is not None:
            return Columns(problems=[counts_problem(counts, table.source, form="wide")])
        if problems := _questions(table, list(coders), options):
            return Columns(problems=problems)
        if problems := _not_coders(table, list(coders), options):
            return Columns(problems=problems)
    columns = _melted(table, item, coders, options)
    if grid is not None and options.coder_columns is None:
        first = next(iter(grid.columns))
        columns.notes.append(
            f"Every column is read as a coder. Are they {grid}? Then choose one with "
            f"{Option('question', first)}."
        )
    return columns


def _by_variable(
    table: Table, grid: Grid, item: str, options: Options, names: dict[str, str]
) -> Columns:
    """Columns of the variable that was asked for, or of each."""
    whose = {
        name: {column: names.get(coder, coder) for coder, column in row.items()}
        for name, row in grid.columns.items()
        if not names or names != row
    }
    parts = {
        name: partial(_melted, table, item, own, options, named=bool(names))
        for name, own in whose.items()
    }
    left_out = unfit(parts) if options.every else {}
    return choose(parts, dict.fromkeys(parts, 1), left_out, options, table.source)


def _named_beside(table: Table, grid: Grid) -> dict[str, str]:
    """Column that names the coder of each place, where columns such as rater1 stand by label1."""
    known = [name for name in grid.columns if matched([name])["coder"]]
    if len(known) != 1 or len(grid.columns) < 2:
        return {}
    names = dict(grid.columns[known[0]])
    cells = [set(map(str, table.columns[column])) - {""} for column in names.values()]
    others = [row for name, row in grid.columns.items() if name != known[0]]
    labels = {str(cell) for row in others for name in row.values() for cell in table.columns[name]}
    return names if all(cells) and labels.isdisjoint(set().union(*cells)) else {}


def _grid(table: Table, options: Options, item: str) -> Grid | None:
    """Variables and coders that the names of the columns are made of."""
    if options.coder_columns is not None:
        return None
    names = [name for name in _coders(table, options, item) if name in table.columns]
    return grid_of(
        {name: {repr(c) for c in table.columns[name] if not _skip(c, options)} for name in names}
    )


def _coders(table: Table, options: Options, item: str) -> list[str]:
    if options.coder_columns is not None:
        return list(dict.fromkeys(options.coder_columns))
    return [name for name in table.header if name != item and name not in options.taken]


def _melted(
    table: Table, item: str, coders: dict[str, str], options: Options, *, named: bool = False
) -> Columns:
    """One row for each cell; `coders` names the coder of each column, or the column of names."""
    names = {"item": item, **options.extra}
    columns = melted(table, names, coders, options, named=named)
    used = {item, *coders, *(coders.values() if named else ()), *options.taken}
    left = [name for name in table.header if name not in used]
    if left and not options.every:
        columns.notes.append(f"{'Column' if len(left) == 1 else 'Columns'} not used: {some(left)}.")
    return columns


def _questions(table: Table, coders: Sequence[str], options: Options) -> list[Problem]:
    """Columns of boxes that are called after what was asked: not coders, but questions."""
    asked = [name for name in coders if _ASKED.fullmatch(re.sub(r"[ .-]+", "_", name.strip()))]
    cells = {str(cell).casefold() for name in asked for cell in table.columns[name]}
    if options.forced or len(asked) < 2 or not cells - {""} <= BOXES:
        return []
    what = (
        f"The columns {some(asked)} hold yes or no and are called after what was asked: they are "
        "questions, and no column names the coders."
    )
    remedy = (
        f"Add a column that names the coders, then choose the question: {Option('coder', ...)}, "
        f"{Option('question', asked[0])}. If these columns are coders: {Option('format', 'wide')}."
    )
    return [Problem(what, f"{table.source}, columns {some(asked)}", remedy)]


def _not_coders(table: Table, coders: Sequence[str], options: Options) -> list[Problem]:
    """Columns that are no coder by their name, their texts or because they share no label."""
    problems = []
    labels = {name: {c for c in table.columns[name] if not _skip(c, options)} for name in coders}
    times = Counter(label for given in labels.values() for label in given)
    filled = sum(bool(given) for given in labels.values())
    for name in coders:
        plain = name.strip().casefold()
        shares = any(times[label] > 1 for label in labels[name])
        why = ""
        if plain in (*GOLD_WORDS, *DERIVED_WORDS):
            why = f"Is column {name!r} a coder or the known truth?"
        elif plain in TEXT_WORDS and not shares:
            why = f"Column {name!r} looks like information about the items, not a coder."
        elif not options.forced and _is_text(labels[name], len(table)):
            why = f"Column {name!r} looks like texts, not a coder's labels."
        elif not options.forced and labels[name] and filled > 1 and not shares:
            why = f"Column {name!r} shares no label with the other columns; is it a coder?"
        if why:
            remedy = (
                f"Say {Option('gold', name)}, {Option('text', name)} or {Option('group', name)} if "
                f"it is that; else list the coders with {Option('coder_columns', [...])} or say "
                f"{Option('format', 'wide')}; or name {Option('item')}, {Option('coder')} and "
                f"{Option('label')} if the table has one row for each label."
            )
            problems.append(Problem(why, f"{table.source}, column {name!r}", remedy))
    if len(problems) > 2:  # the columns do not look like coders at all
        what = (
            "This is neither a table with columns item, coder, label nor one with a column for "
            "each coder."
        )
        where = f"{table.source}, columns {some(table.header)}"
        remedy = (
            f"Name the columns with {Option('item', ...)}, {Option('coder', ...)}, "
            f"{Option('label', ...)}, or say {Option('format', 'wide')}."
        )
        return [Problem(what, where, remedy)]
    return problems


def _survey(table: Table, item: str) -> Problem:
    what = (
        f"Every row begins with a time ({item!r}), so this looks like a survey with a row for each "
        "respondent, and not like a table with a row for each item."
    )
    remedy = (
        "A survey of opinions has no agreement of coders. If its columns are items, give a table "
        "with item (the column), coder (the respondent), label; if its rows are, name the column "
        f"of the items with {Option('item', ...)} and those of the coders with "
        f"{Option('coder_columns', [...])}."
    )
    return Problem(what, table.source, remedy)


def _is_text(labels: set[Any], size: int) -> bool:
    if any(isinstance(label, str) and len(label) > LONGEST_LABEL for label in labels):
        return True
    return len(labels) > MANY_LABELS and len(labels) > size / 2 and not all_numbers(labels)


def _skip(cell: Any, options: Options) -> bool:
    return isinstance(cell, (list, dict)) or options.is_skip(cell)


def _distinct(cells: Sequence[Any]) -> int:
    return len({repr(cell) for cell in cells})
