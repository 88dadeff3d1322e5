"""The list of contested items: what it promises, and that chance has no say in it."""

import numpy as np
import pytest
from scipy.special import logsumexp

import annomodels as am
from annomodels.summaries import items as place
from annomodels.summaries.items import contested, listed, sides


def found(data):
    """Which items are listed as contested."""
    n = np.diff(data.starts)
    return listed(contested(data), (n >= 8) & (n - data.votes.max(axis=1) >= 2))


@pytest.mark.slow
def test_crowd_has_the_same_list_for_three_seeds_of_items_that_are_hard_or_have_two_readings():
    """A lure draws coders of a hard remark to one wrong label, as a second reading does."""
    crowd, planted = am.datasets.load("crowd"), am.datasets.crowd_truth().ambiguous
    lists = []
    for seed in range(3):
        table = am.fit(crowd, seed=seed, chains=2, draws=60, warmup=60).items().table
        lists.append(set(table["item"][table["state"] == "contested"]))
    assert all(each == lists[0] for each in lists)
    # the made-up texts of both, and of no others, have two clauses
    hard = {item for item, text in zip(crowd.items, crowd.texts, strict=True) if "," in text}
    assert planted < hard
    assert len(hard) < 0.25 * crowd.n_items
    right = len(lists[0] & hard)
    assert right >= 10
    assert right / len(lists[0]) >= 0.6
    p = table.set_index("item")["p_contested"]
    assert p[list(planted)].median() > 3 * p[[*set(p.index) - hard]].median()


def test_sides_are_taken_by_chance_or_by_group(rng):
    own, group = rng.random((200, 12)) < 0.5, rng.random((200, 3)) < 0.5
    for side, least, most in ((own, 0.7, 1.3), (np.repeat(group, 4, axis=1), 20.0, np.inf)):
        rows = [(i, j, int(side[i, j])) for i in range(200) for j in rng.permutation(12)[:8]]
        data = am.Annotations.from_records(rows)
        assert least < sides(data, np.ones(200, bool)) < most


@pytest.mark.calibration
def test_crowds_without_contested_items_have_next_to_no_list():
    """Twelve crowds of which none was chosen; one in twenty may show some items by chance."""
    many = []
    for seed in range(31, 43):
        made = am.simulate(300, 30, 2 + seed % 4, (8, 12, 16)[seed % 3], spammers=0.1, seed=seed)
        many.append(found(made.annotations).sum())
    assert np.count_nonzero(many) <= 2
    assert sum(many) <= 0.01 * 12 * 300


@pytest.mark.calibration
def test_lists_of_other_crowds_hold_what_they_promise():
    right, said, planted = 0, 0, 0
    for seed, labels, n, share in ((41, 2, 16, 0.2), (42, 3, 12, 0.1), (43, 4, 10, 0.25)):
        made = am.simulate(
            400, 30, labels, n, spammers=0.1, ambiguous=share, workload="long-tailed", seed=seed
        )
        at = found(made.annotations)
        right, said = right + (at & made.ambiguous).sum(), said + at.sum()
        planted += made.ambiguous.sum()
    assert right >= 0.3 * planted
    assert 0.15 <= 1 - right / said <= 0.42


def hard_crowd(rng, k, per_item, sd, share):
    """Simulate items of skewed difficulty, whose wrong labels prefer a class."""
    n_items, n_coders = 240, 24
    truth, skill = rng.integers(0, k, n_items), rng.normal(1.4, 0.4, n_coders)
    taken = sd * (rng.gamma(1.0, 1.0, n_items) - 1.0)
    two = rng.random(n_items) < share
    first, second = rng.uniform(0.35, 0.65, n_items), (truth + 1 + rng.integers(0, k - 1)) % k
    step = np.append(np.full(k - 2, 0.3), 1.0 - 0.3 * (k - 2))
    rows = []
    for i in range(n_items):
        for j in rng.permutation(n_coders)[:per_item]:
            read = second[i] if two[i] and rng.random() > first[i] else truth[i]
            right = rng.random() < 1 / (1 + np.exp(taken[i] - skill[j]))
            wrong = (read + 1 + rng.choice(k - 1, p=step)) % k
            rows.append((i, int(j), int(read if right else wrong)))
    data = am.Annotations.from_records(rows, labels=range(k))
    return data, two[[int(name) for name in data.items]]


@pytest.mark.calibration
def test_hard_items_are_not_listed_and_the_promise_is_kept_among_them():
    many = right = said = planted = n_items = 0
    for number, (k, n) in enumerate([(3, 12), (4, 8), (5, 16), (3, 16), (4, 12), (5, 12)]):
        rng = np.random.default_rng([8, number])
        data, _ = hard_crowd(rng, k, n, (0.7, 1.0, 1.4)[number % 3], 0.0)
        many, n_items = many + found(data).sum(), n_items + data.n_items
        data, two = hard_crowd(rng, k, n, 0.7, 0.15)
        at = found(data)
        right, said, planted = right + (at & two).sum(), said + at.sum(), planted + two.sum()
    assert many <= 0.03 * n_items
    assert 1 - right / said <= 0.45
    assert right >= 0.3 * planted


def test_with_two_classes_the_list_is_one_of_hard_or_contested_items():
    made = am.simulate(240, 24, 2, 12, difficulty=1.0, seed=9)
    z = place._readers(made.annotations)
    rows = place._climb(z, 0.1, place._expected_votes(made.annotations)).rows
    assert rows.log_hard is None
    assert found(made.annotations).sum() >= 10


def test_p_is_that_of_enumeration_where_the_coders_are_known():
    made = am.simulate(60, 8, 3, 6, ambiguous=0.2, seed=3)
    data, rng = made.annotations, np.random.default_rng(1)
    z = place._readers(data)
    pairs, off = np.log(np.full((3, 3), 1 / 3)), np.array([[0, 1, 3], [2, 0, 2], [3, 1, 0]]) / 4
    log_class, log_hard = np.log(rng.dirichlet(np.ones(3))), np.log([0.8, 0.2])
    rows = place._Rows(np.log(made.confusion), log_class, pairs, log_hard, off)
    joint = place._joint(z, 0.1, rows)
    p, total = place._states(joint)
    parts = joint.split(p)
    logs = []
    for i in range(data.n_items):
        mine = np.flatnonzero(data.item == i)
        each = [made.confusion[data.coder[n], :, data.label[n]] for n in mine]
        said = data.label[mine]
        one = [np.log(0.9) + rows.log_class[k] + sum(np.log(e[k]) for e in each) for k in range(3)]
        hard = [
            np.log(0.9 * 0.2 * of)
            + rows.log_class[k]
            + sum(np.log((1 - d) * e[k] + d * off[k, y]) for e, y in zip(each, said, strict=True))
            for k in z.likely[i]
            for d, of in zip(place.LEVELS, place.LEVEL_SHARES, strict=True)
        ]
        two = [
            np.log(0.1 / 9) + sum(np.log(u * e[a] + (1 - u) * e[b]) for e in each)
            for a, b in z.pairs[i]
            for u in place.SHARES
        ]
        logs.append(logsumexp([x + np.log(0.8) for x in one] + hard + two))
        assert parts[1][i].ravel() == pytest.approx(np.exp(np.array(hard) - logs[-1]))
        assert parts[2][i].sum() == pytest.approx(np.exp(logsumexp(two) - logs[-1]))
    assert total == pytest.approx(sum(logs))
    assert (np.sort(z.pairs[:, :, 0] + z.pairs[:, :, 1], axis=1) == [1, 2, 3]).all()


def test_bound_is_below_the_evidence_of_one_coder_and_item():
    # one coder, one item, read alike: the evidence is that of a Polya urn
    data = am.Annotations.from_records([("t", "c", "a")], labels=["a", "b"])
    z = place._readers(data)
    fit = place._climb(z, 0.0, place._expected_votes(data))
    assert fit.bound < 0.0
    own = np.exp(fit.rows.log_rows).sum(axis=2)
    assert (own < 1.0).all()  # expected logarithms lie below those of the means


@pytest.mark.slow
def test_names_order_and_parts_of_items_change_nothing(monkeypatch):
    made = am.simulate(120, 12, 3, 8, ambiguous=0.2, spammers=0.1, seed=5)
    data, frame = made.annotations, made.annotations.to_frame()
    p = dict(zip(data.items, contested(data), strict=True))
    shuffled = frame.sample(frac=1.0, random_state=1)
    rows = list(shuffled[["item", "coder", "label"]].itertuples(index=False, name=None))
    other = am.Annotations.from_records(rows, labels=data.labels[::-1])
    for item, value in zip(other.items, contested(other), strict=True):
        assert value == pytest.approx(p[item], abs=2e-3)
    whole = place._readers(data)
    monkeypatch.setattr(place, "MOST_LABELS", 100)
    assert len(whole.blocks()) > 5
    assert whole.blocks()[-1][1] == data.n_items
    # learnt from a tenth of the items: rougher, of the same order
    rough = contested(data)
    assert np.isfinite(rough).all()
    assert len(whole.thinned(data).starts) - 1 == 12


def test_known_truth_and_labels_that_are_missing_are_borne():
    made = am.simulate(60, 10, 3, 6, ambiguous=0.1, gold=10, seed=6)
    p = contested(made.annotations)
    assert ((p >= 0) & (p <= 1)).all()
    none = am.Annotations.from_records([("t", "c", "a")], labels=["a"])
    assert contested(none).tolist() == [0.0]


def test_a_list_is_the_longest_that_keeps_its_share():
    p = np.array([0.95, 0.2, 0.7, 0.6, 0.4])
    assert listed(p, false=0.3).tolist() == [True, False, True, True, False]
    able = np.array([True, True, False, True, True])
    assert listed(p, able, 0.3).tolist() == [True, False, False, True, False]
    assert not listed(np.full(4, 0.1)).any()
