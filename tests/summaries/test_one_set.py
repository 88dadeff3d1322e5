"""One set of numbers: head, tables, plan and files of a fit never disagree."""

import numpy as np
import pytest

import annomodels as am
from annomodels.limits import NEXT_SHARE
from annomodels.planning.advise import supports
from annomodels.summaries.coders import certain, flagged

pytestmark = pytest.mark.slow
SHORT = {"chains": 2, "draws": 150, "warmup": 100, "seed": 1, "extend": False}


@pytest.fixture(scope="module", params=["crowd", "boxcar"])
def fit(request):
    return am.fit(am.datasets.load(request.param), **SHORT)


def assert_one_number(wrong, curve):
    table, n = curve.table, wrong.n
    for values in (table, curve.draws.rename(low="accuracy_low", high="accuracy_high")):
        inside = values["accuracy_low"] <= values["accuracy"]
        inside &= values["accuracy"] <= values["accuracy_high"]
        assert (inside | np.isnan(values["accuracy"])).all()
    row = table.iloc[0]
    assert row["kept"] == n
    assert row["wrong"] == pytest.approx(wrong.gold)
    ends = [1 - wrong.gold_high / n, 1 - wrong.gold_low / n]
    assert [row["accuracy_low"], row["accuracy_high"]] == pytest.approx(ends)


def contested(fit):
    table = fit.items().table
    return set(table["item"][table["state"] == "contested"])


def test_the_curve_ends_at_the_number_of_the_gold_standard(fit):
    wrong = fit.wrong_labels()
    assert_one_number(wrong, fit.coverage())
    said = f"{wrong.gold:,.0f} are expected to be wrong (95 % interval {wrong.gold_low:.0f} to "
    assert said in fit.gold().notes[0]
    assert fit.next(stop=0.01).before == pytest.approx(wrong.gold)


def test_an_item_is_to_decide_or_to_label_and_nobody_gets_most_of_the_labels(fit):
    plan = fit.next()
    assert not contested(fit) & set(plan.table["item"])
    if fit.data.n_coders >= 8:
        named = plan.table["coder"][plan.table["coder"] != ""]
        assert named.value_counts().max() <= NEXT_SHARE * len(plan.table)
    only = list(fit.data.coders[:1])
    assert set(fit.next(coders=only).table["coder"]) <= set(only)


def test_every_estimate_is_in_its_interval_even_of_coders_with_one_label():
    crowd = am.datasets.load("crowd").to_frame()
    rows = [(i, c if n % 3 else f"once {n}", k) for n, (i, c, k) in enumerate(crowd.to_numpy())]
    fit = am.fit(am.Annotations.from_records(rows), **SHORT)
    for table in (fit.coders().table, fit.labels().table, fit.items().table, fit.next().coders):
        for name in (each.removesuffix("_low") for each in table if each.endswith("_low")):
            middle, low, high = (table[name + end] for end in ("", "_low", "_high"))
            assert not ((middle < low) | (middle > high)).any(), name


def test_flagged_coders_are_those_not_to_ask(fit):
    table, plan = fit.coders().table, fit.next()
    named = set(table["coder"][flagged(table)])
    advised = plan.coders["advice"].str.startswith(("stop", "correct", "give test items"))
    assert named <= set(plan.coders["coder"][advised])
    assert not named & set(plan.table["coder"])
    assert not (certain(table) & ~flagged(table)).any()
    assert not table["kind"][certain(table)].isin(["good", "not enough evidence"]).any()


def test_what_a_run_lists_a_check_announces(fit):
    able = {use.what for use in supports(fit.data) if not use.why}
    assert bool(contested(fit)) <= ("items with two readings" in able)


def test_truth_that_was_held_back_gives_the_tested_number():
    fit = am.fit(am.datasets.load("crowd"), "hierarchical", **SHORT)
    labels, gold = fit.data.labels, fit.gold().table["label"]
    # every tenth gold label is taken for wrong
    known = {
        item: labels[(labels.index(label) + (n % 10 == 0)) % len(labels)]
        for n, (item, label) in enumerate(zip(fit.data.items, gold, strict=True))
    }
    wrong = fit.wrong_labels(known)
    assert (wrong.tested, wrong.gold, wrong.gold_low, wrong.gold_high) == (200, 20, 20, 20)
    assert_one_number(wrong, fit.coverage(known))
    some = fit.wrong_labels(dict(list(known.items())[:50]))
    p = fit.tree["truth"]["p_truth"].values.max(axis=1)
    assert some.gold == pytest.approx(5 + (1 - p[50:]).sum())
    assert some.gold_low >= 5
    assert_one_number(fit.wrong_labels(), fit.coverage())


def test_an_audit_does_not_lengthen_the_list_of_contested_items():
    made = am.simulate(200, 15, 3, 8, seed=2)
    fit = am.fit(made.annotations, "hierarchical", **SHORT)
    audit = am.audit(fit, 40, seed=1)
    estimate = am.estimate(fit, {i: made.answers[i] for i in audit.table["item"]}, audit)
    after = estimate.after(fit)
    assert contested(after) <= contested(fit) - set(audit.table["item"])
    row, wrong = estimate.row("still_wrong"), after.wrong_labels()
    assert wrong.gold == row["value"]
    assert (wrong.gold_low, wrong.gold_high) == (np.floor(row["low"]), np.ceil(row["high"]))
    assert_one_number(wrong, after.coverage())
    before, model = fit.wrong_labels(), estimate.row("wrong")
    ends = [before.gold, before.gold_low, before.gold_high]
    assert [model["model"], model["model_low"], model["model_high"]] == pytest.approx(ends)
    assert not set(audit.table["item"]) & set(after.next().table["item"])
