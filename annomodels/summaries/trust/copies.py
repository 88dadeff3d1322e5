"""Coders who are not independent: copies, and families with correlated errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.copying import ALARM, Copies, Pairs
from annomodels.summaries.trust.findings import Finding, finding, phrase
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
    from scipy.special import pdtrc

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
