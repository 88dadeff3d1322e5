"""Intervals of precision, recall and F1 from an audit of documents."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from annomodels.auditing.spans import estimate_spans
from annomodels.spans.tables import QUALITY, measures

Marks = frozenset[tuple[int, int, str]]


def marked(places: range) -> Marks:
    return frozenset((10 * place, 10 * place + 5, "A") for place in places)


def population(sizes: list[int], wrong: list[int], found: float) -> tuple[Any, dict[str, Marks]]:
    """Make the tables of a fit that expects the share `found` to be right, and the true spans.

    Documents have `sizes` gold spans, of which the first ones are `wrong`; each span that is wrong
    has a true one elsewhere.
    """
    names = [f"d{n}" for n in range(len(sizes))]
    rows = [(name, a, b, k) for name, n in zip(names, sizes, strict=True) for a, b, k in
            sorted(marked(range(n)))]  # fmt: skip
    documents = pd.DataFrame(
        {"document": names, "tp": np.array(sizes) * found, "true": np.array(sizes, dtype=float)}
    )
    quality = pd.DataFrame(
        {"quantity": QUALITY, "value": found, "low": found - 0.1, "high": min(found + 0.1, 1.0)}
    )
    gold = pd.DataFrame(rows, columns=["document", "start", "end", "label"])
    fit = SimpleNamespace(
        gold=lambda _: SimpleNamespace(table=gold),
        documents=lambda _: documents,
        quality=lambda _: SimpleNamespace(table=quality),
    )
    true = {
        name: marked(range(bad, n)) | marked(range(100, 100 + bad))
        for name, n, bad in zip(names, sizes, wrong, strict=True)
    }
    return fit, true


@pytest.mark.slow
def test_intervals_cover_where_few_documents_hold_most_errors():
    """An interval from the judged documents alone covers in 83 %: half of the audits have none."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(5, 40, 200).tolist()
    wrong = [n if d % 40 == 0 else int(rng.binomial(n, 0.08)) for d, n in enumerate(sizes)]
    fit, true = population(sizes, wrong, 0.85)
    right = float(sum(sizes) - sum(wrong))
    real = measures(np.array(right), float(sum(sizes)), np.array(float(sum(sizes))))
    covered = dict.fromkeys(QUALITY, 0)
    audits = 200
    for n in range(audits):
        drawn = np.random.default_rng([7, n]).choice(list(true), 30, replace=False).tolist()
        table = estimate_spans(fit, {name: true[name] for name in drawn}, drawn=drawn, seed=n).table
        assert (table["low"] <= table["value"]).all()
        assert (table["value"] <= table["high"]).all()
        for row in table.itertuples():
            covered[str(row.quantity)] += row.low <= real[str(row.quantity)] <= row.high
    assert min(covered.values()) >= 0.9 * audits


def test_a_faultless_audit_of_few_documents_leaves_doubt():
    fit, true = population([6] * 25, [0] * 25, 0.96)
    drawn = [f"d{n}" for n in range(6)]
    found = estimate_spans(fit, {name: true[name] for name in drawn}, drawn=drawn).table
    assert found["value"].between(0.95, 1.0).all()
    assert found["low"].between(0.8, 0.95).all()
    assert found["audit_low"].between(0.7, 0.95).all()
    every = estimate_spans(fit, true, drawn=list(true)).table
    assert (every[["value", "low", "high"]] == 1.0).all(axis=None)


@pytest.mark.parametrize("sizes", [[0, 0, 0, 0], [0, 0, 3, 2]])
def test_documents_without_spans_are_no_obstacle(sizes: list[int]):
    fit, true = population(sizes, [0] * 4, 0.9)
    table = estimate_spans(fit, {name: true[name] for name in ("d0", "d1")}).table
    assert table[["value", "low", "high"]].notna().all(axis=None)
    assert (table["low"] <= table["high"]).all()
