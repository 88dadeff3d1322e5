"""Nodes: a standard normal distribution as finitely many points with weights."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["effect_nodes"]

Floats = NDArray[np.float64]

GRID = {1: 21, 2: 11, 3: 5}  # points along an axis
# the outermost lie at 3.9 for 11 points and further out for more, but not beyond 5
REACH, FARTHEST = 3.9 / np.sqrt(11), 5.0
CLOUD = 256  # points beyond three dimensions


@lru_cache(maxsize=32)
def effect_nodes(n_dims: int, size: int | None = None) -> tuple[Floats, Floats]:
    r"""Points and weights whose sums stand for expectations under independent standard normals.

    .. math:: E f(z) \approx \sum_m w_m f(z_m)

    In one and two dimensions a trapezoidal rule: an equally spaced grid with weights in proportion
    to the density. Where many labels make the likelihood of an item narrow, it is more exact than
    Gauss-Hermite nodes of the same number, whose outer ones are wasted. In three dimensions the
    product of Gauss-Hermite nodes; beyond that a Sobol sequence with equal weights, mirrored at
    zero and scaled so that means are 0 and variances 1.

    Parameters
    ----------
    n_dims
        Number of dimensions.
    size
        Number of points: along an axis in up to three dimensions, else all in all and even; None
        takes 21, 11 (so 121), 5 (so 125) and 256.

    Returns
    -------
    Points [node, dimension] and weights [node]; read-only.

    Raises
    ------
    ValueError
        With fewer than three points along an axis, or fewer points than dimensions allow.

    Examples
    --------
    >>> points, weights = effect_nodes(1)
    >>> points.shape, round(float(weights @ points[:, 0] ** 2), 3)
    ((21, 1), 1.0)
    >>> points, weights = effect_nodes(4)
    >>> (weights @ points**2).round(6)
    array([1., 1., 1., 1.])
    """
    points, weights = _grid(n_dims, size) if n_dims in GRID else _cloud(n_dims, size or CLOUD)
    points.flags.writeable = weights.flags.writeable = False
    return points, weights


def _grid(n_dims: int, size: int | None) -> tuple[Floats, Floats]:
    size = size or GRID[n_dims]
    if size < 3:
        raise ValueError(f"A grid needs 3 points along an axis or more, not {size}.")
    if n_dims < 3:
        reach = min(FARTHEST, REACH * np.sqrt(size))
        axis = np.linspace(-reach, reach, size)
        weight = np.exp(-0.5 * axis**2)
    else:
        axis, weight = np.polynomial.hermite_e.hermegauss(size)
    weight = weights = weight / weight.sum()
    points = np.stack(np.meshgrid(*[axis] * n_dims, indexing="ij"), axis=-1).reshape(-1, n_dims)
    for _ in range(n_dims - 1):
        weights = np.outer(weights, weight).ravel()
    return points, weights


def _cloud(n_dims: int, size: int) -> tuple[Floats, Floats]:
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    half = size // 2
    if size % 2 or half <= n_dims:
        raise ValueError(f"{n_dims} dimensions need an even number of points above {2 * n_dims}.")
    bits = int(np.ceil(np.log2(half)))
    uniform = Sobol(n_dims, scramble=False).random_base2(bits)[:half] + 0.5 / 2**bits
    z = ndtri(uniform)
    points = np.concatenate([z, -z])
    return points / points.std(axis=0), np.full(size, 1.0 / size)
