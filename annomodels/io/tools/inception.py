"""INCEpTION: the diagnosis table that its agreement page exports, with units already aligned."""

from __future__ import annotations

from collections import Counter

from annomodels.io.source import Options, Source
from annomodels.io.tools.judgements import Judgements

OWN = ("Type", "Collection", "Document", "Layer", "Feature", "Position", "Flags")
NOT_MARKED, NO_LABEL = "<no annotation>", "<no label>"


def is_inception(source: Source, options: Options) -> bool:
    """Whether the header begins as that of the diagnosis."""
    return source.header[: len(OWN)] == OWN


def read_inception(source: Source, options: Options, found: Judgements) -> None:
    """Columns of aligned units; a coder who marked nothing there is a skip."""
    table = found.table
    coders = table.header[len(OWN) :]
    if not coders and not found.problems:
        found.problem("There is no column for a coder.", "Export the diagnosis of all coders.")
    if found.problems:
        return
    flags: Counter[str] = Counter()
    several = {(cells["Layer"], cells["Feature"]) for _, cells in table.records()}
    for row, cells in table.records():
        place, _, text = str(cells["Position"]).partition(" [")
        item = f"{cells['Document']} {place}"
        question = str(cells["Feature"])
        if len({layer for layer, feature in several if feature == question}) > 1:
            question = f"{cells['Layer']}.{question}"
        flags.update(str(cells["Flags"]).replace(",", " ").split())
        found.text(item, text.removesuffix("]"))
        found.group(item, cells["Document"])
        stacked = "STACKED" in str(cells["Flags"])
        for coder in coders:
            label = str(cells[coder])
            if label in (NOT_MARKED, NO_LABEL, ""):
                found.skip(item, question)
            else:
                parts = label.split(", ") if stacked else label
                found.add(item, coder, question, parts, row)
    incomplete = flags["INCOMPLETE_POSITION"] + flags["INCOMPLETE_LABEL"]
    if incomplete:
        found.note(
            f"{incomplete:,} units were not marked or labelled by all coders; what they lack "
            "counts as skipped, and not as disagreement."
        )
