"""Names of items, coders and labels: plain Python values with stable text."""

from __future__ import annotations

import datetime
import math
import numbers
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np

from annomodels.errors import AnnotationError, NotApplicable, Problem, meant

_PLAIN = frozenset({str, int, float, bool, type(None)})


def label_text(name: object) -> str:
    """Return a name as text; a set as its members in sorted order."""
    # Python writes the members of a set in an order that changes from one process to the next, so a
    # set must never become text by str
    if isinstance(name, (frozenset, set)):
        return "{" + ", ".join(label_text(member) for member in sorted(name, key=_place)) + "}"
    return str(name)


def quoted(name: object) -> str:
    """Return a name for a sentence: strings in quotation marks, a set as its members.

    >>> quoted("no"), quoted(frozenset({2, 1}))
    ("'no'", '{1, 2}')
    """
    return label_text(name) if isinstance(name, frozenset) else repr(name)


def _place(member: Any) -> tuple[int, float, str]:
    number = isinstance(member, (int, float))
    return (0, float(member), "") if number else (1, 0.0, label_text(member))


def plain_name(name: object) -> Hashable:
    """Convert a name to a string, number, boolean or a frozenset of these."""
    # see :class:`annomodels.Annotations` for the rules; missing values stay unchanged
    kind = type(name)
    if kind in _PLAIN or kind.__name__ in ("NAType", "NaTType"):
        return name
    if isinstance(name, Enum) and not isinstance(name, (str, int, float)):
        return name.name
    if isinstance(name, (datetime.timedelta, np.timedelta64)):  # NumPy's is an integer too
        seconds = float(name / np.timedelta64(1, "s"))
        return int(seconds) if seconds.is_integer() else seconds
    if isinstance(name, (str, bool, np.bool_, numbers.Real, Decimal)):
        return _text_or_number(name)
    if isinstance(name, bytes):
        return name.decode()
    if isinstance(name, np.datetime64):
        return name if np.isnat(name) else _moment(name)
    if isinstance(name, (datetime.date, datetime.time)):
        return name.isoformat()
    if isinstance(name, frozenset):
        return frozenset(_whole(plain_name(member)) for member in name)
    if isinstance(name, tuple):
        return "(" + ", ".join(label_text(plain_name(part)) for part in name) + ")"
    if isinstance(name, os.PathLike) or kind.__name__ in ("UUID", "Period", "Interval"):
        return str(name)
    raise TypeError(f"{kind.__name__!r}")


def _text_or_number(name: Any) -> str | float:
    if isinstance(name, str):
        return str(name.value) if isinstance(name, Enum) else str(name)
    if isinstance(name, (bool, np.bool_)):
        return bool(name)
    if isinstance(name, numbers.Integral):
        return int(name)
    if isinstance(name, (float, np.floating)) or not math.isfinite(name):
        return float(name)
    return int(name) if name == int(name) else float(name)


def _whole(name: object) -> object:
    return int(name) if type(name) is float and name.is_integer() else name


def _moment(name: np.datetime64) -> str:
    exact = name.astype("datetime64[us]")
    value = exact.item() if exact == name else None
    if not isinstance(value, datetime.datetime):  # finer than a microsecond, or out of range
        return str(name)
    is_day = np.datetime_data(name.dtype)[0] in ("Y", "M", "W", "D")
    return value.date().isoformat() if is_day else value.isoformat()


class _Seen:
    """Converted names of one kind, and their problems."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.truths: set[Any] = set()
        self.numbers: dict[Any, set[type]] = {}
        self.wrong: dict[str, Any] = {}

    def take(self, name: object) -> Hashable:
        """Convert a name, and record numbers and booleans, which Python treats as equal."""
        try:
            plain = plain_name(name)
        except (TypeError, ValueError, ArithmeticError):
            self.wrong.setdefault(repr(type(name).__name__), name)
            return None
        for part in plain if isinstance(plain, frozenset) else (plain,):
            if isinstance(part, bool):
                self.truths.add(part)
            elif isinstance(part, (int, float)) and part in (0, 1):
                self.numbers.setdefault(part, set()).add(type(part))
        return plain

    def problems(self, source: str) -> list[Problem]:
        """List cells that cannot be names, and names that Python cannot distinguish."""
        out = []
        if self.wrong:
            kinds, shown = ", ".join(self.wrong), next(iter(self.wrong.values()))
            what = (
                f"A name of {self._some} is not a text, number or date but {kinds}: {shown!r:.60}."
            )
            out.append(Problem(what, source, f"Convert the {self.word}s to texts first."))
        both = sorted(self.truths & self.numbers.keys())
        if both:
            what = f"The {self.word} {both[0]!r} occurs both as a truth value and as a number."
            remedy = "Write truth values as texts, such as 'true', or as numbers."
            out.append(Problem(what, source, remedy))
        return out

    @property
    def _some(self) -> str:
        return f"{'an' if self.word[0] in 'aeiou' else 'a'} {self.word}"


def plain_cells(cells: Any, word: str, source: str = "") -> tuple[Any, list[Problem]]:
    """Convert a column to plain names, with their problems; equal numbers are one name."""
    if isinstance(cells, np.ndarray):
        if cells.dtype.kind in "iufU" and cells.dtype.char != "g":
            return cells, []
        cells = list(cells) if cells.dtype.kind in "mM" else cells.tolist()
    types = set(map(type, cells))
    if types <= {str} or types <= {int, str} or types <= {float, str} or types <= {bool, str}:
        return cells, []
    seen = _Seen(word)
    known: dict[Any, Any] = {}
    out = []
    for cell in cells:
        try:
            key = (type(cell), cell, _kinds(cell))
            if key not in known:
                known[key] = seen.take(cell)
            out.append(known[key])
        except TypeError:  # cannot be hashed
            out.append(cell)
    if {int, float} <= set(map(type, out)):
        out = [_whole(cell) for cell in out]
    return out, seen.problems(source)


def _kinds(cell: object) -> frozenset[type] | None:
    """Return the types within a set: Python treats {True} and {1} as equal."""
    return frozenset(map(type, cell)) if isinstance(cell, frozenset) else None


def plain_names(names: object, word: str) -> list[Hashable]:
    """Convert user-supplied names to plain names, for lookup or declaration."""
    if not isinstance(names, Iterable):
        what = f"Names of {word}s were expected, but this is {type(names).__name__!r}."
        raise AnnotationError(Problem(what, remedy=f"Give a list of {word}s."))
    cells, problems = plain_cells(list(names), word)
    if problems:
        raise AnnotationError(problems)
    return list(cells)


def plain_mapping(given: Mapping[Any, Any], key: str, value: str = "") -> dict[Hashable, Any]:
    """Convert the keys of a mapping to plain names, and its values if they are names."""
    values: Sequence[Any] = list(given.values())
    values = plain_names(values, value) if value else values
    return dict(zip(plain_names(given, key), values, strict=True))


def places_of(
    names: Sequence[Hashable], wanted: Hashable | Iterable[Hashable], word: str
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the indices of one or several names, each by its name or its text.

    >>> places_of((3, 4, "a"), "4", "item")
    array([1])
    """
    one = isinstance(wanted, (str, bytes, frozenset)) or not isinstance(wanted, Iterable)
    asked: list[Hashable] = plain_names([wanted] if one else wanted, word)
    place: dict[Hashable, int] = {label_text(name): n for n, name in enumerate(names)}
    place |= {name: n for n, name in enumerate(names)}
    for name in asked:
        if name not in place:
            hint = meant(label_text(name), map(label_text, names)) or f"data.{word}s lists them."
            raise NotApplicable(f"These data have no {word} {quoted(name)}. {hint.rstrip()}")
    return np.array(list(dict.fromkeys(place[name] for name in asked)), dtype=np.int64)
