"""Every problem of a list of units in one go."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from annomodels.errors import AnnotationError, Problem

SHOWN = 5


class Unit(NamedTuple):
    """A stretch of a text that a coder marked."""

    text: Hashable
    coder: Hashable
    start: float
    end: float
    label: Hashable


def check_units(
    rows: Sequence[Sequence[Any]],
    lengths: Mapping[Any, float] | float,
    begins: Mapping[Any, float] | float,
    coders: Sequence[Hashable] | None,
    done: set[tuple[Any, Any]] | None,
    what: str,
) -> tuple[list[Unit], list[Problem]]:
    """Units that can be read, and all that is wrong with the rest."""
    units: list[tuple[int, Unit]] = []
    problems: list[Problem] = []
    if not rows and not isinstance(lengths, Mapping):
        problems.append(Problem("There is no unit.", remedy="Give at least one unit."))
    for number, row in enumerate(rows, 1):
        unit, problem = _read(row, f"{what} {number}")
        if problem is not None:
            problems.append(problem)
        elif unit is not None:
            units.append((number, unit))
    problems += _spans(units, lengths, begins, what)
    problems += _overlaps(units, what)
    if coders is not None:
        unknown = sorted({str(u.coder) for _, u in units if u.coder not in set(coders)})
        if unknown:
            problems.append(
                Problem(
                    f"Units by coders who are not declared: {', '.join(unknown[:SHOWN])}.",
                    f"coders {', '.join(map(str, coders))}",
                    "Name all coders, or leave coders= out.",
                )
            )
    if done is not None:
        problems += [
            Problem(
                f"Coder {u.coder!r} marked a unit in text {u.text!r} without working on it.",
                f"{what} {number}",
                "Add the pair (text, coder) to done=.",
            )
            for number, u in units
            if (u.text, u.coder) not in done
        ]
    return [unit for _, unit in units], problems


def pairs_done(done: Iterable[Any] | None) -> set[tuple[Any, Any]] | None:
    """Read who worked on which text."""
    if done is None:
        return None
    listed = list(done)
    wrong = [x for x in listed if isinstance(x, str) or not hasattr(x, "__len__") or len(x) != 2]
    if wrong:
        raise AnnotationError(
            Problem(
                f"{wrong[0]!r} is not a pair (text, coder).",
                "done",
                "Name the text and the coder of everybody who worked on a text.",
            )
        )
    return {(text, coder) for text, coder in listed}


def _read(row: Sequence[Any], where: str) -> tuple[Unit | None, Problem | None]:
    if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 5:
        return None, Problem(
            "A unit is not (text, coder, start, end, label).",
            f"{where}: {row!r}",
            "Give five cells for each unit.",
        )
    text, coder, start, end, label = row
    for name, cell in (("text", text), ("coder", coder), ("label", label)):
        if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
            return None, Problem(f"The {name} is empty.", where, "Fill it in, or drop the unit.")
        if not isinstance(cell, Hashable):
            return None, Problem(
                f"The {name} {cell!r} is a collection.", where, "Give a word or a number."
            )
    try:
        first, last = float(start), float(end)
    except (TypeError, ValueError):
        first = last = math.nan
    if not (math.isfinite(first) and math.isfinite(last)):
        return None, Problem(
            f"start {start!r} and end {end!r} are not both numbers.",
            where,
            "Give positions as numbers.",
        )
    if last <= first:
        return None, Problem(
            f"The unit from {first:g} to {last:g} has no length.",
            where,
            "The end is the first position after the unit, so it is larger than the start.",
        )
    return Unit(text, coder, first, last, label), None


def _spans(
    units: list[tuple[int, Unit]],
    lengths: Mapping[Any, float] | float,
    begins: Mapping[Any, float] | float,
    what: str,
) -> list[Problem]:
    """Texts without a usable length, and units beyond their text."""
    problems = []
    texts = dict.fromkeys(unit.text for _, unit in units)
    known = {}
    for text in dict.fromkeys([*texts, *(lengths if isinstance(lengths, Mapping) else ())]):
        length = lengths.get(text) if isinstance(lengths, Mapping) else lengths
        begin = begins.get(text, 0) if isinstance(begins, Mapping) else begins
        if length is None or not _positive(length) or not _number(begin):
            problems.append(
                Problem(
                    f"Text {text!r} has the length {length!r} and begins at {begin!r}.",
                    "lengths",
                    "Give every text a positive length in the unit of the positions.",
                )
            )
        else:
            known[text] = (float(begin), float(begin) + float(length))
    for number, unit in units:
        if unit.text in known:
            first, last = known[unit.text]
            if unit.start < first or unit.end > last:
                problems.append(
                    Problem(
                        f"The unit from {unit.start:g} to {unit.end:g} lies beyond text "
                        f"{unit.text!r}, which goes from {first:g} to {last:g}.",
                        f"{what} {number}",
                        "Fix the positions, or lengths= and begins=.",
                    )
                )
    return problems


def _number(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def _positive(value: Any) -> bool:
    return _number(value) and float(value) > 0


def _overlaps(units: list[tuple[int, Unit]], what: str) -> list[Problem]:
    """Units of the same text, coder and label that share a position."""
    layers: dict[tuple[Hashable, ...], list[tuple[float, float, int]]] = defaultdict(list)
    for number, u in units:
        layers[u.text, u.coder, u.label].append((u.start, u.end, number))
    problems = []
    for (text, coder, label), layer in layers.items():
        layer.sort()
        for (_, end, one), (start, _, other) in pairwise(layer):
            if start < end:
                problems.append(
                    Problem(
                        f"Two units of coder {coder!r} with the label {label!r} overlap in text "
                        f"{text!r}.",
                        f"{what}s {one} and {other}",
                        "Units of the same coder and label do not overlap: join or cut them.",
                    )
                )
    return problems
