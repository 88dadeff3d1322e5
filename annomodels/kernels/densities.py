"""Log densities of the Dirichlet and the Beta distribution."""

from __future__ import annotations

import math

from annomodels.kernels.compile import Array, inlined


@inlined
def log_dirichlet_constant(alpha: Array) -> float:
    """Logarithm of the normalising constant of a Dirichlet density."""
    value, total = 0.0, 0.0
    for a in alpha:
        value -= math.lgamma(a)
        total += a
    return value + math.lgamma(total)


@inlined
def log_beta_density(x: float, a: float, b: float) -> float:
    """Log density of Beta(a, b)."""
    value = (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x)
    return value + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
