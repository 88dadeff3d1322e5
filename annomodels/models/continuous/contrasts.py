"""Rows as softmax of K - 1 logits relative to the last label, with item effects."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from annomodels.models.parameters import Variables
from annomodels.models.states import ItemStates
from annomodels.types import Floats, TensorLike


def log_softmax(contrasts: TensorLike, xp: ModuleType) -> TensorLike:
    """Return log probabilities of all labels from K - 1 logits, for NumPy and PyTensor."""
    return normalized(xp.concatenate([contrasts, xp.zeros_like(contrasts[..., :1])], axis=-1), xp)


def normalized(logits: TensorLike, xp: ModuleType) -> TensorLike:
    """Return log probabilities of all labels from their logits."""
    # subtract the maximum to avoid overflow
    logits = logits - xp.max(logits, axis=-1, keepdims=True)
    return logits - xp.log(xp.sum(xp.exp(logits), axis=-1, keepdims=True))


def softplus(x: TensorLike, xp: ModuleType) -> TensorLike:
    """Compute log(1 + e^x), for NumPy arrays and PyTensor variables."""
    return np.logaddexp(0.0, x) if xp is np else xp.softplus(x)


def against_last(log_rows: Floats, most: float = 4.0) -> Floats:
    """Return logits relative to the last label, clipped to `most` in absolute value."""
    return np.asarray(np.clip(log_rows[..., :-1] - log_rows[..., -1:], -most, most))


def point_states(
    v: Variables, weights: Floats, log_rows: TensorLike, effect: TensorLike
) -> ItemStates:
    """Return the states (class, point) of an item with effects [truth, point, contrast]."""
    # weights [point], log_rows [row, truth, point, label]
    k, n = v.n_labels, v.n_labels * len(weights)
    share = v.xp.log(v["prevalence"])[:, None] + np.log(weights)
    return ItemStates(
        v.xp.reshape(share, (n,)),
        np.repeat(np.eye(k), len(weights), axis=0),
        v.xp.reshape(log_rows, (log_rows.shape[0], n, k)),
        values={} if v.codes else {"difficulty": difficulties(np.asarray(effect)).ravel()},
    )


def difficulties(effect: Floats) -> Floats:
    """Return the decrease of the right logit, relative to the mean of the others, per item."""
    # d[k, m] = mean over l != k of e[k, m, l] - e[k, m, k], with e[k, m, K] = 0
    n_labels = effect.shape[-1] + 1
    padded = np.concatenate([effect, np.zeros_like(effect[..., :1])], axis=-1)
    own = np.einsum("...kmk->...km", padded)
    return np.asarray((padded.sum(axis=-1) - own) / (n_labels - 1) - own)


def leaning_places(k: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the index of each label among the wrong labels of its row, and the diagonal."""
    right = np.eye(k, dtype=bool)
    place = np.cumsum(~right, axis=1) - 1
    return np.where(right, 0, place).astype(np.int64), right
