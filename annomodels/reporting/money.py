"""Section on gold and money: what a threshold costs, and what to label next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annomodels.data.names import label_text
from annomodels.plots.style import short
from annomodels.reporting import grid
from annomodels.reporting.collect import Known, ReportData
from annomodels.reporting.grid import Cell, Column, Table, tabulate
from annomodels.reporting.words import count, listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ask", "calibration", "calibration_notes", "next_items", "thresholds"]


def thresholds(found: Known) -> Table:
    """Items kept at each threshold, and how right their gold labels are expected to be."""
    columns = (
        Column("threshold", "Probability"),
        Column("kept", "Items kept", True),
        Column("share", "Share of items", True),
        Column("accuracy", "Expected accuracy", True, True),
        Column("wrong", "Expected wrong", True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        limit = f"≥ {r.threshold:g}" if r.threshold else "all items"
        return (
            grid.name(limit),
            grid.integer(r.kept),
            grid.real(r.share),
            grid.estimate(r.accuracy, r.accuracy_low, r.accuracy_high, digits=3),
            grid.quantity(round(float(r.wrong), 2)),
        )

    title = "What a threshold keeps"
    return tabulate("thresholds", title, columns, found.coverage.table, row, full="gold.csv")


def next_items(found: ReportData) -> Table:
    """Items to label next, one row for each, with the coders to ask."""
    columns = (
        Column("item", "Item"),
        Column("labels", "Labels to ask for", True),
        Column("coders", "Best from"),
        Column("gain", "Wrong gold labels removed", True),
        Column("label", "Gold label now"),
        Column("probability", "Probability", True),
        Column("n", "Labels so far", True),
    )

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.item),
            grid.integer(r.labels),
            grid.words(listed(_whom(r.coders), 5)),
            grid.real(r.gain),
            grid.name(label_text(r.label), 30),
            grid.chance(r.probability),
            grid.integer(r.n),
        )

    title = "Items to label next, the most rewarding first"
    return tabulate("next", title, columns, _by_item(found.following.table), row)


def _whom(coders: list[str]) -> list[str]:
    """Names of the coders to ask; coders who are not known yet are counted.

    Examples
    --------
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


def ask(found: ReportData) -> Table:
    """Coders to ask for these labels, and those to train first."""
    columns = (
        Column("coder", "Coder"),
        Column("advice", "Advice"),
        Column("asked", "Labels to ask for", True),
        Column("bits", "Bits per label", True, True),
        Column("n", "Labels so far", True),
    )
    table = found.following.coders
    plain = (table["asked"] == 0) & table["advice"].isin(["ask"])

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.coder),
            grid.words(r.advice, 60),
            grid.integer(r.asked),
            grid.estimate(r.bits, r.bits_low, r.bits_high),
            grid.integer(r.n),
        )

    return tabulate("ask", "Whom to ask, train or not ask", columns, table[~plain], row)


def calibration(found: ReportData) -> Table:
    """Probabilities of gold labels beside how often they are right, on truth that was held back."""
    columns = (
        Column("bin", "Probability"),
        Column("n", "Items", True),
        Column("right", "Right", True),
        Column("probability", "Mean probability", True),
        Column("share", "Share right", True, True),
    )
    if found.calibration is None:
        return Table("calibration", "", (), (), 0)

    def row(r: Any) -> tuple[Cell, ...]:
        return (
            grid.name(r.bin),
            grid.integer(r.n),
            grid.integer(r.right),
            grid.real(r.probability, 3),
            grid.estimate(r.share, r.share_low, r.share_high, bar=True),
        )

    title = "Gold labels against the truth that was held back"
    return tabulate("calibration", title, columns, found.calibration.table, row)


def calibration_notes(found: ReportData) -> list[str]:
    """Say what the held-back truth tells, or how to get one.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.
    """
    if found.calibration is not None:
        return list(found.calibration.notes)
    known = 0 if found.data.gold is None else int((found.data.gold >= 0).sum())
    call = (
        "annomodels report FIT -o FILE --known truth.csv, or "
        "am.report(fit, path, known={item: truth})"
    )
    if known:
        return [
            f"The truth of {count(known, 'item')} was given to the model, so it cannot test the "
            f"probabilities of these items. To see whether they mean what they say, "
            f"fit without the truth of some items and give it to the page alone: {call}."
        ]
    return [
        "No truth is known here, so whether the probabilities mean what they say was not tested. "
        f"Have an expert label twenty to fifty items drawn at random, and give "
        f"their truth to the page: {call}."
    ]
