"""Conversion of models and their priors to plain data and back."""

# A class outside this package is registered when Python runs its definition. A file refers to it as
# ``module:Class``, and a file never causes the import of a module.

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from annomodels.priors.shares import from_dict, plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PACKAGE = __name__.partition(".")[0]
# loaded models of this package, by name
CLASSES: dict[str, type[Any]] = {}
# models outside this package, by place; several if a definition was run again
OWN: dict[str, list[type[Any]]] = {}


def enter(kind: type[Any]) -> None:
    """Register a model class by name, or by place if it is outside this package."""
    if is_own(kind):
        OWN.setdefault(_place(kind), []).append(kind)
    else:
        CLASSES.setdefault(kind.name, kind)


def is_own(kind: type) -> bool:
    """Return True if a class was defined outside this package."""
    return kind.__module__.partition(".")[0] != PACKAGE


def place_of(kind: type) -> str:
    """Return the place of a class outside this package; a second definition ends in ``#2``."""
    # fits store the place, so a definition that is run again does not change earlier fits
    place = _place(kind)
    number = next((n for n, known in enumerate(OWN.get(place, []), 1) if known is kind), 1)
    return place if number == 1 else f"{place}#{number}"


def own_class(place: str) -> type[Any] | None:
    """Return the class defined at a place; None if Python has not run its definition."""
    base, _, number = place.partition("#")
    known = OWN.get(base, [])
    n = int(number or 1) - 1
    return known[n] if n < len(known) else None


def newest(place: str) -> type[Any] | None:
    """Return the latest class defined at a place, for any number that a file refers to."""
    known = OWN.get(place.partition("#")[0])
    return known[-1] if known else None


def _place(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


# -- values --------------------------------------------------------------------------------------


def unwritable(model: DataclassInstance) -> list[str]:
    """List messages about the fields of a model that cannot be converted to plain data."""
    found = []
    for each in fields(model):
        try:
            plain(getattr(model, each.name))
        except TypeError as error:
            found.append(
                f"{each.name}= of {type(model).__name__} holds {error}, which a fit cannot save. "
                "Fields of a model are numbers, texts, tuples of these, priors of am.priors, or "
                "models; a table may be a tuple of tuples."
            )
    return found


def value_of(said: object) -> object:
    """Build the value of a model field from plain data; nested model classes must be loaded."""
    if isinstance(said, list):
        return tuple(map(value_of, said))
    if not isinstance(said, dict):
        return said
    if "model" in said:
        return model_of(said["model"])
    return from_dict(said)


def model_of(described: Mapping[str, object]) -> object:
    """Build a model from the plain data of its ``to_dict``; its class must be loaded."""
    given = described.get("priors")
    priors = given if isinstance(given, Mapping) else {}
    return class_within(described)(**{name: value_of(value) for name, value in priors.items()})


def class_within(described: Mapping[str, object]) -> type[Any]:
    """Return the loaded class of a model that is given as plain data."""
    place, name = described.get("class"), str(described["name"])
    found = own_class(str(place)) if place else CLASSES.get(name)
    if found is None:
        raise KeyError(place or name)
    return found


def written_models(plain: object) -> Iterator[dict[str, Any]]:
    """Yield the models in plain data, outer models first."""
    if isinstance(plain, dict):
        if "priors" in plain:
            yield plain
        for value in plain.values():
            yield from written_models(value)
    elif isinstance(plain, list):
        for value in plain:
            yield from written_models(value)
