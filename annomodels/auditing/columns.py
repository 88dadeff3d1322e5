"""Columns of the tables of an estimate, by name; imports little, since options list the names."""

from __future__ import annotations

from annomodels.data.columns import COLUMNS, Column, columns, of_quantity

_IN_ROW = COLUMNS["value"].called(digits=3, bar=True)
SHOWN: dict[str, tuple[Column, ...]] = {
    "overall": columns(
        "quantity label",
        of_quantity("value", "Value", "low", "high"),
        of_quantity("audit", "Audit alone", "audit_low", "audit_high"),
        of_quantity("model", "Model alone", "model_low", "model_high"),
    ),
    "thresholds": columns(
        Column("threshold", "Probability", "name", of=lambda row: f"≥ {row.threshold:g}"),
        COLUMNS["accuracy"].called("Share right", digits=3, bar=False),
        "n audited",
    ),
    "coders": columns("coder share_right n audited", COLUMNS["right"].called("of these right")),
    "classes": columns(
        "coder label",
        COLUMNS["share"].called(interval=("share_low", "share_high"), digits=3),
        "audited right",
    ),
    "slices": columns("by slice quantity label", _IN_ROW, COLUMNS["n"].called("Items"), "audited"),
    "differences": columns(
        "by first second quantity label",
        COLUMNS["difference"].called(digits=3, interval=("low", "high")),
        "p_higher",
    ),
    "systems": columns("system win_rate", COLUMNS["n"].called("Comparisons"), "audited"),
    "panel": columns("quantity coder", COLUMNS["value"].called(kind="quantity")),
    "needs": columns(Column("further", "Further items", "count"), "width width_audit_alone"),
}
"""Columns of each table on screen, those that identify the row first."""
