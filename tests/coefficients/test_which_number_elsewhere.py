"""The table "which number is this elsewhere": every claim recomputed on the cases that back it."""

import math
import re
from pathlib import Path

import pytest

import annomodels as am
from annomodels.coefficients.catalogue import COEFFICIENTS
from docs.elsewhere import ELSEWHERE, as_markdown
from tests.coefficients.test_agreement_cases import CASES, distance_of, name_of, options, records

DOCS = Path(__file__).resolve().parents[2] / "docs"
# What the cases call the packages.
VERIFIER = {
    "NLTK": "nltk",
    "irrCAC (R, Python)": "irrCAC",
    "irrCAC (R)": "irrCAC",
    "DKPro Agreement": "dkpro",
    "scikit-learn": "sklearn",
    "statsmodels": "statsmodels",
    "krippendorff": "krippendorff",
    "pingouin": "pingouin",
}


def fits(row, case):
    """Whether the case speaks of this row."""
    distance = distance_of(case)
    if case["coefficient"] not in row.confirmed or VERIFIER[row.package] not in case["verified_by"]:
        return False
    if row.distance == "any":
        return True
    # Labels 1, 2, 3: their values are their ranks.
    return distance in (row.distance, row.distance.removeprefix("rank_"))


def backing(row):
    return [case for case in CASES if row.package in VERIFIER and fits(row, case)]


# one of two tables of 371,000 items, whose numbers are those of test_agreement_cases.py
LARGE = "seed002_t6_kappa_pooled"


def value_here(row, case):
    """Compute what the row tells the reader to call."""
    data = am.Annotations.from_records(records(case))
    if row.by:
        found = am.breakdown(data, row.by, row.name, draws=0).table.set_index(row.by)
        return found.loc[case["options"]["category"], "value"]
    how = options(case, distance_of(case) if row.distance == "any" else row.distance)
    for convention in ("gwet", "listwise", "pairs"):
        if f'missing="{convention}"' in row.options:
            how["missing"] = convention
    name = name_of(case) if case["coefficient"] == "icc" else row.name
    return am.agreement(data, name, draws=0, **how).value


@pytest.mark.parametrize("row", ELSEWHERE, ids=[f"{row.package} {row.call}" for row in ELSEWHERE])
def test_a_row_names_a_coefficient_and_says_what_it_rests_on(row):
    assert row.name in COEFFICIENTS
    assert (row.basis == "cases") == bool(row.confirmed)
    assert f"| `{row.call}` | `{row.ours}` |" in as_markdown()


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [row for row in ELSEWHERE if row.basis == "cases"],
    ids=[f"{row.package} {row.call}" for row in ELSEWHERE if row.basis == "cases"],
)
def test_the_same_number_on_every_case_that_names_the_package(row):
    cases = [case for case in backing(row) if "kappa_pooled" not in case["id"]]
    assert cases
    for case in cases:
        same(row, case)


def same(row, case):
    found = value_here(row, case)
    if case["expected"] is None:
        assert math.isnan(found), case["id"]
    else:
        assert found == pytest.approx(case["computed"], abs=1e-9), case["id"]


@pytest.mark.calibration
def test_the_same_number_on_another_large_table():
    backed = [(row, case) for row in ELSEWHERE for case in backing(row) if case["id"] == LARGE]
    assert backed
    for row, case in backed:
        same(row, case)


def test_every_case_with_a_package_is_claimed_by_a_row():
    unclaimed = {
        (package, case["coefficient"])
        for case in CASES
        for package in case["verified_by"]
        if package in VERIFIER.values()
        and not any(
            VERIFIER.get(row.package) == package and case["coefficient"] in row.confirmed
            for row in ELSEWHERE
        )
    }
    # The analytic errors of kappa stand with the coefficient, not in this table.
    assert unclaimed <= {("statsmodels", "cohen_kappa.se"), ("statsmodels", "cohen_kappa.var")}


def test_the_page_shows_every_row():
    assert "{include} generated/elsewhere.md" in (DOCS / "elsewhere.md").read_text("utf-8")
    rows = [row for row in as_markdown().splitlines() if row.startswith("| `")]
    assert len(rows) == len(ELSEWHERE)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}
