"""Compute one agreement coefficient of a data set, or a panel of them.

Also requests from options, and external inputs for chance agreement: label proportions, or chance
levels of items.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from annomodels.coefficients.catalogue import (
    COEFFICIENTS,
    CONVENTION_NAMES,
    Coefficient,
    find,
    panel_names,
)
from annomodels.coefficients.distances import (
    Computed,
    Distance,
    DistanceLike,
    Nominal,
    make_distance,
)
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
from annomodels.coefficients.result import Agreement, AgreementPanel
from annomodels.coefficients.rows import (
    Basis,
    Duplicates,
    Request,
    collapse,
    make_sample,
    prepare,
    with_labels,
)
from annomodels.coefficients.sums import Statistics, draw_values
from annomodels.coefficients.tables import Evaluated
from annomodels.data.annotations import Annotations, as_annotations
from annomodels.data.columns import percent
from annomodels.data.names import label_text, plain_mapping
from annomodels.data.validation import number_or_nan, some
from annomodels.errors import AnnotationError, NotApplicable, Option, Problem, valid_seed
from annomodels.limits import GROUPS_RESAMPLED
from annomodels.types import Floats

SHOWN = 5

Convention = Literal["krippendorff", "gwet", "pairs", "pairwise", "listwise"]
Resample = Literal["auto", "items", "groups"]


class AgreementOptions(TypedDict, total=False):
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
    **options: Unpack[AgreementOptions],
) -> AgreementPanel: ...


@overload
def agreement(data: Annotations, name: str, **options: Unpack[AgreementOptions]) -> Agreement: ...


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
    partial = entry.numeric and not complete and used.any()
    some = say("complete_items", n=int(used.sum()), of=len(used)) if partial else ""
    unknown = say("undefined_draws", lost=lost) if lost else ""
    parts = note, some, request.note, unknown
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


MarginsLike = Mapping[Any, float]
ChanceLike = Mapping[Any, float] | ArrayLike

TOLERANCE = 1e-6
FEW = 5


def label_margins(data: Annotations, margins: MarginsLike) -> tuple[Annotations, Floats]:
    """Return proportions in label-set order; the set gains labels that nobody used."""
    if not isinstance(margins, Mapping):
        raise AnnotationError(
            f"margins={margins!r} is not a mapping from labels to shares.",
            remedy='Give the share of each label, for instance margins={"no": .9, "yes": .1}.',
        )
    margins = _by_name(margins, data.labels)
    problems = _bad_numbers(margins, "share", np.inf)
    used = [data.labels[code] for code in np.unique(data.label)]
    problems += _without(used, margins, "share", "label", "Give a share to each label in use.")
    extra = [label for label in margins if label not in set(data.labels)]
    if extra and (data.scale != "nominal" or data.declared):
        what = f"{_some(extra)} not in the label set."
        remedy = f"Declare the whole set in its order: {Option('labels', [...])}."
        problems.append(Problem(what, "margins", remedy))
    shares = np.array([v for v in margins.values() if np.isfinite(number_or_nan(v))], dtype=float)
    total = float(shares.sum())
    counts = total > 1 + TOLERANCE and bool((shares == np.round(shares)).all())
    if not problems and not counts and abs(total - 1) > TOLERANCE:
        what = f"The shares add up to {total:.6g}."
        remedy = "Shares add up to 1; counts are whole numbers."
        problems.append(Problem(what, "margins", remedy))
    if problems:
        raise AnnotationError(problems)
    if extra:
        data = with_labels(data, [*data.labels, *extra])
    return data, np.array([float(margins.get(label, 0.0)) / total for label in data.labels])


def item_chances(data: Annotations, chance: ChanceLike) -> Floats:
    """Return the chance level of each item, shape [item]."""
    if not isinstance(chance, Mapping):
        values = np.asarray(chance, dtype=object)
        if values.shape == ():
            values = np.full(data.n_items, chance, dtype=object)
        if values.shape != (data.n_items,):
            what = f"chance has the shape {values.shape}, but there are {data.n_items:,} items."
            remedy = (
                "Give one number for each item in the order of data.items, or "
                "a mapping from items to numbers."
            )
            raise AnnotationError(what, remedy=remedy)
        chance = dict(zip(data.items, values.tolist(), strict=True))
    chance = _by_name(chance, data.items)
    problems = _bad_numbers(chance, "chance level", 1.0)
    problems += _without(list(data.items), chance, "chance level", "item", "Give one to each item.")
    if problems:
        raise AnnotationError(problems)
    return np.array([float(chance[item]) for item in data.items])


def _by_name(given: Mapping[Hashable, float], names: Sequence[Hashable]) -> dict[Hashable, float]:
    """Match 1 with "1" and vice versa, as files contain text where programs have numbers."""
    known = set(names)
    spelt = {str(name): name for name in names}
    return {
        key if key in known else spelt.get(str(key), key): value
        for key, value in plain_mapping(given, "item").items()
    }


def _some(names: Sequence[Hashable]) -> str:
    return f"{some(names)} {'is' if len(names) == 1 else 'are'}"


def _bad_numbers(given: Mapping[Hashable, float], what: str, most: float) -> list[Problem]:
    none = [name for name, value in given.items() if not np.isfinite(number_or_nan(value))]
    out = [n for n, v in given.items() if n not in set(none) and not 0 <= float(v) <= most]
    limits = "not negative" if np.isinf(most) else f"between 0 and {most:g}"
    return [
        Problem(
            f"The {what} of {_some(names)} {wrong}.",
            ", ".join(f"{name!r}: {given[name]!r}" for name in names[:FEW]),
            f"A {what} is a number, {limits}.",
        )
        for names, wrong in ((none, "no number"), (out, "out of range"))
        if names
    ]


def _without(
    names: list[Hashable], given: Mapping[Hashable, float], what: str, kind: str, remedy: str
) -> list[Problem]:
    missing = [name for name in names if name not in given]
    if not missing:
        return []
    return [Problem(f"{_some(missing)} without a {what}.", f"{kind}s of the data", remedy)]


Names = str | Sequence[str] | None

_WEIGHTED_FORM = {"kappa": "weighted_kappa", "ac1": "ac2"}
_PLAIN_FORM = {"weighted_kappa": "kappa", "ac2": "ac1", "alpha_kappa": "multi_kappa"}


def make_requests(
    data: Annotations,
    name: Names,
    distance: DistanceLike | None = None,
    missing: str | None = None,
    margins: Floats | None = None,
    chance: Floats | None = None,
) -> list[Request]:
    """Return the request for one coefficient, or for a panel with supported options."""
    if missing is not None and missing not in CONVENTION_NAMES:
        raise NotApplicable(
            f"missing={missing!r} is not a convention. Use one of {', '.join(CONVENTION_NAMES)}."
        )
    given = None if distance is None else _distance(data, distance)
    single = isinstance(name, str) and name != "all"
    named = name not in (None, "all")  # a distance applies only to named coefficients
    requests = []
    for entry in _entries(data, name, chance is not None):
        note = ""
        if given is not None and given.name != "nominal" and entry.name in _WEIGHTED_FORM:
            weighted = COEFFICIENTS[_WEIGHTED_FORM[entry.name]]
            if named:
                words = {"title": entry.title, "distance": given.name, "source": weighted.citation}
                name_of = weighted.title
                name_of = name_of if name_of.startswith("Gwet") else name_of.lower()
                note = say("weighted_form", weighted=name_of, **words)
                entry = weighted
        reason = "needs_chance" if entry.chance and chance is None else ""
        if entry.numeric and not np.isfinite(data.values).all():
            reason = "needs_numbers"
        if single:
            _check(entry, given, missing, margins, chance)
            if reason:
                raise NotApplicable(f"{entry.title}: {explain(reason, entry, data.n_coders)}")
        elif named:
            _check(entry, given, None, None, None)
        found = _suited(data, entry, given, single or (named and given is not None))
        if single and distance is None and found.name == "nominal" and entry.name in _PLAIN_FORM:
            note = say("plain_form", name=_PLAIN_FORM[entry.name])
        if isinstance(found, Computed) and (found.unit or entry.expectation in ("gwet", None)):
            note = f"{note} {found.note}".strip()
        if found.name == "ordinal" and entry.name != "alpha":
            note += " " + say("krippendorff_ordinal")
        requests.append(
            Request(
                entry,
                found,
                missing if missing in entry.missing else entry.missing[0],
                margins=margins if entry.margins else None,
                chance=chance if entry.chance else None,
                reason=reason,
                note=note.strip(),
            )
        )
    return requests


def _entries(data: Annotations, name: Names, chance: bool) -> list[Coefficient]:
    if name is None:
        names: Sequence[str] = (*panel_names(data.scale), *(["s_item"] if chance else []))
    elif name == "all":
        names = tuple(COEFFICIENTS)
    elif isinstance(name, str):
        names = (name,)
    elif isinstance(name, Iterable):
        names = tuple(name)
    else:
        raise NotApplicable(
            f"A coefficient is chosen by its name, and {name!r} is not a name. "
            'Give a name, several, "all", or nothing.'
        )
    if not names:
        raise NotApplicable("No coefficient was asked for. Give a name, names, or nothing.")
    return list(dict.fromkeys(find(one) for one in names))


def _check(
    entry: Coefficient,
    given: Distance | None,
    missing: str | None,
    margins: Floats | None,
    chance: Floats | None,
) -> None:
    only, why = "interval" if entry.numeric else "nominal", ""
    if given is not None and not entry.weighted and given.name not in ("nominal", only):
        takes = _those("weighted")
        why = f"supports only the distance {only}. These take {given.name!r}: {takes}."
    elif missing is not None and missing not in entry.missing:
        ways = ", ".join(entry.missing)
        why = f"does not support the convention {missing!r}. Use one of {ways}."
    elif margins is not None and not entry.margins:
        takes = _those("margins")
        why = f"does not support a given distribution of labels. These take margins: {takes}."
    elif chance is not None and not entry.chance:
        why = f"does not support chance levels of items. These do: {_those('chance')}."
    if why:
        raise NotApplicable(f"{entry.title} {why}")


def _those(capability: str) -> str:
    return ", ".join(name for name, entry in COEFFICIENTS.items() if getattr(entry, capability))


def _suited(
    data: Annotations, entry: Coefficient, given: Distance | None, single: bool
) -> Distance:
    if entry.numeric and np.isfinite(data.values).all():
        return _distance(data, "interval")
    # In a panel, observed agreement stays the proportion of equal labels.
    if not entry.weighted or (entry.expectation is None and not single):
        return Nominal()
    if given is not None:
        return given
    if not entry.scale_distance or data.scale == "nominal":
        return Nominal()
    return _distance(data, entry.ordinal if data.scale == "ordinal" else data.scale)


def _distance(data: Annotations, distance: DistanceLike) -> Distance:
    ordered = data.scale != "nominal" or data.declared or bool(np.isfinite(data.values).all())
    return make_distance(distance, data.labels, data.values, ordered=ordered)
