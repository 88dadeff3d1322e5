"""Many files as one: what a folder, an archive or several paths hold, and whose work it is."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Problem
from annomodels.io.border import checked_path, raw_bytes, shown, unreadable
from annomodels.io.source import Source

Path_ = str | os.PathLike[str]
Paths = Path_ | Sequence[Path_ | tuple[str | None, Path_]] | Mapping[str, Path_]
Open = Callable[[Path_], Source]

_TABLES = (
    *(".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".xlsx", ".xlsm", ".ods", ".parquet"),
    *(".sav", ".dta"),
)
_MAYBE = (".txt", ".dat")  # tables where there is nothing else in the folder
_NO_DATA = ("readme", "license", "licence", "codebook", "index", "changelog")


class RowOf(int):
    """Number of a row that knows its file."""

    file: str

    def __new__(cls, row: int, file: str) -> RowOf:
        """Give a row of a file its number."""
        made = super().__new__(cls, row)
        made.file = file
        return made

    def __str__(self) -> str:
        return f"{int(self)} of {self.file}"


@dataclass(frozen=True)
class File:
    """One of the files."""

    source: Source
    who: str
    said: bool = False


class Pile(Source):
    """Several paths as one folder; those with a name are called so."""

    def __init__(self, paths: Sequence[tuple[str | None, Path_]], opened: Open) -> None:
        from annomodels.io.archives import Members, open_folder

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
        if problems:
            raise AnnotationError(problems)
        alike = Counter(Path(path).name for path in {str(path) for _, path in paths})
        # folders of one file each that is called the same: the folder is the coder
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
            if alike[Path(path).name] > 1:  # which of them is meant, its folder tells
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
        """It stands for one."""
        return True


def gathered(paths: Paths, opened: Open) -> Source:
    """One path as it is, several as one folder."""
    if isinstance(paths, Mapping):
        named: list[tuple[str | None, Path_]] = [(str(n), path) for n, path in paths.items()]
    elif isinstance(paths, (list, tuple)):
        named = [one if isinstance(one, tuple) and len(one) == 2 else (None, one) for one in paths]
    else:
        named = [(None, checked_path(paths))]
    if not named:
        raise AnnotationError(Problem("No file was given.", remedy="Give a file or a folder."))
    named = [(name, checked_path(path)) for name, path in named]
    if len(named) == 1 and named[0][0] is None:
        return opened(named[0][1])
    return Pile(named, opened)


def files_in(source: Source) -> list[File]:
    """Tables and exports in a folder or archive, each perhaps the work of one coder."""
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
        # where all files are called alike, the folder is the coder
        alone = stems[name.rsplit("/", 1)[-1]] == 1 or "/" not in name
        who = part.stem if alone else name.split("/")[-2]
        if not alone:
            part.name = name
        files.append(File(part, who))
    return files
