"""Types of model fields from their annotations, and messages about unusable values."""

# The annotation of a field lists the priors that the model can use, ``LogNormal | Pareto``. It may
# add a condition: Scale is a number above 0, FixedDiagonal has a fixed accuracy, and Proper is a
# Dirichlet prior with pseudo-counts.

from __future__ import annotations

import inspect
import math
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

import numpy as np

from annomodels.priors.shares import Diagonal, Dirichlet, Rows
from annomodels.priors.written import is_own


@dataclass(frozen=True)
class Needs:
    """Condition on a value beyond its type."""

    what: str
    met: Callable[[Any], bool]


def _as_given(rows: Diagonal) -> bool:
    return not rows.estimated and rows.spread == 0


Scale = Annotated[float, Needs("a number above 0", lambda x: 0 < x < math.inf)]
NonNegative = Annotated[float, Needs("a number of 0 or more", lambda x: 0 <= x < math.inf)]
Probability = Annotated[float, Needs("a number between 0 and 1", lambda x: 0 < x < 1)]
Proper = Annotated[Dirichlet, Needs("Dirichlet with a concentration above 0", lambda x: x.proper)]
_LEARNS = "without certainty= and spread=, which only the population of a hierarchical model learns"
FixedDiagonal = Annotated[
    Diagonal,
    Needs(f"Diagonal with a strength above 0, {_LEARNS}", lambda x: _as_given(x) and x.proper),
]
FixedRows = Annotated[Diagonal | Rows, Needs(f"Rows, or Diagonal {_LEARNS}", _as_given)]
ProperRows = Annotated[
    Diagonal | Rows, Needs("Rows, or Diagonal with a strength above 0", lambda x: x.strength > 0)
]


def misfits(value: object) -> list[str]:
    """List messages about the fields of a dataclass with unusable values."""
    # fields without a checkable annotation are skipped
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


# models that use covariates, by field
REGRESSED = {
    "coder_covariates": "ScalarDifficulty, LogisticRandomEffects and LogitNormalDawidSkene do, "
    "whose coders have abilities in logits",
    "item_covariates": "ScalarDifficulty does, whose items have one difficulty each",
}


def columns_not_taken(kind: type[Any], named: Mapping[str, object]) -> list[str]:
    """List messages about covariates that a model does not use, and models that use them."""
    known = getattr(kind, "__dataclass_fields__", ())
    return [
        f"{kind.__name__} takes no {name}. {REGRESSED[name]}."
        for name in REGRESSED
        if name in named and name not in known and not is_own(kind)
    ]


def _is_wrong_number(held: object, taken: tuple[type, ...]) -> bool:
    """Return True for NaN, or for a boolean in a numeric field."""
    if isinstance(held, bool | np.bool_):
        return bool not in taken
    return isinstance(held, float | np.floating) and math.isnan(held)


def _called(kind: type) -> str:
    names = {float: "a number", int: "a whole number", bool: "True or False", str: "a text"}
    return names.get(kind, "None" if kind is type(None) else kind.__name__)


def _default(kind: type, name: str) -> str:
    """Return the default of the field as an example; empty without a default."""
    field = next(each for each in fields(kind) if each.name == name)
    value = field.default if field.default is not MISSING else None
    if value is None and field.default_factory is not MISSING:
        value = field.default_factory()
    if value is None:
        return ""
    return f", such as {f'{type(value).__name__}()' if hasattr(value, 'describe') else repr(value)}"


@lru_cache(maxsize=256)
def _declared(kind: type) -> dict[str, tuple[tuple[type, ...], Needs | None]]:
    """Return types and conditions of the fields of a dataclass with checkable annotations."""
    found = {}
    for each in fields(kind):
        owner = next(c for c in kind.__mro__ if each.name in inspect.get_annotations(c))
        hint: Any = each.type
        if isinstance(hint, str):
            module = sys.modules.get(owner.__module__)
            try:
                hint = eval(hint, dict(vars(module)) if module else {})
            except Exception:  # a name that exists only for type checkers
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
    """Add NumPy numbers to the types, and integers where floats are allowed."""
    more: tuple[type, ...] = ()
    if float in parts:
        more += (int, np.floating, np.integer)
    if int in parts:
        more += (np.integer,)
    return (*parts, *more)
