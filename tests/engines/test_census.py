"""Chains begin at the modes that count, whatever the votes say."""

import json

import numpy as np
import pytest

import annomodels as am
from annomodels.engines import gibbs, starts
from annomodels.engines.source.partition import cut
from annomodels.engines.source.spread import Spread
from annomodels.executors.choose import team
from annomodels.models.encoded import encode
from tests.engines.crowds import p_truth

FEW = {"chains": 2, "draws": 200, "warmup": 100, "seed": 1}


def hostile(known: int, reversed_coders: int = 6) -> tuple[am.Annotations, np.ndarray]:
    """Give 200 items, each labeled by 9 coders, of whom some are right on a tenth of them."""
    rng = np.random.default_rng(100)
    truth = rng.integers(2, size=200)
    accuracy = np.where(np.arange(9) < reversed_coders, 0.1, 0.8)
    right = rng.random((200, 9)) < accuracy
    rows = [(i, f"c{j}", int(truth[i] ^ (not right[i, j]))) for i in range(200) for j in range(9)]
    gold = {i: int(truth[i]) for i in range(known)}
    return am.Annotations.from_records(rows, truth=gold or None), truth


def seen(fit: am.Fit) -> list[dict]:
    return json.loads(fit.tree.attrs["census"])


def finding(fit: am.Fit, name: str):
    return fit.check().table.set_index("name").loc[name]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["gibbs", "em"])
def test_ten_known_items_lead_out_of_the_mode_of_a_hostile_majority(engine):
    data, truth = hostile(10)
    options = FEW if engine == "gibbs" else {"seed": 1}
    fit = am.fit(data, "hierarchical", engine=engine, **options)
    assert (p_truth(fit).argmax(axis=1) == truth)[10:].mean() > 0.98
    check = fit.check()
    assert check.verdict == "needs review"
    (said,) = [text for text in check.sentences if "Gold against the crowd" in text]
    assert "known items contradict the majority" in said
    assert "c1" in said
    assert "c7" not in said
    if engine == "gibbs":
        best, votes = seen(fit)
        assert best["chains"] == 2
        assert "known gold" in best["starts"]
        assert votes["starts"] == ["votes"]
        assert votes["chains"] == 0
        assert best["evidence"] - votes["evidence"] > 80
        assert any(
            "The votes lead to a solution other than the best one" in text
            for text in check.sentences
        )


@pytest.mark.calibration
@pytest.mark.slow
def test_other_models_are_led_out_too():
    data, truth = hostile(20)
    for model in ("dawid-skene", "one-coin", "ambiguous"):
        fit = am.fit(data, model, **FEW)
        assert (p_truth(fit).argmax(axis=1) == truth)[20:].mean() > 0.98, model


@pytest.mark.calibration
@pytest.mark.slow
def test_a_crowd_without_such_coders_begins_at_the_votes():
    data, truth = hostile(20, reversed_coders=0)
    fit = am.fit(data, "hierarchical", **FEW)
    mode = seen(fit)[0]
    assert "votes" in mode["starts"]
    assert mode["chains"] == 2
    assert (p_truth(fit).argmax(axis=1) == truth).mean() > 0.98
    assert finding(fit, "solutions")["ok"]
    assert finding(fit, "gold against the crowd")["ok"]


@pytest.mark.slow
def test_solutions_of_one_density_are_both_in_the_posterior():
    """Without known truth and with a prior that favours no order, names of classes are free."""
    data, _truth = hostile(0, reversed_coders=0)
    model = am.models.DawidSkene(confusion=am.priors.Diagonal(2.0, 0.5))
    fit = am.fit(data, model, relabel=False, extend=False, **FEW)
    modes = seen(fit)
    assert [mode["chains"] for mode in modes[:2]] == [1, 1]
    assert modes[0]["evidence"] == pytest.approx(modes[1]["evidence"], abs=0.5)
    assert fit.tree.attrs["rhat_max"] > 1.5
    assert "2 solutions are about as probable" in finding(fit, "solutions")["sentence"]
    together = am.fit(data, model, **FEW)
    assert len(seen(together)) == 1
    assert finding(together, "solutions")["ok"]


@pytest.mark.calibration
@pytest.mark.slow
def test_a_chain_far_below_another_goes_on_from_there(monkeypatch):
    data, truth = hostile(20)
    begin = gibbs.chain_starts

    def one_at_the_votes(model, spread, *given, **options):
        found = begin(model, spread, *given, **options)
        votes = starts.soft_counts(spread.source.opened, starts.vote_shares)
        found.states[1] = model.start(*votes)
        return found

    monkeypatch.setattr(gibbs, "chain_starts", one_at_the_votes)
    left = am.fit(data, "hierarchical", extend=False, **FEW)
    assert left.tree.attrs["rhat_max"] > 1.3
    fit = am.fit(data, "hierarchical", **FEW)
    assert json.loads(fit.tree.attrs["restarted"]) == [1]
    assert (p_truth(fit).argmax(axis=1) == truth)[20:].mean() > 0.98
    assert fit.tree.attrs["rhat_max"] < 1.05
    assert "Chain 2 stayed in a far less probable solution" in finding(fit, "solutions")["sentence"]
    parted = am.fit(data, "hierarchical", partitions=2, executor="threads", **FEW)
    assert json.loads(parted.tree.attrs["restarted"]) == [1]
    np.testing.assert_array_equal(
        parted.tree["posterior"]["confusion"].values, fit.tree["posterior"]["confusion"].values
    )


@pytest.mark.slow
@pytest.mark.parametrize("known", [0, 20])
def test_starts_do_not_depend_on_the_number_of_parts(known):
    data, _ = hostile(known)
    codes = encode(data, collapse=False)
    found = []
    for parts in (1, 3):
        with Spread(cut(codes, parts), team(None, 1)) as spread:
            model = am.models.HierarchicalDawidSkene()
            found.append(starts.chain_starts(model, spread, 7, 3, relabel=not known))
    for other in found[1:]:
        assert other.modes == found[0].modes
        for one, two in zip(found[0].states, other.states, strict=True):
            np.testing.assert_array_equal(one.log_confusion, two.log_confusion)
            np.testing.assert_array_equal(
                one.population["population"], two.population["population"]
            )


def test_the_mass_of_a_mode_is_that_of_an_enumeration():
    """One coin-like mode holds all mass where coders are good and items few."""
    from itertools import product

    from scipy.special import logsumexp

    from annomodels.engines.starts import soft_counts, vote_shares
    from annomodels.models.conjugate import log_multinomial

    rows = [(i, j, i % 2) for i in range(6) for j in range(3)]
    data = am.Annotations.from_records(rows, truth={0: 0, 1: 1})
    model = am.models.DawidSkene(confusion=am.priors.Diagonal(8.0, 0.9))
    codes, alpha = encode(data, collapse=False), model.confusion.alpha(2)
    total = []
    for rest in product(range(2), repeat=4):
        truth = np.array([0, 1, *rest])
        counts = np.zeros((3, 2, 2))
        np.add.at(counts, (data.coder, data.label, truth[data.item]), 1)
        sizes = np.bincount(truth, minlength=2)
        value = log_multinomial(counts, alpha.T, axis=1).sum()
        total.append(value + log_multinomial(sizes.astype(float), np.ones(2), axis=0))
    here = Spread(cut(codes, 1), team(None))
    mode = starts.chain_starts(model, here, 1, 1, relabel=False).modes[0]
    assert mode["evidence"] == pytest.approx(logsumexp(total), abs=0.15)
    assert soft_counts(lambda: [codes], vote_shares)[1].sum() == 6
