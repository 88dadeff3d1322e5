"""From a source, or several, to columns: which format it is, and what is joined to what."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, Option, Problem, Verb
from annomodels.io.border import guarded, unreadable
from annomodels.io.formats import FORMATS, PLAIN, Format
from annomodels.io.joining import account, joined, stacked, twice, without_labels
from annomodels.io.many import File, files_in
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import Columns, matched
from annomodels.io.tables.options import meant
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
            form.columns(file.source, _whose(file, form, _own(file, options)))
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


def _own(file: File, options: Options) -> Options:
    """Options for one of several files: of the columns of coders those that it has."""
    own = dataclasses.replace(options, item=file.source.with_key(options.names))
    if options.coder_columns is None or options.label is None:
        return own
    has = tuple(name for name in options.coder_columns if name in file.source.header)
    if has:
        return dataclasses.replace(own, coder_columns=has, label=None)
    column = file.source.with_coder(file.who)
    return dataclasses.replace(own, coder_columns=None, coder=options.coder or column)


def _whose(file: File, form: Format, own: Options) -> Options:
    """Options with the coder of a table that names none, beside exports of tools."""
    if form.name != "long" or own.coder is not None or own.coder_columns is not None:
        return own
    if matched(file.source.header)["coder"]:
        return own
    return dataclasses.replace(own, coder=file.source.with_coder(file.who))


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
        found = {form.name: form for form in FORMATS}.get(name)
        if found is None:
            names = ["auto", *(form.name for form in FORMATS)]
            remedy = f"{meant(name, names)}Use one of {', '.join(names)}."
            raise AnnotationError(Problem(f"There is no format {name!r}.", remedy=remedy))
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
