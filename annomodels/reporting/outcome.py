"""Sentences of the methods section on data and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.columns import decimal, percent
from annomodels.data.validation import counted
from annomodels.reporting import audited
from annomodels.reporting.facts import Facts
from annomodels.reporting.prose import name
from annomodels.reporting.words import interval, listed, number, share_interval, with_interval

if TYPE_CHECKING:
    import pandas as pd


def labeled(facts: Facts) -> str:
    if facts.truth == "link":
        return _judged(facts)
    data, per_item = facts.data, facts.health.per_item
    low, high = per_item.least, per_item.most
    each = f"{low} per item" if low == high else f"{low} to {high} per item"
    repeats = f", {counted(data.repeats, 'repeat')} of a coder among them" if data.repeats else ""
    labels = ""
    if facts.truth == "class":
        names = listed([name(label) for label in data.labels], 12)
        labels = f" with {counted(data.n_labels, 'label')} ({names})"
    given = f"{data.n_annotations:,} {'labels' if labels else 'numbers'} in all"
    text = (
        f"{counted(data.n_items, 'item').capitalize()} were labeled by "
        f"{counted(data.n_coders, 'coder')}{labels}; {given}, {each} "
        f"(median {per_item.median:g}){repeats}."
    )
    if facts.on_disk and data.dont_know:
        kinds = listed([name(kind) for kind in data.dont_know], 12)
        text += f" {counted(int(data.unanswered.sum()), 'answer')} of {kinds} counted as no class."
    if facts.told_items:
        text += f" Known labels of {counted(facts.told_items, 'item')} were held fixed."
    return text


def _judged(facts: Facts) -> str:
    data, each = facts.data, facts.data.judged()
    low, high = int(each.min()), int(each.max())
    return (
        f"{counted(data.n_items, 'mention').capitalize()} were judged by "
        f"{counted(data.n_coders, 'coder')}, {low if low == high else f'{low} to {high}'} a "
        "mention. The candidates of a mention are the readings that anyone gave it, "
        f"{len(data.labels):,} in all, of {counted(data.n_labels, 'class', 'classes')} "
        f"({listed([*map(name, data.classes)], 12)})."
    )


def results(facts: Facts) -> str:
    """State how many gold labels are settled and wrong, and the accuracy of coders."""
    if facts.truth == "number":
        return _results_of_numbers(facts)
    if facts.truth == "link":
        return _results_of_links(facts)
    settled, n, of = facts.settled, facts.data.n_items, facts.wrong
    start = f"{counted(settled, 'item').capitalize()} of {n:,} ({percent(settled / n)}"
    coders = _coders(facts.coders.table)
    caution = "overconfident if items differ in difficulty"
    if facts.fit.model.stacks:
        caution = "calibrated on public data sets with known truth"
    others = ""
    if not facts.on_disk:
        overturned = counted(int(facts.fit.gold().table["overturned"].sum()), "item")
        others = f" The gold label differs from the label with the most votes for {overturned}."
    if facts.estimate is not None:
        found = f"{audited.results(facts)} {audited.errors(facts)}"
        return f"{start}) reached a probability of 0.95. {found}{others} {coders}"
    wrong = (
        f"{number(of.gold)} of the gold labels ({interval(of.gold_low, of.gold_high)}) are "
        "expected to be wrong"
    )
    if np.isfinite(of.vote):
        of_vote = interval(of.vote_low, of.vote_high)
        wrong += f", and {number(of.vote)} of the majority's ({of_vote})"
    return (
        f"{start}; for more items like these {share_interval(settled, n)}, 95 % interval) reached "
        f"a probability of 0.95. By these probabilities {wrong}; they are {caution}.{others} "
        f"{coders}"
    )


def _results_of_numbers(facts: Facts) -> str:
    kinds = facts.coders.table["kind"].value_counts()
    coders = listed([f"{n:,} {kind}" for kind, n in kinds.items()], 6)
    return (
        "The true value of the median item is known to within a standard deviation of "
        f"{facts.fit.gold().table['sd'].median():.3g}. Of "
        f"{counted(facts.data.n_coders, 'coder')}: {coders}."
    )


def _results_of_links(facts: Facts) -> str:
    """State how many readings are true, and how many mentions have an antecedent."""
    counts = facts.fit.mentions().table["readings"].value_counts()
    one, several, none = (int(counts.get(kind, 0)) for kind in ("one", "several", "none"))
    links = facts.fit.links(0.5).table
    return (
        f"Most probably {one:,} of {counted(facts.data.n_items, 'mention')} have one true reading, "
        f"{several:,} have several, and {none:,} have none of those given. Silver links with a "
        f"probability of at least 0.5 go from {counted(len(links), 'mention')} to an antecedent; "
        "the mean probability that one more reader makes them is "
        f"{decimal(float(links['p_next'].mean())) if len(links) else 'not defined'}."
    )


def _coders(table: pd.DataFrame) -> str:
    """State the median, lowest and highest proportion of right labels of coders."""
    right = "share_right" if "share_right" in table else "accuracy"
    rows = table.dropna(subset=right).sort_values(right, kind="stable")
    if not len(rows):
        return ""
    worst, best = (
        with_interval(row[right], row[f"{right}_low"], row[f"{right}_high"], name="95 % interval ")
        for row in (rows.iloc[0], rows.iloc[-1])
    )
    return (
        f"The share of right labels is {decimal(rows[right].median())} for the median coder, "
        f"{worst} for the worst and {best} for the best."
    )
