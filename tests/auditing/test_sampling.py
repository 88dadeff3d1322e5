"""Draws of an audit: chances as reported, rounds that never meet, tables that tell nothing."""

import numpy as np
import pytest
from scipy.stats import chi2, norm, spearmanr

import annomodels as am
from annomodels.auditing import sample
from annomodels.auditing.design import Items, allocate, stratify
from annomodels.errors import AnnotationError, NotApplicable

SEEDS = 400


@pytest.fixture(scope="module")
def small(make):
    """120 items with three labels, one of which is rare."""
    rng = np.random.default_rng(2)
    return make.fit(rng.dirichlet([0.8, 0.4, 0.1], 120))


@pytest.fixture
def no_plan(monkeypatch):
    """Leave out the forecasts of widths, which no draw depends on."""
    monkeypatch.setattr(sample, "forecast_widths", lambda *_: [])


def codes(fit, names):
    place = {name: n for n, name in enumerate(fit.data.items)}
    return np.array([place[name] for name in names])


@pytest.mark.calibration
def test_each_item_is_drawn_as_often_as_its_chance_says(small, no_plan):
    times, told = np.zeros(120), np.full(120, np.nan)
    for seed in range(SEEDS):
        found = am.audit(small, 30, seed=seed).drawn
        at = codes(small, found["item"])
        times[at] += 1
        told[at] = found["chance"]
    assert np.isfinite(told).all()
    z = (times - SEEDS * told) / np.sqrt(SEEDS * told * np.maximum(1 - told, 1e-9))
    sure = told == 1
    assert (times[sure] == SEEDS).all()
    assert np.abs(z[~sure]).max() < norm.isf(0.0005 / 120)
    # of a stratum the sum is fixed, so z has one degree of freedom less for each
    strata = stratify(small.tree["truth"]["p_truth"].values, np.ones(120, bool), 30)
    assert (z[~sure] ** 2).sum() < chi2.isf(0.001, (~sure).sum() - len(strata))
    assert (z[~sure] ** 2).sum() > chi2.ppf(0.001, (~sure).sum() - len(strata))


@pytest.mark.calibration
def test_two_rounds_never_meet_and_have_the_chances_of_one(small, no_plan):
    both, pair, of_first = np.zeros(120), 0, np.zeros(120)
    told = np.full(120, np.nan)
    strata = stratify(small.tree["truth"]["p_truth"].values, np.ones(120, bool), 16)
    mates = np.flatnonzero(strata.stratum == strata.size.argmax())[:2]
    for seed in range(SEEDS):
        first = am.audit(small, 16, seed=seed)
        second = am.audit(small, 12, seed=seed, earlier=first)
        one, two = codes(small, first.table["item"]), codes(small, second.table["item"])
        assert not np.intersect1d(one, two).size
        assert list(second.drawn["item"]) == [*first.table["item"], *second.table["item"]]
        assert second.drawn["round"].tolist() == [1] * 16 + [2] * 12
        every = np.concatenate([one, two])
        both[every] += 1
        of_first[one] += 1
        told[every] = second.drawn["chance"]
        pair += set(mates.tolist()) <= set(every.tolist())
    z = (both - SEEDS * told) / np.sqrt(SEEDS * told * (1 - told))
    assert np.abs(z).max() < norm.isf(0.0005 / 120)
    # two items of a stratum of N, of which n are drawn in all: n (n - 1) / (N (N - 1))
    large = strata.size.max()
    n = round(told[mates[0]] * large)
    chance = n * (n - 1) / (large * (large - 1))
    assert abs(pair - SEEDS * chance) < 4 * np.sqrt(SEEDS * chance * (1 - chance))


@pytest.mark.slow
def test_rounds_do_not_depend_on_answers_and_repeat_themselves(small):
    first = am.audit(small, 20, seed=4)
    assert first.table.equals(am.audit(small, 20, seed=4).table)
    assert not first.table.equals(am.audit(small, 20, seed=5).table)
    again = am.audit(small, 20, seed=4, earlier=first)
    assert again.table.equals(am.audit(small, 20, seed=4, earlier=first.design).table)


@pytest.mark.slow
def test_a_saved_design_draws_what_the_one_in_memory_does(small, tmp_path):
    first = am.audit(small, 20, seed=4, among=list(small.data.items[:90]))
    path = first.save(tmp_path / "audit.json")
    told = am.audit(small, 10, seed=1, earlier=path)
    assert told.table.equals(am.audit(small, 10, seed=1, earlier=first).table)
    assert set(told.drawn["item"]) <= set(small.data.items[:90])


@pytest.mark.slow
def test_tables_are_blind(small, no_plan):
    p = small.tree["truth"]["p_truth"].values
    tops, ranks = p.max(axis=1), []
    of_label = [[] for _ in range(3)]
    for seed in range(200):
        table = am.audit(small, 40, seed=seed).table
        assert list(table.columns) == ["item", "label", "audit"]
        assert (table["label"] == "").all()
        at = codes(small, table["item"])
        ranks.append(spearmanr(np.arange(40), tops[at]).statistic)
        for k in range(3):
            of_label[k].append(spearmanr(np.arange(40), p[at, k]).statistic)
    # a rank correlation of 40 places has the standard error 1 / sqrt(39)
    error = 1 / np.sqrt(39 * 200)
    for each in (ranks, *of_label):
        assert abs(np.mean(each)) < 3.5 * error
        assert np.std(each) == pytest.approx(1 / np.sqrt(39), rel=0.15)


@pytest.mark.parametrize("seed", range(12))
def test_allocations_add_up_and_never_take_more_than_there_are(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 300)), int(rng.integers(1, 6))
    p = rng.dirichlet(np.full(k, 0.3), n)
    part = rng.random(n) < 0.8
    part[0] = True
    size = int(rng.integers(1, part.sum() + 20))
    strata = stratify(p, part, size)
    assert strata.size.sum() == part.sum()
    assert (strata.size > 0).all()
    assert strata.want.sum() == pytest.approx(1)
    assert ((strata.stratum >= 0) == part).all()
    more = allocate(strata, size)
    assert more.sum() == min(size, part.sum())
    assert ((more >= 0) & (more <= strata.size)).all()
    if size >= len(strata):
        assert (more >= 1).all()
    again = allocate(strata, 7, more)
    assert ((more + again) <= strata.size).all()
    assert again.sum() == min(7, part.sum() - more.sum())


def test_allocations_follow_neyman_where_there_is_room():
    rng = np.random.default_rng(3)
    p = rng.dirichlet([0.5, 0.5], 5000)
    strata = stratify(p, np.ones(5000, bool), 90)
    more = allocate(strata, 90)
    assert np.abs(more - 90 * strata.want).max() < 1.5


def test_strata_are_of_one_label_and_ordered_by_doubt(small):
    p = small.tree["truth"]["p_truth"].values
    strata = stratify(p, np.ones(120, bool), 30)
    doubt = 1 - p.max(axis=1)
    for label in range(3):
        mine = np.flatnonzero(p.argmax(axis=1) == label)
        order = mine[np.argsort(doubt[mine])]
        if len(np.unique(strata.stratum[mine])) > 1:
            assert (np.diff(strata.stratum[order]) >= 0).all()


def test_known_items_and_others_than_those_named_are_never_drawn(make):
    world = make.world(n=80, gold=20)
    told = np.flatnonzero(np.asarray(world.fit.data.gold) >= 0)
    names = np.array(world.fit.data.items)
    every = am.audit(world.fit, 60, seed=1)
    assert len(every) == 60
    assert set(every.drawn["item"]) == set(names) - set(names[told])
    assert (every.drawn["chance"] == 1).all()
    with pytest.raises(AnnotationError, match="No item can be judged"):
        am.audit(world.fit, among=names[told].tolist())
    some = am.audit(world.fit, 10, seed=1, among=names[:40].tolist())
    assert set(some.drawn["item"]) <= set(names[:40]) - set(names[told])
    assert Items(world.fit).open(some.design.among).sum() == 40 - (told < 40).sum()


@pytest.mark.slow
def test_what_cannot_be_drawn_is_said(make, small, tmp_path):
    one = am.audit(small, 5)
    with pytest.raises(NotApplicable, match="no item 'nobody'"):
        am.audit(small, 5, among=["nobody"])
    for size, width, word in ((0, None, "size is 0"), (None, 1.5, "width")):
        with pytest.raises(NotApplicable, match=word):
            am.audit(small, size, width=width)
    with pytest.raises(AnnotationError, match="No item can be judged"):
        am.audit(small, 5, among=[])
    rng = np.random.default_rng(5)
    with pytest.raises(AnnotationError, match="other data"):
        am.audit(make.fit(rng.dirichlet([1, 1], 50)), 5, earlier=one)


def test_rounds_are_of_one_fit(make):
    rng = np.random.default_rng(6)
    votes = rng.integers(2, size=(60, 3))
    one, other = (make.fit(rng.dirichlet([1, 1], 60), votes) for _ in range(2))
    with pytest.raises(AnnotationError, match="another fit of these data"):
        am.audit(other, 5, earlier=am.audit(one, 5))


@pytest.mark.slow
def test_a_wanted_width_takes_more_items_the_narrower_it_is(world):
    wide, narrow = am.audit(world.fit, width=0.25), am.audit(world.fit, width=0.1)
    assert 1 < len(wide) < len(narrow) <= 400
    assert "a width of 10 points" in " ".join(narrow.notes)
    assert (np.diff(narrow.plan["width"]) < 0).all()


def test_later_rounds_are_drawn_from_the_items_of_the_first(small):
    first = am.audit(small, 5)
    with pytest.raises(NotApplicable, match=r"Later rounds .* among="):
        am.audit(small, 5, earlier=first, among=["i0001"])
