"""``annomodels advise``: which model suits."""

from __future__ import annotations

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import load_data, load_fit, say_notes
from annomodels.cli.options import Reading, Writing, option
from annomodels.cli.tables import emit, emit_text, form_of, note_writer, to_json
from annomodels.cli.terminal import Stages
from annomodels.data.columns import Column, columns


@as_command("advise votes.csv", "advise votes.csv --check", "advise votes.csv --fit fit.nc --json")
@option("--check", "Fit the suggested model and check it; this takes longer.", bool)
@option("--fit", "Saved fit of DATA to check.", metavar="FIT")
def command(
    data: str, check: bool, fit: str | None, seed: int, reading: Reading, writing: Writing
) -> None:
    """Suggest a model for DATA, with the reasons."""
    from annomodels.planning.advise import advise

    if check and fit is not None:
        raise click.UsageError("--check makes a fit and --fit reads one: use only one of them.")
    labels = load_data(data, reading)
    say_notes(labels)
    known = None if fit is None else load_fit(fit)
    if check:
        with Stages() as stages:
            found = advise(labels, check=True, seed=seed, progress=stages)
    else:
        found = advise(labels, fit=known)
    if form_of(writing) == "json":
        emit_text(to_json(found.to_dict()), writing)
        return
    tell = note_writer(writing)
    tell(f"model: {found.model or 'none can be fitted'}")
    for sentence in found.reasons:
        tell(f"* {sentence}")
    emit(found.table, writing, "Models", columns("model", Column("place", kind="tag")))
