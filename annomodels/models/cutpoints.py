"""Coders who see a place on a scale, blurred and shifted, and cut the scale into labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CODER_VARIABLES", "CoderScale", "interval_logp"]

Floats = NDArray[np.float64]

CODER_VARIABLES = {
    "shift": ("coder",),
    "spread": ("coder",),
    "shift_scale": (),
    "typical_spread": (),
    "spread_scale": (),
}


def interval_logp(position: Any, cuts: Any, shift: Any, spread: Any, xp: Any) -> Any:
    r"""Log probability of each label given a place on the scale.

    .. math::

        P(y \le l \mid x, j) = F\Big(\frac{u_l - x - b_j}{s_j}\Big), \qquad
        F(t) = \frac{1}{1 + e^{-t}}

    Computed as :math:`F(a) - F(b) = F(a) F(-b) (1 - e^{b - a})`, which loses no digits.

    Parameters
    ----------
    position
        Places x, shape [..., 1] or anything that broadcasts against the cuts.
    cuts
        Cut-points u in increasing order, shape [label - 1].
    shift, spread
        Shift b and spread s > 0 of the coders, broadcast against position.
    xp
        ``numpy`` or ``pytensor.tensor``.

    Returns
    -------
    Shape [..., label].

    Examples
    --------
    >>> row = interval_logp(np.zeros((1, 1)), np.array([-1.0, 1.0]), 0.0, 0.5, np)
    >>> np.exp(row).round(3)
    array([[0.119, 0.762, 0.119]])
    """
    logits = (cuts - position - shift) / spread
    below, above = -_softplus(-logits, xp), -_softplus(logits, xp)
    if xp is not np:
        gap = logits[..., 1:] - logits[..., :-1]
        inner = below[..., 1:] + above[..., :-1] + xp.log(-xp.expm1(-gap))
        return xp.concatenate([below[..., :1], inner, above[..., -1:]], axis=-1)
    gap = np.diff(logits, axis=-1)
    inner = below[..., 1:] + above[..., :-1] + np.log(-np.expm1(-gap))
    return np.concatenate([below[..., :1], inner, above[..., -1:]], axis=-1)


def _softplus(x: Any, xp: Any) -> Any:
    return np.logaddexp(0.0, x) if xp is np else xp.softplus(x)


@dataclass(frozen=True)
class CoderScale:
    r"""Priors of how coders use a scale.

    .. math::

        b_j \sim N(0, \tau^2), \quad \log s_j \sim N(\log m, \omega^2), \quad
        \tau \sim N^+(0, t^2), \quad m \sim LogNormal(m_0, v), \quad \omega \sim N^+(0, w^2)

    Parameters
    ----------
    shift
        Scale t of the half-normal prior of the spread of the shifts, in steps of the scale.
    typical
        Median of the typical spread, in steps of the scale.
    typical_spread
        Standard deviation of its logarithm.
    spread
        Scale w of the half-normal prior of how much coders' log spreads differ.

    Examples
    --------
    >>> CoderScale().typical
    0.35
    """

    shift: float = 0.5
    typical: float = 0.35
    typical_spread: float = 0.5
    spread: float = 0.5

    def pymc(self) -> tuple[Any, Any]:
        """Shift and spread of the coders as tensors [coder], with priors; in a model context."""
        import pymc as pm
        import pytensor.tensor as pt

        shift_scale = pm.HalfNormal("shift_scale", self.shift)
        typical = pm.LogNormal("typical_spread", math.log(self.typical), self.typical_spread)
        spread_scale = pm.HalfNormal("spread_scale", self.spread)
        shift_z = pm.Normal("shift_z", dims="coder")
        spread_z = pm.Normal("spread_z", dims="coder")
        shift = pm.Deterministic("shift", shift_scale * shift_z, dims="coder")
        spread = typical * pt.exp(spread_scale * spread_z)
        return shift, pm.Deterministic("spread", spread, dims="coder")

    def start(self, n_coders: int) -> dict[str, Floats]:
        """Values of the PyMC variables to start from: all coders alike."""
        return {
            "shift_scale": np.asarray(0.3 * self.shift),
            "typical_spread": np.asarray(self.typical),
            "spread_scale": np.asarray(0.3 * self.spread),
            "shift_z": np.zeros(n_coders),
            "spread_z": np.zeros(n_coders),
        }

    def sample(self, n_coders: int, rng: np.random.Generator) -> dict[str, Floats]:
        """Draw from the prior."""
        shift_scale = abs(rng.normal(0.0, self.shift))
        typical = rng.lognormal(math.log(self.typical), self.typical_spread)
        spread_scale = abs(rng.normal(0.0, self.spread))
        return {
            "shift_scale": np.asarray(shift_scale),
            "typical_spread": np.asarray(typical),
            "spread_scale": np.asarray(spread_scale),
            "shift": shift_scale * rng.normal(size=n_coders),
            "spread": typical * np.exp(spread_scale * rng.normal(size=n_coders)),
        }

    def describe(self) -> list[str]:
        """Priors in sentences."""
        return [
            f"Shifts of the coders: normal around 0, their spread half-normal with scale "
            f"{self.shift:g}.",
            f"Spread (blur) of a typical coder: log-normal with median {self.typical:g} and "
            f"log-scale spread {self.typical_spread:g}; log spreads of the coders differ by a "
            f"half-normal with scale {self.spread:g}.",
        ]
