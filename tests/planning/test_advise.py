"""Which model suits: rules, their sentences, and what failed checks lead to."""

import dataclasses

import pytest

import annomodels as am
from annomodels.fitting.run import default_model
from annomodels.models.catalog import MODELS
from annomodels.planning import advise as rules
from annomodels.planning.advise import (
    ALSO,
    FIRST,
    DataFacts,
    Use,
    facts_of,
    holding,
    sentence,
    supports,
)

SHORT = {"chains": 1, "draws": 10, "warmup": 10, "extend": False, "seed": 1}
USUAL = DataFacts(500, 8, 3, 2000, 4.0, 250.0, 1.0, "nominal", 0, 0)


def test_facts_are_counted():
    made = am.simulate(40, 10, 4, (1, 3), gold=7, seed=2)
    found = facts_of(made.annotations)
    frame = made.annotations.to_frame()
    assert (found.items, found.coders, found.labels) == (40, 10, 4)
    assert found.annotations == len(frame)
    assert found.per_item == frame.groupby("item").size().median()
    assert found.per_coder == frame.groupby("coder").size().median()
    assert found.shared == (frame.groupby("item").size() >= 2).mean()
    assert found.gold == 7
    assert facts_of(am.datasets.load("anesthesia")).repeats == 90


@pytest.mark.parametrize(
    ("changes", "model", "words"),
    [
        ({}, "stack", "These data have 8 coders and a median of 4 labels per item"),
        ({"scale": "ordinal"}, "stack", "Coders often err on the same items"),
        ({"usual": "hierarchical"}, "hierarchical", "The stack does not suit these data"),
        ({"usual": "pooled"}, "pooled", "the model treats all coders alike"),
        ({"scale": "interval"}, "interval", "The labels are numbers"),
    ],
    ids=["usual", "ordinal", "too many", "more rows than labels", "numbers"],
)
def test_the_first_model_follows_from_the_facts(changes, model, words):
    facts = dataclasses.replace(USUAL, **changes)
    first = holding(FIRST, facts)[0]
    assert first.model == model
    assert first.said(facts).startswith(words) or words in first.said(facts)


def test_a_rule_whose_model_does_not_exist_is_passed_over(monkeypatch):
    monkeypatch.setattr(rules, "MODELS", {"hierarchical": MODELS["hierarchical"]})
    facts = dataclasses.replace(USUAL, scale="ordinal", per_item=20.0, gold=50, coders=40)
    for table in (FIRST, ALSO):
        assert {rule.model for rule in holding(table, facts)} == {"hierarchical"}


def test_rules_say_what_they_rest_on():
    rich = dataclasses.replace(USUAL, per_item=20.0, gold=1500, coders=40, per_coder=7.5)
    said = {rule.model: rule.said(rich) for rule in (*FIRST, *ALSO)}
    assert "{" not in " ".join(said.values())
    assert "1,500 known labels" in said["consensus"]
    assert "7.5 for the median coder" in said["class-conditional"]
    suits = {rule.model for rule in ALSO if rule.when(rich)}
    assert suits == {rule.model for rule in ALSO} - {"ordinal"}
    ordered = dataclasses.replace(rich, scale="ordinal")
    assert "ordinal" in {rule.model for rule in ALSO if rule.when(ordered)}
    assert holding(FIRST, rich)[0].model == holding(FIRST, ordered)[0].model == "stack"
    few = [rule.model for rule in ALSO if rule.when(dataclasses.replace(USUAL, per_item=2.0))]
    assert few == ["hierarchical"]


@pytest.mark.slow
def test_the_model_that_suits_is_the_one_that_is_fitted_by_default():
    made = am.simulate(60, 5, 2, 3, seed=1).annotations
    huge = am.simulate(40, 20, 300, 4, seed=1).annotations
    wide = am.simulate(400, 60, 100, 8, seed=1).annotations
    assert am.advise(made).model == "stack" == default_model(made)
    assert am.fit(made, **SHORT).model.name == "stack"
    assert am.advise(huge).model == default_model(huge) == "pooled"
    assert am.advise(wide).model == default_model(wide) == "hierarchical"
    assert default_model(made, "em") == "hierarchical"


@pytest.mark.parametrize("fitted", [False, pytest.param(True, marks=pytest.mark.calibration)])
def test_labels_that_are_not_classes_are_for_the_hierarchical_model(fitted):
    silent = am.Annotations.from_records(
        [(i, j, "no" if (i + j) % 3 else "dk") for i in range(9) for j in range(3)]
        + [(i, 3, "yes") for i in range(9)],
        dont_know=["dk"],
    )
    assert am.advise(silent).model == "hierarchical" == default_model(silent)
    if fitted:
        assert am.fit(silent, **SHORT).model.name == "hierarchical"


def test_advice_without_a_fit_is_of_facts_alone():
    found = am.advise(am.simulate(100, 30, 3, 4, seed=1).annotations)
    assert found.model == found.table["model"][0] == "stack"
    assert found.call == 'am.fit(data, "stack")'
    assert list(found.table["place"]) == ["first", *["compare"] * (len(found.table) - 1)]
    assert found.reasons[-1].startswith("Worth comparing with am.compare: ")
    assert found.table["model"].is_unique
    assert set(found.table["model"]) <= set(MODELS)
    assert repr(found).splitlines()[0] == found.call
    assert found.to_dict()["facts"]["coders"] == 30


def test_labels_that_are_numbers_have_a_verb_of_their_own():
    rows = [(i, j, i + j) for i in range(40) for j in range(3)]
    found = am.advise(am.Annotations.from_records(rows, scale="interval"))
    assert found.model == "interval"
    assert found.call == 'am.fit(data, "interval")'


def test_data_from_which_nothing_can_be_learnt_get_reasons_and_no_model():
    found = am.advise(am.Annotations.from_records([(1, "a", "x"), (2, "a", "y")]))
    assert found.model == found.call == ""
    assert "Only one coder" in found.reasons[0]
    assert len(found.table) == 0
    assert repr(found).startswith("No model can be fitted.")


def test_thin_data_are_spoken_of():
    rows = [(i, j, (i + j) % 2) for i in range(20) for j in (i % 4,)]
    rows += [(i, 5, i % 2) for i in range(6)]
    found = am.advise(am.Annotations.from_records([*rows, (0, 5, 0)]))
    text = " ".join(found.reasons)
    assert "Only 30 % of the items have labels of two coders" in text
    assert "Few items (20)" in text
    assert "1 label repeats an item" in text or "labels repeat an item" in text


OPTIONS = {"chains": 2, "draws": 200, "warmup": 100, "extend": False}


@pytest.mark.slow
def test_caries_leads_from_the_failed_check_to_difficulty():
    """Espeland & Handelman 1989: hierarchical Dawid-Skene does not reproduce the votes."""
    caries = am.datasets.load("caries")
    found = am.advise(caries, fit=am.fit(caries, "hierarchical", seed=1, **OPTIONS))
    assert found.model == "scalar-difficulty"
    assert "hierarchical does not reproduce the data" in found.reasons[0]
    assert "Not reproduced: votes, chi-square" in found.reasons[0]
    assert list(found.table["model"])[:2] == ["scalar-difficulty", "stack"]


@pytest.mark.calibration
def test_what_is_suggested_can_be_fitted_and_checked():
    caries = am.datasets.load("caries")
    found = am.advise(caries, fit=am.fit(caries, am.advise(caries).model, seed=1, **OPTIONS))
    assert found.model == "stack"
    # coders of caries err on the same items, which the votes in the stack take into account
    assert found.reasons[0].startswith("P(truth) of the stack allows for what its coders leave")
    assert "errors on the same items" in found.reasons[0]


@pytest.mark.slow
def test_a_model_that_reproduces_the_labels_is_kept():
    made = am.simulate(300, 8, 2, 5, seed=3)
    fit = am.fit(made.annotations, "hierarchical", seed=1, **OPTIONS)
    found = am.advise(made.annotations, fit=fit)
    assert found.model == "hierarchical"
    assert found.reasons[0] == (
        "The model hierarchical reproduces the labels; stack may suit as well."
    )


@pytest.mark.slow
def test_difficult_items_lead_to_difficulty_and_pooled_to_coders():
    made = am.simulate(600, 6, 2, 6, difficulty=2.5, accuracy=0.9, seed=4)
    fit = am.fit(made.annotations, "hierarchical", seed=1, **OPTIONS)
    assert am.advise(made.annotations, fit=fit).model == "scalar-difficulty"
    uneven = am.simulate(400, 6, 2, 6, accuracy=[0.55, 0.6, 0.7, 0.9, 0.95, 0.97], seed=5)
    pooled = am.fit(uneven.annotations, "pooled", seed=1, **OPTIONS)
    found = am.advise(uneven.annotations, fit=pooled)
    assert found.model != "pooled"
    assert "The model pooled does not reproduce the data" in found.reasons[0]


@pytest.mark.slow
def test_fits_of_other_data_and_stray_options_are_refused():
    made, other = (am.simulate(60, 5, 2, 3, seed=seed).annotations for seed in (1, 2))
    fit = am.fit(made, "hierarchical", seed=1, **OPTIONS)
    with pytest.raises(am.errors.NotApplicable, match="of other data"):
        am.advise(other, fit=fit)


def test_where_no_truth_is_known_an_audit_is_named():
    made = am.simulate(items=60, coders=6, seed=1).annotations
    assert any("am.audit(fit, 60)" in reason for reason in am.advise(made).reasons)
    known = made.with_truth(dict.fromkeys(made.items[:3], made.labels[0]))
    assert not any("am.audit" in reason for reason in am.advise(known).reasons)


@pytest.mark.parametrize(
    ("coders", "judges"),
    [
        (("gpt-4", "claude-3-opus", "llama3:70b", "ana"), True),
        (("judge:large", "judge:small", "ana"), True),
        (("ana", "ben", "phil", "olga"), False),
        (("modeller 1", "w12", "o'brien", "palmer"), False),
    ],
)
def test_panels_of_judges_are_sent_to_people(coders, judges):
    rows = [(f"t{n}", coder, "ab"[n % 2]) for n in range(40) for coder in coders]
    reasons = am.advise(am.Annotations.from_records(rows)).reasons
    assert any("look like language models" in reason for reason in reasons) is judges


def test_what_data_support_by_question():
    rows = [("t1", "a", "x"), ("t1", "b", "y"), ("t2", "a", "x"), ("t2", "b", "x")]
    uses = [(use.what, use.why) for use in supports(am.Annotations.from_records(rows))]
    assert uses[:3] == [("alpha", ""), ("gold", ""), ("coders' accuracy", "2 coders")]
    alpha, gold = Use("alpha"), Use("gold", "2 coders")
    assert sentence({"q": (alpha, gold)}) == "supports: alpha; not yet: gold (2 coders)"
    several = sentence({"q": (alpha, Use("gold")), "r": (alpha, gold)})
    expected = "supports: alpha by question, gold for q; not yet: gold for r (2 coders)"
    assert several == expected
