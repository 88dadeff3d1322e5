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

from annomodels.coefficients.counts import Counts
from annomodels.coefficients.evaluation import Statistics
from annomodels.coefficients.parts.grouped import item_parts, label_counts
from annomodels.coefficients.parts.influence import without_each_item
from annomodels.coefficients.parts.results import Breakdown
from annomodels.coefficients.parts.setup import Setup, refuse_unfit
from annomodels.coefficients.parts.table import draws_note, finish, planned, spans
from annomodels.coefficients.reasons import REASONS, before, repeats_note
from annomodels.coefficients.rows import within_items
from annomodels.coefficients.tables import over
from annomodels.types import Floats

MOST_CELLS = 1_000_000


def by_item(setup: Setup, draws: int, seed: int) -> Breakdown:
    """Break agreement down by item."""
    refuse_unfit(setup)
    rows, request = setup.rows, setup.request
    parts, ones = item_parts(setup), np.ones(rows.n_items)
    apart = parts.apart @ ones
    d = over(apart, parts.total @ ones)
    whole = float("nan")
    if not before(request.coefficient, rows, request.convention):
        whole = float(Statistics(rows, [request]).evaluate(ones)[0].value)
    made = planned(draws, rows.n_items, 8 * len(rows.item))
    further = None
    if made and len(rows.item) <= MOST_CELLS:
        further = np.where(np.isnan(d), np.nan, _further(setup, made, seed))
    mean = np.full(len(d), np.nan) if further is None else further.mean(0)
    low, high = spans(further, mean)
    left = without_each_item(setup, Counts(rows, setup.convention))
    columns = {
        "n": rows.per_item,
        "value": 1 - d if setup.nominal else d,
        "share": apart / (apart.sum() or 1.0),
        "influence": whole - left,
        "further": mean,
        "low": low,
        "high": high,
        "note": [_note(n, value) for n, value in zip(rows.per_item, left, strict=True)],
    }
    word = "agreement" if setup.nominal else "disagreement"
    notes = [repeats_note(setup.data, setup.duplicates)] if setup.data.repeats else []
    notes.append(
        f"value is the {word} of the item's labels, influence what the item adds to {setup.title}."
    )
    if further is not None:
        notes.append(
            f"further, low and high: {word} of two further coders on the item, if its labels are "
            "a sample from its own distribution of labels."
        )
    return finish(
        setup,
        "each item",
        {"item": list(setup.data.items)},
        columns,
        {"further": further},
        [("all items", whole, None, int((rows.per_item >= 2).sum()))],
        notes + draws_note(draws, made),
        "further",
    )


def _note(n: int, without: float) -> str:
    if n < 2:
        return "One label shows no agreement."
    return REASONS["no_variation"] if np.isnan(without) else ""


def _further(setup: Setup, draws: int, seed: int) -> Floats:
    """Draws of the agreement (or disagreement) of two further coders, shape [draw, item]."""
    rows, distance = setup.rows, setup.request.distance
    item, label, times, starts = label_counts(rows)
    pooled = np.asarray(setup.counts().pooled @ setup.sample.point, dtype=float)
    share = pooled / (pooled.sum() or 1.0)
    a, b = within_items(item, rows.n_items)
    a, b = a[a < b], b[a < b]
    between = distance.pairs(label[a], label[b], pooled)
    # distance.reach gives the mean distance of each label to the labels of all items
    to_all = distance.reach(share, pooled)
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
