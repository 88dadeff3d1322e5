"""Exit codes, messages of exceptions, and quality gates: ``--fail-if 'alpha<0.667'``."""

from __future__ import annotations

import errno
import math
import operator
import os
import re
import shlex
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from annomodels.cli.session import Session, failed, say_error
from annomodels.errors import (
    AnnomodelsError,
    EngineError,
    MissingDependency,
    NotApplicable,
    Problem,
    meant,
)

if TYPE_CHECKING:
    import pandas as pd


DONE, GATE, USAGE, DATA, UNTRUSTED, EXTRA = 0, 1, 2, 3, 4, 5
BUG = 70
INTERRUPTED = 130

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}


def explain(error: BaseException, session: Session) -> int:
    """Print an error, with a traceback if requested, and return the exit code."""
    if session.debug and not isinstance(error, click.UsageError):
        traceback.print_exception(error)
    from annomodels.cli.places import as_given

    code, text = _read(error, session)
    if session.saved and code == INTERRUPTED:
        text = "Interrupted."
    if session.saved:
        folder = shlex.quote(session.saved)
        again = f"annomodels report {folder} -o {shlex.quote(f'{session.saved}/report.html')}"
        text += f"\nThe fit is saved in {folder}, without tables and report. Go on with: {again}"
    if text:
        say_error(as_given(text))
    return code


# sentences that already contain a fix
ACTION = re.compile(r"(?:^|[.:;] )(?:Use|Give|Name|Choose|Add) ")
# options in messages of this package, which are a fix, too
OWN = re.compile(r"(?<![\w-])--[a-z]")


def reason_of(error: Exception) -> str:
    """Return the first line of an error as the end of a sentence."""
    problems = getattr(error, "problems", ())
    text = problems[0].what if problems else (str(error).splitlines() or [""])[0]
    return f"{text[:1].lower()}{text[1:]}".rstrip(".")


def _environment(error: BaseException) -> list[str]:
    """Return environment variables that change the compiler, if it failed."""
    found = [name for name in sorted(os.environ) if name.startswith("NUMBA_")]
    found = [name for name in found if name != "NUMBA_CACHE_DIR"]
    frames = traceback.extract_tb(error.__traceback__)
    compiling = any(f"{os.sep}numba{os.sep}" in frame.filename for frame in frames)
    return found if compiling or "NUMBA_DISABLE_JIT" in found else []


def _read(error: BaseException, session: Session) -> tuple[int, str]:
    from annomodels.cli.places import CannotWrite

    match error:
        case KeyboardInterrupt() | click.Abort():
            return INTERRUPTED, "Interrupted. No output is incomplete."
        case click.UsageError():
            text = error.format_message()
            said = ACTION.search(text) or (type(error) is click.UsageError and OWN.search(text))
            if error.ctx and not said:  # unless the message names a fix
                text += f"\n  fix:   {error.ctx.command_path} --help shows all options."
            return USAGE, text
        case click.ClickException():
            return USAGE, error.format_message()
        case CannotWrite() | NotApplicable():
            return USAGE, str(error)
        case EngineError():
            return UNTRUSTED, str(error)
        case MissingDependency():
            return EXTRA, str(error)
        case AnnomodelsError():
            return DATA, str(error)
        case ModuleNotFoundError():
            package = (error.name or "a package").partition(".")[0]
            what = f"The package {package} is needed for this but not installed."
            remedy = f"Install it: pip install {package} (annomodels --version -v lists all)."
            return EXTRA, str(Problem(what, remedy=remedy))
        case OSError():
            where = " and ".join(str(name) for name in (error.filename, error.filename2) if name)
            what = f"A file cannot be read or written: {error.strerror or error}."
            remedy = "Check the path and the permissions."
            if error.errno in _FULL:
                what = "The disk is full; the output was not written."
                where = where or f"the outputs, or temporary files in {tempfile.gettempdir()}"
                remedy = "Make room, or choose another place with -o or TMPDIR."
            return DATA, str(Problem(what, where, remedy))
        case MemoryError():
            sampling = session.verb in ("fit", "run")
            remedy = "Use fewer --draws or --chains, merge rare labels, or fit parts of the data."
            remedy = remedy if sampling else "Use a part of the data, or a larger computer."
            return DATA, str(Problem("These data need more memory.", remedy=remedy))
    first = next(iter(str(error).splitlines()), "")
    if names := _environment(error):
        what = f"The compiler fails with {' and '.join(names)} set in the environment: {first[:80]}"
        return USAGE, str(Problem(what, remedy=f"Run it without: unset {' '.join(names)}"))
    if session.loaded:  # others may have written it
        what = f"The fit lacks what this command needs ({type(error).__name__}: {first[:80]})."
        remedy = "Fit again. If that fit fails too, run it with --debug and report the traceback."
        return DATA, str(Problem(what, session.loaded, remedy))
    what = f"Something failed inside annomodels: {type(error).__name__}: {first}"
    remedy = "Run it again with --debug and report the traceback: this is a bug."
    return BUG, str(Problem(what, remedy=remedy))


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
