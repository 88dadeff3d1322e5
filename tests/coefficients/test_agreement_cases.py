"""Every agreed numeric case of a published example or another package, named after its source."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients.sets import jaccard, passonneau

# Their name in the file -> ours.
IN_SCOPE = {
    "percent_agreement": "percent",
    "bennett_s": "s",
    "brennan_prediger": "s",
    "randolph_kappa": "s",
    "scott_pi": "pi",
    "weighted_pi": "pi",
    "fleiss_kappa": "k",
    "cohen_kappa": "kappa",
    "multi_kappa": "multi_kappa",
    "weighted_kappa": "weighted_kappa",
    "krippendorff_alpha": "alpha",
    "krippendorff_alpha_gwetweights": "alpha",
    "gwet_ac1": "ac1",
    "gwet_ac2": "ac2",
    "van_oest_irsq": "irsq",
    "scott_pi.A_e": "pi",
    "cohen_kappa.A_e": "kappa",
    "fleiss_kappa.A_e": "k",
    "krippendorff_alpha.D_o": "alpha",
    "krippendorff_alpha.D_e": "alpha",
}
# Breakdowns by label, item and coder, analytic errors, unitizing: not part of the engine yet.
LATER = {
    "category_kappa",
    "item_agreement",
    "kappa_max",
    "icc",
    "alpha_u",
    "alpha_u.D_o",
    "alpha_u.D_e",
    "alpha_dfbeta_item",
    "hughes_alpha",
    "hughes_alpha.ci_low",
    "hughes_alpha.ci_high",
    "cohen_kappa.se",
    "cohen_kappa.var",
    "fleiss_kappa.z0",
}

ROOT = Path(__file__).resolve().parents[2]
FILE = (
    Path(os.environ.get("ANNOMODELS_SHARED") or ROOT.parent / "shared")
    / "cases"
    / "agreement_cases.json"
)
CASES = json.loads(FILE.read_text()) if FILE.is_file() else []
MINE = [case for case in CASES if case["coefficient"] in IN_SCOPE]


def masi_dkpro(a, b):
    """DKPro's product of the two distances, which is not MASI."""
    return jaccard(a, b) * passonneau(a, b)


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


def options(case):
    given = dict(case["options"])
    distance = given.get("distance", given.get("weights"))
    if "weights" in given and distance == "ordinal":
        distance = "gwet_ordinal"
    if "rank_weights" in given:
        distance = "rank_" + given["rank_weights"]
    if distance == "masi_dkpro":
        distance = masi_dkpro
    out = {"distance": distance, "missing": given.get("missing"), "labels": given.get("categories")}
    if IN_SCOPE[case["coefficient"]] == "alpha":
        out["missing"] = None
    return out


def check(case, found):
    part = case["coefficient"].partition(".")[2]
    value = {
        "": found.value,
        "A_e": found.expected,
        "D_o": 1 - found.observed,
        "D_e": 1 - found.expected,
    }[part]
    if case["expected"] is None:
        assert math.isnan(value)
        assert found.reason
    else:
        assert value == pytest.approx(case["expected"], abs=case["tolerance"])
        assert value == pytest.approx(case["computed"], abs=1e-9)


def test_all_coefficients_of_the_file_are_here_or_planned(shared):
    names = {case["coefficient"] for case in CASES}
    assert not set(IN_SCOPE) & LATER
    assert set(IN_SCOPE) | LATER == names
    assert len(MINE) >= 180


@pytest.mark.shared
@pytest.mark.parametrize("case", MINE, ids=[case["id"] for case in MINE])
def test_case(case):
    data = am.Annotations.from_records(records(case))
    found = am.agreement(data, IN_SCOPE[case["coefficient"]], draws=0, **options(case))
    check(case, found)
    also = case.get("also_expected", {})
    observed, expected = found.observed, found.expected
    if found.kind == "disagreement":
        observed, expected = 1 - observed, 1 - expected
    if case["coefficient"] == "krippendorff_alpha_gwetweights":
        # Gwet writes alpha with a corrected observed instead of a corrected expected agreement.
        shrink = 1 - 1 / found.n_labels
        observed, expected = 1 - (1 - observed) * shrink, 1 - (1 - expected) * shrink
    for name, value in (("pa", observed), ("pe", expected)):
        if name in also:
            assert value == pytest.approx(also[name], abs=6e-4)


@pytest.mark.shared
@pytest.mark.parametrize(
    "case", [c for c in MINE if c["data"]], ids=[c["id"] for c in MINE if c["data"]]
)
def test_case_does_not_depend_on_order_or_names(case, rng):
    rows = records(case)
    items = {name: int(code) for name, code in _shuffled({r[0] for r in rows}, rng)}
    coders = {name: f"c{code}" for name, code in _shuffled({r[1] for r in rows}, rng)}
    rows = [(items[i], coders[c], label) for i, c, label in rows]
    data = am.Annotations.from_records([rows[n] for n in rng.permutation(len(rows))])
    found = am.agreement(data, IN_SCOPE[case["coefficient"]], draws=0, **options(case))
    check(case, found)


def _shuffled(names, rng):
    ordered = sorted(names, key=str)
    return list(zip(ordered, rng.permutation(np.arange(len(ordered))), strict=True))
