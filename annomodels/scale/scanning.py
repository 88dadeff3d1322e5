"""``scan``: files to coded, sorted blocks on disk, in memory that does not grow with the labels."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from annomodels.data.annotations import SCALES, Scale
from annomodels.data.coding import natural_key
from annomodels.data.names import label_text
from annomodels.errors import AnnotationError, EngineError, Problem
from annomodels.io.tables.questions import choose_question, question_column
from annomodels.io.writing import OutputError
from annomodels.scale.chunks import opened
from annomodels.scale.coding import final_labels, label_problems, scan_notes
from annomodels.scale.files import Paths, columns_of, files_of, fingerprint_of, remarks_on
from annomodels.scale.intake import Intake
from annomodels.scale.keeper import Keeper
from annomodels.scale.repeated import ids_of
from annomodels.scale.scanned import ABOUT, VERSION, Scanned, load_scan, save_scan
from annomodels.scale.sorting import Recoding, sort_buckets
from annomodels.scale.spill import Bucket, Spill, edges_of

__all__ = ["scan"]

SAMPLED_GROUPS, SAMPLED_ROWS = 32, 20_000
Told = Callable[[str, float, str], None]


def scan(
    path: Paths,
    *,
    item: str | None = None,
    coder: str | None = None,
    label: str | None = None,
    gold: str | Mapping[Any, Any] | None = None,
    labels: Sequence[Hashable] | None = None,
    scale: Scale = "nominal",
    missing: Iterable[str] = (),
    dont_know: Sequence[Hashable] | str = (),
    question: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Told | None = None,
) -> Scanned:
    r"""Code and sort labels that do not fit into memory, for :func:`annomodels.fit`.

    The rows are streamed once, spread over files by the name of the item, and each file is sorted
    by itself. What is held at once are some megabytes of rows and the names of coders and labels.
    Names are read and sorted as :func:`annomodels.read` does it, so that a fit gives the same
    numbers, in whatever order the rows stand and however they are spread over files.

    Parameters
    ----------
    path
        A Parquet, CSV or TSV file with a row for each label; a folder of such files; a pattern
        such as ``"labels/*.parquet"``; or several of these.
    item, coder, label
        Names of the columns; without them, known names are looked for, as in
        :func:`annomodels.read`.
    gold
        A column with the known truth of items, or a mapping from item to truth.
    labels, scale, missing
        As in :func:`annomodels.read`.
    dont_know
        Labels that are no class ("don't know"): set aside as in :func:`annomodels.read`, and a
        fit learns from who gives them to what; :meth:`Scanned.without_dont_know` leaves them out.
    question
        Which question to take where a column of this name holds several; they are never mixed.
    cache
        Folder in which the sorted blocks are kept; a second scan of the same files finds them
        there. Without it they are in a temporary folder and go with the result.
    progress
        Called as ``progress(stage, share_done, message)``.

    Returns
    -------
    Scanned

    Raises
    ------
    AnnotationError
        With all problems at once, each with file, row group, row and column.

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
    absent = [missing] if isinstance(missing, str) else missing
    request = _Request(
        files_of(path),
        question,
        {"item": item, "coder": coder, "label": label},
        gold,
        None if labels is None else tuple(labels),
        scale,
        frozenset(absent),
        _names(dont_know),
        progress if progress is not None else _quiet,
    )
    keeper = None
    if cache is None:
        keeper = Keeper()
        target = keeper.folder / "scan"
    else:
        target = Path(cache)
        kept = _kept(target, request.fingerprint)
        if kept is not None:
            request.tell("reading", 1.0, "found in the cache")
            return kept
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        save_scan(_sorted(request, work, *_read(request, work / "spill")))
        _move(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return load_scan(target, keeper)


@dataclass(frozen=True)
class _Request:
    """What was asked for; see :func:`scan`."""

    paths: list[Path]
    question: str | None
    given: dict[str, str | None]
    gold: str | Mapping[Any, Any] | None
    labels: tuple[Hashable, ...] | None
    scale: Scale
    missing: frozenset[str]
    dont_know: tuple[str, ...]
    tell: Told

    @property
    def gold_column(self) -> str | None:
        """Column of the known truth."""
        return self.gold if isinstance(self.gold, str) else None

    @property
    def known(self) -> dict[str, Any] | None:
        """Known truth by item."""
        if not isinstance(self.gold, Mapping):
            return None
        return {label_text(name): truth for name, truth in self.gold.items()}

    @property
    def texts(self) -> list[str] | None:
        """Declared labels as texts."""
        return None if self.labels is None else [label_text(name) for name in self.labels]

    @property
    def fingerprint(self) -> str:
        """A text that changes with the files and with what was said."""
        known = None if self.known is None else sorted((k, str(v)) for k, v in self.known.items())
        said = [
            VERSION, self.given, self.gold_column, known, self.texts, self.scale,
            sorted(self.missing), self.dont_know, self.question,
        ]  # fmt: skip
        return fingerprint_of(self.paths, said)

    @property
    def source(self) -> str:
        """Name of the whole in messages."""
        first = self.paths[0]
        return first.name if len(self.paths) == 1 else f"{first.parent} ({len(self.paths)} files)"


def _read(request: _Request, folder: Path) -> tuple[Intake, list[Bucket], list[str]]:
    """Stream the rows into buckets."""
    files = [opened(path) for path in request.paths]
    taken = request.given.values()
    asked, missed = question_column(files[0].header, taken, request.question, request.source)
    if missed:
        raise AnnotationError(missed)
    columns = columns_of(files, request.given, {"gold": request.gold_column, "question": asked})
    ids = [ids_of(file.header, tuple(columns.values())) for file in files]
    own = [columns if name is None else {**columns, "id": name} for name in ids]
    fractional = {
        name
        for file, here in zip(files, own, strict=True)
        for name in file.fractional(list(here.values()))
    }
    rows = [file.rows for file in files]
    total = max(sum(rows), 1)
    sampled = [
        names
        for file in files[:: max(1, len(files) // SAMPLED_GROUPS)]
        for names in file.sample(
            columns["item"], fractional, max(1, SAMPLED_GROUPS // len(files)), SAMPLED_ROWS
        )
    ]
    spill = Spill(folder, edges_of(sampled, total))
    intake = Intake(
        spill, columns, request.texts, request.missing, request.question, request.dont_know,
        any(ids),
    )  # fmt: skip
    befores = np.cumsum([0, *rows[:-1]]).tolist()
    for file, here, before in zip(files, own, befores, strict=True):
        for chunk in file.chunks(here, fractional):
            intake.take(chunk)
            done = (before + chunk.first + len(chunk)) / total
            request.tell("reading", min(done, 1.0), f"{intake.rows:,} rows")
    buckets = spill.close()
    if asked is not None:
        where = f"{request.source}, column {asked!r}"
        found = choose_question(intake.questions.counts, request.question, where)
        if found[1]:
            raise AnnotationError(found[1])
    problems = [*(p for file in files for p in file.problems), *intake.places.problems(columns)]
    problems += label_problems(intake, request.scale, request.source)
    if problems:
        raise AnnotationError(problems)
    return intake, buckets, remarks_on(files[0].header, columns)


def _sorted(
    request: _Request, work: Path, intake: Intake, buckets: list[Bucket], remarks: list[str]
) -> Scanned:
    """Sort the buckets into blocks."""
    names, label, truth, known, notes = final_labels(
        intake, buckets, request.labels, request.scale, request.known
    )
    answering = [name for name, code in intake.coders.codes.items() if code in intake.answering]
    coders = sorted(answering, key=natural_key)
    order = {name: j for j, name in enumerate(coders)}
    coder = np.array([order.get(name, -1) for name in intake.coders.codes], dtype=np.int32)
    for folder in ("labels", "items", *(["expanded"] if request.dont_know else [])):
        (work / folder).mkdir()
    recoding = Recoding(coder, label, truth, known, len(names), len(request.dont_know))
    census = sort_buckets(
        buckets, work, recoding, intake.places, lambda share: request.tell("sorting", share, "")
    )
    problems = census.problems(request.gold_column or "gold")
    if problems:
        raise AnnotationError(problems)
    shutil.rmtree(work / "spill")
    repeats, conflicts, shared_items, fewest, most = census.found.tolist()
    return Scanned(
        folder=work,
        coders=tuple(coders),
        labels=names,
        scale=request.scale,
        declared=request.labels is not None,
        blocks=tuple(census.blocks),
        per_coder=census.per_coder,
        per_label=census.per_label,
        dont_know=request.dont_know,
        unanswered=census.unanswered,
        repeated_pairs=census.pairs,
        repeats_agree=census.same,
        repeats=repeats,
        conflicts=conflicts,
        shared_items=shared_items,
        compared_items=census.compared,
        components=census.components,
        fewest=fewest,
        most=most,
        n_gold=census.known,
        skips=intake.skips - census.dropped_skips,
        source=request.source,
        notes=(*remarks, *notes, *scan_notes(intake, census)),
        fingerprint=request.fingerprint,
    )


def _names(dont_know: Sequence[Hashable] | str) -> tuple[str, ...]:
    """Labels that are no class, as texts, each once."""
    given = [dont_know] if isinstance(dont_know, str) else dont_know
    return tuple(dict.fromkeys(map(label_text, given)))


def _quiet(stage: str, share: float, message: str) -> None:
    pass


def _kept(target: Path, fingerprint: str) -> Scanned | None:
    """Give what an earlier scan of the same files left, if anything."""
    if not target.exists():
        return None
    try:
        found = load_scan(target)
    except EngineError:
        if any(target.iterdir()) and not (target / ABOUT).is_file():
            what = "This folder holds other files."
            remedy = "Give an empty or a new folder for the cache."
            raise OutputError(Problem(what, str(target), remedy)) from None
        return None
    return found if found.fingerprint == fingerprint else None


def _move(work: Path, target: Path) -> None:
    """Let the complete folder take its place; an older scan goes."""
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        os.replace(target, old / "old")
        os.replace(work, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(work, target)
