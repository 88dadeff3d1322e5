"""Quadrature: a continuous property of an item as a few values with weights."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["beta_nodes", "normal_nodes"]

Floats = NDArray[np.float64]


@lru_cache(maxsize=16)
def normal_nodes(n: int) -> tuple[Floats, Floats]:
    r"""Nodes and weights of Gauss-Hermite quadrature for the standard normal distribution.

    .. math:: \int f(x) N(x; 0, 1) dx \approx \sum_q w_q f(x_q)

    Exact for polynomials of degree up to 2n - 1.

    Parameters
    ----------
    n
        Number of nodes.

    Returns
    -------
    Nodes and weights, each [node]; the weights sum to one.

    Examples
    --------
    >>> nodes, weights = normal_nodes(3)
    >>> nodes.round(3), weights.round(3), round(float(weights @ nodes**4), 9)
    (array([-1.732,  0.   ,  1.732]), array([0.167, 0.667, 0.167]), 3.0)
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    return nodes, weights / weights.sum()


def beta_nodes(n: int, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    r"""Nodes and weights of Gauss-Jacobi quadrature for beta distributions.

    .. math:: \int f(x) Beta(x; a, b) dx \approx \sum_q w_q f(x_q)

    Exact for polynomials of degree up to 2n - 1, so the probability of up to 2n - 1 labels of an
    item is exact. Found as eigenvalues of the symmetric matrix of the recurrence.

    Parameters
    ----------
    n
        Number of nodes.
    a, b
        Parameters, of any one shape.

    Returns
    -------
    Nodes and weights with the nodes along a new last dimension; the weights sum to one.

    References
    ----------
    G. H. Golub and J. H. Welsch (1969). Calculation of Gauss quadrature rules. Mathematics of
    Computation 23, 221-230. doi:10.1090/S0025-5718-69-99647-1

    Examples
    --------
    >>> nodes, weights = beta_nodes(2, np.array(2.0), np.array(6.0))
    >>> round(float(weights @ nodes), 9), round(float(weights @ nodes**3), 9)
    (0.25, 0.033333333)
    """
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
