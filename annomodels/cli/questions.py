"""Several questions of one file: which are meant, what is read of each, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.options import Reading
from annomodels.cli.session import warn

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.cli.options import Writing

EVERY = "Analyse each question or variable of DATA separately"


def asked_of(reading: Reading) -> tuple[str, ...]:
    """Names and patterns given with ``--question``."""
    asked = reading["question"]
    return () if asked is None else (asked,) if isinstance(asked, str) else tuple(asked)


def several(reading: Reading, every_question: bool) -> bool:
    """Whether several questions are meant: by the option, by several names, or by a pattern.

    Raises
    ------
    click.UsageError
        When both all and some were asked for.
    """
    asked = asked_of(reading)
    if every_question and asked:
        raise click.UsageError(
            "Give --question or --every-question, not both.",
            click.get_current_context(silent=True),
        )
    if len(asked) != 1:
        return every_question or bool(asked)
    from annomodels.io.codebook import is_pattern

    return is_pattern(asked[0])


def say_left_out(left_out: Mapping[str, str]) -> None:
    """Name on stderr what is left out, each with its reason."""
    for name, why in left_out.items():
        warn(f"left out: {name}: {why}.")


def reason_of(error: Exception) -> str:
    """Give the first thing that an error says, as the end of a sentence."""
    problems = getattr(error, "problems", ())
    text = problems[0].what if problems else (str(error).splitlines() or [""])[0]
    return f"{text[:1].lower()}{text[1:]}".rstrip(".")


def with_left_out(table: pd.DataFrame, left_out: Mapping[str, str], form: str) -> pd.DataFrame:
    """Add a row for each question that was left out, in forms that programs read."""
    import pandas as pd

    if form not in ("json", "csv", "tsv") or not left_out:
        return table
    rows: list[dict[str, Any]] = [
        {"question": name, "note": f"Left out: {why}."} for name, why in left_out.items()
    ]
    return pd.concat([table, pd.DataFrame(rows)], ignore_index=True)[list(table.columns)]


def form_for(writing: Writing) -> str:
    """Give the form in which a table will be written."""
    from annomodels.cli.tables import form_of

    form = form_of(writing)
    return "tsv" if form == "table" and writing.output not in (None, "-") else form
