"""Findings about suspicious labels and coders.

Copies, families with correlated errors, repeats, coders who give one label only, two coders only,
gold labels that nobody gave, coders with a single label and rare labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy.special import bdtrc, pdtrc

from annomodels.data.alike import MOSTLY, single_labels
from annomodels.data.annotations import Annotations
from annomodels.data.copying import ALARM, ONE_LABEL, Copies, Pairs, compared, copied
from annomodels.data.names import label_text
from annomodels.data.validation import FEWEST_KNOWN
from annomodels.errors import Option, Verb
from annomodels.limits import NOTICED
from annomodels.models.catalog import is_stack
from annomodels.summaries.draws import Draws, model_of, thinned
from annomodels.summaries.skills import skill
from annomodels.summaries.trust.findings import Finding, finding, phrase
from annomodels.summaries.why import contributions, majority, runs
from annomodels.types import Floats, Ints

# excess correlation of errors within a family, and fewest shared items of a pair
BEYOND, FEWEST_PAIRED = 0.15, 30
# fewest joint errors of a pair of coders
TOGETHER = 5


def copies_finding(found: Copies, pairs: Pairs, data: Annotations, counted: bool) -> Finding:
    """Judge whether coders copy each other; `counted`: their labels count as independent."""
    extra = sum(len(group) - 1 for group in found.coders)
    if not extra:
        return finding("copies", "fine", 0)
    place = {int(j): n for n, j in enumerate(pairs.coder)}
    groups = [[str(data.coders[j]) for j in group] for group in found.coders]
    told = []
    for group, names, rate in zip(found.coders, groups, found.rate, strict=True):
        a, b = place[int(group[0])], place[int(group[1])]
        n, apart = pairs.shared[a, b], pairs.differ[a, b]
        same = "the same label to all" if not apart else f"different labels to {apart:,.0f} of"
        words = {"first": names[0], "second": names[1], "others": names[1:], "same": same}
        told.append(phrase("copies", "group", rate=rate, n=n, **words))
    state, effective = "counted" if counted else "one_label", data.n_coders - extra
    return finding(
        "copies",
        state,
        extra,
        told=told,
        of=data.n_coders,
        coders=groups,
        rate=list(found.rate),
        effective=effective,
    )


# -- families -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Families:
    groups: list[Ints]  # codes of the coders of each group
    inside: list[float]  # mean correlation of errors of the pairs of each group
    typical: float  # median correlation of errors of all pairs

    def effective(self, n_coders: int) -> float:
        """Return the number of independent coders: a group of m counts as m / (1 + (m - 1) rho)."""
        out = float(n_coders)
        for group, inside in zip(self.groups, self.inside, strict=True):
            m, rho = len(group), max(inside - max(self.typical, 0.0), 0.0)
            out -= m - m / (1.0 + (m - 1) * rho)
        return out


def families(pairs: Pairs, p_truth: Floats, data: Annotations) -> Families:
    """Find groups of coders whose errors correlate more with each other than with others."""
    # An error is 1 - P(truth is this label), minus the coder's mean on items of this truth. Groups
    # come from average linkage of error correlations on shared items.
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    correlation, n, both, expected = error_correlations(pairs, p_truth)
    known = (n >= FEWEST_PAIRED) & np.isfinite(correlation)
    np.fill_diagonal(known, False)
    upper = np.triu(known, 1)
    if upper.sum() < FEWEST_PAIRED // 3:
        return Families([], [], 0.0)
    typical = float(np.median(correlation[upper]))
    beyond = np.where(known, correlation - typical, 0.0)
    distance = np.clip(1.0 - beyond, 0.0, 2.0)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform((distance + distance.T) / 2, checks=False), "average")
    part = fcluster(tree, 1.0 - BEYOND, "distance")
    found = Families([], [], typical)
    # some items are harder than others, so all coders err together
    enough = upper & (expected >= 1.0)
    more = float(np.median(both[enough] / expected[enough])) if enough.any() else 1.0
    expected = expected * max(1.0, more)
    # P(as many joint errors or more), 1 without any
    chance = np.where(both < 1, 1.0, pdtrc(np.maximum(np.floor(both) - 1, 0), expected))
    sure = (chance < ALARM / upper.sum()) & (both >= TOGETHER)
    for cluster in np.unique(part):
        group = np.flatnonzero(part == cluster)
        inner = np.triu(known, 1)[np.ix_(group, group)]
        if len(group) < 2 or not inner.any():
            continue
        values = correlation[np.ix_(group, group)][inner]
        # pairs of a group share coders and items, so the most significant pair counts, not how many
        best = sure[np.ix_(group, group)][inner]
        if not best.any() or values.mean() < typical + BEYOND:
            continue
        found.groups.append(pairs.coder[group])
        found.inside.append(float(values.mean()))
    return found


def error_correlations(pairs: Pairs, p_truth: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Correlate errors of pairs of coders, [place, place]."""
    given = (pairs.said >= 0).astype(float)
    p = p_truth[pairs.item]
    wrong = given * (1.0 - p[np.arange(len(p)), np.maximum(pairs.said, 0)])
    of_class = (wrong @ p) / np.maximum(given @ p, 1e-9)
    likely = given * (of_class @ p.T)
    error = wrong - likely
    n = given @ given.T
    size = np.maximum(n, 1)
    mean = (error @ given.T) / size
    square = ((error**2) @ given.T) / size - mean**2
    product = (error @ error.T) / size - mean * mean.T
    scale = np.sqrt(np.maximum(square * square.T, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.where(scale > 1e-9, product / scale, np.nan)
    return correlation, n, wrong @ wrong.T, likely @ likely.T


def families_finding(found: Families, data: Annotations, n_copies: int, counted: bool) -> Finding:
    """Judge whether groups of coders share their errors; `n_copies` coders are copies."""
    # `counted`: whether the model counts their labels as independent
    code, effective = "families_of_coders", found.effective(data.n_coders) - n_copies
    if not found.groups:
        return finding(code, "fine", 0)
    groups = [[str(data.coders[j]) for j in group] for group in found.groups]
    order = np.argsort([-len(group) for group in groups], kind="stable").tolist()
    told = [phrase(code, "group", names=groups[n], inside=found.inside[n]) for n in order]
    return finding(
        code,
        "counted" if counted else "known",
        len(groups),
        told=told,
        of=data.n_coders,
        coders=groups,
        correlation=list(found.inside),
        effective=effective,
        typical=found.typical,
    )


# proportion of repeats that is reported, and proportion of equal repeats from which rows are
# duplicates
REPEATED, TWICE = 0.02, 0.99
# probability of so many equal labels by chance below which a coder gives one label only
BY_CHANCE = 0.001
# fewest labels of such a coder, and limits on the proportion of all labels by such coders
FEWEST, SOME, MOST_LABELS = 10, 0.1, 0.5
# uses below which a label is rare, and fewest labels of a scheme with this check
SELDOM, MANY_LABELS = 20, 20
DRAWS = 100
# probability of skill below chance from which a coder is flagged
BELOW = 0.95


def suspects(tree: xr.DataTree, data: Annotations) -> list[Finding]:
    p: Floats = tree["truth"].to_dataset()["p_truth"].values
    pairs = compared(data)
    groups = copied(pairs)
    alike = families(pairs, p, data)
    extra = sum(len(group) - 1 for group in groups.coders)
    draws = thinned(tree, data, DRAWS)
    flagged = np.unique(
        np.concatenate([*groups.coders, below_chance(draws, data)]).astype(np.int64)
    )
    counted = not is_stack(model_of(tree))
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
    n = int(data.repeats)
    share = n / max(len(data), 1)
    if share < REPEATED:
        return finding("repeats", "fine", share, REPEATED, n=n)
    again = ~runs(data)[1:]
    same = float((data.label[1:] == data.label[:-1])[again].mean())
    once = Verb("data.without_repeats()", "annomodels run --read repeats=first")
    state = "twice" if same >= TWICE else "again"
    return finding("repeats", state, share, REPEATED, remedy=once, n=n, of=len(data), same=same)


def one_label_finding(data: Annotations) -> Finding:
    code, given = "coders_of_one_label", np.unique(data.label)
    if len(given) == 1 < data.n_labels:
        return finding(code, "all", 1.0, SOME, label=label_text(data.labels[given[0]]))
    cells, times = np.unique(
        data.coder.astype(np.int64) * data.n_labels + data.label, return_counts=True
    )

    n = data.per_coder
    given_by = n[cells // data.n_labels]
    often = (times >= ONE_LABEL * given_by) & (given_by >= FEWEST)
    # if nearly all labels are equal, a coder may well give only this label
    usual = np.bincount(data.label, minlength=data.n_labels) / max(len(data), 1)
    often &= bdtrc(times - 1, given_by, usual[cells % data.n_labels]) < BY_CHANCE
    plain, label = np.divmod(cells[often], data.n_labels)
    share = float(n[plain].sum()) / max(len(data), 1)
    if share < SOME or data.n_labels < 2:
        return finding(code, "fine", share, SOME, n=len(plain))
    named = zip(plain, label, strict=True)
    who = [f"{data.coders[j]} ({label_text(data.labels[k])})" for j, k in named]
    if share < MOST_LABELS or len(np.unique(label)) < 2 or data.dont_know:
        return finding(code, "some", share, SOME, coders=who)
    abstention = Option("dont_know", ["abstain"])
    return finding(code, "abstain", share, SOME, remedy=abstention, coders=who)


def two_coders_finding(data: Annotations) -> Finding:
    n = int((data.per_coder > 0).sum())
    known = int((data.known >= 0).sum())
    enough = 10 * data.n_labels
    state = "fine" if n != 2 or known >= enough else "two"
    return finding("two_coders", state, n, 3, classes=data.n_labels, enough=enough)


def one_class_finding(gold: Ints, data: Annotations) -> Finding:
    known = gold[gold >= 0]
    classes = np.unique(known)
    n = len(classes)
    if n != 1 or data.n_labels < 2 or len(known) < FEWEST_KNOWN:
        return finding("classes_of_the_known_truth", "fine", n, 2)
    name = label_text(data.labels[classes[0]])
    return finding("classes_of_the_known_truth", "one", n, 2, n=len(known), label=name)


def nobody_finding(p: Floats, data: Annotations) -> Finding:
    code, best = "labels_that_nobody_gave", p.argmax(axis=1)
    votes = data.votes
    known = data.known >= 0
    given = votes.sum(axis=1) > 0
    found = np.flatnonzero(given & ~known & (votes[np.arange(data.n_items), best] == 0))
    if not len(found):
        return finding(code, "fine", 0)
    named = [f"{label_text(data.items[i])} ({label_text(data.labels[best[i]])})" for i in found]
    limit, share = NOTICED * data.n_items, len(found) / data.n_items
    state = "few" if len(found) < limit else "many"
    return finding(code, state, len(found), limit, items=named, share=share)


def below_chance(draws: Draws, data: Annotations) -> Ints:
    """Return coders whose labels are almost certainly worse than chance."""
    if len(draws) < 2:
        return np.empty(0, dtype=np.int64)
    worth = skill(draws.prevalence, draws.confusion)
    below = (worth < 0).mean(axis=0) > BELOW
    return np.flatnonzero(below & (data.per_coder > 0))


def overturned_finding(
    draws: Draws, p: Floats, data: Annotations, flagged: Ints, counted: bool = True
) -> Finding:
    """Judge overturned majorities that rest on coders who are copies or worse than chance."""
    # `counted`: P(truth) is from a single model, which may trust these coders
    code = "overturned_by_flagged_coders"
    vote, best = majority(data.votes), p.argmax(axis=1)
    known = data.known >= 0
    overturned = (vote >= 0) & (vote != best) & ~known
    of = int(overturned.sum())
    if not len(flagged) or not of:
        return finding(code, "none", 0, of=of)
    against = np.where(overturned, vote, best)
    parts = contributions(draws, data, best, against)
    mine = np.isin(parts.coder, flagged)
    of_all = np.bincount(parts.item, parts.value, data.n_items) + parts.prior
    of_others = np.bincount(parts.item[~mine], parts.value[~mine], data.n_items) + parts.prior
    found = np.flatnonzero(overturned & (of_all > 0) & (of_others < 0))
    if not len(found):
        return finding(code, "fine", 0)
    n, limit = len(found), NOTICED * data.n_items
    state = "few" if n < limit or not counted else "many"
    items, coders = [data.items[i] for i in found], [data.coders[j] for j in flagged]
    names = {"items": list(map(label_text, items)), "coders": list(map(label_text, coders))}
    return finding(code, state, n, limit, of=of, share=n / data.n_items, **names)


def single_labels_finding(data: Annotations) -> Finding:
    """Judge whether coders gave enough labels to be distinguished."""
    share, n = single_labels(data), int((data.per_coder == 1).sum())
    words: dict[str, object] = {"n": n, "of": data.n_coders}
    if share < MOSTLY or data.n_coders < 3:
        return finding("single_labels", "fine", share, MOSTLY, **words)
    return finding("single_labels", "alike", share, MOSTLY, remedy=Option("coder"), **words)


def seldom_finding(data: Annotations, alike: bool) -> Finding:
    """Judge whether labels are frequent enough to estimate the confusions of their classes."""
    code, times = "labels_given_seldom", np.bincount(data.label, minlength=data.n_labels)
    seldom = int((times < SELDOM).sum())
    share = seldom / max(data.n_labels, 1)
    state = "fine" if share <= MOST_LABELS or data.n_labels < MANY_LABELS else "rare"
    rows = data.n_coders * data.n_labels
    coders = phrase(code, "alike" if alike else "rows", rows=rows, labels=len(data))
    words = {"n": seldom, "of": data.n_labels, "least": SELDOM, "coders": coders}
    return finding(code, state, share, MOST_LABELS, median=np.median(times), **words)
