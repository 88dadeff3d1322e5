"""The label scheme: tables of the crowd, confused labels, and what merging does."""

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.summaries.labels import merged_alphas, scheme

PREVALENCE = np.array([0.5, 0.3, 0.2])
GOOD = np.array([[0.9, 0.08, 0.02], [0.1, 0.85, 0.05], [0.05, 0.05, 0.9]])
BAD = np.array([[0.6, 0.35, 0.05], [0.4, 0.55, 0.05], [0.1, 0.2, 0.7]])


@pytest.fixture(scope="module")
def known(make):
    """Two coders whose matrices are known, one with three times as many labels."""
    rng = np.random.default_rng(4)
    truth = rng.choice(3, 200, p=PREVALENCE)
    rows = []
    for i, k in enumerate(truth):
        for j, matrix in enumerate((GOOD, BAD)):
            if j == 0 or i % 3 == 0:
                rows.append((i, j, int(rng.choice(3, p=matrix[k]))))
    item, coder, label = np.array(rows).T
    data = make.coded(item, coder, label, 200, 2, 3)
    return make.exact(data, PREVALENCE, np.stack([GOOD, BAD])), data


def test_recall_and_precision_are_those_of_the_mixed_crowd(known) -> None:
    tree, data = known
    share = np.bincount(data.coder) / len(data)
    joint = PREVALENCE[:, None] * (share[0] * GOOD + share[1] * BAD)
    table = scheme(tree, data)[0].table
    np.testing.assert_allclose(table["recall"], np.diag(joint) / PREVALENCE)
    np.testing.assert_allclose(table["precision"], np.diag(joint) / joint.sum(axis=0))
    np.testing.assert_allclose(table["prevalence"], PREVALENCE)
    np.testing.assert_allclose(table["share"], np.bincount(data.label) / len(data))


def test_the_partner_is_the_label_of_most_confusions(known) -> None:
    tree, data = known
    share = np.bincount(data.coder) / len(data)
    joint = PREVALENCE[:, None] * (share[0] * GOOD + share[1] * BAD)
    mixed = joint + joint.T
    np.fill_diagonal(mixed, 0)
    table = scheme(tree, data)[0].table
    assert table["partner"].tolist() == ["b", "a", data.labels[mixed[2].argmax()]]
    np.testing.assert_allclose(table["partner_share"], mixed.max(axis=1) / mixed.sum(axis=1))
    np.testing.assert_allclose(table["accuracy_gain"], mixed.max(axis=1))


def test_merging_is_what_recoding_the_data_gives(known) -> None:
    tree, data = known
    recoded = data.replace(label=np.array([0, 0, 2])[data.label])
    expected = am.agreement(recoded, "alpha").value
    table = scheme(tree, data)[1].table.set_index(["first", "second"])
    row = table.loc[("a", "b")]
    assert row["alpha_merged"] == pytest.approx(expected)
    assert row["alpha_change"] == pytest.approx(expected - am.agreement(data, "alpha").value)
    assert row["alpha_change_low"] < row["alpha_change"] < row["alpha_change_high"]
    same = scheme(tree, data)[0].table.set_index("label").loc["a"]
    assert same["alpha_change"] == pytest.approx(row["alpha_change"])


def test_draws_of_alpha_are_paired_so_that_merging_nothing_changes_nothing(known) -> None:
    _, data = known
    plain = am.agreement(data, "alpha", draws=1000)
    value, draws = merged_alphas(data, [(0, 0), (1, 1)])[1, 1]
    assert value == plain.value
    np.testing.assert_allclose(draws, plain.draws)


def test_pairs_come_most_confused_first_and_share_all_errors(known) -> None:
    table = scheme(*known)[1].table
    assert len(table) == 3
    assert table["confusions"].is_monotonic_decreasing
    assert table["confusions"].sum() == pytest.approx(1.0)


def test_two_labels_cannot_be_merged(crowd) -> None:
    world, tree = crowd
    found = scheme(tree, world.data)[0]
    assert found.table["alpha_change"].isna().all()
    assert (found.table["recall_low"] < found.table["recall"]).all()
    assert "merging would leave only one" in " ".join(found.notes)


def test_unused_labels_and_other_scales_are_said(make) -> None:
    rows = [(i, j, str(1 + (i + (j == 2)) % 3)) for i in range(12) for j in range(3)]
    data = am.Annotations.from_records(rows, labels=["1", "2", "3", "4"], scale="ordinal")
    tree = make.exact(data, [0.3, 0.3, 0.3, 0.1], make.matrix(0.7, 4))
    found = scheme(tree, data)[0]
    assert "Nobody used 4" in found.notes[0]
    assert "ordinal" in found.notes[1]
    assert isinstance(found.table, pd.DataFrame)


def test_of_many_labels_only_the_largest_merges_are_worked_out(known, monkeypatch) -> None:
    monkeypatch.setattr("annomodels.summaries.labels.MOST_MERGED", 1)
    tree, data = known
    table = scheme(tree, data)[1].table
    assert len(table) == 1
    assert table["alpha_change"].notna().all()
    each = scheme(tree, data)[0].table
    assert each["alpha_change"].isna().tolist() == [False, False, True]
    assert each["accuracy_gain"].notna().all()


def test_labels_that_merge_into_a_constant_have_no_alpha() -> None:
    rows = [(i, j, "xy"[(i + j) % 2]) for i in range(6) for j in range(2)]
    data = am.Annotations.from_records([*rows, ("z", 0, "z")], labels=["x", "y", "z"])
    value, draws = merged_alphas(data, [(0, 1)])[0, 1]
    assert np.isnan(value)
    assert draws is None


def test_spammers_do_not_make_definitions_bad(make) -> None:
    rows = [(i, j, "ab"[i % 2]) for i in range(60) for j in range(4)]
    data = am.Annotations.from_records(rows)
    good, useless = make.matrix(0.95, 2), np.full((2, 2), 0.5)
    tree = make.exact(data, [0.5, 0.5], np.array([good, good, useless, useless]))
    spammers = (False, False, True, True)
    everybody, without = (scheme(tree, data, each)[0] for each in ((), spammers))
    assert everybody.table["recall"].max() < 0.8
    assert without.table["recall"].to_numpy() == pytest.approx(0.95)
    assert without.table["precision"].to_numpy() == pytest.approx(0.95)
    assert "leave out spammers and adversaries: 2, 3." in " ".join(without.notes)
    # of a crowd of nothing else the numbers stay
    alone = scheme(tree, data, (True,) * 4)[0]
    assert alone.table["recall"].equals(everybody.table["recall"])
