"""Every agreed case about labels and items, through am.breakdown, whatever the order and names."""

import json
from pathlib import Path

import pytest

import annomodels as am

NAMES = {"category_kappa", "item_agreement", "alpha_dfbeta_item"}
FILE = Path(__file__).resolve().parents[1] / "cases" / "agreement_cases.json"
CASES = [case for case in json.loads(FILE.read_text("utf-8")) if case["coefficient"] in NAMES]


def test_there_are_cases_of_each_kind():
    kinds = [case["coefficient"] for case in CASES]
    assert {name: kinds.count(name) for name in NAMES} == {
        "category_kappa": 9,
        "item_agreement": 3,
        "alpha_dfbeta_item": 1,
    }


def found_in(case, rows, item_name):
    """Value of the case in a breakdown of the rows; `item_name` renames items."""
    data = am.Annotations.from_records(rows)
    if case["coefficient"] == "category_kappa":
        table = am.breakdown(data, "label", "k", draws=0).table.set_index("label")
        return table.loc[case["options"]["category"], "value"]
    table = am.breakdown(data, "item", draws=0, distance="nominal").table.set_index("item")
    if case["coefficient"] == "alpha_dfbeta_item":
        return table.loc[item_name(case["options"]["item"]), "influence"]
    return table.loc[[item_name(item) for item, _ in case["expected"]], "value"].to_numpy()


def check(case, value):
    expected = case["expected"]
    if isinstance(expected, list):
        expected = [number for _, number in expected]
    assert value == pytest.approx(expected, abs=case["tolerance"])
    assert value == pytest.approx(case["computed"], abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_breakdown_case(case):
    check(case, found_in(case, case["data"], lambda item: item))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_breakdown_case_does_not_depend_on_order_or_names(case, rng):
    items = sorted({row[0] for row in case["data"]}, key=str)
    coders = sorted({row[1] for row in case["data"]}, key=str)
    new_item = dict(zip(items, rng.permutation(len(items)).tolist(), strict=True))
    new_coder = dict(zip(coders, rng.permutation(len(coders)).tolist(), strict=True))
    rows = [(new_item[i], new_coder[c], label) for i, c, label in case["data"]]
    rows = [rows[n] for n in rng.permutation(len(rows))]
    check(case, found_in(case, rows, new_item.get))
