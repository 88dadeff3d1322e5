"""NaN with a reason, never an exception and never 1 by default."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients.reasons import REASONS
from annomodels.data.messages import messages_beside
from tests.coefficients.test_refusals import GIVEN, data_of

SAME = [(i, c, "A") for i in range(3) for c in range(2)]
ONE_ITEM = [(1, 1, "A"), (1, 2, "B")]
CONSTANT = [(i, 1, "A") for i in range(4)] + [(i, 2, "AB"[i % 2]) for i in range(4)]
NEVER_ALL = [(1, 1, "A"), (1, 2, "B"), (2, 2, "A"), (2, 3, "A")]


def data(rows, **options):
    return am.Annotations.from_records(rows, **options)


@pytest.mark.parametrize(
    ("case", "name"), [(case, name) for case in GIVEN["value"] for name in case["names"]]
)
def test_values_at_the_edges(case, name):
    value, reason, options = case["value"], case["reason"], {"labels": case.get("labels")}
    found = am.agreement(data_of(case["data"]), name, draws=50, **options)
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


@pytest.mark.parametrize("folder", ["auditing", "coefficients", "planning"])
def test_every_note_is_used_and_known(folder):
    place = Path(am.__file__).parent / folder
    code = "".join(path.read_text("utf-8") for path in place.rglob("*.py"))
    known = set(messages_beside(str(place / "messages.toml")))
    assert not [name for name in known if f'"{name}"' not in code]
    assert set(re.findall(r'\bsay\(\s*"(\w+)"', code)) <= known


def test_every_reason_is_a_sentence():
    for sentence in REASONS.values():
        assert sentence[0].isupper()
        assert sentence.endswith((".", "0/0."))


def test_declared_labels():
    found = am.agreement(data(CONSTANT), "s", labels=["A", "B", "C", "D"], draws=0)
    assert found.expected == pytest.approx(0.25)


def test_gold_keeps_its_labels_when_more_are_declared():
    rows = data(CONSTANT).with_truth({0: "B"})
    from annomodels.coefficients.rows import with_labels

    declared = with_labels(rows, ["C", "B", "A"])
    assert declared.labels[declared.gold[0]] == "B"
    assert (declared.gold[1:] == -1).all()
    assert declared.to_frame().equals(rows.to_frame())
