"""The verdict in five plain sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from annomodels.plots.sources import draws_of
from annomodels.plots.style import short
from annomodels.reporting.collect import CERTAIN, Known, ReportData
from annomodels.reporting.words import count, interval, listed, number, percent, share_interval

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KEYS", "best", "coders", "gold", "named", "next_step", "sentences", "size"]

TOO_SURE = "errors gather on hard items here, and the model takes them for independent"
KEYS = ("Size", "Gold", "Errors", "Coders", "Items")


def sentences(found: ReportData) -> list[str]:
    """Say the verdict: size, settled gold, expected errors, coders, items and the next step.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.

    Returns
    -------
    list of str
        Five entries, in the order of :data:`KEYS`.
    """
    return [
        size(found),
        gold(found.settled, found.data.n_items),
        _errors(found),
        coders(found),
        _items(found),
    ]


def size(found: Known) -> str:
    """Say how much was labelled."""
    data, per_item = found.data, found.health.per_item
    each = (
        f"{per_item.least:,}"
        if per_item.least == per_item.most
        else f"{per_item.least:,} to {per_item.most:,} (median {number(per_item.median)})"
    )
    return (
        f"{count(data.n_coders, 'coder')} gave {count(len(data), 'label')} to "
        f"{count(data.n_items, 'item')} from a set of {count(data.n_labels, 'label')}, {each} per "
        "item."
    )


def gold(settled: int, n: int) -> str:
    """Say how many of the items have a settled label."""
    return (
        f"{settled:,} of {n:,} items ({percent(settled / n)}) have a settled label, that is one "
        f"with a probability of at least 95 %; for more items like these the share is "
        f"{share_interval(settled, n)} (95 % interval)."
    )


def _errors(found: ReportData) -> str:
    wrong = found.wrong
    if not wrong.n:
        return "The truth of all items is known, so no gold label is in doubt."
    return (
        f"Of the {count(wrong.n, 'gold label')}, {number(wrong.gold)} are expected to be wrong "
        f"({interval(wrong.gold_low, wrong.gold_high)}), against {number(wrong.vote)} by majority "
        f"vote ({interval(wrong.vote_low, wrong.vote_high)})"
        + ("; expect more than that: " + TOO_SURE if found.too_sure else "")
        + "."
    )


def coders(found: Known) -> str:
    """Say how many coders are bad, and who."""
    table, sure = found.coders.table, found.surely_bad
    one = len(sure) <= 1
    what = "very probably " + ("a spammer or adversary" if one else "spammers or adversaries")
    if found.target is not None:
        what = f"very probably below the target of {percent(found.target)}, or "
        what += "a spammer" if one else "spammers"
    head = f"{len(sure):,} of {count(len(table), 'coder')}"
    if len(sure):
        first = f"{head} {'is' if one else 'are'} {what} ({named(sure)})"
    else:
        first = f"None of {count(len(table), 'coder')} is {what}"
    rest = found.flagged.drop(sure.index)
    if len(rest):
        verb = "looks" if len(rest) == 1 else "look"
        first += f", {len(rest):,} {'more ' if len(sure) else ''}{verb} like one ({named(rest)})"
    thin = int((table["kind"] == "not enough evidence").sum())
    last = f"; {count(thin, 'coder has', 'coders have')} too few labels to judge" if thin else ""
    return f"{first}; {_expected_bad(found)}{last}."


def named(coders: pd.DataFrame) -> str:
    """Give the names of some coders."""
    return listed([short(name, 24) for name in coders["coder"]])


def _expected_bad(found: Known) -> str:
    """Count coders at chance or below the target, draw by draw."""
    if found.target is None:
        name, limit, what = "skill", 0.0, "no better than chance"
        expected = float(np.nansum(found.coders.table["p_no_better_than_chance"]))
    else:
        name, limit, what = "accuracy", found.target, "below the target"
        expected = float(np.nansum(found.coders.table["p_below_target"]))
    draws = draws_of(found.coders, name)
    low, high = np.nan, np.nan
    if draws is not None:
        bad = (draws <= limit) if found.target is None else (draws < limit)
        low, high = np.quantile(bad.sum(axis=1), [0.025, 0.975])
    return f"{number(expected)} are expected to be {what} ({interval(low, high)})"


def _items(found: ReportData) -> str:
    n, contested = found.data.n_items, found.in_quadrant("contested")
    more = found.in_quadrant("needs more labels")
    return (
        f"{contested:,} of {n:,} items ({percent(contested / n)}; for more items like these "
        f"{share_interval(contested, n)}) are contested, and {more:,} ({percent(more / n)}; "
        f"{share_interval(more, n)}) need more labels; cheapest next step: {next_step(found)}."
    )


def next_step(found: ReportData) -> str:
    """Say the one thing to do next, the cheapest that helps.

    Parameters
    ----------
    found
        What :func:`annomodels.reporting.collect.collect` gathered.
    """
    if found.check.verdict == "do not use":
        return "repair the fit first, because its diagnostics failed (see “Can I believe this?”)"
    more = found.in_quadrant("needs more labels")
    contested = found.in_quadrant("contested")
    if len(found.surely_bad):
        return f"give no more items to {named(found.surely_bad)}" + (
            f", and ask good coders for labels of the {more:,} items in need of more"
            if more
            else ""
        )
    if more:
        return f"ask for one more label of the {count(more, 'item')} in need of more" + best(found)
    if contested:
        pair = _pair(found)
        return (
            f"read the {count(contested, 'contested item')} with the coders and fix the "
            f"guideline{pair}"
        )
    unsettled = found.data.n_items - found.settled
    if unsettled:
        return f"let an expert decide the {count(unsettled, 'unsettled item')}"
    return "none is needed, the gold standard can be handed on"


def best(found: Known) -> str:
    """Name the coders to ask, where some are known to be good."""
    table = found.coders.table
    sure = table[table["p_no_better_than_chance"].to_numpy(dtype=float) < 1 - CERTAIN]
    sure = sure[sure["kind"].isin(["good", "biased"])]
    if not len(sure):
        return ""
    best = sure.sort_values("bits", ascending=False, kind="stable").head(3)
    return f", best from {named(best)}"


def _pair(found: ReportData) -> str:
    """Name the two labels between which most contested items lie."""
    at = (found.items.table["quadrant"] == "contested").to_numpy()
    rows = found.gold.table[at]
    pairs = [
        tuple(sorted((str(a), str(b))))
        for a, b in zip(rows["label"], rows["runner_up"], strict=True)
        if str(b)
    ]
    if not pairs:
        return ""
    (first, second), _ = min(Counter(pairs).items(), key=lambda found: (-found[1], found[0]))
    return f" for {short(first, 24)} against {short(second, 24)}"
