"""Results of an audit as text, for its section and for methods."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.columns import percent
from annomodels.reporting.facts import Facts
from annomodels.reporting.words import interval, number, say

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate

_ENDS = ("value", "low", "high")


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
    code = "some_drawn" if found.by_design and len(found.answers.extra) else "all_drawn"
    how, of = say(f"drawn_{found.how}"), found.n_items
    return say(code, n=judged(found), of=of, drawn=found.n_audited, how=how)


def errors(facts: Facts) -> str:
    """State how many gold labels are still wrong after the audit."""
    found, wrong = said(facts), facts.wrong
    n, known = facts.data.n_items - facts.known_items, judged(found)
    by, part = "audit" if found.by_design else "model", of_part(facts)
    words = {"wrong": number(wrong.gold), "ends": interval(wrong.gold_low, wrong.gold_high)}
    words["part"] = f"; this is for {part}" if part else ""
    return say("after_audit", known=known, n=n, by=by, **words)


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
    words = {name: number(wrong[name]) for name in ("model", *_ENDS)}
    so = ". The audit does not contradict the model"
    if not wrong["low"] <= wrong["model"] <= wrong["high"]:
        edge = 0.5 / found.n_items
        p = np.clip(np.array([wrong["value"], wrong["model"]]) / found.n_items, edge, 1 - edge)
        shift = float(np.subtract(*np.log(p / (1 - p))))
        word = "overconfident" if shift > 0 else "underconfident"
        so = f": the model was {word}, by {abs(shift):.1f} in log-odds"
    return say("model_off", n=found.n_items, so=so, **words)


def panel(found: Estimate) -> list[str]:
    """State the effective number of coders, and compare the best coder with the panel."""
    rows = {row["quantity"]: row for row in found.panel.to_dict("records")}
    out = list[str]()
    if "effective_coders" in rows:
        row, n = rows["effective_coders"], len(found.coders)
        low, high = number(row["low"]), number(row["high"])
        worth = _whole(row["value"])
        out.append(say("effective_coders", n=n, worth=worth, low=low, high=high))
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
        words = {"best": best["coder"], "share": share, "least": least, "most": most}
        words |= {"value": value, "low": low, "high": high, "verdict": verdict}
        out.append(say("best_coder", **words))
    return out


def _whole(value: float) -> str:
    return f"about {value:,.0f}" if value >= 10 else f"about {value:.1f}".removesuffix(".0")


def results(facts: Facts) -> str:
    """State the results of an audit for a methods section."""
    found = said(facts)
    if not found.by_design:
        return say("audit_chosen", drawing=drawing(found))
    row = found.row("accuracy")
    share, low, high = (percent(row[name]) for name in _ENDS)
    alone, *ends = (percent(row[f"audit{end}"]) for end in ("", "_low", "_high"))
    words = {"share": share, "low": low, "high": high, "alone": alone}
    words["ends"] = f" ({ends[0]} to {ends[1]})" * bool(np.isfinite(row["audit_low"]))
    return say("audit_results", drawing=drawing(found), **words)
