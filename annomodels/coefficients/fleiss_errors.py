r"""Error of Fleiss' kappa if the coders agree by chance alone.

With n items of m labels each and the label shares :math:`p_j`, :math:`q_j = 1 - p_j`

.. math::

    se_0 = \frac{\sqrt 2}{\sum_j p_j q_j \sqrt{n m (m - 1)}}
           \sqrt{\Big(\sum_j p_j q_j\Big)^2 - \sum_j p_j q_j (q_j - p_j)}

Source: Fleiss, Nee & Landis 1979, doi:10.1037/0033-2909.86.5.974, which corrects Fleiss 1971.
"""

from __future__ import annotations

import math

import numpy as np

from annomodels.coefficients.basis import Basis
from annomodels.coefficients.reasons import used_items
from annomodels.coefficients.spread import Spread
from annomodels.errors import NotApplicable

__all__ = ["chance_error", "fleiss_nee_landis"]


def chance_error(basis: Basis) -> float:
    """Find the error under chance; NaN unless labels are nominal and as many on every item."""
    request, rows = basis.request, basis.sample.rows
    if request.distance.name != "nominal" or request.margins is not None:
        return math.nan
    real = (basis.sample.point > 0) & used_items(rows, request.convention)
    sizes = np.unique(rows.per_item[real])
    if len(sizes) != 1:
        return math.nan
    m, n = int(sizes[0]), float(basis.sample.point[real].sum())
    weight = np.where(real, basis.sample.point, 0.0)[rows.item]
    p = np.bincount(rows.label, weights=weight, minlength=rows.n_labels) / (n * m)
    pq = p * (1 - p)
    total = pq.sum()
    if not total > 0:
        return math.nan
    inside = max(total**2 - (pq * (1 - 2 * p)).sum(), 0.0)
    return float(np.sqrt(2 * inside / (n * m * (m - 1))) / total)


def fleiss_nee_landis(basis: Basis, value: float, prob: float) -> Spread:
    """Error under chance, which some packages take for the interval too.

    Raises
    ------
    NotApplicable
        When items have different numbers of labels, or with a distance.
    """
    error = chance_error(basis)
    if math.isnan(error):
        raise NotApplicable(
            "The formula of Fleiss, Nee & Landis is for nominal labels, as many on every item. "
            'Use method="gwet".'
        )
    return Spread(error, error)
