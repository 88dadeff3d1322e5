"""Sentences on the tables of a diagnosis; each is omitted if it has no finding.

A finding needs a posterior probability of .975; among many candidates, such as thousands of
coders, the threshold rises until the expected number of false findings is 0.5.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from annomodels.coefficients.distances import Nominal
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.parts.breakdown import FEW, one_against_rest
from annomodels.coefficients.parts.setup import Overlap, Setup
from annomodels.coefficients.reasons import say, used_items
from annomodels.coefficients.tables import over
from annomodels.data.validation import some
from annomodels.errors import Note

if TYPE_CHECKING:
    from annomodels.coefficients.parts.results import Breakdown

SURE = 0.975
FALSE_NAMES = 0.5
WIDTH = 2 * float(ndtri(SURE))  # of a 95 % interval, in standard deviations
NAMED = 3
FEW_ITEMS = 3
POINTS = 0.05
CLEARLY = 1.1
VISIBLE = 0.001
MANY_LABELS = 20
RARE_BY_CHANCE = 0.001

Rows = list[dict[str, Any]]


def _clear(excess: Any, low: Any, high: Any, choices: int, n: Any = 1e6) -> Any:
    """Test if a value from `n` items exceeds 0, corrected for selection among many."""
    p = max(SURE, 1 - FALSE_NAMES / max(choices, 1))
    return excess > stdtrit(np.maximum(n - 1, 1), p) * (high - low) / WIDTH


def _records(table: pd.DataFrame) -> Rows:
    return [{str(name): cell for name, cell in row.items()} for row in table.to_dict("records")]


def _named(code: str, rows: Rows, rest: str, **words: object) -> list[Note]:
    """Name the first, and count the others."""
    notes = [say(code, **words, **row) for row in rows[:NAMED]]
    left = len(rows) - NAMED
    return notes + ([say(rest, n=left, **words)] if left > 0 else [])


def about_agreement(row: Mapping[str, Any]) -> Note:
    if np.isnan(row["value"]) or np.isnan(row["low"]):
        text = say("undefined" if np.isnan(row["value"]) else "value", **row)
        return Note(text.strip(), text.code)
    p = [row["p_above_667"], row["p_above_800"]]
    said = ["< 0.01" if x < 0.005 else "> 0.99" if x > 0.995 else f"= {x:.2f}" for x in p]
    return say("interval", p_667=said[0], p_800=said[1], **row)


def about_label_pairs(table: pd.DataFrame, n_labels: int) -> list[Note]:
    """Name the pairs of labels that make up more of the disagreement than chance would."""
    if len(table) < 2 or n_labels > MANY_LABELS:
        return []
    rows = _records(table)
    notes = []
    if rows[0]["share"] > rows[1]["share"] + POINTS:
        notes.append(say("largest_pair", **rows.pop(0)))
    sure = [
        row
        for row in rows
        if row["p_more"] >= SURE and row["share"] >= POINTS and row["ratio"] >= CLEARLY
    ]
    sure.sort(key=lambda row: -row["ratio_low"])
    return notes + [say("label_pair", **row) for row in sure[: NAMED - 1]]


def about_labels(found: Breakdown | None, title: str) -> list[Note]:
    """Name labels with lower agreement against the rest than all labels together."""
    if found is None or len(found.table) < 3 or "whole" not in found.draws:
        return []
    rows = found.table[(found.table["n"] >= FEW) & found.table["value"].notna()]
    return [
        say("hard_label", title=title, **row)
        for row in _records(rows.sort_values("value"))[:NAMED]
        if found.difference(row["label"]).p_above() <= 1 - SURE
    ]


def about_items(table: pd.DataFrame) -> list[Note]:
    """Count the items that hold half of the disagreement."""
    apart, n = int((table["share"] > 0).sum()), len(table)
    if not apart:
        return []
    half = int(np.searchsorted(np.cumsum(table["share"].to_numpy()), 0.5 - 1e-12)) + 1
    code = "few_items_differ" if apart < FEW_ITEMS else "items"
    return [say(code, apart=apart, n=n, half=half, share=half / n)]


def about_coders(table: pd.DataFrame, title: str, n_labels: int) -> list[Note]:
    """Name coders whose removal would raise the coefficient, and overused labels."""
    gain = (table["difference"], table["difference_low"], table["difference_high"])
    sure = (table["p_better_without"] >= SURE) & (table["n"] >= FEW) & (gain[0] >= VISIBLE)
    better = table[sure & _clear(*gain, len(table), table["n"])]
    rows = _records(better.sort_values("difference", ascending=False))
    notes = [
        say(
            "without_coder_behind" if row["share"] > row["by_chance"] else "without_coder",
            title=title,
            **row,
        )
        for row in rows[:NAMED]
    ]
    if len(rows) > NAMED:
        notes.append(say("without_others", n=len(rows) - NAMED, of=len(table)))
    return notes + (_overuse(table, n_labels) if n_labels <= MANY_LABELS else [])


def _overuse(table: pd.DataFrame, n_labels: int) -> list[Note]:
    """Name labels that a coder gives more often than others on the same items."""
    sure = (table["over_by"] >= 2 * POINTS) & (table["n"] >= FEW)
    excess = (table["over_by"], table["over_low"], table["over_high"])
    sure &= _clear(*excess, len(table) * n_labels, table["n"])
    over = table[sure].sort_values("over_low", ascending=False)
    points = 100 * over[["over_by", "over_low", "over_high"]]
    points.columns = ["by", "low", "high"]
    rows = _records(over[["coder", "overused"]].join(points))
    if len(table) == 2:
        rows = rows[:1]
    others = "others" if len(table) > 2 else "other"
    return _named("overused", rows, "overused_by_others", others=others, points=200 * POINTS)


def about_constant_coders(table: pd.DataFrame, shares: dict[Hashable, float]) -> list[Note]:
    """Name coders who gave only one label on more than a few items."""
    rows = table[table["only"].notna() & (table["n"] >= 2)][["coder", "only", "n"]]
    odd = [r for r in _records(rows) if shares[r["only"]] ** r["n"] < RARE_BY_CHANCE]
    return _named("constant_coder", sorted(odd, key=lambda row: -row["n"]), "constant_others")


def about_groups(table: pd.DataFrame | None) -> list[Note]:
    """Name the groups that make up more of the disagreement than their size."""
    if table is None:
        return []
    more = table["share"] - table["by_chance"]
    clear = _clear(more, table["share_low"], table["share_high"], len(table))
    sure = table[(table["p_more"] >= SURE) & clear & (table["share"] >= POINTS)]
    rows = _records(sure.sort_values("share", ascending=False))
    return [say("group", **row) for row in rows[:NAMED]]


def about_overlap(found: Overlap, coders: Sequence[Hashable], items: int) -> list[Note]:
    """Report unconnected parts of the graph of coders and items."""
    notes = []
    alone = [name for name, n in zip(coders, found.shared, strict=True) if n == 0]
    together = found.components["coders"][found.components["coders"] > 1]
    if len(together) > 1:
        sizes = ", ".join(f"{n:,}" for n in together.head(NAMED))
        more = ", ..." if len(together) > NAMED else ""
        notes.append(say("sets_of_coders", n=len(together), sizes=f"{sizes}{more}"))
    if alone:
        notes.append(say("coders_alone", names=some(alone, most=NAMED), n=len(alone)))
    if found.single:
        notes.append(say("items_of_one_label", single=found.single, items=items))
    return notes


HIGH = 0.8
GAP = 0.25


def why_so_low(setup: Setup, value: float, by_chance: float) -> list[Note]:
    """Explain a coefficient far below the observed agreement; needs items with two labels."""
    # Feinstein & Cicchetti 1990, doi:10.1016/0895-4356(90)90158-L
    rows, request, title = setup.rows, setup.request, setup.request.title
    if not request.nominal or request.coefficient.expectation is None:
        return []
    tables = setup.sums.tables(setup.sample.point, by_coder=False)
    agreement, s, ac1 = (
        float(evaluate_with(how, tables, Nominal()).value) for how in (None, "uniform", "gwet")
    )
    if agreement < HIGH or value > agreement - GAP:
        return []
    shares = tables.pooled / tables.pooled.sum()
    code = int(shares.argmax())  # of the most frequent label
    label, share = setup.data.labels[code], float(shares[code])
    used = used_items(rows, request.convention)
    others = len(np.unique(rows.item[(rows.label != code) & used[rows.item]]))
    if others == 0:
        return [say("one_label", label=label, title=title)]
    if np.isnan(value):
        return []
    rest, mixed, _ = one_against_rest(tables).together[code]
    # proportion of the other labels whose partner is also another label
    met = float(over(2 * rest, 2 * rest + mixed))
    low = "less" if value < 0 else "little more" if value < 0.3 else "more"
    words = {"label": label, "title": title, "value": value, "share": share, "low": low}
    notes = [
        say("why", agreement=agreement, by_chance=by_chance, **words),
        say("others", others=others, n=int(used.sum()), met=met),
    ]
    return notes + ([say("chance_of_others", s=s, ac1=ac1, **words)] if s > value + GAP else [])
