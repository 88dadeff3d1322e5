r"""Agreement on each label against the rest of the labels.

* Specific agreement: of the labels k, the share whose partner on the same item is k too,
  :math:`2 n_{kk} / (2 n_{kk} + \sum_{l \ne k} n_{kl})` (Cicchetti & Feinstein 1990).
* The coefficient after all other labels are merged: with K it is Fleiss' kappa of a category
  (Fleiss 1971), with alpha the category alpha.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Setup, refuse_unfit
from annomodels.coefficients.parts.table import drawn, finish, measured, spans
from annomodels.coefficients.reasons import RARE, used_items
from annomodels.coefficients.tables import Evaluated, Tables, over
from annomodels.errors import NotApplicable
from annomodels.types import Floats, Ints


def _touching(tables: Tables) -> tuple[Floats, Floats]:
    """Weight of the pairs k-k and of all pairs with a k, each [..., label]."""
    k, p = tables.n_labels, np.arange(len(tables.first))
    equal = tables.first == tables.second
    other = p[~equal]

    def gathered(row: Ints, place: Ints) -> Floats:
        matrix = sparse.csr_array((np.ones(len(row)), (row, place)), (k, len(p)))
        flat = np.asarray(matrix @ tables.together.reshape(-1, len(p)).T).T
        return flat.reshape(*tables.together.shape[:-1], k)

    both = gathered(tables.first[equal], p[equal])
    ends = np.concatenate([tables.first[other], tables.second[other]])
    return both, both + gathered(ends, np.concatenate([other, other]))


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
    refuse_unfit(setup)
    entry = setup.request.coefficient
    if entry.each_pair or not setup.nominal:
        raise NotApplicable(
            f"{setup.title} cannot be taken apart by label: a label against the rest is nominal "
            "and takes all coders together. Use alpha, k, multi_kappa, s or ac1 with "
            'distance="nominal".'
        )
    tables_of = setup.tables()

    def measure(weights: Floats) -> dict[str, Floats | Evaluated]:
        tables = tables_of(weights)
        each = evaluate_with(entry.expectation, one_against_rest(tables))
        whole = evaluate_with(entry.expectation, tables).value
        return {"value": each, "specific": specific_agreement(tables), "whole": whole}

    rows, k = setup.rows, setup.rows.n_labels
    some = tables_of(setup.sample.point)
    width = (8 * k + len(some.first)) * (1 + some.left.shape[-2])
    work = 4 * len(setup.sample.rows.item)
    point, found, notes = drawn(setup, measure, draws, seed, 2 * k, work, width)
    used = used_items(rows, setup.request.convention)
    n_items = int(used.sum())
    given: Ints = np.bincount(rows.label[used[rows.item]], minlength=k)
    each = Evaluated(*np.broadcast_arrays(*point["value"]))
    columns, values = measured(setup, each, np.full(k, n_items), found.get("value"))
    low, high = spans(found.get("specific") if n_items > 1 else None, point["specific"])
    before = {
        "n": given,
        "share": given / max(int(given.sum()), 1),
        "specific": point["specific"],
        "specific_low": low,
        "specific_high": high,
    }
    why = [_rare(note, n) for note, n in zip(columns.pop("note"), given.tolist(), strict=True)]
    return finish(
        setup,
        "each label against the rest",
        {"label": list(setup.data.labels)},
        {**before, **columns, "note": why},
        {"value": values, "specific": found.get("specific"), "whole": found.get("whole")},
        [("all labels", float(point["whole"]), found.get("whole"), n_items)],
        notes,
    )


def _rare(note: str, n: int) -> str:
    """Note that a label is rare."""
    if n == 0:
        return "Nobody gave it to an item with two labels or more."
    if not note and n < RARE:
        return f"It occurs {n} time(s); below about {RARE} the interval is too short."
    return note
