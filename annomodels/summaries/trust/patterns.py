"""Named faults of a crowd, each tested against an alternative, and the consensus they rest on.

Faults: two readings of a guideline, swapped classes, known labels that coders contradict,
duplicate items, falling accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc, betaln, ndtr, pdtrc, softmax

from annomodels.data.annotations import Annotations
from annomodels.data.messages import NAMED
from annomodels.data.names import label_text
from annomodels.limits import CONTESTED_APART, DISSENT, NOTICED
from annomodels.summaries.draws import choices, per_item
from annomodels.summaries.trust.findings import Finding, finding, phrase
from annomodels.types import Floats, Ints

ROUNDS, CELLS, DRAWS = 30, 20_000_000, 40
# pseudo-counts of each row of a coder: from the crowd, uniform, and on the diagonal
CROWD, FLAT, DIAGONAL = 3.0, 0.1, 2.0
# leave-one-coder-out probability from which an item is settled
SETTLED = 0.8


@dataclass(frozen=True, eq=False)
class ConsensusClasses:
    """Classes of items by EM, without known truth and repeats."""

    data: Annotations  # the labels, the first of each coder on an item
    p: Floats  # P(class), shape [item, class]
    others: Floats  # P(class) from the other coders, shape [annotation, class]
    confusion: Floats  # shape [coder, class, label]
    prevalence: Floats  # shape [class]

    def uneven(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw the dispersion of errors over items, observed and with independent errors.

        See :func:`annomodels.summaries.trust.predictive.error_dispersion`.
        """
        data, out = self.data, np.zeros((2, DRAWS))
        for draw in range(DRAWS):
            truth = choices(self.p, rng.random(data.n_items))[data.item]
            rows = self.confusion[data.coder, truth]
            right = rows[np.arange(len(truth)), truth]
            for n, label in enumerate((data.label, choices(rows, rng.random(len(truth))))):
                excess = per_item((label != truth) - (1.0 - right), data.starts)
                out[n, draw] = (excess**2).sum() / max(float((right * (1 - right)).sum()), 1e-9)
        return out[0], out[1]

    @property
    def settled(self) -> Ints:
        """Class settled by the other coders, -1 if none, shape [annotation]."""
        return np.where(self.others.max(axis=1) >= SETTLED, self.others.argmax(axis=1), -1)

    @property
    def counts(self) -> Ints:
        """Counts of labels on items settled by other coders, shape [coder, class, label]."""
        n, k = self.data.n_coders, self.data.n_labels
        rows = np.flatnonzero(self.settled >= 0)
        cell = (self.data.coder[rows].astype(np.int64) * k + self.settled[rows]) * k
        return np.bincount(cell + self.data.label[rows], minlength=n * k * k).reshape(n, k, k)


def consensus(data: Annotations) -> ConsensusClasses | None:
    """Estimate the classes of items; None if the confusion matrices are too large."""
    n, k = data.n_coders, data.n_labels
    if n * k * k > CELLS or k < 2:
        return None
    data = data.without_repeats() if data.repeats else data
    item, coder, label = (np.asarray(x, np.int64) for x in (data.item, data.coder, data.label))
    p: Floats = (data.votes + FLAT) / (data.votes + FLAT).sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        cell = coder * k + label
        by_class = [np.bincount(cell, p[item, c], n * k).reshape(n, k) for c in range(k)]
        counts = np.stack(by_class, axis=1)
        crowd = counts.sum(axis=0) + FLAT + DIAGONAL * np.eye(k)
        confusion = counts + CROWD * crowd / crowd.sum(axis=1, keepdims=True)
        confusion /= confusion.sum(axis=2, keepdims=True)
        prevalence = (p.sum(axis=0) + 1.0) / (len(p) + k)
        each = np.log(confusion[coder, :, label])
        log_p = np.stack([np.bincount(item, each[:, c], len(p)) for c in range(k)], axis=1)
        log_p += np.log(prevalence)
        p = np.asarray(softmax(log_p, axis=1))
    return ConsensusClasses(
        data, p, np.asarray(softmax(log_p[item] - each, axis=1)), confusion, prevalence
    )


# familywise probability of a false alarm, per finding
ALARM = 0.01
# fewest labels of a class per tested coder; fewest coders of a reading, and their proportion
FEWEST, READERS, PART = 4, 3, 0.25
# rates of a reading: lowest with it, highest without it; relative accuracy required on other
# classes; concentration of the rates within a reading
HAVE, LACK, AS_GOOD, LIKE = 0.5, 0.3, 0.75, 40.0
# nats by which two readings must beat a unimodal distribution of coders
BETTER = 1.0
# probability from the coders below which a known label contradicts them; fewest such labels;
# power that calibrates probabilities; largest dispersion of errors relative to independence
AGAINST, FEWEST_AGAINST, FLATTER, EVEN = 0.05, 3, 0.7, 1.1
# labels of each of two items, and excess of pairs over chance for duplicate items
LABELS, TWICE = 3, 3.0
# expected counts below which a pattern is rare, and allowance for errors of coder models
RARE, APART = (0.03, 0.1, 0.3), 1.2
# fewest labels on settled items per half; fall in accuracy; proportion of expected changes
# between adjacent items below which items are sorted by label
HALF, FALL, SORTED = 8, 0.1, 0.5


def patterns(data: Annotations) -> list[Finding]:
    """Test for all faults; return nothing if labels are indistinguishable from chance."""
    found = None if data.by_chance else consensus(data)
    if found is None:
        return []
    gold = [] if data.gold is None else [wrong_gold_finding(data.gold.astype(np.int64), found)]
    return [
        split_finding(found),
        swapped_finding(found),
        *gold,
        twice_finding(found),
        drift_finding(found),
    ]


def split_finding(found: ConsensusClasses) -> Finding:
    """Judge whether coders read a class in two ways, rather than differ by degrees."""
    data, counts = found.data, found.counts
    n = counts.sum(axis=2)
    tests = max(data.n_labels * (data.n_labels - 1), 1)
    splits = []
    for k, other in np.argwhere(~np.eye(data.n_labels, dtype=bool)).tolist():
        who = np.flatnonzero(n[:, k] >= FEWEST)
        if len(who) < 2 * READERS:
            continue
        x, size = counts[who, k, other].astype(float), n[who, k].astype(float)
        order = np.argsort(x / size, kind="stable")
        upper = _upper(x[order], size[order])
        if upper is None:
            continue
        one, two = who[order[:-upper]], who[order[-upper:]]
        rates = [float(counts[g, k, other].sum() / n[g, k].sum()) for g in (one, two)]
        if rates[0] > LACK or rates[1] < HAVE or len(two) < PART * len(who):
            continue
        if not _as_good(counts, k, one, two):
            continue
        gain = _two(x, size, rates, len(two) / len(who)) - _by_degrees(x, size)
        if gain > BETTER + np.log(tests):
            splits.append((gain, k, other, one, two, rates))
    splits.sort(key=lambda each: -each[0])
    if not splits:
        return finding("split_guideline", "fine", 0)
    gain, k, other, one, two, rates = splits[0]
    classes = [label_text(data.labels[c]) for c in (k, other)]
    coders = [[str(data.coders[j]) for j in group] for group in (one, two)]
    words = {"classes": classes, "coders": coders, "rates": rates, "gain": gain}
    return finding("split_guideline", "split", len(splits), **words)


def _upper(x: Floats, n: Floats) -> int | None:
    """Return the size of the group with the higher rate at the most likely split, or None."""
    best, most = None, -np.inf
    for upper in range(READERS, len(x) - READERS + 1):
        fit = 0.0
        for part in (slice(None, -upper), slice(-upper, None)):
            rate = np.clip(x[part].sum() / n[part].sum(), 1e-9, 1 - 1e-9)
            fit += float((x[part] * np.log(rate) + (n - x)[part] * np.log1p(-rate)).sum())
        if fit > most:
            best, most = upper, fit
    return best


def _as_good(counts: Ints, k: int, one: Ints, two: Ints) -> bool:
    """Return True if coders of both groups have similar accuracy on the other classes."""
    rest = np.delete(np.arange(counts.shape[1]), k)
    n = [max(int(counts[g][:, rest].sum()), 1) for g in (one, two)]
    right = [int(counts[g][:, rest, rest].sum()) / m for g, m in zip((one, two), n, strict=True)]
    return bool(right[1] >= AS_GOOD * right[0] and right[1] >= HAVE)


def _two(x: Floats, n: Floats, rates: Sequence[float], upper: float) -> float:
    """Return the log likelihood of two groups of coders, each with nearly one rate."""
    rate = np.clip(np.asarray(rates), 0.01, 0.99)
    parts = [_beta_binomial(x, n, r * LIKE, (1 - r) * LIKE) for r in rate]
    return float(np.logaddexp(np.log(1 - upper) + parts[0], np.log(upper) + parts[1]).sum())


def _by_degrees(x: Floats, n: Floats) -> float:
    """Return the largest log likelihood of rates from a unimodal beta distribution."""
    mean, size = np.meshgrid(np.linspace(0.02, 0.98, 49), np.geomspace(2.0, 200.0, 25))
    a, b = (mean * size).ravel(), ((1 - mean) * size).ravel()
    one = (a >= 1) | (b >= 1)
    return float(_beta_binomial(x[:, None], n[:, None], a[one], b[one]).sum(axis=0).max())


def _beta_binomial(x: Any, n: Any, a: Any, b: Any) -> Floats:
    return np.asarray(betaln(x + a, n - x + b) - betaln(a, b))


def swapped_finding(found: ConsensusClasses) -> Finding:
    code, data, swaps = "classes_swapped_by_coders", found.data, swaps_of(found)
    if not swaps:
        return finding(code, "fine", 0)
    coders = [str(data.coders[each.coder]) for each in swaps]
    classes = [[label_text(data.labels[k]) for k in each.classes] for each in swaps]
    told = [
        phrase(code, "swap", coder=coder, one=a, other=b, turned=each.turned, given=each.given)
        for each, coder, (a, b) in zip(swaps, coders, classes, strict=True)
    ]
    return finding(code, "swaps", len(swaps), told=told, coders=coders, classes=classes)


class Swap(NamedTuple):
    p: float  # probability of so many swapped labels by guessing
    coder: int
    classes: tuple[int, int]
    turned: int
    given: int


def swaps_of(found: ConsensusClasses) -> list[Swap]:
    """Find coders who almost certainly swap two classes, the most certain first."""
    data, counts = found.data, found.counts
    swaps = []
    tests = max(data.n_coders * data.n_labels * (data.n_labels - 1) // 2, 1)
    for k, other in np.argwhere(np.triu(np.ones(counts.shape[1:]), 1)).tolist():
        turned = np.stack([counts[:, k, other], counts[:, other, k]])
        right = np.stack([counts[:, k, k], counts[:, other, other]])
        each = bdtrc(turned - 1, turned + right, 0.5)
        both = bdtrc(turned.sum(axis=0) - 1, (turned + right).sum(axis=0), 0.5)
        sure = np.flatnonzero((each < 0.2).all(axis=0) & (both < ALARM / tests))
        n = turned.sum(axis=0), right.sum(axis=0)
        swaps += [
            Swap(float(both[j]), int(j), (k, other), int(n[0][j]), int(n[0][j] + n[1][j]))
            for j in sure
        ]
    return sorted(swaps)


def wrong_gold_finding(gold: Ints, found: ConsensusClasses) -> Finding:
    """Judge whether coders contradict more known labels than their errors explain."""
    # Not for a crowd with errors concentrated on some items, where the coders may be wrong.
    code, data, p = "known_labels_against_the_coders", found.data, found.p
    # exclude items on which coders split: experts decide items because coders split
    given = np.diff(data.starts)
    apart = given - data.votes.max(axis=1)
    split = (apart >= CONTESTED_APART) & (apart >= DISSENT * given)
    all_known = np.flatnonzero((gold >= 0) & (given >= 2))
    known = all_known[~split[all_known]]
    n, expected = len(_against(gold, p, known)), _expected_against(p[known])
    chance = float(pdtrc(max(n - 1, 0), expected)) if n else 1.0
    fine = n < FEWEST_AGAINST or chance >= ALARM or n > len(known) / 2
    if not fine:
        seen, usual = found.uneven(np.random.default_rng(0))
        fine = float(seen.mean()) > float(np.quantile(usual, 0.95)) * EVEN
    if fine:
        return finding(code, "fine", n, expected, of=len(known))
    against, expected = _against(gold, p, all_known), _expected_against(p[all_known])
    items = [label_text(data.items[i]) for i in against]
    known_as, read_as = (
        [label_text(data.labels[k]) for k in codes]
        for codes in (gold[against], p[against].argmax(axis=1))
    )
    named = [
        phrase(code, "item", item=item, known=a, coders=b)
        for item, a, b in zip(items, known_as, read_as, strict=True)
    ]
    words = {"items": items, "expected": expected, "of": len(all_known), "named": named}
    return finding(code, "against", len(against), expected, **words)


def _against(gold: Ints, p: Floats, known: Ints) -> Ints:
    """Return known items whose label is improbable given the coders, least probable first."""
    size = p[known, gold[known]]
    return known[np.argsort(size, kind="stable")][: int((size < AGAINST).sum())]


def _expected_against(p: Floats) -> float:
    flat = p**FLATTER  # matrices from few labels are overconfident
    flat /= flat.sum(axis=1, keepdims=True)
    return float(np.where(p < AGAINST, flat, 0.0).sum())


def twice_finding(found: ConsensusClasses) -> Finding:
    """Judge whether more items than expected by chance have the same labels by the same coders."""
    # The expected number assumes independent errors, times a factor from pairs of items that differ
    # in one label: shared errors make both more frequent, duplicate items only the first.
    data = found.data
    n = np.diff(data.starts)
    each = np.log(found.confusion[data.coder, :, data.label])
    log = np.log(found.prevalence) + per_item(each, data.starts)
    rows = np.flatnonzero(n[data.item] >= LABELS)
    items, place = np.unique(data.item[rows], return_inverse=True)
    coder, label = data.coder[rows].astype(np.int64), data.label[rows]
    sets, whole = (_hashed(place, code) for code in (coder, coder * data.n_labels + label))
    group, pattern = (np.unique(of, return_inverse=True)[1] for of in (sets[0], whole[0]))
    others = np.bincount(group)[group] - 1
    same = np.bincount(pattern)[pattern] - 1
    mean = others * np.exp(np.logaddexp.reduce(log[items], axis=1))
    # all labels but one, with the coder of that one
    but_one = np.stack([whole[0][place] - whole[1] + sets[1], sets[0][place]], axis=1)
    _, key, count = np.unique(but_one, axis=0, return_inverse=True, return_counts=True)
    near = count[key.ravel()] - 1 - same[place]
    rest = np.exp(np.logaddexp.reduce(log[data.item[rows]] - each[rows], axis=1))
    near_mean = others[place] * rest - mean[place]
    p_least, beyond = 1.0, 0.0
    for bound in RARE:
        rare = mean < bound
        seen, expected = same[rare].sum() / 2.0, mean[rare].sum() / 2.0
        alike = near[rare[place]].sum() / max(float(near_mean[rare[place]].sum()), 1.0)
        expected *= APART * max(alike, 1.0) ** 2
        p = float(pdtrc(max(seen - 1.0, 0.0), expected + 0.3)) if seen else 1.0
        if p < p_least:
            p_least, beyond = p, float(seen - expected)
    if p_least >= ALARM / 10 or beyond < TWICE:
        return finding("items_twice", "fine", 0, TWICE)
    pairs = []
    for at in np.argsort(mean, kind="stable").tolist():
        alike = np.flatnonzero(pattern == pattern[at])
        pairs += [(int(items[at]), int(items[b])) for b in alike[alike > at][:1]]
        if len(pairs) >= beyond:
            break
    names = [[label_text(data.items[i]) for i in pair] for pair in pairs]
    named, share = "; ".join(f"{a} and {b}" for a, b in names[:NAMED]), beyond / data.n_items
    state, words = "few" if share < NOTICED else "many", {"pairs": names, "named": named}
    return finding("items_twice", state, beyond, TWICE, count=beyond, share=share, **words)


def _hashed(place: Ints, code: Ints) -> tuple[Ints, Ints]:
    """Return the hash of each place, the sum of the hashes of its codes, and these hashes."""
    each = np.random.default_rng(0).integers(1, 2**62, int(code.max(initial=0)) + 1)[code]
    total = np.zeros(int(place.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(total, place, each)  # overflow is harmless
    return total, each


def drift_finding(found: ConsensusClasses) -> Finding:
    """Judge whether coders lose more accuracy in their second half than others on these items."""
    # Relative to the coder's accuracy on the class and the others' loss on the item. Items are
    # ordered by name.
    code, data = "falling_accuracy", found.data
    if _sorted_by_labels(data):
        return finding(code, "sorted", 0)
    order = np.argsort(data.coder, kind="stable")
    place = np.empty(len(data), dtype=np.int64)
    before = np.cumsum(data.per_coder) - data.per_coder
    place[order] = np.arange(len(data)) - np.repeat(before, data.per_coder)
    late = place >= data.per_coder[data.coder] / 2
    rows = np.flatnonzero(found.settled >= 0)
    coder, k, item = data.coder[rows], found.settled[rows], data.item[rows]
    right = data.label[rows] == k
    counts = found.counts
    usual = np.diagonal(counts, axis1=1, axis2=2) / np.maximum(counts.sum(axis=2), 1)
    off = right - usual[coder, k]
    n = np.bincount(item, minlength=data.n_items)[item]
    others = (np.bincount(item, off, data.n_items)[item] - off) / np.maximum(n - 1, 1)
    off = off - others
    sizes, means, shares = np.zeros((3, 2, data.n_coders))
    for half, part in enumerate((~late[rows], late[rows])):
        sizes[half] = np.bincount(coder[part], minlength=data.n_coders)
        means[half] = np.bincount(coder[part], off[part], data.n_coders)
        shares[half] = np.bincount(coder[part], right[part], data.n_coders)
    means, shares = means / np.maximum(sizes, 1), shares / np.maximum(sizes, 1)
    variance = np.bincount(coder, off**2, data.n_coders) / np.maximum(sizes.sum(axis=0), 1)
    error = np.sqrt(np.maximum(variance, 1e-4) * (1 / np.maximum(sizes, 1)).sum(axis=0))
    enough = (sizes >= HALF).all(axis=0)
    chance = np.where(enough, ndtr((means[1] - means[0]) / error), 1.0)
    fell = (chance < ALARM) & (shares[0] - shares[1] >= FALL)
    # weaker falls are reported only if one is certain
    fell &= chance[fell].min(initial=1.0) < ALARM / (2 * max(int(enough.sum()), 1))
    who = np.flatnonzero(fell)[np.argsort(chance[fell], kind="stable")]
    if not len(who):
        return finding(code, "fine", 0)
    coders = [str(data.coders[j]) for j in who]
    words = {"before": shares[0, who].tolist(), "after": shares[1, who].tolist()}
    halves = zip(coders, *words.values(), strict=True)
    told = [phrase(code, "coder", coder=name, before=a, after=b) for name, a, b in halves]
    return finding(code, "falls", len(who), told=told, coders=coders, **words)


def _sorted_by_labels(data: Annotations) -> bool:
    """Return True if items with the same labels are adjacent more often than by chance."""
    code = data.coder.astype(np.int64) * data.n_labels + data.label
    pattern, _ = _hashed(data.item.astype(np.int64), code)
    _, n = np.unique(pattern, return_counts=True)
    expected = 1.0 - float(((n / len(pattern)) ** 2).sum())
    return float((np.diff(pattern) != 0).mean()) < SORTED * expected if len(n) > 1 else False
