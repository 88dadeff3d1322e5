"""INCEpTION: the diagnosis table that its agreement page exports, with units already aligned."""

from __future__ import annotations

from collections import Counter

from annomodels.io.records import Records
from annomodels.io.source import Options, Source

OWN = ("Type", "Collection", "Document", "Layer", "Feature", "Position", "Flags")
NO_LABEL = ("<no annotation>", "<no label>", "")


def is_inception(source: Source, options: Options) -> bool:
    """Whether the header begins as that of the diagnosis."""
    return source.header[: len(OWN)] == OWN


def read_inception(found: Records) -> None:
    """Aligned units; a coder who marked nothing there is a skip."""
    table = found.table
    coders = table.header[len(OWN) :]
    if not coders and not found.problems:
        found.problem("There is no column for a coder.", "Export the diagnosis of all coders.")
    if found.problems:
        return
    flags: Counter[str] = Counter()
    pairs = set(zip(table.columns["Layer"], table.columns["Feature"], strict=True))
    layers = Counter(str(feature) for _, feature in pairs)
    for row, cells in table.records():
        place, _, text = str(cells["Position"]).partition(" [")
        item, question = f"{cells['Document']} {place}", str(cells["Feature"])
        if layers[question] > 1:
            question = f"{cells['Layer']}.{question}"
        found.text(item, text.removesuffix("]"))
        found.group(item, cells["Document"])
        said = str(cells["Flags"]).replace(",", " ").split()
        flags.update(said)
        for coder in coders:
            label = str(cells[coder])
            if label in NO_LABEL:
                found.skip(item, question)
            else:
                parts = label.split(", ") if "STACKED" in said else label
                found.add(item, coder, question, parts, row)
    incomplete = flags["INCOMPLETE_POSITION"] + flags["INCOMPLETE_LABEL"]
    if incomplete:
        found.note(
            f"{incomplete:,} units were not marked or labelled by all coders; what they lack "
            "counts as skipped, and not as disagreement."
        )
