"""The gold layer: largest expected F1, thresholds, no overlap."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest

from annomodels.errors import NotApplicable
from annomodels.spans.tables import choose


def table_of(*rows):
    """Rows of group, start, end, p; one label."""
    columns = ["group", "start", "end", "p_exact"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(document=0, label=1)


def apart(table, rows):
    places = sorted((table["start"][r], table["end"][r]) for r in rows)
    return all(a[1] <= b[0] for a, b in pairwise(places))


@pytest.mark.slow
def test_the_layer_has_the_largest_expected_f1_of_all_layers():
    rng = np.random.default_rng(3)
    for _ in range(10):
        starts = rng.integers(0, 20, 9)
        rows = [(0, a, a + rng.integers(1, 6), rng.random()) for a in starts]
        table = table_of(*rows).sort_values(["start", "end"], ignore_index=True)
        expected = table["p_exact"].sum() + 0.7
        best = max(
            2 * table["p_exact"][list(some)].sum() / (size + expected)
            for size in range(1, 10)
            for some in combinations(range(9), size)
            if apart(table, some)
        )
        chosen = choose(table, expected, nested=False)
        assert apart(table, np.flatnonzero(chosen))
        assert 2 * table["p_exact"][chosen].sum() / (chosen.sum() + expected) == pytest.approx(best)


def test_a_nested_layer_has_spans_within_each_other_but_none_that_cross():
    table = table_of((0, 0, 20, 0.9), (1, 5, 9, 0.8), (2, 15, 25, 0.7), (1, 5, 9, 0.75))
    assert choose(table, 3.0, nested=True).tolist() == [True, True, False, False]
    assert choose(table.assign(group=0), 3.0, nested=False).sum() == 2


def test_precision_and_recall_are_reached():
    p = np.linspace(0.99, 0.2, 40)
    table = table_of(*[(n, 10 * n, 10 * n + 5, value) for n, value in enumerate(p)])
    precise = choose(table, p.sum(), False, 0.9, "precision")
    assert p[precise].mean() >= 0.9
    assert p[: precise.sum() + 1].mean() < 0.9
    full = choose(table, p.sum(), False, 0.9, "recall")
    assert p[full].sum() >= 0.9 * p.sum() > p[: full.sum() - 1].sum()
    assert choose(table, p.sum(), False, 0.7).sum() == (p >= 0.7).sum()


def test_a_recall_that_cannot_be_reached_takes_all():
    table = table_of((0, 0, 5, 0.9), (1, 8, 9, 0.1))
    assert choose(table, 5.0, False, 0.9, "recall").all()


def test_thresholds_that_are_none_are_refused():
    table = table_of((0, 0, 5, 0.9))
    with pytest.raises(NotApplicable, match="number between 0 and 1"):
        choose(table, 1.0, False, 1.5)
    with pytest.raises(NotApplicable, match="with a threshold"):
        choose(table, 1.0, False, None, "recall")
