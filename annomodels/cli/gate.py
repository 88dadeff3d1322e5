"""Quality gates: ``--fail-if 'alpha<0.667'``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from annomodels.cli.exits import DONE, GATE
from annomodels.cli.session import failed
from annomodels.errors import meant

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("value", "low", "high", "observed", "expected", "p_above_667", "p_above_800")

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# a name, optionally with a colon and a label
_GATE = re.compile(
    r"\s*([\w-]+(?::[^<>=]+?)?)(?:\.(\w+))?\s*(<=|>=|<|>)"
    r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*",
)


@dataclass(frozen=True)
class Gate:
    """Condition that fails a command.

    >>> parse_gates(("alpha.low < 0.667",))[0]
    Gate(name='alpha', column='low', sign='<', limit=0.667)
    """

    name: str
    column: str
    sign: str
    limit: float

    def failures(self, table: pd.DataFrame, word: str = "coefficient") -> list[str]:
        """Return sentences for rows of a table that fail; undefined values fail too."""
        known = list(dict.fromkeys(table[word]))
        if self.name not in known:
            raise unknown(word, self.name, known)
        if self.column not in table:
            there = ", ".join(name for name in COLUMNS if name in table)
            text = f"--fail-if: here no {word} has {self.column!r}; use {there}."
            raise click.UsageError(text)
        found = []
        parts = list(table.columns[: list(table.columns).index(word)])
        for row in table[table[word] == self.name].to_dict("records"):
            value = float(row[self.column])
            where = "".join(f" of {part} {row[part]}" for part in parts if row[part] != "")
            what = self.name + ("" if self.column == "value" else f".{self.column}") + where
            if math.isnan(value):
                found.append(f"{what} is not defined: {row.get('note') or 'no reason given'}")
            elif _OPERATORS[self.sign](value, self.limit):
                found.append(f"{what} {value:.3f} {self.sign} {self.limit:g}")
        return found


def unknown(word: str, name: str, known: list[str]) -> click.UsageError:
    hint = f"{meant(name, known)}Use one of {', '.join(known)}."
    return click.UsageError(f"--fail-if: Unknown {word} {name!r}. {hint}")


def parse_gates(texts: tuple[str, ...]) -> tuple[Gate, ...]:
    """Parse gates such as ``alpha<0.667`` or ``kappa.low<=0.5``."""
    return tuple(_parse(text) for text in texts)


def _parse(text: str) -> Gate:
    found = _GATE.fullmatch(text)
    if found is None:
        message = f"--fail-if {text!r} is not a gate; write for example 'alpha<0.667'."
        raise click.UsageError(message)
    name, column, sign, limit = found.groups()
    column = column or "value"
    if column not in COLUMNS:
        message = f"--fail-if: a coefficient has no {column!r}; use {', '.join(COLUMNS)}."
        raise click.UsageError(message)
    return Gate(name, column, sign, float(limit))


def gate_failures(
    gates: tuple[Gate, ...], table: pd.DataFrame, word: str = "coefficient"
) -> list[str]:
    """Return a sentence for each gate that fails; an unknown name ends the command.

    Call it before the table is shown or written: a wrong name is an error of the call.
    """
    return [sentence for gate in gates for sentence in gate.failures(table, word)]


def gate_code(failures: list[str]) -> int:
    """Print the gates that fail, and return the exit code."""
    for sentence in failures:
        failed(sentence)
    return GATE if failures else DONE
