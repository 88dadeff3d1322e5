"""Priors, and models that are made of them, as plain data and back.

A class that is no part of this package is known from when Python has run its definition. A file
names it by its place, ``module:Class``, and nothing imports a module because a file says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from annomodels.priors.columns import Covariates
from annomodels.priors.scales import HalfNormal, LogNormal, Pareto
from annomodels.priors.shares import Beta, CoderRows, Diagonal, Dirichlet, Rows

PACKAGE = __name__.partition(".")[0]
KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        Beta,
        CoderRows,
        Covariates,
        Dirichlet,
        Diagonal,
        HalfNormal,
        LogNormal,
        Pareto,
        Rows,
    )
}
# models of this package that are loaded, by name
CLASSES: dict[str, type[Any]] = {}
# models that others defined, by place; several where a definition was run again
OWN: dict[str, list[type[Any]]] = {}


def enter(kind: type[Any]) -> None:
    """Keep a class of models, under its name or, of one outside this package, its place."""
    if is_own(kind):
        OWN.setdefault(_place(kind), []).append(kind)
    else:
        CLASSES.setdefault(kind.name, kind)


def is_own(kind: type[Any]) -> bool:
    """Whether a class was defined outside this package."""
    return kind.__module__.partition(".")[0] != PACKAGE


def place_of(kind: type[Any]) -> str:
    """Where a class outside this package was defined; the second definition there ends in ``#2``.

    A fit keeps it, so that a definition that is run again changes no earlier fit.
    """
    place = _place(kind)
    number = next((n for n, known in enumerate(OWN.get(place, []), 1) if known is kind), 1)
    return place if number == 1 else f"{place}#{number}"


def own_class(place: str) -> type[Any] | None:
    """Give the class that was defined at a place; None where Python has not run it."""
    base, _, number = place.partition("#")
    known = OWN.get(base, [])
    n = int(number or 1) - 1
    return known[n] if n < len(known) else None


def newest(place: str) -> type[Any] | None:
    """Give the class that was defined last at a place, whichever of them a file names."""
    known = OWN.get(place.partition("#")[0])
    return known[-1] if known else None


def _place(kind: type[Any]) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


# -- values --------------------------------------------------------------------------------------


def to_dict(prior: Any) -> dict[str, Any]:
    """Write a prior down as plain data.

    Examples
    --------
    >>> to_dict(Dirichlet(2.0))
    {'kind': 'Dirichlet', 'concentration': 2.0}
    """
    values = {name: value for name, value in asdict(prior).items() if value != ()}
    return {"kind": type(prior).__name__, **values}


def from_dict(data: dict[str, Any]) -> Any:
    """Read back what :func:`to_dict` wrote.

    Examples
    --------
    >>> from_dict({"kind": "Dirichlet", "concentration": 2.0})
    Dirichlet(concentration=2.0)
    """
    data = {name: _tuples(value) for name, value in data.items()}
    return KINDS[data.pop("kind")](**data)


def _tuples(value: Any) -> Any:
    """Turn the lists that JSON makes of tuples back."""
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def model_to_dict(model: Any) -> dict[str, Any]:
    """Write a model down as plain data: its name, its priors, and where its class is from."""
    priors = {each.name: _plain(getattr(model, each.name)) for each in fields(model)}
    own = {"class": place_of(type(model))} if is_own(type(model)) else {}
    return {"name": model.name, **own, "priors": priors}


def unwritable(model: Any) -> list[str]:
    """Say which fields of a model hold what cannot be written down, each in a sentence."""
    found = []
    for each in fields(model):
        try:
            _plain(getattr(model, each.name))
        except TypeError as error:
            found.append(
                f"{each.name}= of {type(model).__name__} holds {error}, which a result cannot "
                "keep. Fields of a model are numbers, texts, tuples of these, priors of "
                "am.priors, or models; a table may be a tuple of tuples."
            )
    return found


def _plain(value: Any) -> Any:
    if type(value) in KINDS.values():
        return to_dict(value)
    if hasattr(value, "to_dict") and hasattr(value, "describe"):
        return {"model": value.to_dict()}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    raise TypeError(f"a value of the type {type(value).__name__}")


def value_of(plain: Any) -> Any:
    """Read back a field of a model; the classes of models within it have been loaded."""
    if isinstance(plain, list):
        return tuple(map(value_of, plain))
    if not isinstance(plain, dict):
        return plain
    if "model" in plain:
        return class_within(plain["model"]).from_dict(plain["model"])
    return from_dict(plain)


def class_within(described: dict[str, Any]) -> type[Any]:
    """Give the class, which has been loaded, of a model that was written down.

    Raises
    ------
    KeyError
        When it is not known.
    """
    place = described.get("class")
    found = own_class(place) if place else CLASSES.get(described["name"])
    if found is None:
        raise KeyError(place or described["name"])
    return found


def written_models(plain: Any) -> Iterator[dict[str, Any]]:
    """Models within plain data, the whole first."""
    if isinstance(plain, dict):
        if "priors" in plain:
            yield plain
        for value in plain.values():
            yield from written_models(value)
    elif isinstance(plain, list):
        for value in plain:
            yield from written_models(value)
