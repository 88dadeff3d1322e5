"""The label scheme: how frequent, how well used and how often confused each label is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.coefficients.tables import over
from annomodels.data.annotations import Annotations
from annomodels.data.columns import columns as columns_of
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.summaries.draws import Draws, estimated, thinned, told_by
from annomodels.summaries.merging import (
    MOST_MERGED,
    merged_alphas,
    merges,
    worth_merging,
)
from annomodels.types import Floats, Ints

COLUMNS = columns_of(
    "label given share prevalence sensitivity precision partner partner_share alpha_change",
    "accuracy_gain",
)
PAIRS = columns_of("first second confusions alpha_merged alpha_change accuracy_gain")


def labels(tree: xr.DataTree, data: Annotations) -> Summary:
    """Tabulate how frequent, how well used and how often confused each label is."""
    return scheme(tree, data)[0]


def pairs(tree: xr.DataTree, data: Annotations) -> Summary:
    """Say of each pair of labels how often they are confused and what merging them would do."""
    return scheme(tree, data)[1]


def prevalence(tree: xr.DataTree, data: Any) -> Summary:
    """Share of each label among the truths."""
    draws = tree["posterior"].to_dataset()[["prevalence"]]
    values = draws["prevalence"].values.reshape(-1, data.n_labels)
    table = pd.DataFrame({"label": list(data.labels), **estimated("prevalence", values)})
    return Summary("Prevalence", table, draws, told_by(tree), columns_of("label prevalence"))


def scheme(tree: xr.DataTree, data: Annotations) -> tuple[Summary, Summary]:
    """Return :func:`labels` and :func:`pairs`, which rest on the same draws."""
    draws = thinned(tree, data)
    joint = crowd_table(draws, data)
    mixed = joint + joint.transpose(0, 2, 1)
    mixed[:, range(data.n_labels), range(data.n_labels)] = 0.0
    mean = mixed.mean(axis=0)
    partner = mean.argmax(axis=1)
    own = np.unique(np.sort(np.column_stack([np.arange(data.n_labels), partner]), axis=1), axis=0)
    every = np.column_stack(np.triu_indices(data.n_labels, 1))
    top = every[np.argsort(-mean[every[:, 0], every[:, 1]], kind="stable")[:MOST_MERGED]]
    wanted = {n: worth_merging(data, mixed, chosen) for n, chosen in enumerate((own, top))}
    alphas = merged_alphas(data, [(0, 0), *wanted[0], *wanted[1]]) if wanted[1] else {}
    of_own = merges(mixed, own, {pair: alphas[pair] for pair in [(0, 0), *wanted[0]] if alphas})
    of_top = merges(mixed, top, alphas)
    kept, coder_note = _kept(joint, data), told_by(tree)
    each, both = _each(draws, data, joint, partner, of_own), _pairs(data, mixed, top, of_top)
    return (
        Summary("Labels", each, kept, (*coder_note, *_notes(data, of_own)), COLUMNS),
        Summary("Pairs of labels", both, kept, (*coder_note, *_notes(data, of_top)), PAIRS),
    )


def _each(
    draws: Draws, data: Annotations, joint: Floats, partner: Ints, merged: pd.DataFrame
) -> pd.DataFrame:
    """Table of the labels; `merged` holds what merging each with its partner does."""
    given = data.votes.sum(axis=0)
    right = np.diagonal(joint, axis1=1, axis2=2)
    mixed = joint + joint.transpose(0, 2, 1)
    mixed[:, range(data.n_labels), range(data.n_labels)] = 0.0
    table: dict[str, object] = {
        "label": list(data.labels),
        "given": given,
        "share": given / len(data),
    }
    for name, values in (
        ("prevalence", draws.prevalence),
        ("sensitivity", over(right, joint.sum(axis=2))),
        ("precision", over(right, joint.sum(axis=1))),
    ):
        table |= estimated(name, values)
    at = np.arange(data.n_labels)
    table["partner"] = [data.labels[k] for k in partner]
    table |= estimated("partner_share", over(mixed[:, at, partner], mixed.sum(axis=2)))
    keys = [(min(k, m), max(k, m)) for k, m in zip(at.tolist(), partner.tolist(), strict=True)]
    columns = [str(name) for name in merged if str(name).startswith(("alpha", "accuracy"))]
    of_pair: Any = merged[columns].reindex(keys).reset_index(drop=True)
    found: pd.DataFrame = pd.concat([pd.DataFrame(table), of_pair], axis=1)
    return found


def _pairs(data: Annotations, mixed: Floats, chosen: Ints, merged: pd.DataFrame) -> pd.DataFrame:
    """Table of pairs of labels; `merged` holds what merging them does."""
    first, second = chosen.T
    table: dict[str, object] = {
        "first": [data.labels[k] for k in first],
        "second": [data.labels[k] for k in second],
    }
    total = mixed.sum(axis=(1, 2))[:, None] / 2
    each = mixed[:, first, second]
    table |= estimated("confusions", over(each, np.broadcast_to(total, each.shape)))
    return pd.concat([pd.DataFrame(table), merged.reset_index(drop=True)], axis=1)


def crowd_table(draws: Draws, data: Annotations) -> Floats:
    """P(truth, label) of a label of the crowd on each draw, shape [sample, truth, label]."""
    weight = np.bincount(data.coder, minlength=data.n_coders) / len(data)
    crowd = np.einsum("j,sjkl->skl", weight, draws.confusion)
    table: Floats = draws.prevalence[:, :, None] * crowd
    return table


def _kept(joint: Floats, data: Annotations) -> xr.Dataset:
    names = [label_text(name) for name in data.labels]
    return xr.Dataset(
        {"joint": (("sample", "truth", "label"), joint)}, coords={"truth": names, "label": names}
    )


def _notes(data: Annotations, found: pd.DataFrame) -> tuple[str, ...]:
    notes = []
    unused = [label_text(data.labels[k]) for k in np.flatnonzero(data.votes.sum(axis=0) == 0)]
    if unused:
        notes.append(f"Nobody used {', '.join(unused[:8])}; their rows show the prior.")
    if data.n_labels < 3:
        notes.append("With two labels, merging would leave only one.")
        return tuple(notes)
    if data.scale != "nominal":
        notes.append(f"Alpha is nominal here, although the scale of the labels is {data.scale}.")
    notes.append(
        "Merging always raises crowd accuracy. It pays only if alpha rises and the distinction is "
        "not needed."
    )
    change: Any = found["alpha_change"].where(found["alpha_change_low"] > 0)
    if change.notna().any():
        pair = change.idxmax()
        best: Any = found.loc[pair]
        first, second = (label_text(data.labels[k]) for k in pair)
        notes.append(
            f"If merged, {first} and {second} would raise alpha by {best['alpha_change']:.3f} "
            f"({best['alpha_change_low']:.3f} to {best['alpha_change_high']:.3f})."
        )
    return tuple(notes)
