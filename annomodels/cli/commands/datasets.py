"""``annomodels datasets``: the bundled data."""

from __future__ import annotations

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import PREFIX, load_bundled
from annomodels.cli.options import Writing
from annomodels.cli.session import note
from annomodels.cli.tables import emit, form_for
from annomodels.data.columns import COLUMNS, WHOLE_TEXT, Column, columns
from annomodels.io.writers.layouts import long

COUNT, TITLE = (
    Column("annotations", kind="count"),
    COLUMNS["title"].called(kind="text", width=WHOLE_TEXT),
)
SHORT = columns("name items coders labels", COUNT, TITLE)


@as_command("datasets", "datasets anesthesia -o labels.csv")
@click.argument("name", required=False)
def command(name: str | None, writing: Writing) -> None:
    """List the bundled data sets, or write NAME as a table.

    Every command that takes DATA also takes dataset:NAME.
    """
    import pandas as pd

    from annomodels import datasets

    if name:
        name = name.removeprefix(PREFIX)
        data = load_bundled(name)
        frame = long(data).rename(columns={"group": "batch"})
        note(f"{datasets.about(name).title}: {data!r}")
        emit(frame, writing, name)
        return
    rows = []
    for known_name in datasets.names():
        about, data = datasets.about(known_name), datasets.load(known_name)
        sizes = {"items": data.n_items, "coders": data.n_coders, "labels": data.n_labels}
        row = {"name": known_name, "title": about.title, **sizes, "annotations": len(data)}
        rows.append({**row, "source": about.source, "doi": about.doi, "note": about.note})
    table = pd.DataFrame(rows)
    if form_for(writing) in ("tsv", "csv"):  # their sources and notes are long; JSON has them
        table = table[[column.name for column in SHORT]]
    emit(table, writing, "Bundled data", SHORT)
