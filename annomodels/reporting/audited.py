"""Results of an audit as text, for its section and for methods."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.columns import percent
from annomodels.data.validation import counted
from annomodels.reporting.facts import Facts
from annomodels.reporting.words import interval, number

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate

_ENDS = ("value", "low", "high")
_HOW = {
    "audit": "drawn at random by annomodels audit, by predicted label and P(truth), with known "
    "chances",
    "random": "drawn at random, each with the same chance",
    "weights": "drawn at random with unequal chances, as given by their weights",
    "chosen": "chosen in an unknown way",
}


def folder_of(facts: Facts) -> str:
    """Return the output folder of the fit's command, or a placeholder for the saved fit."""
    return folder_in(str(facts.tree.attrs.get("command", "")))


def folder_in(command: str) -> str:
    """Return the output folder of a command, or a placeholder for the saved fit."""
    found = re.search(r"(?:-o|--output)[ =]([^ ]+)", command)
    return found[1] if found else "fit.nc"


def said(facts: Facts) -> Estimate:
    """Return the estimate of the audit; the page must have one."""
    assert facts.estimate is not None
    return facts.estimate


def way(found: Estimate) -> str:
    return "audit and model" if found.by_design else "the conservative model"


def judged(found: Estimate) -> int:
    """Count the judged items, drawn at random or not."""
    return len(found.answers.item) + len(found.answers.extra)


def drawing(found: Estimate) -> str:
    n = judged(found)
    text = f"An expert judged {counted(n, 'item')} of the {found.n_items:,} without a known label. "
    if found.by_design and len(found.answers.extra):
        text += f"{found.n_audited:,} of them {'was' if found.n_audited == 1 else 'were'}"
    else:
        text += "It was" if n == 1 else "They were"
    return f"{text} {_HOW[found.how]}."


def errors(facts: Facts) -> str:
    """State how many gold labels are still wrong after the audit."""
    found, wrong = said(facts), facts.wrong
    n, known = facts.data.n_items - facts.known_items, judged(found)
    how = "by the audit" if found.by_design else "by the model"
    text = (
        f"{counted(known, 'item has', 'items have')} the true label that an expert gave. "
        f"Of the other {counted(n, 'gold label')}, {number(wrong.gold)} are expected to be wrong "
        f"({interval(wrong.gold_low, wrong.gold_high)}), {how}"
    )
    if part := of_part(facts):
        text += f"; this is for {part}"
    return f"{text}."


def of_part(facts: Facts) -> str:
    """Name the audited population, unless it contains all items of unknown truth."""
    found = said(facts)
    unknown = facts.data.n_items - facts.known_items + judged(found)
    if found.n_items >= unknown:
        return ""
    return f"the {found.n_items:,} items that could be drawn, of {unknown:,} without a known label"


def off(found: Estimate) -> str:
    """State the error of the model."""
    wrong = found.row("wrong")
    ends = f"{number(wrong['low'])} to {number(wrong['high'])}"
    text = (
        f"Of {counted(found.n_items, 'gold label')} the model expected {number(wrong['model'])} to "
        f"be wrong; with the audit, the estimate is {number(wrong['value'])} ({ends})"
    )
    if wrong["low"] <= wrong["model"] <= wrong["high"]:
        return f"{text}. The audit does not contradict the model."
    edge = 0.5 / found.n_items
    p = np.clip(np.array([wrong["value"], wrong["model"]]) / found.n_items, edge, 1 - edge)
    shift = float(np.subtract(*np.log(p / (1 - p))))
    word = "overconfident" if shift > 0 else "underconfident"
    return f"{text}: the model was {word}, by {abs(shift):.1f} in log-odds."


def panel(found: Estimate) -> list[str]:
    """State the effective number of coders, and compare the best coder with the panel."""
    rows = {row["quantity"]: row for row in found.panel.to_dict("records")}
    out = []
    if "effective_coders" in rows:
        row = rows["effective_coders"]
        n = len(found.coders)
        out.append(
            f"Your {counted(n, 'coder')} are worth {_whole(row['value'])} independent ones (95 % "
            f"interval {number(row['low'])} to {number(row['high'])}), because their errors on "
            "the audited items agree."
        )
    if "gold_less_best_coder" in rows:
        row, best = rows["gold_less_best_coder"], rows["best_coder"]
        value, low, high = (f"{100 * row[name]:.1f}".replace("-", "−") for name in _ENDS)
        share, least, most = (percent(best[name]) for name in _ENDS)
        verdict = (
            ": the panel beats its best coder"
            if row["low"] > 0
            else ": one coder alone beats the panel"
            if row["high"] < 0
            else ", so it is unclear which of the two is better"
        )
        out.append(
            f"The best coder with many labels is {best['coder']}: {share} of the labels are right "
            f"(95 % interval {least} to {most}); the gold labels of all coders together are "
            f"{value} percentage points better ({low} to {high}){verdict}."
        )
    return out


def _whole(value: float) -> str:
    return f"about {value:,.0f}" if value >= 10 else f"about {value:.1f}".removesuffix(".0")


def results(facts: Facts) -> str:
    """State the results of an audit for a methods section."""
    found = said(facts)
    if not found.by_design:
        return (
            f"{drawing(found)} It is unknown how the judged items were chosen, so no coverage is "
            "guaranteed."
        )
    row = found.row("accuracy")
    share, low, high = (percent(row[name]) for name in _ENDS)
    alone, *ends = (percent(row[f"audit{end}"]) for end in ("", "_low", "_high"))
    return (
        f"{drawing(found)} According to these items and the model together, {share} of the gold "
        f"labels (95 % interval {low} to {high}) were right before the audited ones were "
        "corrected; by the audit alone "
        f"{alone}{f' ({ends[0]} to {ends[1]})' * bool(np.isfinite(row['audit_low']))}."
    )
