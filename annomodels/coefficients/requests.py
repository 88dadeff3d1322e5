"""Turn user options into requests for coefficients.

Also external inputs for chance agreement: label proportions, or chance levels of items.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

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
from annomodels.coefficients.reasons import explain
from annomodels.coefficients.rows import with_labels
from annomodels.coefficients.weights import Request
from annomodels.data.annotations import Annotations
from annomodels.data.names import plain_mapping
from annomodels.data.validation import number_or_nan, some
from annomodels.errors import AnnotationError, NotApplicable, Option, Problem
from annomodels.types import Floats

MarginsLike = Mapping[Any, float]
ChanceLike = Mapping[Any, float] | ArrayLike

TOLERANCE = 1e-6
FEW = 5


def label_margins(data: Annotations, margins: MarginsLike) -> tuple[Annotations, Floats]:
    """Return proportions in label-set order; the set gains labels that nobody used."""
    if not isinstance(margins, Mapping):
        raise AnnotationError(
            Problem(
                f"margins={margins!r} is not a mapping from labels to shares.",
                remedy='Give the share of each label, for instance margins={"no": .9, "yes": .1}.',
            )
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
            raise AnnotationError(Problem(what, remedy=remedy))
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
                title = weighted.title
                title = title if title.startswith("Gwet") else title.lower()
                source = f"{title} ({weighted.citation})"
                note = f"{entry.title} with the distance {given.name} is {source}."
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
            note = (
                f"Without a distance it is {_PLAIN_FORM[entry.name]}: give distance= or declare "
                "the scale of the labels."
            )
        if isinstance(found, Computed) and (found.unit or entry.expectation in ("gwet", None)):
            note = f"{note} {found.note}".strip()
        if found.name == "ordinal" and entry.name != "alpha":
            note += " The distance is Krippendorff's; Gwet's ordinal weights are 'gwet_ordinal'."
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
    only = "interval" if entry.numeric else "nominal"
    if given is not None and not entry.weighted and given.name not in ("nominal", only):
        raise NotApplicable(
            f"{entry.title} supports only the distance {only}. These take {given.name!r}: "
            f"{_those('weighted')}."
        )
    if missing is not None and missing not in entry.missing:
        raise NotApplicable(
            f"{entry.title} does not support the convention {missing!r}. "
            f"Use one of {', '.join(entry.missing)}."
        )
    if margins is not None and not entry.margins:
        raise NotApplicable(
            f"{entry.title} does not support a given distribution of labels. These take margins: "
            f"{_those('margins')}."
        )
    if chance is not None and not entry.chance:
        raise NotApplicable(
            f"{entry.title} does not support chance levels of items. These do: {_those('chance')}."
        )


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
