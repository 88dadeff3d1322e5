"""Rows that are softmax of K - 1 logits against the last label, with an effect of the item."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from annomodels.types import Floats, TensorLike


def log_softmax(contrasts: TensorLike, xp: ModuleType) -> TensorLike:
    """Log probabilities of all labels, for NumPy arrays and PyTensor variables."""
    logits = xp.concatenate([contrasts, xp.zeros_like(contrasts[..., :1])], axis=-1)
    # the largest one is taken away, so that no exponential overflows
    logits = logits - xp.max(logits, axis=-1, keepdims=True)
    return logits - xp.log(xp.sum(xp.exp(logits), axis=-1, keepdims=True))


def against_last(log_rows: Floats, most: float = 4.0) -> Floats:
    """Logits of all labels but the last, relative to the last, within `most` of zero."""
    return np.asarray(np.clip(log_rows[..., :-1] - log_rows[..., -1:], -most, most))


def state_truth(n_labels: int, n_nodes: int) -> Floats:
    """P(truth | state) if the states are (class, node), shape [state, truth]."""
    return np.repeat(np.eye(n_labels), n_nodes, axis=0)


def difficulties(effect: Floats) -> Floats:
    """Drop of the logit of the right label against the mean of the others due to an item."""
    # d[k, m] = mean over l != k of e[k, m, l] - e[k, m, k], with e[k, m, K] = 0
    n_labels = effect.shape[-1] + 1
    padded = np.concatenate([effect, np.zeros_like(effect[..., :1])], axis=-1)
    own = np.einsum("...kmk->...km", padded)
    return np.asarray((padded.sum(axis=-1) - own) / (n_labels - 1) - own)
