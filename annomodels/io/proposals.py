"""After an error, try options until the file is read, and propose these options."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.columns import percent
from annomodels.data.validation import all_numbers, counted, some
from annomodels.errors import AnnotationError, Option, Problem
from annomodels.io.border import NoLabels
from annomodels.io.many import files_in
from annomodels.io.objects import is_list_of, keys_of, paths_in
from annomodels.io.roles import (
    GAIN,
    ITEMS,
    MANY,
    ROWS,
    SURE_GAIN,
    Said,
    agree,
    classes,
    coders_in,
    gain,
    keys_in,
    long,
    readings,
    structure,
    wide,
)
from annomodels.io.source import Source
from annomodels.io.span_builder import Spans
from annomodels.io.tables.columns import matched, no_labels
from annomodels.io.tables.guard import NotAsItSeems
from annomodels.io.tables.keys import parts_of, said_key
from annomodels.io.tables.matrix import counts_in
from annomodels.io.tables.nested import lists_labels, places_of
from annomodels.io.tables.plain import no_header
from annomodels.io.tables.questions import SHARED
from annomodels.io.tables.span_table import places_in
from annomodels.io.tables.table import Table
from annomodels.io.tables.workbooks import EVERY_SHEET
from annomodels.io.tools.refused import Refused
from annomodels.io.words import (
    AGREEMENT,
    CODER,
    JUDGES,
    LABEL,
    STATISTICS,
    SUMS,
    SYSTEM,
    WRITTEN,
    NamedColumn,
    is_asked,
    is_derived,
)

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations

TRIES = 16  # maximum number of options tried after an error
LARGEST = 20_000_000  # bytes of a file above which nothing is tried
_SAID = {"coder", "label", "coder_columns", "format"}  # options on the roles of columns
_OPENING = {"sheet", "skip_rows", "encoding"}  # options on opening the file
_MANY_COLUMNS = 50  # minimum columns for a table with few rows to look transposed
_LOOKED_INTO = 50  # records searched for coders at any depth
_FEWEST = 5  # minimum rows to report missing coder names
_COMPARED = 20  # maximum columns compared
_CLASSES = 50  # maximum distinct labels of a column with an unknown name
_OTHERS = 1.05  # labels per coder below which every row seems to have another coder
_TOLD = 20  # minimum labels to propose codes such as NA as missing
_FEW = 0.05  # proportion of rows of shared items below which hardly any item is shared
_OVERLAP = 0.025  # extra labels per item above which coders can be compared
# problem codes of a recognized export, whose columns are not in doubt
_RECOGNIZED = {"no-units", "several-kinds"}


type Data = Annotations | Mapping[str, Annotations]
type Found = tuple[dict[str, object], Data | Spans]


@dataclass(frozen=True)
class Proposal:
    verb: str
    path: object
    reading: Mapping[str, Any]
    new: Mapping[str, Any]
    gives: str

    def __str__(self) -> str:
        path = str(self.path) if isinstance(self.path, os.PathLike) else self.path
        words = ["frame" if isinstance(path, Source) else repr(path)]
        words += [Option(name, value).python for name, value in self.reading.items()]
        return f"annomodels.{self.verb}({', '.join(words)}) reads {self.gives}"


def with_proposal(
    error: AnnotationError,
    verb: str,
    path: Any,
    given: Mapping[str, Any],
    opened: Callable[[Mapping[str, Any]], Source],
    tried: Callable[[Mapping[str, Any]], Any],
) -> AnnotationError:
    is_file = isinstance(path, (str, os.PathLike)) and os.path.isfile(path)
    if is_file and os.path.getsize(path) > LARGEST:
        return error
    found, failed = None, list[str]()
    with suppress(AnnotationError, ImportError, OSError):
        found = _search(error, opened, given, tried, failed)
    if found is not None:
        new, data = found
        gives = repr(data).split("\n")[0].split(" · ")
        both = {**given, **new}
        error.proposal = Proposal(verb, path, both, new, ", ".join(gives[:2]))
    elif not (_SAID & given.keys() or isinstance(error, (NotAsItSeems, Refused))):
        with suppress(AnnotationError, ImportError, OSError):
            *rest, last = error.problems
            if {name for name, _ in last.options} == {"sheet"}:
                return AnnotationError(_of_sheets(last, opened))
            said = {name: value for name, value in last.options if name == "encoding"}
            if said or isinstance(last, NoLabels):
                lacking, remedy = _lacking(opened(said), failed)
                what = f"{last.what} {lacking}" if said else f"{lacking} {last.what}"
                if lacking:
                    last = replace(last, what=what, remedy=remedy or last.remedy)
                    return AnnotationError([*rest, last])
    return error


def _of_sheets(problem: Problem, opened: Callable[[Mapping[str, object]], Source]) -> Problem:
    why: dict[str, str] = {}
    headers: dict[tuple[str, ...], list[str]] = {}
    for name in [name for _, name in problem.options if name != EVERY_SHEET]:
        sheet = opened({"sheet": name})
        headers.setdefault(sheet.header, []).append(name)
        why.setdefault(_lacking(sheet, ())[0], name)
    own = [f"Sheet {name!r}: {sentence}" for sentence, name in why.items() if sentence]
    what = " ".join([problem.what, "None reads as labels of several coders.", *own[:3]])
    alike = max(headers.values(), key=len)
    remedy = "Give a sheet with a row for each label: item, coder, label."
    if len(alike) > 1:
        every = problem.options[0][1] == EVERY_SHEET
        remedy = problem.remedy if every else f"{remedy} Save those of coders as files."
        remedy += f" If {some(alike)} have one coder each, add a column that names the items."
    return replace(problem, what=what, remedy=remedy)


def _lacking(source: Source, failed: Sequence[str]) -> tuple[str, str]:
    """Explain why a file has no labels of several coders, with a remedy; "" if it has some.

    `failed` lists the outcomes of the options that were tried.
    """
    if source.inside is not None or source.kind == "xml":
        return "", ""
    values = [value for _, value in islice(source.objects, ROWS)]
    if values and not any(isinstance(value, dict) for value in values):
        what = "The JSON holds lists or values, not records: they name neither items nor coders."
        return what, _export()
    table = source.table
    every = sampled(table)
    columns, lists = columns_in(every)
    columns = [one for one in columns if not one.sums_up]
    coders = {one.name for one in coders_in(columns)}
    called = [
        one for one in columns if one.has(CODER) and not one.has(LABEL)
        and (one.name in coders or not 1 < one.distinct < len(one.cells))
    ]  # fmt: skip
    summed = [one.name for one in every if one.has(STATISTICS) and all_numbers(one.filled)]
    marked = [one.name for one in every if one.holds_marks]
    if len(values) == len(table) == 1:
        inner = [
            key for key in keys_of(values, 3) if NamedColumn(key.split(".")[-1], ()).has(CODER)
        ]
        named = f"only {inner[0]!r} is named after coders" if inner else "no key names coders"
        return f"The JSON is one object, not a list of records, and {named}.", _export()
    if len(every) >= _MANY_COLUMNS and len(every) > 5 * len(table):
        what = f"The table has {counted(len(table), 'row')} and {len(every):,} columns, so it seems"
        return f"{what} to be transposed.", "Transpose it, so that each row is an item."
    if len(marked) > 1:
        what = (
            f"Columns such as {some(marked[:3])} hold a mark or nothing, but an empty cell is not "
            "a label."
        )
        return what, "Fill the empty cells with a label, such as no. " + _export()
    if called and called[0].distinct * _OTHERS >= len(table) >= _FEWEST:
        rows = "every row" if called[0].distinct == len(table) else "nearly every row"
        return f"Column {called[0].name!r} seems to name another coder in {rows}.", _export()
    if len(places := places_in(table.header)) > 1:
        what = f"Columns {some(places.values())} hold places in a text, so the item is the text."
        return what, ""
    sure = any(NamedColumn(name, ()).has(AGREEMENT) for name in summed)
    if (sure or len(summed) > 1) and not any(one.distinct > 1 for one in called):
        what = f"Columns such as {some(summed[:3])} hold statistics, not the labels of coders."
        return what, _export()
    if any(wide(columns, Said())) or (len(table) < _FEWEST and not source.is_json):
        return "", ""
    deep = [one.name for one in every if one.filled and not one.is_plain]
    deep += [one.name for one in lists if one.is_plain]
    within = [path for value in values[:_LOOKED_INTO] for path in paths_in(value)]
    within = [path for path in within if NamedColumn(path.split(".")[-1], ()).has(CODER)]
    if not called and within:
        what = f"The coders are named inside lists or objects, as in {within[0]!r}."
        return what, "Write one record for each label, with its item, coder and label."
    if not called and deep:
        what = f"No field names coders, and the lists or objects in {some(deep)} name none."
        return what, _export()
    if not called and not any(one.names_coders and not one.has(LABEL) for one in columns):
        what = "No column seems to name coders or to hold the labels of one."
        return f"{what} {_summary(every)}".strip(), _export()
    if len(called) == 1 and called[0].distinct == 1:
        what = f"Column {called[0].name!r} names one coder only, {called[0].cells[0]!r}."
        return what, _export()
    who = [one for one in called or columns if one.names_coders and one.distinct > 1]
    return _beside(columns, who[0], failed) if who else "", ""


def _beside(columns: Sequence[NamedColumn], coder: NamedColumn, failed: Sequence[str]) -> str:
    """Name what a column of coders lacks: shared items, one row for each of them, or labels."""
    what = f"Column {coder.name!r} seems to name coders"
    other = f"{what}, but no columns seem to hold labels of the same item by several coders."
    other = failed[0] if failed else other
    rest = [one for one in columns if one is not coder]
    keys = [one for one in keys_in(rest, None) if one.names_items]
    found = [(structure(one.codes, coder.codes), one) for one in keys]
    if not found or any(one.name.casefold() == "question" for one in rest):
        return other  # rows may answer several questions
    # the key with the fewest repeats, of those that coders share
    (covered, repeats, _), key = min(found, key=lambda one: (one[0][0] < _FEW, one[0][1]))
    what += f" and {key.name!r} items, but "
    if covered < _FEW:
        return f"{what}hardly any item has rows of several coders."
    if repeats >= MANY and key.name not in other:
        return f"{what}{percent(repeats, 0)} of the rows repeat a coder and an item."
    labels = [one for one in rest if one is not key and not (one.is_id or one.names_items)]
    texts = [one for one in labels if one.distinct > _CLASSES and not one.is_numeric]
    if not texts or len(texts) < len(labels):
        return other
    share = percent(texts[0].distinct / len(key.cells), 0)
    return f"{what}{texts[0].name!r} holds texts, not labels: {share} of them differ."


def _export() -> str:
    names = f"{Option('item')}, {Option('coder')}, {Option('label')}"
    return (
        f"Name the columns with {names} if some hold these; otherwise, export the labels of each "
        "coder, one row per label."
    )


def _summary(columns: Sequence[NamedColumn]) -> str:
    for one in columns:
        if one.has(SUMS) or is_derived(one.name):
            return f"Column {one.name!r} seems to sum up the labels of several."
    for one in columns:
        numbers = [float(str(cell)) for cell in one.filled] if all_numbers(one.filled) else []
        broken = [number for number in numbers if number % 1]
        if 3 * len(broken) > len(numbers) and not one.is_id:
            return f"Column {one.name!r} holds numbers such as {broken[0]:.4g}, as means do."
    return ""


def _search(
    error: AnnotationError,
    opened: Callable[[Mapping[str, object]], Source],
    given: Mapping[str, object],
    tried: Callable[[Mapping[str, object]], Data | Spans],
    failed: list[str],
) -> Found | None:
    """Find options that read the file; add the reasons for failures to `failed`."""
    waiting = _named(error, {})
    found = isinstance(error, (NotAsItSeems, Refused))  # the columns are known, or absent
    if not found and not _RECOGNIZED & {problem.code for problem in error.problems}:
        with suppress(AnnotationError):  # there may be no table before a sheet is chosen
            waiting += list(candidates(opened({}), given))
    seen: list[dict[str, Any]] = []
    of_sheets: dict[str, tuple[dict[str, object], Data]] = {}
    about_items: Found | None = None  # a question to which all coders say the same
    most = 0  # most labels of a question so far
    while waiting and len(seen) < (3 * TRIES if "sheet" in waiting[0] else TRIES):
        options = waiting.pop(0)
        if not options or options in seen or options.get("sheet") in of_sheets:
            continue
        if about_items is not None and not {"question", "sheet"} & options.keys():
            break  # the questions of a file come before columns that it does not count as such
        seen.append(options)
        try:
            data = tried({**given, **options})
        except AnnotationError as wrong:
            failed.append(f"{_shown(options)}: {wrong.problems[0].what}")
            waiting = [*_named(wrong, options), *waiting]
            if options.keys() <= _OPENING:  # the table can be read now
                with suppress(AnnotationError):
                    more = candidates(opened(options), {**given, **options})
                    waiting += [{**options, **each} for each in more]
        else:
            if isinstance(data, Spans):
                if any(len(readers) > 1 for readers in data.seen.values()):
                    return options, data
                continue
            sheets = options.get("sheet") == EVERY_SHEET  # one sheet per coder, or per question
            answers = 0 if isinstance(data, Mapping) else len(data)
            most = max(most, answers)
            if not _compares(data) or (sheets and _shared_information(data) < GAIN):
                failed.append(f"{_shown(options)}: almost no item has labels from several coders.")
                continue
            if 2 * answers < most:  # a question with few answers
                continue
            if "question" in options and _about_items(data):
                about_items = about_items or (options, data)
                continue
            if marks := _missing(data, given):
                with suppress(AnnotationError):
                    less = tried({**given, **options, "missing": marks})
                    if not isinstance(less, Spans):
                        options, data = {**options, "missing": marks}, less
            if "sheet" not in options or sheets:
                return options, data
            of_sheets[str(options["sheet"])] = options, data
    size = {name: _first(data).n_items for name, (_, data) in of_sheets.items()}
    return of_sheets[max(size, key=size.__getitem__)] if size else about_items


def _shown(options: Mapping[str, object]) -> str:
    return f"Read with {', '.join(str(Option(*one)) for one in options.items())}"


def _missing(data: Data, given: Mapping[str, object]) -> list[str]:
    """Return the labels that are codes for a missing value, such as NA."""
    if isinstance(data, Mapping) or "missing" in given or "labels" in given or len(data) < _TOLD:
        return []
    marks = [label for label in no_labels(list(map(str, data.labels))) if label in WRITTEN]
    return marks if data.n_labels - len(marks) > 1 else []


def _named(error: AnnotationError, options: Mapping[str, object]) -> list[dict[str, object]]:
    out = [
        {**options, "question": name} for problem in error.problems for name in problem.choices[:6]
    ]
    said = [pair for problem in error.problems for pair in problem.options]
    if said and not out:  # each sheet alone, or all options together
        each = [dict([pair]) for pair in said] if said[0][0] == "sheet" else [dict(said)]
        out += [{**options, **one} for one in each]
    return out


def _compares(data: Data) -> bool:
    """Return True if coders can be compared in at least one question."""
    return any(
        one.n_coders > 1
        and len(one) - one.repeats > (1 + _OVERLAP) * one.n_items
        and (np.bincount(one.item) > 1).sum() > (one.n_items > 1)  # one item may be a mark
        and (one.n_coders <= max(one.n_items, _FEWEST) or len(one) > _OTHERS * one.n_coders)
        and one.n_labels > 1
        and {*map(str, one.items)} != {*map(str, one.coders)}  # a table of coders by coders
        and (one.n_labels <= max(10, len(one) // 8) or all_numbers(one.labels))
        for one in (data.values() if isinstance(data, Mapping) else [data])
    )


def _about_items(data: Data) -> bool:
    """Return True if nearly all labels of an item are equal, so they describe the item."""
    if isinstance(data, Mapping) or data.n_items < SHARED:
        return False
    return _shared_information(data) > ITEMS


def _shared_information(data: Data) -> float:
    """Return the information about a label in the item's other labels, for the first question."""
    one = _first(data)
    labels = NamedColumn("", [str(one.labels[label]) for label in one.label])
    item, coder = one.item.astype(np.int64), one.coder.astype(np.int64)
    return gain(item, coder, classes(labels, np.arange(len(one))))


def _first(data: Data) -> Annotations:
    return next(iter(data.values())) if isinstance(data, Mapping) else data


# -- candidate options ----------------------------------------------------------------------


def candidates(source: Source, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if source.inside is not None:
        yield from _files(source, given)
    if source.inside is not None or source.kind == "xml":
        return
    is_text = source.kind in ("excel", "delimited") and given.keys() <= {"sheet", "encoding"}
    if is_text and (lines := _above(source.rows.rows)):
        yield {"skip_rows": lines}
        return
    table = source.table
    if len(table) < 2 or table.problems:
        return
    if "columns" not in given and no_header(table):
        return
    every = sampled(table)
    columns, lists = columns_in(every)
    absent = {
        role
        for role in ("item", "coder", "label")
        if not set(parts_of(said_key(given.get(role), table.header))) <= set(table.header)
    }
    given = {name: value for name, value in given.items() if name not in absent}
    used = {given[role] for role in ("truth", "group", "text") if isinstance(given.get(role), str)}
    free = [one for one in columns if one.name not in used and one.name not in table.twice]
    if len(places_in(table.header)) > 1 or counts_in(table) is not None:
        return  # each mark in a text repeats the text, so a search would find other items
    if not given.get("label"):
        yield from _in_cells(every)
        yield from ({"label": one.name} for one in lists if places_of(one.filled))
    said = Said.of(given)
    for one in readings(free, said):
        yield from one.options(said)


def _in_cells(columns: Sequence[NamedColumn]) -> Iterator[dict[str, object]]:
    for one in columns:
        name, cells = one.name, one.filled
        held: Any = cells if cells and isinstance(cells[0], (list, dict)) else ()
        keys = [k for c in held for k in keys_of(c if isinstance(c, list) else [c], 1)]
        judges = one.has(CODER | JUDGES)
        if cells and all(is_list_of(cell, dict) for cell in cells):
            who = [k for k in dict.fromkeys(keys) if NamedColumn(k, ()).has(CODER)]
            who += [k for k in dict.fromkeys(keys) if judges and NamedColumn(k, ()).has(SYSTEM)]
            for key in who[:1]:
                yield {"label": name, "coder": key}
        elif cells and all(isinstance(cell, dict) and cell for cell in cells):
            shown = [key for key, n in Counter(keys).items() if 2 * n > len(cells)]
            votes = [NamedColumn("", [cell.get(key) for cell in held]) for key in shown[:_COMPARED]]
            plain = not any(is_asked(key) for key in shown)
            if len(shown) > 1 and plain and (judges or agree(votes) >= SURE_GAIN):
                yield {"label": name}
        elif len({*map(str, cells)}) > 1 and lists_labels(cells):
            yield {"label": name}


def sampled(table: Table) -> list[NamedColumn]:
    return [NamedColumn(name, cells[:ROWS]) for name, cells in table.columns.items()]


def columns_in(every: Sequence[NamedColumn]) -> tuple[list[NamedColumn], list[NamedColumn]]:
    """Return columns with plain cells, and list columns with labels of several coders."""
    columns = [one for one in every if one.name.strip() and one.filled]
    lists = [one for one in columns if str(one.filled[0])[:1] == "["]
    plain = [one for one in columns if one.is_plain]
    return plain[:200], [one for one in lists if one.has(LABEL) or one.has(CODER)]


def _above(rows: Sequence[Sequence[str]]) -> int:
    filled = [{cell.strip() for cell in row if cell.strip()} for row in rows[:12]]
    width = max(map(len, filled), default=0)
    first = next((n for n, cells in enumerate(filled) if 2 * len(cells) > width), 0)
    is_header = width > 2 and len(filled[first]) >= 0.8 * width
    return first if is_header and any(filled[:first]) and not all_numbers(filled[first]) else 0


def _files(source: Source, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    files = files_in(source)
    tables = [file.source.table for file in files]
    if len(files) < 2 or given.get("coder") or any(table.problems for table in tables):
        return
    if "columns" not in given and all(map(no_header, tables)):
        return
    names = [n for n in tables[0].header if n.strip() and all(n in t.columns for t in tables)]
    if sum(NamedColumn(name, ()).has(CODER) for name in names) > 1:
        return  # the columns are coders, so the files are not
    lacking = [t for t in tables if not matched(t.header)["label"]]
    if len(lacking) == 1 and not given.get("label"):  # one file names its labels differently
        only = lacking[0].columns
        free = [NamedColumn(n, cells) for n, cells in only.items() if n not in names]
        free = [one for one in free if one.is_plain and 1 < one.distinct <= _CLASSES]
        yield from ({"label": one.name} for one in free)
    size = ROWS // len(tables)
    columns = [
        NamedColumn(name, [cell for table in tables for cell in table.columns[name][:size]])
        for name in names
        if name != "coder"
    ]
    who = [file.who for file, t in zip(files, tables, strict=True) for _ in t.rows[:size]]
    plain = [one for one in columns if one.is_plain and one.filled]
    shared = {one.name for one in plain if one.distinct <= 0.8 * len(one.cells)}
    said = Said.of({**given, "coder": "coder"})
    for one in long([*plain, NamedColumn("coder", who)], said):
        if shared.intersection(one.item) or said.item:
            yield from one.options(said)
