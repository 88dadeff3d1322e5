"""What cannot be computed: refused with what can, or NaN with a reason and never 1 by default."""

import operator
import re
import tomllib
from pathlib import Path

import pytest

import annomodels as am
from annomodels.coefficients.reasons import REASONS
from annomodels.coefficients.rows import with_labels
from annomodels.data.messages import messages_beside
from annomodels.errors import AnnotationError, NotApplicable

FILE = Path(__file__).resolve().parents[1] / "cases" / "coefficients.toml"
GIVEN = tomllib.loads(FILE.read_text("utf-8"))


def data_of(name):
    given = GIVEN["data"][name]
    if isinstance(given, str):
        return am.datasets.load(given)
    return am.Annotations.from_records(map(tuple, given))


@pytest.mark.parametrize("case", GIVEN["case"], ids=lambda case: case["says"][0])
def test_a_call_is_refused(case):
    call = operator.attrgetter(case["call"])(am)
    data = map(data_of, case["data"])
    with pytest.raises((AnnotationError, NotApplicable)) as refused:
        call(*data, *case["arguments"], **case.get("options", {}))
    for words in case["says"]:
        assert words in str(refused.value)


@pytest.mark.parametrize(
    ("case", "name"), [(case, name) for case in GIVEN["value"] for name in case["names"]]
)
def test_values_at_the_edges(case, name):
    found = am.agreement(data_of(case["data"]), name, draws=50, **case.get("options", {}))
    for side in {"value", "observed", "expected"} & set(case):
        assert getattr(found, side) == pytest.approx(case[side], abs=1e-12, nan_ok=True), side
    assert found.reason == case["reason"]
    assert bool(found.note) == bool(case["reason"])
    assert all(words in found.note for words in case.get("says", ()))
    if case["reason"] in ("", "constant_coder"):
        assert found.draws.shape == (50,)
    else:
        assert found.draws is None
        assert all(x != x for x in (found.low, found.high, found.p_above(0.8)))


def test_repeats():
    data = data_of("repeats")
    first, last, kept = (
        am.agreement(data, "percent", duplicates=which, draws=0)
        for which in ("first", "last", "keep")
    )
    assert (first.value, last.value) == (0.5, 0.0)
    assert kept.value == pytest.approx((3 * (1 / 3) + 2 * 0) / 5)
    assert "1 label left out" in first.notes[0]
    assert "left out (first label kept)" in first.notes[0]
    assert "agreed with themselves in 0.0 % of 1" in first.notes[0]
    assert "counted" in kept.notes[0]
    panel = am.agreement(data, duplicates="keep", draws=0)
    assert panel["multi_kappa"].reason == "repeats_kept"


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


def test_gold_keeps_its_labels_when_more_are_declared():
    rows = data_of("constant").with_truth({0: "B"})
    declared = with_labels(rows, ["C", "B", "A"])
    assert declared.labels[declared.gold[0]] == "B"
    assert (declared.gold[1:] == -1).all()
    assert declared.to_frame().equals(rows.to_frame())
