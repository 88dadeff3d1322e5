"""Answers, draws and options that do not fit: each has its sentence, and none a crash."""

import json

import numpy as np
import pytest

import annomodels as am
from annomodels.errors import AnnotationError, NotApplicable

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _no_plan(monkeypatch):
    """Leave out the forecasts of widths."""
    from annomodels.auditing import sample, tables

    monkeypatch.setattr(sample, "forecast_widths", lambda *_: [])
    monkeypatch.setattr(tables, "further", lambda *_: [])


@pytest.fixture(scope="module")
def audit(world):
    return am.audit(world.fit, 60)


@pytest.fixture(scope="module")
def answers(world, audit):
    return world.answers(audit.table["item"])


def told(fit, answers, *more, **options):
    return am.estimate(fit, answers, *more, draws=500, **options)


def width(found, ends=("low", "high")):
    row = found.row("accuracy")
    return row[ends[1]] - row[ends[0]]


def said(found):
    return " ".join(found.notes)


@pytest.mark.parametrize("blank", ["", None, float("nan")])
def test_blank_answers_are_none(world, audit, answers, blank):
    with pytest.raises(AnnotationError, match="No answers"):
        told(world.fit, dict.fromkeys(answers, blank), audit)


def test_files_with_two_answers_and_with_none(world, audit, answers, tmp_path):
    path = tmp_path / "audit.csv"
    rows = [f"{item},{label}" for item, label in answers.items()]
    path.write_text("\n".join(["item,label", *rows]))
    by_file, by_mapping = told(world.fit, path, audit), told(world.fit, answers, audit)
    assert by_file.table.equals(by_mapping.table)
    other = {"k00": "k01", "k01": "k00"}
    first = next(iter(answers))
    path.write_text("\n".join(["item,label", *rows, f"{first},{other[answers[first]]}"]))
    with pytest.raises(AnnotationError, match="more than one truth"):
        told(world.fit, path, audit)
    path.write_text("item,label\n" + "\n".join(f"{item}," for item in answers))
    with pytest.raises(AnnotationError, match=r"'label' of audit.csv is empty: 0 of 60"):
        told(world.fit, path, audit)


def test_one_item_under_two_names_counts_once(make):
    fit = make.fit(np.full((50, 2), 0.5), names=tuple(range(50)), labels=(0, 1))
    with pytest.raises(AnnotationError, match="1 item with more than one truth: 1"):
        told(fit, {1: 0, "1": 1, 2: 1}, use="audit")
    assert told(fit, {1: 0, "1": "0", 2: 1}, use="audit").n_audited == 2


def test_audits_of_one_label_are_noted(world, audit, answers):
    found = told(world.fit, dict.fromkeys(answers, "k00"), audit)
    assert "k00 is the label of all" in said(found)
    row = found.row("prevalence", "k01")
    assert 0 <= row["low"] < row["high"] < 0.3


def test_audits_of_other_data_and_of_files_that_are_none(world, make, audit, answers, tmp_path):
    other = make.world(seed=2)
    with pytest.raises(AnnotationError, match="other data"):
        told(other.fit, other.answers(answers), audit)
    path = audit.save(tmp_path / "audit.json")
    saved = json.loads(path.read_text())
    damaged = [
        [],
        {**saved, "kind": "other"},
        {**saved, "version": 99},
        {**saved, "rounds": [["nobody"]]},
        {**saved, "chances": saved["chances"][1:]},
        {**saved, "chances": [0.0, *saved["chances"][1:]]},
        {**saved, "chances": ["x", *saved["chances"][1:]]},
        {name: value for name, value in saved.items() if name != "first"},
    ]
    for values in damaged:
        path.write_text(json.dumps(values))
        with pytest.raises(AnnotationError):
            told(world.fit, answers, path)


def test_audits_of_another_fit_of_the_same_data_count_by_their_chances(world, make, audit, answers):
    data = world.fit.data
    votes = np.full((data.n_items, data.n_coders), -1)
    votes[data.item, data.coder] = data.label
    p = np.sqrt(world.fit.tree["truth"]["p_truth"].values)
    other = make.fit(p / p.sum(axis=1, keepdims=True), votes)
    found = told(other, answers, audit)
    assert "another fit" in said(found)
    assert found.by_design
    chance = dict(zip(audit.drawn["item"], audit.drawn["chance"], strict=True))
    same = told(other, answers, weights={item: 1 / chance[item] for item in answers})
    # of weights that nobody knows the strata of the audit alone says what is usual, and no more
    ends = ["audit_low", "audit_high"]
    assert found.table.drop(columns=ends).equals(same.table.drop(columns=ends))
    assert width(same, ends) < width(found, ends)


def test_items_chosen_by_hand_give_no_claim(world, answers):
    found = told(world.fit, answers)
    assert not found.by_design
    assert found.n_audited == 0
    assert "unknown how" in found.notes[0]
    assert found.table[["audit", "audit_low", "audit_high"]].isna().all(axis=None)
    # chosen items count for themselves: of 400 all known, nothing is open
    every = told(world.fit, world.answers(world.fit.data.items))
    assert every.row("wrong")["value"] == world.wrong
    assert width(every) == 0


@pytest.mark.parametrize("how", ["random", "design"])
def test_everything_audited_is_the_truth(world, how):
    answers = world.answers(world.fit.data.items)
    if how == "random":
        found = told(world.fit, answers, use="audit")
        assert found.row("accuracy")["normal"] == pytest.approx(1 - world.wrong / 400)
    else:
        found = told(world.fit, answers, am.audit(world.fit, 400))
    for ends in (("low", "high"), ("audit_low", "audit_high")):
        row = found.row("wrong")
        assert [row[end] for end in ends] == pytest.approx([world.wrong] * 2)
    right = found.coders.set_index("coder")
    np.testing.assert_allclose(right["share_right_low"], right["right"] / right["n"])
    shares = np.bincount(world.truth, minlength=2) / 400
    for label, share in zip(("k00", "k01"), shares, strict=True):
        assert found.row("prevalence", label)["value"] == pytest.approx(share)


@pytest.mark.parametrize(
    ("value", "word"),
    [(1, "add up to 60"), (-1, "above 0"), (0, "above 0"), (float("nan"), "above 0"),
     (float("inf"), "above 0"), ("many", "above 0"), (1e6, "add up"), (None, "above 0")],
)  # fmt: skip
def test_weights_that_do_not_fit(world, answers, value, word):
    with pytest.raises(AnnotationError, match=word):
        told(world.fit, answers, weights=dict.fromkeys(answers, value))


def test_weights_that_are_missing(world, answers):
    with pytest.raises(AnnotationError, match="55 audited items without a weight"):
        told(world.fit, answers, weights=dict.fromkeys(list(answers)[:5], 7.0))


def test_options_that_contradict_each_other(world, audit, answers):
    for options, word in (
        ({"use": "nonsense"}, "'nonsense' is unknown"),
        ({"audit": audit, "use": "audit"}, "The audit already contains"),
        ({"audit": audit, "weights": {}}, "The audit already contains"),
        ({"use": "audit", "weights": {}}, "not both"),
    ):
        with pytest.raises(NotApplicable, match=word):
            told(world.fit, answers, **options)


def test_clusters_count_once(world, audit, answers):
    alone = told(world.fit, answers, audit)
    in_threes = told(
        world.fit, answers, audit, clusters={item: n // 3 for n, item in enumerate(answers)}
    )
    one = told(world.fit, answers, audit, clusters=dict.fromkeys(world.fit.data.items, "all"))
    own = told(world.fit, answers, audit, clusters={item: item for item in answers})
    assert "20 clusters" in said(in_threes)
    ends = "audit_low", "audit_high"
    assert width(alone) < width(in_threes) < width(one)
    assert width(alone, ends) < width(in_threes, ends) < width(one, ends)
    numbers = alone.table.select_dtypes("number")
    np.testing.assert_allclose(own.table[numbers.columns], numbers)
    assert one.row("accuracy")["audit"] == pytest.approx(alone.row("accuracy")["audit"])
    with pytest.raises(AnnotationError, match="None of these items"):
        told(world.fit, answers, audit, clusters={"nobody": 1})


def test_large_clusters_keep_their_share_of_the_items(make):
    # half of the items are one cluster, all wrong: a count of one would call it 1 of 31
    votes = np.zeros((400, 3), dtype=int)
    fit = make.fit(np.tile([0.8, 0.2], (400, 1)), votes)
    names = fit.data.items
    truth = {name: "k01" if n < 200 else "k00" for n, name in enumerate(names)}
    cluster = {name: -7 if n < 200 else n for n, name in enumerate(names)}
    drawn = am.audit(fit, 60, seed=3).table["item"]
    some = {name: truth[name] for name in drawn}
    found = told(fit, some, use="audit", clusters=cluster)
    row = found.row("accuracy")
    share = np.mean([label == "k00" for label in some.values()])
    assert row["audit"] == pytest.approx(share)
    assert row["low"] < 0.5 < row["high"]


def test_known_truth_is_not_part_of_the_estimate(make):
    world = make.world(gold=40)
    audit = am.audit(world.fit, 30)
    found = told(world.fit, world.answers(audit.table["item"]), audit)
    assert found.n_items == 360
    known = [n for n, k in enumerate(world.fit.data.gold) if k >= 0]
    names = [world.fit.data.items[n] for n in known]
    with pytest.raises(AnnotationError, match="already used the true labels of all"):
        told(world.fit, world.answers(names), use="audit")
    both = world.answers([*names, *audit.table["item"]])
    assert "40 items with a true label that the fit already used" in said(
        told(world.fit, both, audit)
    )


def test_strata_without_answers_widen_the_interval(world, audit, answers):
    drawn = audit.drawn.set_index("item")["stratum"]
    gone = {item for item in answers if drawn[item] <= 3}
    found = told(world.fit, {k: v for k, v in answers.items() if k not in gone}, audit)
    assert f"{len(gone)} drawn items not judged" in said(found)
    assert width(found) > width(told(world.fit, answers, audit)) * 0.9


@pytest.mark.parametrize(("sharp", "contradicted"), [(1.0, False), (6.0, True)])
def test_numbers_are_possible_and_contradictions_tested(make, sharp, contradicted):
    world = make.world(n=150, k=3, sharp=sharp, seed=3)
    for size, drawn in ((12, None), (40, None), (40, "audit")):
        drawn_here = am.audit(world.fit, size, seed=2)
        answers = world.answers(drawn_here.table["item"])
        found = told(world.fit, answers, *([] if drawn else [drawn_here]), use=drawn)
        table = found.table
        assert (table["low"] <= table["value"]).all()
        assert (table["value"] <= table["high"]).all()
        assert (table["low"] >= 0).all()
        shares = table["quantity"].isin(["accuracy", "prevalence"])
        assert (table.loc[shares, "high"] <= 1).all()
        assert found.draws["still_wrong"].min() >= 0
        assert table.loc[table["quantity"] == "prevalence", "value"].sum() == pytest.approx(1)
    assert ("contradicts the fit about the number of wrong" in said(found)) == contradicted


@pytest.mark.parametrize("drawn", [None, "audit"])
def test_one_audited_item(world, drawn):
    audit = am.audit(world.fit, 1) if drawn is None else None
    names = world.fit.data.items[:1] if audit is None else audit.table["item"]
    found = told(world.fit, world.answers(names), audit, use=drawn)
    row = found.row("accuracy")
    assert 0 <= row["audit_low"] < row["audit_high"] <= 1
    assert width(found) > 0.3


def test_one_label_and_thirty(make):
    one = make.fit(np.ones((50, 1)))
    audit = am.audit(one, 10)
    found = told(one, dict.fromkeys(audit.table["item"], "k00"), audit)
    assert found.row("prevalence", "k00")["value"] == 1
    many = make.world(n=45, k=30, seed=4)
    audit = am.audit(many.fit, 12)
    found = told(many.fit, many.answers(audit.table["item"]), audit)
    of_labels = found.table[found.table["quantity"] == "prevalence"]
    assert of_labels["value"].sum() == pytest.approx(1)
    assert len(of_labels) == 30
    assert of_labels["low"].ge(0).all()
    assert of_labels["high"].le(1).all()


def test_coders_and_items_without_labels(make):
    votes = np.zeros((200, 4), dtype=int)
    votes[:, 2] = np.where(np.arange(200) < 3, 1, -1)
    votes[:, 3] = -1
    votes[150:] = -1
    fit = make.fit(np.random.default_rng(0).dirichlet([1, 1], 200), votes)
    audit = am.audit(fit, 20, among=list(fit.data.items[10:]))
    by = {"third": {item: n % 3 for n, item in enumerate(fit.data.items[:7])}}
    found = told(fit, dict.fromkeys(audit.table["item"], "k01"), audit, by=by)
    coders = found.coders.set_index("coder")
    assert coders.loc["c3", ["share_right", "share_right_low", "share_right_high"]].isna().all()
    assert coders.loc["c0", "share_right"] < 0.5
    assert coders.loc["c2", "audited"] == 0


def test_a_part_without_audited_items_has_the_model_and_no_interval(make):
    world = make.world(n=120, k=2, seed=3)
    items = world.fit.data.items
    audit = am.audit(world.fit, 30, among=list(items[:80]))
    some, by = set(audit.table["item"]), {}
    by["part"] = {item: "audited" if item in some else "other" for item in items[:80]}
    found = told(world.fit, world.answers(some), audit, by=by)
    rows = found.slices[found.slices["quantity"] == "accuracy"].set_index("slice")
    p = world.fit.tree["truth"]["p_truth"].values[:80].max(axis=1)
    other = np.array([item not in some for item in items[:80]])
    assert rows.loc["other", "value"] == pytest.approx(p[other].mean())
    assert rows.loc["other", ["low", "high"]].isna().all()
    assert rows.loc["audited", "low"] == rows.loc["audited", "high"]  # all are known
    less = found.differences[found.differences["quantity"] == "accuracy"]
    assert less[["difference", "low", "high", "p_higher"]].isna().all(axis=None)


def test_shares_of_classes_are_those_of_the_audited_items(make):
    # 8 of 10 audited items of the first label, all drawn alike: Clopper and Pearson 1934
    votes = np.zeros((4000, 2), dtype=int)
    votes[:2, 1] = 1
    fit = make.fit(np.tile([0.9, 0.1], (4000, 1)), votes)
    answers = dict.fromkeys(fit.data.items[:10], "k00")
    found = am.estimate(fit, answers, use="audit", draws=400).classes
    row = found.query("coder == 'c1' and label == 'k00'").iloc[0]
    assert (row["audited"], row["right"], row["share"]) == (10, 8, 0.8)
    assert row["share_low"] == pytest.approx(0.4439, abs=0.002)
    assert row["share_high"] == pytest.approx(0.9748, abs=0.002)
    assert found.query("label == 'k01'")[["share", "share_low", "share_high"]].isna().all(axis=None)


@pytest.mark.calibration
def test_fits_without_classes_have_nothing_to_audit():
    rows = [(i, j, float(i % 7 + j / 10)) for i in range(20) for j in range(3)]
    data = am.Annotations.from_records(rows, scale="interval")
    fit = am.fit(data, "interval", draws=20, warmup=20, chains=2, seed=1)
    for ask in (lambda: am.audit(fit, 5), lambda: am.estimate(fit, {0: 1.0})):
        with pytest.raises(NotApplicable, match="Nothing to audit"):
            ask()
