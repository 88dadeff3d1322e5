"""Errors: each carries problems with a place and a remedy; messages name options as data."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """Option in a message, spelled as in the front end: in Python, a keyword.

    `value` is None for the option alone, ``...`` for any value, and ``[...]`` for any list.

    >>> print(Option("scale", "ordinal"), Option("labels", [...]), Option("item"), sep=", ")
    scale='ordinal', labels=[...], item=
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return _spell(self)

    @property
    def python(self) -> str:
        """The option as a keyword of a function."""
        return f"{self.name}={'' if self.value is None else _literal(self.value)}"


@dataclass(frozen=True)
class Verb:
    """Call in a message, with the equivalent command.

    >>> print(Verb("am.compare(fit, other)", "annomodels compare"))
    am.compare(fit, other)
    """

    python: str
    command: str

    def __str__(self) -> str:
        return _spell(self)


class Note(str):
    """Sentence with its code; of several texts, it is printed once per code.

    >>> note = Note("2 mentions lost.", "lost")
    >>> note, note.code
    ('2 mentions lost.', 'lost')
    """

    code: str

    def __new__(cls, text: str, code: str = "") -> Note:
        """Return the text with its code."""
        note = super().__new__(cls, text)
        note.code = code
        return note


_speller: Callable[[Option | Verb], str] | None = None


@contextmanager
def spelled_by(speller: Callable[[Option | Verb], str]) -> Iterator[None]:
    """Spell options and calls in messages as a front end does, as long as the block runs."""
    global _speller
    before, _speller = _speller, speller
    try:
        yield
    finally:
        _speller = before


def _spell(named: Option | Verb) -> str:
    return named.python if _speller is None else _speller(named)


def _literal(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    return "..." if value is ... else repr(value)


@dataclass(frozen=True)
class Problem:
    """One problem, with its place and remedy.

    Parameters
    ----------
    what
        One sentence that says what is wrong.
    where
        File, row and column, or the affected names; empty for the entire table.
    remedy
        One sentence that says how to fix it.
    choices
        Possible choices if the problem is a missing choice, such as the questions of a file.
    options
        Options of reading that may solve it: pairs of name and value.
    code
        Short name of the kind of problem, for programs and tests.

    Examples
    --------
    >>> print(Problem("The label is empty.", "votes.csv, row 3", "Fill it in or drop the row."))
    The label is empty.
      where: votes.csv, row 3
      fix:   Fill it in or drop the row.
    """

    what: str
    where: str = ""
    remedy: str = ""
    choices: tuple[str, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    code: str = ""

    def __str__(self) -> str:
        where = f"\n  where: {self.where}" if self.where else ""
        return f"{self.what}{where}" + (f"\n  fix:   {self.remedy}" if self.remedy else "")


def meant(
    name: object,
    names: Iterable[object],
    *more: str,
    most: int = 1,
    show: Callable[[str], str] = repr,
) -> str:
    """Ask if a similar name was meant instead of an unknown one; "" without a similar name."""
    near = difflib.get_close_matches(str(name), map(str, names), most, 0.6 if most == 1 else 0.5)
    found = dict.fromkeys([*near, *more])
    return f"Did you mean {' or '.join(map(show, found))}? " if found else ""


def printable(text: str) -> str:
    r"""Return system text, such as a file name, with bytes that are not UTF-8 escaped.

    Examples
    --------
    >>> print(printable(b"\xff.csv".decode("utf-8", "surrogateescape")))
    \xff.csv
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class AnnomodelsError(Exception):
    """Base class of all errors that this package raises deliberately."""


class Problems(AnnomodelsError):
    """Error with all problems of the input."""

    about = ""
    proposal: object = None  # a call or command that reads the data and was tried

    def __init__(
        self,
        problems: Iterable[Problem] | Problem | str,
        where: str = "",
        remedy: str = "",
        options: tuple[tuple[str, Any], ...] = (),
        code: str = "",
    ) -> None:
        said = Problem(str(problems), where, remedy, (), options, code)
        one = said if isinstance(problems, str) else problems
        self.problems: tuple[Problem, ...] = (one,) if isinstance(one, Problem) else tuple(one)
        super().__init__(self._text())

    def __str__(self) -> str:
        return self._text() + (f"\n  try:   {self.proposal}" if self.proposal else "")

    def _text(self) -> str:
        body = [f"\n{n}. {problem}" for n, problem in enumerate(self.problems, 1)]
        many = f"{len(body)} problems with the {self.about}:{''.join(body)}"
        return many if len(body) != 1 else str(self.problems[0])


class AnnotationError(Problems, ValueError):
    """The data cannot be read or interpreted; lists all problems.

    Parameters
    ----------
    problems
        The problems, one problem, or its sentence.
    where, remedy, options, code
        Further fields of a single problem, see :class:`Problem`.

    Examples
    --------
    >>> error = AnnotationError([Problem("No rows.", "a.csv"), Problem("No header.", "a.csv")])
    >>> len(error.problems)
    2
    """

    about = "data"


def raise_all(problems: Collection[Problem]) -> None:
    """Raise an error with all problems, if there are any."""
    if problems:
        raise AnnotationError(problems)


class NotApplicable(AnnomodelsError, ValueError):
    """A coefficient, model or engine does not support the data or the other options."""


MOST_SEED = 2**63 - 1  # largest integer that a fit file can store


def valid_seed(seed: int) -> int:
    """Check a random seed and return it."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed <= MOST_SEED:
        what = (
            f"{Option('seed', seed)} is out of range: it is a whole number from 0 to {MOST_SEED}."
        )
        raise NotApplicable(what)
    return seed


class EngineError(AnnomodelsError, RuntimeError):
    """Inference failed."""


class MissingDependency(AnnomodelsError, ImportError):
    """An optional package is missing; the message has the install command."""


class DataWarning(UserWarning):
    """The data are usable, with a limitation that users should know."""
