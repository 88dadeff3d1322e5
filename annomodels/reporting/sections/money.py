"""Gold and money: what a threshold costs, and what to label next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annomodels import plots
from annomodels.limits import NEXT_LABELS
from annomodels.reporting import audited
from annomodels.reporting.facts import Facts
from annomodels.reporting.grid import Table, tabulate
from annomodels.reporting.parts import Part, Section, box, cut, drawn, notes, pair, picture, table
from annomodels.reporting.words import count, listed, percent
from annomodels.summaries.columns import COLUMNS, Column, decimal, short
from annomodels.summaries.columns import columns as columns_of
from annomodels.summaries.next.next_labels import WHOM

if TYPE_CHECKING:
    import pandas as pd

    from annomodels.summaries.summary import Summary


ASKED = Column("labels", "Labels to ask for", "count")
BEST = Column("coders", "Best from", "text", width=240, of=lambda row: listed(_whom(row.coders), 5))


def section(facts: Facts) -> list[Part]:
    """Give the parts of the section."""
    if facts.on_disk:
        return [
            *table(thresholds(facts, "gold.parquet")),
            *table(unsettled(facts), "Every item is settled."),
        ]
    several = int(facts.coverage.table["kept"].iloc[0]) > 1
    parts = [
        pair(*drawn(_coverage(facts) if several else None), box(*table(thresholds(facts)))),
        Part("heading", "Do the probabilities mean what they say?"),
        *notes(calibration_notes(facts)),
    ]
    if facts.calibration is not None:
        parts += table(calibration(facts.calibration))
    return [
        *parts,
        Part("heading", f"The next {NEXT_LABELS} labels"),
        *notes(cut(facts.following.notes)),
        *table(next_items(facts)),
        *table(ask(facts)),
    ]


def _coverage(facts: Facts) -> Part:
    rows = facts.coverage.table.set_index("threshold")
    everything: Any = rows.loc[0.0]
    sure: Any = rows.loc[0.95]
    return picture(
        plots.coverage(facts.coverage),
        "coverage",
        "Expected accuracy of the gold labels by the share of items that is kept",
        f"With all items the expected accuracy is {decimal(float(everything['accuracy']), 3)}; "
        f"with those of a probability of .95 or more, {percent(float(sure['share']))} of the "
        f"items, it is {decimal(float(sure['accuracy']), 3)}.",
        "Keep only the surest items, and more of their gold labels are right. Points: what the "
        "thresholds .99, .95 and .8 keep. Band: 95 % interval.",
    )


def thresholds(facts: Facts, full: str = "gold.csv") -> Table:
    """Items kept at each threshold, and how right their gold labels are expected to be."""
    title = "What a threshold keeps"
    return tabulate("thresholds", title, facts.coverage.columns, facts.coverage.table, full=full)


def unsettled(facts: Facts) -> Table:
    """Items of a scan that are not settled, the least certain first."""
    columns = columns_of(
        "item label probability runner_up runner_up_probability n entropy",
    )
    title = "Items that are not settled, the least certain first"
    made = tabulate("items", title, columns, facts.tally.open)
    # all of them are in the file, of which only the first were kept
    return Table(
        "items", title, made.columns, made.rows, facts.data.n_items - facts.settled, "gold.parquet"
    )


def next_items(facts: Facts) -> Table:
    """Items to label next, one row for each, with the coders to ask."""
    columns = columns_of(
        "item", ASKED, BEST, "gain label probability", COLUMNS["n"].called("Labels so far")
    )
    title = "Items to label next, the most rewarding first"
    return tabulate("next", title, columns, _by_item(facts.following.table))


def _whom(coders: list[str]) -> list[str]:
    """Names of the coders to ask; coders who are not known yet are counted.

    >>> _whom(["ana", "", "", "ben"]), _whom([""])
    (['ana', 'ben', '2 new coders'], ['somebody new'])
    """
    new = coders.count("")
    known = [short(name, 24) for name in coders if name]
    return known + ([] if not new else ["somebody new" if new == 1 else f"{new} new coders"])


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


def ask(facts: Facts) -> Table:
    """Coders to ask for these labels, and those to train first."""
    rows = facts.following.coders
    plain = (rows["asked"] == 0) & rows["advice"].isin(["ask"])

    return tabulate("ask", "Whom to ask, train or not ask", WHOM, rows[~plain])


def calibration(found: Summary) -> Table:
    """Probabilities of gold labels beside how often they are right, on truth that was held back."""
    title = "Gold labels against the truth that was held back"
    return tabulate("calibration", title, found.columns, found.table)


def calibration_notes(facts: Facts) -> list[str]:
    """Say what the held-back truth tells, or how to get one."""
    if facts.calibration is not None:
        return list(facts.calibration.notes)
    if facts.estimate is not None and facts.estimate.by_design:
        return [
            "An audit tested them: the section “Audit” says how many of the gold labels above each "
            "threshold are right. The other numbers of this section are those of the model."
        ]
    known = facts.known_items
    call = (
        "annomodels report FIT -o FILE --known truth.csv, or "
        "am.report(fit, path, known={item: truth})"
    )
    if known:
        return [
            f"The truth of {count(known, 'item')} was given to the model, so it cannot test the "
            f"probabilities of these items. To see whether they mean what they say, "
            f"fit without the truth of some items and give it to the page alone: {call}.",
            *([audited.promise(facts)] if facts.untested else []),
        ]
    return [
        "No truth is known here, so whether the probabilities mean what they say was not tested.",
        audited.promise(facts),
        f"Where the truth of some items is known already, the page can judge by it: {call}.",
    ]


SECTION = Section(
    "money",
    "Gold and money",
    "How right the gold standard is expected to be, what a stricter threshold costs, and where "
    "the next labels pay.",
    section,
    needs=("prevalence",),  # of classes
    parts=(
        ("items", "Intervals of expected errors, and gold labels against truth that was held back"),
        ("next", "The next labels to ask for"),
    ),
)
