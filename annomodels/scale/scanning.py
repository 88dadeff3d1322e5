"""``scan``: from files to coded, sorted columns on disk, in memory independent of their size."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from annomodels.data.annotations import SCALES, Scale
from annomodels.data.names import label_text
from annomodels.data.validation import EMPTY, is_blank
from annomodels.engines.source.disk import Keeper
from annomodels.errors import AnnotationError, EngineError, Option, Problem
from annomodels.io.border import shown
from annomodels.io.roles import MANY
from annomodels.io.tables.chunks import opened
from annomodels.io.tables.columns import spellings
from annomodels.io.tables.guard import (
    LOOKED_AT,
    REPEATS,
    Repeats,
    looks_meant,
    proposal,
    repeated_problem,
)
from annomodels.io.tables.keys import Names, parts_of, said_key
from annomodels.io.tables.options import check_choice
from annomodels.io.tables.plain import ids_column, is_text_of_items, unused_columns
from annomodels.io.tables.questions import choose_question, question_column
from annomodels.io.writing import OutputError, named
from annomodels.progress import Progress, reporting, silent
from annomodels.scale.coding import final_codes, label_problems, scan_notes
from annomodels.scale.files import Paths, columns_of, files_of, fingerprint_of
from annomodels.scale.intake import Intake, Register
from annomodels.scale.rows import CodedRows
from annomodels.scale.scanned import ABOUT, COUNTS, VERSION, Scanned, is_whole, load_scan, save_scan
from annomodels.scale.sorting import SortedCounts, write_sorted

ROWS = "rows"  # folder of the rows that are not sorted yet


def scan(
    path: Paths,
    *,
    item: Names | None = None,
    coder: str | None = None,
    label: str | None = None,
    truth: str | Mapping[Any, Any] | None = None,
    labels: Sequence[Hashable] | None = None,
    scale: Scale = "nominal",
    missing: Iterable[str] = (),
    dont_know: Sequence[Hashable] | str = (),
    question: str | None = None,
    repeats: Repeats = "error",
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Scanned:
    r"""Code and sort labels that do not fit into memory, for :func:`annomodels.fit`.

    The rows are streamed once into a DuckDB database (``pip install duckdb``), which
    sorts them in a gigabyte of memory and on disk. Names are read and sorted as in
    :func:`annomodels.read`, so that a fit gives the same numbers for any order of the rows and any
    split into files.

    Parameters
    ----------
    path
        A Parquet, CSV or TSV file with one row per label; a folder of such files; a pattern such as
        ``"labels/*.parquet"``; or several of these.
    item, coder, label
        Names of the columns; by default common names are recognized, as in
        :func:`annomodels.read`. Several columns together may identify the items.
    truth
        A column with the known truth of items, or a mapping from item to truth.
    labels, scale, missing
        As in :func:`annomodels.read`.
    dont_know
        Labels that are not classes ("don't know"), as in :func:`annomodels.read`. A fit uses which
        coders give them to which items; :meth:`Scanned.without_dont_know` drops them.
    question
        Question to read if a column of this name contains several; they are never mixed.
    repeats
        As in :func:`annomodels.read`: "all" if coders labeled items more than once. "first" is not
        possible, since the order of the rows is not kept.
    cache
        Folder for the sorted labels, which a second scan of the same files reuses. By default they
        are in a temporary folder, which is removed with the result.
    progress
        Called as ``progress(stage, share_done, message)``; by default notebooks show a bar.

    Returns
    -------
    Scanned

    Raises
    ------
    AnnotationError
        If there are problems; lists all of them with file, row group, row and column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import annomodels as am
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "votes.csv"
    >>> _ = path.write_text("item,coder,label\nt10,ana,no\nt2,ana,yes\nt2,ben,no\n")
    >>> found = am.scan(path)
    >>> found.n_items, found.coders, found.labels
    (2, ('ana', 'ben'), ('no', 'yes'))
    >>> found.to_annotations().items
    ('t2', 't10')
    """
    if scale not in SCALES:
        remedy = f"Use one of {', '.join(SCALES)}."
        raise AnnotationError(Problem(f"{scale!r} is not a scale.", remedy=remedy))
    known = {label_text(k): v for k, v in truth.items()} if isinstance(truth, Mapping) else None
    check_choice("repeats", repeats, *REPEATS)
    if repeats == "first":
        what = "Streaming does not keep the order of the rows, so no repeat counts as the first."
        remedy = f"Remove repeats from the file, or use {Option('repeats', 'all')}."
        raise AnnotationError(Problem(what, "repeats", remedy, code="no-first-repeat"))
    kinds = [dont_know] if isinstance(dont_know, str) else dont_know
    places = files_of(path)
    key = said_key(item, opened(places[0]).header) if item is not None else None
    request = _Request(
        places,
        {"item": key, "coder": coder, "label": label},
        truth if isinstance(truth, str) else None,
        known,
        None if labels is None else tuple(labels),
        scale,
        frozenset(
            form
            for text in ([missing] if isinstance(missing, str) else missing)
            for form in map(str, spellings(text))
        ),
        tuple(dict.fromkeys(map(label_text, kinds))),
        question,
        repeats,
    )
    keeper = None
    if cache is None:
        keeper = Keeper()
        target = keeper.folder / "scan"
    else:
        target = Path(os.path.realpath(cache)) if os.path.islink(cache) else Path(cache)
        if os.path.lexists(target) and not target.is_dir():
            what, remedy = "The cache must be a folder, but this is a file.", "Give a new folder."
            raise OutputError(Problem(what, str(cache), remedy))
        kept = _kept(target, request.fingerprint)
        if kept is not None:
            (progress or silent)("reading", 1.0, "found in the cache")
            return kept
    place = tempfile.gettempdir() if cache is None else cache
    with named(place):
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        with named(place):
            with closing(CodedRows(work / ROWS)) as rows, reporting(progress) as tell:
                request = replace(request, tell=tell)
                with _refusing_changes(request):
                    intake, remarks = _read(request, rows)
                found = _sorted(request, work, intake, remarks)
            shutil.rmtree(work / ROWS, ignore_errors=True)
            save_scan(found)
            _move(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return load_scan(target, keeper)


@dataclass(frozen=True)
class _Request:
    """Arguments of :func:`scan`."""

    paths: list[Path]
    columns: dict[str, str | None]
    truth: str | None
    known: dict[str, Any] | None
    labels: tuple[Hashable, ...] | None
    scale: Scale
    missing: frozenset[str]
    dont_know: tuple[str, ...]
    question: str | None
    repeats: Repeats
    tell: Progress = silent

    @property
    def texts(self) -> list[str] | None:
        """Declared labels as strings."""
        return None if self.labels is None else [label_text(name) for name in self.labels]

    @cached_property
    def fingerprint(self) -> str:
        """A string that changes with the files and the arguments."""
        known = None if self.known is None else sorted((k, str(v)) for k, v in self.known.items())
        said = [
            VERSION, self.columns, self.truth, known, self.texts, self.scale,
            sorted(self.missing), self.dont_know, self.question,
            parts_of(self.columns["item"]), self.repeats,
        ]  # fmt: skip
        return fingerprint_of(self.paths, said)

    @property
    def source(self) -> str:
        """Name of the files in messages."""
        first, n = self.paths[0], len(self.paths)
        return shown(first.name) if n == 1 else f"{shown(first.parent)} ({n} files)"


@contextmanager
def _refusing_changes(request: _Request) -> Iterator[None]:
    """Refuse files that change in the block; that is then also the reason of other problems."""
    before, found = request.fingerprint, None
    try:
        yield
    except AnnotationError as error:
        found = error
    if replace(request).fingerprint != before:
        what = "The labels changed while they were read."
        remedy = "Wait until the files are complete, then run this again."
        raise AnnotationError(Problem(what, request.source, remedy)) from found
    if found is not None:
        raise found


def _read(request: _Request, rows: CodedRows) -> tuple[Intake, list[str]]:
    """Stream the rows into a database; return the intake and notes."""
    files = [opened(path) for path in request.paths]
    header, named = files[0].header, request.columns
    asked, missed = question_column(header, named.values(), request.question, request.source)
    if missed:
        raise AnnotationError(missed)
    if asked is not None and request.question is None:
        head = files[0].head(LOOKED_AT)
        asked = None if is_text_of_items(head, asked, named["item"]) else asked
    columns = columns_of(files, named, {"truth": request.truth, "question": asked})
    ids = [ids_column(file.header, columns.values()) for file in files]
    roles = [columns if name is None else {**columns, "id": name} for name in ids]
    fractional: set[str] = set()
    for file, names in zip(files, roles, strict=True):
        fractional |= file.fractional(list(names.values()))
    sizes = [file.rows for file in files]
    total = max(sum(sizes), 1)
    intake = Intake(
        rows, columns, request.texts, {*EMPTY, *request.missing}, request.question,
        Register(request.dont_know), any(ids),
    )  # fmt: skip
    for file, names, before in zip(files, roles, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True):
        for chunk in file.chunks(names, fractional):
            intake.take(chunk)
            done = (before + chunk.first + len(chunk)) / total
            request.tell("reading", min(done, 1.0), f"{intake.rows:,} rows")
    if asked is not None:
        where = f"{request.source}, column {asked!r}"
        _, problems = choose_question(intake.questions.counts, request.question, where)
        if problems:
            raise AnnotationError(problems)
    if request.scale in ("interval", "ratio"):
        known = (request.known or {}).values()
        intake.write_points(label_text(truth) for truth in known if not is_blank(truth))
    problems = [*(p for file in files for p in file.problems), *intake.places.problems(columns)]
    problems += label_problems(intake, request.scale, request.source)
    if problems:
        raise AnnotationError(problems)
    used = [part for name in columns.values() for part in (name, *parts_of(name))]
    return intake, unused_columns(header, used, "truth" in columns)


def _sorted(request: _Request, work: Path, intake: Intake, remarks: list[str]) -> Scanned:
    coders, labels, recoding, notes = final_codes(
        intake, intake.kept, request.labels, request.scale, request.known
    )
    census = write_sorted(
        intake.kept, work, recoding, intake.places, lambda share: request.tell("sorting", share, "")
    )
    problems = census.problems(request.truth or "truth")
    if request.repeats == "error":
        problems += _repeated(request, census, intake.columns)
    if problems:
        raise AnnotationError(problems)
    return Scanned(
        folder=work,
        coders=coders,
        labels=labels,
        scale=request.scale,
        declared=request.labels is not None,
        blocks=tuple(census.blocks),
        dont_know=request.dont_know,
        skips=intake.skips - census.dropped_skips,
        source=request.source,
        notes=(*remarks, *notes, *scan_notes(intake, census)),
        fingerprint=request.fingerprint,
        **{name: getattr(census, name) for name in COUNTS},
    )


def _repeated(request: _Request, census: SortedCounts, names: dict[str, str]) -> list[Problem]:
    """List the problem of repeated labels, with columns that would make rows unique."""
    n = int(census.per_label.sum())
    if census.repeats < MANY * n or census.repeats < 2:
        return []
    labels = {label_text(name) for name in request.labels or ()}
    found = proposal(opened(request.paths[0]).head(LOOKED_AT), names, labels)
    pairs, same = int(census.repeated_pairs.sum()), int(census.repeats_agree.sum())
    if found is None and looks_meant(census.per_label, pairs, same):
        return []
    return [repeated_problem(census.repeats, n, request.source, names["item"], [], found)]


def _kept(target: Path, fingerprint: str) -> Scanned | None:
    """Return the result of an earlier scan of the same files, if there is one."""
    if not target.exists():
        return None
    try:
        earlier = load_scan(target)
    except EngineError:
        if any(target.iterdir()) and not (target / ABOUT).is_file():
            what = "This folder contains other files."
            remedy = "Give an empty or a new folder for the cache."
            raise OutputError(Problem(what, str(target), remedy)) from None
        return None
    # damaged blocks are sorted again
    return earlier if earlier.fingerprint == fingerprint and is_whole(target) else None


def _move(work: Path, target: Path) -> None:
    """Move the complete folder to its target, replacing an older scan."""
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        if target.exists():
            os.replace(target, old / "old")
        os.replace(work, target)
    finally:
        shutil.rmtree(old, ignore_errors=True)
