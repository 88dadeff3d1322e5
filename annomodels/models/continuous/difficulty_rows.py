"""Rows of confusion matrices given an item difficulty, and initial values for sampling."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from annomodels.models.base import State
from annomodels.models.continuous.contrasts import leaning_places, softplus
from annomodels.models.parameters import Parameter, Variables
from annomodels.priors import HalfNormal
from annomodels.priors.distributions import ZeroSumNormal
from annomodels.types import Floats, TensorLike

FARTHEST = 4.0  # maximum absolute initial ability, in logits


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
    """Return log P(label | coder, class, difficulty) [coder, truth, node, label]."""
    # P(k | k) = g_k + (1 - g_k) logit^-1(gamma_jk - a_j delta - log sum over l != k of e^eps_jkl).
    # ability [coder, truth], hard [truth, node], leaning [coder, truth, label], slope [coder],
    # guess [truth]
    effect = hard[None] if slope is None else slope[:, None, None] * hard[None]
    odds = ability[:, :, None] - effect
    wrong: Any = 0.0
    if leaning is not None:
        # subtract exp(0) = 1 of the diagonal
        total = xp.log(xp.sum(xp.exp(leaning), axis=2) - 1.0)
        odds = odds - total[:, :, None]
        wrong = (leaning - total[:, :, None])[:, :, None, :]
    log_right, log_wrong = -softplus(-odds, xp), -softplus(odds, xp)
    if guess is not None:
        lucky = guess[None, :, None]
        log_right = xp.log(lucky + (1.0 - lucky) * xp.exp(log_right))
        log_wrong = xp.log1p(-lucky) + log_wrong
    right = np.eye(k, dtype=bool)[None, :, None, :]
    return xp.where(right, log_right[..., None], log_wrong[..., None] + wrong)


def leaning_parameters(k: int, spread: float) -> tuple[Parameter, ...]:
    """Declare leanings [coder, truth, label], zero on the diagonal, and their population."""
    # spread is the sd of the mean leanings, and the scale of the prior of the coders' sd
    (place, right), rows = leaning_places(k), np.arange(k)[:, None]

    def own(v: Variables) -> TensorLike:
        scale = v["leaning_scale"][..., None, :, None]
        each = v["preference"][..., None, :, :] + scale * v["z"]
        return each[..., rows, place] * ~right

    return (
        Parameter("leaning", ("coder", "truth", "label"), watched="", follows=own),
        Parameter(
            "mean_leaning", ("truth", "label"),
            follows=lambda v: v["preference"][..., rows, place] * ~right,
        ),
        Parameter("leaning_scale", ("truth",), "positive", prior=HalfNormal(spread)),
        Parameter(
            "preference", ("truth", "wrong"), "zero-sum", prior=ZeroSumNormal(spread), kept=False
        ),
        Parameter(
            "z", ("coder", "truth", "wrong"), "zero-sum", prior=ZeroSumNormal(), kept=False
        ),
    )  # fmt: skip


def start_values(state: State) -> dict[str, Floats]:
    """Return initial abilities, leanings and populations from confusion matrices."""
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
