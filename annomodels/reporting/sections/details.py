"""Details: the data, accuracy by threshold, and how to check the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from annomodels import plots
from annomodels.data.columns import decimal, percent, short
from annomodels.data.names import label_text
from annomodels.data.validation import APART, counted
from annomodels.limits import CODER_THIN
from annomodels.reporting.facts import Facts
from annomodels.reporting.methods import folder_of
from annomodels.reporting.parts import (
    Part,
    Rows,
    Section,
    box,
    drawn,
    notes,
    pair,
    picture,
    summary,
)
from annomodels.reporting.words import listed, say
from annomodels.summaries.gold import mixture_note

MOST_NOTES = 12  # notes on the data


@Section.of("data", "Data", "The data and their limits.", details=True)
def about_data(facts: Facts) -> list[Part]:
    from annomodels.reporting.sections.coders import pictures

    parts = [Part("tiles", sizes(facts)), *notes(health_notes(facts))]
    if facts.truth != "class":
        return parts
    said = [*facts.coders.notes]
    for verb in ("labels", "agreement"):
        said += getattr(facts.fit, verb)().notes if facts.has(verb) else ()
    said += facts.fit.items().notes[1:] if facts.has("items") else ()  # the bar shows the first
    return [*parts, pictures(facts), *notes(list(dict.fromkeys(said)), 600)]


def sizes(facts: Facts) -> Rows:
    data, counts = facts.data, facts.health
    if facts.truth == "number":
        ends = f"from {data.values.min():g} to {data.values.max():g}"
        labels = "Different numbers", f"{data.n_labels:,}", ends
    else:
        labels = "Label set", f"{data.n_labels:,}", _names(data.labels, 4)
    return [
        ("Items", f"{data.n_items:,}", f"{counts.per_item.told(middle=True)} labels per item"),
        ("Coders", f"{data.n_coders:,}", f"{counts.per_coder.told(middle=True)} labels per coder"),
        labels,
        (
            "Labels given",
            f"{len(data):,}",
            f"{counted(data.repeats, 'repeat')}, {counted(data.skips, 'skipped cell')}",
        ),
    ]


def _names(names: Any, most: int = 6) -> str:
    return listed([short(label_text(name), 24) for name in names], most)


def health_notes(facts: Facts) -> list[str]:
    data, counts, on_disk = facts.data, facts.health, facts.on_disk
    out = [f"Read from {short(data.source, 80)}, and streamed from disk."] * (
        on_disk and bool(data.source)
    )
    if not on_disk and data.is_complete:
        out.append("The data are complete: every coder labeled every item.")
    n_parts, parts = counts.n_parts, counts.parts
    if n_parts > 1:
        rest = f" (of {', '.join(f'{n:,}' for n in parts[:6])}{' …' * (n_parts > 6)} items)"
        out.append(say("groups_apart", n=n_parts, sizes=rest * bool(parts)))
    if counts.few:
        few = len(counts.few)
        out.append(say("few_labels", n=few, least=CODER_THIN, names=_names(counts.few)))
    if counts.single:
        out.append(f"{counted(counts.single, 'item has', 'items have')} only one label.")
    if counts.constant:
        names = _names(counts.constant)
        out.append(f"Always the same label, with {CODER_THIN} labels or more: {names}.")
    if counts.unused:
        out.append(f"In the label set, but given by no coder: {_names(counts.unused)}.")
    if on_disk and data.dont_know:
        kinds = short("/".join(data.dont_know), 60)
        out.append(
            f"Set aside, because it is not a class: {kinds}, {int(data.unanswered.sum()):,} times."
        )
    if facts.told_items:
        out.append(f"True labels of {counted(facts.told_items, 'item')} were given and used.")
    unlabeled = 0 if on_disk else int((np.diff(data.starts) == 0).sum())
    said = APART.format(n_parts - unlabeled)  # already stated above in other words
    noted = [short(note, 300) for note in data.notes if note != said]
    left = len(noted) - MOST_NOTES
    more = [f"{counted(left, 'more note')} on the data, as the command printed them."] * (left > 0)
    return [*out, *noted[:MOST_NOTES], *more]


@Section.of(
    "gold",
    "Gold labels",
    "Expected accuracy above each threshold, and how to check it.",
    needs=("prevalence",),  # for classes only
    parts=(
        ("items", "Items to decide, and intervals of expected errors"),
        ("next", "Labels to buy"),
    ),
    details=True,
)
def gold(facts: Facts) -> list[Part]:
    made = summary("thresholds", "What a threshold keeps", facts.coverage)
    if facts.on_disk:
        return made
    several = int(facts.coverage.table["kept"].iloc[0]) > 1
    title, tested = "Gold labels against the true labels that were held back", facts.calibration
    return [
        pair(*drawn(_coverage(facts) if several else None), box(*made)),
        *notes(
            [
                *facts.fit.gold().notes[1:],
                *filter(None, [mixture_note(facts.tree), distance(facts)]),
            ],
            600,
        ),
        *([] if tested is None else [*notes(tested.notes), *summary("calibration", title, tested)]),
        *_how_to_check(facts),
    ]


def distance(facts: Facts) -> str:
    """State the part of the interval's width due to the distance of crowd and expert."""
    if facts.as_coders_read is None or not facts.distance:
        return ""
    low, high = facts.as_coders_read
    return say("crowd_and_expert", share=percent(facts.distance, 0), low=low, high=high)


def _coverage(facts: Facts) -> Part:
    rows = facts.coverage.table.set_index("threshold")
    everything: Any = rows.loc[0.0]
    sure: Any = rows.loc[0.95]
    return picture(
        plots.coverage(facts.coverage),
        "coverage",
        every=decimal(float(everything["accuracy"]), 3),
        accuracy=decimal(float(sure["accuracy"]), 3),
        share=percent(float(sure["share"])),
    )


def _how_to_check(facts: Facts) -> list[Part]:
    """Return the steps of an audit, unless there was one."""
    if facts.estimate is not None and facts.estimate.by_design:
        return []
    rest = facts.data.n_items - facts.known_items
    if facts.unsupported("gold") or not rest:
        return []
    folder = folder_of(facts)
    draw = f"annomodels audit {folder} --size {facts.to_audit[0]} -o audit.csv"
    use = f"annomodels estimate {folder} --truth audit.csv"
    return [
        Part("heading", "Check random items", "check-items"),
        Part("text", "Draw the items, fill in the column “label” of the file, then estimate:"),
        Part("copy", draw),
        Part("copy", use),
        Part("text", "If you know true labels already, hold them back and test with them:"),
        Part(
            "copy",
            f"annomodels report {folder} -o report.html --truth truth.csv --use test --force",
        ),
    ]
