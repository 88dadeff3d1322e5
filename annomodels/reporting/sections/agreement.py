"""How far coders agree, as observed and as the model implies."""

from __future__ import annotations

import numpy as np

from annomodels.data.columns import COLUMNS, Column, percent, short
from annomodels.data.columns import columns as columns_of
from annomodels.reporting.facts import Facts
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.parts import Part, Section, notes, table

SHOWN = columns_of(
    COLUMNS["title"].called("Coefficient"),
    "value",
    Column("model", "Implied by the model", interval=("model_low", "model_high")),
    "p_above_667 p_above_800",
)


def section(facts: Facts) -> list[Part]:
    """Return the parts of the section."""
    return [*notes(agreement_notes(facts)), *table(coefficients(facts))]


def agreement_notes(facts: Facts) -> list[str]:
    """Return why percent agreement and alpha differ, if they do."""
    rows = facts.fit.agreement().table.set_index("coefficient")
    out = []
    if {"percent", "alpha"} <= set(rows.index):
        share, alpha = (float(rows["value"][name]) for name in ("percent", "alpha"))
        if share - alpha > 0.3:
            shares = np.array(facts.counts.label_counts) / max(len(facts.data), 1)
            top = short(facts.data.labels[int(shares.argmax())], 24)
            out.append(
                f"Percent agreement and alpha differ much ({share:.2f} and {alpha:.2f}): "
                f"{percent(float(shares.max()))} of the labels are {top}, so much of the agreement "
                "is expected by chance. Both are right; they answer different questions."
            )
    return out


def coefficients(facts: Facts) -> Table:
    """Coefficients, observed and as the model implies them."""
    title = "Agreement coefficients with 95 % intervals"
    return tabulate("agreement", title, SHOWN, facts.fit.agreement().table, full="agreement.csv")


SECTION = Section(
    "agreement-section",
    "Agreement",
    "Agreement beyond chance, as observed and as the model implies it for many items like these.",
    section,
    needs=("agreement",),
)
