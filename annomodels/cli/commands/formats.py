"""``annomodels formats``: what can be read and written."""

from __future__ import annotations

import click

from annomodels.cli.declared import as_command
from annomodels.cli.options import Writing
from annomodels.cli.tables import emit
from annomodels.data.columns import COLUMNS, WHOLE_TEXT, Column, columns
from annomodels.io.source import Options, Source

WAYS = Column("read", kind="tag"), Column("written", kind="tag")
SHORT = columns("name", *WAYS, COLUMNS["title"].called(kind="text", width=WHOLE_TEXT), "known_by")


@as_command("formats", "formats export.json --json")
@click.argument("data", required=False)
def command(data: str | None, writing: Writing) -> None:
    """List the formats, or detect the format of DATA.

    Formats are tried in the order of the list. The column read has yes, or spans (marked stretches
    of text, which need --units). The column written has labels (annomodels convert --to) or gold
    (annomodels gold --to).
    """
    import pandas as pd

    from annomodels.io.assembly import chosen
    from annomodels.io.formats import FORMATS
    from annomodels.io.writers.catalog import BACKS, LAYOUTS

    known = FORMATS if data is None else [chosen("auto", Source(data), Options())]
    rows = [
        {
            "name": form.name,
            "title": form.title,
            "known_by": form.signature,
            "read": "yes" if form.read else "spans",
            "written": _written(form.name, LAYOUTS, BACKS),
        }
        for form in known
    ]
    if data is None:
        names = {form.name for form in FORMATS}
        rows += [
            {"name": name, "title": writer.title, "known_by": "", "read": "",
             "written": _written(name, LAYOUTS, BACKS)}
            for name, writer in {**LAYOUTS, **BACKS}.items()
            if name not in names
        ]  # fmt: skip
    emit(pd.DataFrame(rows), writing, "Formats", SHORT)


def _written(name: str, labels: object, gold: object) -> str:
    ways = [word for word, table in (("labels", labels), ("gold", gold)) if name in table]  # type: ignore[operator]
    return ", ".join(ways)
