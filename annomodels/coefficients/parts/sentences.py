"""Sentences on the tables of a diagnosis; each is left out if it has no finding.

Something is named if its posterior probability is .975 or more; among many, such as thousands of
coders, so much more that chance would put half a name into the list.
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
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.tables import over
from annomodels.data.columns import percent
from annomodels.data.names import quoted
from annomodels.data.validation import counted, some

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


def _clear(excess: Any, low: Any, high: Any, choices: int, n: Any = 1e6) -> Any:
    """Test if a value from `n` items exceeds 0 although it was picked among many."""
    p = max(SURE, 1 - FALSE_NAMES / max(choices, 1))
    return excess > stdtrit(np.maximum(n - 1, 1), p) * (high - low) / WIDTH


def _span(low: float, high: float) -> str:
    return f"({number(low)} to {number(high)})"


def _p(p: float) -> str:
    if p < 0.005:
        return "< 0.01"
    return "> 0.99" if p > 0.995 else f"= {number(p, 2)}"


def about_agreement(row: Mapping[Any, Any]) -> list[str]:
    if np.isnan(row["value"]):
        return [f"{row['title']} is undefined. {row['note']}"]
    text = f"{row['title']} is {number(row['value'])}"
    if np.isnan(row["low"]):
        return [f"{text}. {row['note']}".strip()]
    return [
        f"{text} {_span(row['low'], row['high'])}: P(> 0.667) {_p(row['p_above_667'])}, "
        f"P(> 0.8) {_p(row['p_above_800'])}."
    ]


def about_label_pairs(table: pd.DataFrame, n_labels: int) -> list[str]:
    """Name the pairs of labels that make up more of the disagreement than chance would."""
    if len(table) < 2 or n_labels > MANY_LABELS:
        return []
    rows = table.to_dict("records")
    top, second = rows[:2]
    sentences = []
    if top["share"] > second["share"] + POINTS:
        span = f"({percent(top['share_low'], 0)} to {percent(top['share_high'], 0)})"
        sentences.append(
            f"The largest part of the disagreement, {percent(top['share'], 0)} {span}, is "
            f"{quoted(top['first'])} against {quoted(top['second'])}; chance would give "
            f"{percent(top['by_chance'], 0)}."
        )
    else:
        rows = [{}, *rows]
    sure = [
        row
        for row in rows[1:]
        if row["p_more"] >= SURE and row["share"] >= POINTS and row["ratio"] >= CLEARLY
    ]
    return sentences + [
        f"{quoted(row['first'])} against {quoted(row['second'])} is {percent(row['share'], 0)} of "
        f"the disagreement, {row['ratio']:.1f} times what chance would give "
        f"({row['ratio_low']:.1f} to {row['ratio_high']:.1f})."
        for row in sorted(sure, key=lambda row: -row["ratio_low"])[: NAMED - 1]
    ]


def about_labels(found: Breakdown | None, title: str) -> list[str]:
    """Name the labels that coders tell from the rest worse than all labels together."""
    if found is None or len(found.table) < 3 or "whole" not in found.draws:
        return []
    rows = found.table[(found.table["n"] >= FEW) & found.table["value"].notna()]
    return [
        f"{quoted(row['label'])} is harder to distinguish from the rest than labels on the whole: "
        f"{title} {number(row['value'])} {_span(row['low'], row['high'])}; if one coder gives it, "
        f"another does in {percent(row['specific'], 0)} of the cases."
        for row in rows.sort_values("value").to_dict("records")[:NAMED]
        if found.difference(row["label"]).p_above() <= 1 - SURE
    ]


def about_items(table: pd.DataFrame) -> list[str]:
    """Count the items that hold half of the disagreement."""
    apart = int((table["share"] > 0).sum())
    if not apart:
        return []
    half = int(np.searchsorted(np.cumsum(table["share"].to_numpy()), 0.5 - 1e-12)) + 1
    n = len(table)
    text = f"Coders disagree on {apart:,} of {counted(n, 'item')}"
    if apart < FEW_ITEMS:
        return [f"{text}."]
    return [
        f"{text}; half of the disagreement lies on {half:,} of them ({percent(half / n, 1)} of "
        "the items)."
    ]


def about_coders(table: pd.DataFrame, title: str, n_labels: int) -> list[str]:
    """Name coders whose leaving would raise the coefficient, and what coders overuse."""
    gain = (table["difference"], table["difference_low"], table["difference_high"])
    better = table[
        (table["p_better_without"] >= SURE)
        & _clear(*gain, len(table), table["n"])
        & (table["n"] >= FEW)
        & (gain[0] >= VISIBLE)
    ]
    better = better.sort_values("difference", ascending=False)
    sentences = []
    for row in better.to_dict("records")[:NAMED]:
        text = (
            f"Without {row['coder']!r}, {title} would be {number(row['difference'])} higher "
            f"{_span(row['difference_low'], row['difference_high'])}"
        )
        if row["share"] > row["by_chance"]:
            text += (
                f"; {row['coder']!r} is behind {percent(row['share'], 1)} of the disagreement "
                f"with {percent(row['by_chance'], 1)} of the labels"
            )
        sentences.append(f"{text}.")
    if len(better) > NAMED:
        sentences.append(
            f"It would also rise, by less, without {counted(len(better) - NAMED, 'more coder')} of "
            f"the {len(table):,}, each taken alone."
        )
    return sentences + (_overuse(table, n_labels) if n_labels <= MANY_LABELS else [])


def _overuse(table: pd.DataFrame, n_labels: int) -> list[str]:
    """Name labels that a coder gives more often than the others do on the same items."""
    sure = (table["over_by"] >= 2 * POINTS) & (table["n"] >= FEW)
    excess = (table["over_by"], table["over_low"], table["over_high"])
    sure &= _clear(*excess, len(table) * n_labels, table["n"])
    rows = table[sure].sort_values("over_low", ascending=False).to_dict("records")
    if len(table) == 2:
        rows = rows[:1]
    sentences = [
        f"{row['coder']!r} gives {quoted(row['overused'])} {100 * row['over_by']:.0f} percentage "
        f"points more often than the other{'s' if len(table) > 2 else ''} on the same items "
        f"({100 * row['over_low']:.0f} to {100 * row['over_high']:.0f})."
        for row in rows[:NAMED]
    ]
    if len(rows) > NAMED:
        sentences.append(
            f"{counted(len(rows) - NAMED, 'more coder')} overuse one label by {200 * POINTS:.0f} "
            "points or more."
        )
    return sentences


def about_constant_coders(table: pd.DataFrame, shares: dict[Hashable, float]) -> list[str]:
    """Name coders who gave one label only, where that is more than a short list of items."""
    rows = table[table["only"].notna() & (table["n"] >= 2)].to_dict("records")
    odd = [row for row in rows if shares[row["only"]] ** row["n"] < RARE_BY_CHANCE]
    sentences = [
        f"{row['coder']!r} gave {quoted(row['only'])} to all of {row['n']:,} items."
        for row in sorted(odd, key=lambda row: -row["n"])[:NAMED]
    ]
    if len(odd) > NAMED:
        sentences.append(
            f"{counted(len(odd) - NAMED, 'more coder')} gave one label to all their items."
        )
    return sentences


def about_groups(table: pd.DataFrame | None) -> list[str]:
    """Name the groups that make up more of the disagreement than their size."""
    if table is None:
        return []
    more = table["share"] - table["by_chance"]
    clear = _clear(more, table["share_low"], table["share_high"], len(table))
    sure = table[(table["p_more"] >= SURE) & clear & (table["share"] >= POINTS)]
    return [
        f"{row['group']!r} makes up {percent(row['share'], 0)} of the disagreement with "
        f"{percent(row['by_chance'], 0)} of the labels."
        for row in sure.sort_values("share", ascending=False).to_dict("records")[:NAMED]
    ]


def about_overlap(found: Overlap, coders: Sequence[Hashable], items: int) -> list[str]:
    """Report unconnected parts of the graph of coders and items."""
    sentences = []
    alone = [name for name, n in zip(coders, found.shared, strict=True) if n == 0]
    together = found.components[found.components["coders"] > 1]
    if len(together) > 1:
        sizes = ", ".join(f"{n:,}" for n in together["coders"].head(NAMED))
        more = ", ..." if len(together) > NAMED else ""
        sentences.append(
            f"The coders fall into {len(together):,} sets ({sizes}{more} coders) that have no "
            "item in common: the labels cannot show how well coders of different sets would agree."
        )
    if alone:
        sentences.append(
            f"{some(alone, most=NAMED)} share{'s' if len(alone) == 1 else ''} no item with another "
            "coder, which tells nothing about agreement."
        )
    if found.single:
        sentences.append(
            f"{found.single:,} of {items:,} items have one label and show no agreement."
        )
    return sentences


HIGH = 0.8
GAP = 0.25


def why_so_low(setup: Setup, value: float, by_chance: float) -> list[str]:
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
    label, share = quoted(setup.data.labels[code]), percent(float(shares[code]), 1)
    used = used_items(rows, request.convention)
    others = len(np.unique(rows.item[(rows.label != code) & used[rows.item]]))
    if others == 0:
        return [
            f"Every label is {label}. Agreement is full, but {title} is undefined: it asks "
            "whether coders tell items apart, and these data give them nothing to tell apart."
        ]
    if np.isnan(value):
        return []
    rest, mixed, _ = one_against_rest(tables).together[code]
    # share of the other labels whose partner is another one too
    met = float(over(2 * rest, 2 * rest + mixed))
    low = "less" if value < 0 else "little more" if value < 0.3 else "more"
    sentences = [
        f"Why {percent(agreement, 1)} agreement gives {title} {number(value)}: {share} of the "
        f"labels are {label}, so coders who labeled without looking, as often {label} as these "
        f"do, would agree on {percent(by_chance, 1)} of the pairs. The coders agree {low} than "
        "that.",
        f"Everything depends on the {others:,} of {counted(int(used.sum()), 'item')} where anyone "
        f"gave another label: if one coder did, another did too in {percent(met, 0)} of the cases.",
    ]
    if s > value + GAP:
        sentences.append(
            f"S ({number(s)}) and AC1 ({number(ac1)}) stay high, as their chance level does not "
            f"rise with the share of {label}: they say that labels rarely differ, {title} says "
            f"how well coders tell {label} from the rest."
        )
    return sentences


def number(x: float, digits: int = 3) -> str:
    """Format a number without the sign of a rounded zero."""
    return f"{x if round(x, digits) else 0:.{digits}f}"
