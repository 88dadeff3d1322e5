"""Priors, and models that are made of them, as plain data and back."""

# A class outside this package is known once Python has run its definition. A file names it by its
# place, ``module:Class``, and nothing imports a module because a file says so.

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from annomodels.priors.shares import from_dict, plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PACKAGE = __name__.partition(".")[0]
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


def is_own(kind: type) -> bool:
    """Return True if a class was defined outside this package."""
    return kind.__module__.partition(".")[0] != PACKAGE


def place_of(kind: type) -> str:
    """Return the place of a class outside this package; a second definition ends in ``#2``."""
    # a fit keeps it, so that a definition that is run again changes no earlier fit
    place = _place(kind)
    number = next((n for n, known in enumerate(OWN.get(place, []), 1) if known is kind), 1)
    return place if number == 1 else f"{place}#{number}"


def own_class(place: str) -> type[Any] | None:
    """Return the class that was defined at a place; None where Python has not run it."""
    base, _, number = place.partition("#")
    known = OWN.get(base, [])
    n = int(number or 1) - 1
    return known[n] if n < len(known) else None


def newest(place: str) -> type[Any] | None:
    """Return the class that was defined last at a place, whichever of them a file names."""
    known = OWN.get(place.partition("#")[0])
    return known[-1] if known else None


def _place(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


# -- values --------------------------------------------------------------------------------------


def unwritable(model: DataclassInstance) -> list[str]:
    """List the fields of a model that cannot be written down, each in a sentence."""
    found = []
    for each in fields(model):
        try:
            plain(getattr(model, each.name))
        except TypeError as error:
            found.append(
                f"{each.name}= of {type(model).__name__} holds {error}, which a result cannot "
                "keep. Fields of a model are numbers, texts, tuples of these, priors of "
                "am.priors, or models; a table may be a tuple of tuples."
            )
    return found


def value_of(said: object) -> object:
    """Read back a field of a model; the classes of models within it have been loaded."""
    if isinstance(said, list):
        return tuple(map(value_of, said))
    if not isinstance(said, dict):
        return said
    if "model" in said:
        return class_within(said["model"]).from_dict(said["model"])
    return from_dict(said)


def class_within(described: Mapping[str, object]) -> type[Any]:
    """Return the class, which has been loaded, of a model that was written down."""
    place, name = described.get("class"), str(described["name"])
    found = own_class(str(place)) if place else CLASSES.get(name)
    if found is None:
        raise KeyError(place or name)
    return found


def written_models(plain: object) -> Iterator[dict[str, Any]]:
    """Models within plain data, the whole first."""
    if isinstance(plain, dict):
        if "priors" in plain:
            yield plain
        for value in plain.values():
            yield from written_models(value)
    elif isinstance(plain, list):
        for value in plain:
            yield from written_models(value)
