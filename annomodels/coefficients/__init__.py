"""Agreement coefficients: the classical value, its sampling draws and its model-implied draws.

Holds pure functions of statistics that are linear in the weights of the items, with leading batch
dimensions. A file imports only from those on the floors below it:

1. ``entries`` (the coefficients as data), ``distances``, ``sets``, ``rows`` (annotations as
   codes), ``tables`` (joint tables of label pairs);
2. ``catalogue`` (look them up), ``metrics`` (distances by name), ``formulas``, ``weights`` (draws
   of the items' weights);
3. ``counts`` (tables from weighted items, of all coders or pair by pair), ``implied``
   (coefficients of a fitted model), ``reasons`` (why there is no value, and what to know of it);
4. ``own`` (statistics that tables do not hold), ``requests`` (what was asked), ``intervals``;
5. ``evaluation`` (any coefficients of one sample), ``result``;
6. ``agreement``, the public verb; ``easy_and_hard`` (how to read a value).

Three folders build on them: ``analytic/`` (errors as other packages have them), ``continuum/``
(units on a continuum) and ``parts/`` (agreement in parts, and where disagreement comes from).
Imports only NumPy, SciPy's sparse matrices and special functions, errors and annotations.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annomodels.coefficients.catalogue import table
    from annomodels.coefficients.continuum.alpha import alpha_u
    from annomodels.coefficients.continuum.units import Units
    from annomodels.coefficients.easy_and_hard import EasyHard, easy_hard
    from annomodels.coefficients.parts.comparison import compare_agreement

_WHERE = {
    "EasyHard": "easy_and_hard",
    "Units": "continuum.units",
    "alpha_u": "continuum.alpha",
    "compare_agreement": "parts.comparison",
    "easy_hard": "easy_and_hard",
    "table": "catalogue",
}

__all__ = ["EasyHard", "Units", "alpha_u", "compare_agreement", "easy_hard", "table"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
