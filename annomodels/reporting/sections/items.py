"""Items: to decide in place, all of them in a list, and those to buy labels for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.columns import COLUMNS, Cell, Column, short
from annomodels.data.columns import columns as columns_of
from annomodels.reporting.facts import Facts
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.parts import Part, Section, table
from annomodels.reporting.words import listed
from annomodels.summaries.items.items import quadrant_name

if TYPE_CHECKING:
    import pandas as pd

_ON_PAPER = 60
_KEYS = 9  # labels that have a key
ASKED = Column("labels", "Labels to ask for", "count")
BEST = Column("coders", "From", "text", width=240, of=lambda row: listed(_whom(row.coders), 5))


def _decide(facts: Facts) -> list[Part]:
    name = quadrant_name("contested", facts.data.n_labels)
    return [Part("decide", {"keys": min(facts.data.n_labels, _KEYS), "contested": name})]


def _items(facts: Facts) -> list[Part]:
    if facts.unsupported("items"):
        made = unsettled(facts)
        return table(made, "Every item is settled.")
    data = facts.data
    shown = {
        "states": [
            ("0", "settled"), ("1", "needs labels"),
            ("2", quadrant_name("contested", data.n_labels)), ("3", "decided"),
        ],
        "labels": [short(name, 40) for name in data.labels],
        "coders": [short(name, 40) for name in data.coders],
    }  # fmt: skip
    return [Part("explorer", shown), *table(on_paper(facts), "No item is contested.")]


def on_paper(facts: Facts) -> Table:
    """Contested items as they are printed, and as a page without a script shows them."""
    rows = facts.fit.items().table
    chosen = rows[facts.state == 2].sort_values("probability", kind="stable")
    columns = columns_of("item label probability", votes(facts))
    title = f"{quadrant_name('contested', facts.data.n_labels).capitalize()} items"
    return tabulate("contested", title, columns, chosen.head(_ON_PAPER), "items.csv", len(chosen))


def unsettled(facts: Facts) -> Table:
    """Items of a scan that are not settled, the least certain first."""
    columns = columns_of("item label probability runner_up runner_up_probability n")
    title = "Items that are not settled, the least certain first"
    total = facts.states["need labels"]  # the table holds the first of them
    return tabulate("items", title, columns, facts.tally.open, "gold.parquet", total)


def votes(facts: Facts) -> Column:
    """Votes of an item, most first; written so that labels that are numbers stay readable."""

    def cell(r: Any) -> Cell:
        counts = facts.data.votes[r.Index]
        order = [k for k in np.argsort(-counts, kind="stable") if counts[k]]
        parts = [f"{counts[k]} × {short(facts.data.labels[k], 24)}" for k in order[:6]]
        return Cell(", ".join(parts) + (f", {len(order) - 6} more" if len(order) > 6 else ""))

    return COLUMNS["votes"].called(kind="text", of=cell)


def _next(facts: Facts) -> list[Part]:
    return table(next_items(facts), "No further label pays.")


def next_items(facts: Facts) -> Table:
    """Items to label next, one row for each, with the coders to ask."""
    columns = columns_of(
        "item", ASKED, BEST, "gain label probability", COLUMNS["n"].called("Labels so far")
    )
    title = "Items to label next, the most rewarding first"
    return tabulate("next", title, columns, _by_item(facts.following.table), full="next.csv")


def _whom(coders: list[str]) -> list[str]:
    """Names of the coders to ask; coders who are not known yet are counted.

    >>> _whom(["ana", "", "", "ben"]), _whom([""])
    (['ana', 'ben', '2 new coders'], ['a new coder'])
    """
    new = coders.count("")
    known = [short(name, 24) for name in coders if name]
    return known + ([] if not new else ["a new coder" if new == 1 else f"{new} new coders"])


def _by_item(requests: pd.DataFrame) -> pd.DataFrame:
    """Gather the requests of each item, in the order in which items come first."""
    import pandas as pd

    rows: dict[Any, dict[str, Any]] = {}
    for r in requests.itertuples():
        own: dict[str, Any] = {"labels": 0, "gain": 0.0, "coders": []}
        own |= {name: getattr(r, name) for name in ("item", "label", "probability", "n")}
        row = rows.setdefault(r.item, own)
        row["labels"] += 1
        row["gain"] += float(r.gain)  # type: ignore[arg-type]
        row["coders"].append(str(r.coder))
    return pd.DataFrame(list(rows.values()))


DECIDE = Section(
    "decide",
    "Decide",
    "The items whose decision removes the most expected errors come first.",
    _decide,
    needs=("items",),
)
SECTION = Section("items-section", "Items", "", _items)
NEXT = Section(
    "labels-to-buy",
    "Labels to buy",
    "",
    _next,
    needs=("next",),
)
