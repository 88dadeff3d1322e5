"""Normal numbers between two bounds."""

from __future__ import annotations

import math

from annomodels.kernels.compile import Array, inlined
from annomodels.kernels.random import normal_pair, uniform


@inlined
def between(state: Array, pair: Array, low: float, high: float) -> float:
    """Draw a standard normal number between two bounds, by rejection (Robert 1995).

    doi:10.1007/BF00143942
    """
    if low < 0.0 < high:
        if high - low > 2.0:
            while True:
                normal_pair(state, pair)
                for n in range(2):
                    if low < pair[n] < high:
                        return float(pair[n])
        while True:
            z: float = low + (high - low) * uniform(state)
            if math.log(uniform(state)) < -0.5 * z * z:
                return z
    if high <= 0.0:
        return -float(above(state, -high, -low))
    return float(above(state, low, high))


@inlined
def above(state: Array, low: float, high: float) -> float:
    """Draw a standard normal number between two bounds of which none is negative."""
    if low * (high - low) < 1.5 and high - low < 2.0:
        while True:
            z: float = low + (high - low) * uniform(state)
            if math.log(uniform(state)) < -0.5 * (z - low) * (z + low):
                return z
    rate = 0.5 * (low + math.sqrt(low * low + 4.0))
    while True:
        z = low - math.log(uniform(state)) / rate
        if z < high and math.log(uniform(state)) < -0.5 * (z - rate) ** 2:
            return z
