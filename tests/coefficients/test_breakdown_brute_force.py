"""Every part of a breakdown against its definition, by loops over labels and nothing else."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import annomodels as am

LABELS = (1, 2, 3)
CODERS = ("a", "b", "c", "d")


@st.composite
def sparse(draw):
    """Rows of random data: any label may be missing, at least one item has two."""
    size = len(CODERS) * draw(st.integers(3, 9))
    cells = draw(st.binary(min_size=size, max_size=size))
    rows = [
        (k // len(CODERS), CODERS[k % len(CODERS)], byte % 4)
        for k, byte in enumerate(cells)
        if byte % 4
    ]
    return [*rows, (99, "a", 1), (99, "b", 2), (98, "c", 1), (98, "d", 1), (98, "a", 1)]


def by_item(rows):
    items = {}
    for item, coder, label in rows:
        items.setdefault(item, {})[coder] = label
    return items


def nominal(a, b):
    return float(a != b)


def squared(a, b):
    return float((a - b) ** 2)


def alpha(rows, distance=nominal):
    """Krippendorff 2004, from the list of pairable labels."""
    return alpha_of([list(labels.values()) for labels in by_item(rows).values()], distance)


def alpha_of(groups, distance):
    """Alpha of the labels of each item."""
    groups = [group for group in groups if len(group) > 1]
    values = [label for group in groups for label in group]
    n = len(values)
    if n < 2:
        return math.nan
    d_o = (
        sum(
            distance(x, y) / (len(group) - 1) for group in groups for x, y in permutations(group, 2)
        )
        / n
    )
    d_e = sum(distance(x, y) for x, y in permutations(values, 2)) / (n * (n - 1))
    return 1 - d_o / d_e if d_e else math.nan


def data_of(rows, labels=LABELS):
    return am.Annotations.from_records(rows, labels=labels)


def table_of(rows, by, name="alpha", **options):
    found = am.breakdown(data_of(rows), by, name, draws=0, **options).table
    return found.set_index(list(found.columns[:2]) if by == "pair" else by)


def close(found, expected):
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


DISTANCES = {"nominal": nominal, "interval": squared}


@given(rows=sparse())
def test_a_label_against_the_rest_is_two_labels(rows):
    table = table_of(rows, "label")
    for label in LABELS:
        merged = [(item, coder, int(given == label)) for item, coder, given in rows]
        close(table.loc[label, "value"], alpha(merged))
        pairs = [
            (x, y, 1 / (len(labels) - 1))
            for labels in by_item(rows).values()
            if len(labels) > 1
            for x, y in permutations(labels.values(), 2)
        ]
        own = [(y, w) for x, y, w in pairs if x == label]
        total = sum(w for _, w in own)
        agreeing = sum(w for y, w in own if y == label)
        close(table.loc[label, "specific"], agreeing / total if total else math.nan)


@given(rows=sparse(), name=st.sampled_from(["s", "k", "multi_kappa", "ac1", "irsq", "percent"]))
def test_merging_labels_by_hand_gives_the_same_for_every_coefficient(rows, name):
    table = table_of(rows, "label", name)
    for label in LABELS:
        merged = [(item, coder, int(given == label)) for item, coder, given in rows]
        data = am.Annotations.from_records(merged, labels=[0, 1])
        close(table.loc[label, "value"], am.agreement(data, name, draws=0).value)


@given(rows=sparse(), distance=st.sampled_from(list(DISTANCES)))
def test_an_item_is_its_pairs_and_its_influence_is_leaving_it_out(distance, rows):
    d = DISTANCES[distance]
    table = table_of(rows, "item", distance=distance)
    total = alpha(rows, d)
    share = {}
    for item, labels in by_item(rows).items():
        pairs = list(combinations(labels.values(), 2))
        if not pairs:
            assert math.isnan(table.loc[item, "value"])
            continue
        apart = np.mean([d(x, y) for x, y in pairs])
        close(table.loc[item, "value"], 1 - apart if distance == "nominal" else apart)
        share[item] = apart * len(labels)
        rest = [row for row in rows if row[0] != item]
        close(table.loc[item, "influence"], total - alpha(rest, d))
    everything = sum(share.values())
    for item, part in share.items():
        close(table.loc[item, "share"], part / everything if everything else 0.0)


@pytest.mark.slow
@given(rows=sparse(), distance=st.sampled_from([*DISTANCES, "ordinal"]))
def test_without_a_coder_is_the_data_without_them(distance, rows):
    table = table_of(rows, "coder", distance=distance)
    whole = am.agreement(data_of(rows), "alpha", distance=distance, draws=0).value
    for coder in CODERS:
        rest = [row for row in rows if row[1] != coder]
        if distance == "ordinal":
            expected = am.agreement(data_of(rest), "alpha", distance="ordinal", draws=0).value
        else:
            expected = alpha(rest, DISTANCES[distance])
        if all(len(labels) < 2 for labels in by_item(rest).values()):
            expected = math.nan
        close(table.loc[coder, "without"], expected)
        close(table.loc[coder, "difference"], expected - whole)


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["krippendorff", "gwet", "pairs", "listwise"])
@pytest.mark.parametrize("name", ["s", "k", "multi_kappa", "ac1", "irsq", "percent"])
@settings(max_examples=settings().max_examples // 10)  # for each of 24
@given(rows=sparse())
def test_without_a_coder_for_every_coefficient_and_convention(name, convention, rows):
    table = table_of(rows, "coder", name, missing=convention)
    for coder in CODERS:
        rest = [row for row in rows if row[1] != coder]
        expected = am.agreement(data_of(rest), name, missing=convention, draws=0).value
        close(table.loc[coder, "without"], expected)


@pytest.mark.slow
@given(rows=sparse(), distance=st.sampled_from(list(DISTANCES)))
def test_a_coder_against_the_rest_is_a_table_of_two_sides(distance, rows):
    d = DISTANCES[distance]
    table = table_of(rows, "coder", "k", distance=distance)
    kappa = table_of(rows, "coder", "multi_kappa", distance=distance)
    for coder in CODERS:
        joint = np.zeros((3, 3))
        for labels in by_item(rows).values():
            if coder in labels and len(labels) > 1:
                for other, label in labels.items():
                    if other != coder:
                        joint[labels[coder] - 1, label - 1] += 1 / (len(labels) - 1)
        if not joint.sum():
            assert math.isnan(table.loc[coder, "value"])
            assert table.loc[coder, "n"] == 0
            continue
        joint /= joint.sum()
        apart = np.array([[d(x, y) for y in LABELS] for x in LABELS])
        left, right = joint.sum(1), joint.sum(0)
        observed = (joint * apart).sum()
        for found, (p, q) in ((table, ((left + right) / 2,) * 2), (kappa, (left, right))):
            by_chance = p @ apart @ q
            expected = 1 - observed / by_chance if by_chance > 1e-12 else math.nan
            close(found.loc[coder, "value"], expected)


@given(rows=sparse())
def test_the_observed_agreement_of_the_coders_makes_up_that_of_the_data(rows):
    table = table_of(rows, "coder", "percent")
    paired = table[table["n"] > 0]
    mean = np.average(paired["observed"], weights=paired["n"])
    close(mean, am.agreement(data_of(rows), "percent", draws=0).value)


@pytest.mark.slow
@given(rows=sparse(), name=st.sampled_from(["alpha", "kappa", "s", "ac1", "percent"]))
def test_a_pair_of_coders_is_the_data_of_the_two(name, rows):
    table = table_of(rows, "pair", name)
    for a, b in combinations(CODERS, 2):
        both = [labels for labels in by_item(rows).values() if a in labels and b in labels]
        if not both:
            assert (a, b) not in table.index
            continue
        pair = [(n, coder, labels[coder]) for n, labels in enumerate(both) for coder in (a, b)]
        found = am.agreement(data_of(pair), name, draws=0)
        close(table.loc[(a, b), "value"], found.value)
        close(table.loc[(a, b), "observed"], found.observed)
        assert table.loc[(a, b), "n"] == len(both)


def test_an_ordinal_distance_moves_with_the_labels_of_the_pair(rng):
    rows = [(i, c, int(rng.integers(1, 4))) for i in range(30) for c in "abc" if rng.random() < 0.7]
    table = table_of(rows, "pair", distance="ordinal")
    for a, b in combinations("abc", 2):
        both = {i for i, labels in by_item(rows).items() if a in labels and b in labels}
        pair = [row for row in rows if row[0] in both and row[1] in (a, b)]
        found = am.agreement(data_of(pair), "alpha", distance="ordinal", draws=0)
        close(table.loc[(a, b), "value"], found.value)


def test_with_two_coders_each_of_them_is_the_usual_coefficient(rng):
    rows = [(i, c, int(rng.integers(1, 4))) for i in range(40) for c in "ab"]
    for name in ("alpha", "k", "kappa", "s", "ac1", "irsq"):
        whole = am.agreement(data_of(rows), name, draws=0).value
        found = am.breakdown(data_of(rows), "coder", name, draws=0).table
        close(found["value"].tolist(), [whole, whole])
        assert found["without"].isna().all()


@given(rows=sparse(), cut=st.integers(0, 9))
def test_a_group_is_its_items(rows, cut):
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["item", "coder", "label"])
    frame["page"] = np.where(frame["item"] < cut, "p1", "p2")
    data = am.Annotations.from_frame(frame, group="page", labels=LABELS)
    found = am.breakdown(data, "group", draws=0)
    values = []
    for page in data.groups:
        part = [tuple(row) for row in frame[frame["page"] == page].to_numpy()[:, :3]]
        expected = alpha(part)
        close(found.table.set_index("group").loc[page, "value"], expected)
        values.append(expected)
    overall = found.overall.set_index("what")["value"]
    close(overall["pooled"], alpha(rows))
    close(overall["mean over groups"], np.nanmean(values) if not np.isnan(values).all() else np.nan)
