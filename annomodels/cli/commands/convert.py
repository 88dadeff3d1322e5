"""``annomodels convert``: any export to a long table, or to the layout of another program."""

from __future__ import annotations

from annomodels.cli.declared import as_command
from annomodels.cli.loading import load_data, say_notes
from annomodels.cli.options import Reading, Writing, option
from annomodels.cli.session import note
from annomodels.cli.tables import put
from annomodels.data.validation import all_numbers

TO = (
    *("long", "wide", "crowd-kit", "cleanlab", "k-alpha", "recal", "mace"),
    *("label-studio", "prodigy", "argilla"),
)


@as_command(
    "convert export.json -o votes.csv",
    "convert project/ --units token --to k-alpha -o matrix.csv",
    "convert batch.csv --item ext_id --to label-studio -o tasks.json",
)
@option("--to", "Layout to write; `annomodels formats` explains each.", TO, "long")
def command(data: str, to: str, spreadsheet: bool, reading: Reading, writing: Writing) -> None:
    """Write the labels of DATA in another layout.

    Without -o the result goes to stdout. The ending of FILE decides between csv, tsv, json, jsonl
    and parquet for tables.
    """
    from annomodels.io.writers.catalog import LAYOUTS, named

    labels = load_data(data, reading)
    note(repr(labels))
    say_notes(labels)
    put(named(to, LAYOUTS), labels, writing, spreadsheet)
    if to == "cleanlab" or (to in ("k-alpha", "recal") and not all_numbers(labels.labels)):
        pairs = enumerate(labels.labels, 0 if to == "cleanlab" else 1)
        note(f"note: labels as numbers: {', '.join(f'{k} = {name}' for k, name in pairs)}")
