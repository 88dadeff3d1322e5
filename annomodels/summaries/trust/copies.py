"""Coders who are not so many opinions: copies of one another, families whose errors agree.

Everything is about pairs of coders, of the busiest ones where there are many.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.summaries.trust.findings import CHECK, Finding
from annomodels.types import Bools, Floats, Ints

# coders that are compared, the busiest first
MOST, CELLS = 400, 40_000_000
# common items from which a pair is looked at; share of them on which copies may differ
SHARED, DIFFERENT = 20, 0.02
# errors in common from which two coders are looked at; others who are asked about a pair, and by
# how many standard deviations they must agree against it beyond chance
TOGETHER, OTHERS, OFTENER = 5, 8, 1.64
# share of the disagreement by chance from which others are not believed to be that much worse
NEAR_CHANCE = 2 / 3
# a pair differs this many times less often than either differs from others
TIMES = 4.0
# probability of a false alarm in data without such a pair
ALARM = 0.01
# by how much errors of a family correlate beyond those of all pairs, and its fewest members
BEYOND, FEWEST_PAIRED = 0.15, 30
# one label in so many of a coder's makes them one who gives one label
ONE_LABEL = 0.98
NAMED = 5


@dataclass(frozen=True, eq=False)
class Pairs:
    """What pairs of coders say of their common items.

    Parameters
    ----------
    coder
        Codes of the coders that are compared, the busiest first, shape [place].
    item
        Codes of the items that they labelled, shape [item].
    said
        Their labels, -1 where they gave none; the first of several, shape [place, item].
    shared, differ
        Common items of each pair, and those with different labels, shape [place, place].
    plain
        Whether a coder gives one label nearly always, shape [place].
    """

    coder: Ints
    item: Ints
    said: Ints
    shared: Floats
    differ: Floats
    plain: Bools


def compared(data: Annotations, most: int = MOST) -> Pairs:
    """Compare the busiest coders in pairs.

    Examples
    --------
    >>> rows = [(i, j, "ab"[i % 2]) for i in range(6) for j in range(3)]
    >>> compared(Annotations.from_records(rows)).shared[0].tolist()
    [0.0, 6.0, 6.0]
    """
    busy = np.argsort(-data.per_coder, kind="stable")[: max(2, min(most, CELLS // data.n_items))]
    place = np.full(data.n_coders, -1)
    place[busy] = np.arange(len(busy))
    rows = np.flatnonzero(place[data.coder] >= 0)[::-1]
    items, item = np.unique(data.item[rows], return_inverse=True)
    said: Ints = np.full((len(busy), len(items)), -1)
    # from the last to the first, so that the first of several labels stays
    said[place[data.coder[rows]], item] = data.label[rows]
    given = (said >= 0).astype(np.float32)
    shared, agree = given @ given.T, np.zeros((len(busy), len(busy)), dtype=np.float32)
    top = np.zeros(len(busy))
    for k in range(data.n_labels):
        hot = (said == k).astype(np.float32)
        if hot.any():
            agree += hot @ hot.T
            top = np.maximum(top, hot.sum(axis=1))
    plain = top >= ONE_LABEL * np.maximum(given.sum(axis=1), 1)
    np.fill_diagonal(shared, 0)
    np.fill_diagonal(agree, 0)
    return Pairs(
        busy,
        items.astype(np.int64),
        said,
        shared.astype(float),
        (shared - agree).astype(float),
        plain,
    )


def copies(pairs: Pairs) -> list[Ints]:
    r"""Find groups of coders who give the same labels, also where most others give another.

    A pair that labels independently given the truth differs at least as often as the better of
    the two errs. So a pair that hardly ever differs is either nearly without error, or not
    independent; where most of the others contradict both of them again and again, the latter.

    Returns
    -------
    list of ndarray
        Codes of the coders of each group, the busiest first.
    """
    from scipy.special import betainc

    shared, differ = pairs.shared, pairs.differ
    close = (shared >= SHARED) & (differ <= DIFFERENT * shared)
    close &= ~(pairs.plain[:, None] | pairs.plain)
    if not close.any():
        return []
    # how often each coder differs from those who are not close to them
    far = (shared > 0) & ~((shared >= SHARED) & (differ <= DIFFERENT * shared))
    of_far = np.maximum((shared * far).sum(axis=1), 1)
    rate = (differ * far).sum(axis=1) / of_far
    one, two = np.nonzero(np.triu(close, 1))
    tests = max(int((np.triu(shared, 1) >= SHARED).sum()), 1)
    expected = np.minimum(rate[one], rate[two]) / TIMES
    share = np.bincount(pairs.said[pairs.said >= 0])
    by_chance = 1.0 - float(((share / share.sum()) ** 2).sum())
    n, k = shared[one, two], differ[one, two]
    # of so few different labels or fewer: the binomial distribution
    chance = betainc(n - k, k + 1.0, 1.0 - expected)
    joined = np.zeros(shared.shape, dtype=bool)
    for a, b in zip(*(part[chance < ALARM / tests] for part in (one, two)), strict=True):
        others = min(rate[a], rate[b])
        if others >= NEAR_CHANCE * by_chance or _not_just_better(pairs, int(a), int(b), far):
            joined[a, b] = joined[b, a] = True
    return [pairs.coder[group] for group in _groups(joined)]


def _not_just_better(pairs: Pairs, a: int, b: int, far: Bools) -> bool:
    """Whether two coders who agree are no better than the others, but the same.

    Were they always right, the others would err independently given what the two say. Others who
    agree against them oftener than that know something which the two do not.
    """
    said, labels = pairs.said, int(pairs.said.max()) + 1
    items = np.flatnonzero((said[a] >= 0) & (said[a] == said[b]))
    truth = said[a, items]
    others = np.flatnonzero((far[a] | far[b]) & ~pairs.plain)
    shared = (said[np.ix_(others, items)] >= 0).sum(axis=1)
    theirs = said[np.ix_(others[np.argsort(-shared, kind="stable")[:OTHERS]], items)]
    seen = expected = variance = 0.0
    for one, two in combinations(theirs, 2):
        both = (one >= 0) & (two >= 0)
        size = np.bincount(truth[both], minlength=labels)[:, None]
        each = [_table(truth[both], of[both], labels) / np.maximum(size, 1) for of in (one, two)]
        wrong = (one == two) & both & (one != truth)
        seen += float(wrong.sum())
        for rate in each:
            np.fill_diagonal(rate, 0.0)
        expected += float((size * each[0] * each[1]).sum())
        spread = [rate * (1.0 - rate) for rate in each]
        variance += float((size * spread[0] * spread[1]).sum())
    return seen >= TOGETHER and seen - expected > OFTENER * np.sqrt(variance)


def _table(truth: Ints, label: Ints, labels: int) -> Floats:
    """Count labels by what is taken for the truth, [truth, label]."""
    flat = np.bincount(truth * labels + label, minlength=labels * labels)
    return flat.reshape(labels, labels).astype(float)


def _groups(joined: Bools) -> list[Ints]:
    """Give sets of places that are joined, directly or through others."""
    from scipy.sparse.csgraph import connected_components

    some = np.flatnonzero(joined.any(axis=1))
    if not len(some):
        return []
    _, part = connected_components(joined[np.ix_(some, some)], directed=False)
    return [some[part == n] for n in range(part.max() + 1)]


def copies_finding(groups: list[Ints], pairs: Pairs, data: Annotations) -> Finding:
    """Judge whether coders copy each other."""
    extra = sum(len(group) - 1 for group in groups)
    effective = data.n_coders - extra
    if not groups:
        text = "No coders give the same labels where most others give other ones."
        return Finding("copies", 0, 0, text)
    place = {int(j): n for n, j in enumerate(pairs.coder)}
    told = []
    for group in groups[:NAMED]:
        a, b = place[int(group[0])], place[int(group[1])]
        n, apart = pairs.shared[a, b], pairs.differ[a, b]
        names = [str(data.coders[j]) for j in group[:NAMED]]
        more = f" and {len(group) - NAMED:,} more" if len(group) > NAMED else ""
        said = "the same label to all" if not apart else f"different labels to {apart:,.0f} of"
        told.append(f"{', '.join(names)}{more} ({names[0]} and {names[1]} gave {said} {n:,.0f})")
    more = f"; and {len(groups) - NAMED:,} more groups" if len(groups) > NAMED else ""
    text = (
        f"Copies: {'; '.join(told)}{more} agree where most other coders say something else, as "
        "coders do who copy each other or are one source under several names. The model takes "
        f"them for independent, and P(truth) is then too sure. The effective number of coders is "
        f"{effective:,}, not {data.n_coders:,}: keep one of each group."
    )
    return Finding("copies", extra, 0, text, CHECK)


# -- families -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Families:
    """Groups of coders whose errors agree.

    Parameters
    ----------
    groups
        Codes of the coders of each group.
    inside
        Mean correlation of errors of the pairs of each group.
    typical
        Median correlation of errors of all pairs.
    """

    groups: list[Ints]
    inside: list[float]
    typical: float

    def effective(self, n_coders: int) -> float:
        """Give the number of independent coders that tell as much of the truth as all of them.

        A group of m counts as m / (1 + (m - 1) rho), with rho by how much its errors correlate
        beyond those of all pairs.
        """
        out = float(n_coders)
        for group, inside in zip(self.groups, self.inside, strict=True):
            m, rho = len(group), max(inside - max(self.typical, 0.0), 0.0)
            out -= m - m / (1.0 + (m - 1) * rho)
        return out


def families(pairs: Pairs, p_truth: Floats, data: Annotations) -> Families:
    r"""Find groups of coders whose errors agree with each other more than with those of others.

    The error of a label is 1 - P(truth is this label), less the mean error of the coder on items
    of this truth, so that coders who prefer the same label are not alike by that. Groups are those
    of average linkage of the correlations of these, on items that two coders share.
    """
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
    # some items are harder than others, so that all coders err together
    enough = upper & (expected >= 1.0)
    more = float(np.median(both[enough] / expected[enough])) if enough.any() else 1.0
    expected = expected * max(1.0, more)
    # that of so many or more; of none it is 1
    chance = np.where(both < 1, 1.0, pdtrc(np.maximum(np.floor(both) - 1, 0), expected))
    sure = (chance < ALARM / upper.sum()) & (both >= TOGETHER)
    for cluster in np.unique(part):
        group = np.flatnonzero(part == cluster)
        inner = np.triu(known, 1)[np.ix_(group, group)]
        if len(group) < 2 or not inner.any():
            continue
        values = correlation[np.ix_(group, group)][inner]
        # pairs of a group share coders and items, so the best of them counts, not their number
        best = sure[np.ix_(group, group)][inner]
        if not best.any() or values.mean() < typical + BEYOND:
            continue
        found.groups.append(pairs.coder[group])
        found.inside.append(float(values.mean()))
    return found


def error_correlations(pairs: Pairs, p_truth: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Correlate errors of pairs of coders, [place, place].

    Returns
    -------
    tuple
        Correlations, common items, common errors, and those that are expected of coders who err
        independently given the truth.
    """
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


def families_finding(found: Families, data: Annotations, n_copies: int) -> Finding:
    """Judge whether groups of coders share their errors; `n_copies` coders are copies."""
    effective = found.effective(data.n_coders) - n_copies
    if not found.groups:
        text = "No group of coders shares its errors more than all coders do."
        return Finding("families of coders", 0, 0, text)
    order = np.argsort([-len(group) for group in found.groups], kind="stable")
    told = []
    for n in order[:NAMED].tolist():
        group = found.groups[n]
        names = ", ".join(str(data.coders[j]) for j in group[:NAMED])
        more = f" and {len(group) - NAMED:,} more" if len(group) > NAMED else ""
        told.append(f"{names}{more} (correlation {found.inside[n]:.2f})")
    more = f"; and {len(order) - NAMED:,} more" if len(order) > NAMED else ""
    text = (
        f"Families of coders: errors agree inside {'; '.join(told)}{more}, where they correlate "
        f"by {found.typical:.2f} between coders in general. Such coders are fewer opinions than "
        "the model counts, and P(truth) is then too sure. The effective number of coders is "
        f"{effective:,.1f}, not {data.n_coders:,}."
    )
    return Finding("families of coders", len(found.groups), 0, text, CHECK)
