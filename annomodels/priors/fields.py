"""What the fields of a model may hold, as their annotations say, and models as plain data and back.

A field is declared with the priors that a model can use, ``LogNormal | Pareto``. Where the type
does not say all, its annotation carries what it needs: :data:`Scale` is a number above 0,
:data:`Given` rows whose accuracy is not estimated, :data:`Proper` a Dirichlet prior with
pseudo-counts.

A class that is no part of this package is known from when Python has run its definition. A file
names it by its place, ``module:Class``, and nothing imports a module because a file says so.
"""

from __future__ import annotations

import inspect
import math
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

import numpy as np

from annomodels.priors.shares import Diagonal, Dirichlet, Rows, from_dict, plain

PACKAGE = __name__.partition(".")[0]
# models of this package that are loaded, by name
CLASSES: dict[str, type[Any]] = {}
# models that others defined, by place; several where a definition was run again
OWN: dict[str, list[type[Any]]] = {}


@dataclass(frozen=True)
class Needs:
    """What a value must be beyond its type.

    Parameters
    ----------
    what
        To follow "takes", such as "a number above 0".
    met
        Whether a value is so.
    """

    what: str
    met: Callable[[Any], bool]


def _as_given(rows: Any) -> bool:
    return not rows.estimated and rows.spread == 0


Scale = Annotated[float, Needs("a number above 0", lambda x: 0 < x < math.inf)]
NonNegative = Annotated[float, Needs("a number of 0 or more", lambda x: 0 <= x < math.inf)]
Probability = Annotated[float, Needs("a number between 0 and 1", lambda x: 0 < x < 1)]
Proper = Annotated[
    Dirichlet, Needs("Dirichlet with a concentration above 0", lambda x: x.concentration > 0)
]
_LEARNS = "without certainty= and spread=, which only the population of a hierarchical model learns"
Given = Annotated[
    Diagonal,
    Needs(
        f"Diagonal with a strength above 0, {_LEARNS}", lambda x: _as_given(x) and x.strength > 0
    ),
]
GivenRows = Annotated[Diagonal | Rows, Needs(f"Rows, or Diagonal {_LEARNS}", _as_given)]
ProperRows = Annotated[
    Diagonal | Rows, Needs("Rows, or Diagonal with a strength above 0", lambda x: x.strength > 0)
]


def misfits(value: Any) -> list[str]:
    """Say which fields of a dataclass hold what they cannot take, each in a sentence.

    Fields whose annotation says nothing that can be checked are left alone.

    Parameters
    ----------
    value
        An instance of a dataclass.

    Examples
    --------
    >>> from annomodels.priors import LogNormal
    >>> @dataclass
    ... class Coders:
    ...     spread: Scale = 1.0
    >>> print(*misfits(Coders(LogNormal(2.0))))
    Coders cannot use spread=LogNormal(median=2.0, spread=1.0): give a number above 0, such as 1.0.
    """
    kind: Any = type(value)
    found = []
    for name, (taken, needs) in _declared(kind).items():
        held = getattr(value, name)
        if held is None and type(None) in taken:
            continue
        fits = isinstance(held, _wide(taken)) and not _is_wrong_number(held, taken)
        if fits and (needs is None or needs.met(held)):
            continue
        what = needs.what if needs else " or ".join(map(_called, taken))
        found.append(
            f"{kind.__name__} cannot use {name}={held!r}: give {what}{_default(kind, name)}."
        )
    return found


def _is_wrong_number(held: Any, taken: tuple[type, ...]) -> bool:
    """Whether it is a truth value where a number belongs, or no number at all."""
    if isinstance(held, bool | np.bool_):
        return bool not in taken
    return isinstance(held, float | np.floating) and math.isnan(held)


def _called(kind: type) -> str:
    names = {float: "a number", int: "a whole number", bool: "True or False", str: "a text"}
    return names.get(kind, "None" if kind is type(None) else kind.__name__)


def _default(kind: type, name: str) -> str:
    """Give an example: what the field holds when nobody says anything."""
    field = next(each for each in fields(kind) if each.name == name)
    value = field.default if field.default is not MISSING else None
    if value is None and field.default_factory is not MISSING:
        value = field.default_factory()
    if value is None:
        return ""
    return f", such as {f'{type(value).__name__}()' if hasattr(value, 'describe') else repr(value)}"


@lru_cache(maxsize=256)
def _declared(kind: Any) -> dict[str, tuple[tuple[type, ...], Needs | None]]:
    """Give what each field of a dataclass may hold, as far as its annotation says it."""
    found = {}
    for each in fields(kind):
        owner = next(c for c in kind.__mro__ if each.name in inspect.get_annotations(c))
        hint: Any = each.type
        if isinstance(hint, str):
            module = sys.modules.get(owner.__module__)
            try:
                hint = eval(hint, dict(vars(module)) if module else {})
            except Exception:  # a name for type checkers only says nothing here
                continue
        needs = None
        if get_origin(hint) is Annotated:
            hint, *extra = get_args(hint)
            needs = next((x for x in extra if hasattr(x, "met")), None)
        parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        if all(isinstance(part, type) and part is not Any for part in parts):
            found[each.name] = (parts, needs)
    return found


def _wide(parts: tuple[type, ...]) -> tuple[type, ...]:
    """Take whole numbers where numbers are asked for, and those of NumPy."""
    more: tuple[type, ...] = ()
    if float in parts:
        more += (int, np.floating, np.integer)
    if int in parts:
        more += (np.integer,)
    return (*parts, *more)


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


def unwritable(model: Any) -> list[str]:
    """Say which fields of a model hold what cannot be written down, each in a sentence."""
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


def value_of(said: Any) -> Any:
    """Read back a field of a model; the classes of models within it have been loaded."""
    if isinstance(said, list):
        return tuple(map(value_of, said))
    if not isinstance(said, dict):
        return said
    if "model" in said:
        return class_within(said["model"]).from_dict(said["model"])
    return from_dict(said)


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
