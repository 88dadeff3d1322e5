"""Log densities with gradients as compiled loops, so that NUTS need not compile a model first."""

# The PyMC model is the reference; a test compares value, gradient and variables with it.

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from annomodels.types import Floats

# constants of the normal and half-normal log densities with scale 1
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
LOG_HALF_NORMAL = math.log(2.0) - HALF_LOG_TAU


class Density(Protocol):
    """Posterior density of a model over unconstrained parameters."""

    @property
    def free(self) -> tuple[str, ...]:
        """Free variables of the PyMC model, in order."""

    @property
    def n(self) -> int:
        """Number of unconstrained parameters."""

    def value(self, x: Floats) -> tuple[float, Floats]:
        """Return log density and gradient at unconstrained parameters."""

    def constrained(self, x: Floats) -> dict[str, Floats]:
        """Return the variables of the PyMC model, by name."""

    def unconstrained(self, values: Mapping[str, object]) -> Floats:
        """Return unconstrained parameters from the free variables of the PyMC model."""


class Layout:
    """Layout of the unconstrained parameters, in the order of the PyMC model."""

    shapes: dict[str, tuple[int, ...]]

    @property
    def free(self) -> tuple[str, ...]:
        return tuple(self.shapes)

    @property
    def n(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes.values())

    def cut(self, x: Floats) -> dict[str, Floats]:
        """Split unconstrained parameters by variable."""
        out, at = {}, 0
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            out[name] = np.reshape(x[at : at + size], shape)
            at += size
        return out


def from_log_simplex(shares: object) -> Floats:
    """Return unconstrained parameters of a simplex, as in PyMC."""
    logs = np.log(np.asarray(shares, dtype=float))
    return np.asarray(logs[:-1] - logs.mean())


def to_zero_sum(free: object) -> Floats:
    """Return a vector with sum zero along the last axis from free parameters, as in PyMC."""
    free = np.asarray(free, dtype=float)
    n = free.shape[-1] + 1
    total = free.sum(axis=-1, keepdims=True)
    shift = total / (np.sqrt(n) + n)
    return np.concatenate([free - shift, -total / np.sqrt(n)], axis=-1)


def from_zero_sum(values: object) -> Floats:
    """Return free parameters of a vector with sum zero along the last axis."""
    values = np.asarray(values, dtype=float)
    n = values.shape[-1]
    total = -values[..., -1:] * np.sqrt(n)
    return np.asarray(values[..., :-1] + total / (np.sqrt(n) + n))
