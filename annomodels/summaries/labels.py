"""Label scheme: frequency, recall, precision and confusions of labels, and effect of merging."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.coefficients.agreement import agreement
from annomodels.coefficients.distances import make_distance
from annomodels.coefficients.reasons import before, diagnose
from annomodels.coefficients.sums import draw_values, point_values
from annomodels.coefficients.tables import over
from annomodels.data.annotations import Annotations
from annomodels.data.columns import columns as columns_of
from annomodels.data.columns import short
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.data.validation import some
from annomodels.summaries.draws import Draws, estimated, flat, interval, thinned, told_by
from annomodels.summaries.notes import say
from annomodels.types import Floats, Ints

Pair = tuple[int, int]
Alpha = tuple[float, Floats | None]

MOST_MERGED = 45  # pairs of labels to merge: all pairs of ten labels
ALPHA_DRAWS = 1000


def merged_alphas(data: Annotations, pairs: Iterable[Pair]) -> dict[Pair, Alpha]:
    """Compute alpha with two labels merged, for each pair, on common draws."""
    wanted = list(dict.fromkeys(pairs))
    basis = agreement(data, "alpha", distance=_merged(data, 0, 0), draws=1).basis
    if basis is None or before(basis.request.coefficient, basis.rows, basis.request.convention):
        return dict.fromkeys(wanted, (float("nan"), None))
    requests = [
        replace(basis.request, distance=make_distance(_merged(data, *pair), data.labels))
        for pair in wanted
    ]
    points = point_values(basis.sample, requests)
    reasons = [
        diagnose(request.coefficient, basis.rows, request.convention, point)
        for request, point in zip(requests, points, strict=True)
    ]
    able = [n for n, reason in enumerate(reasons) if not reason]
    values = draw_values(basis.sample, [requests[n] for n in able], ALPHA_DRAWS, basis.seed)
    draws = dict(zip(able, values, strict=True))
    return {
        pair: (float(point.value), draws.get(n))
        for n, (pair, point) in enumerate(zip(wanted, points, strict=True))
    }


def _merged(data: Annotations, first: int, second: int) -> Floats:
    """Return the nominal distance with two labels merged."""
    distance = 1.0 - np.eye(data.n_labels)
    distance[first, second] = distance[second, first] = 0.0
    return distance


def merges(data: Annotations, mixed: Floats, *several: Ints) -> pd.DataFrame:
    """Tabulate the effect of merging, one row per pair, indexed by label codes."""
    size, every, wanted = mixed.mean(axis=0), dict[Pair, None](), [(0, 0)]
    for pairs in several:  # alpha of the most confused pairs only
        first = np.argsort(-size[pairs[:, 0], pairs[:, 1]], kind="stable")[:MOST_MERGED]
        named: list[Pair] = [(int(k), int(m)) for k, m in pairs]
        every |= dict.fromkeys(named)
        wanted += [named[n] for n in first]
    # merging the only two labels leaves nothing to agree on
    alphas = merged_alphas(data, wanted) if data.n_labels > 2 else {}
    changes = [_change(alphas[0, 0], alphas[p]) if p in alphas else (np.nan,) * 4 for p in every]
    columns = ["alpha_merged", "alpha_change", "alpha_change_low", "alpha_change_high"]
    index = pd.MultiIndex.from_tuples(list(every))
    table = pd.DataFrame(changes, index=index, columns=columns)
    k, m = np.array(list(every)).T
    return table.assign(**estimated("accuracy_gain", mixed[:, k, m]))


def _change(plain: Alpha, merged: Alpha) -> tuple[float, float, float, float]:
    low = high = float("nan")
    if plain[1] is not None and merged[1] is not None:
        difference = merged[1] - plain[1]
        difference = difference[np.isfinite(difference)]
        if len(difference) > 1:
            low, high = (float(end) for end in interval(difference))
    return merged[0], merged[0] - plain[0], low, high


MOST_NAMED = 6  # coders
LEFT_OUT = "left_out"  # code of the note on coders left out
COLUMNS = columns_of(
    "label given share prevalence recall precision partner partner_share alpha_change",
    "accuracy_gain",
)
PAIRS = columns_of("first second confusions alpha_merged alpha_change accuracy_gain")


def prevalence(tree: xr.DataTree, data: Any) -> Summary:
    draws = tree["posterior"].to_dataset()[["prevalence"]]
    shares = estimated("prevalence", flat(tree, "prevalence"))
    table = pd.DataFrame({"label": list(data.labels), **shares})
    return Summary("Prevalence", table, draws, told_by(tree), columns_of("label prevalence"))


def scheme(
    tree: xr.DataTree, data: Annotations, useless: Sequence[bool] = ()
) -> tuple[Summary, Summary]:
    """Tabulate labels and pairs of labels: confusions, and the effect of merging."""
    draws, n = thinned(tree, data), data.n_labels
    # coders who do not follow the definitions are no evidence about them
    useful = np.where(useless, 0, data.per_coder) if useless else data.per_coder
    weight = useful if useful.any() else data.per_coder
    # P(truth, label) of a random label of the crowd, shape [sample, truth, label]
    crowd = np.einsum("j,sjkl->skl", weight / weight.sum(), draws.confusion)
    joint = np.asarray(draws.prevalence[:, :, None] * crowd)
    mixed = joint + joint.transpose(0, 2, 1)
    mixed[:, range(n), range(n)] = 0.0
    mean = mixed.mean(axis=0)
    partner = mean.argmax(axis=1)
    own = np.sort(np.column_stack([np.arange(n), partner]), axis=1)
    every = np.column_stack(np.triu_indices(n, 1))
    top = every[np.argsort(-mean[every[:, 0], every[:, 1]], kind="stable")[:MOST_MERGED]]
    merged = merges(data, mixed, np.unique(own, axis=0), top)
    of_own, of_top = (merged.loc[list(map(tuple, pairs.tolist()))] for pairs in (own, top))
    names = [label_text(name) for name in data.labels]
    kept = xr.Dataset(
        {"joint": (("sample", "truth", "label"), joint)}, coords={"truth": names, "label": names}
    )
    each = _each(draws, data, joint, mixed, partner).join(of_own.reset_index(drop=True))
    both = _pairs(data, mixed, top).join(of_top.reset_index(drop=True))
    left_out = _left_out(data, useless) if useful.any() else ()
    notes, of_pairs = (
        (*told_by(tree), *left_out, *_notes(data, found)) for found in (of_own, of_top)
    )
    return (
        Summary("Labels", each, kept, notes, COLUMNS),
        Summary("Pairs of labels", both, kept, of_pairs, PAIRS),
    )


def _left_out(data: Annotations, useless: Sequence[bool]) -> tuple[str, ...]:
    """Note the coders left out of recall, precision and confusions."""
    names = [data.coders[j] for j in np.flatnonzero(useless)]
    return (say(LEFT_OUT, names=some(names, short, MOST_NAMED)),) if names else ()


def _each(
    draws: Draws, data: Annotations, joint: Floats, mixed: Floats, partner: Ints
) -> pd.DataFrame:
    given = data.votes.sum(axis=0)
    right = np.diagonal(joint, axis1=1, axis2=2)
    at = np.arange(data.n_labels)
    table: dict[str, object] = {
        "label": list(data.labels),
        "given": given,
        "share": given / len(data),
        **estimated("prevalence", draws.prevalence),
        **estimated("recall", over(right, joint.sum(axis=2))),
        **estimated("precision", over(right, joint.sum(axis=1))),
        "partner": [data.labels[k] for k in partner],
        **estimated("partner_share", over(mixed[:, at, partner], mixed.sum(axis=2))),
    }
    return pd.DataFrame(table)


def _pairs(data: Annotations, mixed: Floats, pairs: Ints) -> pd.DataFrame:
    """Tabulate the proportion of all confusions that each pair of labels has."""
    first, second = pairs.T
    each, total = mixed[:, first, second], mixed.sum(axis=(1, 2))[:, None] / 2
    table: dict[str, object] = {
        "first": [data.labels[k] for k in first],
        "second": [data.labels[k] for k in second],
        **estimated("confusions", over(each, np.broadcast_to(total, each.shape))),
    }
    return pd.DataFrame(table)


def _notes(data: Annotations, found: pd.DataFrame) -> tuple[str, ...]:
    notes = list[str]()
    unused = [label_text(data.labels[k]) for k in np.flatnonzero(data.votes.sum(axis=0) == 0)]
    if unused:
        notes.append(f"Nobody used {some(unused, str, 8, 200)}; their rows show the prior.")
    if data.n_labels < 3:
        notes.append("With two labels, merging would leave only one.")
        return tuple(notes)
    if data.scale != "nominal":
        notes.append(f"Alpha is nominal here, although the scale of the labels is {data.scale}.")
    notes.append(say("merging"))
    change: Any = found["alpha_change"].where(found["alpha_change_low"] > 0)
    if change.notna().any():
        place = int(np.nanargmax(change.to_numpy()))
        best, pair = found.iloc[place], found.index[place]
        first, second = (label_text(data.labels[k]) for k in pair)
        ends = {end: best[f"alpha_change_{end}"] for end in ("low", "high")}
        gain = best["alpha_change"]
        notes.append(say("merged", first=first, second=second, gain=gain, **ends))
    return tuple(notes)
