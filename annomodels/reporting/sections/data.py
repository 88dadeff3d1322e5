"""What the data look like before any model."""

from __future__ import annotations

from annomodels.data.names import label_text
from annomodels.limits import CODER_THIN
from annomodels.reporting.facts import Facts
from annomodels.reporting.health import Spread
from annomodels.reporting.parts import Part, Rows, Section, notes
from annomodels.reporting.words import count, listed, number
from annomodels.summaries.columns import short


def section(facts: Facts) -> list[Part]:
    """Give the parts of the section."""
    return [Part("tiles", sizes(facts)), *notes(health_notes(facts))]


def sizes(facts: Facts) -> Rows:
    """Tiles of the data section."""
    data, counts = facts.data, facts.counts
    return [
        ("Items", f"{data.n_items:,}", f"{_spread(counts.per_item)} labels on each"),
        ("Coders", f"{data.n_coders:,}", f"{_spread(counts.per_coder)} labels from each"),
        _label_set(facts),
        (
            "Labels given",
            f"{len(data):,}",
            f"{count(counts.repeats, 'repeat')}, {count(counts.skips, 'skipped cell')}",
        ),
    ]


def _label_set(facts: Facts) -> tuple[str, str, str]:
    data = facts.data
    if facts.truth == "number":
        ends = f"from {data.values.min():g} to {data.values.max():g}"
        return "Different numbers", f"{data.n_labels:,}", ends
    names = _names([label_text(name) for name in data.labels], 4)
    return "Label set", f"{data.n_labels:,}", names


def _spread(spread: Spread) -> str:
    if spread.least == spread.most:
        return f"{spread.least:,}"
    return (
        f"{spread.least:,} to {spread.most:,} (median {number(spread.median)}, middle half "
        f"{number(spread.quarter)} to {number(spread.three_quarters)})"
    )


def _names(names: list[str], most: int) -> str:
    return listed([short(name, 24) for name in names], most)


def health_notes(facts: Facts) -> list[str]:
    """Sentences on what a reader should know of the data."""
    data, counts, on_disk = facts.data, facts.counts, facts.on_disk
    out = [f"Read from {short(data.source, 80)}, and streamed from disk."] * (
        on_disk and bool(data.source)
    )
    if not on_disk and data.is_complete:
        out.append("The data are complete: every coder labelled every item.")
    n_parts, sizes = facts.parts_apart
    if n_parts > 1:
        rest = f" (of {', '.join(f'{n:,}' for n in sizes[:6])}{' …' * (n_parts > 6)} items)"
        out.append(
            f"The data fall into {n_parts:,} groups{rest * bool(sizes)} that share no coder: "
            "coders of different groups can be compared only through what the model assumes."
        )
    elif not on_disk:
        out.append("All items and coders are connected: any two coders can be compared.")
    if counts.few:
        verb = "has" if len(counts.few) == 1 else "have"
        out.append(
            f"{count(len(counts.few), 'coder')} {verb} fewer than {CODER_THIN} labels, so "
            f"little can be said about them: {_named(counts.few)}."
        )
    if counts.single:
        verb = "has" if counts.single == 1 else "have"
        out.append(f"{count(counts.single, 'item')} {verb} one label only.")
    if not on_disk and facts.health.constant:
        names = _named(facts.health.constant)
        out.append(f"Always one and the same label, with {CODER_THIN} labels or more: {names}.")
    if counts.unused:
        out.append(f"In the label set, but never given: {_named(counts.unused)}.")
    if on_disk and data.dont_know:
        kinds = short("/".join(data.dont_know), 60)
        out.append(f"No class, and set aside: {kinds}, {int(data.unanswered.sum()):,} times.")
    if facts.told_items:
        out.append(f"The truth of {count(facts.told_items, 'item')} is known and was used.")
    said = "groups that share no item"  # in other words above
    return out + [short(note, 300) for note in data.notes[:12] if n_parts == 1 or said not in note]


def _named(names: tuple[object, ...]) -> str:
    return _names([label_text(name) for name in names], 6)


SECTION = Section(
    "data",
    "Data health",
    "What was labelled, how evenly, and what to know before reading on.",
    section,
)
