"""``annomodels check``: what is in a file of labels."""

from __future__ import annotations

import click

from annomodels.cli.loading import data_argument
from annomodels.cli.options import (
    Reading,
    Writing,
    common_options,
    examples,
    read_options,
    write_options,
)


@click.command(
    "check",
    epilog=examples("annomodels check votes.csv --item sentence --coder worker --label tag"),
)
@data_argument
@read_options
@write_options
@common_options
def command(data: str, reading: Reading, writing: Writing) -> None:
    """Say what is in DATA and what looks odd in it."""
    import pandas as pd

    from annomodels.cli.health import findings
    from annomodels.cli.loading import load_data, stem
    from annomodels.cli.places import check_writing
    from annomodels.cli.screen.glossary import CHECKS
    from annomodels.cli.session import here, note, say
    from annomodels.cli.tables import emit, emit_text, form_of, to_json

    check_writing(writing)
    labels = load_data(data, reading)
    found = findings(labels)
    if form_of(writing) == "json":
        checks = {
            fact.check.replace(" ", "_"): {
                "value": fact.value,
                "remark": fact.remark,
                **({"names": fact.names} if fact.names else {}),
            }
            for fact in found
        }
        about = {
            "source": stem(data),
            "summary": repr(labels),
            "notes": list(map(here, labels.notes)),
        }
        emit_text(to_json({**about, "checks": checks}), writing)
        return
    rows = [("source", stem(data), "")]
    rows += [(fact.check, str(fact.value), fact.remark) for fact in found]
    drawn = form_of(writing) == "table" and writing.output in (None, "-")
    if not drawn:
        rows += [("note", "", here(text)) for text in labels.notes]
    emit(pd.DataFrame(rows, columns=["check", "value", "remark"]), writing, repr(labels))
    if drawn:
        for text in labels.notes:
            say(f"note: {text}")
        for text in CHECKS:
            note(text)
