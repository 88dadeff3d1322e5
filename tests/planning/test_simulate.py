"""Made-up data are what was asked for."""

from itertools import pairwise

import numpy as np
import pytest

import annomodels as am
from annomodels.planning.simulate import KINDS, assign


def said(made):
    """Share of each label of each coder for each truth, from the labels, [coder, truth, label]."""
    data = made.annotations
    n_labels = data.n_labels
    flat = (data.coder * n_labels + made.truth[data.item]) * n_labels + data.label
    counts = np.bincount(flat, minlength=data.n_coders * n_labels**2)
    counts = counts.reshape(data.n_coders, n_labels, n_labels)
    return counts / counts.sum(axis=2, keepdims=True)


def test_labels_follow_the_confusion_matrices_and_truths_the_prevalence():
    made = am.simulate(
        6000, 5, 3, 5, prevalence=[0.2, 0.3, 0.5], accuracy=am.priors.Diagonal(6, 0.7), seed=1
    )
    np.testing.assert_allclose(said(made), made.confusion, atol=0.045)
    share = np.bincount(made.truth, minlength=3) / 6000
    np.testing.assert_allclose(share, made.prevalence, atol=0.025)
    assert made.annotations.is_complete


def test_accuracies_come_from_their_distribution():
    made = am.simulate(50, 4000, 2, 1, accuracy=am.priors.Beta(6, 2), seed=2)
    right = made.confusion[:, 0, 0]
    assert right.mean() == pytest.approx(0.75, abs=0.01)
    assert right.var() == pytest.approx(0.75 * 0.25 / 9, rel=0.1)
    rows = am.simulate(50, 4000, 3, 1, accuracy=am.priors.Diagonal(10, 0.6), seed=2).confusion
    np.testing.assert_allclose(rows.mean(axis=0), am.priors.Diagonal(10, 0.6).mean(3), atol=0.01)
    given = am.simulate(50, 3, 2, 1, accuracy=[0.5, 0.7, 0.9], seed=2).confusion
    assert given[:, 1, 1].tolist() == [0.5, 0.7, 0.9]


def test_spammers_do_not_look_and_adversaries_swap():
    made = am.simulate(4000, 10, 2, 10, spammers=0.3, adversaries=0.2, accuracy=0.9, seed=3)
    kinds = np.array(made.kinds)
    assert [int((kinds == kind).sum()) for kind in KINDS] == [5, 1, 1, 1, 2]
    share = said(made)
    for j, kind in enumerate(kinds):
        if "spammer" in kind:
            np.testing.assert_allclose(share[j, 0], share[j, 1], atol=0.06)
        assert (share[j, 0, 0] < 0.2) == (kind == "adversary") or "spammer" in kind
    constant = share[kinds == "constant spammer"][0]
    assert sorted(constant[0]) == [0, 1]


def test_ambiguous_items_split_and_others_do_not():
    made = am.simulate(400, 40, 4, 40, ambiguous=0.25, accuracy=1.0, seed=4)
    assert made.ambiguous.sum() == 100
    votes = made.annotations.votes
    seen = votes[np.arange(400), made.truth]
    assert (seen[~made.ambiguous] == 40).all()
    two = np.flatnonzero(made.ambiguous)
    assert (seen[two] + votes[two, made.second[two]] == 40).all()
    assert (made.second[two] != made.truth[two]).all()
    assert (seen[two] / 40).mean() == pytest.approx(made.share[two].mean(), abs=0.03)
    assert ((made.share[two] >= 0.5) & (made.share[two] <= 0.8)).all()


def test_difficulty_is_taken_from_the_log_odds_of_the_right_label():
    made = am.simulate(2000, 30, 2, 30, accuracy=0.8, difficulty=1.5, seed=5)
    data = made.annotations
    right = data.votes[np.arange(2000), made.truth] / 30
    expected = 1 / (1 + np.exp(made.difficulty - np.log(0.8 / 0.2)))
    assert np.abs(right - expected).max() < 0.5
    assert np.corrcoef(right, expected)[0, 1] > 0.95
    assert right.mean() == pytest.approx(expected.mean(), abs=0.005)
    assert made.difficulty.std() == pytest.approx(1.5, rel=0.06)


def test_work_is_even_or_has_a_long_tail_and_nobody_labels_twice(rng):
    for per_item in (3, (1, 6)):
        item, coder = assign(400, 10, per_item, "even", rng)
        work = np.bincount(coder, minlength=10)
        assert work.max() - work.min() <= 1
        assert len(set(zip(item.tolist(), coder.tolist(), strict=True))) == len(item)
        assert all(a < b for a, b in pairwise(zip(item.tolist(), coder.tolist(), strict=True)))
    lengths = np.bincount(item)
    assert (lengths.min(), lengths.max()) == (1, 6)
    _, coder = assign(400, 30, 3, "long-tailed", rng)
    work = np.sort(np.bincount(coder, minlength=30))[::-1]
    assert work[0] > 6 * np.median(work)


def test_known_gold_is_right_and_answers_are_scored():
    made = am.simulate(50, 8, ["no", "yes"], 4, gold=12, seed=6)
    gold = made.annotations.gold
    known = gold >= 0
    assert known.sum() == 12
    assert (gold[known] == made.truth[known]).all()
    answers = list(made.answers.values())
    assert made.accuracy(answers) == 1
    wrong = ["yes" if a == "no" else "no" for a in answers[:5]] + answers[5:]
    assert made.accuracy(wrong) == pytest.approx(0.9)
    with pytest.raises(am.errors.NotApplicable, match="3 labels are given for 50 items"):
        made.accuracy(answers[:3])


def test_the_seed_decides_and_names_sort_as_they_are_numbered():
    first, again, other = (am.simulate(120, 11, 30, 2, seed=seed) for seed in (7, 7, 8))
    assert first.annotations.fingerprint == again.annotations.fingerprint
    assert first.annotations.fingerprint != other.annotations.fingerprint
    data = first.annotations
    for names in (data.items, data.coders, data.labels):
        assert list(names) == sorted(names)
    frame = data.to_frame()
    recoded = am.Annotations.from_frame(frame, labels=data.labels)
    assert recoded.fingerprint == data.fingerprint


@pytest.mark.parametrize(
    "wrong",
    [
        {"items": 0}, {"coders": 0}, {"labels": 1}, {"labels": ["a", "a"]},
        {"labels_per_item": 21}, {"labels_per_item": 0}, {"labels_per_item": (3, 2)},
        {"prevalence": [0.5, 0.6]}, {"prevalence": [1.0]}, {"accuracy": 1.2},
        {"accuracy": [0.5]}, {"accuracy": am.priors.Diagonal(0, 0.5)},
        {"spammers": 0.7, "adversaries": 0.4},
        {"spammers": -0.1}, {"ambiguous": 2}, {"difficulty": -1}, {"workload": "lazy"},
        {"gold": 201},
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_made_is_refused_in_words(wrong):
    with pytest.raises(am.errors.NotApplicable, match=r"[a-z]"):
        am.simulate(**wrong)


@pytest.mark.slow
def test_a_fit_recovers_what_was_made():
    made = am.simulate(400, 8, 2, 5, spammers=0.25, seed=9)
    fit = am.fit(
        made.annotations, "hierarchical", chains=2, draws=150, warmup=100, seed=1, extend=False
    )
    table = fit.coders().table
    true = np.einsum("jkk,k->j", made.confusion, made.prevalence)
    assert np.abs(table["accuracy"] - true).max() < 0.09
    assert made.accuracy(list(fit.gold().table["label"])) > 0.9
