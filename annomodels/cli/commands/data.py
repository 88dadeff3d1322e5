"""Data in other layouts, ``annomodels convert``, and bundled data, ``annomodels datasets``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from annomodels.cli.declared import as_command
from annomodels.cli.loading import PREFIX, load_bundled, load_data, named_data
from annomodels.cli.options import Named, Reading, Writing, option
from annomodels.cli.session import note, say_notes
from annomodels.cli.tables import emit, form_of, put
from annomodels.data.columns import COLUMNS, WHOLE_TEXT, Column, columns
from annomodels.data.validation import all_numbers
from annomodels.io.assembly import chosen
from annomodels.io.formats import FORMATS
from annomodels.io.source import Options, Source
from annomodels.io.writers.layouts import long

if TYPE_CHECKING:
    import pandas as pd


WAYS = Column("read", kind="tag"), Column("written", kind="tag")
FORMATS_SHOWN = columns(
    "name", *WAYS, COLUMNS["title"].called(kind="text", width=WHOLE_TEXT), "known_by"
)
TO = (
    *("long", "wide", "crowd-kit", "cleanlab", "k-alpha", "recal", "mace"),
    *("label-studio", "prodigy", "argilla"),
)


@as_command(
    "convert export.json -o votes.csv",
    "convert project/ --units token --to k-alpha -o matrix.csv",
    "convert batch.csv --item ext_id --to label-studio -o tasks.json",
    "convert --list",
    "convert --list export.json",
)
@option("--to", "Layout to write; --list explains each.", TO, "long")
@option("--list listed", "List the formats, or detect the format of DATA.", bool)
@click.argument("data", nargs=-1, type=Named(), callback=named_data)
def convert(
    data: str, to: str, listed: bool, spreadsheet: bool, reading: Reading, writing: Writing
) -> None:
    """Write the labels of DATA in another layout.

    Without -o the result goes to stdout. The ending of FILE decides between csv, tsv, json, jsonl
    and parquet for tables. With --list the column read has yes, or spans (marked stretches of text,
    which need --units), and the column written has labels (convert --to) or gold (gold --to).
    Formats are tried in the order of the list.
    """
    from annomodels.io.writers.catalog import LAYOUTS, named

    if listed:
        emit(formats(data), writing, "Formats", FORMATS_SHOWN)
        return
    if not data:
        raise click.UsageError("Name the DATA to convert, or list the formats with --list.")
    labels = load_data(data, reading)
    note(repr(labels))
    say_notes(labels.notes)
    put(named(to, LAYOUTS), labels, writing, spreadsheet)
    if to == "cleanlab" or (to in ("k-alpha", "recal") and not all_numbers(labels.labels)):
        pairs = enumerate(labels.labels, 0 if to == "cleanlab" else 1)
        note(f"note: labels as numbers: {', '.join(f'{k} = {name}' for k, name in pairs)}")


def formats(data: str) -> pd.DataFrame:
    """Tabulate the formats that can be read and written, or the format of the data."""
    import pandas as pd

    from annomodels.io.writers.catalog import BACKS, LAYOUTS

    def written(name: str) -> str:
        ways = (("labels", LAYOUTS), ("gold", BACKS))
        return ", ".join(word for word, table in ways if name in table)

    known = [chosen("auto", Source(data), Options())] if data else FORMATS
    rows = [
        {
            "name": form.name,
            "title": form.title,
            "known_by": form.signature,
            "read": "yes" if form.read else "spans",
            "written": written(form.name),
        }
        for form in known
    ]
    if not data:
        names = {form.name for form in FORMATS}
        rows += [
            {"name": name, "title": writer.title, "known_by": "", "read": "",
             "written": written(name)}
            for name, writer in {**LAYOUTS, **BACKS}.items()
            if name not in names
        ]  # fmt: skip
    return pd.DataFrame(rows)


COUNT, TITLE = (
    Column("annotations", kind="count"),
    COLUMNS["title"].called(kind="text", width=WHOLE_TEXT),
)
SETS_SHOWN = columns("name items coders labels", COUNT, TITLE)


@as_command("datasets", "datasets anesthesia -o labels.csv")
@click.argument("name", required=False)
def datasets(name: str | None, writing: Writing) -> None:
    """List the bundled data sets, or write NAME as a table.

    Every command that takes DATA also takes dataset:NAME.
    """
    import pandas as pd

    from annomodels import datasets as bundled

    if name:
        name = name.removeprefix(PREFIX)
        data = load_bundled(name)
        frame = long(data).rename(columns={"group": "batch"})
        note(f"{bundled.about(name).title}: {data!r}")
        emit(frame, writing, name)
        return
    rows = []
    for known_name in bundled.names():
        about, data = bundled.about(known_name), bundled.load(known_name)
        sizes = {"items": data.n_items, "coders": data.n_coders, "labels": data.n_labels}
        row = {"name": known_name, "title": about.title, **sizes, "annotations": len(data)}
        rows.append({**row, "source": about.source, "doi": about.doi, "note": about.note})
    table = pd.DataFrame(rows)
    if form_of(writing) in ("tsv", "csv"):  # their sources and notes are long; JSON has them
        table = table[[column.name for column in SETS_SHOWN]]
    emit(table, writing, "Bundled data", SETS_SHOWN)
