"""The draws: exact for two coders, a Bayesian bootstrap for more, common to all coefficients."""

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients import rows as weights
from annomodels.coefficients.implied import evaluate
from annomodels.coefficients.reasons import interval_warnings, resampled
from annomodels.coefficients.rows import chance_items, collapse, prepare
from annomodels.coefficients.tables import from_joint
from annomodels.errors import Note
from annomodels.limits import GROUPS_RESAMPLED
from tests.coefficients.pairs_of_labels import of_table


def from_table(table, names="AB"):
    return of_table(table, names, labels=list(names))


def codes(found):
    return {note.code for note in found.notes if isinstance(note, Note)}


def panel_of(rng, n_items=60, n_coders=4, accuracy=0.8, missing=0.3):
    truth = rng.integers(0, 2, n_items)
    rows = []
    for i, c in np.ndindex(n_items, n_coders):
        if rng.random() >= missing:
            rows.append((i, c, int(truth[i] ^ (rng.random() > accuracy))))
    return am.Annotations.from_records(rows)


def test_two_coders_are_a_dirichlet_on_the_table_with_jeffreys_prior(rng):
    """The prior takes the place of two items: those of the data keep N / (N + 2) each."""
    table = np.array([[41, 3], [9, 47]])
    found = am.agreement(from_table(table), "kappa", draws=20_000)
    exact = rng.dirichlet(table.ravel() * 100 / 102 + 0.5, 20_000).reshape(-1, 2, 2)
    kappas = evaluate("kappa", from_joint(exact)).value
    probs = [0.01, 0.025, 0.25, 0.5, 0.75, 0.975, 0.99]
    assert np.quantile(found.draws, probs) == pytest.approx(np.quantile(kappas, probs), abs=8e-3)
    assert any("Jeffreys' prior" in note for note in found.notes)


def test_chance_items_are_jeffreys_prior_for_two_coders_and_two_labels():
    found = chance_items(collapse(prepare(from_table([[5, 2], [1, 7]]))))
    pairs = found.label.reshape(-1, 2)
    assert sorted(map(tuple, pairs.tolist())) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert found.times == pytest.approx(0.5)


@pytest.mark.parametrize("n_labels", [2, 3, 5, 12, 150])
@pytest.mark.parametrize("n_coders", [2, 3, 6])
def test_chance_items_agree_on_every_label_or_disagree(rng, n_labels, n_coders):
    label = np.concatenate([np.arange(n_labels), rng.integers(0, n_labels, 60)])
    rows = [(i, c, int(x)) for i, x in enumerate(label) for c in range(n_coders)]
    found = chance_items(collapse(prepare(am.Annotations.from_records(rows))))
    labels = found.label.reshape(-1, n_coders)
    agreed = (labels == labels[:, :1]).all(1)
    assert found.times[agreed].sum() == pytest.approx(min(n_labels / 2, 2.0))
    assert found.times[~agreed].sum() == pytest.approx(1.0)
    for part in (agreed, ~agreed):
        shares = np.zeros(n_labels)
        np.add.at(shares, labels[part], found.times[part][:, None])
        shares = shares[shares > 0] if n_labels > 100 else shares
        assert np.ptp(shares) < (1e-9 if n_labels < 100 else 0.05)


def test_chance_items_of_incomplete_data_have_coders_that_met():
    rows = [(i, c, int(i % 3 == c)) for i in range(30) for c in ((0, 1) if i % 2 else (2, 3, 4))]
    rows.append(("single", 5, 1))
    found = chance_items(collapse(prepare(am.Annotations.from_records(rows))))
    for start, size in zip(found.starts, found.per_item, strict=True):
        assert found.coder[start : start + size].tolist() in ([0, 1], [2, 3, 4])


@pytest.fixture
def without_chance_items(monkeypatch):
    monkeypatch.setattr(weights, "PER_LABEL", 0.0)
    monkeypatch.setattr(weights, "DISAGREED", 0.0)


@pytest.mark.usefixtures("without_chance_items")
def test_weights_give_the_unbiased_variance_of_a_mean(rng):
    data = panel_of(rng, missing=0.0)
    found = am.agreement(data, "percent", draws=20_000)
    n = data.n_items
    share = data.votes / 4
    per_item = (4 * (share**2).sum(1) - 1) / 3
    assert found.value == pytest.approx(per_item.mean())
    assert found.draws.mean() == pytest.approx(per_item.mean(), abs=4e-3)
    assert found.draws.var() == pytest.approx(per_item.var(ddof=1) / n, rel=0.04)


def test_chance_items_move_the_draws_by_less_than_two_items(rng, request):
    data = panel_of(rng, n_items=200, accuracy=0.95)
    with_chance = am.agreement(data, "alpha", draws=8000)
    request.getfixturevalue("without_chance_items")
    plain = am.agreement(data, "alpha", draws=8000)
    lower = plain.draws.mean() - with_chance.draws.mean()
    assert 0 < lower < 2 / data.n_items
    assert with_chance.value == plain.value


def test_every_coder_of_a_panel_labels_every_chance_item(rng):
    panel = chance_items(collapse(prepare(panel_of(rng, missing=0.3))))
    assert (panel.per_item == 4).all()
    crowd = chance_items(collapse(prepare(panel_of(rng, n_coders=12, missing=0.8))))
    assert crowd.per_item.max() < 12


def test_value_stays_inside_and_more_items_narrow_the_interval(rng):
    small, large = panel_of(rng, 40), panel_of(rng, 640)
    for name in ("s", "k", "multi_kappa", "alpha", "ac1"):
        wide, narrow = am.agreement(small, name), am.agreement(large, name)
        assert wide.low < wide.value < wide.high
        ratio = (wide.high - wide.low) / (narrow.high - narrow.low)
        assert 2.5 < ratio < 6.5, name


def test_draws_belong_together_and_depend_on_the_seed_only(rng):
    data = panel_of(rng)
    panel = am.agreement(data, seed=3, draws=300)
    for name in ("percent", "k", "multi_kappa", "alpha", "ac1"):
        alone = am.agreement(data, name, seed=3, draws=300)
        assert np.allclose(alone.draws, panel[name].draws, atol=1e-12)
    assert not np.allclose(am.agreement(data, "k", seed=4, draws=300).draws, panel["k"].draws)
    apart = panel.difference("alpha", "k")
    assert np.abs(apart).max() < 0.05 < np.ptp(panel["k"].draws)


def test_blocks_of_draws_do_not_show(rng, monkeypatch):
    data = panel_of(rng)
    sample = weights.make_sample(collapse(prepare(data)))
    monkeypatch.setattr(weights, "MEMORY", 20 * len(sample.shape))
    whole = np.concatenate(list(sample.draw(100, 1, 0)))
    parts = list(sample.draw(100, 1, 5 * len(sample.shape)))
    assert max(map(len, parts)) < 20
    assert np.array_equal(np.concatenate(parts), whole)
    assert whole.sum(1) == pytest.approx(sample.n_units)
    draws = am.agreement(data, "alpha", draws=90, seed=3).draws
    assert len(np.unique(draws)) == 90  # no block repeats another


def test_draws_of_a_coefficient_do_not_depend_on_the_others(rng, monkeypatch):
    """Not even where they leave less memory, so that fewer draws are made at once."""
    data = panel_of(rng)
    monkeypatch.setattr(weights, "MEMORY", 3000)
    panel = am.agreement(data, draws=200)
    assert np.allclose(am.agreement(data, "percent", draws=200).draws, panel["percent"].draws)


def test_whole_documents_are_drawn(rng):
    """Items of a document that are copies of each other carry no further evidence."""
    data = panel_of(rng, n_items=40)
    rows = data.to_frame().itertuples(index=False)
    copies = [(f"{i} {n}", c, x) for i, c, x in rows for n in range(10)]
    tenfold = am.Annotations.from_records(copies)
    group = np.array([int(name.split()[0]) for name in tenfold.items])
    tenfold = tenfold.replace(
        group=np.unique(group, return_inverse=True)[1], groups=tuple(range(40))
    )
    single = am.agreement(data, "k", draws=4000)
    by_group = am.agreement(tenfold, "k", draws=4000)
    by_item = am.agreement(tenfold, "k", draws=4000, resample="items")
    assert by_group.value == pytest.approx(single.value)
    width = single.high - single.low
    assert by_group.high - by_group.low == pytest.approx(width, rel=0.12)
    assert by_item.high - by_item.low == pytest.approx(width / np.sqrt(10), rel=0.12)
    assert "Whole groups of items are drawn (39 with two labels of an item)." in by_group.notes


def test_documents_left_out_by_a_selection_do_not_count(rng):
    data = panel_of(rng)
    code = np.arange(data.n_items) // 10
    data = data.replace(group=code, groups=tuple(range(6)))
    part = data.select(items=[data.items[i] for i in np.flatnonzero(code >= 4)])
    found = am.agreement(part, "k", draws=50, resample="groups")
    assert "few_groups" in codes(found)


@pytest.mark.parametrize("n_groups", [2, GROUPS_RESAMPLED - 1, GROUPS_RESAMPLED])
def test_items_are_drawn_where_groups_are_too_few_and_notes_say_so(rng, n_groups):
    data = panel_of(rng, n_items=60)
    code = np.arange(60) % n_groups
    data = data.replace(group=code, groups=tuple(range(n_groups)))
    few = n_groups < GROUPS_RESAMPLED
    found = am.agreement(data, "k", draws=200)
    same = am.agreement(data, "k", draws=200, resample="items" if few else "groups")
    assert np.array_equal(found.draws, same.draws)
    assert ("items_of_groups" in codes(found)) == few == ("groups" not in codes(found))
    assert resampled(data).startswith(f"items, since {n_groups}" if few else f"{n_groups} groups")
    assert ("items_of_groups" in codes(am.breakdown(data, "coder", draws=50))) == few
    by_group = am.breakdown(data, "group", "percent", draws=50)
    assert ("items_drawn" in codes(by_group)) == few


def test_groups_count_only_with_items_that_two_coders_labeled(rng):
    rows = [(f"{g}-{i}", c, int(rng.integers(2))) for g in range(3) for i in range(9) for c in "ab"]
    rows += [(f"{g}-0", "a", 0) for g in range(3, 20)]
    data = am.Annotations.from_records(rows)
    group = np.array([int(name.partition("-")[0]) for name in data.items])
    data = data.replace(group=group, groups=tuple(range(20)))
    assert resampled(data).startswith("items, since 3 groups")


def test_agreement_as_by_chance_is_zero_not_a_rounding_error():
    """Labels that are independent agree as by chance, in any number of classes."""
    for k in range(2, 9):
        rows = [
            (f"{a}-{b}-{n}", c, x)
            for a in range(k)
            for b in range(k)
            for n in range(3)
            for c, x in (("one", a), ("two", b))
        ]
        found = am.agreement(am.Annotations.from_records(rows), draws=0)
        values = found.table["value"].dropna()
        assert not ((values != 0) & (values.abs() < 1e-9)).any()
        assert (values == 0).any()


def test_full_agreement_of_three_coders_leaves_the_interval_open():
    rows = [(i, c, i % 2) for i in range(40) for c in range(3)]
    found = am.agreement(am.Annotations.from_records(rows), "alpha")
    assert found.value == 1.0
    assert 0.85 < found.low < found.high <= 1.0
    assert found.draws.std() > 0


def test_one_document_gives_no_interval(rng):
    data = panel_of(rng)
    data = data.replace(group=np.zeros(data.n_items, dtype=int), groups=("all",))
    found = am.agreement(data, "k", resample="groups")
    assert found.reason == "too_few_items"
    assert np.isnan(found.low)
    assert not np.isnan(am.agreement(data, "k", resample="items").low)


def test_rare_labels_are_pointed_out():
    seen = {
        n: codes(am.agreement(from_table(table))) & {"rare_label", "seldom_label"}
        for n, table in {9: [[90, 3], [2, 2]], 10: [[90, 3], [3, 2]], 20: [[90, 3], [3, 7]]}.items()
    }
    assert seen == {9: {"rare_label"}, 10: {"seldom_label"}, 20: set()}


def test_rare_labels_count_in_equal_items_that_were_put_together():
    rows = collapse(prepare(from_table([[90, 0], [0, 12]])))
    assert interval_warnings(rows, ["A", "B"]) == []
    assert len(interval_warnings(rows, [])) == 0


def test_few_items_are_pointed_out():
    for n, few in ((4, True), (5, False)):  # of 49 or 50 items
        found = am.agreement(from_table([[20, 5], [n, 20]]))
        assert ("few_items" in codes(found)) == few


def test_mean_of_kappas_of_few_shared_items_has_no_interval(rng):
    crowd = [(i, int(c), int(rng.integers(2))) for i in range(90) for c in rng.choice(30, 4, False)]
    found = am.agreement(am.Annotations.from_records(crowd), "light_kappa", draws=10)
    assert np.isfinite(found.value)
    assert np.isnan(found.interval()).all()
    assert found.reason == "few_shared_items"
    assert "Use multi_kappa" in found.note
    for n_items in (8, 60):  # a panel of any size has one: pairs of coders share most items
        panel = am.agreement(panel_of(rng, n_items), "light_kappa", draws=100)
        assert np.isfinite(panel.interval()).all()
        assert "share" not in panel.note


def test_draws_without_a_value_are_counted(rng):
    rows = [(i, c, "B" if i == 0 and c == 0 else "A") for i in range(30) for c in range(3)]
    found = am.agreement(am.Annotations.from_records(rows, labels=["A", "B"]), "light_kappa")
    assert not np.isnan(found.value)
    assert np.isnan(found.draws).any() == ("undefined in" in found.note)


@pytest.mark.slow
def test_hundreds_of_coders_stay_within_memory(rng, measured):
    """8,000 labels by 164 coders: never coder x item x label, never a coder pair x item."""
    rows = [
        (item, int(coder), int(rng.random() < 0.3 + 0.4 * (item % 2)))
        for item in range(800)
        for coder in rng.choice(164, 10, replace=False)
    ]
    data = am.Annotations.from_records(rows)
    am.agreement(data, draws=10)
    panel, peak = measured(am.agreement, data, draws=2000)
    assert panel["multi_kappa"].draws.shape == (2000,)
    assert peak < 300e6


@pytest.mark.slow
def test_memory_of_draws_grows_with_the_labels_and_not_with_coders_times_chance_items(measured):
    n = 100_000
    label = np.random.default_rng(0).integers(0, 2, 2 * n).astype(np.int32)
    item, coder = (x.astype(np.int32) for x in np.divmod(np.arange(2 * n), n))
    data = am.Annotations(item, coder, label, ("i", "j"), tuple(range(n)), ("a", "b"))
    panel, peak = measured(am.agreement, data, ["k", "multi_kappa", "alpha"], draws=20)
    assert np.isfinite(panel["multi_kappa"].draws).all()
    assert peak < 450e6  # 1,350e6 when each chance item held every coder


def test_a_panel_of_very_many_coders_keeps_the_weight_of_its_chance_items(monkeypatch):
    rows = [(i, c, (i + c) % 3) for i in range(5) for c in range(40)]
    panel = prepare(am.Annotations.from_records(rows))
    whole = chance_items(panel)
    monkeypatch.setattr(weights, "CHANCE_LABELS", 0)
    monkeypatch.setattr(weights, "MOST_TIMES", 1)
    fewer = chance_items(panel)
    assert fewer.n_items < whole.n_items
    assert fewer.times.sum() == pytest.approx(whole.times.sum())
