"""How far coders agree, as observed and as the model implies."""

from __future__ import annotations

import numpy as np

from annomodels import plots
from annomodels.reporting.facts import Facts
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.parts import Part, Section, box, notes, pair, picture, table
from annomodels.reporting.words import percent
from annomodels.summaries.columns import clean, decimal, short


def section(facts: Facts) -> list[Part]:
    """Give the parts of the section."""
    beside = box(*notes(agreement_notes(facts)), css="beside")
    return [pair(forest(facts), beside), *table(coefficients(facts))]


def agreement_notes(facts: Facts) -> list[str]:
    """Give the notes of the summary, and why percent and alpha differ when they do."""
    rows = facts.agreement.table.set_index("coefficient")
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
    return out + [clean(note) for note in facts.agreement.notes]


def forest(facts: Facts) -> Part:
    """Draw the coefficients."""
    rows = facts.agreement.table
    parts = [
        f"{clean(title)} {decimal(float(value))}"
        for title, value in zip(rows["title"], rows["value"], strict=True)
    ]
    return picture(
        plots.agreement_forest(facts.agreement),
        "agreement",
        "Agreement coefficients with 95 % intervals",
        "; ".join(parts) + ". The table holds all numbers.",
        "Each coefficient as observed and as the fitted model implies it for very many items. "
        "Dotted lines: the customary thresholds .667 and .8.",
    )


def coefficients(facts: Facts) -> Table:
    """Coefficients, observed and as the model implies them."""
    return tabulate(
        "agreement", "Agreement coefficients", facts.agreement.columns, facts.agreement.table
    )


SECTION = Section(
    "agreement-section",
    "Agreement",
    "How far coders agree beyond chance, as observed and as the model implies. A band of words is "
    "not given: read the probability of lying above a threshold.",
    section,
    needs=("agreement",),
)
