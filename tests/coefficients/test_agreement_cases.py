"""Every agreed numeric case of a published example or another package, named after its source."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients.distances import set_distance
from annomodels.coefficients.implied import evaluate
from annomodels.coefficients.tables import from_joint

# Breakdowns by label and item.
PARTS = {"category_kappa": 9, "item_agreement": 3, "alpha_dfbeta_item": 1}
# The file also has a coefficient that this package does not compute.
FOREIGN = {"hughes_alpha", "hughes_alpha.ci_low", "hughes_alpha.ci_high"}

FILE = Path(__file__).resolve().parents[1] / "cases" / "agreement_cases.json"
CASES = json.loads(FILE.read_text("utf-8"))
MINE = [case for case in CASES if case["coefficient"] not in {*PARTS, *FOREIGN}]
UNITS = [case for case in MINE if case["coefficient"].startswith("alpha_u")]
LABELS = [case for case in MINE if case not in UNITS]


def id_of(case):
    return case["id"]


def masi_dkpro(a, b):
    """DKPro's product of the two distances, which is not MASI."""
    return set_distance(a, b, "jaccard") * set_distance(a, b, "passonneau")


def label_of(value):
    return frozenset(value) if isinstance(value, list) else value


def records(case):
    if case["data"] is not None:
        return [(item, coder, label_of(label)) for item, coder, label in case["data"]]
    table, labels = case["table"]["table"], case["table"]["labels"]
    pairs = [
        pair
        for k, row in enumerate(table)
        for m, n in enumerate(row)
        for pair in [(labels[k], labels[m])] * n
    ]
    return [(i, c, label) for i, pair in enumerate(pairs) for c, label in enumerate(pair)]


def name_of(case):
    """Name to ask for: that of the file, as far as it is the name of a coefficient."""
    name, _, _ = case["coefficient"].partition(".")
    if name == "icc":
        return case["options"]["type"]
    return name.removesuffix("_gwetweights")


def distance_of(case):
    """Distance that the case takes, as we call it; nominal is ""."""
    given = case["options"]
    name = given.get("distance", given.get("weights", "nominal"))
    if "rank_weights" in given:
        return "rank_" + given["rank_weights"]
    if "weights" in given and name == "ordinal":
        return "gwet_ordinal"
    return "" if name == "nominal" else name


def options(case, distance):
    return {
        "distance": masi_dkpro if distance == "masi_dkpro" else distance or None,
        "labels": case["options"].get("categories"),
    }


def of_table(error):
    """Formulas for a table of two coders have n instead of n - 1."""
    narrow = math.sqrt(error.df / (error.df + 1))
    low, high = (error.value + narrow * (end - error.value) for end in (error.low, error.high))
    return dataclasses.replace(error, se=error.se * narrow, low=low, high=high)


def check(case, found):
    part = case["coefficient"].partition(".")[2]
    if part == "z0":
        value = found.analytic().z0
    elif part in ("se", "var"):
        value = of_table(found.analytic()).se ** (2 if part == "var" else 1)
    else:
        sign = 1 if found.kind == "agreement" else 0
        value = {
            "": found.value,
            "A_e": found.expected,
            "D_o": sign + (1 - 2 * sign) * found.observed,
            "D_e": sign + (1 - 2 * sign) * found.expected,
        }[part]
    if case["expected"] is None:
        assert math.isnan(value)
        assert found.reason
    else:
        assert value == pytest.approx(case["expected"], abs=case["tolerance"])
        assert value == pytest.approx(case["computed"], abs=1e-9)


def check_also(case, found):
    """Observed and expected agreement, standard error and interval, where a case has them."""
    also = case.get("also_expected", {})
    observed, expected = found.observed, found.expected
    if found.kind == "disagreement":
        observed, expected = 1 - observed, 1 - expected
    if case["coefficient"] == "krippendorff_alpha_gwetweights":
        # Gwet writes alpha with a corrected observed instead of a corrected expected agreement.
        shrink = 1 - 1 / found.n_labels
        observed, expected = 1 - (1 - observed) * shrink, 1 - (1 - expected) * shrink
    values = {"pa": observed, "pe": expected}
    if "se" in also or "ci" in also:
        error = found.analytic()
        error = of_table(error) if "irrcac_table" in case["id"] else error
        values |= {"se": error.se, "low": error.low, "high": error.high}
        low, high = also.get("ci", {"0": error.low, "1": error.high}).values()
        also = {**also, "low": low, "high": high}
    for name, value in values.items():
        if name in also:
            assert value == pytest.approx(also[name], abs=6e-4), name
    return len(set(values) & set(also))


def test_all_coefficients_of_the_file_are_here():
    kinds = [case["coefficient"] for case in CASES]
    assert {name: kinds.count(name) for name in PARTS} == PARTS
    assert len(MINE) >= 215
    assert len(UNITS) == 5
    assert sum("ci" in case.get("also_expected", {}) for case in MINE) == 38


def moved(rows, rng):
    """Return the rows in another order with other names, and the names of the items."""

    def renamed(names, prefix):
        names = sorted(names, key=str)
        return {names[k]: f"{prefix}{n}" for n, k in enumerate(rng.permutation(len(names)))}

    items, coders = renamed({r[0] for r in rows}, ""), renamed({r[1] for r in rows}, "c")
    rows = [(items[i], coders[c], label) for i, c, label in rows]
    return [rows[n] for n in rng.permutation(len(rows))], items


def as_is_and_moved():
    """Two of the tables have 371,000 items: make test takes these in the next test only."""
    for case in LABELS:
        large = pytest.mark.calibration if case["id"].endswith("kappa_pooled") else ()
        yield pytest.param(case, False, id=case["id"], marks=large)
        if case["data"]:
            yield pytest.param(case, True, id=f"{case['id']}-moved")


@pytest.mark.slow
@pytest.mark.parametrize(("case", "move"), list(as_is_and_moved()))
def test_case(case, move, rng):
    rows = records(case)
    data = am.Annotations.from_records(moved(rows, rng)[0] if move else rows)
    ours = case["coefficient"].startswith("krippendorff")
    missing = None if ours else case["options"].get("missing")
    how = options(case, distance_of(case))
    found = am.agreement(data, name_of(case), draws=0, missing=missing, **how)
    check(case, found)
    assert check_also(case, found) == (
        len({"pa", "pe", "se"} & set(case.get("also_expected", {})))
        + 2 * ("ci" in case.get("also_expected", {}))
        + 2 * ("se" in case.get("also_expected", {}) and "ci" not in case["also_expected"])
    )


@pytest.mark.parametrize("case", [case for case in CASES if case.get("table")], ids=id_of)
def test_a_table_has_the_numbers_of_its_items(case):
    table = case["table"]["table"]
    found = evaluate(name_of(case), from_joint(table, n=2 * np.sum(table)))
    part = {"": "value", "A_e": "expected"}[case["coefficient"].partition(".")[2]]
    value = getattr(found, part)
    assert (value if part == "value" else 1 - value) == pytest.approx(case["computed"], abs=1e-9)


def part_of(case, rows, item_name):
    """Value of the case in a breakdown of the rows; `item_name` renames items."""
    data = am.Annotations.from_records(rows)
    if case["coefficient"] == "category_kappa":
        table = am.breakdown(data, "label", "k", draws=0).table.set_index("label")
        return table.loc[case["options"]["category"], "value"]
    table = am.breakdown(data, "item", draws=0, distance="nominal").table.set_index("item")
    if case["coefficient"] == "alpha_dfbeta_item":
        return table.loc[item_name(case["options"]["item"]), "influence"]
    return table.loc[[item_name(item) for item, _ in case["expected"]], "value"].to_numpy()


@pytest.mark.parametrize("move", [False, True])
@pytest.mark.parametrize("case", [c for c in CASES if c["coefficient"] in PARTS], ids=id_of)
def test_case_of_a_part(case, move, rng):
    rows, items = case["data"], {row[0]: row[0] for row in case["data"]}
    if move:
        rows, items = moved(rows, rng)
    value, expected = part_of(case, rows, items.get), case["expected"]
    if isinstance(expected, list):
        expected = [number for _, number in expected]
    assert value == pytest.approx(expected, abs=case["tolerance"])
    assert value == pytest.approx(case["computed"], abs=1e-9)


@pytest.mark.parametrize("case", UNITS, ids=id_of)
@pytest.mark.parametrize("move", [False, True], ids=["as_is", "moved"])
def test_case_of_units(case, move, rng):
    """Shifted, renamed, and the other way round, a continuum gives the same."""
    given = case["options"]
    begin = given["continuum_begin"]
    rows = [("t", c, start, start + size, label) for _, c, (start, size, label) in case["data"]]
    if move:
        end = begin + given["continuum_length"]
        rows = [
            ("u", f"c{-c}", 7 - last + end, 7 - first + end, x) for _, c, first, last, x in rows
        ]
        rows, begin = [rows[n] for n in rng.permutation(len(rows))], 7
    units = am.coefficients.Units.from_records(
        rows, lengths=given["continuum_length"], begins=begin
    )
    check(case, am.coefficients.alpha_u(units, given["category"]))
