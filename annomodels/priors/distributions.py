"""Distributions of variables, whose parameters may be arrays or variables of a PyMC model.

Each distribution has three forms: a PyMC variable, draws, and a log density. The log density keeps
the leading dimensions of draws; probabilities on the last axis have one joint density.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from annomodels.types import Floats, Tensor, TensorLike


class Distribution(Protocol):
    """Distribution of a variable."""

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        """Return a PyMC variable; call inside a model context."""

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw values."""

    def logp(self, x: Floats) -> Floats:
        """Return the log density at ``x``."""


@dataclass(frozen=True, eq=False)
class DirichletRows:
    """Dirichlet distributions with pseudo-counts [..., class]."""

    alpha: TensorLike

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        import pymc as pm

        return pm.Dirichlet(name, a=double(self.alpha), dims=dims)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        rows = np.broadcast_to(self.alpha, shape).reshape(-1, shape[-1])
        drawn = np.stack([rng.dirichlet(row) for row in rows]).reshape(shape)
        return np.maximum(drawn, np.finfo(float).tiny)

    def logp(self, x: Floats) -> Floats:
        return shares_logp(x, np.asarray(self.alpha))


@dataclass(frozen=True, eq=False)
class Betas:
    """Beta distributions with pseudo-counts for and against."""

    a: TensorLike
    b: TensorLike

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        import pymc as pm

        return pm.Beta(name, double(self.a), double(self.b), dims=dims)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.clip(rng.beta(self.a, self.b, shape), 1e-12, 1 - 1e-12)

    def logp(self, x: Floats) -> Floats:
        alpha = np.stack(np.broadcast_arrays(self.a, self.b), axis=-1)
        return shares_logp(np.stack([x, 1.0 - x], axis=-1), alpha)


@dataclass(frozen=True, eq=False)
class Gamma:
    """Gamma distributions with a shape and a rate."""

    shape: TensorLike
    rate: TensorLike

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        import pymc as pm

        return pm.Gamma(name, double(self.shape), double(self.rate), dims=dims)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.asarray(rng.gamma(self.shape, 1.0 / self.rate, shape))

    def logp(self, x: Floats) -> Floats:
        from scipy.special import gammaln

        a, b = self.shape, self.rate
        return np.asarray(a * np.log(b) - gammaln(a) + (a - 1.0) * np.log(x) - b * x)


@dataclass(frozen=True, eq=False)
class Normal:
    """Normal distributions with a mean and a standard deviation."""

    mean: TensorLike | float
    sd: TensorLike | float

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        import pymc as pm

        return pm.Normal(name, double(self.mean), double(self.sd), dims=dims)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.asarray(rng.normal(self.mean, self.sd, shape))

    def logp(self, x: Floats) -> Floats:
        z = (x - self.mean) / self.sd
        return np.asarray(-0.5 * z * z - np.log(self.sd) - 0.5 * math.log(2.0 * math.pi))


@dataclass(frozen=True, eq=False)
class ZeroSumNormal:
    """Normal distribution on vectors that sum to zero along the last axis."""

    sd: float = 1.0

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        import pymc as pm

        return pm.ZeroSumNormal(name, sigma=double(self.sd), dims=dims)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        z = rng.normal(size=shape)
        return np.asarray(self.sd * (z - z.mean(axis=-1, keepdims=True)))

    def logp(self, x: Floats) -> Floats:
        free = x.shape[-1] - 1
        square = (x**2).sum(axis=-1) / self.sd**2
        return np.asarray(-0.5 * square - free * math.log(self.sd * math.sqrt(2.0 * math.pi)))


@dataclass(frozen=True, eq=False)
class TruncatedNormal(Normal):
    """Normal distribution truncated to positive values."""

    mean: float
    sd: float

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        import pymc as pm

        mean, sd = double(self.mean), double(self.sd)
        return pm.TruncatedNormal(name, mu=mean, sigma=sd, lower=0.0, dims=dims)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        drawn = super().sample(rng, shape)
        while (drawn <= 0).any():
            drawn = np.where(drawn > 0, drawn, super().sample(rng, shape))
        return drawn

    def logp(self, x: Floats) -> Floats:
        from scipy.special import log_ndtr

        return np.where(x > 0, super().logp(x) - log_ndtr(self.mean / self.sd), -np.inf)


@dataclass(frozen=True, eq=False)
class OrderedNormal(Normal):
    """Normal distributions with increasing values along the last axis."""

    # the constraint truncates the density; `logp` omits the constant, which does not depend on
    # parameters

    mean: Floats

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        import pymc as pm
        from pymc.distributions.transforms import ordered

        return pm.Normal(name, double(self.mean), double(self.sd), dims=dims, transform=ordered)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        drawn = super().sample(rng, shape)
        while (np.diff(drawn) <= 0).any():
            drawn = super().sample(rng, shape)
        return drawn


@dataclass(frozen=True, eq=False)
class Bernoulli:
    """Bernoulli distributions: 1 with a probability, else 0."""

    p: TensorLike

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        import pymc as pm

        return pm.Bernoulli(name, self.p, dims=dims)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return (rng.random(shape) < self.p).astype(float)

    def logp(self, x: Floats) -> Floats:
        return np.where(x > 0.5, np.log(self.p), np.log1p(-np.asarray(self.p)))


def double(value: TensorLike | float) -> Tensor:
    """Return a parameter in double precision; PyTensor keeps short constants in single."""
    import pytensor.tensor as pt

    return pt.cast(value, "float64")


def shares_logp(shares: Floats, alpha: Floats) -> Floats:
    """Return the Dirichlet log density of probabilities on the last axis."""
    from scipy.special import gammaln

    logs = np.log(np.maximum(shares, np.finfo(float).tiny))
    constant = gammaln(alpha.sum(axis=-1)) - gammaln(alpha).sum(axis=-1)
    return np.asarray(((alpha - 1.0) * logs).sum(axis=-1) + constant)


def each_draw(values: Floats) -> Floats:
    """Return the sum over all axes except the draws, the first axis."""
    return np.asarray(values.reshape(len(values), -1).sum(axis=1))
