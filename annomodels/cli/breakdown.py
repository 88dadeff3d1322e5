"""Agreement by ``--by`` document, label, item, coder or pair, and ``--diagnose``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.gate import unknown
from annomodels.cli.options import Writing
from annomodels.cli.session import note, say, say_notes
from annomodels.cli.tables import emit, emit_text, form_of, note_writer, to_json
from annomodels.data.columns import COLUMNS, Column, columns
from annomodels.data.names import label_text
from annomodels.errors import AnnotationError, NotApplicable
from annomodels.io.border import unreadable
from annomodels.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.coefficients.parts.results import Breakdown
    from annomodels.data.annotations import Annotations

BY = ("document", "group", "label", "item", "coder", "pair")
DEFAULT = ("percent", "alpha")

CONVENTIONS = ("krippendorff", "gwet", "pairs", "pairwise", "listwise")

MOST_DRAWN = 12


def coefficient_names(
    asked: Sequence[str], gates: Sequence[str], default: Sequence[str]
) -> list[str]:
    """Return the coefficients to compute: requested or default ones, and those of gates."""
    from annomodels.coefficients.catalogue import COEFFICIENTS, find

    try:
        names = [find(name).name for name in asked]
    except NotApplicable as error:
        raise click.UsageError(f"--coefficient: {error}") from None
    for gate in gates:
        if gate not in COEFFICIENTS:
            raise unknown("coefficient", gate, list(COEFFICIENTS))
    return list(dict.fromkeys([*(names or default), *gates]))


OF_SPANS = ("alpha_u", "span_f1", "span_f1_overlapping", "token_alpha")


def distance_of(given: str | None, data: Annotations, sets: bool) -> str | list[list[float]] | None:
    """Return the distance: its name, or a table from a file; sets have a default."""
    are_sets = any(isinstance(label, frozenset) for label in data.labels)
    if sets and not are_sets:
        raise click.UsageError(
            "--read sets changes nothing: no answer has several labels. Leave it out."
        )
    if given is None:
        if are_sets:
            note("note: Distance between sets: masi; change it with --distance.")
        return "masi" if are_sets else None
    if not Path(given).is_file():
        if Path(given).suffix and (problem := unreadable(Path(given))):
            raise AnnotationError(problem)
        return given
    from annomodels.io.mappings import distances_from

    return distances_from(given, data.labels)


def parts_table(
    data: Annotations,
    by: str,
    names: Sequence[str],
    positive: str | None,
    progress: Progress,
) -> tuple[pd.DataFrame, tuple[Column, ...]]:
    """Break down coefficients, concatenate the tables, and return the main columns."""
    import pandas as pd

    from annomodels.coefficients.catalogue import COEFFICIENTS

    if by in ("document", "group") and data.group is None:
        raise click.UsageError(
            f"--by {by} needs to know the documents: name their column with --group."
        )
    tables, said = [], dict[str, None]()
    for number, name in enumerate(names):
        progress(f"agreement by {by}", number / len(names), "")
        found = _one(data, by, name, positive)
        table = found.table.rename(columns={"group": by})
        place = len(found.parts)
        table.insert(place, "coefficient", name)
        table.insert(place + 1, "title", COEFFICIENTS[name].title)
        tables.append(table)
        for row in found.overall.itertuples():
            value = COLUMNS["value"].called(digits=3).cell(row).whole
            note(f"{COEFFICIENTS[name].title}, {row.what}: {value.replace('–', 'undefined')}")
        said |= dict.fromkeys(found.notes)
    say_notes(said)
    part = " ".join(tables[0].columns[: place + 1])
    return pd.concat(tables, ignore_index=True), columns(part, *found.columns[place:])


def _one(data: Annotations, by: str, name: str, positive: str | None) -> Breakdown:
    from annomodels.coefficients.parts.breakdown import breakdown

    kind = "group" if by == "document" else by
    options: dict[str, Any] = {}
    if positive is not None:
        named = {label_text(label): label for label in data.labels}
        options = {"undefined": "label-given", "positive": named.get(positive, positive)}
    try:
        return breakdown(data, kind, name, **options)  # type: ignore[arg-type]
    except NotApplicable as error:
        raise click.UsageError(f"--by {by}: {error}") from None


def show_diagnosis(
    data: Annotations, name: str, gated: Callable[[pd.DataFrame], list[str]], writing: Writing
) -> list[str]:
    """Write a diagnosis in the requested form, and return the gates that fail."""
    # JSON contains the sentences and all tables; other forms one table of all parts.
    from annomodels.coefficients.parts.diagnose import diagnose

    try:
        found = diagnose(data, name)
    except NotApplicable as error:
        raise click.UsageError(f"--diagnose: {error}") from None
    failures = gated(found.agreement)
    if form_of(writing) == "json":
        tables = {name: table.to_dict("records") for name, table in found.tables()}
        about = {"title": found.title, "sentences": found.sentences, **tables, "notes": found.notes}
        emit_text(to_json(about), writing)
        return failures
    tell = note_writer(writing)
    for sentence in found.sentences:
        tell(f"* {sentence}")
    table = found.table
    if tell is say:
        table = table.groupby("part", sort=False).head(MOST_DRAWN)
    emit(table, writing, found.title)
    say_notes(found.notes)
    return failures
