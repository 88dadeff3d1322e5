"""Agreement of the coders, as observed and as the model implies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.columns import percent, short
from annomodels.reporting.facts import Facts
from annomodels.reporting.parts import Part, Section, notes, summary
from annomodels.reporting.words import listed, say

if TYPE_CHECKING:
    import pandas as pd


@Section.of(
    "agreement-section",
    "Agreement",
    "Agreement beyond chance, as observed and as implied by the model for many items like these.",
    needs=("agreement",),
    printed=False,
)
def section(facts: Facts) -> list[Part]:
    title, found = "Agreement coefficients with 95 % intervals", facts.fit.agreement()
    known = found.table["value"].notna()
    rows = found.table[known]
    shown = summary("agreement", title, found, rows, "agreement.csv", "title value model")
    return [*notes(agreement_notes(facts)), *shown, *notes(_undefined(found.table[~known]), 300)]


def _undefined(rows: pd.DataFrame) -> list[str]:
    whole = [str(note).partition(". ")[0].rstrip(".") for note in rows["note"]]
    reasons = np.array([reason.removeprefix("It is ") for reason in whole])
    named = rows["title"].groupby(reasons, sort=False).agg(list)
    return [f"Not defined here: {listed(who, 9)} ({why})." for why, who in named.items()]


def agreement_notes(facts: Facts) -> list[str]:
    values = facts.fit.agreement().table.set_index("coefficient")["value"]
    share, alpha = float(values.get("percent", np.nan)), float(values.get("alpha", np.nan))
    if not share - alpha > 0.3:
        return []
    shares = facts.health.label_counts / max(len(facts.data), 1)
    top = short(facts.data.labels[int(shares.argmax())], 24)
    most = percent(float(shares.max()))
    return [say("percent_and_alpha", share=share, alpha=alpha, most=most, top=top)]
