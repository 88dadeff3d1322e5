"""From a source, or several, to columns: which format it is, and what is joined to what."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annomodels.data.validation import at_rows, counted, some
from annomodels.errors import AnnotationError, Option, Problem, Verb
from annomodels.io.border import guarded, unreadable
from annomodels.io.formats import FORMATS, PLAIN, Format
from annomodels.io.many import File, RowOf, files_in
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns, matched, named_column
from annomodels.io.tables.keys import parts_of, said_key
from annomodels.io.tables.options import named
from annomodels.io.tables.table import Table
from annomodels.io.tools.refused import refuse

if TYPE_CHECKING:
    from annomodels.io.span_builder import Spans


def read_columns(source: Source, options: Options) -> tuple[Source, Columns]:
    """Columns of one file or export, or of several that are joined; and where they stand."""
    one = _alone(source, options)
    if one is not None:
        source, form = one
        found = _columns(form, source, options)
        if form.name not in PLAIN:
            found.notes = [f"Read as {form.title}.", *found.notes]
        return source, found
    files = files_in(source)
    if options.units is not None:
        from annomodels.io.span_builder import columns_of_spans

        return source, columns_of_spans(_marks(files, options), options.units, options)
    forms = _forms(files, options)
    tools = dict.fromkeys(form.title for form in forms if form.name not in PLAIN)
    if not tools and (options.coder_columns is None or options.label is None):
        said_options = options
        source, options = stacked(files, options)
        name = "wide" if options.coder is None else "long"
        found = next(form for form in FORMATS if form.name == name).columns(source, options)
        found.problems = [*without_labels(found, files, said_options), *found.problems]
    else:
        parts = [
            form.columns(file.source, _own(file, options, form.name))
            for file, form in zip(files, forms, strict=True)
        ]
        found = _joined_each(files, parts) if options.every else joined(files, parts)
    if not found.problems:
        notes = [f"Read as {title}." for title in tools]
        accounts = [] if found.parts else account(found, files)
        found.notes = [*notes, *accounts, *found.notes]
        if options.repeats != "keep" and not found.parts:
            found.problems += twice(found)
    return source, found


def _joined_each(files: Sequence[File], parts: Sequence[Columns]) -> Columns:
    """Join several files, question by question."""
    names = list(dict.fromkeys(name for part in parts for name in part.parts))
    if not names or any(part.problems for part in parts):
        return joined(files, parts)

    def read(name: str) -> Columns:
        pairs = zip(files, parts, strict=True)
        own = [(file, part.parts[name]()) for file, part in pairs if name in part.parts]
        columns = joined([file for file, _ in own], [part for _, part in own])
        columns.question = name
        return columns

    left_out = {
        name: part.left_out[name]
        for name in names
        for part in parts
        if all(name in other.left_out for other in parts if name in other.parts)
        and name in part.left_out
    }
    notes = [note for part in parts for note in part.notes]
    each = {name: functools.partial(read, name) for name in names}
    return Columns(parts=each, left_out=left_out, notes=list(dict.fromkeys(notes)))


def read_spans_of(source: Source, options: Options) -> Spans:
    """Spans of one file or export, or of several that are joined."""
    one = _alone(source, options)
    if one is None:
        return _marks(files_in(source), options)
    source, form = one
    return form.marks(source, options)


def _alone(source: Source, options: Options) -> tuple[Source, Format] | None:
    """Source and format, unless it is a folder of files that are to be joined."""
    if source.inside is not None and options.format in PLAIN:
        if files_in(source):
            return None
        what = f"There is no table in it, but {some(source.inside.names) or 'nothing'}."
        remedy = "Give a folder with the files of the coders, such as CSV or Excel."
        raise AnnotationError(Problem(what, source.name, remedy))
    try:
        return _found(source, options)
    except UnknownFolder:
        if not files_in(source):
            raise
    return None


def _forms(files: Sequence[File], options: Options) -> list[Format]:
    """Format of each file, or what is wrong with each that has none."""
    forms: list[Format] = []
    problems: list[Problem] = []
    exports: list[tuple[File, Format]] = []
    for file in files:
        try:
            with guarded(file.source.name):
                form = chosen(options.format, file.source, _own(file, options))
        except AnnotationError as error:
            problems += error.problems
            continue
        forms.append(form)
        if form.read and form.name not in PLAIN:
            exports.append((file, form))
    if problems:  # what is wrong with the others is told with it
        for file, form in exports:
            try:
                with guarded(file.source.name):
                    found = form.columns(file.source, _own(file, options))
            except AnnotationError as error:
                found = Columns(problems=list(error.problems))
            problems += [problem for problem in found.problems if not problem.choices]
        raise AnnotationError(list(dict.fromkeys(problems)))
    return forms


def _own(file: File, options: Options, form: str = "") -> Options:
    """Options for one of several files: the columns of coders that it has; its coder for a table.

    A table that names no coder is the work of the one whom the file is called after.
    """
    source, columns = file.source, options.coder_columns
    own = dataclasses.replace(options, item=source.with_key(options.names))
    has = tuple(name for name in columns or () if name in source.header)
    if columns is not None and options.label is not None and has:
        return dataclasses.replace(own, coder_columns=has, label=None)
    mixed = columns is not None and options.label is not None
    unnamed = form == "long" and columns is None and not matched(source.header)["coder"]
    if mixed or unnamed:
        coder = options.coder or source.with_coder(file.who)
        own = dataclasses.replace(own, coder_columns=None, coder=coder)
    return own


def _marks(files: Sequence[File], options: Options) -> Spans:
    """Spans of several files together."""
    found = Records(Source(counted(len(files), "file"), data=b""), options)
    for file, form in zip(files, _forms(files, options), strict=True):
        own = form.marks(file.source, _own(file, options))
        new = {own.coders[0]: file.who} if file.said and len(own.coders) == 1 else {}
        for document, coders in own.seen.items():
            for coder in coders:
                text, tokens = own.texts.get(document, ""), own.tokens.get(document, ())
                found.document(document, new.get(coder, coder), text, tokens)
        for span in own.spans:
            coder, place = new.get(span.coder, span.coder), (span.start, span.end)
            found.mark(span.document, coder, span.question, place, span.label, span.chain)
        for note in own.notes:
            found.note(note)
    return found.spans()


def _found(source: Source, options: Options) -> tuple[Source, Format]:
    """Find the format; an archive with one file in it stands for that file."""
    try:
        return source, chosen(options.format, source, options)
    except AnnotationError:
        inside = source.inside
        if inside is None or source.is_folder or len(inside.names) != 1:
            raise
    only = source.member(inside.names[0])
    if only.inside is not None:
        what, remedy = "This is an archive inside an archive.", "Unpack it and give its contents."
        raise AnnotationError(Problem(what, source.name, remedy))
    return only, chosen(options.format, only, options)


def _columns(form: Format, source: Source, options: Options) -> Columns:
    if options.units is not None:
        from annomodels.io.span_builder import columns_of_spans

        return columns_of_spans(form.marks(source, options), options.units, options)
    if not form.read:
        from annomodels.io.span_builder import described

        spans = form.marks(source, options)
        what = f"This format marks stretches of text, which are not items yet: {spans!r}."
        remedy = f"Say what the items are with {Option('units')}. " + described()
        if any(span.chain for span in spans.spans):
            remedy += f" For coreference, use {Verb('am.coref.read', 'annomodels coref')}."
        raise AnnotationError(Problem(what, source.name, remedy))
    return form.columns(source, options)


# -- which format it is ---------------------------------------------------------------------


class UnknownFolder(AnnotationError):
    """A folder or archive is no export of a tool as a whole; its files may each be one."""


def chosen(name: str, source: Source, options: Options) -> Format:
    """Format by name, or the first that matches; the long table when none does."""
    if name != "auto":
        found = named(name, {form.name: form for form in FORMATS})
        if found.name not in PLAIN and not found.fits(source, options):
            refuse(source, options)
            what = f"This is not in the format {name!r}, which is recognised by: {found.signature}."
            remedy = f"Leave out {Option('format')}, or export it again."
            error = AnnotationError if source.inside is None else UnknownFolder
            raise error(Problem(what, source.name, remedy))
        return found
    damaged: list[Problem] = []
    match = None
    for form in FORMATS:
        try:
            fits = form.fits(source, options)
        except AnnotationError as error:
            if source.inside is None:
                raise
            damaged += error.problems  # of one of its files: each is told when it is read alone
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
        raise UnknownFolder(_unknown_folder(source))
    if source.kind == "xml" and (match is None or match.name in PLAIN):
        what = "This is XML in a form that is not known: neither UIMA CAS nor regions of images."
        remedy = "Export the labels as CSV or JSON, with item, coder and label."
        raise AnnotationError(Problem(what, source.name, remedy))
    # A file that is no format is told what the columns of a long table would have to be.
    return match or next(form for form in FORMATS if form.name == "long")


def _unknown_folder(source: Source) -> Problem:
    assert source.inside is not None
    names = source.inside.names
    problem = unreadable(Path(source.path)) if source.is_folder else None
    if problem is not None:
        return problem
    what = f"The archive is not in a known format; it contains {some(names)}."
    remedy = f"Give one of its files, or say what it is with {Option('format')}."
    return Problem(what, source.name, remedy)


# -- files that are joined by the names of their items, row by row ---------------------------------


# -- tables ----------------------------------------------------------------------------------


def stacked(files: Sequence[File], options: Options) -> tuple[Source, Options]:
    """One table of the rows of all, with a column for the coder where the files name none."""
    tables = [file.source.table for file in files]
    problems = [problem for table in tables for problem in table.problems]
    key = said_key(options.names, {name for table in tables for name in table.header})
    role = {
        "item": parts_of(key),
        "coder": parts_of(options.coder),
        "label": parts_of(options.label),
    }
    for table in tables:
        for word, names in role.items():
            for name in names:
                problems += named_column(table.header, name, word, table.source)
    if problems:
        raise AnnotationError(list(dict.fromkeys(problems)))
    by_columns = options.coder_columns is not None or _batches(files, key, options)
    coder = None if by_columns else options.coder or _coder_column(tables)
    own = {} if options.coder is not None or coder is None else _own_coders(tables)
    if coder is not None and options.coder is None and not own and _are_splits(files):
        raise AnnotationError(_splits(files))
    moved = set(own.values()) - {coder}
    every = dict.fromkeys(name for table in tables for name in table.header)
    header = [name for name in every if name not in moved]
    sizes = [len(table) for table in tables]
    columns: dict[str, Sequence[Any]] = {
        name: [
            cell
            for table, size in zip(tables, sizes, strict=True)
            for cell in table.columns.get(name, [""] * size)
        ]
        for name in header
    }
    if coder is not None:
        whose = [
            _who(file, table, own.get(n, coder))
            for n, (file, table) in enumerate(zip(files, tables, strict=True))
        ]
        columns[coder] = [name for names in whose for name in names]
    rows = [RowOf(row, table.source) for table in tables for row in table.rows]
    name = _common(files)
    notes = list(dict.fromkeys(note for table in tables for note in table.notes))
    absent = {
        name: sum(
            size for table, size in zip(tables, sizes, strict=True) if name not in table.columns
        )
        for name in header
    }
    table = Table(dict(columns), rows, name, [], notes, absent)
    source = Source.of_table(table)
    found = source.with_key(options.names) or (None if by_columns else _first_key(tables, coder))
    return source, dataclasses.replace(options, item=found, coder=coder)


_SPLITS = {
    *("train", "training", "test", "testing", "dev", "devel", "development", "val", "valid"),
    *("validation", "eval", "evaluation", "heldout", "trial"),
}


def _are_splits(files: Sequence[File]) -> bool:
    """Return True if the files are named after parts of a corpus, such as train and test."""
    words = [set(re.split(r"[\W_]+", file.who.casefold())) for file in files]
    return all(not file.said for file in files) and all(one & _SPLITS for one in words)


def _splits(files: Sequence[File]) -> Problem:
    what = (
        f"The files are called {some([file.who for file in files])}, as parts of a corpus are, and "
        "no column names the coder."
    )
    remedy = (
        f"Name the column of the coders with {Option('coder', ...)}, or those of a wide table with "
        f"{Option('coder_columns', [...])}. If each file is the work of one coder, name it: "
        "ana=a.csv ben=b.csv."
    )
    return Problem(what, _common(files), remedy)


def _common(files: Sequence[File]) -> str:
    folders = {file.source.name.rpartition("/")[0] for file in files}
    folder = folders.pop() if len(folders) == 1 else ""
    return f"{folder} ({counted(len(files), 'file')})" if folder else counted(len(files), "file")


def _batches(files: Sequence[File], key: str | None, options: Options) -> bool:
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
    if len(parts_of(key)) > 1 or known["coder"] or known["label"] or len(header) < 3:
        return False
    items = [list(map(str, table.columns[key or header[0]])) for table in tables]
    return len(set().union(*items)) == sum(map(len, items))


def _own_coders(tables: Sequence[Table]) -> dict[int, str]:
    """Column that names the coders in each of the tables that have one, whatever it is called."""
    known = [matched(table.header)["coder"] for table in tables]
    return {n: names[0] for n, names in enumerate(known) if len(names) == 1}


def _coder_column(tables: Sequence[Table]) -> str:
    """Column of the coders that the files have; else the name of a new one."""
    hits = Counter(name for table in tables for name in matched(table.header)["coder"])
    several = [name for name, n in hits.items() if n == len(tables)]
    if len(several) == 1 or (several and len(hits) == 1):
        return several[0]
    taken = {name for table in tables for name in table.header} - set(_own_coders(tables).values())
    return next(
        name for name in ("coder", "coder (file)", "coder of the file") if name not in taken
    )


def _who(file: File, table: Table, coder: str) -> Sequence[Any]:
    """Coder of each row: as the file says, unless it holds the work of one who was named."""
    cells = table.columns.get(coder, [""] * len(table))
    names = {str(cell) for cell in cells} - {""}
    if not names or (file.said and len(names) == 1):
        return [file.who] * len(table)
    if len(names) == 1 and "" in cells:
        only = next(iter(names))
        table.notes.append(f"{table.source}: rows without a coder count as those of {only!r}.")
        return [only] * len(table)
    return cells


def _first_key(tables: Sequence[Table], coder: str | None) -> str | None:
    """First column, where no column has a known name and it names each row of every file once."""
    if any(matched(table.header)["item"] for table in tables):
        return None
    first = next((name for name in tables[0].header if name != coder), None)
    if first is None or any(first not in table.columns for table in tables):
        return None
    unique = all(len(set(map(str, t.columns[first]))) == len(t) for t in tables)
    shared = len({str(c) for t in tables for c in t.columns[first]}) < sum(map(len, tables))
    return first if unique and shared else None


def without_labels(columns: Columns, files: Sequence[File], options: Options) -> list[Problem]:
    """Files that lack the column that was found to hold the labels: shaped in another way."""
    name = columns.names.get("label")
    if name is None or options.label is not None or options.question is not None:
        return []
    problems = []
    for file in files:
        header = [str(column) for column in file.source.header]
        if name in header:
            continue
        what = f"There is no column {name!r}, which holds the labels in the other files."
        remedy = (
            f"Rename the column that holds them to {name!r}, or leave the file out. If it has a "
            f"column for each coder, name these: {Option('coder_columns', [...])} with "
            f"{Option('label', name)}. The columns are {some(header)}."
        )
        problems.append(Problem(what, file.source.name, remedy))
    return problems


# -- columns ---------------------------------------------------------------------------------


def joined(files: Sequence[File], parts: Sequence[Columns]) -> Columns:
    """Columns of all files; a file that was named holds the work of its one coder."""
    out = Columns(names=parts[0].names if parts else {})
    problems = [problem for part in parts for problem in part.problems]
    choices = tuple(dict.fromkeys(name for problem in problems for name in problem.choices))
    if choices:
        asked = next(problem for problem in problems if problem.choices)
        names = some(choices)
        what = f"The files hold {counted(len(choices), 'question')}: {names}."
        rest = [problem for problem in problems if not problem.choices]
        problems = [Problem(what, counted(len(files), "file"), asked.remedy, choices), *rest]
    if problems:
        return Columns(problems=list(dict.fromkeys(problems)))
    items, coders, labels, rows = [], [], [], []  # type: ignore[var-annotated]
    gold: dict[Any, Any] = {}
    twice: dict[Any, str] = {}
    texts: dict[Any, str] = {}
    group: dict[Any, Any] = {}
    for file, part in zip(files, parts, strict=True):
        alone = file.said and len(set(part.coders)) == 1
        items += part.items
        coders += [file.who] * len(part.coders) if alone else part.coders
        labels += part.labels
        rows += [
            row if isinstance(row, RowOf) else RowOf(row, file.source.name) for row in part.rows
        ]
        for mine, theirs in ((gold, part.gold), (texts, part.texts), (group, part.group)):
            for name, value in (theirs or {}).items():
                if mine.setdefault(name, value) != value and mine is gold:
                    twice.setdefault(name, file.source.name)
        out.notes += [note for note in part.notes if note not in out.notes]
        out.skips += part.skips
    if twice:
        what = f"{counted(len(twice), 'item')} with more than one gold: {some(list(twice))}."
        where = ", ".join(dict.fromkeys(twice.values()))
        return Columns(problems=[Problem(what, where, "Give every item one gold, in all files.")])
    out.items, out.coders, out.labels, out.rows = items, coders, labels, rows
    out.gold, out.texts, out.group = gold or None, texts or None, group or None
    return out


def account(columns: Columns, files: Sequence[File]) -> list[str]:
    """Report what was taken from each file, and which items only some files have."""
    labels: Counter[str] = Counter()
    items: dict[str, set[Any]] = {}
    coders: dict[str, set[Any]] = {}
    for row, item, coder in zip(columns.rows, columns.items, columns.coders, strict=True):
        file = getattr(row, "file", "")
        labels[file] += 1
        items.setdefault(file, set()).add(item)
        coders.setdefault(file, set()).add(coder)
    notes = []
    for file in dict.fromkeys(file.source.name for file in files):
        if not labels[file]:
            notes.append(f"{file}: no label was taken.")
            continue
        notes.append(
            f"{file}: {counted(labels[file], 'label')} of {counted(len(items[file]), 'item')} "
            f"by {some(sorted(coders[file], key=str))}."
        )
    every = set().union(*items.values()) if items else set()
    alone = Counter(item for mine in items.values() for item in mine)
    once = sum(n == 1 for n in alone.values())
    if len(items) > 1 and once:
        notes.append(f"{once:,} of {counted(len(every), 'item')} are in one of the files only.")
    return notes


def twice(columns: Columns) -> list[Problem]:
    """Coders who labeled the same item in two files."""
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
            f"twice, or say {Option('repeats', 'keep')} if items were shown again.",
        )
        for (coder, one, other), repeats in found.items()
    ]


def _rows(file: str, rows: Sequence[Any]) -> str:
    """Rows of a file, as messages name them; not those of rows that no file has."""
    numbers = [int(row) for row in rows if isinstance(row, int)]
    return at_rows(file, numbers) if numbers else file
