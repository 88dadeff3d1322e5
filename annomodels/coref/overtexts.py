r"""From kappas of texts to texts like them: a normal model of texts within genres.

.. math::

    \kappa_t \sim N(m_{g(t)}, \sigma^2), \quad m_g \sim N(\mu, (\rho \sigma)^2), \quad
    p(\mu, \sigma) \propto \sigma^{-3/4}, \quad \rho \sim \mathrm{HalfCauchy}(1)

The kappa of a text varies by its mentions and by the text; :math:`\sigma` holds both, so that the
interval does not lean on how well the one is told from the other. Genres learn from each other as
much as they are alike (:math:`\rho`). For all texts together genres are one more reason why texts
differ, and :math:`\rho` is 0. All is drawn exactly: :math:`\mu` and :math:`\sigma` have closed
forms given :math:`\rho`, and :math:`\rho` takes values on a grid.

With :math:`\sigma^{-1}` in place of :math:`\sigma^{-3/4}` this would be Student's interval of a
mean, which is too short for few texts, as kappas are skewed (``benchmarks/coverage_coref.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annomodels.types import Floats, Ints

POWER = 0.75
FLOOR = 0.1
GRID = np.tan(np.linspace(0, np.pi / 2, 202)[:-1][:, None])
"""Values of rho that are equally likely under its prior."""


@dataclass(frozen=True)
class OverTexts:
    """Draws for groups of texts."""

    mean: Floats  # mean over texts like those of a group [group, draw]
    new: Floats  # kappa that one further text of the group would show [group, draw]


def over_texts(
    kappa: Floats, group: Ints | None, within: float, draws: int, rng: np.random.Generator
) -> OverTexts:
    """Draw the mean over texts like these and one further text."""
    codes = np.zeros(len(kappa), dtype=np.int64) if group is None else group
    n_groups = int(codes.max()) + 1
    n = len(kappa)
    if n < 2:
        return OverTexts(*np.full((2, n_groups, draws), np.nan))
    size = np.bincount(codes)
    mean = np.bincount(codes, kappa) / size
    ratio = GRID if group is not None else np.zeros((1, 1))
    # a group's mean has the precision size / (1 + size rho²), in units of 1 / sigma²
    precision = size / (1 + size * ratio**2)
    total = precision.sum(1)
    centre = (precision * mean).sum(1) / total
    around = ((kappa - mean[codes]) ** 2).sum() + FLOOR * within
    squares = around + (precision * (mean - centre[:, None]) ** 2).sum(1)
    freedom = n - 2 + POWER
    log_p = 0.5 * np.log(precision / size).sum(1) - 0.5 * np.log(total)
    # texts that are exactly alike: all that is left is that they are
    log_p -= 0.5 * freedom * np.log(np.maximum(squares, 1e-300))
    weight = np.exp(log_p - log_p.max())
    chosen = rng.choice(len(weight), draws, p=weight / weight.sum())
    sigma = np.sqrt(squares[chosen] / rng.chisquare(freedom, draws))
    middle = centre[chosen] + sigma / np.sqrt(total[chosen]) * rng.standard_normal(draws)
    rho = ratio[chosen, 0]
    spread = rho / np.sqrt(1 + size[:, None] * rho**2)
    pull = size[:, None] * rho**2 / (1 + size[:, None] * rho**2)
    noise = rng.standard_normal((2, n_groups, draws))
    own = middle + pull * (mean[:, None] - middle) + sigma * spread * noise[0]
    return OverTexts(*(np.clip(one, -1, 1) for one in (own, own + sigma * noise[1])))
