"""From what a user asks for to what is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.catalogue import (
    COEFFICIENTS,
    CONVENTION_NAMES,
    Coefficient,
    find,
    panel_names,
)
from annomodels.coefficients.distances import Distance, Nominal
from annomodels.coefficients.evaluation import Request
from annomodels.coefficients.metrics import DistanceLike, make_distance
from annomodels.coefficients.reasons import explain
from annomodels.data.annotations import Annotations
from annomodels.errors import NotApplicable

__all__ = ["Names", "make_requests"]

Floats = NDArray[np.float64]
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
    """One coefficient as asked for, or those of a panel with what each of them can take.

    Raises
    ------
    NotApplicable
        When a coefficient that was asked for by name does not know the distance, the convention,
        margins or chance levels, or needs what the data or the user do not give.
    """
    if missing is not None and missing not in CONVENTION_NAMES:
        raise NotApplicable(
            f"missing={missing!r} is no convention. Use one of {', '.join(CONVENTION_NAMES)}."
        )
    given = None if distance is None else _distance(data, distance)
    single = isinstance(name, str) and name != "all"
    requests = []
    for entry in _entries(data, name, chance is not None):
        note = ""
        if given is not None and given.name != "nominal" and entry.name in _WEIGHTED_FORM:
            weighted = COEFFICIENTS[_WEIGHTED_FORM[entry.name]]
            if single:
                note = f"{entry.title} with the distance {given.name} is {_lower(weighted)}."
                entry = weighted
        reason = _unfit(data, entry, chance)
        if single:
            _check(entry, given, missing, margins, chance)
            if reason:
                raise NotApplicable(f"{entry.title}: {explain(reason, entry, data.n_coders)}")
        found = _suited(data, entry, given, single)
        if single and distance is None and found.name == "nominal" and entry.name in _PLAIN_FORM:
            note = (
                f"Without a distance it is {_PLAIN_FORM[entry.name]}: give distance= or declare "
                "the scale of the labels."
            )
        if found.name == "ordinal" and entry.name not in ("alpha", "hughes_alpha"):
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
    """Entries of the catalogue that are asked for, each once."""
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
            f"A coefficient is asked for by its name, and {name!r} is no name. "
            'Give a name, several, "all", or nothing.'
        )
    if not names:
        raise NotApplicable("No coefficient was asked for. Give a name, names, or nothing.")
    return list(dict.fromkeys(find(one) for one in names))


def _lower(entry: Coefficient) -> str:
    """Title and source for the middle of a sentence."""
    title = entry.title if entry.title.startswith("Gwet") else entry.title.lower()
    return f"{title} ({entry.citation})"


def _unfit(data: Annotations, entry: Coefficient, chance: Floats | None) -> str:
    """Reason that the kind of labels or what was given leaves no way to compute it."""
    if entry.numeric and not np.isfinite(data.values).all():
        return "needs_numbers"
    return "needs_chance" if entry.chance and chance is None else ""


def _check(
    entry: Coefficient,
    given: Distance | None,
    missing: str | None,
    margins: Floats | None,
    chance: Floats | None,
) -> None:
    """Refuse what the coefficient does not know."""
    only = "interval" if entry.numeric else "nominal"
    if given is not None and not entry.weighted and given.name not in ("nominal", only):
        raise NotApplicable(
            f"{entry.title} knows no distance but {only}. "
            f"These take {given.name!r}: {_those('weighted')}."
        )
    if missing is not None and missing not in entry.missing:
        raise NotApplicable(
            f"{entry.title} does not know the convention {missing!r}. "
            f"Use one of {', '.join(entry.missing)}."
        )
    if margins is not None and not entry.margins:
        raise NotApplicable(
            f"{entry.title} takes no distribution of labels from elsewhere. "
            f"These take margins: {_those('margins')}."
        )
    if chance is not None and not entry.chance:
        raise NotApplicable(
            f"{entry.title} takes no chance levels of items. These do: {_those('chance')}."
        )


def _those(capability: str) -> str:
    """Names of the coefficients that can do something."""
    return ", ".join(name for name, entry in COEFFICIENTS.items() if getattr(entry, capability))


def _suited(
    data: Annotations, entry: Coefficient, given: Distance | None, single: bool
) -> Distance:
    """Choose the distance a coefficient takes."""
    if entry.numeric and np.isfinite(data.values).all():
        return _distance(data, "interval")
    # In a panel, observed agreement stays the share of equal labels.
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
