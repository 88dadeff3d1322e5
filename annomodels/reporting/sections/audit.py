"""Audit: estimates from items that an expert judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.auditing.columns import SHOWN
from annomodels.data.columns import COLUMNS, Column, columns, percent
from annomodels.data.names import label_text
from annomodels.plots.trust import audited
from annomodels.reporting.facts import Facts
from annomodels.reporting.methods import (
    audit_drawing,
    audit_errors,
    audit_way,
    audited_part,
    estimate_of,
    folder_of,
    judged_items,
    model_error,
    panel_sentences,
)
from annomodels.reporting.parts import Part, Section, box, notes, pair, picture, table
from annomodels.reporting.words import say

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate

_QUANTITIES = {
    "accuracy": "gold labels that are right",
    "wrong": "wrong gold labels, before the audited ones were corrected",
    "still_wrong": "wrong gold labels, now",
}

CLASS = COLUMNS["what"].called(of=lambda row: _quantity(row))
FIRST: dict[str, tuple[Column, ...]] = {
    "slices": columns("slice", COLUMNS["by"].called("of"), CLASS),
    "differences": columns(
        COLUMNS["first"].called("Slice"),
        COLUMNS["second"].called("less slice"),
        COLUMNS["by"].called("of"),
        CLASS,
    ),
}
"""First columns of tables in which several columns identify a row."""


@Section.of(
    "audit-section",
    "Audit",
    "How items judged by an expert change these numbers. If the items were drawn at random, the "
    "intervals allow for errors of the model.",
    details=True,
)
def section(facts: Facts) -> list[Part]:
    found, shown, part = estimate_of(facts), tables(estimate_of(facts)), audited_part(facts)
    about = [f"All numbers of the audit are for {part}."] * bool(part)
    parts = [
        Part("text", audit_drawing(found)),
        *notes([audit_errors(facts), *([model_error(found)] if found.by_design else [])]),
        *notes([*found.notes, *about, *_taught(found)], 600),
        *shown["overall"],
        pair(_figure(found), box(*shown["thresholds"])),
    ]
    if found.n_audited:
        parts.append(Part("heading", "Audited coders"))
        parts += [*notes(panel_sentences(found), 400), *shown["coders"]]
    if len(found.systems):
        parts += [Part("heading", "Systems"), *shown["systems"]]
    if len(found.slices):
        parts += [Part("heading", "Slices"), *shown["slices"], *shown["differences"]]
    if len(found.needs):
        parts.append(Part("heading", "Audits for a narrower interval"))
        parts += [*notes([_further(found, folder_of(facts))]), *shown["needs"]]
    return parts


def _taught(found: Estimate) -> list[str]:
    lesson = found.lesson
    if not np.isfinite(lesson.after):
        return []
    code = "p_updated" if lesson.used else "p_unchanged"
    return [say(code, before=lesson.before, after=lesson.after)]


def _figure(found: Estimate) -> Part:
    row, way = found.row("accuracy"), audit_way(found)
    shares = {name: percent(row[name]) for name in ("value", "audit", "model")}
    so = say("audit_follows" if found.by_design else "audit_conservative")
    return picture(audited(found), "audit", way=way, so=so, **shares)


def _quantity(row: Any) -> str:
    if row.quantity == "prevalence":
        return f"share of {label_text(row.label)}"
    return _QUANTITIES[str(row.quantity)]


def tables(found: Estimate) -> dict[str, list[Part]]:
    """Return the tables of an audit; coders with most labels and certain differences first."""
    way = audit_way(found)
    value, *rest = SHOWN["overall"]
    quantity = Column("quantity", "What", "name", of=_quantity)
    overall = quantity, value.called(way.removeprefix("the ").capitalize()), *rest
    titles = {
        "thresholds": f"Gold labels above a probability, by {way}",
        "coders": "Share of each coder's labels that are right, by audit and model",
        "systems": "Share of its comparisons that each system won; a tie counts one half",
        "slices": f"Slices, by {way}",
        "differences": "Differences between slices, most certain first",
        "needs": "Expected width of the 95 % interval of the share of gold labels that are right",
    }
    rows = {key: getattr(found, key) for key in titles}
    rows["coders"] = found.coders.sort_values("n", ascending=False, kind="stable")
    if len(found.differences):
        doubt = -(found.differences["p_higher"] - 0.5).abs().to_numpy()
        rows["differences"] = found.differences.iloc[np.argsort(doubt, kind="stable")]
    made = {
        key: table(f"audited-{key}", title, (*FIRST.get(key, ()), *SHOWN[key]), rows[key])
        for key, title in titles.items()
    }
    title = "Estimates of the audit and of the model"
    return {"overall": table("audited-overall", title, overall, found.table), **made}


def _further(found: Estimate, folder: str) -> str:
    from annomodels.auditing.estimator import needed

    row = found.row("accuracy")
    width = float(row["high"] - row["low"])
    now = f"The interval of the share of right gold labels is {100 * width:.1f} percentage points"
    rest = found.n_items - judged_items(found)
    plan = list(found.needs.itertuples(index=False, name=None))
    if len(plan) < 2 or width <= 0:
        return f"{now} wide."
    more = min(needed(plan, width / 2, rest), rest)
    if more >= rest:
        return say("audit_nearly_all", now=now, rest=rest)
    return (
        f"{now} wide. Halving it takes about {more:,} more of the {rest:,} items that are left: "
        f"annomodels audit {folder} --size {more} -o more.csv draws them."
    )
