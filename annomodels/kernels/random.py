"""Random numbers that depend on their purpose, not on the order of the draws."""

# Each draw has an address (key, iteration, purpose, index). A hash of the address seeds a short
# stream, so the draws do not depend on the number of threads or the partition of the items. The
# generator is SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195).

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from annomodels.kernels.compile import Array, Key, enclosed, inlined

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
TO_UNIT = 1.0 / 9007199254740992.0

TRUTH = 1
CONFUSION = 2
PREVALENCE = 3
POPULATION = 4
ROW = 6
ITEMS = 7

# maximum steps out on each side, and width at which a slice counts as a single point
MOST_STEPS, NARROW = 100, 1e-12


@inlined
def mix(z: Key) -> Key:
    """Scramble 64 bits."""
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return np.uint64(z ^ (z >> S31))


@inlined
def address(key: Key, iteration: int, purpose: int, index: int) -> Key:
    """Return the state of the stream at an address."""
    # odd multiples of a constant with mixed bits separate neighbors before they are hashed
    z = mix(np.uint64(key) + GOLDEN * np.uint64(2 * iteration + 1))
    z = mix(z ^ (GOLDEN * np.uint64(2 * purpose + 1)))
    state: Key = mix(z + GOLDEN * np.uint64(index + 1))
    return state


@inlined
def uniform(state: Array) -> float:
    """Return the next number in (0, 1); `state` is an array of one 64-bit integer."""
    state[0] += GOLDEN
    # the added half avoids 0, because callers take logarithms
    return (np.float64(mix(state[0]) >> S11) + 0.5) * TO_UNIT


@inlined
def uniform_at(key: Key, iteration: int, purpose: int, index: int) -> float:
    """Return one number in (0, 1) at an address, without a stream."""
    return (
        np.float64(mix(address(key, iteration, purpose, index) + GOLDEN) >> S11) + 0.5
    ) * TO_UNIT


@inlined
def normal_pair(state: Array, pair: Array) -> None:
    """Fill `pair` with two independent standard normal numbers (Box & Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(uniform(state)))
    angle = 2.0 * math.pi * uniform(state)
    pair[0] = radius * math.cos(angle)
    pair[1] = radius * math.sin(angle)


@inlined
def gamma_variate(state: Array, pair: Array, n_left: int, shape: float) -> tuple[float, int]:
    """Draw from Gamma(shape, 1) for shape >= 1; also return the number of unused normals."""
    # method of Marsaglia & Tsang (2000, doi:10.1145/358407.358414)
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        if n_left == 0:
            normal_pair(state, pair)
            n_left += 2
        n_left -= 1
        x = pair[n_left]
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = uniform(state)
        squared = x * x
        # their squeeze step, which avoids the logarithms below for most draws
        if u < 1.0 - 0.0331 * squared * squared:
            return d * v, n_left
        if math.log(u) < 0.5 * squared + d - d * v + d * math.log(v):
            return d * v, n_left


@inlined
def log_dirichlet(state: Array, pair: Array, alpha: Array, out: Array) -> None:
    """Fill `out` with the logarithm of a Dirichlet draw; `pair` is a buffer for two normals."""
    # For a shape a < 1, Gamma(a) is Gamma(a + 1) times u^(1 / a), u uniform (Marsaglia & Tsang). In
    # logarithms it does not underflow for tiny shapes.
    n_left = np.int64(0)
    total, smallest = 0.0, alpha[0]
    for k in range(alpha.shape[0]):
        smallest = min(smallest, alpha[k])
        above = alpha[k] if alpha[k] >= 1.0 else alpha[k] + 1.0
        out[k], n_left = gamma_variate(state, pair, n_left, above)
        total += out[k]
    if smallest >= 1.0:
        for k in range(alpha.shape[0]):
            out[k] = math.log(out[k] / total)
        return
    top = -np.inf
    for k in range(alpha.shape[0]):
        out[k] = math.log(out[k])
        if alpha[k] < 1.0:
            out[k] += math.log(uniform(state)) / alpha[k]
        top = max(top, out[k])
    total = 0.0
    for k in range(alpha.shape[0]):
        total += math.exp(out[k] - top)
    total = top + math.log(total)
    for k in range(alpha.shape[0]):
        out[k] -= total


@inlined
def between(state: Array, pair: Array, low: float, high: float) -> float:
    """Draw a standard normal number between two bounds, by rejection (Robert 1995)."""
    # doi:10.1007/BF00143942
    if low < 0.0 < high:
        # proposals: normal for a wide window, uniform for a narrow one, exponential for a tail
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
    """Draw a standard normal number between two nonnegative bounds."""
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


def slice_step(density: Callable[..., float], most: int = MOST_STEPS) -> Callable[..., float]:
    """Return a kernel that moves x[place] by a slice step of density(x, *args)."""
    # with stepping out (Neal 2003, doi:10.1214/aos/1056562461)

    # numba cannot cache a function that takes the density as an argument
    @enclosed
    def step(
        x: Array, place: int, args: tuple[object, ...], width: float, here: float, state: Array
    ) -> float:
        """Move x[place] from log density `here`, and return the new log density."""
        # the last evaluation of the density is at the accepted point
        old = x[place]
        level = here + math.log(uniform(state))
        left = old - width * uniform(state)
        right = left + width
        x[place] = left
        steps = 0
        while steps < most and density(x, *args) > level:
            left -= width
            x[place] = left
            steps += 1
        x[place] = right
        steps = 0
        while steps < most and density(x, *args) > level:
            right += width
            x[place] = right
            steps += 1
        while True:
            x[place] = left + uniform(state) * (right - left)
            value = density(x, *args)
            if value > level:
                return value
            if x[place] < old:
                left = x[place]
            else:
                right = x[place]
            if right - left < NARROW:
                x[place] = old
                return density(x, *args)

    return step
