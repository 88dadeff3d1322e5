"""From what a user asks for to what is computed."""

from __future__ import annotations

import numpy as np

from annomodels.annotations import Annotations
from annomodels.coefficients.catalogue import CONVENTION_NAMES, Coefficient, find, panel_names
from annomodels.coefficients.distances import Distance, Nominal
from annomodels.coefficients.evaluation import Request
from annomodels.coefficients.metrics import DistanceLike, make_distance
from annomodels.errors import NotApplicable

__all__ = ["make_requests"]

_SCALE_DISTANCE = {"ordinal": "quadratic", "interval": "interval", "ratio": "ratio"}
_WEIGHTED_FORM = {"kappa": "weighted_kappa", "ac1": "ac2", "percent": "alpha"}


def make_requests(
    data: Annotations,
    name: str | None,
    distance: DistanceLike | None,
    missing: str | None,
) -> list[Request]:
    """One coefficient as asked for, or those of the panel with what each of them can take.

    Raises
    ------
    NotApplicable
        When a coefficient that was asked for by name does not know the distance or convention.
    """
    if missing is not None and missing not in CONVENTION_NAMES:
        raise NotApplicable(
            f"missing={missing!r} is no convention. Use one of {', '.join(CONVENTION_NAMES)}."
        )
    given = None if distance is None else _distance(data, distance)
    entries = [find(n) for n in (panel_names(data.scale) if name is None else (name,))]
    if name is not None:
        _check(entries[0], given, missing)
    return [
        Request(
            entry,
            _suited(data, entry, given),
            missing if missing in entry.missing else entry.missing[0],
        )
        for entry in entries
    ]


def _check(entry: Coefficient, given: Distance | None, missing: str | None) -> None:
    """Refuse what the coefficient does not know."""
    if given is not None and given.name != "nominal" and not entry.weighted:
        raise NotApplicable(
            f"{entry.title} knows no distance but nominal. "
            f"Use {_WEIGHTED_FORM[entry.name]} for {given.name!r}."
        )
    if missing is not None and missing not in entry.missing:
        raise NotApplicable(
            f"{entry.title} does not know the convention {missing!r}. "
            f"Use one of {', '.join(entry.missing)}."
        )


def _suited(data: Annotations, entry: Coefficient, given: Distance | None) -> Distance:
    """Choose the distance a coefficient takes."""
    if not entry.weighted:
        return Nominal()
    if given is not None:
        return given
    if not entry.scale_distance or data.scale == "nominal":
        return Nominal()
    if entry.name == "alpha":
        return _distance(data, data.scale)
    return _distance(data, _SCALE_DISTANCE[data.scale])


def _distance(data: Annotations, distance: DistanceLike) -> Distance:
    ordered = data.scale != "nominal" or data.declared or bool(np.isfinite(data.values).all())
    return make_distance(distance, data.labels, data.values, ordered=ordered)
