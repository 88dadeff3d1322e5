r"""Agreement on each label against the rest of the labels.

* Specific agreement: of the labels k, the share whose partner on the same item is k too,
  :math:`2 n_{kk} / (2 n_{kk} + \sum_{l \ne k} n_{kl})` (Cicchetti & Feinstein 1990).
* The coefficient after all other labels are merged: with K it is Fleiss' kappa of a category
  (Fleiss 1971), with alpha the category alpha.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from annomodels.coefficients.distances import Nominal
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.parts.columns import (
    collect,
    dataset,
    draws_note,
    measured,
    notes_of,
    overall_row,
    overall_table,
    planned,
    spans,
)
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Setup, refuse_unfit
from annomodels.coefficients.reasons import RARE, used_items
from annomodels.coefficients.tables import Evaluated, Tables, over
from annomodels.errors import NotApplicable
from annomodels.types import Floats, Ints


def _touching(tables: Tables) -> tuple[Floats, Floats]:
    """Weight of the pairs k-k and of all pairs with a k, each [..., label]."""
    k, p = tables.n_labels, np.arange(len(tables.first))
    equal = tables.first == tables.second
    same = sparse.csr_array((np.ones(equal.sum()), (tables.first[equal], p[equal])), (k, len(p)))
    other = ~equal
    rows = np.concatenate([tables.first[other], tables.second[other]])
    cross = sparse.csr_array(
        (np.ones(len(rows)), (rows, np.concatenate([p[other], p[other]]))), (k, len(p))
    )
    flat = tables.together.reshape(-1, len(p)).T
    shape = (*tables.together.shape[:-1], k)
    both = np.asarray(same @ flat).T.reshape(shape)
    return both, both + np.asarray(cross @ flat).T.reshape(shape)


def specific_agreement(tables: Tables) -> Floats:
    """Share of the partners of a label that are the same label, shape [..., label]."""
    both, touching = _touching(tables)
    return over(both, (both + touching) / 2)


def one_against_rest(tables: Tables) -> Tables:
    """Tables of two labels - the rest, the label - for every label, shape [..., label, ...]."""
    both, touching = _touching(tables)
    rest = tables.together.sum(-1, keepdims=True) - touching

    def halves(weights: Floats) -> Floats:
        return np.stack([weights.sum(-1, keepdims=True) - weights, weights], axis=-1)

    return Tables(
        first=np.array([0, 0, 1]),
        second=np.array([0, 1, 1]),
        together=np.stack([np.maximum(rest, 0.0), touching - both, both], axis=-1),
        pooled=halves(tables.pooled),
        left=np.moveaxis(halves(tables.left), -2, -3),
        right=np.moveaxis(halves(tables.right), -2, -3),
        sign=tables.sign,
        n=np.asarray(tables.n)[..., None],
    )


def by_label(setup: Setup, draws: int, seed: int) -> Breakdown:
    """Break agreement down by label."""
    import pandas as pd

    refuse_unfit(setup)
    entry = setup.request.coefficient
    if entry.each_pair or not setup.nominal:
        raise NotApplicable(
            f"{setup.title} cannot be taken apart by label: a label against the rest is nominal "
            "and takes all coders together. Use alpha, k, multi_kappa, s or ac1 with "
            'distance="nominal".'
        )
    tables_of = setup.tables()

    def measure(weights: Floats) -> dict[str, Floats]:
        tables = tables_of(weights)
        each = evaluate_with(entry.expectation, one_against_rest(tables), Nominal())
        whole = evaluate_with(entry.expectation, tables, Nominal())
        return {"value": each.value, "specific": specific_agreement(tables), "whole": whole.value}

    tables = tables_of(setup.sample.point)
    rows, k = setup.sample.rows, setup.sample.rows.n_labels
    width = (8 * k + len(tables.first)) * (1 + tables.left.shape[-2])
    made = planned(draws, 2 * k, len(rows.item) * 4)
    drawn = collect(setup.sample, made, seed, width, measure)
    point = Evaluated(
        *np.broadcast_arrays(*evaluate_with(entry.expectation, one_against_rest(tables), Nominal()))
    )
    used = used_items(setup.rows, setup.request.convention)
    given: Ints = np.bincount(setup.rows.label[used[setup.rows.item]], minlength=k)
    columns, values = measured(setup, point, np.full(k, int(used.sum())), drawn.get("value"))
    specific = specific_agreement(tables)
    low, high = spans(drawn.get("specific") if used.sum() > 1 else None, specific)
    why = columns.pop("note")
    table = pd.DataFrame(
        {
            "label": list(setup.data.labels),
            "n": given,
            "share": given / max(int(given.sum()), 1),
            "specific": specific,
            "specific_low": low,
            "specific_high": high,
            **columns,
            "note": [_rare(note, n) for note, n in zip(why, given.tolist(), strict=True)],
        }
    )
    whole = float(evaluate_with(entry.expectation, tables, Nominal()).value)
    return Breakdown(
        f"{setup.title}: each label against the rest",
        table,
        dataset(
            {"label": setup.data.labels},
            {"value": values, "specific": drawn.get("specific")},
            (drawn.get("whole"), whole),
        ),
        overall_table([overall_row("all labels", whole, drawn.get("whole"), int(used.sum()))]),
        ("label",),
        notes=(*notes_of(setup, bool(drawn)), *draws_note(draws, made)),
    )


def _rare(note: str, n: int) -> str:
    """Say that a label is rare, before anything else."""
    if n == 0:
        return "Nobody gave it to an item with two labels or more."
    if not note and n < RARE:
        return f"It occurs {n} time(s); below about {RARE} the interval is too short."
    return note
