"""One comparison: a function of another package, and what gives the same number here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["COMPLETE", "Elsewhere"]

Basis = Literal["cases", "source"]

COMPLETE = "It takes complete data only."


@dataclass(frozen=True)
class Elsewhere:
    """A function of another package and what gives the same number here.

    Parameters
    ----------
    package
        Name of the package.
    call
        Its function, with the options that matter.
    name
        Name of our coefficient.
    options
        Our options, as they are written in a call.
    distance
        The distance among them, as a name; "" for nominal, "any" where both take the same one.
    differs
        Where the numbers are not the same, and what else to know.
    basis
        What "the same" rests on: "cases" that both compute, or the other package's "source".
    confirmed
        Kinds of the cases that confirm it.
    by
        Whether our number is in ``breakdown(data, by)`` instead.
    """

    package: str
    call: str
    name: str
    options: str = ""
    distance: str = ""
    differs: str = ""
    basis: Basis = "cases"
    confirmed: tuple[str, ...] = ()
    by: str = ""

    @property
    def ours(self) -> str:
        """What to call here."""
        more = f", {self.options}" if self.options else ""
        if self.by:
            return f'am.breakdown(data, "{self.by}", "{self.name}"{more})'
        return f'am.agreement(data, "{self.name}"{more})'
