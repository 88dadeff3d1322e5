"""Several variables in one table, as coding sheets of content analyses have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

from annomodels.data.validation import some
from annomodels.errors import Option, Problem
from annomodels.io.tables.questions import Unsuitable, unsuitable
from annomodels.io.tables.table import Table

# Where a name such as frame_anna or tone2 is cut in two.
_CUTS = (
    re.compile(r"(.+)[_. -]([^_. -]+)"),
    re.compile(r"([^_. -]+)[_. -](.+)"),
    re.compile(r"(.*\D)(\d+)"),
)
_LOOKED_AT = 50  # columns that are compared, each with each
_ALIKE = 0.5  # variables whose labels overlap less than this cannot be one


@dataclass(frozen=True)
class Grid:
    """Columns whose names are pairs of a variable and a coder."""

    columns: Mapping[str, Mapping[str, str]]
    apart: bool

    def __str__(self) -> str:
        coders = list(next(iter(self.columns.values())))
        return (
            f"{len(self.columns)} variables ({some(list(self.columns))}) of "
            f"{len(coders)} coders ({some(coders)})"
        )


def grid_of(columns: Mapping[str, set[Any]]) -> Grid | None:
    """Variables and coders, if all names of columns are made of two parts, in all combinations."""
    for cut in _CUTS:
        found = {name: cut.fullmatch(name) for name in columns}
        pairs = {name: match.groups() for name, match in found.items() if match}
        first, second = (list(dict.fromkeys(pair[n] for pair in pairs.values())) for n in (0, 1))
        full = len(pairs) == len(columns) == len(first) * len(second) == len(set(pairs.values()))
        if not full or min(len(first), len(second)) < 2:
            continue
        named = {pair: name for name, pair in pairs.items()}
        forward = {a: {b: named[a, b] for b in second} for a in first}
        backward = {b: {a: named[a, b] for a in first} for b in second}
        chosen = max((forward, backward), key=lambda rows: _within(rows, columns))
        unions = [set().union(*(columns[c] for c in row.values())) for row in chosen.values()]
        few = unions[:_LOOKED_AT]
        apart = any(_overlap(a, b) < _ALIKE for n, a in enumerate(few) for b in few[:n])
        return Grid(chosen, apart)
    return None


def by_document(texts: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Document and coder of files such as news1_ana, told by the texts that they share."""
    for cut in _CUTS[:2]:
        found = {name: cut.fullmatch(name) for name in texts}
        pairs = {name: match.groups() for name, match in found.items() if match}
        for document, coder in ((0, 1), (1, 0)) if len(pairs) == len(texts) else ():
            files: dict[str, dict[str, str]] = {}
            for name, pair in pairs.items():
                files.setdefault(pair[document], {})[pair[coder]] = texts[name]
            coders = {frozenset(row) for row in files.values()}
            same = all(len(set(row.values())) == 1 for row in files.values())
            if same and len(coders) == 1 and len(next(iter(coders))) > 1:
                return {name: (pair[document], pair[coder]) for name, pair in pairs.items()}
    return {}


def several(grid: Grid, source: str) -> Problem:
    """Ask which variable is meant."""
    first = next(iter(grid.columns))
    remedy = (
        f"Choose one with {Option('question', first)}; annomodels run and agree "
        "analyse each separately with --every-question. If all columns are coders, name them with "
        f"{Option('coder_columns', [...])}."
    )
    return Problem(f"The columns are {grid}.", source, remedy, tuple(grid.columns))


def variables_beside(
    table: Table, item: str, coder: str, free: Sequence[str], is_skip: Callable[[Any], bool]
) -> tuple[dict[str, int], dict[str, Unsuitable]]:
    """Columns beside item and coder with their numbers of labels, and those that hold none."""
    found: dict[str, int] = {}
    left_out: dict[str, Unsuitable] = {}
    coders, items = table.columns[coder], table.columns[item]
    many = len(set(map(repr, coders))) < len(table)
    for name in free:
        rows = [n for n, cell in enumerate(table.columns[name]) if _filled(cell, is_skip)]
        cells = [table.columns[name][n] for n in rows]
        if not name.strip() or not cells:
            continue
        whose = [coders[n] for n in rows]
        why = unsuitable(name, [items[n] for n in rows], whose, cells)
        if why is None and many and _one_each(whose, cells):
            why = Unsuitable("it is the same in all rows of each coder, so it is about coders")
        found[name] = len(cells)
        if why is not None:
            left_out[name] = why
    return found, left_out


def _filled(cell: Any, is_skip: Callable[[Any], bool]) -> bool:
    return isinstance(cell, (list, dict)) or not is_skip(cell)


def _one_each(coders: Sequence[Any], cells: Sequence[Any]) -> bool:
    """Whether each coder has one value, and not all have the same."""
    given: dict[str, Any] = {}
    same = all(
        given.setdefault(str(c), cell) == cell for c, cell in zip(coders, cells, strict=True)
    )
    return same and len(set(map(repr, given.values()))) > 1


def _overlap(one: set[Any], other: set[Any]) -> float:
    union = one | other
    return len(one & other) / len(union) if union else 1.0


def _within(rows: Mapping[str, Mapping[str, str]], labels: Mapping[str, set[Any]]) -> float:
    """How alike the labels are of columns in the same row."""
    pairs = [
        _overlap(labels[a], labels[b])
        for row in islice(rows.values(), _LOOKED_AT)
        for a, b in combinations(islice(row.values(), _LOOKED_AT), 2)
    ]
    return sum(pairs) / len(pairs)
