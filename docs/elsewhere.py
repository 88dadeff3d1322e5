"""Which number is this elsewhere: the rows of ``elsewhere.toml``, and the page that shows them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Basis = Literal["cases", "source"]

_BASIS = {"cases": "numbers", "source": "its source"}


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


def _rows() -> tuple[Elsewhere, ...]:
    held = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["row"]
    return tuple(Elsewhere(**{**row, "confirmed": tuple(row.get("confirmed", ()))}) for row in held)


ELSEWHERE = _rows()
"""All comparisons, by package."""


def as_markdown() -> str:
    """Give the rows as Markdown tables, one for each package."""
    lines: list[str] = []
    for package in dict.fromkeys(row.package for row in ELSEWHERE):
        lines += [f"## {package}", "", "| there | here | known differences | checked by |"]
        lines.append("|---|---|---|---|")
        for row in ELSEWHERE:
            if row.package == package:
                cells = (f"`{row.call}`", f"`{row.ours}`", row.differs, _BASIS[row.basis])
                lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)
