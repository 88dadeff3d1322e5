"""Agreement coefficients: the classical value, its sampling draws and its model-implied draws.

Holds pure functions of statistics that are linear in the weights of the items, with leading batch
dimensions; a file imports only from those above it:

``distances``, ``sets``, ``numeric``, ``metrics`` (how far two labels are apart), ``coefficient``,
``entries``, ``catalogue`` (the coefficients as data), ``tables`` (joint tables of label pairs),
``variances``, ``margins_of_two``, ``formulas``, ``implied`` (coefficients of a fitted model),
``rows``, ``conventions``, ``counts``, ``coder_pairs``, ``own`` (from annotations to statistics),
``weights`` (draws), ``evaluation``, ``reasons``, ``margins``, ``requests``, ``notes``, ``basis``,
``spread``, ``cohen_errors``, ``fleiss_errors``, ``linearised``, ``intraclass_errors``,
``jackknife``, ``analytic`` (errors as other packages have them), ``result`` and ``agreement`` (the
public verb); ``unit_checks``, ``units``, ``unitizing``, ``alpha_u`` (units on a continuum);
``easy_hard`` (how to read a value) and ``capabilities`` (what takes what). Three folders build on
them: ``breakdown/`` (agreement in parts), ``diagnosis/`` (where disagreement comes from) and
``elsewhere/`` (the same numbers in other packages). Imports only NumPy, SciPy's sparse matrices
and special functions, errors and annotations.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__: list[str] = []


class _Callable(ModuleType):
    """Lets ``annomodels.coefficients()`` list what there is, although this is a folder too."""

    def __call__(self) -> pd.DataFrame:
        from annomodels.coefficients.capabilities import coefficients

        return coefficients()


sys.modules[__name__].__class__ = _Callable
