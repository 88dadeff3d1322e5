"""Quadrature: points and weights for continuous item effects."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from annomodels.types import Floats, Ints

GRID = {1: 21, 2: 11, 3: 5}  # number of points along an axis, by dimension
# range of the points: 3.9 for 11 points, larger for more points, at most 5
REACH, FARTHEST = 3.9 / np.sqrt(11), 5.0
# in three dimensions: maximum number of points along an axis for Gauss-Hermite nodes, and radius
# of the ball for larger grids
PRODUCT, BALL = 6, 3.9
CLOUD = 256  # number of points in more than three dimensions
# (maximum labels per item, points) by dimension; points along an axis in two and three dimensions,
# in total beyond; items with at most `FEW` labels use the default
FINER = {
    2: ((50, 15), (np.inf, 21)),
    3: ((25, 9), (50, 11), (np.inf, 13)),
    4: ((25, 1024), (50, 2048), (np.inf, 4096)),
}
FEW = {2: 25, 3: 10, 4: 10}
# maximum number of reads of labels per evaluation of the likelihood with more points
MOST_OPS = 60_000_000


@lru_cache(maxsize=16)
def normal_nodes(n: int) -> tuple[Floats, Floats]:
    """Return Gauss-Hermite nodes and weights for the standard normal distribution."""
    # exact for polynomials of degree up to 2n - 1
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    return nodes, weights / weights.sum()


def beta_nodes(n: int, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return Gauss-Jacobi nodes and weights for beta distributions."""
    # Exact for polynomials of degree up to 2n - 1, and so for the probability of up to 2n - 1
    # labels of an item. Nodes are eigenvalues of the symmetric matrix of the recurrence (Golub and
    # Welsch 1969, doi:10.1090/S0025-5718-69-99647-1).
    a, b = np.asarray(a, dtype=float)[..., None], np.asarray(b, dtype=float)[..., None]
    k = np.arange(n)
    # Jacobi polynomials on (-1, 1) with weight (1 - t)^(b - 1) (1 + t)^(a - 1)
    p, q = b - 1.0, a - 1.0
    twice = 2.0 * k + p + q
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (q**2 - p**2) / (twice * (twice + 2.0))
        square = (
            4.0 * k * (k + p) * (k + q) * (k + p + q) / (twice**2 * (twice + 1.0) * (twice - 1.0))
        )
    middle[..., 0] = ((q - p) / (p + q + 2.0))[..., 0]
    if n > 1:  # k + p + q cancels against twice - 1
        square[..., 1] = (4.0 * (1 + p) * (1 + q) / ((2 + p + q) ** 2 * (3 + p + q)))[..., 0]
    matrix = np.zeros((*middle.shape, n))
    matrix[..., k, k] = middle
    beside = np.sqrt(square[..., 1:])
    matrix[..., k[1:], k[:-1]] = matrix[..., k[:-1], k[1:]] = beside
    values, vectors = np.linalg.eigh(matrix)
    return np.clip((values + 1.0) / 2.0, 0.0, 1.0), vectors[..., 0, :] ** 2


@lru_cache(maxsize=32)
def effect_nodes(n_dims: int, size: int | None = None) -> tuple[Floats, Floats]:
    """Return quadrature points and weights for independent standard normals."""
    # One and two dimensions: the trapezoidal rule, an equally spaced grid with weights in
    # proportion to the density. If many labels make the likelihood of an item narrow, it is more
    # accurate than the same number of Gauss-Hermite nodes, as the outer nodes are wasted. Three
    # dimensions: a product of Gauss-Hermite nodes; for more than 6 along an axis, the trapezoidal
    # rule in a ball. More dimensions: a Sobol sequence with equal weights, mirrored at zero and
    # scaled to means of 0 and variances of 1.
    points, weights = _grid(n_dims, size) if n_dims in GRID else _cloud(n_dims, size or CLOUD)
    points.flags.writeable = weights.flags.writeable = False
    return points, weights


def enough_nodes(n_dims: int, labels: Ints) -> int | None:
    """Return the size for :func:`effect_nodes`, given labels per item; None is the default."""
    # For effects with a standard deviation of 1, the error of the log probability of 50 labels of
    # an item is at most 0.15 in up to three dimensions, and 0.3 in four. An evaluation of the
    # likelihood is limited to 60 million reads.
    kind = min(n_dims, 4)
    if kind not in FINER or not len(labels):
        return None
    many = float(np.quantile(labels, 0.9))
    if many <= FEW[kind]:
        return None
    wanted = next(n for n, (most, _) in enumerate(FINER[kind]) if many <= most)
    for _, size in FINER[kind][wanted::-1]:
        if len(effect_nodes(n_dims, size)[1]) * (n_dims + 1) * labels.sum() <= MOST_OPS:
            return size
    return None


def _grid(n_dims: int, size: int | None) -> tuple[Floats, Floats]:
    size = size or GRID[n_dims]
    if size < 3:
        raise ValueError(f"A grid needs at least 3 points per axis, not {size}.")
    even = n_dims < 3 or size > PRODUCT
    if even:
        reach = min(FARTHEST, REACH * np.sqrt(size)) if n_dims < 3 else BALL
        axis = np.linspace(-reach, reach, size)
        weight = np.exp(-0.5 * axis**2)
    else:
        axis, weight = np.polynomial.hermite_e.hermegauss(size)
    weight = weights = weight / weight.sum()
    points = np.stack(np.meshgrid(*[axis] * n_dims, indexing="ij"), axis=-1).reshape(-1, n_dims)
    for _ in range(n_dims - 1):
        weights = np.outer(weights, weight).ravel()
    if even and n_dims == 3:
        within = (points**2).sum(axis=1) <= (BALL + 0.3) ** 2
        points, weights = points[within], weights[within] / weights[within].sum()
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
