"""What can go wrong, in words: every error carries problems, each with a place and a remedy.

Imports nothing from the package.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: what, where, and how to fix it.

    Parameters
    ----------
    what
        One sentence that says what is wrong.
    where
        File, row and column, or the names concerned; empty when it concerns the whole table.
    remedy
        One sentence that says how to fix it.
    choices
        What can be chosen, where the problem is that nothing was: the questions of a file.

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

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.remedy:
            lines.append(f"  fix:   {self.remedy}")
        return "\n".join(lines)


def printable(text: str) -> str:
    r"""Text of the system, such as the name of a file, with bytes that are no UTF-8 as escapes.

    Examples
    --------
    >>> print(printable(b"\xff.csv".decode("utf-8", "surrogateescape")))
    \xff.csv
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class AnnomodelsError(Exception):
    """Base of all errors that this package raises on purpose."""


class AnnotationError(AnnomodelsError, ValueError):
    """The data cannot be read or understood; holds every problem that was found.

    Parameters
    ----------
    problems
        The problems, or one of them, or one sentence.

    Examples
    --------
    >>> error = AnnotationError([Problem("No rows.", "a.csv"), Problem("No header.", "a.csv")])
    >>> len(error.problems)
    2
    """

    def __init__(self, problems: Iterable[Problem] | Problem | str) -> None:
        if isinstance(problems, str):
            problems = [Problem(problems)]
        elif isinstance(problems, Problem):
            problems = [problems]
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(self._text())

    def _text(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        body = "\n".join(f"{n}. {problem}" for n, problem in enumerate(self.problems, 1))
        return f"{len(self.problems)} problems with the data:\n{body}"


class NotApplicable(AnnomodelsError, ValueError):
    """A coefficient, model or engine was asked for that does not fit the data or each other."""


MOST_SEED = 2**63 - 1  # what a file of a fit holds as a number


def valid_seed(seed: int) -> int:
    """Give a seed of random numbers back.

    Raises
    ------
    NotApplicable
        When it is none, with the range.
    """
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed <= MOST_SEED:
        what = f"seed={seed!r} is out of range: it is a whole number from 0 to {MOST_SEED}."
        raise NotApplicable(what)
    return seed


class EngineError(AnnomodelsError, RuntimeError):
    """Inference could not be carried out."""


class MissingDependency(AnnomodelsError, ImportError):
    """An optional package is needed; the message holds the line that installs it."""


class DataWarning(UserWarning):
    """The data can be used, but something about them should be known."""
