"""Detect the format of a source, and join the records of several files."""

from __future__ import annotations

import dataclasses
import functools
import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annomodels.data.validation import at_rows, counted, some
from annomodels.errors import AnnotationError, Option, Problem, Verb, raise_all
from annomodels.io.border import collected, unreadable
from annomodels.io.formats import FORMATS, PLAIN, SPAN_TABLE, Format
from annomodels.io.many import File, Pile, RowOf, by_name, files_in
from annomodels.io.records import NoUnits, Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Cells, Columns, Part, matched, named_column
from annomodels.io.tables.keys import parts_of, said_key
from annomodels.io.tables.options import named
from annomodels.io.tables.table import Table
from annomodels.io.tools.refused import refuse
from annomodels.io.words import SPLITS, TEXT_COLUMNS

if TYPE_CHECKING:
    from annomodels.io.span_builder import Spans

_NAMED = 8  # maximum number of files or folders in a suggested command


def read_records(source: Source, options: Options) -> Records:
    if isinstance(source.read, Records) and (same := source.read.asked(options)) is not None:
        return same
    one = _alone(source, options)
    if one is not None:
        alone, form = one
        found = _records(form, alone, options)
        if form.name not in PLAIN:
            found.notes = [f"Read as {form.title}.", *found.notes]
            source.read = found
        return found
    if options.units is not None:
        return _of_spans(_marks(source, options), Records(source, options))
    files = files_in(source)
    options = dataclasses.replace(options, several=len(files) > 1)
    forms = _forms(files, options)
    tools = dict.fromkeys(form.title for form in forms if form.name not in PLAIN)
    if tools or (options.coder_columns is not None and options.label is not None):
        own = [_own(file, options, form.name) for file, form in zip(files, forms, strict=True)]
    else:
        by_name(files, options)
        forms, own = _as_tables(files, options)
    each = [
        form.records(file.source, said) for form, file, said in zip(forms, files, own, strict=True)
    ]
    found = joined(files, each, Records(source, options))
    if any(one.marked is not None for one in each):
        found.marked = functools.partial(_marks, source, options)
    found.notes = [*(f"Read as {title}." for title in tools), *found.notes]
    return found


def _of_spans(spans: Spans, found: Records) -> Records:
    from annomodels.io.span_builder import parts_of_spans

    found.parts = parts_of_spans(spans, str(found.options.units), found.options.sets)
    return found


def read_spans_of(source: Source, options: Options) -> Spans:
    one = _alone(source, options)
    if one is None:
        return _marks(source, options)
    source, form = one
    return form.marks(source, options)


def _alone(source: Source, options: Options) -> tuple[Source, Format] | None:
    """Return the source and its format, or None for a folder of files to join."""
    if source.inside is not None and options.format in PLAIN:
        if files_in(source):
            return None
        what = f"It holds no table, but {some(source.inside.names) or 'nothing'}."
        remedy = "Give a folder with the files of the coders, such as CSV or Excel."
        raise AnnotationError(what, source.name, remedy)
    try:
        return _found(source, options)
    except UnknownFolder:
        if not files_in(source):
            raise
    return None


def _forms(files: Sequence[File], options: Options) -> list[Format]:
    forms: list[tuple[File, Format]] = []
    problems: list[Problem] = []
    for file in files:
        with collected(problems, file.source.name):
            forms.append((file, chosen(options.format, file.source, _own(file, options))))
    for file, form in forms if problems else ():  # report the problems of the other files, too
        if form.read and form.name not in PLAIN:
            with collected(problems, file.source.name):
                problems += form.records(file.source, _own(file, options)).problems
    raise_all(merged(problems))
    return [form for _, form in forms]


def _own(file: File, options: Options, form: str = "") -> Options:
    """Return the options for one of several files, with only the coder columns that it has.

    A table without coders belongs to the coder that the file is named after.
    """
    source, columns = file.source, options.coder_columns
    own = dataclasses.replace(options, item=source.with_key(options.names))
    has = tuple(name for name in columns or () if name in source.header)
    if has:
        return dataclasses.replace(own, coder_columns=has, label=None)
    mixed = columns is not None and options.label is not None
    if mixed or (form == "long" and columns is None):
        coder = options.coder or source.with_coder(file.who)
        own = dataclasses.replace(own, coder_columns=None, coder=coder)
    return own


def _marks(source: Source, options: Options) -> Spans:
    files = files_in(source)
    found = Records(Source(counted(len(files), "file"), data=b""), options)
    forms = _forms(files, options)
    each = [
        form.marks(file.source, dataclasses.replace(_own(file, options), several=True))
        for file, form in zip(files, forms, strict=True)
    ]
    found.lists_readers = all(form.name != SPAN_TABLE for form in forms)
    _check_coders(source, files, {coder for own in each for coder in own.coders})
    names = _documents(files, each, found)
    for n, (file, own) in enumerate(zip(files, each, strict=True)):
        new = {own.coders[0]: file.who} if file.said and len(own.coders) == 1 else {}
        for document, coders in own.seen.items():
            for coder in coders:
                text, tokens = own.texts.get(document, ""), own.tokens.get(document, ())
                found.document(names[n, document], new.get(coder, coder), text, tokens)
        for span in own.spans:
            coder, place = new.get(span.coder, span.coder), (span.start, span.end)
            document = names[n, span.document]
            found.mark(document, coder, span.question, place, span.label, span.chain)
        found.attributes |= dict.fromkeys(own.attributes)
        for note in own.notes:
            found.note(note)
    return found.spans()


def _documents(
    files: Sequence[File], each: Sequence[Spans], found: Records
) -> dict[tuple[int, str], str]:
    """Name the documents of each file; match them by text if the names differ."""
    texts = {
        (n, name): own.texts.get(name, "").rstrip()
        for n, own in enumerate(each)
        for name in own.seen
    }
    by_name: dict[str, list[str]] = {}
    for (_, name), text in texts.items():
        by_name.setdefault(name, []).append(text)
    shared = [len({*own}) > 1 for own in by_name.values() if len(own) > 1]
    if (shared and 2 * sum(shared) <= len(shared)) or "" in texts.values():
        return {key: key[1] for key in texts}
    names: dict[tuple[int, str], str] = {}
    first: dict[tuple[str, int], str] = {}  # name by text and number of its repeat in a file
    taken: set[str] = set()
    times: Counter[tuple[int, str]] = Counter()
    for (n, name), text in texts.items():
        called = f"{name} ({files[n].source.name})" if name in taken else name
        names[n, name] = first.setdefault((text, times[n, text]), called)
        taken.add(names[n, name])
        times[n, text] += 1
    if any(name != called for (_, name), called in names.items()):
        found.note("Documents are matched by their texts, because the files name them differently.")
    return names


def _check_coders(source: Source, files: Sequence[File], coders: Collection[object]) -> None:
    """Raise if several files, probably from several coders, all name the same coder."""
    if len(files) < 2 or len(coders) != 1 or any(file.said for file in files):
        return
    places = [str(file.source.path).removeprefix(f"{source.name}/") for file in files]
    folders = list(dict.fromkeys(place.rpartition("/")[0] for place in places))
    kind, names = ("folder", folders) if len(folders) > 1 else ("file", places)
    way, whole = "ana=a ben=b", "ana=all"
    if source.is_folder and not isinstance(source, Pile):
        pairs = [(Path(name).stem, shlex.quote(f"{source.path}/{name}")) for name in names]
        way = " ".join(f"{name}={path}" for name, path in pairs[:_NAMED])
        way += " ..." if len(pairs) > _NAMED else ""
        whole = f"{next(iter(coders))}={shlex.quote(str(source.path))}"
    what = f"All answers in the {len(files):,} files are by one coder, {next(iter(coders))!r}."
    remedy = f"If each {kind} is the work of one coder, name the coders: {way}."
    remedy += f" If one coder did all the work, name that coder: {whole}."
    raise AnnotationError(what, source.name, remedy, code="one-coder")


def merged(problems: Iterable[Problem]) -> list[Problem]:
    """Drop repeated problems; report a problem of several files once."""
    places: dict[Problem, list[str]] = {}
    for one in dict.fromkeys(problems):
        places.setdefault(dataclasses.replace(one, where=""), []).append(one.where)
    out = []
    for one, found in places.items():
        files = list(dict.fromkeys(where.split(", row")[0] for where in found))
        several = f"{len(files):,} files: {some(files, str)}"
        where = "; ".join(found) if len(files) == 1 else several
        out.append(dataclasses.replace(one, where=where))
    return out


def _found(source: Source, options: Options) -> tuple[Source, Format]:
    """Find the format; treat an archive with one file as that file."""
    try:
        return source, chosen(options.format, source, options)
    except AnnotationError:
        inside = source.inside
        if inside is None or source.is_folder or len(inside.names) != 1:
            raise
    only = source.member(inside.names[0])
    if only.inside is not None:
        what, remedy = "This is an archive inside an archive.", "Unpack it and give its contents."
        raise AnnotationError(what, source.name, remedy, code="nested-archive")
    return only, chosen(options.format, only, options)


def _records(form: Format, source: Source, options: Options) -> Records:
    if options.units is not None:
        return _of_spans(form.marks(source, options), Records(source, options))
    if not form.read:
        from annomodels.io.span_builder import described

        spans = form.marks(source, options)
        what = f"This format marks stretches of text, which are not items yet: {spans!r}."
        remedy = (
            f"For gold spans, {Verb('fit am.read_spans(...)', 'use annomodels run')}. For labels "
            f"of items, define the items with {Option('units')}. {described()}"
        )
        if any(span.chain for span in spans.spans):
            remedy += f" For coreference, use {Verb('am.coref.read', 'annomodels coref')}."
        problem = Problem(what, source.name, remedy, options=(("units", "exact"),), code="no-units")
        raise NoUnits([problem], lambda: spans)
    return form.records(source, options)


# -- which format it is ---------------------------------------------------------------------


class UnknownFolder(AnnotationError):
    """A folder or archive is not one export; each of its files may be."""


def chosen(name: str, source: Source, options: Options) -> Format:
    """Return the named format, the first that matches, or the long table."""
    if name != "auto":
        found = named(name, {form.name: form for form in FORMATS})
        if found.name not in PLAIN and not found.fits(source, options):
            refuse(source, options)
            what = f"This is not in the format {name!r}, which is recognised by: {found.signature}."
            remedy = f"Leave out {Option('format')}, or export it again."
            error = AnnotationError if source.inside is None else UnknownFolder
            raise error(Problem(what, source.name, remedy, code="other-format"))
        return found
    damaged: list[Problem] = []
    match = None
    long = next(form for form in FORMATS if form.name == "long")
    for form in FORMATS:
        try:
            fits = form is not long and form.fits(source, options)
        except AnnotationError as error:
            if source.inside is None:
                raise
            damaged += error.problems  # reported when the damaged file is read alone
            continue
        if fits:
            match = form
            break
    if match is not None and match.name not in PLAIN:
        return match
    if not damaged:
        refuse(source, options)
    elif match is None:
        raise UnknownFolder(list(dict.fromkeys(damaged)))
    if match is None and source.inside is not None:
        what = f"The archive is not in a known format; it contains {some(source.inside.names)}."
        remedy = f"Give one of its files, or name its format with {Option('format')}."
        problem = unreadable(Path(source.path)) if source.is_folder else None
        raise UnknownFolder(problem or Problem(what, source.name, remedy))
    if source.kind == "xml" and (match is None or match.name in PLAIN):
        what = "This is XML in a form that is not known: neither UIMA CAS nor regions of images."
        remedy = "Export the labels as CSV or JSON, with item, coder and label."
        raise AnnotationError(what, source.name, remedy, code="unknown-xml")
    # What fits no other format is a long table; its error names the required columns.
    return match or long


# -- plain tables ----------------------------------------------------------------------------


def _as_tables(files: Sequence[File], options: Options) -> tuple[list[Format], list[Options]]:
    """Return format and options of each table: long tables, or parts of one wide table."""
    tables = [file.source.table for file in files]
    header = list(dict.fromkeys(name for table in tables for name in table.header))
    problems = [p for table in tables for p in table.problems]
    for name in options.coder_columns or ():
        problems += named_column(header, name, "coder", tables[0].source)
    is_wide = options.coder_columns is not None or (not problems and _batches(files, options))
    unnamed = not any(matched(table.header)["coder"] for table in tables)
    problems += _splits(files) if unnamed and not is_wide and options.coder is None else []
    raise_all(merged(problems))
    if unnamed and not is_wide and not any(file.said for file in files) and options.coder is None:
        check_same_items(tables, said_key(options.names, header))
    first = None if is_wide or options.names is not None else _first_key(tables)
    form = next(form for form in FORMATS if form.name == ("wide" if is_wide else "long"))
    own = []
    for file in files:
        one = _own(file, options, form.name)
        # a named column may be in one file only; the other files name theirs differently
        known = matched(file.source.header)
        for role in ("label", "coder", "truth", "group", "text"):
            name = getattr(one, role)
            elsewhere = name in header and name not in file.source.header
            if elsewhere and known.get(role, True):  # the last three have no known names
                one = dataclasses.replace(one, **{role: None})  # type: ignore[arg-type]
        own.append(dataclasses.replace(one, item=one.item or first))
    return [form] * len(files), own


def _splits(files: Sequence[File]) -> list[Problem]:
    words = [set(re.split(r"[\W_]+", file.who.casefold())) for file in files]
    if any(file.said for file in files) or not all(one & SPLITS for one in words):
        return []
    what = (
        f"The files have names of corpus parts ({some([file.who for file in files])}), and no "
        "column names the coder."
    )
    remedy = (
        f"Name the column of the coders with {Option('coder', ...)}, or those of a wide table with "
        f"{Option('coder_columns', [...])}. If each file is the work of one coder, name it: "
        "ana=a.csv ben=b.csv."
    )
    return [Problem(what, counted(len(files), "file"), remedy, code="parts-of-a-corpus")]


# item columns that are the same for all coders
_SHOWN = {*TEXT_COLUMNS, "url"}


def check_same_items(tables: Sequence[Table], key: str | None) -> None:
    """Raise if the files use the same item names for different texts."""
    if not tables[0].header or len(parts_of(key)) > 1:
        return
    first = key or next(iter([*matched(tables[0].header)["item"], *tables[0].header]))
    if first.casefold() in _SHOWN or any(first not in table.columns for table in tables):
        return
    for name in tables[0].header:
        texts: dict[str, str] = {}
        other = 0
        for table in tables:
            if name == first or name.casefold() not in _SHOWN or name not in table.columns:
                break
            cells = list(map(str, table.columns[name]))
            for item, cell in zip(map(str, table.columns[first]), cells, strict=True):
                other += texts.setdefault(item, cell) != cell
        else:
            shared = sum(map(len, tables)) - len(texts)
            if other > 0.5 * shared:
                what = (
                    f"The files call different items by the same names: {name!r} differs in "
                    f"{other:,} of the {counted(shared, 'row')} that share {first!r}."
                )
                remedy = (
                    "These are parts of one data set, not the work of a coder each. Name the "
                    f"column of the coders with {Option('coder', ...)}, or give one file."
                )
                raise AnnotationError(
                    what, counted(len(tables), "file"), remedy, code="different-items"
                )


def _batches(files: Sequence[File], options: Options) -> bool:
    """Return True if the files are parts of one wide table: same columns, no common item."""
    tables = [file.source.table for file in files]
    if any(file.said for file in files) or len({table.header for table in tables}) > 1:
        return False
    if options.coder is not None or options.label is not None:
        return False
    if options.question is not None or options.every:
        return False
    header = tables[0].header
    known = matched(header)
    key = said_key(options.names, header) or header[0]
    if key not in header or known["coder"] or known["label"] or len(header) < 3:
        return False
    items = [list(map(str, table.columns[key])) for table in tables]
    return len(set().union(*items)) == sum(map(len, items))


def _first_key(tables: Sequence[Table]) -> str | None:
    """Return the first column if it identifies rows and no item column has a known name.

    A column that says the same in fewer names is better: titles may be spelled in several ways.
    """
    known = [matched(table.header) for table in tables]
    if any(one["item"] for one in known):
        return None
    skip = (*known[0]["coder"], "Unnamed: 0")  # row numbers that pandas wrote
    first = next((name for name in tables[0].header if name not in skip), None)
    if first is None or any(first not in table.columns for table in tables):
        return None

    def kinds(*names: str) -> int:
        rows = [zip(*(map(str, t.columns[n]) for n in names), strict=True) for t in tables]
        return len({row for part in rows for row in part})

    def is_key(name: str) -> bool:
        cells = [t.columns.get(name, ()) for t in tables]
        return all(len({*map(str, c)}) == len(t) for c, t in zip(cells, tables, strict=True))

    own = kinds(first)
    if not is_key(first) or own == sum(map(len, tables)):
        return None
    others = filter(is_key, tables[0].header if own > max(map(len, tables)) else ())
    return min((first, *(key for key in others if kinds(first, key) == own)), key=kinds)


# -- rows of several files ---------------------------------------------------------------------


def joined(files: Sequence[File], each: Sequence[Records], found: Records) -> Records:
    """Join the rows of all files by question name, or as one question if each has one."""
    for one in each:
        found.notes += [note for note in one.notes if note not in found.notes]
    found.problems += merged(problem for one in each for problem in one.problems)
    names = dict.fromkeys(name for one in each for name in one.parts)
    is_one = found.options.question is not None or any(one.default for one in each)
    is_one = is_one or all(len(one.parts) == 1 for one in each)
    if not names or (is_one and not found.options.every):
        found.default = functools.partial(_together, files, [one.answer for one in each], found)
        return found
    for name in names:
        have = [n for n, one in enumerate(each) if name in one.parts]
        found.parts[name] = functools.partial(
            _together, [files[n] for n in have], [each[n].parts[name] for n in have], found
        )
    found.unfit, found.otherwise = each[0].unfit, each[0].otherwise
    return found


def _together(files: Sequence[File], parts: Sequence[Part], found: Records) -> Columns:
    """Join the rows of one question; a name given for a file replaces its only coder."""
    own: list[Columns] = []
    problems: list[Problem] = []
    for part in parts:
        with collected(problems, found.source.name):
            own.append(part())
            problems += own[-1].problems
    if problems:
        return Columns(problems=merged(problems))
    if not any(one.names for one in own):  # exports, which name coders by account
        _check_coders(found.source, files, {coder for one in own for coder in one.coders})
    gold: dict[Any, Any] = {}
    several: dict[Any, str] = {}
    for file, one in zip(files, own, strict=True):
        if file.said and len(set(one.coders)) == 1:
            one.coders = [file.who] * len(one.coders)
        one.rows = [RowOf(row, file.source.name) for row in one.rows]
        for item, truth in (one.gold or {}).items():
            if gold.setdefault(item, truth) != truth:
                several.setdefault(item, file.source.name)
    if several:
        what = f"{counted(len(several), 'item')} with more than one gold: {some(several)}."
        where = ", ".join(dict.fromkeys(several.values()))
        return Columns(problems=[Problem(what, where, "Give every item one gold, in all files.")])

    def every(role: str) -> list[Any]:
        return [value for one in own for value in getattr(one, role)]

    def first(role: str) -> dict[Any, Any] | None:
        maps = [getattr(one, role) or {} for one in reversed(own)]
        return {item: value for one in maps for item, value in one.items()} or None

    columns = Columns(
        items=every("items"),
        coders=every("coders"),
        labels=every("labels"),
        rows=every("rows"),
        gold=gold or None,
        group=first("group"),
        texts=first("texts"),
        skips=sum(one.skips for one in own),
        unlabelled=every("unlabelled"),
        notes=[note for note in dict.fromkeys(every("notes")) if note not in found.notes],
        alone=[*_account(files, own), *dict.fromkeys(every("alone"))],
        names=own[0].names,
        question=own[0].question,
        cells=functools.partial(_stacked, [one.cells for one in own if one.cells]),
    )
    if found.options.repeats != "all" and not found.options.every:
        columns.problems = _twice(columns)
    return columns


def _stacked(tables: Sequence[Callable[[], Cells]]) -> Cells:
    cells = [table() for table in tables]
    sizes = [len(next(iter(one.values()), ())) for one in cells]
    return {
        name: [
            cell for one, size in zip(cells, sizes, strict=True)
            for cell in one.get(name, [""] * size)
        ]
        for name in dict.fromkeys(name for one in cells for name in one)
    }  # fmt: skip


def _account(files: Sequence[File], own: Sequence[Columns]) -> list[str]:
    """Report the labels of each file, and the number of items in one file only."""
    notes = [
        f"{file.source.name}: {counted(len(one.labels), 'label')} of "
        f"{counted(len(set(one.items)), 'item')} by {some(sorted(set(one.coders), key=str))}."
        if len(one.labels)
        else f"{file.source.name}: no label was taken."
        for file, one in zip(files, own, strict=True)
    ]
    times = Counter(item for one in own for item in set(one.items))
    once = sum(n == 1 for n in times.values())
    if once and sum(len(one.labels) > 0 for one in own) > 1:
        notes.append(f"{once:,} of {counted(len(times), 'item')} are in only one of the files.")
    return notes


def _twice(columns: Columns) -> list[Problem]:
    first: dict[tuple[Any, Any], Any] = {}
    found: dict[tuple[Any, str, str], list[tuple[Any, Any, Any]]] = {}
    for row, item, coder in zip(columns.rows, columns.items, columns.coders, strict=True):
        file = getattr(row, "file", "")
        before = first.setdefault((item, coder), row)
        if (other := getattr(before, "file", "")) != file:
            found.setdefault((coder, other, file), []).append((item, before, row))
    return [
        Problem(
            f"The coder {coder!r} labeled {counted(len(repeats), 'item')} in two files: "
            f"{some([item for item, _, _ in repeats])}.",
            f"{_rows(one, [row for _, row, _ in repeats])} and "
            f"{_rows(other, [row for _, _, row in repeats])}",
            "Name the coder of each file (ana=a.csv ben=b.csv), leave out the file that is given "
            f"twice, or use {Option('repeats', 'all')} if items were shown again.",
            code="given-twice",
        )
        for (coder, one, other), repeats in found.items()
    ]


def _rows(file: str, rows: Sequence[object]) -> str:
    """Format rows of a file for messages; rows without a number give the file alone."""
    numbers = [int(row) for row in rows if isinstance(row, int)]
    return at_rows(file, numbers) if numbers else file
