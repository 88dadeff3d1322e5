"""Copies: found at every rate from four fifths on, and nothing else taken for them."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from annomodels.data.copying import compared, copied
from benchmarks import crowds

OTHERS = (
    ("difficult", {}),
    ("shared_bias", {}),
    ("cliques", {}),
    ("cliques", {"shared": 0.3}),
    ("two_coders", {}),
    ("sparse", {}),
    ("spammers", {}),
    ("rare", {}),
    ("adversaries", {}),
    ("noise", {}),
    *(("clean", options) for options in crowds.CLEAN.values()),
)


def groups(make, seed, **options):
    rows, _ = make(np.random.default_rng(seed), **options)
    data = am.Annotations.from_records(rows)
    found = copied(compared(data))
    return [[data.coders[j] for j in group] for group in found.coders], found.rate


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("rate", [0.8, 0.97, 1.0])
def test_copies_are_found_and_so_is_their_rate(k, rate):
    found = [groups(crowds.copies, [8, s], k=k, rate=rate) for s in range(12)]
    named = [(each[0], rates[0]) for each, rates in found if each]
    assert len(named) >= 11
    assert all(set(group) <= {"c000", "c001", "c002"} for group, _ in named)
    assert np.mean([value for _, value in named]) == pytest.approx(rate, abs=0.05)


@pytest.mark.parametrize(("name", "options"), OTHERS, ids=str)
def test_nobody_else_copies(name, options):
    assert not any(groups(getattr(crowds, name), [9, s], **options)[0] for s in range(8))


def test_experts_among_a_crowd_do_not_copy():
    rng = np.random.default_rng(3)
    for k in (2, 4):
        truth = rng.integers(0, k, 400)
        rows = [crowds.one_coin(a, k) for a in (0.97, 0.97, 0.96, *[0.65] * 8)]
        y = crowds.labeled(rng, truth, rows, 7)
        data = am.Annotations.from_records(crowds.records(y))
        assert copied(compared(data)).coders == ()


def test_constants_are_learned_from_the_votes_that_a_stack_counts(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[1] / "benchmarks")
    truth = importlib.import_module("truth")
    rows, told = crowds.copies(np.random.default_rng(1))
    data = am.Annotations.from_records(rows)
    code = {label: k for k, label in enumerate(data.labels)}
    each = truth.Set("copies", data, np.array([code[told[item]] for item in data.items]))
    found = truth.seen(each, truth.briefly(data, truth.Stack(), 1))
    assert found.votes.sum() == data.n_annotations  # copies count once in the model only
    fit = am.fit(data, "stack", chains=1, draws=20, warmup=10, seed=1)
    mixture = found.log_mixture(truth.Stack())
    np.testing.assert_allclose(mixture, fit.tree["stack"]["log_mixture"].values, atol=1e-9)
    sys.modules.pop("truth", None)
