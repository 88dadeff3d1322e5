"""What the fields of a model may hold, said in their annotations, and what is said where they do not.

A field is declared with the priors that a model can use, ``LogNormal | Pareto``. Where the type does
not say all, its annotation carries what it needs: :data:`Scale` is a number above 0, :data:`Given`
rows whose accuracy is not estimated, :data:`Proper` a Dirichlet prior with pseudo-counts.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

import numpy as np

from annomodels.priors.shares import Diagonal, Dirichlet, Rows


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
    return not rows.estimated and rows.spread == 0 and rows.strength > 0


Scale = Annotated[float, Needs("a number above 0", lambda x: 0 < x < math.inf)]
Probability = Annotated[float, Needs("a number between 0 and 1", lambda x: 0 < x < 1)]
Proper = Annotated[
    Dirichlet, Needs("Dirichlet with a concentration above 0", lambda x: x.concentration > 0)
]
AS_GIVEN = Needs(
    "Diagonal with a strength above 0 whose accuracy and strength are as given (no certainty=, no "
    "spread=: only the population of a hierarchical model learns them)",
    _as_given,
)
Given = Annotated[Diagonal, AS_GIVEN]
GivenRows = Annotated[Diagonal | Rows, AS_GIVEN]


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
    ...     spread: "Scale" = 1.0
    >>> misfits(Coders(LogNormal()))
    ['spread= of Coders takes a number above 0, such as 1.0, and is LogNormal(median=10.0, spread=1.0).']
    """
    kind, found = type(value), []
    for name, (taken, needs) in _declared(kind).items():
        held = getattr(value, name)
        if isinstance(held, taken) and not _is_wrong_number(held, taken):
            # None stands for "no such prior", whatever the field needs otherwise
            if needs is None or held is None or needs.met(held):
                continue
        what = needs.what if needs else " or ".join(map(_called, taken))
        found.append(
            f"{name}= of {kind.__name__} takes {what}{_default(kind, name)}, and is {held!r}."
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
    return "" if value is None else f", such as {value!r}"


@lru_cache(maxsize=256)
def _declared(kind: type) -> dict[str, tuple[tuple[type, ...], Needs | None]]:
    """What each field of a dataclass may hold, as far as its annotation says it."""
    found = {}
    for each in fields(kind):
        owner = next(c for c in kind.__mro__ if each.name in c.__dict__.get("__annotations__", {}))
        hint: Any = each.type
        if isinstance(hint, str):
            module = sys.modules.get(owner.__module__)
            try:
                hint = eval(hint, dict(vars(module)) if module else {})  # noqa: S307
            except Exception:  # a name for type checkers only says nothing here
                continue
        needs = None
        if get_origin(hint) is Annotated:
            hint, *extra = get_args(hint)
            needs = next((x for x in extra if isinstance(x, Needs)), None)
        parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        if all(isinstance(part, type) for part in parts):
            found[each.name] = (_wide(parts), needs)
    return found


def _wide(parts: tuple[type, ...]) -> tuple[type, ...]:
    """Take whole numbers where numbers are asked for, and those of NumPy."""
    more: tuple[type, ...] = ()
    if float in parts:
        more += (int, np.floating, np.integer)
    if int in parts:
        more += (np.integer,)
    return (*parts, *more)
