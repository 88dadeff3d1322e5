"""NaN with a reason, never an exception and never 1 by default."""

import math

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients.reasons import REASONS
from annomodels.errors import AnnotationError, NotApplicable

SAME = [(i, c, "A") for i in range(3) for c in range(2)]
ONE_ITEM = [(1, 1, "A"), (1, 2, "B")]
NO_PAIRS = [(1, 1, "A"), (2, 2, "B")]
ONE_CODER = [(1, 1, "A"), (2, 1, "B")]
CONSTANT = [(i, 1, "A") for i in range(4)] + [(i, 2, "AB"[i % 2]) for i in range(4)]
LONE_B = [(1, 1, "A"), (1, 2, "A"), (2, 1, "A"), (2, 2, "A"), (3, 1, "B")]
NEVER_ALL = [(1, 1, "A"), (1, 2, "B"), (2, 2, "A"), (2, 3, "A")]
CORRECTED = ("s", "pi", "k", "kappa", "multi_kappa", "alpha", "ac1")


def data(rows, **options):
    return am.Annotations.from_records(rows, **options)


@pytest.mark.parametrize(
    ("rows", "labels", "name", "value", "reason"),
    [
        (SAME, None, "percent", 1.0, ""),
        *[(SAME, None, name, math.nan, "no_variation") for name in CORRECTED],
        (SAME, ["A", "B"], "s", 1.0, ""),
        (SAME, ["A", "B"], "ac1", 1.0, ""),
        *[
            (SAME, ["A", "B"], name, math.nan, "no_variation")
            for name in ("pi", "k", "kappa", "multi_kappa", "light_kappa", "alpha")
        ],
        (ONE_ITEM, None, "percent", 0.0, "too_few_items"),
        (ONE_ITEM, None, "s", -1.0, "too_few_items"),
        (ONE_ITEM, None, "kappa", 0.0, "too_few_items"),
        (ONE_ITEM, None, "alpha", 0.0, "too_few_items"),
        *[(NO_PAIRS, None, n, math.nan, "no_overlap") for n in ("percent", *CORRECTED)],
        *[(ONE_CODER, None, n, math.nan, "one_coder") for n in ("percent", *CORRECTED)],
        (CONSTANT, None, "kappa", 0.0, "constant_coder"),
        (CONSTANT, None, "multi_kappa", 0.0, "constant_coder"),
        (CONSTANT, None, "pi", -1 / 3, ""),
        (LONE_B, None, "percent", 1.0, ""),
        (LONE_B, None, "kappa", math.nan, "no_variation"),
        (LONE_B, None, "alpha", math.nan, "no_variation"),
    ],
)
def test_table_of_section_3(rows, labels, name, value, reason):
    found = am.agreement(data(rows, labels=labels), name, draws=50)
    assert found.value == pytest.approx(value, abs=1e-12, nan_ok=True)
    assert found.reason == reason
    assert bool(found.note) == bool(reason)
    if math.isnan(value) or reason == "too_few_items":
        assert found.draws is None
        assert all(map(math.isnan, (found.low, found.high, found.p_above(0.8))))
    else:
        assert found.draws.shape == (50,)


def test_two_constant_coders_have_kappa_0_and_pi_minus_1():
    rows = [(i, c, "AB"[c]) for i in range(3) for c in range(2)]
    panel = am.agreement(data(rows), draws=50)
    assert (panel["kappa"].value, panel["pi"].value) == (0.0, -1.0)
    assert panel["kappa"].reason == "constant_coder"


def test_listwise_without_a_complete_item():
    found = am.agreement(data(NEVER_ALL), "k", missing="listwise", draws=0)
    assert found.reason == "no_complete_items"
    assert math.isnan(found.value)


def test_labels_at_distance_0_leave_nothing_to_correct():
    rows = [(i, c, "ab"[(i + c) % 2]) for i in range(4) for c in range(2)]
    found = am.agreement(data(rows), "alpha", distance=np.zeros((2, 2)), draws=0)
    assert math.isnan(found.value)
    assert found.reason == "zero_expected_disagreement"
    assert (found.observed, found.expected) == (0.0, 0.0)


def test_repeats():
    rows = [(1, "a", "x"), (1, "a", "y"), (1, "b", "x"), (2, "a", "x"), (2, "b", "y")]
    first = am.agreement(data(rows), "percent", draws=0)
    last = am.agreement(data(rows), "percent", duplicates="last", draws=0)
    kept = am.agreement(data(rows), "percent", duplicates="keep", draws=0)
    assert (first.value, last.value) == (0.5, 0.0)
    assert kept.value == pytest.approx((3 * (1 / 3) + 2 * 0) / 5)
    assert "1 label left out" in first.notes[0]
    assert "left out (first label kept)" in first.notes[0]
    assert "agreed with themselves in 0.0 % of 1" in first.notes[0]
    assert "counted" in kept.notes[0]
    panel = am.agreement(data(rows), duplicates="keep", draws=0)
    assert panel["multi_kappa"].reason == "repeats_kept"
    with pytest.raises(NotApplicable, match="further labels"):
        am.agreement(data(rows), "kappa", duplicates="keep")
    with pytest.raises(AnnotationError, match="coder a, item 1"):
        am.agreement(data(rows), "percent", duplicates="error")


def test_undefined_gives_pipelines_a_number():
    panel = am.agreement(data(SAME), undefined=0.0, draws=0)
    assert panel["alpha"].value == 0.0
    assert panel["alpha"].reason == "no_variation"
    assert panel["percent"].value == 1.0
    assert am.agreement(data(ONE_ITEM), "pi", undefined=9.0, draws=0).value == -1.0


def test_total_disagreement_is_negative_and_not_clipped():
    rows = [(1, 1, "A"), (1, 2, "B"), (2, 1, "B"), (2, 2, "A")]
    panel = am.agreement(data(rows), draws=0)
    assert panel["pi"].value == panel["kappa"].value == -1.0
    assert panel["alpha"].value == -0.5


def test_every_reason_is_a_sentence():
    for sentence in REASONS.values():
        assert sentence[0].isupper()
        assert sentence.endswith((".", "0/0."))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("kapa", {}, "Did you mean 'kappa'"),
        ("alpha", {"distance": "cubic"}, "Unknown distance 'cubic'"),
        (
            "alpha",
            {"distance": "interval"},
            "needs numbers, but these labels are not numbers: A, B",
        ),
        ("alpha", {"distance": "ordinal"}, "Give them in their order"),
        ("alpha", {"distance": "jaccard"}, "needs labels that are sets"),
        ("alpha", {"missing": "gwet"}, "does not support the convention 'gwet'"),
        ("alpha", {"missing": "some"}, "is not a convention"),
        ("kappa_max", {"distance": "linear", "labels": ["A", "B"]}, "These take 'linear': percent"),
        ("icc_1", {}, "It needs labels that are numbers. Use alpha"),
        ("icc", {}, "'icc' can mean six coefficients"),
        ("s_item", {}, "needs a chance level for every item"),
        ("alpha_u", {}, "annomodels.coefficients.alpha_u"),
        ("bias", {"labels": ["A", "B", "C"]}, "the label set has 3"),
        ("kappa", {"margins": {"A": 0.5, "B": 0.5}}, "These take margins: pi, k, alpha"),
        ("k", {"chance": [0.5, 0.5, 0.5, 0.5]}, "These do: s_item"),
        ("k", {"undefined": "label-given"}, "about groups of items"),
        ("s", {"labels": 4}, "labels=4 is not a label set"),
        ("alpha", {"duplicates": "all"}, "Use one of first, last"),
        ("alpha", {"resample": "texts"}, "Use one of auto, items, groups"),
        ("alpha", {"resample": "groups"}, "needs the documents"),
    ],
)
def test_what_does_not_fit_says_what_does(name, options, message):
    with pytest.raises(NotApplicable, match=message):
        am.agreement(data(CONSTANT), name, **options)


def test_declared_labels():
    with pytest.raises(AnnotationError, match="not declared: B"):
        am.agreement(data(CONSTANT), "s", labels=["A"])
    with pytest.raises(AnnotationError, match="declared twice"):
        am.agreement(data(CONSTANT), "s", labels=["A", "B", "A"])
    found = am.agreement(data(CONSTANT), "s", labels=["A", "B", "C", "D"], draws=0)
    assert found.expected == pytest.approx(0.25)


def test_gold_keeps_its_labels_when_more_are_declared():
    rows = data(CONSTANT).with_truth({0: "B"})
    from annomodels.coefficients.rows import with_labels

    declared = with_labels(rows, ["C", "B", "A"])
    assert declared.labels[declared.gold[0]] == "B"
    assert (declared.gold[1:] == -1).all()
    assert declared.to_frame().equals(rows.to_frame())
