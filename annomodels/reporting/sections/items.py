"""Items: to decide, to browse, and to buy labels for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.columns import COLUMNS, WHOLE_TEXT, Cell, Column, short
from annomodels.data.columns import columns as columns_of
from annomodels.limits import STATES
from annomodels.reporting.facts import Facts
from annomodels.reporting.parts import Part, Section, table
from annomodels.reporting.words import listed

if TYPE_CHECKING:
    import pandas as pd

_ON_PAPER = 20
_KEYS = 9  # labels with a keyboard shortcut
NEXT_ITEMS = columns_of(
    "item",
    Column("labels", "Labels to ask for", "count"),
    Column("coders", "From", "text", width=WHOLE_TEXT, of=lambda row: listed(_whom(row.coders), 5)),
    "gain label probability",
    COLUMNS["n"].called("Labels so far"),
)


@Section.of(
    "decide",
    "Decide",
    "The items whose decision removes the most expected errors come first.",
    needs=("items",),
    printed=False,
)
def decide(facts: Facts) -> list[Part]:
    return [Part("decide", {"keys": min(facts.data.n_labels, _KEYS), "contested": "contested"})]


@Section.of("items-section", "Items")
def items(facts: Facts) -> list[Part]:
    data = facts.data
    if facts.unsupported("items"):
        return table(
            "items",
            "Items that are not settled, least certain first",
            columns_of("item label probability runner_up n"),
            facts.tally.open,
            "gold.parquet",
            total=facts.states["needs labels"],  # the table has only the first of them
            otherwise="Every item is settled.",
        )
    shown = {
        "thing": "Item",
        "states": [(str(code), name) for code, name in enumerate(STATES)],
        "labels": [short(name, 40) for name in data.labels],
        "coders": [short(name, 40) for name in data.coders],
    }
    rows = facts.fit.items().table
    rows = rows[facts.state == 2].sort_values("probability", kind="stable")
    # for print, and for pages without a script
    on_paper = table(
        "contested",
        "Contested items",
        columns_of("item label probability", votes(facts)),
        rows.head(_ON_PAPER),
        "gold.csv",
        total=len(rows),
        otherwise="No item is contested.",
        paper="all",
    )
    return [Part("explorer", shown), *on_paper]


def votes(facts: Facts) -> Column:
    """Return the column of votes, most frequent first, readable for numeric labels."""

    def cell(r: Any) -> Cell:
        counts = facts.data.votes[r.Index]
        order = [k for k in np.argsort(-counts, kind="stable") if counts[k]]
        parts = [f"{counts[k]} × {short(facts.data.labels[k], 24)}" for k in order[:6]]
        return Cell(", ".join(parts) + (f", {len(order) - 6} more" if len(order) > 6 else ""))

    return COLUMNS["votes"].called(kind="text", of=cell)


@Section.of("labels-to-buy", "Labels to buy", needs=("next",), printed=False)
def labels_to_buy(facts: Facts) -> list[Part]:
    plan, title = facts.following, "Items to label next, largest gain first"
    rows = _by_item(plan.table)
    return table("next", title, NEXT_ITEMS, rows, "next.csv", otherwise=plan.notes[0])


def _whom(coders: list[str]) -> list[str]:
    """Return the names of coders to ask, and the number of new coders."""
    new = coders.count("")
    known = [short(name, 24) for name in coders if name]
    return known + ([] if not new else ["a new coder" if new == 1 else f"{new} new coders"])


def _by_item(requests: pd.DataFrame) -> pd.DataFrame:
    """Group the requests by item, in order of first appearance."""
    first = dict.fromkeys(("label", "probability", "n"), "first")
    by_item = requests.assign(labels=1, coders=requests["coder"].astype(str)).groupby(
        "item", sort=False
    )
    return by_item.agg({"labels": "sum", "gain": "sum", "coders": list, **first}).reset_index()
