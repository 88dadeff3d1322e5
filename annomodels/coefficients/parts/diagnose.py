"""The verb: where the disagreement of a data set comes from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.coefficients.agreement import Convention, Resample, agreement
from annomodels.coefficients.distances import DistanceLike
from annomodels.coefficients.intervals import interval
from annomodels.coefficients.parts import sentences as say
from annomodels.coefficients.parts.breakdown import by_coder, by_label, constant_labels
from annomodels.coefficients.parts.grouped import against_rest
from annomodels.coefficients.parts.results import SHARES, Diagnosis
from annomodels.coefficients.parts.setup import Setup, refuse_unfit, set_up
from annomodels.coefficients.parts.shares import (
    Bias,
    LabelPairs,
    Overlap,
    item_table,
    overlap,
    share_columns,
)
from annomodels.coefficients.parts.table import collect, dataset, notes_of, planned
from annomodels.coefficients.reasons import before
from annomodels.coefficients.rows import Duplicates
from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable, valid_seed
from annomodels.types import Floats

MANY_LABELS = 200
EVERY = ["part", "name", "n", *SHARES]


def diagnose(
    data: Annotations,
    name: str = "alpha",
    *,
    distance: DistanceLike | None = None,
    missing: Convention | None = None,
    duplicates: Duplicates = "first",
    draws: int = 1000,
    seed: int = 0,
    resample: Resample = "auto",
    labels: Sequence[Hashable] | None = None,
) -> Diagnosis:
    r"""Find where disagreement comes from: label pairs, items, coders, groups, gaps in the design.

    The observed disagreement :math:`D_o` is a sum over pairs of labels, so each pair of labels,
    item, coder and group makes up a share of it; beside it stands the share that chance would give.

    Parameters
    ----------
    data
        Labels to compare.
    name
        Name or alias of the coefficient that is to be explained.
    distance, missing, duplicates, resample, labels
        As in :func:`~annomodels.agreement`.
    draws, seed
        Number and seed of the draws of the sampling posterior.

    Returns
    -------
    A :class:`~annomodels.coefficients.parts.results.Diagnosis`: sentences, and the tables they
    rest on.

    Raises
    ------
    NotApplicable
        When the coefficient is unknown or cannot be taken apart.
    AnnotationError
        When labels are not in the label set, a table is no distance, or repeats are an error.

    References
    ----------
    Feinstein & Cicchetti 1990, doi:10.1016/0895-4356(90)90158-L (high agreement, low kappa).

    Examples
    --------
    Two coders agree on 95 of 100 items, and nearly all labels are "no":

    >>> import annomodels as am
    >>> pairs = [("no", "no")] * 95 + [("no", "yes")] * 3 + [("yes", "no")] * 2
    >>> rows = [(i, c, label) for i, pair in enumerate(pairs) for c, label in zip("AB", pair)]
    >>> found = am.diagnose(am.Annotations.from_records(rows), "kappa", draws=200)
    >>> print(found.sentences[1])
    Why 95.0 % agreement gives Cohen's kappa -.025: 97.5 % of the labels are 'no', so coders ...
    """
    setup = set_up(data, name, distance, missing, duplicates, resample, labels)
    refuse_unfit(setup)
    if setup.request.coefficient.each_pair or setup.request.convention == "pairwise":
        raise NotApplicable(
            f"{setup.title} is a mean over pairs of coders and is not diagnosed. Use alpha, k or "
            'multi_kappa, and breakdown(data, "pair").'
        )
    links = overlap(setup.rows)
    reason = before(setup.request.coefficient, setup.rows, setup.request.convention)
    if reason:
        return _nothing(setup, links)
    options: dict[str, Any] = {
        "distance": distance,
        "missing": missing,
        "duplicates": duplicates,
        "resample": resample,
    }
    return _diagnosis(setup, links, options, draws, valid_seed(seed))


def _diagnosis(
    setup: Setup, links: Overlap, options: dict[str, Any], draws: int, seed: int
) -> Diagnosis:
    """Put the tables and sentences together."""
    data, entry = setup.data, setup.request.coefficient
    by = by_coder(setup, draws, seed)
    made = by.draws.sizes.get("draw", 0)
    label = by_label(setup, made, seed) if setup.nominal and data.n_labels <= MANY_LABELS else None
    names = dict.fromkeys([entry.name, "percent", *(("s", "ac1") if setup.nominal else ())])
    panel = agreement(data, list(names), draws=made, seed=seed, **options).table
    asked = panel.iloc[0].to_dict()
    sides, label_pairs = against_rest(setup, "coder"), LabelPairs(setup)
    parts: dict[str, Any] = {"label_pair": label_pairs, "coder": sides}
    if setup.sample.documents and data.group is not None:
        parts["group"] = against_rest(setup, "group")
    more = Bias(sides, setup.sample.point)

    def measure(weights: Floats) -> dict[str, Floats]:
        found = {"over": more.by(weights)}
        for name, part in parts.items():
            found[f"{name}_share"], found[f"{name}_expected"] = part.shares(weights)
        return found

    width = 6 * sum(part.n_parts for part in parts.values()) + 2 * data.n_labels
    width += 6 * len(label_pairs.d)
    work = int(label_pairs.counts.together.nnz + 4 * sides.total.nnz)
    made = planned(made, width, work)
    drawn = collect(setup, measure, made, seed, width)
    columns = {}
    for name, part in parts.items():
        both = drawn[f"{name}_share"], drawn[f"{name}_expected"]
        columns[name] = share_columns(part.shares(setup.sample.point), both)
    first, second = ([data.labels[k] for k in x] for x in (label_pairs.first, label_pairs.second))
    pairs = pd.DataFrame({"first": first, "second": second, **columns["label_pair"]})
    coders = _coders(setup, links, by.table, columns["coder"], more, drawn["over"])
    groups = None
    if "group" in columns:
        groups = pd.DataFrame({"group": list(data.groups), **columns["group"]})
    items = item_table(setup)
    found = say.prevalence(setup)
    counted = np.bincount(setup.rows.label, minlength=data.n_labels)
    shares = dict(zip(data.labels, counted / counted.sum(), strict=True))
    sentences = [
        *say.about_agreement(asked),
        *say.why_so_low(setup, found, float(asked["value"]), float(asked["expected"])),
        *say.about_overlap(links, data.coders, data.n_items),
        *say.about_label_pairs(pairs, data.n_labels),
        *say.about_labels(label, setup.title),
        *say.about_items(items),
        *say.about_groups(groups),
        *say.about_coders(coders, setup.title, data.n_labels),
        *say.about_constant_coders(coders, shares),
    ]
    kept = {name: values for name, values in drawn.items() if name.startswith("coder")}
    return Diagnosis(
        f"Where disagreement comes from: {setup.title} · {data!r}",
        _every(pairs, coders, groups, items),
        dataset({"coder": data.coders}, kept),
        tuple(notes_of(setup, draws, made)),
        sentences=tuple(sentences),
        agreement=panel,
        label_pairs=pairs,
        labels=None if label is None else label.table,
        items=items,
        coders=coders,
        groups=groups,
        components=links.components,
    )


def _every(
    pairs: pd.DataFrame, coders: pd.DataFrame, groups: pd.DataFrame | None, items: pd.DataFrame
) -> pd.DataFrame:
    """Table of label pairs, coders, groups and items one below the other, with their shares."""
    pieces = []
    if len(pairs):
        both = zip(pairs["first"], pairs["second"], strict=True)
        names = [f"{label_text(a)} / {label_text(b)}" for a, b in both]
        pieces.append(pairs.assign(part="label pair", name=names))
    for part, table in (("coder", coders), ("group", groups), ("item", items)):
        if table is not None and len(table):
            pieces.append(table.assign(part=part, name=table[part].map(label_text)))
    return pd.concat([piece.reindex(columns=EVERY) for piece in pieces], ignore_index=True)


def _coders(
    setup: Setup,
    links: Overlap,
    table: pd.DataFrame,
    columns: dict[str, Floats],
    more: Bias,
    over: Floats,
) -> pd.DataFrame:
    """Table of the coders, those behind most disagreement first."""
    by = more.by(setup.sample.point)
    low, high = interval(over, value=by)
    only = constant_labels(setup.rows)
    names = setup.data.labels
    known = ~np.isnan(more.distance)
    found = table.drop(columns="note").assign(
        **columns,
        partners=np.nan if links.partners is None else links.partners,
        component=links.component,
        only=pd.Series([names[k] if k >= 0 else None for k in only], dtype=object),
        overused=pd.Series(
            [names[k] if ok else None for k, ok in zip(more.label, known, strict=True)],
            dtype=object,
        ),
        over_by=by,
        over_low=low,
        over_high=high,
        note=table["note"],
    )
    return found.sort_values("share", ascending=False, kind="stable").reset_index(drop=True)


def _nothing(setup: Setup, links: Overlap) -> Diagnosis:
    """Diagnose data in which no two coders share an item."""
    row = agreement(setup.data, setup.request.coefficient.name, draws=0).row()
    about = say.about_overlap(links, setup.data.coders, setup.data.n_items)
    return Diagnosis(
        f"Where disagreement comes from: {setup.title} · {setup.data!r}",
        pd.DataFrame(columns=EVERY),
        xr.Dataset(),
        sentences=(*say.about_agreement(row), *about),
        agreement=pd.DataFrame([row]),
        components=links.components,
    )
