"""Findings with a cause: each on made-up labels that have the fault, and on those that have not."""

import numpy as np
import pytest

import annomodels as am
from annomodels.data.copying import compared
from annomodels.summaries.draws import thinned
from annomodels.summaries.trust.checks import check
from annomodels.summaries.trust.suspects import (
    families,
    families_finding,
    nobody_finding,
    one_class_finding,
    one_label_finding,
    overturned_finding,
    repeats_finding,
    seldom_finding,
    single_labels_finding,
    two_coders_finding,
)

OPTIONS = {"chains": 2, "draws": 300, "warmup": 150, "seed": 1}


def said(rng, n_items, accuracy, n_labels=2, per_item=None):
    """Labels [item, coder] of coders who err independently, -1 where there is none; the truth."""
    truth = rng.integers(n_labels, size=n_items)
    wrong = (truth[:, None] + rng.integers(1, n_labels, size=(n_items, len(accuracy)))) % n_labels
    labels = np.where(rng.random((n_items, len(accuracy))) < accuracy, truth[:, None], wrong)
    if per_item is not None:
        order = rng.random(labels.shape).argsort(axis=1)
        labels[order >= per_item] = -1
    return labels, truth


def annotations(labels, **options):
    rows = [(i, f"c{j}", int(labels[i, j])) for i, j in np.argwhere(labels >= 0)]
    return am.Annotations.from_records(rows, **options)


def names_of(groups, data):
    return [sorted(data.coders[j] for j in group) for group in groups]


def family(rng, n_items=300):
    """Seven coders; the last three take the same fifth of the items for another class."""
    labels, truth = said(rng, n_items, [0.85] * 7)
    hard = rng.random(n_items) < 0.25
    for j in (4, 5, 6):
        mine = hard & (rng.random(n_items) < 0.9)
        labels[mine, j] = 1 - truth[mine]
    return labels, truth


def test_families_are_named_and_count_for_less(rng):
    labels, truth = family(rng)
    data = annotations(labels)
    found = families(compared(data), np.eye(2)[truth] * 0.98 + 0.01, data)
    assert names_of(found.groups, data) == [["c4", "c5", "c6"]]
    effective = found.effective(7)
    assert 5 < effective < 6.5
    told = families_finding(found, data, 0, counted=True)
    assert (told.state, told.values["effective"]) == ("counted", effective)


def test_coders_who_lean_the_same_way_are_no_family(rng):
    truth = rng.integers(2, size=400)
    rows = np.array([[[0.9, 0.1], [0.1, 0.9]]] * 4 + [[[0.95, 0.05], [0.5, 0.5]]] * 4)
    labels = (rng.random((400, 8)) > rows[np.arange(8)[None], truth[:, None], 0]).astype(int)
    data = annotations(labels)
    assert families(compared(data), np.eye(2)[truth] * 0.98 + 0.01, data).groups == []


@pytest.mark.slow
def test_independent_coders_are_no_family():
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        accuracy = rng.beta(8, 2, rng.integers(4, 15))
        labels, truth = said(rng, 200, accuracy, int(rng.integers(2, 5)))
        data = annotations(labels)
        p = np.eye(data.n_labels)[truth] * 0.96 + 0.04 / data.n_labels
        found += bool(families(compared(data), p, data).groups)
    assert found <= 1


def test_rows_that_stand_twice_are_told_from_repeats(rng):
    labels, _ = said(rng, 60, [0.8] * 4)
    rows = [(i, j, int(labels[i, j])) for i in range(60) for j in range(4)]
    twice = repeats_finding(am.Annotations.from_records(rows + rows))
    assert (twice.severity, twice.state, twice.values["n"]) == (1, "twice", 240)
    again = [(i, j, int(rng.integers(2))) for i, j, _ in rows[::3]]
    repeats = repeats_finding(am.Annotations.from_records(rows + again))
    assert (repeats.severity, repeats.state, repeats.values["n"]) == (1, "again", 80)
    assert repeats_finding(am.Annotations.from_records(rows + rows[:2])).severity == 0


def test_functions_that_abstain_are_named(rng):
    labels, _ = said(rng, 300, [0.9] * 6)
    for j in range(6):
        labels[labels[:, j] != j % 2, j] = -1
    finding = one_label_finding(annotations(labels))
    assert (finding.severity, finding.state) == (2, "abstain")
    assert str(finding.remedy) in finding.sentence
    crowd, _ = said(rng, 300, [0.9] * 12)
    assert one_label_finding(annotations(crowd)).severity == 0
    crowd[:, :2] = 1
    spam = one_label_finding(annotations(crowd))
    assert (spam.severity, spam.values["coders"]) == (1, ["c0 (1)", "c1 (1)"])


def single(labels):
    """Give the same labels, each by a coder of its own."""
    return am.Annotations.from_records(
        (i, f"c{i}-{j}", int(labels[i, j])) for i, j in np.argwhere(labels >= 0)
    )


def test_coders_of_a_single_label_are_alike(rng):
    labels, _ = said(rng, 100, [0.8] * 5)
    found = single_labels_finding(single(labels))
    assert (found.severity, found.value, found.values["n"]) == (1, 1.0, 500)
    assert str(found.remedy) == "coder="
    usual = annotations(labels)
    assert single_labels_finding(usual).severity == 0
    rows = [(i, j, int(labels[i, j])) for i in range(100) for j in range(5)]
    passing = [(i, f"once{i}", 0) for i in range(100)]
    assert single_labels_finding(am.Annotations.from_records(rows + passing)).severity == 0


def test_labels_that_were_hardly_given_are_counted(rng):
    labels, _ = said(rng, 200, [0.5] * 5, 300)
    data = annotations(labels)
    found = seldom_finding(data, alike=False)
    assert (found.severity, found.values["n"]) == (1, (np.bincount(data.label) < 20).sum())
    assert f"{5 * data.n_labels:,} rows" in found.sentence
    assert seldom_finding(data, alike=True).values["coders"] != found.values["coders"]
    for few in (said(rng, 6, [0.8] * 3, 4), said(rng, 800, [0.8] * 5, 30)):
        assert seldom_finding(annotations(few[0]), alike=False).severity == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_crowd_of_which_each_coder_gave_one_label_is_checked(rng):
    labels, _ = said(rng, 120, [0.8] * 5)
    fit = am.fit(single(labels), "pooled", chains=2, draws=50, warmup=30, seed=1)
    found = fit.check()
    assert found.verdict == "needs review"
    assert "single_labels" in {each.code for each in found.findings if each.severity}


def test_labels_that_are_all_equal_tell_nothing():
    rows = [(i, j, "yes") for i in range(8) for j in range(3)]
    found = one_label_finding(am.Annotations.from_records(rows, labels=["no", "yes"]))
    assert (found.severity, found.state, found.values["label"]) == (2, "all", "yes")


def test_two_coders_cannot_tell_who_is_right(rng):
    labels, truth = said(rng, 120, [0.8, 0.8], 3)
    finding = two_coders_finding(annotations(labels))
    assert (finding.severity, finding.values) == (1, {"classes": 3, "enough": 30})
    gold = {i: int(truth[i]) for i in range(40)}
    assert two_coders_finding(annotations(labels, truth=gold)).severity == 0
    labels, _ = said(rng, 120, [0.8] * 3, 3)
    assert two_coders_finding(annotations(labels)).severity == 0


def test_labels_that_nobody_gave_are_listed(rng):
    labels, _ = said(rng, 30, [0.8] * 3, 3)
    data = annotations(labels)
    p = (data.votes + 0.1) / (data.votes + 0.1).sum(axis=1, keepdims=True)
    assert nobody_finding(p, data).severity == 0
    empty = np.flatnonzero(data.votes.min(axis=1) == 0)[:2]
    p[empty] = np.eye(3)[data.votes[empty].argmin(axis=1)]
    finding = nobody_finding(p, data)
    assert finding.value == 2
    assert all(str(data.items[i]) in finding.sentence for i in empty)


def test_majorities_overturned_by_coders_to_be_wary_of(make):
    # c0 is much believed, and against three others on the first item
    rows = np.array([make.matrix(0.99, 2), *[make.matrix(0.6, 2)] * 3])
    labels = np.array([[1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
    data = annotations(labels)
    tree = make.exact(data, [0.5, 0.5], rows)
    p = tree["truth"]["p_truth"].values
    assert p.argmax(axis=1).tolist() == [1, 1, 0]
    draws = thinned(tree, data, 20)
    wary = overturned_finding(draws, p, data, np.array([data.coders.index("c0")]))
    assert (wary.severity, wary.value, wary.values["of"]) == (1, 1, 1)
    others = overturned_finding(draws, p, data, np.array([data.coders.index("c1")]))
    assert others.severity == 0


@pytest.mark.slow
def test_the_check_never_trusts_copies_or_duplicates(rng, make):
    labels, _ = said(rng, 200, [0.7] * 5)
    labels[:, 1] = labels[:, 2] = labels[:, 0]
    data = annotations(labels)
    result = check(make.gibbs(data, chains=4, draws=400, warmup=100), data)
    assert result.verdict == "needs review"
    [copies] = [each for each in result.findings if each.code == "copies"]
    assert (copies.severity, copies.values["effective"]) == (1, 3)
    labels, _ = said(rng, 100, [0.8] * 5)
    rows = [(i, j, int(labels[i, j])) for i in range(100) for j in range(5)]
    data = am.Annotations.from_records(rows + rows)
    result = check(make.gibbs(data, chains=4, draws=400, warmup=100), data)
    assert result.verdict == "needs review"
    assert ("repeats", "twice") in {(each.code, each.state) for each in result.findings}


@pytest.mark.slow
def test_clean_labels_have_none_of_these(rng):
    for n_labels in (2, 3):
        labels, _ = said(rng, 200, [0.9, 0.85, 0.8, 0.8, 0.75, 0.7], n_labels, 4)
        found = am.fit(annotations(labels), "hierarchical", **OPTIONS).check().table
        names = ("copies", "families of coders", "repeats", "coders of one label", "two coders")
        assert found[found["name"].isin([*names, "overturned by flagged coders"])]["ok"].all()


def test_known_truth_of_one_class_is_named(rng):
    labels, truth = said(rng, 60, [0.8] * 4)
    one = annotations(labels, truth={int(i): 1 for i in np.flatnonzero(truth == 1)[:8]})
    finding = one_class_finding(one.gold.astype(int), one)
    assert (finding.severity, finding.values) == (1, {"n": 8, "label": "1"})
    both = annotations(labels, truth={i: int(truth[i]) for i in range(12)})
    assert one_class_finding(both.gold, both).severity == 0
