"""The label scheme: how frequent, how well used and how often confused each label is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.annotations import Annotations
from annomodels.names import label_text
from annomodels.summaries.draws import Draws, thinned
from annomodels.summaries.merging import MOST_MERGED, merges, with_interval
from annomodels.summaries.summary import Summary

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["crowd_table", "labels", "pairs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def labels(tree: xr.DataTree, data: Annotations) -> Summary:
    r"""Say of each label how frequent it is, how well it is used and what it is confused with.

    On each draw, with the share w_j of the labels that coder j gave, an item and a label of the
    crowd have truth k and label l with probability

    .. math:: J_{kl} = \pi_k \sum_j w_j \theta_{j,k,l} .

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.

    Returns
    -------
    Summary
        One row per label: label, given (number), share (of the labels given), prevalence (share of
        the items, errors of the coders taken out), sensitivity
        :math:`J_{kk} / \sum_l J_{kl}` (said when it is true), precision
        :math:`J_{kk} / \sum_m J_{mk}` (true when it is said), partner (the label l with the largest
        :math:`J_{kl} + J_{lk}`), partner_share (of all confusions of k, the part with that label),
        and what merging the two would do: alpha_change, from alpha to alpha with both counted as
        one, and accuracy_gain, :math:`J_{kl} + J_{lk}`. Where there is a ``_low`` there is a
        ``_high``: 95 % intervals; those of alpha are of the sampling posterior. Draws: joint,
        shape [sample, truth, label].

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> labels(*small_fit()).table[["label", "share", "prevalence", "sensitivity"]].round(2)
      label  share  prevalence  sensitivity
    0   neg   0.33         0.5          0.8
    1   pos   0.67         0.5          0.9
    """
    import pandas as pd

    draws = thinned(tree, data)
    joint = crowd_table(draws, data)
    given = data.votes.sum(axis=0)
    right = np.diagonal(joint, axis1=1, axis2=2)
    mixed = joint + joint.transpose(0, 2, 1)
    mixed[:, range(data.n_labels), range(data.n_labels)] = 0.0
    mean = mixed.mean(axis=0)
    partner = mean.argmax(axis=1)
    table: dict[str, Any] = {
        "label": list(data.labels),
        "given": given,
        "share": given / len(data),
    }
    for name, values in (
        ("prevalence", draws.prevalence),
        ("sensitivity", _ratio(right, joint.sum(axis=2))),
        ("precision", _ratio(right, joint.sum(axis=1))),
    ):
        with_interval(table, name, values)
    at = np.arange(data.n_labels)
    table["partner"] = [data.labels[k] for k in partner]
    with_interval(table, "partner_share", _ratio(mixed[:, at, partner], mixed.sum(axis=2)))
    frame = pd.DataFrame(table)
    chosen = np.unique(np.sort(np.column_stack([at, partner]), axis=1), axis=0)
    found = merges(data, mixed, chosen)
    keys = [(min(k, m), max(k, m)) for k, m in zip(at.tolist(), partner.tolist(), strict=True)]
    columns = [str(name) for name in found if str(name).startswith(("alpha", "accuracy"))]
    of_pair: Any = found[columns].reindex(keys).reset_index(drop=True)
    frame = pd.concat([frame, of_pair], axis=1)
    return Summary("Labels", frame, _kept(joint, data), _notes(data, found))


def pairs(tree: xr.DataTree, data: Annotations) -> Summary:
    """Say of each pair of labels how often they are confused and what merging them would do.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.

    Returns
    -------
    Summary
        One row per pair of labels, the most confused first: first, second, confusions (their part
        of all errors), and the columns of :func:`labels` about merging. Of many labels the 45 most
        confused pairs.

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> pairs(*small_fit()).table[["first", "second", "confusions"]]
      first second  confusions
    0   neg    pos         1.0
    """
    import pandas as pd

    draws = thinned(tree, data)
    joint = crowd_table(draws, data)
    mixed = joint + joint.transpose(0, 2, 1)
    first, second = np.triu_indices(data.n_labels, 1)
    each = mixed[:, first, second]
    order = np.argsort(-each.mean(axis=0), kind="stable")[:MOST_MERGED]
    first, second = first[order], second[order]
    table: dict[str, Any] = {
        "first": [data.labels[k] for k in first],
        "second": [data.labels[k] for k in second],
    }
    total = each.sum(axis=1, keepdims=True)
    with_interval(
        table, "confusions", _ratio(each[:, order], np.broadcast_to(total, each.shape)[:, order])
    )
    found = merges(data, mixed, np.column_stack([first, second]))
    frame = pd.concat([pd.DataFrame(table), found.reset_index(drop=True)], axis=1)
    return Summary("Pairs of labels", frame, _kept(joint, data), _notes(data, found))


def crowd_table(draws: Draws, data: Annotations) -> Floats:
    """P(truth, label) of a label of the crowd on each draw, shape [sample, truth, label].

    Coders count by the number of their labels.

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> tree, data = small_fit()
    >>> crowd_table(thinned(tree, data), data).sum(axis=(1, 2)).round(9).max()
    np.float64(1.0)
    """
    weight = np.bincount(data.coder, minlength=data.n_coders) / len(data)
    crowd = np.einsum("j,sjkl->skl", weight, draws.confusion)
    table: Floats = draws.prevalence[:, :, None] * crowd
    return table


def _ratio(part: Floats, whole: Floats) -> Floats:
    out = np.full(part.shape, np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out


def _kept(joint: Floats, data: Annotations) -> xr.Dataset:
    import xarray as xr

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
        notes.append("Two labels cannot be merged: nothing would be left to tell apart.")
        return tuple(notes)
    if data.scale != "nominal":
        notes.append(f"Alpha is nominal here, although the scale of the labels is {data.scale}.")
    notes.append(
        "Merging always makes the crowd more accurate, for there is less to tell apart; what it is "
        "worth is whether alpha rises, and whether the distinction is needed."
    )
    change: Any = found["alpha_change"].where(found["alpha_change_low"] > 0)
    if change.notna().any():
        pair = change.idxmax()
        best: Any = found.loc[pair]
        first, second = (label_text(data.labels[k]) for k in pair)
        notes.append(
            f"Counted as one, {first} and {second} would raise alpha by "
            f"{best['alpha_change']:.3f} ({best['alpha_change_low']:.3f} to "
            f"{best['alpha_change_high']:.3f})."
        )
    return tuple(notes)
