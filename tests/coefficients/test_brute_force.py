"""Sums against plain loops and other packages; nodes in the place of many values."""

import itertools
import math
from collections import Counter

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import annomodels as am
from annomodels.coefficients import sums
from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.distances import make_distance
from tests.coefficients.test_breakdown_brute_force import alpha_of, nominal

N_LABELS = 4


def sparse_rows(rng, n_items=25, n_coders=6, repeats=True):
    rows = []
    for item in range(n_items):
        truth = rng.integers(N_LABELS)
        for coder in rng.permutation(n_coders)[: rng.integers(1, 5)]:
            for _ in range(1 + (repeats and rng.random() < 0.2)):
                label = truth if rng.random() < 0.6 else rng.integers(N_LABELS)
                rows.append((item, int(coder), int(label) + 1))
    return rows


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def by_item(rows):
    items = {}
    for item, coder, label in rows:
        items.setdefault(item, []).append((coder, label))
    return items


def first_of(rows):
    seen, out = set(), []
    for row in rows:
        if row[:2] not in seen:
            seen.add(row[:2])
            out.append(row)
    return out


def item_disagreement(labels, d):
    pairs = [(a, b) for n, a in enumerate(labels) for m, b in enumerate(labels) if n != m]
    return mean(d(a[1], b[1]) for a, b in pairs)


WEIGHTS = {
    "krippendorff": len,
    "gwet": lambda labels: 1,
    "pairs": lambda labels: len(labels) * (len(labels) - 1),
}


def observed_disagreement(rows, convention, d):
    items = {i: labels for i, labels in by_item(rows).items() if len(labels) >= 2}
    if convention == "pairwise":
        return mean(mean(d(x, y) for x, y in pairs) for pairs in coder_pairs(rows).values())
    weight = WEIGHTS[convention]
    total = sum(weight(labels) for labels in items.values())
    return sum(weight(ls) * item_disagreement(ls, d) for ls in items.values()) / total


def coder_pairs(rows):
    out = {}
    for labels in by_item(rows).values():
        for (a, x), (b, y) in itertools.combinations(sorted(labels), 2):
            out.setdefault((a, b), []).append((x, y))
    return out


def label_shares(rows, convention):
    """Share of each label over all coders."""
    shares = dict.fromkeys(range(1, N_LABELS + 1), 0.0)
    if convention == "pairwise":
        pairs = coder_pairs(rows)
        for listed in pairs.values():
            for x, y in listed:
                for label in (x, y):
                    shares[label] += 1 / (2 * len(listed) * len(pairs))
        return shares
    for labels in by_item(rows).values():
        r = len(labels)
        if r < 2 and convention != "gwet":
            continue
        weight = {"krippendorff": 1, "gwet": 1 / r, "pairs": r - 1}[convention]
        for _, label in labels:
            shares[label] += weight
    total = sum(shares.values())
    return {label: share / total for label, share in shares.items()}


def between_coders(rows, convention, d):
    """Mean distance of the labels of two different coders, each drawn from the coder's own."""
    if convention == "pairwise":
        return mean(
            mean(d(x, y) for x, _ in pairs for _, y in pairs)
            for pairs in coder_pairs(rows).values()
        )
    own = {}
    for labels in by_item(rows).values():
        r = len(labels)
        if r < 2 and convention != "gwet":
            continue
        for coder, label in labels:
            weight = r - 1 if convention == "pairs" else 1
            own.setdefault(coder, []).append((label, weight))
    top = bottom = 0.0
    for a, b in itertools.combinations(own, 2):
        apart = sum(d(x, y) * v * w for x, v in own[a] for y, w in own[b])
        pairs = sum(v * w for _, v in own[a] for _, w in own[b])
        weight = 1.0 / pairs if convention == "gwet" else 1.0
        top, bottom = top + weight * apart, bottom + weight * pairs
    return top / bottom


def chance_of_two(p, q, d):
    return sum(p[x] * q[y] * d(x, y) for x in p for y in q)


@pytest.mark.parametrize("convention", ["krippendorff", "gwet", "pairs", "pairwise"])
@pytest.mark.parametrize("squared", [False, True], ids=["nominal", "interval"])
def test_conventions(convention, squared, rng):
    def d(x, y):
        return float((x - y) ** 2) if squared else nominal(x, y)

    rows = sparse_rows(rng)
    labels = list(range(1, N_LABELS + 1))
    data = am.Annotations.from_records(rows, labels=labels)
    assert data.repeats
    rows = first_of(rows)
    p = label_shares(rows, convention)
    even = dict.fromkeys(p, 1 / N_LABELS)
    d_o = observed_disagreement(rows, convention, d)
    expected = {
        "s": chance_of_two(even, even, d),
        "k": chance_of_two(p, p, d),
        "multi_kappa": between_coders(rows, convention, d),
        "alpha_kappa": between_coders(rows, convention, d),
    }
    largest = max(d(x, y) for x in labels for y in labels)
    agree = sum(1 - d(x, y) / largest for x in labels for y in labels)
    spread = sum(share * (1 - share) for share in p.values())
    expected["ac2"] = largest * (1 - agree / (N_LABELS * (N_LABELS - 1)) * spread)
    for name, d_e in expected.items():
        found = am.agreement(
            data, name, missing=convention, distance="interval" if squared else "nominal", draws=0
        )
        scale = (lambda x: x) if squared else (lambda x: 1 - x)
        assert found.value == pytest.approx(1 - d_o / d_e, abs=1e-12), name
        assert found.observed == pytest.approx(scale(d_o), abs=1e-12), name
        assert found.expected == pytest.approx(scale(d_e), abs=1e-12), name


@pytest.mark.parametrize("convention", list(WEIGHTS))
def test_conventions_weigh_chance_levels_of_items(convention, rng):
    rows, chance = sparse_rows(rng, repeats=False), rng.random(25)
    data = am.Annotations.from_records(rows)
    found = am.agreement(data, "s_item", missing=convention, chance=chance, draws=0)
    used = {item: labels for item, labels in by_item(rows).items() if len(labels) > 1}
    weights = [WEIGHTS[convention](labels) for labels in used.values()]
    a_o = 1 - observed_disagreement(rows, convention, nominal)
    a_e = np.average(chance[list(used)], weights=weights)
    assert (found.observed, found.expected) == pytest.approx((a_o, a_e))
    assert found.value == pytest.approx((a_o - a_e) / (1 - a_e))


@pytest.mark.parametrize("duplicates", ["first", "last", "keep"])
@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval", "ratio", "gwet_ordinal"])
def test_alpha(duplicates, distance, rng):
    rows = sparse_rows(rng)
    data = am.Annotations.from_records(rows, labels=range(1, N_LABELS + 1))
    if duplicates == "first":
        rows = first_of(rows)
    elif duplicates == "last":
        rows = first_of(rows[::-1])
    pairable = [[x for _, x in ls] for ls in by_item(rows).values() if len(ls) >= 2]
    labels = [x for ls in pairable for x in ls]
    counts, n = Counter(labels), len(labels)

    def d(x, y):
        low, high = min(x, y), max(x, y)
        between = sum(counts[k] for k in range(low, high + 1))
        return {
            "nominal": float(x != y),
            "ordinal": ((between - (counts[x] + counts[y]) / 2) / n) ** 2,
            "interval": float((x - y) ** 2),
            "ratio": ((x - y) / (x + y)) ** 2,
            "gwet_ordinal": (high - low + 1) * (high - low) / (N_LABELS * (N_LABELS - 1)),
        }[distance]

    found = am.agreement(data, "alpha", distance=distance, duplicates=duplicates, draws=0)
    assert found.value == pytest.approx(alpha_of(pairable, d), abs=1e-12)
    assert found.n_labels == n
    assert found.n_items == len(pairable)


@pytest.mark.parametrize("name", ["percent", "s", "k", "multi_kappa", "light_kappa", "alpha"])
def test_listwise_is_the_complete_items(name, rng):
    rows = sparse_rows(rng, n_items=60, n_coders=3, repeats=False)
    complete = [row for row in rows if len(by_item(rows)[row[0]]) == 3]
    assert 10 < len(complete) < len(rows)
    data = am.Annotations.from_records(rows)
    alone = am.Annotations.from_records(complete, labels=data.labels)
    found = am.agreement(data, name, missing="listwise", draws=0)
    assert found.value == pytest.approx(am.agreement(alone, name, draws=0).value, abs=1e-12)
    assert found.n_items == alone.n_items


def test_weights_of_draws_are_repeated_items(rng):
    """An item of weight 3 counts like three such items, for every coefficient and convention."""
    from annomodels.coefficients.catalogue import COEFFICIENTS
    from annomodels.coefficients.rows import Request, prepare
    from annomodels.coefficients.sums import Statistics

    rows = sparse_rows(rng, repeats=False)
    times = rng.integers(0, 4, 25)
    longer = [((item, n), coder, label) for item, coder, label in rows for n in range(times[item])]
    short = am.Annotations.from_records(rows, labels=range(1, N_LABELS + 1))
    long = am.Annotations.from_records(longer, labels=range(1, N_LABELS + 1))
    distance = make_distance("ordinal", short.labels, short.values)
    interval = make_distance("interval", short.labels, short.values)
    requests = [
        Request(entry, interval if entry.numeric else distance, convention)
        for entry in COEFFICIENTS.values()
        if not (entry.two_coders_only or entry.chance)
        for convention in entry.missing
    ]
    weights = np.stack([times[list(short.items)], np.ones(25)]).astype(float)
    weighted = Statistics(prepare(short), requests).evaluate(weights)
    repeated = Statistics(prepare(long), requests).evaluate(np.ones(long.n_items))
    assert len(requests) > 30
    for request, one, other in zip(requests, weighted, repeated, strict=True):
        for x, y in zip(one, other, strict=True):
            assert x.shape == (2,)
            assert x[0] == pytest.approx(float(y), abs=1e-12, nan_ok=True), request


def ratings(rng, n_items, n_coders, missing, values):
    level = rng.normal(size=n_items)
    rows = []
    for i, c in np.ndindex(n_items, n_coders):
        if rng.random() >= missing:
            x = 10 + 3 * level[i] + rng.normal() + 0.5 * c
            rows.append((i, c, float(x if values is None else np.clip(np.round(x), 0, values))))
    return am.Annotations.from_records(rows, scale="interval")


KNOWN = [
    (name, convention)
    for name in ("alpha", "k", "multi_kappa", "alpha_kappa")
    for convention in COEFFICIENTS[name].missing
    if convention != "pairwise"
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "convention"), KNOWN)
@pytest.mark.parametrize("values", [25, None])
def test_nodes_change_nothing(rng, monkeypatch, name, convention, values):
    data = ratings(rng, 30, 4, 0.2, values)
    few = am.agreement(data, name, distance="interval", missing=convention, draws=200)
    monkeypatch.setattr(sums, "MANY_VALUES", 10**9)
    all_values = am.agreement(data, name, distance="interval", missing=convention, draws=200)
    for what in ("value", "observed", "expected", "draws"):
        assert getattr(few, what) == pytest.approx(getattr(all_values, what), rel=1e-9), what


def test_alpha_of_one_item_by_thousands_of_coders_needs_no_pairs(rng):
    n = 4000
    item = np.repeat([0, 1], n)
    x = rng.normal(size=2 * n) + 5.0 * item
    rows = zip(item.tolist(), (np.arange(2 * n) % n).tolist(), x.tolist(), strict=True)
    data = am.Annotations.from_records(rows, scale="interval")
    found = am.agreement(data, "alpha", draws=0)
    within = np.var(x[:n], ddof=1) + np.var(x[n:], ddof=1)
    assert found.value == pytest.approx(1 - within / 2 / np.var(x, ddof=1))


@pytest.mark.slow
def test_a_hundred_thousand_values_need_no_pairs(rng, measured):
    n = 100_000
    x = np.sort(rng.normal(size=n))
    label = rng.permutation(n).astype(np.int32)
    item, coder = np.divmod(np.arange(n), 5)
    names = tuple(range(n // 5)), tuple(range(5)), tuple(x.tolist())
    data = am.Annotations(item, coder, label, *names, scale="interval")
    found, peak = measured(am.agreement, data, "alpha", draws=100)
    assert peak < 200e6
    y = x[label].reshape(-1, 5)
    assert found.value == pytest.approx(1 - y.var(axis=1, ddof=1).mean() / x.var(ddof=1))


def random_matrix(rng, n_items=40, n_coders=5, n_labels=5, missing=0.3):
    truth = rng.integers(1, n_labels + 1, n_items)
    labels = np.where(
        rng.random((n_coders, n_items)) < 0.6,
        truth,
        rng.integers(1, n_labels + 1, (n_coders, n_items)),
    ).astype(float)
    labels[rng.random(labels.shape) < missing] = np.nan
    return labels


def annotations(matrix, n_labels):
    rows = [(i, c, int(x)) for (c, i), x in np.ndenumerate(matrix) if not np.isnan(x)]
    return am.Annotations.from_records(rows, labels=range(1, n_labels + 1))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("n_labels", [2, 5, 30])
def test_krippendorff_package(level, n_labels, rng):
    for _ in range(5):
        matrix = random_matrix(rng, n_labels=n_labels)
        expected = krippendorff.alpha(
            matrix, value_domain=list(range(1, n_labels + 1)), level_of_measurement=level
        )
        found = am.agreement(annotations(matrix, n_labels), "alpha", distance=level, draws=0)
        assert found.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("n_labels", [2, 6])
def test_scikit_learn_cohen_kappa(weights, n_labels, rng):
    for _ in range(5):
        matrix = random_matrix(rng, n_coders=2, n_labels=n_labels, missing=0.0)
        expected = cohen_kappa_score(*matrix, labels=range(1, n_labels + 1), weights=weights)
        name = "weighted_kappa" if weights else "kappa"
        found = am.agreement(annotations(matrix, n_labels), name, distance=weights, draws=0)
        assert found.value == pytest.approx(expected, abs=1e-12)
