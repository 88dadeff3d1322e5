"""Each item: how far its labels agree, and what it does to the disagreement and the value.

* value: agreement of its pairs of labels (Fleiss 1971's :math:`P_i`).
* share: what part of :math:`D_o` it makes up.
* influence: the coefficient less the coefficient without the item.
* further: chance that two further coders agree on it. The labels of an item of r labels are taken
  as a sample from its own distribution of labels, with one label's weight on that of all items
  (Ferguson 1973, doi:10.1214/aos/1176342360); low and high are its interval.
"""

from __future__ import annotations

import numpy as np

from annomodels.coefficients.counts import Counts, count
from annomodels.coefficients.evaluation import Statistics
from annomodels.coefficients.parts.columns import (
    dataset,
    draws_note,
    overall_row,
    overall_table,
    planned,
    repeats_note,
    spans,
)
from annomodels.coefficients.parts.influence import without_each_item
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Setup, refuse_unfit
from annomodels.coefficients.parts.two_sided import label_counts
from annomodels.coefficients.reasons import REASONS, before
from annomodels.coefficients.rows import within_items
from annomodels.coefficients.tables import over
from annomodels.types import Floats

MOST_CELLS = 1_000_000


def item_disagreement(counts: Counts, setup: Setup) -> tuple[Floats, Floats]:
    """Weighted distance and weight of the pairs of labels of each item, two of [item]."""
    ones = np.ones(counts.together.shape[1])
    pooled = np.asarray(counts.pooled @ ones)
    d = setup.request.distance.pairs(counts.first, counts.second, pooled)
    return np.asarray(d @ counts.together), np.asarray(counts.together.sum(0)).reshape(-1)


def by_item(setup: Setup, draws: int, seed: int) -> Breakdown:
    """Break agreement down by item."""
    import pandas as pd

    refuse_unfit(setup)
    rows, request = setup.rows, setup.request
    counts = count(rows, setup.convention)
    apart, weight = item_disagreement(counts, setup)
    d = over(apart, weight)
    whole = float("nan")
    if not before(request.coefficient, rows, request.convention):
        whole = float(Statistics(rows, [request]).evaluate(np.ones(rows.n_items))[0].value)
    made = planned(draws, rows.n_items, 8 * len(rows.item))
    drawn = _further(setup, counts, made, seed) if len(rows.item) <= MOST_CELLS else None
    if drawn is not None:
        drawn = np.where(np.isnan(d), np.nan, drawn)
    low, high = spans(drawn, d)
    left = without_each_item(setup, counts)
    table = pd.DataFrame(
        {
            "item": list(setup.data.items),
            "n": rows.per_item,
            "value": 1 - d if setup.nominal else d,
            "share": np.where(np.isnan(d), 0.0, apart) / (apart.sum() or 1.0),
            "influence": whole - left,
            "further": np.full(len(d), np.nan) if drawn is None else drawn.mean(0),
            "low": low,
            "high": high,
            "note": [_note(n, value) for n, value in zip(rows.per_item, left, strict=True)],
        }
    )
    word = "agreement" if setup.nominal else "disagreement"
    notes = [repeats_note(setup)] if setup.data.repeats else []
    notes.append(
        f"value is the {word} of the item's labels, influence what the item adds to {setup.title}."
    )
    if drawn is not None and draws:
        notes.append(
            f"further, low and high: {word} of two further coders on the item, if its labels are "
            "a sample from its own distribution of labels."
        )
    notes += draws_note(draws, made)
    return Breakdown(
        f"{setup.title}: each item",
        table,
        dataset({"item": setup.data.items}, {"further": drawn}),
        overall_table([overall_row("all items", whole, None, int((rows.per_item >= 2).sum()))]),
        ("item",),
        "further",
        tuple(notes),
    )


def _note(n: int, without: float) -> str:
    if n < 2:
        return "One label shows no agreement."
    return REASONS["no_variation"] if np.isnan(without) else ""


def _further(setup: Setup, counts: Counts, draws: int, seed: int) -> Floats | None:
    """Draws of the agreement (or disagreement) of two further coders, shape [draw, item]."""
    if not draws:
        return None
    rows, distance = setup.rows, setup.request.distance
    item, label, times, starts = label_counts(rows)
    pooled = np.asarray(counts.pooled.sum(1)).reshape(-1).astype(float)
    share = pooled / (pooled.sum() or 1.0)
    a, b = within_items(item, rows.n_items)
    a, b = a[a < b], b[a < b]
    between = distance.pairs(label[a], label[b], pooled)
    to_all = _to_all(setup, share, pooled)
    typical = float(distance.form(share, share, pooled))
    rng = np.random.default_rng(seed)
    r = rows.per_item.astype(float)
    out = np.empty((draws, rows.n_items))
    for draw in range(draws):
        own = rng.standard_gamma(times)
        own /= np.add.reduceat(own, starts[:-1])[item]
        new = rng.beta(1.0, r)
        inside = 2 * np.bincount(item[a], own[a] * own[b] * between, minlength=rows.n_items)
        across = np.bincount(item, own * to_all[label], minlength=rows.n_items)
        out[draw] = (1 - new) ** 2 * inside + 2 * new * (1 - new) * across + new**2 * typical
    return 1 - out if setup.nominal else out


def _to_all(setup: Setup, share: Floats, pooled: Floats) -> Floats:
    """Mean distance of each label to the labels of all items, shape [label]."""
    if len(share) <= 500:
        return setup.request.distance.form(np.eye(len(share)), share, pooled)
    return np.array(
        [
            float(setup.request.distance.form(np.eye(1, len(share), k)[0], share, pooled))
            for k in range(len(share))
        ]
    )
