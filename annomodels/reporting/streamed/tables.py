"""Tables that only the page on a streamed fit has; the others are those of the report."""

from __future__ import annotations

from typing import Any

from annomodels.reporting import grid
from annomodels.reporting.grid import Cell, Column, Table, tabulate
from annomodels.reporting.streamed.collect import StreamData

__all__ = ["items", "labels"]


def labels(found: StreamData) -> Table:
    """How often each label was given, how frequent it is in truth, and how often it is gold."""
    table = found.prevalence.table.merge(found.tally.labels, left_index=True, right_index=True)
    given = found.fit.data.per_label
    columns = (
        Column("label", "Label"),
        Column("given", "Given", True),
        Column("share", "Share of labels", True),
        Column("prevalence", "Share of items, corrected", True, True),
        Column("gold", "Gold label of items", True),
        Column("settled", "of them settled", True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.label_y),
            grid.integer(given[r.Index]),
            grid.real(given[r.Index] / max(int(given.sum()), 1)),
            grid.estimate(r.prevalence, r.prevalence_low, r.prevalence_high, bar=True),
            grid.integer(r.gold),
            grid.integer(r.settled),
        )

    return tabulate("labels", "Labels, as given and corrected by the model", columns, table, row)


def items(found: StreamData) -> Table:
    """Items that are not settled, the least certain first."""
    columns = (
        Column("item", "Item"),
        Column("label", "Gold label"),
        Column("probability", "Probability", True),
        Column("runner_up", "Or else"),
        Column("runner_up_probability", "with probability", True),
        Column("n", "Labels", True),
        Column("entropy", "Doubt, bits", True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.item),
            grid.name(r.label, 30),
            grid.chance(r.probability),
            grid.name(r.runner_up, 30),
            grid.chance(r.runner_up_probability),
            grid.integer(r.n),
            grid.real(r.entropy),
        )

    title = "Items that are not settled, the least certain first"
    made = tabulate("items", title, columns, found.tally.open, row)
    # all of them are in the file, of which only the first were kept
    return Table("items", title, made.columns, made.rows, found.unsettled, "gold.parquet")
