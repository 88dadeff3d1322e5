"""Treat a folder, an archive or several paths as one source, with a coder per file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from annomodels.data.validation import counted, some
from annomodels.errors import AnnotationError, Option, Problem, raise_all
from annomodels.io.border import Members, checked_path, open_folder, raw_bytes, shown, unreadable
from annomodels.io.objects import plain_fields
from annomodels.io.source import Options, Source
from annomodels.io.tables.columns import matched
from annomodels.io.tables.keys import key_of
from annomodels.io.tables.table import Table

Path_ = str | os.PathLike[str]
Paths = Path_ | Sequence[Path_ | tuple[str | None, Path_]] | Mapping[str, Path_]
Open = Callable[[Path_], Source]

_TABLES = (
    *(".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".xlsx", ".xlsm", ".ods", ".parquet"),
    *(".sav", ".dta"),
)
_MAYBE = (".txt", ".dat")  # tables if the folder has no others
_NO_DATA = ("readme", "license", "licence", "codebook", "index", "changelog")


class RowOf(int):
    """Row number with the name of its file."""

    file: str

    def __new__(cls, row: int, file: str) -> RowOf:
        made = super().__new__(cls, row)
        made.file = file
        return made

    def __str__(self) -> str:
        return f"{int(self)} of {self.file}"


@dataclass(frozen=True)
class File:
    source: Source
    who: str
    said: bool = False


class Pile(Source):
    """Several paths as one folder; a given name replaces the file name."""

    def __init__(self, paths: Sequence[tuple[str | None, Path_]], opened: Open) -> None:
        super().__init__(" ".join(shown(path) for _, path in paths), data=b"")
        self.name = counted(len(paths), "file")
        self.files = []
        wanted = [Path(path) for _, path in paths if str(path) != "-"]
        problems = [p for path in wanted if not path.is_dir() if (p := unreadable(path))]
        given = Counter((name, os.path.realpath(path)) for name, path in paths if str(path) != "-")
        problems += [
            Problem(f"It is given {n} times.", shown(path), "Give it once.")
            for (_, path), n in given.items()
            if n > 1
        ]
        raise_all(problems)
        alike = Counter(Path(path).name for path in {str(path) for _, path in paths})
        # if each folder has one file and file names repeat, the folder names the coder
        found = [files_in(opened(path)) if Path(path).is_dir() else [] for _, path in paths]
        alone = Counter(files[0].who for files in found if len(files) == 1)
        places: dict[str, Callable[[], bytes]] = {}
        for (name, path), files in zip(paths, found, strict=True):
            if Path(path).is_dir():
                folder = open_folder(Path(path))
                stem = name or Path(path).name
                for member in folder.names:
                    places[f"{stem}/{member}"] = lambda f=folder, m=member: f.read(m)  # type: ignore[misc]
                for file in files:
                    if len(paths) > 1:
                        file.source.name = f"{stem}/{file.source.name}"
                    only = len(files) == 1 and alone[file.who] > 1
                    who = name or (stem if only else file.who)
                    self.files.append(File(file.source, who, name is not None))
                continue
            source = opened(path)
            called = name or source.stem
            if alike[Path(path).name] > 1:  # the folder distinguishes equal names
                source.name, called = str(path), name or Path(path).parent.name or called
            ending = "".join(
                Path(path).suffixes[-2:] if str(path).endswith(".gz") else Path(path).suffixes[-1:]
            )
            place = f"{called}{ending}"
            number = 2
            while place in places:
                place, number = f"{called}-{number}{ending}", number + 1
            places[place] = lambda p=path: raw_bytes(p)  # type: ignore[misc]
            self.files.append(File(source, called, name is not None))
        self.__dict__["inside"] = Members(self.name, places, lambda member: places[member]())
        self.__dict__["kind"] = "inside"

    @property
    def is_folder(self) -> bool:
        return True


def gathered(paths: Paths, opened: Open) -> Source:
    """Open one path as it is, and several as one folder."""
    if isinstance(paths, Mapping):
        named: list[tuple[str | None, Path_]] = [(str(n), path) for n, path in paths.items()]
    elif isinstance(paths, (list, tuple)):
        named = [one if isinstance(one, tuple) and len(one) == 2 else (None, one) for one in paths]
    else:
        named = [(None, checked_path(paths))]
    if not named:
        raise AnnotationError("No file was given.", remedy="Give a file or a folder.")
    named = [(name, checked_path(path)) for name, path in named]
    if len(named) == 1 and named[0][0] is None:
        return opened(named[0][1])
    return Pile(named, opened)


def files_in(source: Source) -> list[File]:
    """List tables and exports of a folder or archive, each with a possible coder."""
    if isinstance(source, Pile):
        return source.files
    assert source.inside is not None
    plain = {name: name.lower().removesuffix(".gz") for name in source.inside.names}
    data = {
        name: low for name, low in plain.items()
        if not low.rsplit("/", 1)[-1].split(".")[0].startswith(_NO_DATA)
    }  # fmt: skip
    names = [name for name, low in data.items() if low.endswith(_TABLES)]
    names = names or [name for name, low in data.items() if low.endswith(_MAYBE)]
    stems = Counter(name.rsplit("/", 1)[-1] for name in names)
    files = []
    for name in names:
        part = source.member(name)
        # if file names repeat, the folder names the coder
        alone = stems[name.rsplit("/", 1)[-1]] == 1 or "/" not in name
        who = part.stem if alone else name.split("/")[-2]
        if not alone:
            part.name = name
        files.append(File(part, who))
    return files


# -- JSON files with one object each, keyed by item -------------------------------------------


_FEWEST = 5  # minimum number of names in an object to treat them as items
Field = tuple[tuple[str, ...], str, Any]


def by_name(files: Sequence[File], options: Options) -> None:
    """Make tables of items and labels if each file is one object keyed by item."""
    values: list[Any] = []
    for file in files:
        with suppress(AnnotationError):  # reported when the file is read
            values += [value for _, value in islice(file.source.objects, 2)]
    if len(files) < 2 or len(values) != len(files):
        return
    fields = [list(plain_fields(value)) for value in values]
    told = [options.coder, options.coder_columns, options.item, options.question, *options.extra]
    if not all(fields) or any(told):
        return
    named = _labels_in(fields, options.label)
    if named is None:
        if options.label is None:
            _check_fields(fields, counted(len(files), "file"))
        return
    for file, pairs in zip(files, named, strict=True):
        items, labels = zip(*pairs, strict=True)
        rows = range(1, len(items) + 1)
        table = Table({"item": items, options.label or "label": labels}, rows, file.source.name)
        table.notes.append("Each file is one object by item, with the labels of one coder.")
        file.source.__dict__ |= {"table": table, "kind": "delimited", "text": ""}


def _labels_in(
    fields: Sequence[Sequence[Field]], name: str | None
) -> list[list[tuple[str, object]]] | None:
    """Return items and labels of each object, or None if its fields are not items."""
    if name is not None:
        deep = [[(key_of(path), v) for path, n, v in every if n == name and len(path) > 1]
                for every in fields]  # fmt: skip
        top = any(n == name and len(path) < 2 for every in fields for path, n, _ in every)
        return deep if all(deep) and not top else None
    labels = {str(label) for every in fields for *_, label in every}
    names = {name for every in fields for _, name, _ in every}
    is_flat = not any(path for every in fields for path, *_ in every)
    few = 2 * len(labels) <= min(map(len, fields)) >= _FEWEST
    if not is_flat or not few or any(matched([*names]).values()):
        return None
    return [[(name, label) for _, name, label in every] for every in fields]


def _check_fields(fields: Sequence[Sequence[Field]], where: str) -> None:
    """Raise if objects keyed by item have no labels, or several fields of possible labels."""
    depth = min(len(path) for every in fields for path, *_ in every)
    below = Counter(name for every in fields for _, name, _ in every)
    differ = len({frozenset(name for _, name, _ in every) for every in fields}) > 1
    if depth > 1:
        most = [name for name, n in below.most_common() if n == max(below.values())]
        what = f"Each file is one object of objects, and {some(below)} are fields of the innermost."
        remedy = f"Name the field that holds the labels: {Option('label', most[0])}."
        options = (("label", most[0]),) if len(most) == 1 else ()
        raise AnnotationError(what, where, remedy, options=options, code="no-label-column")
    if depth == 0 and differ and not any(matched([*below]).values()):
        what = f"Each file is one object of other fields, not a record: {some(below)}."
        remedy = 'Write records such as {"item": "t1", "coder": "ana", "label": "pos"}.'
        raise AnnotationError(what, where, remedy, code="no-records")
