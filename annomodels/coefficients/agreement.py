"""Compute one agreement coefficient of a data set, or a panel of them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypedDict, Unpack, get_args, overload

import numpy as np

from annomodels.coefficients.distances import DistanceLike
from annomodels.coefficients.evaluation import Statistics, draw_values
from annomodels.coefficients.formulas import less
from annomodels.coefficients.reasons import (
    before,
    data_notes,
    diagnose,
    explain,
    n_groups,
    pairs_note,
    refuse,
    say,
    used_items,
)
from annomodels.coefficients.requests import (
    ChanceLike,
    MarginsLike,
    Names,
    item_chances,
    label_margins,
    make_requests,
)
from annomodels.coefficients.result import Agreement, AgreementPanel
from annomodels.coefficients.rows import Duplicates, collapse, prepare, with_labels
from annomodels.coefficients.tables import Evaluated
from annomodels.coefficients.weights import Basis, make_sample
from annomodels.data.annotations import Annotations, as_annotations
from annomodels.data.columns import percent
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable, valid_seed
from annomodels.limits import GROUPS_RESAMPLED
from annomodels.types import Floats

SHOWN = 5

Convention = Literal["krippendorff", "gwet", "pairs", "pairwise", "listwise"]
Resample = Literal["auto", "items", "groups"]


class Options(TypedDict, total=False):
    distance: DistanceLike | None
    missing: Convention | None
    duplicates: Duplicates
    undefined: float
    draws: int
    seed: int
    resample: Resample
    labels: Sequence[Hashable] | None
    margins: MarginsLike | None
    chance: ChanceLike | None


@overload
def agreement(  # type: ignore[overload-overlap]
    data: Annotations,
    name: Literal["all"] | list[str] | tuple[str, ...] | None = None,
    **options: Unpack[Options],
) -> AgreementPanel: ...


@overload
def agreement(data: Annotations, name: str, **options: Unpack[Options]) -> Agreement: ...


def agreement(
    data: Annotations,
    name: Names = None,
    *,
    distance: DistanceLike | None = None,
    missing: Convention | None = None,
    duplicates: Duplicates = "first",
    undefined: float = math.nan,
    draws: int = 2000,
    seed: int = 0,
    resample: Resample = "auto",
    labels: Sequence[Hashable] | None = None,
    margins: MarginsLike | None = None,
    chance: ChanceLike | None = None,
) -> Agreement | AgreementPanel:
    r"""Compute chance-corrected agreement between coders, with its sampling posterior.

    Every coefficient is :math:`1 - D_o / D_e`, which for nominal labels is
    :math:`(A_o - A_e) / (1 - A_e)`; they differ in the agreement expected by chance.

    Parameters
    ----------
    data
        Labels to compare.
    name
        Name or alias of a coefficient ("alpha", "Fleiss' kappa", "cohen" ...). Several names give
        a panel of these, "all" every coefficient, None the usual ones. In a panel, a
        coefficient that does not apply is NaN with the reason. :func:`annomodels.coefficients`
        lists them.
    distance
        Distance between labels: a :doc:`name </coefficients>`, a table or a function. By
        default nominal; alpha and the weighted coefficients take that of the labels' scale (for an
        ordinal scale alpha takes Krippendorff's, the others quadratic). Kappa with a distance is
        weighted kappa, AC1 with a distance AC2.
    missing
        Treatment of missing labels; all conventions agree on complete data. "krippendorff"
        (default): items with two labels or more, each weighted by its number of labels; "gwet":
        plain mean over these items, label proportions from all items; "pairs": every pair of labels
        counts the same; "pairwise": each pair of coders on its shared items, then the mean;
        "listwise": items that every coder labeled. multi_kappa weighs pairs of coders by the
        product of their label counts, also with "gwet" and "pairwise".
    duplicates
        Treatment of repeated labels by the same coder: take the "first" or "last", "keep" all as
        labels of further coders, or raise an "error".
    undefined
        Value of an undefined coefficient.
    draws, seed
        Number of draws of the sampling posterior, 0 for none, and their seed.
    resample
        Unit of resampling: "items", or "groups" such as documents. "auto" uses groups if ten or
        more of them have an item with two labels, else items; a note states the choice.
    labels
        Label set, if it is larger than the labels in use or its order matters.
    margins
        External distribution of the labels, {label: share}, such as that of a larger corpus. The
        expected agreement uses it instead of the observed shares.
    chance
        For ``s_item``: probability of agreement by chance for each item, as {item: probability},
        a sequence in the order of ``data.items``, or one number. Use 1 / number of answers if
        items have separate answers.

    Returns
    -------
    An :class:`~annomodels.coefficients.result.Agreement` for one coefficient, else a panel of them.

    Raises
    ------
    NotApplicable
        If the coefficient is unknown or does not support the data, distance or convention.
    AnnotationError
        If a label is not in the label set, a table is not a distance, margins or chance levels are
        wrong, or repeats are an error.

    References
    ----------
    Artstein & Poesio 2008, doi:10.1162/coli.07-034-R2; Krippendorff 2004,
    doi:10.1111/j.1468-2958.2004.tb00738.x; Gwet 2014, Handbook of Inter-Rater Reliability.

    Examples
    --------
    Two coders' dialogue labels in Carpenter & Poesio (2010):

    >>> import annomodels as am
    >>> cells = {("box", "box"): 41, ("box", "tank"): 3, ("tank", "box"): 9, ("tank", "tank"): 47}
    >>> pairs = [pair for pair, n in cells.items() for _ in range(n)]
    >>> rows = [(i, c, label) for i, pair in enumerate(pairs) for c, label in enumerate(pair)]
    >>> data = am.Annotations.from_records(rows)
    >>> found = am.agreement(data, "kappa")
    >>> found.observed, round(found.value, 4)
    (0.88, 0.76)
    >>> panel = am.agreement(data)
    >>> panel.table["value"].round(4).tolist()
    [0.88, 0.76, 0.7591, 0.7591, 0.76, 0.76, 0.7603, 0.76...]
    """
    data = as_annotations(data)
    if labels is not None:
        if not isinstance(labels, Iterable):
            raise NotApplicable(
                f"labels={labels!r} is not a label set. Give a list of all labels, used or not."
            )
        data = with_labels(data, tuple(labels))
    shares = None
    if margins is not None:
        data, shares = label_margins(data, margins)
    chances = None if chance is None else item_chances(data, chance)
    given: object = undefined
    if not isinstance(given, (int, float)):
        hint = ' The rules of "label-given" apply to groups of items.'
        raise NotApplicable(
            f"undefined={undefined!r} is not a number. Give one, for instance 0."
            f"{hint if given == 'label-given' else ''}"
        )
    requests = make_requests(data, name, distance, missing, shares, chances)
    rows = prepare(data, duplicates, by_group(data, resample))
    reasons = [r.reason or before(r.coefficient, rows, r.convention) for r in requests]
    single = isinstance(name, str) and name != "all"
    if single:
        refuse(reasons[0], requests[0].coefficient, rows)
    # Items with separate chance levels differ even if their labels are equal.
    sample = make_sample(collapse(rows) if chances is None else rows, drawn=draws > 0)
    able = [n for n, reason in enumerate(reasons) if not reason]
    statistics = Statistics(sample.rows, [requests[n] for n in able])
    points = dict(zip(able, statistics.evaluate(sample.point), strict=True))
    for place, n in enumerate(able):
        reasons[n] = diagnose(requests[n].coefficient, rows, requests[n].convention, points[n])
        if requests[n].coefficient.each_pair and rows.n_coders > 2:
            lost = pairs_note(*statistics.pairs_left_out(place, sample.point), rows.n_coders)
            requests[n] = replace(requests[n], note=f"{requests[n].note} {lost}".strip())
    drawn = [n for n in able if reasons[n] in ("", "constant_coder")]
    values = draw_values(sample, [requests[n] for n in drawn], draws, valid_seed(seed))
    by_request = dict(zip(drawn, values, strict=True))
    notes = data_notes(data, rows, sample, requests, duplicates, bool(by_request) and draws > 0)
    used = [r.coefficient.name for r in requests if r.margins is not None]
    if used and shares is not None:
        named = list(zip(data.labels, shares, strict=True))
        said = ", ".join(f"{label_text(label)} {percent(p, 1)}" for label, p in named[:SHOWN])
        more = ", ..." if data.n_labels > SHOWN else ""
        notes += (say("margins", names=", ".join(used), shares=f"{said}{more}"),)
    results = []
    for n, request in enumerate(requests):
        basis, found = Basis(data, rows, sample, request, draws, seed), points.get(n)
        results.append(_result(basis, reasons[n], found, by_request.get(n), undefined, notes))
    return results[0] if single else AgreementPanel(tuple(results), notes)


def by_group(data: Annotations, resample: Resample) -> bool:
    """Return True if groups are resampled instead of items."""
    if resample not in get_args(Resample):
        allowed = ", ".join(get_args(Resample))
        raise NotApplicable(f"resample={resample!r} is unknown. Use one of {allowed}.")
    if resample == "groups" and data.group is None:
        raise NotApplicable('resample="groups" needs the documents of the items. Use "items".')
    if resample == "auto":
        return n_groups(data) >= GROUPS_RESAMPLED
    return resample == "groups"


def _result(
    basis: Basis,
    reason: str,
    point: Evaluated | None,
    draws: Floats | None,
    undefined: float,
    notes: tuple[str, ...],
) -> Agreement:
    request, rows = basis.request, basis.rows
    entry, nominal = request.coefficient, request.nominal
    value, d_o, d_e = map(float, point or np.full(3, np.nan))
    used = used_items(rows, request.convention)
    note = explain(reason, entry, rows.n_coders, rows.n_labels)
    lost = 0.0 if draws is None or not len(draws) else float(np.isnan(draws).mean())
    complete = basis.data.is_complete
    some = f"Only the {int(used.sum()):,} of {len(used):,} items that every coder labeled count."
    partial = some if entry.numeric and not complete and used.any() else ""
    unknown = f"It is undefined in {percent(lost, 1)} of the draws." if lost else ""
    parts = note, partial, request.note, unknown
    return Agreement(
        name=entry.name,
        title=request.title,
        value=float(undefined) if math.isnan(value) else value,
        observed=float(less(np.array(d_o))) if nominal else d_o,
        expected=float(less(np.array(d_e))) if nominal else d_e,
        kind="agreement" if nominal else "disagreement",
        n_items=int(used.sum()),
        n_coders=rows.n_coders,
        n_labels=int(rows.per_item[used].sum()),
        convention="complete" if complete else request.convention,
        note=" ".join(filter(None, parts)),
        reason=reason,
        distance=request.distance.name,
        draws=draws if draws is not None and len(draws) else None,
        notes=notes,
        basis=basis,
    )
