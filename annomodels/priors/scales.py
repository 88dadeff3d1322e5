"""Priors of positive parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from annomodels.data.html import Html
from annomodels.priors.distributions import double
from annomodels.types import Floats, Tensor


@dataclass(frozen=True)
class LogNormal(Html):
    """Prior of a positive scale whose logarithm is normal.

    Parameters
    ----------
    median
        Median of the scale.
    spread
        Standard deviation of its natural logarithm.

    Examples
    --------
    >>> round(float(LogNormal(10, 1).logp(np.array(10.0))), 4)
    -3.2215
    """

    median: float = 10.0
    spread: float = 1.0

    def __post_init__(self) -> None:
        if not (self.median > 0 and self.spread > 0):
            raise ValueError("LogNormal needs median > 0 and spread > 0.")

    @property
    def in_words(self) -> str:
        """Description of the prior for reports."""
        return f"log-normal with median {self.median:g} and log-scale spread {self.spread:g}"

    def logp(self, x: Floats | float) -> Floats:
        """Return the log density at ``x``."""
        log_x = np.log(x)
        z = (log_x - math.log(self.median)) / self.spread
        return np.asarray(-0.5 * z * z - log_x - math.log(self.spread * math.sqrt(2 * math.pi)))

    def coefficients(self) -> tuple[float, float, float, float]:
        """Return (a, b, c, lower): log density ``a + b log x + c log(x)^2`` above ``lower``."""
        mu, v = math.log(self.median), self.spread**2
        constant = -0.5 * mu * mu / v - 0.5 * math.log(2 * math.pi * v)
        return constant, mu / v - 1.0, -0.5 / v, 0.0

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw from the prior."""
        return np.asarray(rng.lognormal(math.log(self.median), self.spread, shape))

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        """Return the same prior as a PyMC variable; call inside a model context."""
        import pymc as pm

        return pm.LogNormal(name, mu=math.log(self.median), sigma=double(self.spread), dims=dims)


@dataclass(frozen=True)
class Pareto(Html):
    """Pareto prior of a positive scale, as in Carpenter (2008): density ~ x^-(alpha + 1).

    Parameters
    ----------
    alpha
        Tail index; 1.5 is Carpenter's choice.
    minimum
        Smallest possible value.

    Examples
    --------
    >>> round(float(Pareto(1.5, 1.0).logp(np.array(1.0))), 4)
    0.4055
    """

    alpha: float = 1.5
    minimum: float = 1.0

    def __post_init__(self) -> None:
        if not (self.alpha > 0 and self.minimum > 0):
            raise ValueError("Pareto needs alpha > 0 and minimum > 0.")

    @property
    def in_words(self) -> str:
        """Description of the prior for reports."""
        return f"Pareto with tail index {self.alpha:g} from {self.minimum:g} upwards"

    def logp(self, x: Floats | float) -> Floats:
        """Return the log density at ``x``."""
        x = np.asarray(x, dtype=float)
        inside = (
            math.log(self.alpha)
            + self.alpha * math.log(self.minimum)
            - (self.alpha + 1) * np.log(x)
        )
        return np.where(x >= self.minimum, inside, -np.inf)

    def coefficients(self) -> tuple[float, float, float, float]:
        """Return (a, b, c, lower): log density ``a + b log x + c log(x)^2`` above ``lower``."""
        constant = math.log(self.alpha) + self.alpha * math.log(self.minimum)
        return constant, -(self.alpha + 1.0), 0.0, self.minimum

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw from the prior."""
        return np.asarray(self.minimum * (1.0 + rng.pareto(self.alpha, shape)))

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        """Return the same prior as a PyMC variable; call inside a model context."""
        import pymc as pm

        return pm.Pareto(name, alpha=double(self.alpha), m=double(self.minimum), dims=dims)


@dataclass(frozen=True)
class HalfNormal(Html):
    """Prior of a standard deviation: the positive half of a normal around zero.

    Parameters
    ----------
    spread
        Standard deviation of the normal; two thirds of the mass lie below it.

    Examples
    --------
    >>> round(float(HalfNormal(1.0).logp(np.array(1.0))), 4)
    -0.7258
    """

    spread: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.spread < math.inf:
            raise ValueError(f"HalfNormal needs a spread > 0, not {self.spread!r}.")

    @property
    def in_words(self) -> str:
        """Description of the prior for reports."""
        return f"half-normal with scale {self.spread:g}"

    def logp(self, x: Floats | float) -> Floats:
        """Return the log density at ``x``."""
        z = np.asarray(x, dtype=float) / self.spread
        return np.asarray(0.5 * math.log(2 / math.pi) - math.log(self.spread) - 0.5 * z * z)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> Floats:
        """Draw from the prior."""
        return np.abs(rng.normal(0.0, self.spread, shape))

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        """Return the same prior as a PyMC variable; call inside a model context."""
        import pymc as pm

        return pm.HalfNormal(name, sigma=double(self.spread), dims=dims)


ScalePrior = LogNormal | Pareto
