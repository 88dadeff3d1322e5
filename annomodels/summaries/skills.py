"""What a confusion matrix is worth: accuracy, skill, bits; NumPy functions of draws.

All take prevalence [..., truth] and confusion [..., coder, truth, label].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["accuracy", "bits", "entropy_bits", "says", "skill"]

Floats = NDArray[np.float64]


def accuracy(prevalence: Floats, confusion: Floats) -> Floats:
    """Probability of a right label, sum_k prevalence_k confusion_jkk, shape [..., coder].

    Examples
    --------
    >>> accuracy(np.array([0.5, 0.5]), np.array([[[0.9, 0.1], [0.15, 0.85]]]))
    array([0.875])
    """
    diagonal = np.diagonal(confusion, axis1=-2, axis2=-1)
    out: Floats = (diagonal * prevalence[..., None, :]).sum(axis=-1)
    return out


def says(prevalence: Floats, confusion: Floats) -> Floats:
    """How often a coder says each label, sum_k prevalence_k confusion_jkl, [..., coder, label].

    Examples
    --------
    >>> says(np.array([0.5, 0.5]), np.array([[[0.9, 0.1], [0.15, 0.85]]]))
    array([[0.525, 0.475]])
    """
    out: Floats = (prevalence[..., None, None, :] @ confusion)[..., 0, :]
    return out


def skill(prevalence: Floats, confusion: Floats) -> Floats:
    """Kappa between a coder and the truth, shape [..., coder].

    (accuracy - chance) / (1 - chance) with chance = sum_k prevalence_k P(coder says k): 1 for a
    perfect coder, 0 for one whose labels do not depend on the truth, below 0 for one who swaps
    labels.

    Source: Cohen 1960, doi:10.1177/001316446002000104, with the truth as the second coder.

    Examples
    --------
    >>> skill(np.array([0.5, 0.5]), np.array([[[0.9, 0.1], [0.15, 0.85]]]))
    array([0.75])
    """
    right = accuracy(prevalence, confusion)
    chance = (says(prevalence, confusion) * prevalence[..., None, :]).sum(axis=-1)
    out: Floats = (right - chance) / np.maximum(1 - chance, 1e-12)
    return out


def bits(prevalence: Floats, confusion: Floats) -> Floats:
    """Mutual information of the truth and one label of the coder, in bits, shape [..., coder].

    sum_kl prevalence_k confusion_jkl log2(confusion_jkl / P(coder says l)).

    Source: Shannon 1948, doi:10.1002/j.1538-7305.1948.tb01338.x

    Examples
    --------
    >>> bits(np.array([0.5, 0.5]), np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.3, 0.7], [0.3, 0.7]]]))
    array([1., 0.])
    """
    given = (_plogp(confusion).sum(axis=-1) * prevalence[..., None, :]).sum(axis=-1)
    out: Floats = np.maximum(given - _plogp(says(prevalence, confusion)).sum(axis=-1), 0.0)
    return out


def entropy_bits(p: Floats) -> Floats:
    """Entropy over the last axis, in bits.

    Examples
    --------
    >>> entropy_bits(np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([1., 0.])
    """
    out: Floats = np.abs(_plogp(p).sum(axis=-1))
    return out


def _plogp(p: Floats) -> Floats:
    out: Floats = p * np.log2(np.maximum(p, 1e-300))
    return out
