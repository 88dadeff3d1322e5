"""Agreement coefficients: the classical value, its sampling draws and its model-implied draws.

Pure functions of statistics that are linear in the weights of the items, with leading batch
dimensions. Imports only NumPy, SciPy, errors and annotations.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annomodels.coefficients.catalogue import table
    from annomodels.coefficients.continuum import Units, alpha_u, span_f1
    from annomodels.coefficients.easy_and_hard import easy_hard
    from annomodels.coefficients.parts.comparison import compare_agreement

_WHERE = {
    "Units": "continuum",
    "alpha_u": "continuum",
    "compare_agreement": "parts.comparison",
    "easy_hard": "easy_and_hard",
    "span_f1": "continuum",
    "table": "catalogue",
}

__all__ = ["Units", "alpha_u", "compare_agreement", "easy_hard", "span_f1", "table"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
