r"""Large-sample error of kappa and weighted kappa, from the table of two coders.

With agreement weights :math:`w_{ij} = 1 - d_{ij} / \max d`, their means over the margins
:math:`\bar w_{i.}` and :math:`\bar w_{.j}`, and n items

.. math::

    var = \frac{\sum_{ij} p_{ij} [w_{ij}(1 - p_e) - (\bar w_{i.} + \bar w_{.j})(1 - p_o)]^2
          - (p_o p_e - 2 p_e + p_o)^2}{n (1 - p_e)^4}

.. math::

    var_0 = \frac{\sum_{ij} p_{i.} p_{.j} [w_{ij} - (\bar w_{i.} + \bar w_{.j})]^2
            - p_e^2}{n (1 - p_e)^2}

Source: Fleiss, Cohen & Everitt 1969, doi:10.1037/h0028106.
"""

from __future__ import annotations

import numpy as np

from annomodels.coefficients.basis import Basis
from annomodels.coefficients.coder_pairs import count_pairs
from annomodels.coefficients.spread import Spread
from annomodels.errors import NotApplicable

__all__ = ["fleiss_cohen_everitt"]

MOST_LABELS = 2_000


def fleiss_cohen_everitt(basis: Basis, value: float, prob: float) -> Spread:
    """Errors of (weighted) kappa on the items that both coders labelled.

    Raises
    ------
    NotApplicable
        With missing labels under Gwet's convention, and for thousands of labels.
    """
    request, rows = basis.request, basis.sample.rows
    k = rows.n_labels
    if request.convention == "gwet" and not basis.data.is_complete:
        raise NotApplicable(
            "Fleiss, Cohen & Everitt take the items that both coders labelled. "
            'Use method="gwet", or missing="listwise".'
        )
    if k > MOST_LABELS:
        raise NotApplicable(
            f"The table of {k:,} x {k:,} labels is too large. Use the draws (interval())."
        )
    counts = (count_pairs(rows).joint @ basis.sample.point).reshape(k, k)
    n = counts.sum()
    p = counts / n
    left, right = p.sum(1), p.sum(0)
    codes = np.arange(k)
    pooled = left + right
    apart = request.distance.pairs(np.repeat(codes, k), np.tile(codes, k), pooled).reshape(k, k)
    largest = apart.max()
    if not largest > 0:
        return Spread(np.nan)
    w = 1.0 - apart / largest
    observed, expected = (p * w).sum(), left @ w @ right
    margin = (w @ right)[:, None] + (left @ w)[None, :]
    inner = (p * (w * (1 - expected) - margin * (1 - observed)) ** 2).sum()
    outer = (observed * expected - 2 * expected + observed) ** 2
    var = (inner - outer) / (n * (1 - expected) ** 4)
    chance = (np.outer(left, right) * (w - margin) ** 2).sum() - expected**2
    var0 = chance / (n * (1 - expected) ** 2)
    return Spread(float(np.sqrt(max(var, 0.0))), float(np.sqrt(max(var0, 0.0))))
