"""What items judged by an expert say about the numbers of the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from annomodels.data.columns import COLUMNS, Cell, Column, columns
from annomodels.data.names import label_text
from annomodels.plots.trust import audited
from annomodels.reporting import audited as words
from annomodels.reporting.audited import said
from annomodels.reporting.facts import Facts
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.parts import Part, Section, box, cut, notes, pair, picture, table
from annomodels.reporting.words import percent

_QUANTITIES = {
    "accuracy": "gold labels that are right",
    "wrong": "wrong gold labels, before the audited ones were corrected",
    "still_wrong": "wrong gold labels, now",
}

SHARE = COLUMNS["value"].called(digits=3)
COUNT = COLUMNS["value"].called(kind="quantity")
CLASS = COLUMNS["what"].called(of=lambda row: _what(row))
THRESHOLDS = columns(
    Column("threshold", "Probability", "name", of=lambda row: f"≥ {row.threshold:g}"),
    "n audited",
    COLUMNS["accuracy"].called("Share right", digits=3, bar=False),
)
CODERS = columns(
    "coder n audited",
    COLUMNS["right"].called("of these right"),
    COLUMNS["share_right"].called("Share right"),
)
SYSTEMS = columns("system", COLUMNS["n"].called("Comparisons"), "audited win_rate")
SLICES = columns(
    "slice",
    COLUMNS["by"].called("of"),
    CLASS,
    COLUMNS["n"].called("Items"),
    "audited",
    SHARE.called(bar=True),
)
DIFFERENCES = columns(
    COLUMNS["first"].called("Slice"),
    COLUMNS["second"].called("less slice"),
    COLUMNS["by"].called("of"),
    CLASS,
    COLUMNS["difference"].called(digits=3, interval=("low", "high")),
    "p_higher",
)
NEEDS = columns(
    Column("further", "Further items", "name", of=lambda row: f"{row.further:,.0f}"),
    "width width_audit_alone",
)


def section(facts: Facts) -> list[Part]:
    """Give the parts of the section."""
    found = said(facts)
    parts = [
        Part("text", words.drawing(found)),
        *notes([words.errors(facts), *([words.off(found)] if found.by_design else [])]),
        *notes(cut([*found.notes, *_of_part(facts), *_taught(facts)], 600)),
        *table(overall(facts)),
        pair(_figure(facts), box(*table(thresholds(facts)))),
    ]
    if found.n_audited:
        parts.append(Part("heading", "The coders, as audited"))
        parts += [*notes(cut(words.panel(found))), *table(coders(facts))]
    if len(found.systems):
        parts += [Part("heading", "Systems"), *table(systems(facts))]
    if len(found.slices):
        parts.append(Part("heading", "Slices"))
        parts += [*table(slices(facts)), *table(differences(facts))]
    if len(found.needs):
        parts.append(Part("heading", "What a narrower answer takes"))
        parts += [*notes(_further(facts)), *table(needs(facts))]
    return parts


def _of_part(facts: Facts) -> list[str]:
    part = words.of_part(facts)
    return [f"All numbers of the audit are about {part}."] if part else []


def _taught(facts: Facts) -> list[str]:
    """Say what P(truth) of the items that were not judged learnt."""
    lesson = said(facts).lesson
    if not np.isfinite(lesson.after):
        return []
    scores = f"mean log loss {lesson.before:.3f} before, {lesson.after:.3f} after"
    if lesson.used:
        return [
            "P(truth) of the other items is as the audited ones teach it, because that predicts "
            f"held-out audited items better ({scores})."
        ]
    return [
        "P(truth) of the other items stays as it was: what the audited ones teach does not "
        f"predict held-out ones better ({scores})."
    ]


def _figure(facts: Facts) -> Part:
    found = said(facts)
    row = found.row("accuracy")
    return picture(
        audited(found),
        "audit",
        f"Shares by {words.way(found)}, by the audit alone and by the model alone",
        f"By {words.way(found)} {percent(row['value'])} of the gold labels are right, by the audit "
        f"alone {percent(row['audit'])}, by the model alone {percent(row['model'])}. The table of "
        "the audit holds all numbers.",
        "Lines are 95 % intervals. "
        + (
            "The model makes the intervals narrower than those of the audit alone. If it is wrong, "
            "the estimate follows the audit."
            if found.by_design
            else "The model made cautious allows for how far such models were off on public sets."
        ),
    )


def _quantity(row: Any) -> str:
    if row.quantity == "prevalence":
        return f"share of {label_text(row.label)}"
    return _QUANTITIES[str(row.quantity)]


def _cell(name: str, prefix: str) -> Callable[[Any], Cell]:
    """Make cells of shares, with three digits, and of counts, with one."""

    def cell(row: Any) -> Cell:
        three = [float(getattr(row, n)) for n in (name, f"{prefix}low", f"{prefix}high")]
        if row.quantity in ("accuracy", "prevalence"):
            return SHARE.written(*three)
        return COUNT.written(*(round(value, 1) for value in three))

    return cell


def overall(facts: Facts) -> Table:
    """Accuracy, wrong labels and the share of each label, in three ways."""
    way = words.way(said(facts)).removeprefix("the ").capitalize()
    columns = (
        Column("quantity", "What", "name", of=_quantity),
        SHARE.called(way, of=_cell("value", "")),
        Column("audit", "Audit alone", interval=SHARE.interval, of=_cell("audit", "audit_")),
        Column("model", "Model alone", interval=SHARE.interval, of=_cell("model", "model_")),
    )
    return tabulate("audit", "What the audit says, and the model", columns, said(facts).table)


def thresholds(facts: Facts) -> Table:
    """How many of the gold labels above a threshold are right."""
    title = f"Gold labels above a probability, by {words.way(said(facts))}"
    return tabulate("audited-thresholds", title, THRESHOLDS, said(facts).thresholds)


def coders(facts: Facts) -> Table:
    """Coders with the most labels first."""
    rows = said(facts).coders
    rows = rows.sort_values("n", ascending=False, kind="stable")
    title = "Share of the labels of each coder that is right, by audit and model"
    return tabulate("audited-coders", title, CODERS, rows)


def systems(facts: Facts) -> Table:
    """Win rates of systems that items compare."""
    title = "Share of its comparisons that each system won; a tie counts one half"
    return tabulate("audited-systems", title, SYSTEMS, said(facts).systems)


def _what(row: Any) -> str:
    return (
        "gold labels right" if row.quantity == "accuracy" else f"share of {label_text(row.label)}"
    )


def slices(facts: Facts) -> Table:
    """Accuracy and shares of labels in each slice."""
    title = f"Slices, by {words.way(said(facts))}"
    return tabulate("audited-slices", title, SLICES, said(facts).slices)


def differences(facts: Facts) -> Table:
    """Differences between slices, the most certain first."""
    rows = said(facts).differences
    if len(rows):
        rows = rows.iloc[np.argsort(-(rows["p_higher"] - 0.5).abs().to_numpy(), kind="stable")]
    title = "Differences between slices, the most certain first"
    return tabulate("audited-differences", title, DIFFERENCES, rows)


def needs(facts: Facts) -> Table:
    """Widths if further items are audited."""
    title = "Expected width of the 95 % interval of the share of gold labels that are right"
    return tabulate("audited-needs", title, NEEDS, said(facts).needs)


def _further(facts: Facts) -> list[str]:
    """Say how many further items make the interval half as wide."""
    from annomodels.auditing.estimator import needed

    found = said(facts)
    row = found.row("accuracy")
    width = float(row["high"] - row["low"])
    now = f"The interval of the share of right gold labels is {100 * width:.1f} percentage points"
    rest = found.n_items - words.judged(found)
    plan = list(found.needs.itertuples(index=False, name=None))
    if len(plan) < 2 or width <= 0:
        return [f"{now} wide."]
    more = min(needed(plan, width / 2, rest), rest)
    return [
        f"{now} wide. One half as wide takes about {more:,} further items of the {rest:,} that are "
        f"left: annomodels audit {words.folder_of(facts)} --size {more} -o more.csv draws them."
        if more < rest
        else f"{now} wide. To halve it nearly all of the other {rest:,} items must be judged."
    ]


SECTION = Section(
    "audit-section",
    "Audit",
    "What items judged by an expert say about these numbers. If the items were drawn at random, "
    "the intervals allow for errors of the model.",
    section,
    details=True,
)
