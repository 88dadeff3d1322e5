"""``agree --diagnose``: where disagreement comes from, as sentences and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.options import Writing
from annomodels.cli.session import note
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.coefficients.parts.results import Diagnosis
    from annomodels.data.annotations import Annotations

__all__ = ["show_diagnosis"]

SHARES = (
    *("share", "share_low", "share_high", "by_chance"),
    *("ratio", "ratio_low", "ratio_high", "p_more"),
)
MOST_DRAWN = 12


def show_diagnosis(data: Annotations, name: str, writing: Writing) -> pd.DataFrame:
    """Write a diagnosis in the form asked for and give its table of coefficients.

    JSON holds the sentences and every table. The other forms hold one table of all parts with
    their shares of the disagreement; the sentences then go to stderr. On a terminal the sentences
    stand above a short table.

    Raises
    ------
    click.UsageError
        When the coefficient cannot be taken apart.
    """
    from annomodels.cli.tables import emit, emit_text, form_of, to_json
    from annomodels.coefficients.parts.diagnose import diagnose

    try:
        found = diagnose(data, name)
    except NotApplicable as error:
        raise click.UsageError(
            f"--diagnose: {error}", click.get_current_context(silent=True)
        ) from None
    form = form_of(writing)
    if form == "json":
        emit_text(to_json(_everything(found)), writing)
        return found.agreement
    say = click.echo if form == "table" and writing.output in (None, "-") else note
    for sentence in found.sentences:
        say(f"* {sentence}")
    table = _parts(found)
    if say is click.echo:
        table = table.groupby("part", sort=False).head(MOST_DRAWN)
    emit(table, writing, found.title, ("part", "name", "n", *SHARES))
    for text in found.notes:
        note(f"note: {text}")
    return found.agreement


def _everything(found: Diagnosis) -> dict[str, Any]:
    """Sentences, notes and tables."""
    tables = {name: table.to_dict("records") for name, table in found.tables()}
    return {"title": found.title, "sentences": found.sentences, **tables, "notes": found.notes}


def _parts(found: Diagnosis) -> pd.DataFrame:
    """Label pairs, coders, groups and items one below the other."""
    import pandas as pd

    pieces = []
    if len(found.label_pairs):
        names = [
            f"{label_text(a)} / {label_text(b)}"
            for a, b in zip(found.label_pairs["first"], found.label_pairs["second"], strict=True)
        ]
        pieces.append(found.label_pairs.assign(part="label pair", name=names))
    for part, table in (("coder", found.coders), ("group", found.groups), ("item", found.items)):
        if table is not None and len(table):
            pieces.append(table.assign(part=part, name=table[part].map(label_text)))
    columns = ["part", "name", "n", *SHARES]
    if not pieces:
        return pd.DataFrame(columns=columns)
    return pd.concat([piece.reindex(columns=columns) for piece in pieces], ignore_index=True)
