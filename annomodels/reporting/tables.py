"""The tables of the page, from the summaries."""

from __future__ import annotations

from typing import Any

import numpy as np

from annomodels.plots.notable import notable
from annomodels.plots.style import short
from annomodels.reporting import grid
from annomodels.reporting.collect import Known, ReportData
from annomodels.reporting.grid import Cell, Column, Table, tabulate

__all__ = [
    "agreement",
    "checks",
    "coders",
    "hardest",
    "items",
    "judgements",
    "overturned",
    "votes",
]

_FEW_LABELS = 5
_TEXT = 140
_HARDEST = 12

# what only some models know of items; those with a range come as mean and standard deviation
_OWN = (
    Column("p_ambiguous", "P(ambiguous)", True),
    Column("readings", "Readings, if ambiguous"),
    Column("p_easy", "P(easy)", True),
    Column("difficulty", "Difficulty", True, True),
    Column("guess_level", "Guess level", True),
    Column("second_reading", "Second reading", True),
)


def agreement(found: ReportData) -> Table:
    """Coefficients, observed and as the model implies them."""
    columns = (
        Column("coefficient", "Coefficient"),
        Column("value", "Observed value", True, True),
        Column("observed", "Observed part", True),
        Column("expected", "Expected part", True),
        Column("p_above_667", "P(> .667)", True),
        Column("p_above_800", "P(> .8)", True),
        Column("model", "Model-implied value", True, True),
        Column("model_p_above_667", "model P(> .667)", True),
        Column("model_p_above_800", "model P(> .8)", True),
        Column("n", "n", True),
        Column("note", "Note"),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.title),
            grid.estimate(r.value, r.low, r.high),
            grid.real(r.observed),
            grid.real(r.expected),
            grid.chance(r.p_above_667),
            grid.chance(r.p_above_800),
            grid.estimate(r.model, r.model_low, r.model_high),
            grid.chance(r.model_p_above_667),
            grid.chance(r.model_p_above_800),
            grid.integer(r.n),
            grid.words(r.note),
        )

    return tabulate("agreement", "Agreement coefficients", columns, found.agreement.table, row)


def coders(found: Known) -> Table:
    """Coders, the most notable first."""
    table = found.coders.table
    names = [c for c in table if str(c).startswith("sensitivity_")]
    each = len(names) <= _FEW_LABELS
    columns = [
        Column("coder", "Coder"),
        Column("kind", "Kind"),
        Column("n", "Labels", True),
        Column("accuracy", "Accuracy", True, True),
        Column("skill", "Skill", True, True),
        Column("bits", "Bits per label", True, True),
        Column("p_no_better_than_chance", "P(chance)", True),
        Column("p_spammer", "P(spammer)", True),
    ]
    if found.target is not None:
        columns.append(Column("p_below_target", "P(below target)", True))
    columns.append(Column("bias", "Bias"))
    plain = [str(c).removeprefix("sensitivity_") for c in names]
    if each:
        columns += [
            Column(f"sensitivity_{short(label, 60)}", f"Right on {short(label, 16)}", True)
            for label in plain
        ]
    else:
        columns.append(Column("weakest", "Weakest label"))
    right = table[names].to_numpy(dtype=float)

    def row(r: Any) -> tuple[Cell, ...]:
        cells = [
            grid.name(r.coder),
            grid.tag(r.kind),
            grid.integer(r.n),
            grid.estimate(r.accuracy, r.accuracy_low, r.accuracy_high, bar=True),
            grid.estimate(r.skill, r.skill_low, r.skill_high),
            grid.estimate(r.bits, r.bits_low, r.bits_high),
            grid.chance(r.p_no_better_than_chance),
            grid.chance(r.p_spammer),
        ]
        if found.target is not None:
            cells.append(grid.chance(r.p_below_target))
        cells.append(grid.words(r.bias, 60))
        own = right[r.Index]
        if each:
            cells += [grid.chance(value) for value in own]
        else:
            worst = int(np.argmin(own))
            cells.append(grid.words(f"{short(plain[worst], 30)} ({own[worst]:.2f})"))
        return tuple(cells)

    order = notable(table)
    title = "Coders, the most notable first"
    return tabulate("coders", title, columns, table.iloc[order], row, full="coders.csv")


def items(found: ReportData) -> Table:
    """Contested and uncertain items, the least certain first."""
    table = found.items.table
    flagged = table[table["quadrant"].isin(["contested", "needs more labels"])]
    flagged = flagged.sort_values("entropy", ascending=False, kind="stable")
    texts = found.data.texts
    columns = [
        Column("item", "Item"),
        Column("quadrant", "Group"),
        Column("label", "Label"),
        Column("probability", "Probability", True),
        Column("votes", "Votes"),
        Column("entropy", "Doubt, bits", True),
        Column("reducible", "of it reducible", True),
        Column("surprise", "Surprise p", True),
        Column("reason", "Reason"),
    ]
    own = [column for column in _OWN if column.key in table]
    columns[-1:-1] = own
    if texts is not None:
        columns.insert(1, Column("text", "Text"))

    def row(r: Any) -> tuple[Cell, ...]:
        cells = [
            grid.name(r.item),
            grid.tag(r.quadrant),
            grid.name(r.label, 30),
            grid.chance(r.probability),
            _votes(found, r.Index),
            grid.real(r.entropy),
            grid.real(r.reducible),
            grid.chance(r.surprise),
            *(_own(r, column) for column in own),
            grid.words(r.reason),
        ]
        if texts is not None:
            cells.insert(1, grid.words(texts[r.Index], _TEXT))
        return tuple(cells)

    title = "Contested and uncertain items, the least certain first"
    return tabulate("items", title, columns, flagged, row, full="items.csv")


def _own(r: Any, column: Column) -> Cell:
    """Cell of what only some models know of an item."""
    value = getattr(r, column.key)
    if not column.number:
        return grid.words(value, 80)
    if not column.ranged:
        return grid.chance(value)
    half = 1.96 * float(getattr(r, f"{column.key}_sd"))
    return grid.estimate(value, value - half, value + half)


def hardest(found: ReportData) -> Table:
    """Items of the largest difficulty, where the model knows difficulties."""
    table = found.items.table
    if "difficulty" not in table:
        return Table("hardest", "", (), (), 0)
    columns = (
        Column("item", "Item"),
        Column("difficulty", "Difficulty", True, True),
        Column("label", "Label"),
        Column("probability", "Probability", True),
        Column("votes", "Votes"),
        Column("quadrant", "Group"),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.item),
            _own(r, columns[1]),
            grid.name(r.label, 30),
            grid.chance(r.probability),
            _votes(found, r.Index),
            grid.tag(r.quadrant),
        )

    chosen = table.sort_values("difficulty", ascending=False, kind="stable").head(_HARDEST)
    return tabulate("hardest", f"The {len(chosen)} hardest items", columns, chosen, row)


def overturned(found: ReportData) -> Table:
    """Items whose gold label is not the label of the majority."""
    table = found.gold.table
    chosen = table[table["overturned"].to_numpy(dtype=bool)]
    chosen = chosen.sort_values("probability", ascending=False, kind="stable")
    columns = (
        Column("item", "Item"),
        Column("majority", "Majority said"),
        Column("label", "Gold label"),
        Column("probability", "Probability", True),
        Column("votes", "Votes"),
        Column("why", "Why: log-odds for the gold label, coder by coder"),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.item),
            grid.name(r.majority, 30),
            grid.name(r.label, 30),
            grid.chance(r.probability),
            _votes(found, r.Index),
            grid.words(r.why),
        )

    return tabulate("overturned", "Overturned majorities", columns, chosen, row, full="gold.csv")


def judgements(found: ReportData) -> Table:
    """Single labels that look like a slip."""
    columns = (
        Column("item", "Item"),
        Column("coder", "Coder"),
        Column("said", "Said"),
        Column("gold", "Gold label"),
        Column("probability", "Probability of gold", True),
        Column("expected", "P(coder says this)", True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.item),
            grid.name(r.coder, 40),
            grid.name(r.said, 30),
            grid.name(r.gold, 30),
            grid.chance(r.probability),
            grid.chance(r.expected, 3),
        )

    return tabulate("judgements", "Most suspicious single labels", columns, found.judgements, row)


def checks(found: Known) -> Table:
    """Diagnostics of the run."""
    columns = (
        Column("name", "Check"),
        Column("value", "Value", True),
        Column("limit", "Limit", True),
        Column("ok", "Passed"),
        Column("sentence", "In words"),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.name),
            grid.quantity(r.value),
            grid.quantity(r.limit),
            grid.tag("yes" if bool(r.ok) else "no"),
            grid.words(r.sentence),
        )

    return tabulate("checks", "Diagnostics of the run", columns, found.check.table, row)


def votes(found: ReportData) -> Table:
    """Posterior predictive checks."""
    columns = (
        Column("statistic", "Statistic"),
        Column("observed", "Observed", True),
        Column("expected", "Expected", True, True),
        Column("p_value", "p", True),
        Column("verdict", "Verdict"),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.statistic),
            grid.quantity(r.observed),
            grid.quantity(r.expected, r.low, r.high),
            grid.chance(r.p_value, 3),
            grid.words(r.verdict),
        )

    title = "What was observed against what the model would produce"
    return tabulate("predictive", title, columns, found.predictive.table, row)


def _votes(found: ReportData, item: int) -> Cell:
    """Votes of an item, most first; written so that labels that are numbers stay readable."""
    counts = found.data.votes[item]
    order = [k for k in np.argsort(-counts, kind="stable") if counts[k]]
    parts = [
        f"{counts[k]}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}{short(found.data.labels[k], 24)}"
        for k in order[:6]
    ]
    more = f", {len(order) - 6} more" if len(order) > 6 else ""
    return Cell(", ".join(parts) + more)
