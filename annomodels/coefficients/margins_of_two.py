r"""What the margins of two coders say: the largest kappa they allow, prevalence and bias.

Source: Cohen 1960, doi:10.1177/001316446002000104; Byrt, Bishop & Carlin 1993,
doi:10.1016/0895-4356(93)90018-V. With two labels and the table of counts a, b / c, d

.. math:: \kappa = \frac{2 A_o - 1 - PI^2 + BI^2}{1 - PI^2 + BI^2}

where PI = (a - d) / n is the prevalence index, BI = (b - c) / n the bias index.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from annomodels.coefficients.distances import Distance
from annomodels.coefficients.tables import Evaluated, Tables

__all__ = ["TWO_CODERS"]

Floats = NDArray[np.float64]


def _margins(tables: Tables) -> tuple[Floats, Floats]:
    """Shares of the labels of both coders, shape [..., label]; means over the listed pairs."""
    both = []
    for rows in (tables.left, tables.right):
        total = rows.sum(-1, keepdims=True)
        share = np.divide(rows, total, out=np.full_like(rows, np.nan), where=total > 0)
        both.append((share * tables.sign[:, None]).sum(-2) / tables.sign.sum())
    return both[0], both[1]


def _kappa_max(tables: Tables, distance: Distance, d_o: Floats) -> Evaluated:
    """Kappa if the coders agreed as often as their margins allow."""
    one, other = _margins(tables)
    most = 1.0 - np.minimum(one, other).sum(-1)
    chance = 1.0 - (one * other).sum(-1)
    some = chance > 1e-12
    value = 1.0 - np.divide(most, chance, out=np.full_like(most, np.nan), where=some)
    return Evaluated(value, most, chance)


def _index(value: Floats, tables: Tables, d_o: Floats) -> Evaluated:
    """Wrap an index that is no ratio; NaN unless there are two labels."""
    if tables.n_labels != 2:
        value = np.full_like(d_o, np.nan)
    nothing = np.full_like(value, np.nan)
    return Evaluated(value, nothing, nothing)


def _prevalence(tables: Tables, distance: Distance, d_o: Floats) -> Evaluated:
    """Find (a - d) / n: how much more often both say the first label than the second."""
    one, other = _margins(tables)
    return _index((one[..., 0] + other[..., 0]) - 1.0, tables, d_o)


def _bias(tables: Tables, distance: Distance, d_o: Floats) -> Evaluated:
    """Find (b - c) / n: how much more often the first coder says the first label."""
    one, other = _margins(tables)
    return _index(one[..., 0] - other[..., 0], tables, d_o)


TWO_CODERS: dict[str, Callable[[Tables, Distance, Floats], Evaluated]] = {
    "kappa_max": _kappa_max,
    "prevalence_index": _prevalence,
    "bias_index": _bias,
}
"""Statistics of two coders, from tables, distance and D_o."""
