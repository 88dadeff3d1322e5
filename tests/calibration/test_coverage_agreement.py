"""95 % intervals of agreement coefficients hold the true value in 93 to 97 % of samples.

The study is that of benchmarks/coverage_agreement.py; with ANNOMODELS_CALIBRATION=reduced it is
small.
"""

import os
from dataclasses import replace

import numpy as np
import pytest

from annomodels.coefficients.implied import evaluate
from annomodels.coefficients.rows import CONVENTIONS, ItemRows
from annomodels.coefficients.sums import of_items

pytestmark = pytest.mark.calibration

REDUCED = os.environ.get("ANNOMODELS_CALIBRATION") == "reduced"
SAMPLES = 300 if REDUCED else 1500
LOW, HIGH = 0.93, 0.97


@pytest.fixture(scope="module")
def script(benchmark_script):
    return benchmark_script("coverage_agreement")


@pytest.mark.parametrize(
    ("first", "coders", "items", "missing"),
    [
        (0.5, 2, 50, 0.0),
        (0.9, 2, 200, 0.3),
        (0.9, 3, 50, 0.0),
        (0.95, 3, 50, 0.3),
        (0.95, 8, 50, 0.0),
        (0.5, 8, 200, 0.3),
    ],
)
def test_intervals_hold_the_true_value(script, first, coders, items, missing):
    cell = script.populations.dawid_skene(first, 0.9, coders, items, missing)
    assert cell.required
    found = script.study(cell, SAMPLES, (7, 1), {})
    slack = 3.5 * (0.95 * 0.05 / SAMPLES) ** 0.5  # fails by chance in one of 40 runs of all
    assert (found.coverage >= LOW - slack).all(), found.coverage
    assert (found.coverage <= HIGH + slack).all(), found.coverage


def test_the_study_finds_intervals_that_are_too_short(script):
    """Rubin's bootstrap, where hardly an item has the rare label."""
    cell = script.populations.dawid_skene(0.95, 0.95, 8, 50)
    plain = {"PER_LABEL": 0, "DISAGREED": 0, "REPLACED": 0}
    assert script.study(cell, 300, (7, 2), plain).coverage.max() < 0.92


@pytest.mark.parametrize(("first", "items"), [(0.5, 20), (0.98, 50)])
def test_a_warning_comes_where_too_little_is_known(script, first, items):
    cell = script.populations.same_margins(first, 0.6, 3, items)
    assert not cell.required
    assert script.study(cell, 200, (7, 3), {}).warned > 0.97


def test_true_values_are_those_of_all_patterns(script):
    """Every pattern of three coders' labels, missing ones included, weighted by its probability."""
    cell = replace(script.populations.dawid_skene(0.7, (0.95, 0.9, 0.8), 3, 50, 0.3), document=1)
    item, coder, label, weight = [], [], [], []
    for pattern in np.ndindex(3, 3, 3):  # 2 stands for missing
        given = [c for c in range(3) if pattern[c] < 2]
        if not given:
            continue
        p = cell.prevalence * 0.3 ** (3 - len(given)) * 0.7 ** len(given)
        for c in given:
            p = p * cell.confusion[c, :, pattern[c]]
        item += [len(weight)] * len(given)
        coder += given
        label += [pattern[c] for c in given]
        weight.append(p.sum())
    codes = (np.array(x) for x in (item, coder, label))
    rows = ItemRows(*codes, len(weight), 3, 2, np.ones(len(weight)))
    weights = 1e12 * np.array(weight)  # so many items that alpha's n - 1 is n
    tables = of_items(rows, CONVENTIONS["krippendorff"]).tables(weights)
    found = [float(evaluate(name, tables).value) for name in ("alpha", "k", "multi_kappa")]
    assert cell.truth()[:3] == pytest.approx(found, abs=1e-9)
