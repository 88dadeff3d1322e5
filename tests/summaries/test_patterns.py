"""Faults of a crowd that have a name: found where they are, with whom, and nowhere else."""

import numpy as np
import pytest

import annomodels as am
from annomodels.summaries.items import to_decide
from annomodels.summaries.trust.findings import REVIEW, Finding
from annomodels.summaries.trust.patterns import consensus, patterns
from benchmarks import crowds

pytestmark = pytest.mark.slow

SETS = 12


def made(make, seed, gold=None, **options):
    """Give a crowd and its truth; with `gold`, 40 items are known, so many of them wrong."""
    rng = np.random.default_rng(seed)
    rows, truth = make(rng, **options)
    known = None if gold is None else crowds.spoiled(rng, truth, 40, gold)
    return am.Annotations.from_records(rows, truth=known), truth


def found(data):
    """Give findings that need a look, by code."""
    return {each.code: each for each in patterns(data) if each.severity == REVIEW}


@pytest.mark.parametrize(
    "options",
    [{}, {"per_item": None}, {"k": 4, "size": 300, "n_coders": 10}, {"size": 400, "n_coders": 14}],
    ids=str,
)
def test_a_guideline_that_is_read_in_two_ways_is_named_with_who_reads_it_how(options):
    named = 0
    for seed in range(SETS):
        data, _ = made(crowds.split_guideline, [81, seed], **options)
        seen = found(data).get("split_guideline")
        if seen is None:
            continue
        named += 1
        half = data.n_coders // 2
        assert seen.values["classes"] == ["L2", "L1"]
        others, readers = map(set, seen.values["coders"])
        assert readers == {crowds.coder_name(j) for j in range(half)}
        assert others == {crowds.coder_name(j) for j in range(half, data.n_coders)}
    assert named >= 11


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"k": 5, "size": 400}, {"n_coders": 5}], ids=str)
def test_a_coder_who_swaps_two_classes_is_named(options):
    seen = [found(made(crowds.swapped, [82, s], **options)[0]) for s in range(SETS)]
    named = [each["classes_swapped_by_coders"] for each in seen if len(each)]
    assert len(named) >= 11
    assert all(each.values["coders"] == ["c000"] for each in named)
    assert all(each.values["classes"] == [["L0", "L1"]] for each in named)


@pytest.mark.parametrize(
    ("options", "least"),
    [({}, 11), ({"per_item": None, "n_coders": 6}, 11), ({"k": 2}, 7)],  # two classes say less
    ids=str,
)
def test_wrong_known_labels_are_listed(options, least):
    code, named, right = "known_labels_against_the_coders", 0, 0.0
    for seed in range(SETS):
        data, truth = made(crowds.clean, [83, seed], gold=8, **options)
        known = {item: data.labels[k] for item, k in zip(data.items, data.gold, strict=True)}
        wrong = {item for item, k in zip(data.items, data.gold, strict=True) if k >= 0}
        wrong = {item for item in wrong if known[item] != truth[item]}
        seen = found(data).get(code)
        named += seen is not None
        right += 0 if seen is None else len(wrong & set(seen.values["items"])) / len(wrong)
        assert code not in found(made(crowds.clean, [83, seed], gold=0, **options)[0])
    assert named >= least
    assert right / named > 0.7


@pytest.mark.parametrize("options", [{}, {"n_coders": 20, "size": 300}, {"same": 0.95}], ids=str)
def test_items_that_come_twice_are_found(options):
    named = []
    for seed in range(SETS):
        data, _ = made(crowds.items_twice, [84, seed], **options)
        seen = found(data).get("items_twice")
        if seen is not None:
            new = crowds.item_name(options.get("size", 200))
            named.append(np.mean([max(pair) >= new for pair in seen.values["pairs"]]))
    assert len(named) >= 11
    assert np.mean(named) > 0.8  # of the pairs that are listed are such


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"per_item": None}, {"n_coders": 10}], ids=str)
def test_coders_who_get_worse_are_named(options):
    seen = [found(made(crowds.drift, [85, s], **options)[0]) for s in range(SETS)]
    named = [each["falling_accuracy"] for each in seen if "falling_accuracy" in each]
    assert len(named) >= 10
    wrong = [set(each.values["coders"]) - {"c000", "c001", "c002"} for each in named]
    assert sum(map(bool, wrong)) <= 1


def test_items_that_get_harder_are_no_decline_of_coders():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 400)
    parts = [
        crowds.labeled(rng, truth[some], [crowds.one_coin(a, 3)] * 8, 5)
        for some, a in ((slice(0, 200), 0.9), (slice(200, 400), 0.55))
    ]
    rows = crowds.records(np.concatenate(parts))
    assert "falling_accuracy" not in found(am.Annotations.from_records(rows))


def test_items_in_the_order_of_their_labels_show_no_decline():
    caries = am.datasets.load("caries")
    assert "falling_accuracy" not in found(caries)
    shuffled = np.random.default_rng(1).permutation(caries.n_items)
    codes = zip(
        shuffled[caries.item].tolist(), caries.coder.tolist(), caries.label.tolist(), strict=True
    )
    rows = [(f"{i:05d}", coder, label) for i, coder, label in codes]
    assert "falling_accuracy" not in found(am.Annotations.from_records(rows))


CLEAN = [
    *(("clean", options) for options in crowds.CLEAN.values()),
    *((name, {}) for name in ("rare", "spammers", "two_coders", "sparse", "near_chance")),
    *((name, {}) for name in ("difficult", "shared_bias", "cliques", "noise")),
]


@pytest.mark.parametrize(("name", "options"), CLEAN, ids=str)
def test_nothing_is_said_of_other_crowds(name, options):
    said = [found(made(getattr(crowds, name), [86, s], **options)[0]) for s in range(8)]
    assert sum(map(bool, said)) == 0


def test_readings_that_differ_by_degrees_are_no_split():
    said = 0
    for seed in range(20):
        rng = np.random.default_rng([87, seed])
        rows = np.stack([crowds.one_coin(0.85, 3)] * 10)
        u = rng.beta(1.5, 1.5, 10)
        rows[:, 2, 1:] = 0.93 * np.stack([u, 1 - u], axis=1)
        y = crowds.labeled(rng, rng.integers(0, 3, 300), rows, 5)
        data = am.Annotations.from_records(crowds.records(y))
        said += "split_guideline" in found(data)
    assert said <= 2


def test_the_consensus_is_that_of_the_labels_of_others():
    data, truth = made(crowds.clean, 3, k=3, n_coders=6, per_item=None)
    seen = consensus(data)
    right = np.array([data.labels.index(truth[item]) for item in data.items])
    assert (seen.p.argmax(axis=1) == right).mean() > 0.95
    # without a label, it is what the same matrices say about the other labels of the item
    i = 7
    mine = slice(data.starts[i], data.starts[i + 1])
    each = np.log(seen.confusion[data.coder[mine], :, data.label[mine]])
    log = np.log(seen.prevalence) + each.sum(axis=0) - each
    p = np.exp(log) / np.exp(log).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(seen.others[mine], p, atol=1e-6)


def test_a_finding_is_known_by_its_code():
    assert Finding("items twice", 3, 0, "").code == "items_twice"
    assert Finding("x", 3, 0, "", code="items_twice").code == "items_twice"


def test_decided_items_that_were_contested_say_nothing_against_known_labels() -> None:
    data = am.datasets.load("crowd")
    contested = np.flatnonzero(to_decide(data)[1])
    rarest = np.where(data.votes > 0, data.votes, 99).argmin(axis=1)
    decided = {data.items[i]: data.labels[rarest[i]] for i in contested}
    assert len(decided) > 10
    found = {each.name: each for each in patterns(data.with_truth(decided))}
    assert found["known labels against the coders"].value == 0
