"""Findings with their cause: repeats, coders of one label, two coders, labels out of nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.summaries.draws import Draws, thinned
from annomodels.summaries.gold.evidence import contributions, majority
from annomodels.summaries.skills import skill
from annomodels.summaries.trust.copies import (
    NAMED,
    ONE_LABEL,
    compared,
    copies,
    copies_finding,
    families,
    families_finding,
)
from annomodels.summaries.trust.findings import CHECK, FORBIDS, Finding
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    import xarray as xr

# share of the labels from which repeats of a coder count, and share of equal ones among them from
# which rows were given twice
REPEATED, TWICE = 0.02, 0.99
# labels from which a coder is one who gives one label, and shares of all labels by such coders
FEWEST, SOME, MOST_LABELS = 10, 0.1, 0.5
DRAWS = 100
# known items from which one class of all is a concern
FEWEST_KNOWN = 3
# probability of skill below chance from which a coder is flagged
BELOW = 0.95


def suspects(tree: xr.DataTree, data: Annotations) -> list[Finding]:
    """Look for what makes labels count for more than they tell.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.
    """
    p: Floats = tree["truth"].to_dataset()["p_truth"].values
    pairs = compared(data)
    groups = copies(pairs)
    alike = families(pairs, p, data)
    extra = sum(len(group) - 1 for group in groups)
    draws = thinned(tree, data, DRAWS)
    flagged = np.unique(np.concatenate([*groups, below_chance(draws, data)]).astype(np.int64))
    return [
        copies_finding(groups, pairs, data),
        families_finding(alike, data, extra),
        repeats_finding(data),
        one_label_finding(data),
        two_coders_finding(data),
        *([] if data.gold is None else [one_class_finding(data.gold.astype(np.int64), data)]),
        nobody_finding(p, data),
        overturned_finding(draws, p, data, flagged),
    ]


def repeats_finding(data: Annotations) -> Finding:
    """Judge labels that a coder gave again to the same item.

    Examples
    --------
    >>> rows = [(i, j, "ab"[i % 2]) for i in range(20) for j in "xy"]
    >>> repeats_finding(Annotations.from_records(rows + rows)).sentence[:45]
    'Duplicated rows: 40 of 80 labels repeat an ea'
    """
    n = int(data.repeats)
    share = n / max(len(data), 1)
    if share < REPEATED:
        return Finding("repeats", share, REPEATED, f"{n:,} labels repeat a coder on an item.")
    again = np.zeros(len(data), dtype=bool)
    again[1:] = (data.item[1:] == data.item[:-1]) & (data.coder[1:] == data.coder[:-1])
    same = float((data.label[1:] == data.label[:-1])[again[1:]].mean())
    where = f"{n:,} of {len(data):,} labels repeat an earlier one of the same coder on the item"
    text = (
        f"Repeats: {where}, {same:.0%} of them the same label. The model counts each as one more "
        "independent opinion, and P(truth) is then too sure. data.without_repeats() keeps the "
        "first of each; repeats tell how steady a coder is, not what the truth is."
    )
    if same >= TWICE:
        text = (
            f"Duplicated rows: {where}, nearly all with the same label, as where a file holds its "
            "rows twice. The model counts each as one more independent opinion, and P(truth) is "
            "then too sure. data.without_repeats() keeps the first of each."
        )
    return Finding("repeats", share, REPEATED, text, CHECK)


def one_label_finding(data: Annotations) -> Finding:
    """Judge coders who only ever give one label, as functions do that abstain elsewhere."""
    cells, times = np.unique(
        data.coder.astype(np.int64) * data.n_labels + data.label, return_counts=True
    )
    n = data.per_coder
    often = times >= ONE_LABEL * n[cells // data.n_labels]
    many = n[cells // data.n_labels] >= FEWEST
    plain, label = np.divmod(cells[often & many], data.n_labels)
    share = float(n[plain].sum()) / max(len(data), 1)
    if share < SOME or data.n_labels < 2:
        text = f"{len(plain):,} coders gave one and the same label always."
        return Finding("coders of one label", share, SOME, text)
    named = zip(plain[:NAMED], label[:NAMED], strict=True)
    names = ", ".join(f"{data.coders[j]} ({label_text(data.labels[k])})" for j, k in named)
    more = f" and {len(plain) - NAMED:,} more" if len(plain) > NAMED else ""
    who = (
        f"Coders of one label: {names}{more} only ever give one label, and gave {share:.0%} of all "
        "labels."
    )
    if share < MOST_LABELS or len(np.unique(label)) < 2 or data.dont_know:
        text = f"{who} Their labels tell of an item only by being there."
        return Finding("coders of one label", share, SOME, text, CHECK)
    text = (
        f"{who} They look like labelling functions whose abstentions were left out: whether such a "
        "coder speaks is all that they tell, and without the items on which they abstained the "
        "model takes their label for a constant and may turn the classes around. Give the "
        'abstentions too, as rows, and name them with dont_know=["abstain"].'
    )
    return Finding("coders of one label", share, SOME, text, FORBIDS)


def two_coders_finding(data: Annotations) -> Finding:
    """Judge whether there are enough coders for their labels to tell who is right."""
    n = int((data.per_coder > 0).sum())
    known = 0 if data.gold is None else int((data.gold >= 0).sum())
    enough = 10 * data.n_labels
    if n != 2 or known >= enough:
        return Finding("two coders", n, 3, f"{n:,} coders gave labels.")
    text = (
        "Two coders: where they differ, nothing in the labels tells which of them is right; the "
        f"confusion matrices of {data.n_labels} classes and P(truth) rest on the priors there. A "
        f"third coder would tell, or the known truth of {enough} items."
    )
    return Finding("two coders", n, 3, text, CHECK)


def one_class_finding(gold: Ints, data: Annotations) -> Finding:
    """Judge whether the known truth tells of more than one class."""
    known = gold[gold >= 0]
    classes = np.unique(known)
    n = len(classes)
    if n != 1 or data.n_labels < 2 or len(known) < FEWEST_KNOWN:
        text = f"The known truth is of {n:,} classes."
        return Finding("classes of the known truth", n, 2, text)
    name = label_text(data.labels[classes[0]])
    text = (
        f"Gold of one class: all {len(known):,} known items are {name}. They tell nothing of how "
        "coders label the other classes, and count for the prevalence as if they had been chosen "
        "at random. Give known items of every class, or of items chosen at random."
    )
    return Finding("classes of the known truth", n, 2, text, CHECK)


def nobody_finding(p: Floats, data: Annotations) -> Finding:
    """Judge gold labels that no coder gave to the item."""
    best = p.argmax(axis=1)
    votes = data.votes
    known = np.zeros(data.n_items, bool) if data.gold is None else data.gold >= 0
    given = votes.sum(axis=1) > 0
    found = np.flatnonzero(given & ~known & (votes[np.arange(data.n_items), best] == 0))
    if not len(found):
        return Finding("labels that nobody gave", 0, 0, "Each gold label was given by a coder.")
    names = ", ".join(
        f"{label_text(data.items[i])} ({label_text(data.labels[best[i]])})" for i in found[:NAMED]
    )
    more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    items = "item has a gold label" if len(found) == 1 else "items have a gold label"
    text = (
        f"Labels that nobody gave: {len(found):,} {items} that no coder chose: {names}{more}. The "
        "model concludes it from how often coders take classes for each other; on public data few "
        "of these were right. Look at them."
    )
    return Finding("labels that nobody gave", len(found), 0, text, CHECK)


def below_chance(draws: Draws, data: Annotations) -> Ints:
    """Coders whose labels are surely worse than chance."""
    if len(draws) < 2:
        return np.empty(0, dtype=np.int64)
    worth = skill(draws.prevalence, draws.confusion)
    below = (worth < 0).mean(axis=0) > BELOW
    return np.flatnonzero(below & (data.per_coder > 0))


def overturned_finding(draws: Draws, p: Floats, data: Annotations, flagged: Ints) -> Finding:
    """Judge overturned majorities that rest on coders who are copies or worse than chance."""
    name = "overturned by flagged coders"
    vote, best = majority(data.votes), p.argmax(axis=1)
    known = np.zeros(data.n_items, bool) if data.gold is None else data.gold >= 0
    overturned = (vote >= 0) & (vote != best) & ~known
    if not len(flagged) or not overturned.any():
        text = f"No majority of {int(overturned.sum()):,} is overturned by coders to be wary of."
        return Finding(name, 0, 0, text)
    against = np.where(overturned, vote, best)
    parts = contributions(draws, data, best, against)
    mine = np.isin(parts.coder, flagged)
    of_all = np.bincount(parts.item, parts.value, data.n_items) + parts.prior
    of_others = np.bincount(parts.item[~mine], parts.value[~mine], data.n_items) + parts.prior
    found = np.flatnonzero(overturned & (of_all > 0) & (of_others < 0))
    if not len(found):
        return Finding(name, 0, 0, "No majority is overturned by coders to be wary of.")
    items = ", ".join(label_text(data.items[i]) for i in found[:NAMED])
    who = ", ".join(label_text(data.coders[j]) for j in flagged[:NAMED])
    text = (
        f"Majorities overturned: on {len(found):,} of {int(overturned.sum()):,} items whose gold "
        f"label is not that of the majority ({items}{', ...' if len(found) > NAMED else ''}) the "
        "evidence is that of coders who copy each other or are worse than chance "
        f"({who}{', ...' if len(flagged) > NAMED else ''}). Look at these items."
    )
    return Finding(name, len(found), 0, text, CHECK)
