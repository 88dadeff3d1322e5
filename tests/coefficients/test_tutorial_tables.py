"""Tables printed in the tutorial of Carpenter & Poesio (LREC 2010), with A_o, A_e and value."""

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients.implied import evaluate
from annomodels.coefficients.tables import from_joint

BOXCAR = [[41, 3], [9, 47]]
EVEN = [[44, 6], [6, 44]]
EVEN_3 = [[44, 6, 0], [6, 44, 0], [0, 0, 0]]
EVEN_4 = [[44, 6, 0, 0], [6, 44, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
SKEWED = [[77, 1, 2], [1, 6, 3], [2, 3, 5]]
LOVE = [[990, 5], [5, 0]]

# 25 items by four coders: the usual label, then the coder with another label (0: none) and it.
DIALOGUE = """B0 B0 2E0 T0 E0 E2B T0 B0 B0 B3E 2E0 B2T E0 T0 E0 2E4T B0 B0 E3T B0 B0 E0 T0 B0 B4T"""


def annotations(table, labels=None):
    table = np.asarray(table)
    names = "ABCD"[: len(table)]
    pairs = [(names[k], names[m]) for (k, m), n in np.ndenumerate(table) for _ in range(n)]
    rows = [(i, c, label) for i, pair in enumerate(pairs) for c, label in enumerate(pair)]
    return am.Annotations.from_records(rows, labels=labels and list(names))


def dialogue():
    rows = []
    for item, code in enumerate(DIALOGUE.split()):
        usual = "2E" if code.startswith("2E") else code[0]
        at, other = int(code[len(usual)]), code[len(usual) + 1 :]
        rows += [(item, c, other if c == at else usual) for c in range(1, 5)]
    return am.Annotations.from_records(rows)


@pytest.mark.parametrize(
    ("table", "name", "a_o", "a_e", "value"),
    [
        (EVEN, "S", 0.88, 0.5, 0.76),
        (EVEN_4, "S", 0.88, 0.25, 0.84),
        (EVEN_3, "S", 0.88, 1 / 3, 0.82),
        (EVEN_3, "pi", 0.88, 0.5, 0.76),
        (SKEWED, "S", 0.88, 1 / 3, 0.82),
        (SKEWED, "pi", 0.88, 0.66, 0.65),
        (LOVE, "S", 0.99, 0.5, 0.98),
        (LOVE, "pi", 0.99, 0.99005, -0.005),
        (BOXCAR, "kappa", 0.88, 0.5, 0.76),
    ],
)
def test_contingency_tables(table, name, a_o, a_e, value):
    found = am.agreement(annotations(table, labels=True), name, draws=0)
    assert found.kind == "agreement"
    assert found.observed == pytest.approx(a_o, abs=1e-12)
    assert found.expected == pytest.approx(a_e, abs=1e-12)
    assert found.value == pytest.approx(value, abs=0.005)
    assert found.value == pytest.approx((a_o - a_e) / (1 - a_e), abs=1e-12)
    from_table = evaluate(name, from_joint(table))
    assert from_table.value == pytest.approx(found.value, abs=1e-12)
    assert 1 - from_table.expected == pytest.approx(a_e, abs=1e-12)


def test_dialogue_of_25_items_by_four_coders():
    data = dialogue()
    assert dict(zip(data.labels, data.votes.sum(0).tolist(), strict=True)) == {
        "B": 46,
        "T": 20,
        "E": 23,
        "2E": 11,
    }
    found = am.agreement(data, "K", draws=0)
    assert found.observed == pytest.approx(132 / 150, abs=1e-12)
    assert found.expected == pytest.approx(0.3166, abs=1e-12)
    assert found.value == pytest.approx(0.8244, abs=5e-5)
    assert am.agreement(data, "Fleiss' kappa", draws=0).value == found.value


def test_pairs_slide_counts_agreeing_pairs():
    votes = ["BTBT", "TBBB", "BBBB", "T2BT", "2TB1", "TTTT", "1111"]
    rows = [(i, c, label) for i, item in enumerate(votes) for c, label in enumerate(item)]
    found = am.agreement(am.Annotations.from_records(rows), "percent", draws=0)
    assert found.value == pytest.approx((2 + 3 + 6 + 1 + 0 + 6 + 6) / 42)


def test_passonneau_1997_alpha_is_not_kappa():
    """Table 2 of the coreference report: kappa = .52, but Krippendorff's alpha is .5476."""
    data = annotations([[6, 1], [1, 2]])
    assert am.agreement(data, "kappa", draws=0).value == pytest.approx(0.5238, abs=5e-5)
    assert am.agreement(data, "alpha", draws=0).value == pytest.approx(0.5476, abs=5e-5)
