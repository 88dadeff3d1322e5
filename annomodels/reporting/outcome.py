"""Sentences of the methods section on data and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.columns import decimal, percent
from annomodels.data.validation import counted
from annomodels.models.catalog import is_stack
from annomodels.reporting import audited
from annomodels.reporting.facts import Facts
from annomodels.reporting.prose import name
from annomodels.reporting.words import (
    interval,
    listed,
    number,
    say,
    share_interval,
    with_interval,
)

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
    words = {"labels": labels, "word": "labels" if labels else "numbers", "each": each}
    words |= {"repeats": repeats, "items": counted(data.n_items, "item").capitalize()}
    n = {"n_items": data.n_items, "coders": data.n_coders, "given": data.n_annotations}
    text = str(say("labeled", median=per_item.median, **n, **words))
    if facts.on_disk and data.dont_know:
        kinds = listed([name(kind) for kind in data.dont_know], 12)
        text += f" {counted(int(data.unanswered.sum()), 'answer')} of {kinds} counted as no class."
    if facts.told_items:
        text += f" Known labels of {counted(facts.told_items, 'item')} were held fixed."
    return text


def _judged(facts: Facts) -> str:
    data, each = facts.data, facts.data.judged()
    low, high = int(each.min()), int(each.max())
    words = {
        "mentions": counted(data.n_items, "mention").capitalize(),
        "each": str(low) if low == high else f"{low} to {high}",
        "classes": counted(data.n_labels, "class", "classes"),
        "names": listed([*map(name, data.classes)], 12),
    }
    n = {"n_items": data.n_items, "coders": data.n_coders, "readings": len(data.labels)}
    return say("judged_mentions", **n, **words)


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
    if is_stack(facts.fit.model):
        caution = "calibrated on public data sets with known truth"
    others = ""
    if not facts.on_disk:
        others = say("overturned", n=int(facts.fit.gold().table["overturned"].sum()))
    if facts.estimate is not None:
        found = f"{audited.results(facts)} {audited.errors(facts)}"
        return f"{start}) reached a probability of 0.95. {found}{others} {coders}"
    ends = interval(of.gold_low, of.gold_high)
    wrong = str(say("gold_wrong", gold=number(of.gold), ends=ends))
    if np.isfinite(of.vote):
        of_vote = interval(of.vote_low, of.vote_high)
        wrong += f", and {number(of.vote)} of the majority's ({of_vote})"
    words = {"wrong": wrong, "caution": caution, "others": others, "coders": coders}
    return say("gold_settled", start=start, more=share_interval(settled, n), **words)


def _results_of_numbers(facts: Facts) -> str:
    kinds = facts.coders.table["kind"].value_counts()
    coders = listed([f"{n:,} {kind}" for kind, n in kinds.items()], 6)
    sd = facts.fit.gold().table["sd"].median()
    return say("numbers_known", sd=sd, n=facts.data.n_coders, coders=coders)


def _results_of_links(facts: Facts) -> str:
    """State how many readings are true, and how many mentions have an antecedent."""
    counts = facts.fit.mentions().table["readings"].value_counts()
    one, several, none = (int(counts.get(kind, 0)) for kind in ("one", "several", "none"))
    links = facts.fit.links(0.5).table
    p = decimal(float(links["p_next"].mean())) if len(links) else "not defined"
    words = {"one": one, "several": several, "none": none, "links": len(links)}
    return say("links_known", n=facts.data.n_items, p=p, **words)


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
    middle = decimal(rows[right].median())
    return say("coders_right", middle=middle, worst=worst, best=best)
