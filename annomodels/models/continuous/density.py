"""Log densities with gradients in compiled loops, for models that NUTS need not compile first."""

# The PyMC model stays the definition; a test compares value, gradient and variables with it.

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from annomodels.types import Floats

# constants of log densities with scale 1: of a normal number, and of a half-normal one
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
LOG_HALF_NORMAL = math.log(2.0) - HALF_LOG_TAU


class Density(Protocol):
    """The posterior of a model given data, over unconstrained numbers."""

    @property
    def free(self) -> tuple[str, ...]:
        """Free variables of the PyMC model, in its order."""

    @property
    def n(self) -> int:
        """Number of values that NUTS moves."""

    def value(self, x: Floats) -> tuple[float, Floats]:
        """Log density at unconstrained numbers, and its gradient."""

    def constrained(self, x: Floats) -> dict[str, Floats]:
        """Variables of the PyMC model, by name."""

    def unconstrained(self, values: Mapping[str, object]) -> Floats:
        """Numbers that NUTS moves, from the free variables of the PyMC model."""


class Layout:
    """Free numbers of each variable, one after the other in the order of the PyMC model."""

    shapes: dict[str, tuple[int, ...]]

    @property
    def free(self) -> tuple[str, ...]:
        """Free variables of the PyMC model, in its order."""
        return tuple(self.shapes)

    @property
    def n(self) -> int:
        """Number of values that NUTS moves."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def cut(self, x: Floats) -> dict[str, Floats]:
        """Free numbers of each variable, in its shape."""
        out, at = {}, 0
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            out[name] = np.reshape(x[at : at + size], shape)
            at += size
        return out


def from_log_simplex(shares: object) -> Floats:
    """Free numbers of a simplex, as PyMC has them."""
    logs = np.log(np.asarray(shares, dtype=float))
    return np.asarray(logs[:-1] - logs.mean())


def to_zero_sum(free: object) -> Floats:
    """Numbers that sum to zero along the last axis, from their free ones, as PyMC has them."""
    free = np.asarray(free, dtype=float)
    n = free.shape[-1] + 1
    total = free.sum(axis=-1, keepdims=True)
    shift = total / (np.sqrt(n) + n)
    return np.concatenate([free - shift, -total / np.sqrt(n)], axis=-1)


def from_zero_sum(values: object) -> Floats:
    """Free numbers of those that sum to zero along the last axis."""
    values = np.asarray(values, dtype=float)
    n = values.shape[-1]
    total = -values[..., -1:] * np.sqrt(n)
    return np.asarray(values[..., :-1] + total / (np.sqrt(n) + n))
