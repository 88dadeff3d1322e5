"""What a breakdown or a comparison of two data sets hands back."""

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.coefficients.parts import breakdown as pairs_module
from annomodels.coefficients.parts.breakdown import between_groups

TRAINS = am.datasets.load("trains")


def grouped(cells):
    """Rows of {group: list of (label of X, label of Y)}."""
    rows = [
        (f"{group}{n}", coder, label, group)
        for group, pairs in cells.items()
        for n, pair in enumerate(pairs)
        for coder, label in zip("XY", pair, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["item", "coder", "label", "page"])
    return am.Annotations.from_frame(frame, group="page")


@pytest.mark.parametrize("by", ["label", "coder", "pair"])
def test_the_whole_is_the_coefficient_of_the_data_with_the_same_draws(by):
    found = am.breakdown(TRAINS, by, draws=300, seed=7)
    whole = am.agreement(TRAINS, "alpha", draws=300, seed=7)
    if by != "pair":
        assert found.overall["value"].item() == pytest.approx(whole.value)
        np.testing.assert_allclose(found.draws["whole"], whole.draws, atol=1e-12)
        assert found.overall["low"].item() == pytest.approx(whole.low)


def test_differences_of_parts_are_differences_of_their_draws():
    found = am.breakdown(TRAINS, "label", draws=200)
    values = found.draws["value"].to_numpy()
    names = [str(name) for name in found.draws["label"].values]
    a, b = names.index("Box"), names.index("E-2")
    step = found.difference("Box", "E-2")
    np.testing.assert_array_equal(step.draws, values[:, a] - values[:, b])
    assert step.value == pytest.approx(found.table["value"][a] - found.table["value"][b])
    assert step.low <= step.value <= step.high
    other = found.difference("E-2", "Box")
    assert other.p_above() == pytest.approx(1 - step.p_above())
    specific = found.difference("Box", "E-2", "specific")
    assert specific.value == pytest.approx(found.table["specific"][a] - found.table["specific"][b])
    from_all = found.difference("Box")
    np.testing.assert_array_equal(from_all.draws, values[:, a] - found.draws["whole"].to_numpy())


def test_shared_draws_make_a_difference_of_two_pairs_shorter_than_independent_ones():
    found = am.breakdown(TRAINS, "pair", draws=2000)
    a, b, c = TRAINS.coders[:3]
    one = found.difference((a, b), (a, c))
    apart = np.hypot(*(found.table.loc[:1, "high"] - found.table.loc[:1, "low"]))
    assert one.high - one.low < 1.05 * apart
    assert "value of 1 and 2" in one.title


def test_a_pair_can_be_named_either_way_round():
    found = am.breakdown(TRAINS, "pair", draws=50)
    a, b = TRAINS.coders[:2]
    c = TRAINS.coders[2]
    np.testing.assert_array_equal(
        found.difference((a, b), (a, c)).draws, found.difference((b, a), (c, a)).draws
    )


@pytest.mark.parametrize(
    ("first", "second", "measure", "word"),
    [
        ("Box", "no such label", None, "Use one of Box"),
        ("Bax", None, None, "Use one of Box"),
        ("Box", "E-1", "speed", "Use value or specific"),
        ("Box", None, "specific", "Name two parts"),
    ],
)
def test_a_difference_of_what_is_not_there_names_what_is(first, second, measure, word):
    with pytest.raises(KeyError, match=word):
        am.breakdown(TRAINS, "label", draws=20).difference(first, second, measure)


def test_without_draws_there_are_values_and_no_intervals():
    for by in ("label", "item", "coder", "pair"):
        found = am.breakdown(TRAINS, by, draws=0)
        assert found.table["value"].notna().all()
        assert found.table["further_low" if by == "item" else "low"].isna().all()
        with pytest.raises(ValueError, match="no draws"):
            found.difference(*found.table[found.parts[0]][:2])


def test_rules_of_seed_002_for_groups_without_the_label():
    cells = {
        "none": [("no", "no")] * 5,
        "one": [("link", "no")] + [("no", "no")] * 4,
        "both": [("link", "link"), ("no", "link")] + [("no", "no")] * 6,
        "all": [("link", "link")] * 3,
    }
    data = grouped(cells)
    plain = am.breakdown(data, "group", "kappa", draws=100).table.set_index("group")
    assert np.isnan(plain.loc["none", "value"])
    assert plain.loc["one", "value"] == 0
    found = am.breakdown(
        data, "group", "kappa", draws=100, undefined="label-given", positive="link"
    )
    table = found.table.set_index("group")
    kappa = am.agreement(data.select(items=[f"both{n}" for n in range(8)]), "kappa", draws=0).value
    assert table["value"].to_dict() == pytest.approx(
        {"none": 1.0, "one": 0.0, "both": kappa, "all": np.nan}, nan_ok=True
    )
    # The value expected by chance is the observed one where one coder never gave the label.
    assert table.loc["one", "observed"] == pytest.approx(table.loc["one", "expected"])
    assert table.loc[["none", "one"], "low"].isna().all()
    mean = found.overall.set_index("what").loc["mean over groups"]
    assert mean["value"] == pytest.approx((1 + 0 + kappa) / 3)
    assert mean["n"] == 3
    assert {"rules", "groups_without_value"} <= {note.code for note in found.notes}


def test_undefined_groups_take_the_number_asked_for():
    data = grouped({"none": [("no", "no")] * 5, "both": [("link", "link"), ("no", "link")] * 3})
    table = am.breakdown(data, "group", draws=0, undefined=1.0).table.set_index("group")
    assert table.loc["none", "value"] == 1.0
    assert table.loc["none", "note"].startswith("Every pairable label is the same")


def test_only_pairs_that_share_items_and_those_with_most_first(monkeypatch):
    rows = [(i, f"c{i // 4}-{c}", "xy"[(i + c) % 2]) for i in range(40) for c in range(2)]
    rows += [(99, "c0-0", "x"), (99, "c9-0", "x")]
    data = am.Annotations.from_records(rows)
    found = am.breakdown(data, "pair", "percent", draws=30)
    assert len(found.table) == 11
    assert found.table["n"].tolist() == [4] * 10 + [1]
    assert np.isnan(found.table["low"].iloc[-1])
    assert found.table["note"].iloc[-1].startswith("One item")
    [alone] = [note for note in found.notes if getattr(note, "code", "") == "pairs_alone"]
    assert alone.startswith(f"{20 * 19 // 2 - 11} pairs")
    monkeypatch.setattr(pairs_module, "MOST_PAIRS", 3)
    few = am.breakdown(data, "pair", "percent", draws=0)
    assert len(few.table) == 3
    assert any("the 3 that share most" in note for note in few.notes)
    monkeypatch.setattr(pairs_module, "MOST_PAIRS", 100)
    monkeypatch.setattr(pairs_module, "MOST_DRAWN", 2)
    some = am.breakdown(data, "pair", "percent", draws=30)
    assert some.table["low"].notna().tolist() == [True] * 2 + [False] * 9
    assert some.table["value"].tolist() == pytest.approx(found.table["value"].tolist())
    assert any("The 2 pairs that share most have intervals" in note for note in some.notes)
    with pytest.raises(ValueError, match="no draws"):
        some.difference(("c0-0", "c0-1"), ("c0-0", "c9-0"))
    point = am.breakdown(data, "pair", "percent", draws=0)
    assert not any("have intervals" in note for note in point.notes)


def test_the_matrix_of_pairs_is_symmetric_and_open_where_nothing_is_shared():
    rows = [(i, c, i % 2) for i in range(6) for c in ("a", "b")] + [(9, "b", 1), (9, "c", 1)]
    found = am.breakdown(am.Annotations.from_records(rows), "pair", "percent", draws=0)
    n = found.matrix("n")
    assert n.loc["a", "b"] == n.loc["b", "a"] == 6
    assert n.loc["b", "c"] == 1
    assert np.isnan(n.loc["a", "c"])
    assert np.isnan(np.diag(n)).all()
    with pytest.raises(ValueError, match="no pairs"):
        am.breakdown(TRAINS, "label", draws=0).matrix()


def test_a_constant_coder_and_an_unused_label_are_said():
    rows = [(i, "a", "xy"[i % 2]) for i in range(20)] + [(i, "b", "x") for i in range(20)]
    rows += [(i, "c", "xy"[i % 2]) for i in range(20)]
    data = am.Annotations.from_records(rows, labels=["x", "y", "z"])
    coders = am.breakdown(data, "coder", draws=50).table.set_index("coder")
    assert coders.loc["b", "note"] == "Used 'x' only."
    assert coders.loc["b", "difference"] > 0
    assert coders.loc["b", "p_better_without"] == 1
    labels = am.breakdown(data, "label", draws=50).table.set_index("label")
    assert labels.loc["z", "note"] == "Nobody gave it to an item with two labels or more."
    assert np.isnan(labels.loc["z", "value"])


@pytest.mark.calibration
@pytest.mark.slow
def test_many_parts_get_fewer_draws_and_a_note():
    from annomodels.coefficients.parts import setup as table

    rng = np.random.default_rng(3)
    n = table.MOST_NUMBERS // 2000 // 2 + 500
    rows = [(i, f"c{(i + j) % n}", int(rng.integers(2))) for i in range(n) for j in range(2)]
    found = am.breakdown(am.Annotations.from_records(rows), "coder")
    assert 200 <= found.draws.sizes["draw"] < 2000
    assert any("draws instead of 2,000" in note for note in found.notes)


def test_between_groups_recovers_a_known_spread():
    rng = np.random.default_rng(11)
    covered = []
    for _ in range(300):
        errors = rng.uniform(0.03, 0.1, 25)
        values = rng.normal(0.6, 0.12, 25) + rng.normal(0, errors)
        _, low, high = between_groups(values, errors)
        covered.append(low <= 0.12 <= high)
    assert 0.91 <= np.mean(covered) <= 0.985
    median, low, _ = between_groups(np.full(10, 0.5), np.full(10, 0.1))
    assert low < 0.01
    assert median < 0.06
    assert np.isnan(between_groups(np.array([0.1, 0.2]), np.array([0.1, 0.1]))).all()


def test_the_printed_breakdown_names_the_whole_and_cuts_long_tables():
    text = repr(am.breakdown(TRAINS, "label", draws=20))
    assert text.startswith("Krippendorff's alpha: each label against the rest")
    assert "all labels" in text
    crowd = am.datasets.load("crowd")
    text = repr(am.breakdown(crowd, "item", draws=0))
    assert f"... {crowd.n_items - 30:,} more rows in .table" in text
    assert len(text.splitlines()) > 30
    html = am.breakdown(TRAINS, "label", draws=20)._repr_html_()
    assert "<table" in html


def test_a_coder_who_shares_no_item_changes_nothing_at_all(rng):
    rows = [(i, c, int(rng.integers(3))) for i in range(40) for c in rng.choice(12, 3, False)]
    data = am.Annotations.from_records([*rows, ("own", "solo", 1)])
    for name in ("alpha", "k", "ac1"):
        row = am.breakdown(data, "coder", name, draws=50).table.set_index("coder").loc["solo"]
        assert (row["difference"], row["p_better_without"]) == (0, 0), name


def test_items_with_equal_shares_stay_in_the_order_of_the_data():
    rows = [(i, c, label) for i in range(30) for c, label in zip("abcd", "xxxy", strict=True)]
    items = am.diagnose(am.Annotations.from_records(rows), "k", draws=0).items
    assert items["item"].tolist() == list(range(30))


@pytest.mark.parametrize("missing", ["krippendorff", "gwet", "pairs", "pairwise", "listwise"])
def test_all_labels_together_are_the_coefficient_of_the_data(missing, rng):
    rows = [(i, c, int(rng.integers(3))) for i in range(30) for c in "abc" if rng.random() < 0.8]
    data = am.Annotations.from_records(rows)
    found = am.breakdown(data, "label", "k", missing=missing, draws=0).overall
    value = am.agreement(data, "k", missing=missing, draws=0).value
    assert found["value"].tolist() == pytest.approx([value])


def make(rng, truth, accuracy, coders="abc", items=None):
    names = range(len(truth)) if items is None else items
    return am.Annotations.from_records(
        [
            (i, c, int(t if rng.random() < accuracy else 1 - t))
            for i, t in zip(names, truth, strict=True)
            for c in coders
        ],
        labels=[0, 1],
    )


def test_the_value_is_the_difference_of_the_coefficients(rng):
    truth = rng.integers(0, 2, 60)
    one, two = make(rng, truth, 0.9), make(rng, truth, 0.7, "xy")
    for name in ("alpha", "k", "s", "percent", "multi_kappa", "light_kappa"):
        expected = am.agreement(one, name, draws=0).value - am.agreement(two, name, draws=0).value
        for same in (True, False):
            found = am.coefficients.compare_agreement(one, two, name, same_items=same, draws=50)
            assert found.value == pytest.approx(expected)
            assert found.low < found.value < found.high


def test_the_same_data_twice_differ_by_nothing(rng):
    data = make(rng, rng.integers(0, 2, 50), 0.8)
    paired = am.coefficients.compare_agreement(data, data, same_items=True, draws=500)
    apart = am.coefficients.compare_agreement(data, data, draws=500)
    # Only the chance items tell the two rounds apart.
    assert paired.value == apart.value == 0
    assert paired.high - paired.low < 0.5 * (apart.high - apart.low)
    assert "same_items=True" in apart.notes[0]
    assert "share their weights" in paired.notes[0]


def test_items_of_one_round_only_count_in_that_round(rng):
    truth = rng.integers(0, 2, 40)
    one, two = make(rng, truth, 0.9), make(rng, truth, 0.8, items=range(20, 60))
    found = am.coefficients.compare_agreement(one, two, same_items=True, draws=200)
    assert found.notes[0].startswith("20 items")
    expected = am.agreement(one, "alpha", draws=0).value - am.agreement(two, "alpha", draws=0).value
    assert found.value == pytest.approx(expected)


def test_other_label_sets_are_said(rng):
    one = make(rng, rng.integers(0, 2, 30), 0.9)
    rows = [(i, c, "xyz"[(i + (c == "a")) % 3]) for i in range(30) for c in "ab"]
    two = am.Annotations.from_records(rows)
    found = am.coefficients.compare_agreement(one, two, same_items=True, draws=50)
    assert any("2 and 3 labels" in note for note in found.notes)
    assert np.isfinite(found.draws).all()


def test_a_mean_of_kappas_of_few_shared_items_has_no_interval_here_either():
    rng = np.random.default_rng(3)
    crowds = [
        am.Annotations.from_records(
            [(i, int(c), int(rng.integers(2))) for i in range(90) for c in rng.choice(30, 4, False)]
        )
        for _ in range(2)
    ]
    for same in (False, True):
        found = am.coefficients.compare_agreement(*crowds, "light_kappa", same_items=same, draws=50)
        assert np.isfinite(found.value)
        assert np.isnan(found.interval()).all()
        assert any("Use multi_kappa" in note for note in found.notes)
    found = am.coefficients.compare_agreement(*crowds, "multi_kappa", draws=50)
    assert np.isfinite(found.interval()).all()
