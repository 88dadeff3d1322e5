"""Plain tables: one row per label (long) or one column per coder (wide)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from annomodels.data.validation import (
    LONGEST_LABEL,
    MANY_LABELS,
    all_numbers,
    check_hashable,
    counted,
    some,
)
from annomodels.errors import Option, Problem
from annomodels.io.border import NoLabels
from annomodels.io.records import Records
from annomodels.io.roles import of_things
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import (
    SHOWN,
    Columns,
    assemble,
    find_roles,
    known_column,
    matched,
    named_column,
    text_of_items,
    without_label,
)
from annomodels.io.tables.grids import CUTS, Grid, are_alike, grid_of, is_coder, is_time
from annomodels.io.tables.keys import parts_of
from annomodels.io.tables.matrix import counts_in, counts_problem, cross_table, measured
from annomodels.io.tables.nested import lists_labels
from annomodels.io.tables.questions import (
    are_times,
    concluded,
    is_mean,
    no_coders,
    question_column,
    truth_as_label,
    unsuitable,
)
from annomodels.io.tables.table import NAMELESS, Table, distinct, name_all
from annomodels.io.words import (
    BOXES,
    CODER,
    OF_ITEMS,
    NamedColumn,
    is_asked,
    is_called,
    is_derived,
    is_truth,
)


def read_long(found: Records) -> None:
    """Read a long table; each candidate label column is a question."""
    options, table = found.options, found.taken(found.source.table, used=())
    asked, problems = question_column(
        table.header,
        (options.item, options.coder, options.label, *options.taken),
        options.question,
        table.source,
        options.question_column,
    )
    texts: list[str] = []
    if asked is not None and options.question_column is None:
        is_named = options.question in table.columns[asked]
        if not is_named and is_text_of_items(table.columns, asked, options.item):
            texts, asked = [asked], None
    if asked is not None:
        options = replace(options, aside=(*options.aside, asked))
    taken = [name for name in options.taken if name != options.item]
    roles, free = _variables(table, options, [*taken, *texts], by_row=asked is not None)
    names, wrong = find_roles(table.header, roles, table.source, taken, table.coder)
    for role, name in options.extra.items():
        wrong += named_column(table.header, name, role, table.source)
        names[role] = name
    used = {*names.values(), *options.taken, options.question or ""}
    left = set(table.header) - used
    doubled = table.doubled(left if wrong and left <= table.twice.keys() else used)
    if table.problems or wrong or doubled:
        if no_header(table):
            found.problems.append(_without_names(table, several=options.several))
        elif table.header:
            found.problems += [*doubled, *wrong]
        return

    text = None if "text" in names else text_of_items(table.columns, names["item"], used)

    def read(own: Table, label: str) -> Columns:
        said = {**names, "label": label}
        shown = {} if text in (None, label) else {"text": text}
        own, notes = _without_repeats(own, said)
        columns = melted(own, {**said, **shown}, {label: said["coder"]}, options, named=True)
        columns.notes = [*notes, *columns.notes, *(SHOWN.format(repr(n)) for n in shown.values())]
        if options.label is None and "truth" not in names and not options.every:
            columns.problems += truth_as_label(own, said, options.taken)
        if columns.skips:
            columns.notes.append(without_label(columns.skips, len(columns.labels)))
        return columns

    label = names["label"]
    is_known = label in matched([name for name in table.header if name not in taken])["label"]
    if options.question == label:
        found.parts = {label: partial(read, table, label)}
    elif asked is not None:
        by_value(found, table, asked, lambda own: read(own, label))
    elif problems and (is_known or not free):
        found.problems += problems
    else:
        found.parts = {name: partial(read, table, name) for name in free}
        found.default = partial(read, table, label) if is_known or not free else None
        found.unfit = partial(unsuitable, fewest=1)  # nobody named these columns
        found.otherwise = f"Or name it with {Option('label')}."


def _as_set(cell: object) -> object:
    is_list = isinstance(cell, list) and all(isinstance(label, Hashable) for label in cell)
    return frozenset(cell) if is_list and isinstance(cell, list) else cell


def melted(
    table: Table,
    names: Mapping[str, str],
    labels: Mapping[str, str],
    options: Options,
    *,
    named: bool = False,
    note: str = "",
) -> Columns:
    """Return one row per cell of the label columns; a wide table has one such column per coder.

    `labels` maps each label column to its coder or, if `named`, to its column of coders.
    """

    def row_by_row(names: Collection[str]) -> Sequence[object]:
        every = [table.columns[name] for name in names]
        return every[0] if len(every) == 1 else list(chain.from_iterable(zip(*every, strict=True)))

    cells = {role: table.columns[name] for role, name in names.items()}
    cells["coder"] = row_by_row(labels.values()) if named else [*labels.values()]
    cells["label"] = row_by_row(labels)
    if options.sets:
        cells["label"] = [_as_set(cell) for cell in cells["label"]]
    columns = assemble(cells, table.rows, table.source, names, options.is_skip)
    columns.cells = lambda: table.columns
    used = {*names.values(), *labels, *(labels.values() if named else ()), *options.taken}
    has_truth = "truth" in names or "coder" not in names
    columns.alone = [*unused_columns(table.header, used, has_truth), *([note] if note else [])]
    return columns


def by_value(found: Records, table: Table, name: str, read: Callable[[Table], Columns]) -> None:
    found.problems += check_hashable(table.columns[name], "question", table.source, table.rows)
    if found.problems:
        return
    rows: dict[str, list[int]] = {}
    for n, cell in enumerate(table.columns[name]):
        rows.setdefault(str(cell), []).append(n)
    for question in sorted(rows):
        found.parts[question] = lambda own=rows[question]: read(table.take(own))  # type: ignore[misc]
    found.where = f"{table.source}, column {name!r}"
    found.unfit = lambda _, *cells: unsuitable("", *cells)


def _variables(
    table: Table, options: Options, taken: Sequence[str], *, by_row: bool
) -> tuple[dict[str, str | None], list[str]]:
    """Return the named roles, and the candidate label columns if none is named."""
    roles = dict(options.roles)
    header = [name for name in table.header if name not in taken]
    known = matched(header)
    named = [roles[role] or (known[role] + [""])[0] for role in ("item", "coder")]
    free = [n for n in header if n not in named and n.strip() and n not in table.twice]
    if roles["label"] is not None or options.question_column or by_row or table.problems:
        return roles, []
    if len(free) < 2 or not all(name in table.header for name in named):
        return roles, []
    if options.question in free:
        return {**roles, "label": options.question}, []
    return {**roles, "label": (known["label"] or free)[0]}, free


def is_text_of_items(columns: Mapping[str, Sequence[Any]], name: str, item: str | None) -> bool:
    """Return True if a column 'question' holds a text of each item, not what a row answers."""
    named = matched(list(columns))["item"] if item is None else [item]
    if len(named) != 1 or named[0] not in columns or named[0] == name:
        return False
    of_rows = zip(columns[named[0]], columns[name], strict=True)
    pairs = {(str(of), str(text)) for of, text in of_rows}
    items, texts = {of for of, _ in pairs}, {text.strip() for _, text in pairs}
    worded = sum(" " in text for text in texts)
    return len(pairs) == len(items) and 2 * min(len(texts), worded) > len(items) > 1


def _without_repeats(table: Table, names: dict[str, str]) -> tuple[Table, list[str]]:
    """Drop rows that repeat an annotation ID with the same item, coder and label."""
    ids = ids_column(table.header, names.values())
    if ids is None:
        return table, []
    columns = [table.columns[ids], *(table.columns[names[role]] for role in ("item", "coder"))]
    seen: set[tuple[Any, ...]] = set()
    seen_ids: dict[Any, int] = {}
    keep: list[int] = []
    changed = 0
    for n, row in enumerate(zip(*columns, table.columns[names["label"]], strict=True)):
        key = tuple(map(repr, row))
        if not row[0] or key not in seen:
            keep.append(n)
            changed += bool(row[0]) and key[0] in seen_ids
        seen.add(key)
        seen_ids[key[0]] = n
    notes = []
    dropped = len(table) - len(keep)
    if dropped:
        notes.append(
            f"{counted(dropped, 'row')} dropped because they repeat an annotation id with the same "
            "item, coder and label."
        )
    if changed:
        notes.append(
            f"{counted(changed, 'row')} with an annotation id already used for another item, "
            "coder or label; all are kept."
        )
    return table.take(keep) if dropped else table, notes


def ids_column(header: Sequence[str], used: Collection[str]) -> str | None:
    """Return the column of annotation IDs; None if it is missing or has another role."""
    ids = known_column(header, ["annotation_id"])
    return None if ids in used else ids


def unused_columns(header: Sequence[str], used: Collection[str], gold: bool) -> list[str]:
    known = {*used, ids_column(header, ())}
    left = [name for name in header if name not in known]
    notes = [f"{'Column' if len(left) == 1 else 'Columns'} not used: {some(left)}."] if left else []
    if not gold:
        notes += [
            f"Column {name!r} may contain the true labels: use {Option('truth', name)} to use them."
            for name in left
            if is_truth(name)
        ]
    return notes


def no_header(table: Table) -> bool:
    """Return True if the first row looks like data: all cells but the first occur below it.

    If only some occur, the rest must match the length and digits of the cells below. A single
    cell of many words that occurs below is sufficient: columns are not named after their cells.
    So is a list, such as [1, 2], which is no name.
    """
    names = [name for name in table.header if name != table.coder]
    if not len(table) or not names or (is_named(names[0]) and len(names[0].split()) <= _NAME):
        return False
    known = {name: set(map(str, table.columns[name][:_HEAD])) for name in names}
    first, *rest = [(name, bool(name) and name in cells) for name, cells in known.items()]
    if any(occurs and len(name.split()) > _NAME for name, occurs in (first, *rest)):
        return True
    if any(map(_is_list, names)):
        return True
    if not all_numbers(names) and any(all_numbers([name]) for name in table.twice):
        return True
    if not any(occurs for _, occurs in rest):
        return False
    if all(occurs for _, occurs in rest):
        return True
    return all(occurs or _fits(name, known[name]) for name, occurs in (first, *rest))


def _is_list(name: str) -> bool:
    return name[:1] + name[-1:] == "[]" and "," in name


def _without_names(table: Table, *, several: bool) -> Problem:
    listed = any(map(_is_list, table.header))  # the list may be all labels of an item
    names = () if listed else _in_order(table, several=several)
    what = "The first row looks like data, not like names of columns."
    size = len(table.header) - (table.coder in table.header)
    size += sum(table.twice.values()) - len(table.twice)
    shown = names or (("item", "coder", "label") if size == 3 and not listed else ())
    remedy = f"{name_all(size, *shown)} Or add a row of column names above it."
    options = (("columns", names),) if names else ()
    return Problem(what, f"{table.source}, row 1", remedy, options=options, code="no-header")


def _in_order(table: Table, *, several: bool) -> tuple[str, ...]:
    """Return names for two or three columns without a header, or () if they are ambiguous."""
    columns = [
        NamedColumn(n, [n, *cells]) for n, cells in table.columns.items() if n != table.coder
    ]
    few = sorted(columns, key=lambda one: one.distinct)
    if several and len(few) == 2:  # one file per coder
        return ("item", "label") if few[1] is columns[0] else ("label", "item")
    if len(few) != 3 or table.twice or few[0].distinct == few[1].distinct:
        return ()
    coders = [one for one in few[1:] if one.has(CODER)]
    if len(coders) != 1 and few[1].distinct == few[2].distinct:
        return ()
    coder = coders[0] if len(coders) == 1 else few[1]
    roles = {few[0].name: "label", coder.name: "coder"}
    return tuple(roles.get(one.name, "item") for one in columns)


_HEAD = 20_000  # rows that are compared with the first row


def _fits(name: str, cells: Collection[str]) -> bool:
    """Return True if a name and most cells have the same length and contain digits."""
    alike = [cell for cell in cells if len(cell) == len(name) and any(map(str.isdigit, cell))]
    return any(map(str.isdigit, name)) and 2 * len(alike) > len(cells)


# -- wide tables -----------------------------------------------------------------------------------


_ROWS = "(row)"  # column of row numbers if each row is an item
_ENOUGH = 10  # minimum expected number of disagreements of a coder with unanimous others
_COPY = 0.95  # proportion of equal cells above which a column is a copy of another
_COMPARED = 12  # if there are more columns, only the last is compared with the others
_FEW = 9  # messages list fewer columns than this
_NAME = 3  # maximum number of words in the name of a coder; longer names are questions


def is_wide(source: Source, options: Options) -> bool:
    """Return True if coder columns are named, or if unique items have no coder or label column."""
    if options.coder_columns is not None:
        return True
    if options.coder is not None or options.label is not None:
        return False
    table = source.table
    hits = matched(table.header)
    if hits["coder"] or hits["label"] or len(table.header) < 3 or not len(table):
        return False
    if options.item is None and len(table) > 1 == len(source.sample):
        return False  # one object with named records of any kind
    if any(not {list, dict}.isdisjoint(map(type, cells)) for cells in table.columns.values()):
        return False
    items = table.columns[options.item if options.item in table.columns else table.header[0]]
    return len(set(map(repr, items))) == len(items)


def read_wide(found: Records) -> None:
    options, table = found.options, found.taken(found.source.table, used=())
    if not table.columns:
        return
    asked = options.question_column
    named = options.extra if options.item is None else {"item": options.item, **options.extra}
    for role, name in (named if asked is None else {"question_column": asked}).items():
        found.problems += named_column(table.header, name, role, table.source)
    if asked is not None:
        if not found.problems:
            rest = replace(options, question=None, question_column=None, aside=(asked,))
            by_value(found, table, asked, lambda own: _wide_alone(own, rest))
        return
    item = options.item if options.item is not None else _item_column(table, options)
    if item is None and options.several:
        found.problem(
            "No column names the items, and rows of several files are not matched by number.",
            f"Name the column of the items with {Option('item', ...)}, or add one to every file.",
            code="no-item-column",
        )
        return
    if item is None:
        found.note("No column names the items, so each row is an item.")
        numbers = list(map(str, range(1, len(table) + 1)))
        item, table = _ROWS, replace(table, columns={**table.columns, _ROWS: numbers})
    if options.item is None and options.coder_columns is None and are_times(table.columns[item]):
        found.problem(
            f"Every row begins with a time ({item!r}), so this looks like a survey with a row for "
            "each respondent, and not like a table with a row for each item.",
            no_coders(),
            code="survey",
        )
        return
    if options.coder_columns is None and not options.forced:
        found.problems += cross_table(table, item)
    free = [name for name in table.header if name != item and name not in options.taken]
    coders = free if options.coder_columns is None else list(dict.fromkeys(options.coder_columns))
    beside = [] if options.coder_columns is None else _naming(table.header, coders)
    grid = (
        None
        if options.coder_columns is not None and not beside
        else grid_of({n: _labels(table.columns.get(n, ()), options) for n in (*coders, *beside)})
    )
    if grid is not None and grid.aside:
        own = {name: table.columns[name] for row in grid.columns.values() for name in row.values()}
        said = options.coder_columns is not None or options.forced  # all of them are coders
        grid = None if said or measured(own, table.source, "wide") else grid
    if grid is not None:
        coders = [name for name in coders if name not in grid.aside]
        said = options.coder_columns is not None or options.forced
        found.problems += [] if said else _listing(table, grid)
    for role in ("coder", "label", "question"):
        if getattr(options, role) is not None and not (role == "question" and grid):
            found.problem(
                f"A wide table has no {role} column: each further column is a coder.",
                f"Leave out {Option(role)}, or use {Option('format', 'long')}.",
                code="no-such-role",
            )
    for name in (name for name in coders if name not in table.columns):
        found.problems += named_column(found.source.header, name, "coder", table.source)
    if both := [name for name in parts_of(options.item) if name in coders]:
        what = f"Column {both[0]!r} is named for the items and as a coder."
        found.problem(what, "Name a different column for each.", code="two-roles")
    doubled = table.doubled({item, *coders, *beside, *options.taken})
    if doubled or any(map(_is_list, table.header)):
        bare = no_header(found.source.table)
        found.problems += [_without_names(table, several=False)] if bare else doubled
    if not coders:
        found.problem("No column is left for a coder.", "Give one column for each coder.")
    names = {} if grid is None else _named_beside(table, grid)
    grid = None if beside and not names else grid
    if grid is not None:
        conclusions = _conclusions(table, grid, options)
        about = {"item": item, **options.extra}
        found.otherwise = (
            f"If all columns are coders, name them with {Option('coder_columns', [...])}."
        )
        found.parts = {
            name: partial(
                melted, table, about, {column: names.get(who, who) for who, column in row.items()},
                options, named=bool(names), note=conclusions.get(name, ""),
            )
            for name, row in grid.columns.items()
            if not names or names != row
        }  # fmt: skip
    if grid is None or not (names or options.question or (grid.apart and not options.forced)):
        found.default = partial(_as_coders, table, item, coders, options, grid)


def _listing(table: Table, grid: Grid) -> list[Problem]:
    """Report columns of a variable whose cells each list the labels of several coders."""
    for row in grid.columns.values():
        listed = [name for name in row.values() if lists_labels(table.columns[name])]
        if len(listed) == len(row):
            one = str(table.columns[listed[0]][0])
            what = f"The cells of {some(listed)} list several labels, such as {one!r}."
            remedy = (
                f"If each place in a cell belongs to one coder, use {Option('label', listed[0])}."
            )
            said = (("label", listed[0]),)
            return [NoLabels(what, table.source, remedy, options=said, code="lists-of-labels")]
    return []


def _conclusions(table: Table, grid: Grid, options: Options) -> dict[str, str]:
    """Return a note per column that has a question's name and the consensus of its coders."""
    notes = {}
    for name in set(grid.aside).intersection(grid.columns):
        coded = [table.columns[column] for column in grid.columns[name].values()]
        if found := concluded(table.columns[name], coded, options.is_skip):
            notes[name] = (
                f"Column {name!r} is not read as a coder: it holds the label that the coders agree "
                f"on, in all {counted(found[0], 'row')} where they agree. {Option('truth', name)} "
                "uses it as known truth."
            )
    return notes


def _item_column(table: Table, options: Options) -> str | None:
    coders = options.coder_columns or table.header
    taken = {*options.aside, *(options.coder_columns or ()), *_naming(table.header, coders)}
    cells = {name: distinct(column) for name, column in table.columns.items()}
    times = Counter(cell for name in coders for cell in cells.get(name, ()))

    def is_labels(name: str) -> bool:
        elsewhere = [cell for cell in cells[name] if times[cell] > (name in coders)]
        return 2 * len(elsewhere) > len(cells[name])

    size, first, known = len(table), table.header[0], matched(table.header)["item"]
    several = options.coder_columns is None or 3 * len(cells[first]) > size
    is_name = first in known or is_called(first, "no_labels")
    is_name = is_name or (several and not is_labels(first))
    is_name = len(cells[first]) == size or (is_name and first not in options.extra.values())
    if first not in taken and is_name:
        return first
    free = [name for name in (*known, *table.header) if name not in (*taken, *options.taken)]
    unique = (name for name in free if len(cells[name]) == size and "" not in cells[name])
    return next((name for name in unique if not is_labels(name)), None)


def is_named(name: str) -> bool:
    is_item = bool(matched([name])["item"]) or name.strip().casefold() in OF_ITEMS
    return is_item or is_called(name, "no_labels")


def _wide_alone(table: Table, options: Options) -> Columns:
    found = Records(Source.of_table(table), options)
    read_wide(found)
    return found.chosen()


def _as_coders(
    table: Table, item: str, coders: Sequence[str], options: Options, grid: Grid | None
) -> Columns:
    if options.coder_columns is None:
        counts = None if options.forced else counts_in(table, coders)
        if counts is not None:
            return Columns(problems=[counts_problem(counts, table.source, form="wide")])
        own = {} if options.forced else {name: table.columns[name] for name in coders}
        problems = measured(own, table.source, "wide") or _questions(table, coders, options)
        if problems := problems or _not_coders(table, coders, options):
            return Columns(problems=problems)
    about = {"item": item, **options.extra}
    columns = melted(table, about, {name: name for name in coders}, options)
    if grid is not None:
        first = next(iter(grid.columns))
        columns.alone.append(
            f"Every column is read as a coder. Are they {grid}? Then choose one with "
            f"{Option('question', first)}."
        )
    elif are_alike(coders, is_time):
        columns.alone.append(
            f"Columns {some(coders)} are named after times, and each is read as a coder."
        )
    return columns


def _naming(header: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return columns that may name the coders of others, such as annotator1 for label1."""
    for cut in CUTS:
        ends = {found[2] for name in columns if (found := cut.fullmatch(name))}
        pairs = [(name, found) for name in header if (found := cut.fullmatch(name))]
        if names := [n for n, m in pairs if m[2] in ends and matched([m[1]])["coder"]]:
            return [name for name in names if name not in columns]
    return []


def _named_beside(table: Table, grid: Grid) -> dict[str, str]:
    """Return the columns of coder names by their ending, such as rater1 for label1."""
    known = [name for name in grid.columns if matched([name])["coder"]]
    if len(known) != 1 or len(grid.columns) < 2:
        return {}
    names = dict(grid.columns[known[0]])
    cells = [set(map(str, table.columns[column])) - {""} for column in names.values()]
    others = [row for name, row in grid.columns.items() if name != known[0]]
    labels = {str(cell) for row in others for name in row.values() for cell in table.columns[name]}
    return names if all(cells) and labels.isdisjoint(set().union(*cells)) else {}


def _questions(table: Table, coders: Sequence[str], options: Options) -> list[Problem]:
    """Report columns named after questions, if they are the majority or hold check boxes."""
    if are_alike(coders, is_coder):
        return []
    things = of_things(coders)
    asked = [name for name in coders if is_asked(name) or name in things]
    sure = 2 * len(asked) > len(coders)
    phrases = [name for name in coders if len(re.findall(r"\w+", name)) > _NAME]
    if 2 * len(phrases) > len(coders):
        asked = list(dict.fromkeys([*asked, *phrases]))
    cells = {str(cell).casefold() for name in asked for cell in table.columns[name]}
    if options.forced or len(asked) < 2 or not (sure or cells - {""} <= BOXES):
        return []
    what = (
        f"The columns {some(asked)} are named after what was asked: they are questions, and no "
        "column names the coders."
    )
    remedy = (
        f"Add a column that names the coders, then choose the question: {Option('coder', ...)}, "
        f"{Option('question', asked[0])}. If these columns are coders: {Option('format', 'wide')}."
    )
    return [
        Problem(what, f"{table.source}, columns {some(asked)}", remedy, code="questions-not-coders")
    ]


def _not_coders(table: Table, coders: Sequence[str], options: Options) -> list[Problem]:
    labels = {name: _labels(table.columns[name], options) for name in coders}
    times = Counter(label for given in labels.values() for label in given)
    filled = sum(bool(given) for given in labels.values())
    odd: dict[str, str] = {}
    gold = [name for name in coders if is_truth(name) or is_derived(name)]
    odd |= {name: f"Is column {name!r} a coder or the known truth?" for name in gold}
    sharing = {name for name in coders if any(times[label] > 1 for label in labels[name])}
    if not gold and (made := _conclusion(table, coders, sharing, options)):
        gold, odd = [made[0]], dict([made])
    for name in (name for name in coders if name not in gold):
        shares = name in sharing
        if name.startswith(NAMELESS):
            odd[name] = f"{name.strip('()').capitalize()} has cells but no name; is it a coder?"
        elif name.strip().casefold() in OF_ITEMS and not shares:
            odd[name] = f"Column {name!r} looks like information about the items, not a coder."
        elif not options.forced and _is_text(labels[name], len(table)):
            odd[name] = f"Column {name!r} looks like texts, not a coder's labels."
        elif not options.forced and labels[name] and filled > 1 and not shares:
            odd[name] = f"Column {name!r} shares no label with the other columns; is it a coder?"
    if not odd:
        return []
    what = " ".join(odd.values())
    all_of_them = Option("coder_columns", [...]) if options.forced else Option("format", "wide")
    if len(odd) > 2:  # the columns do not look like coders at all
        what = (
            "This is neither a table with columns item, coder, label nor one with a column for "
            "each coder."
        )
        where = f"{table.source}, columns {some(table.header)}"
        remedy = (
            f"Name the columns with {Option('item', ...)}, {Option('coder', ...)}, "
            f"{Option('label', ...)}, or use {all_of_them}."
        )
        return [NoLabels(what, where, remedy, code="no-columns")]
    rest = [name for name in coders if name not in odd]
    name, listed = next(iter(odd)), rest if 1 < len(rest) < _FEW else [...]
    remedy = (
        f"If the others are coders, use {Option('coder_columns', listed)}; with "
        f"{Option('truth', name)}, {Option('text', name)} or {Option('group', name)}, {name!r} is "
        f"used accordingly. If it is a coder too, use {all_of_them}. If the table has one row for "
        f"each label, name {Option('item')}, {Option('coder')} and {Option('label')}."
    )
    said = tuple(("truth", name) for name in gold[:1])
    column = "column" if len(odd) == 1 else "columns"
    return [
        NoLabels(
            what, f"{table.source}, {column} {some(odd)}", remedy, options=said, code="not-a-coder"
        )
    ]


def _conclusion(
    table: Table, coders: Sequence[str], sharing: set[str], options: Options
) -> tuple[str, str] | None:
    """Find a column derived from the others, starting with the last, and ask about it."""
    if len(coders) < 3 or options.forced:
        return None
    for name in reversed(coders if len(coders) <= _COMPARED else coders[-1:]):
        columns = [table.columns[other] for other in coders if other != name]
        if is_mean(table.columns[name], columns):
            return name, f"Column {name!r} holds the mean of the others: it is not a coder."
        if name not in sharing:
            continue
        found = concluded(table.columns[name], columns, options.is_skip)
        if found is None or found[2] > _COPY * (found[0] + found[1]):
            continue
        agreed, apart, _ = found
        if not apart:
            return None  # without disagreement, every column looks like a consensus
        is_stem = all(other.startswith(name) for other in coders)  # claim, claim_a and claim_b
        if is_stem or agreed * apart >= _ENOUGH * len(columns) * (agreed + apart):
            return name, (
                f"Column {name!r} holds the label that the others agree on in all {agreed:,} rows "
                f"where they agree, but they disagree in {apart:,} rows: is it a coder, or their "
                "consensus?"
            )
    return None


def _is_text(labels: set[object], size: int) -> bool:
    if any(isinstance(label, str) and len(label) > LONGEST_LABEL for label in labels):
        return True
    return len(labels) > MANY_LABELS and len(labels) > size / 2 and not all_numbers(labels)


def _labels(cells: Sequence[object], options: Options) -> set[object]:
    """Return the distinct labels of a column without lists and objects."""
    found = distinct(cells) - {""}
    return {label for label in found if not options.is_skip(label)} if options.missing else found
