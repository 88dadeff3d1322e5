"""Read annotations from a file: one question, or each of several."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from annomodels.data.annotations import Annotations, Scale
from annomodels.data.html import Html
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Option, raise_all
from annomodels.io.assembly import read_records, read_spans_of
from annomodels.io.border import NoLabels, guarded, is_path
from annomodels.io.codebook import Codebook, fits, is_pattern, unknown
from annomodels.io.many import Path_, Paths, Pile, gathered
from annomodels.io.proposals import with_proposal
from annomodels.io.records import NoUnits, Records
from annomodels.io.source import Opening, Options, Piped, Source
from annomodels.io.tables.columns import Columns, Missing, finished, unused
from annomodels.io.tables.guard import REPEATS, NotAsItSeems, Repeats, suspicions
from annomodels.io.tables.options import check_choice, check_words, checked
from annomodels.io.tables.questions import listed

if TYPE_CHECKING:
    from annomodels.io.span_builder import Spans


_OPENING = ("encoding", "delimiter", "sheet", "columns", "skip_rows")


@checked
def read(
    path: Paths,
    *,
    item: str | Sequence[str] | None = None,
    coder: str | None = None,
    label: str | None = None,
    truth: str | Mapping[Any, Any] | None = None,
    group: str | None = None,
    text: str | None = None,
    labels: Sequence[Hashable] | None = None,
    scale: Scale | Mapping[str, Scale] = "nominal",
    codebook: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    format: str = "auto",
    question: str | None = None,
    question_column: str | None = None,
    missing: Iterable[str] = (),
    dont_know: Sequence[str] | str = (),
    coder_columns: Sequence[str] | None = None,
    coders: Mapping[Any, Any] | str | os.PathLike[str] | None = None,
    units: str | None = None,
    seen: str | None = None,
    models: bool = False,
    sets: bool = False,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | None = None,
    columns: Sequence[str] | None = None,
    skip_rows: int = 0,
    repeats: Repeats = "error",
    map: Mapping[Any, Any] | None = None,
) -> Annotations:
    r"""Read annotations from the export of a labeling tool, or from a plain table.

    The format is detected; ``annomodels convert --list`` lists all formats. Answers marked
    as canceled, rejected, tainted or repeated are left out and counted in ``notes``.

    Cells are read as text: ``None``, ``NA``, ``001`` and ``1.0`` are labels, and only an empty cell
    is a missing label. Only spaces that follow every delimiter are stripped. Labels that differ
    only in case or spaces stay separate and are reported in ``notes``.

    Parameters
    ----------
    path
        A file (optionally gzipped), a folder or zip archive that a tool exports, or "-" for
        standard input. Several files, or a folder of files, are joined by item:
        ``{"ana": "a.xlsx", "ben": "b.xlsx"}`` names the coder of each file. Otherwise the name of a
        file without coders is used as its coder.
    item, coder, label
        Names of the columns of a long table [default: detected, such as ``task``, ``worker``,
        ``label``]. For a wide table, `item` is the item column [default: the first column].
        For a tool export, it is the task field that names the item [default: the task number].
        Several columns may identify the items together: ``["doc", "seg"]`` or ``"doc,seg"``. Item
        names are then CSV rows, such as ``d1,7``.
    truth
        Column with the known true label of items, or a mapping from items to true labels.
    group
        Column with the document or batch of each item.
    text
        Column with the text of each item.
    labels
        All labels in their order [default: the labels that occur, sorted].
    scale
        Scale of the labels: "nominal", "ordinal", "interval" or "ratio". Or a mapping from
        questions, or patterns such as ``"stage_*"``, to scales.
    codebook
        Scale and labels of each question: a table with the columns question, scale and labels
        (low|mid|high), or JSON. Or a mapping from questions or patterns to scales.
    format
        "auto", "long" (a row for each label), "wide" (a column for each coder), "matrix" (wide
        without a header), or the name of a tool, such as "label-studio".
    question
        Question to read if there are several; questions are never mixed.
    question_column
        Column of a table with the question that each row answers.
    dont_know
        Labels that are not classes, such as "don't know". Coefficients treat them as missing;
        models use them as evidence, see :class:`annomodels.models.Answering`.
    missing
        Further texts that mark a missing label, such as NA.
    coder_columns
        Columns of a wide table that are coders [default: all but the named ones].
    coders
        Names for the identifiers of coders (JSON, or two columns). Or a mapping.
    units
        What counts as an item if coders marked stretches of text. One of "exact",
        "token", "overlap" and "chain", see :meth:`annomodels.io.span_builder.Spans.units`.
    seen
        Documents of spans that coders read: "all", or only those that they "marked". Required if
        it is unclear whether a document without marks was read.
    models
        Count predictions of models in the export as coders (model:NAME).
    sets
        Turn several answers to one question into a set; else they are joined (a|b).
    encoding
        Encoding of the file [default: UTF-8, or UTF-16 with a byte order mark].
    delimiter
        Delimiter of the file [default: detected among ``, ; tab |``]. A space matches any number
        of blanks.
    sheet
        Sheet of a workbook, if several have data; "*" for all, each the work of one coder.
    columns
        Names of the columns of a table without a header, in their order.
    skip_rows
        Rows to skip at the top of a table, such as a title.
    repeats
        Labels that a coder gives again to an item: count "all", or only the "first" of each. The
        default "error" counts all, but raises if at least a tenth of the labels repeat, unless
        coders agree with themselves as if items were shown twice on purpose.
    map
        Labels to recode, such as ``{"Tie": "0"}``.

    Returns
    -------
    Annotations
        With ``skips``, the number of cells or rows without a label, and ``notes``.

    Raises
    ------
    AnnotationError
        If the file cannot be read; lists all problems, each with its row (the header is row 1).
    MissingDependency
        If a format needs a package that is not installed (Excel, SPSS, CAS, JSON over 200 MB).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "votes.csv"
    >>> _ = path.write_text("item,ana,ben\nt1,NA,no\nt2,no,\n")
    >>> data = read(path)
    >>> data
    2 items × 2 coders × 2 labels · 3 annotations · 1 to 2 labels per item
    >>> data.labels, data.skips
    (('NA', 'no'), 1)
    """
    return with_way_out(path, {k: v for k, v in locals().items() if k != "path"}, read_one)


def annotations_of(data: object) -> Annotations:
    return read(data) if is_path(data) else read_frame(data, {})


def read_frame(frame: object, said: Mapping[str, object]) -> Annotations:
    """Read a data frame as :func:`annomodels.read` reads a table; the first row is 1."""
    from annomodels.io.tables.workbooks import frame_table, is_matrix

    default = read.__kwdefaults__ or {}
    check_words("from_frame", said, default)
    table = frame_table(frame)
    if is_matrix(table.header) and not any(map(said.get, ("item", "coder", "label"))):
        said = {"coder_columns": table.header, **said}
    source = Source.of_table(table)
    return with_way_out(source, {**default, **said}, read_one, "Annotations.from_frame")


def read_one(path: Paths | Source, said: Mapping[str, object]) -> Annotations:
    found, made, _ = understood(path, said)
    with guarded(found.source.name):
        columns = found.chosen()
    return made(columns)


def with_way_out[T](
    path: Paths | Source, said: Mapping[str, object], reader: Callable[..., T], verb: str = "read"
) -> T:
    """Read; if that fails, add to the error the options that would work."""
    if path == "-":
        path = Piped("-")  # a pipe cannot be read twice
    kept: dict[str, Source] = {}

    def opened(how: Mapping[str, object]) -> Source:
        """Open a file once per combination of opening options."""
        way = repr([how.get(name) for name in _OPENING])
        if way in kept:
            return kept[way].again()
        source = _opened(path, how)
        if not isinstance(source, Pile):
            kept[way] = source
        return source

    try:
        return reader(opened(said), said)
    except AnnotationError as error:
        default = read.__kwdefaults__ or {}
        given = {
            name: value for name, value in said.items()
            if name not in default or value != default[name]
        }  # fmt: skip
        more = {name: value for name, value in default.items() if name not in given}

        def tried(new: Mapping[str, object]) -> T:
            how = {**more, **new}
            return reader(opened(how), how)

        raise with_proposal(
            error, verb, path, given, lambda new: opened({**said, **new}), tried
        ) from error.__cause__


def understood(
    path: Paths | Source, said: Mapping[str, Any], *, every: bool = False
) -> tuple[Records, Callable[[Columns], Annotations], Codebook]:
    """Return the records, a function from columns to annotations, and the codebook."""
    repeats = said["repeats"]
    check_choice("repeats", repeats, *REPEATS)
    _check_seen(said["seen"])
    source = _opened(path, said)
    book = Codebook(said["scale"], said["codebook"])
    said = {**said, **_stripped(source, said)}
    truth = said["truth"]
    with guarded(source.name):
        key = source.with_key(said["item"])
    missing = Missing([said["missing"]] if isinstance(said["missing"], str) else said["missing"])
    options = Options(
        **{name: said[name] for name in ("coder", "label", "group", "text")},
        **{name: said[name] for name in ("question", "question_column")},
        **{name: said[name] for name in ("models", "sets", "format", "units", "seen", "repeats")},
        item=key,
        names=said["item"],
        truth=truth if isinstance(truth, str) else None,
        missing=missing,
        coder_columns=_tuple(said["coder_columns"]),
        every=every,
    )
    with guarded(source.name):
        found = read_records(source, options)

    def made(columns: Columns) -> Annotations:
        if said["coders"] is not None:
            from annomodels.io.mappings import names_from, rename_coders

            rename_coders(columns, names_from(said["coders"]))
        if isinstance(truth, Mapping):
            columns.gold = truth
        if said["map"]:
            from annomodels.io.mappings import recode_labels

            recode_labels(columns, said["map"], found.source.name)
        if not every:
            met = cast("Missing", found.options.missing).met
            absent = unused("missing", sorted(missing), met, set(columns.labels))
            columns.notes = [*columns.notes, *absent]
        name = columns.question or columns.names.get("label", "")
        if not every and not columns.problems and book.unfit([name]):
            each = dataclasses.replace(options, every=True, question=None, label=None)
            known = (name, *read_records(source, each).parts)
            raise_all(book.unfit([one for one in dict.fromkeys(known) if one]))
        entry = book.of(name)
        labels = said["labels"] if said["labels"] is not None else entry.labels
        scale, dont_know = cast("Scale", entry.scale or "nominal"), _tuple(said["dont_know"]) or ()
        data = finished(columns, found.source.name, labels, scale, dont_know)
        by_units = options.units is not None
        if problems := suspicions(
            data, columns, check_repeats=repeats == "error", by_units=by_units
        ):
            raise NotAsItSeems(problems)
        if repeats == "first" and data.repeats:
            once = f"{counted(data.repeats, 'repeat')} of a coder left out (first label kept)."
            data = data.without_repeats().replace(notes=(*data.notes, once))
        return data

    return found, made, book


def read_spans(
    path: Paths,
    *,
    item: str | Sequence[str] | None = None,
    text: str | None = None,
    format: str = "auto",
    seen: str | None = None,
    models: bool = False,
    encoding: str | None = None,
) -> Spans:
    r"""Read marked spans of text and their chains, without turning them into items.

    Parameters
    ----------
    path
        A file, folder or zip archive of WebAnno, INCEpTION (UIMA CAS), brat, CoNLL, Label Studio,
        Prodigy, doccano or Potato, or a table (document, coder, start, end, label); or several, as
        for :func:`annomodels.read`.
    item, text
        Fields with the document name and text, for tools with custom fields.
    format
        "auto" or the name of a format.
    seen, models
        As for :func:`annomodels.read`.
    encoding
        Encoding of the text; UTF-8 by default.

    Returns
    -------
    Spans
        One row per span in ``table``, with offsets in code points for all tools; ``units`` turns
        spans into items.

    Raises
    ------
    AnnotationError
        If the file cannot be read, or has no spans.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for coder, end in (("ana", 4), ("ben", 10)):
    ...     (folder / coder).mkdir()
    ...     _ = (folder / coder / "d.txt").write_text("Haag plays in Paris.")
    ...     _ = (folder / coder / "d.ann").write_text(f"T1\tPER 0 {end}\tHaag\n")
    >>> read_spans(folder)
    2 spans · 1 document · 2 coders
    >>> read_spans(folder).units("overlap")
    1 item × 2 coders × 1 label · 2 annotations · complete
    """
    source = _opened(path, {"encoding": encoding})
    with guarded(source.name):
        key = source.with_key(item)
        _check_seen(seen)
        options = Options(item=key, names=item, text=text, format=format, seen=seen, models=models)
        return read_spans_of(source, options)


# keywords of `read` that also apply to spans, in addition to those of `read_spans`
_OF_SPANS = {"question", "coders", "map", "coder", "label", *_OPENING}


def read_any(path: Paths, **reading: Any) -> Annotations | Spans:
    """Read labels of items, or spans if the file has spans and `units` is not given."""
    default = read.__kwdefaults__ or {}

    def one(where: Paths | Source, said: Mapping[str, Any]) -> Annotations | Spans:
        try:
            return read_one(where, said)
        except NoUnits as error:
            with guarded("the marks"):
                return _named(error.marked(), said, default)

    return with_way_out(path, {**default, **reading}, one)


def _named(spans: Spans, said: Mapping[str, Any], default: Mapping[str, Any]) -> Spans:
    """Return the spans of the requested layer, with coders and labels renamed."""
    from annomodels.io.mappings import names_from

    known = {*(read_spans.__kwdefaults__ or {}), *_OF_SPANS}
    strange = [name for name, value in said.items() if value != default[name] and name not in known]
    if strange:
        what = f"Marks of text are read without {', '.join(str(Option(name)) for name in strange)}."
        remedy = f"Leave it out, or make items of the marks: {Option('units', 'exact')}."
        raise AnnotationError(what, spans.source, remedy, code="not-of-spans")
    spans = spans.only(said["question"])
    names, labels = names_from(said["coders"]), said["map"] or {}
    marks = tuple(
        dataclasses.replace(
            s, coder=names.get(s.coder, s.coder), label=str(labels.get(s.label, s.label))
        )
        for s in spans.spans
    )
    seen = {
        document: tuple(sorted({names.get(coder, coder) for coder in coders}))
        for document, coders in spans.seen.items()
    }
    return dataclasses.replace(spans, spans=marks, seen=seen)


def _check_seen(seen: str | None) -> None:
    if seen is not None:
        check_choice("seen", seen, "all", "marked")


def _opened(path: Paths | Source, said: Mapping[str, object]) -> Source:
    return path if isinstance(path, Source) else gathered(path, lambda one: _source(one, said))


def _source(path: Path_, said: Mapping[str, Any]) -> Source:
    delimiter, columns = said.get("delimiter"), _tuple(said.get("columns"))
    skip_rows = said.get("skip_rows", 0)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        what = f"{delimiter!r} cannot be a delimiter."
        remedy = "Use one character, such as ',', ';', '|' or a tab."
        raise AnnotationError(what, remedy=remedy, code="no-delimiter")
    opening = Opening(said.get("encoding"), delimiter, said.get("sheet"), columns, skip_rows)
    source = Source(path, opening=opening)
    if columns is None and not skip_rows:
        return source
    if columns is not None and len(set(columns)) < len(columns):
        what = f"The columns {', '.join(columns)} are not all different."
        raise AnnotationError(what, remedy="Give every column its own name.", code="names-twice")
    with guarded(source.name):
        kind = source.kind
    if kind not in ("delimited", "excel", "inside"):
        what = "Only tables (text or Excel) have columns to name and rows to skip."
        raise AnnotationError(
            what,
            source.name,
            f"Leave out {Option('columns')} and {Option('skip_rows')}.",
            code="tables-only",
        )
    return source


def _stripped(source: Source, said: Mapping[str, Any]) -> dict[str, str]:
    """Return given column names without outer blanks, as in stripped headers."""
    roles = ("item", "coder", "label", "truth", "group", "text", "question_column")
    given = {role: said[role] for role in roles if isinstance(said[role], str)}
    blank = {role: name for role, name in given.items() if name != name.strip()}
    with guarded(source.name):
        known = source.header if blank and source.inside is None else ()
    return {role: name.strip() for role, name in blank.items() if name not in known}


def _tuple(names: Sequence[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(names)


# -- several questions: unreadable ones are left out with the reason -------------------------------


@dataclass(frozen=True, repr=False)
class Questions(Mapping[str, Annotations], Html):
    """Annotations of each question of a file, by its name.

    Parameters
    ----------
    annotations
        Annotations of each question.
    left_out
        Reasons why other columns or questions were left out.
    source
        Name of the file.
    """

    annotations: Mapping[str, Annotations]
    left_out: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def __getitem__(self, name: str) -> Annotations:
        return self.annotations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.annotations)

    def __len__(self) -> int:
        return len(self.annotations)

    def __repr__(self) -> str:
        lines = [f"{counted(len(self), 'question')} of {self.source}"]
        lines += [f"{name}: {data!r}" for name, data in self.annotations.items()]
        if self.left_out:
            lines.append(f"Left out: {listed(self.left_out)}.")
        return "\n".join(lines)


def read_questions(path: Paths, question: str | Sequence[str] = (), **reading: object) -> Questions:
    r"""Read several questions of a file separately, in one pass over the file.

    Columns without labels are left out and listed with the reason: free text, JSON, times,
    identifiers, values that are constant per coder or per item, and questions with only one
    answer. A question given by its full name is always tried.

    Parameters
    ----------
    path
        As for :func:`annomodels.read`.
    question
        Names of questions, or patterns such as ``"stage_*"`` [default: all].
    **reading
        As for :func:`annomodels.read`. With `scale` and `codebook`, each question has its own
        scale: ``scale={"stage_*": "ordinal"}``.

    Returns
    -------
    Questions
        A mapping from names to :class:`annomodels.Annotations`, with ``left_out``.

    Raises
    ------
    AnnotationError
        If the file cannot be read, a name matches no question, or no question can be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sheet.csv"
    >>> rows = ["item,coder,tone,frame,lead_time", "t1,ana,1,war,7", "t1,ben,2,war,9"]
    >>> _ = path.write_text("\n".join([*rows, "t2,ana,2,money,8", "t2,ben,2,war,5"]) + "\n")
    >>> found = read_questions(path, scale={"tone": "ordinal"})
    >>> list(found), found["tone"].scale, found["frame"].scale
    (['tone', 'frame'], 'ordinal', 'nominal')
    >>> print(found.left_out["lead_time"])
    its name says that it describes the item, the coder or the session
    """
    names = [question] if isinstance(question, str) else list(question)
    default = read.__kwdefaults__ or {}
    check_words("read_questions", reading, default)
    said = {**default, **reading, "question": None}
    return with_way_out(path, said, lambda where, how: _each(where, how, names), "read_questions")


def _each(path: Paths, said: Mapping[str, object], names: Sequence[str]) -> Questions:
    """Read each question; leave out unreadable questions with the reason."""
    found, made, book = understood(path, said, every=True)
    found.check()
    source = found.source.name
    if not found.parts:
        columns = found.chosen()
        label = columns.names.get("label", "")
        problems = unknown(dict.fromkeys(names, source), [])
        problems += book.unfit([label] if label else [])
        raise_all(problems)
        return Questions({"": made(columns)}, {}, source)
    problems = unknown(dict.fromkeys(names, source), found.parts)
    problems += book.unfit(found.parts)
    raise_all(problems)
    annotations: dict[str, Annotations] = {}
    left_out: dict[str, str] = {}
    repeated: NotAsItSeems | None = None
    for name, part in found.parts.items():
        if names and not any(fits(asked, name) for asked in names):
            continue
        columns = part()
        if name not in names and (why := found.lacks(name, columns)) is not None:
            left_out[name] = why.why
            continue
        try:
            columns.question = columns.question or name
            columns.notes = [*found.notes, *columns.notes]
            annotations[name] = made(columns)
        except AnnotationError as error:
            problems += error.problems
            if isinstance(error, NotAsItSeems) and (repeated is None or not repeated.is_solved):
                repeated = error
            first = error.problems[0].what
            left_out[name] = first[:1].lower() + first[1:].rstrip(".")
            if codes := dict(error.problems[0].options).get("missing"):
                left_out[name] += f"; {Option('missing', list(codes))} reads the others"
    if not annotations and repeated is not None:
        raise repeated  # the items are wrong for every question
    if not annotations:
        named = [name for name in names if not is_pattern(name)]
        if len(left_out) == 1 and problems and named:
            raise AnnotationError(problems)
        what = f"None of {counted(len(left_out), 'question')} can be read: {listed(left_out)}."
        same = {problem.remedy for problem in problems}
        remedy = f"Name a column that holds labels with {Option('question')}."
        if len(problems) == len(left_out) and len(same) == 1:
            remedy = same.pop()
        raise AnnotationError(NoLabels(what, source, remedy))
    return Questions(annotations, left_out, source)
