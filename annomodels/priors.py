"""Prior distributions as plain values: printable, comparable, free of data.

Imports nothing from the package. Each prior gives its log density for NumPy arrays (used by the
Gibbs sampler and by tests); the models hand the same numbers to PyMC.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Beta",
    "Diagonal",
    "Dirichlet",
    "HalfNormal",
    "LogNormal",
    "Pareto",
    "ScalePrior",
    "from_dict",
    "to_dict",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Dirichlet:
    """Symmetric Dirichlet prior with ``concentration`` pseudo-counts for every class.

    Parameters
    ----------
    concentration
        Pseudo-counts for each class; 1 is uniform on the simplex, 0 means no prior at all
        (maximum likelihood, which only the ``em`` engine accepts).

    Examples
    --------
    >>> Dirichlet(1.0).alpha(3)
    array([1., 1., 1.])
    """

    concentration: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.concentration) and self.concentration >= 0):
            raise ValueError(f"Dirichlet needs a concentration >= 0, not {self.concentration!r}.")

    def alpha(self, n_classes: int) -> Floats:
        """Pseudo-counts, shape [class]."""
        return np.full(n_classes, float(self.concentration))


@dataclass(frozen=True)
class Beta:
    """Beta prior of a probability.

    Parameters
    ----------
    a, b
        Pseudo-counts for and against.

    Examples
    --------
    >>> Beta(7, 3).mean
    0.7
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        if not (0 < self.a < math.inf and 0 < self.b < math.inf):
            raise ValueError(f"Beta needs a > 0 and b > 0, not {self.a!r} and {self.b!r}.")

    @property
    def mean(self) -> float:
        """Prior mean."""
        return self.a / (self.a + self.b)

    @property
    def counts(self) -> Floats:
        """Pseudo-counts for and against, shape [2]."""
        return np.array([self.a, self.b], dtype=float)


@dataclass(frozen=True)
class Diagonal:
    r"""Dirichlet rows that favour the diagonal: coders are expected to be better than chance.

    Row k of a confusion matrix is Dirichlet with ``strength * accuracy`` pseudo-counts on label k
    and :math:`strength (1 - accuracy) / (K - 1)` on each other label.

    Parameters
    ----------
    strength
        Total pseudo-counts of a row; 0 means no prior at all (``em`` only).
    accuracy
        Share of them on the diagonal.
    certainty
        Pseudo-labels behind the accuracy. Infinite (the default): the accuracy is as given.
        Finite: all rows share one accuracy a that is estimated too, with a ~ Beta(certainty *
        accuracy, certainty * (1 - accuracy)); only for the population of a hierarchical model.

    Examples
    --------
    >>> Diagonal(strength=8, accuracy=0.6).alpha(3)
    array([[4.8, 1.6, 1.6],
           [1.6, 4.8, 1.6],
           [1.6, 1.6, 4.8]])
    """

    strength: float = 4.0
    accuracy: float = 0.7
    certainty: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.strength) and self.strength >= 0):
            raise ValueError(f"Diagonal needs a strength >= 0, not {self.strength!r}.")
        if not 0 < self.accuracy < 1:
            raise ValueError(f"Diagonal needs 0 < accuracy < 1, not {self.accuracy!r}.")
        if not self.certainty > 0:
            raise ValueError(f"Diagonal needs a certainty > 0, not {self.certainty!r}.")

    @property
    def estimated(self) -> bool:
        """Whether the accuracy is estimated."""
        return math.isfinite(self.certainty)

    @property
    def beta(self) -> tuple[float, float]:
        """Parameters of the Beta prior of an estimated accuracy."""
        return self.certainty * self.accuracy, self.certainty * (1.0 - self.accuracy)

    def mean(self, n_classes: int) -> Floats:
        """Prior mean of a confusion matrix, shape [truth, label]."""
        off = (1.0 - self.accuracy) / max(n_classes - 1, 1)
        return np.where(np.eye(n_classes, dtype=bool), self.accuracy, off)

    def alpha(self, n_classes: int) -> Floats:
        """Pseudo-counts, shape [truth, label]."""
        return self.strength * self.mean(n_classes)


@dataclass(frozen=True)
class LogNormal:
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
        """What a report says of it."""
        return f"log-normal with median {self.median:g} and log-scale spread {self.spread:g}"

    @property
    def lower(self) -> float:
        """Smallest possible value."""
        return 0.0

    def logp(self, x: Any) -> Floats:
        """Log density at ``x``."""
        log_x = np.log(x)
        z = (log_x - math.log(self.median)) / self.spread
        return np.asarray(-0.5 * z * z - log_x - math.log(self.spread * math.sqrt(2 * math.pi)))

    def coefficients(self) -> tuple[float, float, float, float]:
        """Log density as ``a + b log x + c log(x)^2`` above ``lower``: (a, b, c, lower)."""
        mu, v = math.log(self.median), self.spread**2
        constant = -0.5 * mu * mu / v - 0.5 * math.log(2 * math.pi * v)
        return constant, mu / v - 1.0, -0.5 / v, 0.0

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draws from the prior."""
        return np.asarray(rng.lognormal(math.log(self.median), self.spread, shape))

    def pymc(self, name: str, dims: str) -> Any:
        """Give the same prior as a PyMC variable; call inside a model context."""
        import pymc as pm

        return pm.LogNormal(name, mu=math.log(self.median), sigma=self.spread, dims=dims)


@dataclass(frozen=True)
class Pareto:
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
        """What a report says of it."""
        return f"Pareto with tail index {self.alpha:g} from {self.minimum:g} upwards"

    @property
    def lower(self) -> float:
        """Smallest possible value."""
        return self.minimum

    def logp(self, x: Any) -> Floats:
        """Log density at ``x``."""
        x = np.asarray(x, dtype=float)
        inside = (
            math.log(self.alpha)
            + self.alpha * math.log(self.minimum)
            - (self.alpha + 1) * np.log(x)
        )
        return np.where(x >= self.minimum, inside, -np.inf)

    def coefficients(self) -> tuple[float, float, float, float]:
        """Log density as ``a + b log x + c log(x)^2`` above ``lower``: (a, b, c, lower)."""
        constant = math.log(self.alpha) + self.alpha * math.log(self.minimum)
        return constant, -(self.alpha + 1.0), 0.0, self.minimum

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draws from the prior."""
        return np.asarray(self.minimum * (1.0 + rng.pareto(self.alpha, shape)))

    def pymc(self, name: str, dims: str) -> Any:
        """Give the same prior as a PyMC variable; call inside a model context."""
        import pymc as pm

        return pm.Pareto(name, alpha=self.alpha, m=self.minimum, dims=dims)


@dataclass(frozen=True)
class HalfNormal:
    """Prior of a standard deviation: the positive half of a normal around zero.

    Parameters
    ----------
    spread
        Standard deviation of that normal; two thirds of the mass lie below it.

    Examples
    --------
    >>> round(float(HalfNormal(1.0).logp(np.array(1.0))), 4)
    -0.7258
    """

    spread: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.spread < math.inf:
            raise ValueError(f"HalfNormal needs a spread > 0, not {self.spread!r}.")

    def logp(self, x: Any) -> Floats:
        """Log density at ``x``."""
        z = np.asarray(x, dtype=float) / self.spread
        return np.asarray(0.5 * math.log(2 / math.pi) - math.log(self.spread) - 0.5 * z * z)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> Floats:
        """Draws from the prior."""
        return np.abs(rng.normal(0.0, self.spread, shape))


ScalePrior = LogNormal | Pareto

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Beta, Dirichlet, Diagonal, HalfNormal, LogNormal, Pareto)
}


def to_dict(prior: Any) -> dict[str, Any]:
    """Write a prior down as plain data.

    Examples
    --------
    >>> to_dict(Dirichlet(2.0))
    {'kind': 'Dirichlet', 'concentration': 2.0}
    """
    return {"kind": type(prior).__name__, **asdict(prior)}


def from_dict(data: dict[str, Any]) -> Any:
    """Read back what :func:`to_dict` wrote.

    Examples
    --------
    >>> from_dict({"kind": "Dirichlet", "concentration": 2.0})
    Dirichlet(concentration=2.0)
    """
    data = dict(data)
    return _KINDS[data.pop("kind")](**data)
