"""Findings with their cause: repeats, coders of one label, two coders, labels out of nothing.

And what is too little to learn from: coders of a single label, labels that were hardly given.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

from annomodels.data.alike import MOSTLY, single_labels
from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.copying import ONE_LABEL, compared, copied
from annomodels.data.names import label_text
from annomodels.data.validation import FEWEST_KNOWN, counted, some
from annomodels.errors import Option, Verb
from annomodels.limits import NOTICED
from annomodels.summaries.draws import Draws, model_of, thinned
from annomodels.summaries.gold.evidence import contributions, majority, runs
from annomodels.summaries.skills import skill
from annomodels.summaries.trust.copies import (
    NAMED,
    copies_finding,
    families,
    families_finding,
)
from annomodels.summaries.trust.findings import CODERS, FORBIDS, REVIEW, Finding
from annomodels.types import Floats, Ints

# share of the labels from which repeats of a coder count, and share of equal ones among them from
# which rows were given twice
REPEATED, TWICE = 0.02, 0.99
# probability of so many of one label by chance from which a coder is one who gives one label
BY_CHANCE = 0.001
# labels from which a coder is one who gives one label, and shares of all labels by such coders
FEWEST, SOME, MOST_LABELS = 10, 0.1, 0.5
# times from which a label is given often, and size of the label set from which it matters
SELDOM, MANY_LABELS = 20, 20
DRAWS = 100
# probability of skill below chance from which a coder is flagged
BELOW = 0.95


def suspects(tree: xr.DataTree, data: Annotations) -> list[Finding]:
    """Look for what makes labels count for more than they tell."""
    p: Floats = tree["truth"].to_dataset()["p_truth"].values
    pairs = compared(data)
    groups = copied(pairs)
    alike = families(pairs, p, data)
    extra = sum(len(group) - 1 for group in groups.coders)
    draws = thinned(tree, data, DRAWS)
    flagged = np.unique(
        np.concatenate([*groups.coders, below_chance(draws, data)]).astype(np.int64)
    )
    counted = not model_of(tree).stacks
    return [
        copies_finding(groups, pairs, data, counted),
        families_finding(alike, data, extra, counted),
        repeats_finding(data),
        one_label_finding(data),
        single_labels_finding(data),
        seldom_finding(data, model_of(tree).shared),
        two_coders_finding(data),
        *([] if data.gold is None else [one_class_finding(data.gold.astype(np.int64), data)]),
        nobody_finding(p, data),
        overturned_finding(draws, p, data, flagged, counted),
    ]


def repeats_finding(data: Annotations) -> Finding:
    """Judge labels that a coder gave again to the same item."""
    n = int(data.repeats)
    share = n / max(len(data), 1)
    if share < REPEATED:
        return Finding(
            "repeats", share, REPEATED, f"Further labels by the same coder on an item: {n:,}."
        )
    again = ~runs(data)[1:]
    same = float((data.label[1:] == data.label[:-1])[again].mean())
    where = f"{n:,} of {len(data):,} labels repeat an earlier one of the same coder on the item"
    once = Verb("data.without_repeats()", "annomodels run --read repeats=first")
    text = (
        f"Repeats: {where}, {percent(same, 0)} of them the same label. Keep only the first of "
        "each; repeats show the consistency of a coder, not the truth."
    )
    if same >= TWICE:
        text = (
            f"Duplicated rows: {where}, nearly all with the same label, as if the file had its "
            "rows twice. Keep only the first of each."
        )
    effect = "Probabilities are too high: each repeat counts as one more independent opinion."
    return Finding("repeats", share, REPEATED, text, REVIEW, effect=effect, remedy=once)


def one_label_finding(data: Annotations) -> Finding:
    """Judge coders who only ever give one label, as functions do that abstain elsewhere."""
    given = np.unique(data.label)
    if len(given) == 1 < data.n_labels:
        text = (
            f"All labels are {label_text(data.labels[given[0]])}: they do not distinguish items, "
            "so prevalence, coders and P(truth) are those of the prior. Add items with other "
            "labels."
        )
        effect = "Gold labels rest on assumptions alone."
        return Finding("coders of one label", 1.0, SOME, text, FORBIDS, effect=effect)
    cells, times = np.unique(
        data.coder.astype(np.int64) * data.n_labels + data.label, return_counts=True
    )
    from scipy.special import bdtrc

    n = data.per_coder
    given_by = n[cells // data.n_labels]
    often = (times >= ONE_LABEL * given_by) & (given_by >= FEWEST)
    # of a label that nearly all have, nearly all may well be one coder's
    usual = np.bincount(data.label, minlength=data.n_labels) / max(len(data), 1)
    often &= bdtrc(times - 1, given_by, usual[cells % data.n_labels]) < BY_CHANCE
    plain, label = np.divmod(cells[often], data.n_labels)
    share = float(n[plain].sum()) / max(len(data), 1)
    if share < SOME or data.n_labels < 2:
        text = f"{counted(len(plain), 'coder')} always gave the same label."
        return Finding("coders of one label", share, SOME, text)
    named = zip(plain, label, strict=True)
    names = some(
        (f"{data.coders[j]} ({label_text(data.labels[k])})" for j, k in named), str, NAMED, 99
    )
    who = (
        f"Coders of one label: {names} always give the same label, and gave {percent(share, 0)} "
        "of all labels."
    )
    if share < MOST_LABELS or len(np.unique(label)) < 2 or data.dont_know:
        effect = f"Of all labels, {percent(share, 0)} hardly count for the gold labels."
        text = f"{who} Give these coders test items."
        return Finding("coders of one label", share, SOME, text, REVIEW, CODERS, effect)
    abstention = Option("dont_know", ["abstain"])
    text = (
        f"{who} They look like labeling functions whose abstentions were left out: the information "
        "is whether the coder answers. Without the abstentions the model treats the label as a "
        "constant and may swap the classes. Add the abstentions as rows, and name them with "
        f"{abstention}."
    )
    name, effect = "coders of one label", "Classes of the gold labels may be swapped."
    return Finding(name, share, SOME, text, FORBIDS, effect=effect, remedy=abstention)


def two_coders_finding(data: Annotations) -> Finding:
    """Judge whether there are enough coders for their labels to tell who is right."""
    n = int((data.per_coder > 0).sum())
    known = int((data.known >= 0).sum())
    enough = 10 * data.n_labels
    if n != 2 or known >= enough:
        return Finding("two coders", n, 3, f"{counted(n, 'coder')} gave labels.")
    text = (
        "Two coders: if they differ, the labels do not show who is right, and the confusion "
        f"matrices of {data.n_labels} classes and P(truth) rest on the priors there. Add a third "
        f"coder, or the known labels of {enough} items."
    )
    effect = "Where the coders differ, gold labels rest on assumptions."
    return Finding("two coders", n, 3, text, REVIEW, effect=effect)


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
        f"Gold of one class: all {len(known):,} known items are {name}. They say nothing about the "
        "other classes, and count for the prevalence as if drawn at random. Give known items of "
        "every class, or of items chosen at random."
    )
    effect = f"The share of {name} is overestimated."
    return Finding("classes of the known truth", n, 2, text, REVIEW, effect=effect)


def nobody_finding(p: Floats, data: Annotations) -> Finding:
    """Judge gold labels that no coder gave to the item."""
    best = p.argmax(axis=1)
    votes = data.votes
    known = data.known >= 0
    given = votes.sum(axis=1) > 0
    found = np.flatnonzero(given & ~known & (votes[np.arange(data.n_items), best] == 0))
    if not len(found):
        return Finding("labels that nobody gave", 0, 0, "Each gold label was given by a coder.")
    named = (f"{label_text(data.items[i])} ({label_text(data.labels[best[i]])})" for i in found)
    names = some(named, str, NAMED, 200)
    items = "item has a gold label" if len(found) == 1 else "items have a gold label"
    text = (
        f"Labels that nobody gave: {len(found):,} {items} that no coder chose: {names}. The model "
        "infers it from the confusions of the coders. Decide these items."
    )
    name, limit = "labels that nobody gave", NOTICED * data.n_items
    if len(found) < limit:
        return Finding(name, len(found), limit, text, noted=True)
    effect = f"About {percent(len(found) / data.n_items, 0)} of the gold labels have no vote."
    return Finding(name, len(found), limit, text, REVIEW, effect=effect)


def below_chance(draws: Draws, data: Annotations) -> Ints:
    """Coders whose labels are surely worse than chance."""
    if len(draws) < 2:
        return np.empty(0, dtype=np.int64)
    worth = skill(draws.prevalence, draws.confusion)
    below = (worth < 0).mean(axis=0) > BELOW
    return np.flatnonzero(below & (data.per_coder > 0))


def overturned_finding(
    draws: Draws, p: Floats, data: Annotations, flagged: Ints, counted: bool = True
) -> Finding:
    """Judge overturned majorities that rest on coders who are copies or worse than chance."""
    # `counted`: P(truth) is that of one model, which may take these coders at its word
    name = "overturned by flagged coders"
    vote, best = majority(data.votes), p.argmax(axis=1)
    known = data.known >= 0
    overturned = (vote >= 0) & (vote != best) & ~known
    if not len(flagged) or not overturned.any():
        text = f"No majority of {int(overturned.sum()):,} is overturned by suspicious coders."
        return Finding(name, 0, 0, text)
    against = np.where(overturned, vote, best)
    parts = contributions(draws, data, best, against)
    mine = np.isin(parts.coder, flagged)
    of_all = np.bincount(parts.item, parts.value, data.n_items) + parts.prior
    of_others = np.bincount(parts.item[~mine], parts.value[~mine], data.n_items) + parts.prior
    found = np.flatnonzero(overturned & (of_all > 0) & (of_others < 0))
    if not len(found):
        return Finding(name, 0, 0, "No majority is overturned by suspicious coders.")
    items = ", ".join(label_text(data.items[i]) for i in found[:NAMED])
    who = ", ".join(label_text(data.coders[j]) for j in flagged[:NAMED])
    text = (
        f"Majorities overturned: on {len(found):,} of {int(overturned.sum()):,} items whose gold "
        f"label is not that of the majority ({items}{', ...' if len(found) > NAMED else ''}) the "
        "evidence is that of coders who copy each other or are worse than chance "
        f"({who}{', ...' if len(flagged) > NAMED else ''}). Decide these items."
    )
    limit = NOTICED * data.n_items
    if len(found) < limit or not counted:
        return Finding(name, len(found), limit, text, symptom=True, noted=True)
    share = percent(len(found) / data.n_items, 0)
    effect = f"About {share} of the gold labels rest on suspicious coders."
    return Finding(name, len(found), limit, text, REVIEW, effect=effect, symptom=True)


def single_labels_finding(data: Annotations) -> Finding:
    """Judge whether coders gave enough labels for one of them to be told from another."""
    share, name = single_labels(data), "single labels"
    if share < MOSTLY or data.n_coders < 3:
        return Finding(
            name, share, MOSTLY, f"{percent(share, 0)} of the labels are all that a coder gave."
        )
    column = Option("coder")
    text = (
        f"Single labels: {percent(share, 0)} of the labels are the only one of their coder "
        f"({int((data.per_coder == 1).sum()):,} of {data.n_coders:,} coders). One label says "
        "nothing about its coder: the model treats these coders alike, P(truth) rests on average "
        "behavior, and all of them have the same estimates. Check that the coder column "
        f"({column}) names people, not rows or sessions; or let the same coders label more items."
    )
    effect = "Coders are treated alike: a careful coder counts as much as a careless one."
    return Finding(name, share, MOSTLY, text, REVIEW, effect=effect, remedy=column)


def seldom_finding(data: Annotations, alike: bool) -> Finding:
    """Judge whether labels were given often enough to learn what their classes are taken for."""
    times = np.bincount(data.label, minlength=data.n_labels)
    seldom = int((times < SELDOM).sum())
    share, name = seldom / max(data.n_labels, 1), "labels given seldom"
    if share <= MOST_LABELS or data.n_labels < MANY_LABELS:
        text = f"Labels given fewer than {SELDOM} times: {seldom:,} of {data.n_labels:,}."
        return Finding(name, share, MOST_LABELS, text)
    rows = data.n_coders * data.n_labels
    coders = (
        "the model treats all coders alike, so skill does not count"
        if alike
        else f"{rows:,} rows of the coders' confusion matrices rest on {len(data):,} labels"
    )
    text = (
        f"Rare labels: {seldom:,} of {data.n_labels:,} labels were given fewer than {SELDOM} "
        f"times (median: {np.median(times):.0f} times). Confusions of these classes cannot be "
        f"estimated: P(truth) of their items rests on votes and prior; {coders}. Recode labels "
        "that mean nearly the same into one, or collect more labels of each class."
    )
    effect = "Gold labels of rare classes rest on votes and assumptions."
    return Finding(name, share, MOST_LABELS, text, REVIEW, effect=effect)
