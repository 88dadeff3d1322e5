"""Rows of confusion matrices under an item difficulty, and where their sampling starts."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.models.base import State
from annomodels.types import Floats, Tensor, TensorLike

FARTHEST = 4.0  # logits beyond which no chain starts


def log_rows(
    ability: TensorLike,
    hard: TensorLike,
    k: int,
    xp: ModuleType,
    *,
    leaning: TensorLike | None = None,
    slope: TensorLike | None = None,
    guess: TensorLike | None = None,
) -> TensorLike:
    """Log P(label | coder, class, difficulty) [coder, truth, node, label]."""
    # P(k | k) = g_k + (1 - g_k) logit^-1(gamma_jk - a_j delta - log sum over l != k of e^eps_jkl).
    # ability [coder, truth], hard [truth, node], leaning [coder, truth, label], slope [coder],
    # guess [truth]
    effect = hard[None] if slope is None else slope[:, None, None] * hard[None]
    odds = ability[:, :, None] - effect
    wrong: Any = 0.0
    if leaning is not None:
        # the diagonal holds exp(0) = 1
        total = xp.log(xp.sum(xp.exp(leaning), axis=2) - 1.0)
        odds = odds - total[:, :, None]
        wrong = (leaning - total[:, :, None])[:, :, None, :]
    softplus = _softplus(xp)
    log_right, log_wrong = -softplus(-odds), -softplus(odds)
    if guess is not None:
        lucky = guess[None, :, None]
        log_right = xp.log(lucky + (1.0 - lucky) * xp.exp(log_right))
        log_wrong = xp.log1p(-lucky) + log_wrong
    right = np.eye(k, dtype=bool)[None, :, None, :]
    return xp.where(right, log_right[..., None], log_wrong[..., None] + wrong)


def _softplus(xp: ModuleType) -> Callable[[TensorLike], TensorLike]:
    if xp is np:
        return lambda x: np.logaddexp(0.0, x)
    softplus: Callable[[TensorLike], TensorLike] = xp.softplus
    return softplus


def leaning_places(k: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Place of the leaning towards each label among the wrong labels of a row, and the diagonal."""
    right = np.eye(k, dtype=bool)
    place = np.cumsum(~right, axis=1) - 1
    return np.where(right, 0, place).astype(np.int64), right


def leaning_priors(k: int, spread: float) -> Tensor:
    """Leanings [coder, truth, label], zero on the diagonal; in a model context."""
    # spread is the standard deviation of the mean leanings, and the scale of that of the coders
    import pymc as pm

    pm.modelcontext(None).add_coord("wrong", [str(n) for n in range(1, k)])
    mean = pm.ZeroSumNormal("preference", sigma=spread, dims=("truth", "wrong"))
    scale = pm.HalfNormal("leaning_scale", sigma=spread, dims="truth")
    z = pm.ZeroSumNormal("z", sigma=1.0, dims=("coder", "truth", "wrong"))
    place, right = leaning_places(k)
    off = ~right
    rows = np.arange(k)[:, None]
    pm.Deterministic("mean_leaning", mean[rows, place] * off, dims=("truth", "label"))
    own = mean[None] + scale[None, :, None] * z
    return pm.Deterministic("leaning", own[:, rows, place] * off, dims=("coder", "truth", "label"))


def drawn_leanings(
    n_coders: int, k: int, spread: float, rng: np.random.Generator
) -> dict[str, Floats]:
    """Draw leanings and their population from the priors of :func:`leaning_priors`."""
    place, right = leaning_places(k)
    wide = rng.normal(size=(n_coders + 1, k, k - 1))
    wide -= wide.mean(axis=2, keepdims=True)
    scale = np.abs(rng.normal(0.0, spread, k))
    common = spread * wide[0]
    own = common + scale[:, None] * wide[1:]
    rows = np.arange(k)[:, None]
    return {
        "leaning_scale": scale,
        "mean_leaning": common[rows, place] * ~right,
        "leaning": own[:, rows, place] * ~right,
    }


def start_values(state: State) -> dict[str, Floats]:
    """Abilities, leanings and their population that correspond to confusion matrices."""
    rows = np.maximum(np.transpose(state.log_confusion, (0, 2, 1)), np.log(1e-3))
    k = rows.shape[2]
    right = np.eye(k, dtype=bool)
    off = rows[:, ~right].reshape(len(rows), k, k - 1)
    odds = rows[:, right] - off.mean(axis=2)
    ability = np.clip(odds, -FARTHEST, FARTHEST)
    level = max(float(ability.mean()), 0.3)
    mean = ability.mean(axis=0)
    values = {
        "prevalence": np.exp(state.log_prevalence),
        "level": np.array(level),
        "contrast": mean - mean.mean(),
        "ability": ability,
        "ability_scale": np.maximum(ability.std(axis=0), 0.3),
    }
    if k > 2:
        own = np.clip(off - off.mean(axis=2, keepdims=True), -1.5, 1.5)
        own -= own.mean(axis=2, keepdims=True)
        scale = np.maximum(own.std(axis=(0, 2)), 0.2)
        common = own.mean(axis=0)
        values["preference"] = common
        values["leaning_scale"] = scale
        values["z"] = (own - common) / scale[:, None]
    return values
