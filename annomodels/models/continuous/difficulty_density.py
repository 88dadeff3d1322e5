"""Compiled log density of the scalar difficulty model, and its gradient."""

# It takes two thirds of the time of the compiled PyMC model, which is the reference: a test
# compares value, gradient and variables.

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeGuard

import numpy as np
from scipy.special import betaln, gammaln, log_ndtr, softmax

from annomodels.models.base import Model
from annomodels.models.continuous.centring import centred_share
from annomodels.models.continuous.contrasts import leaning_places
from annomodels.models.continuous.scalar_difficulty import ScalarDifficulty
from annomodels.models.encoded import Encoded
from annomodels.types import Floats

# constants of the normal and half-normal log densities with scale 1
HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)
LOG_HALF_NORMAL = math.log(2.0) - HALF_LOG_TAU
# variables that NUTS samples on the log scale
LOGARITHMS: tuple[str, ...] = (
    "level", "ability_scale", "difficulty_scale", "discrimination", "leaning_scale"
)  # fmt: skip


class DifficultyDensity:
    """Posterior of a :class:`~annomodels.models.ScalarDifficulty` given labels."""

    def __init__(self, model: ScalarDifficulty, codes: Encoded) -> None:
        k, j = codes.n_labels, codes.n_rows
        wrong = k - 2 if k > 2 else 0
        n_rho = 0 if model.difficulty_fixed else k if model.by_class else 1
        n_slope = j if model.discrimination else 0
        n_guess = k if model.guessing is not None else 0
        self.k, self.coders = k, j
        # shapes of the unconstrained parameters, in the order of the PyMC model
        self.shapes = {
            "prevalence": (k - 1,), "level": (), "contrast": (k - 1,), "ability_scale": (k,),
            "ability": (j, k),
        }  # fmt: skip
        if n_rho:
            self.shapes["difficulty_scale"] = (k,) if model.by_class else ()
        if n_slope:
            self.shapes["discrimination"] = (j,)
        if n_guess:
            self.shapes["guessing"] = (k,)
        if k > 2:
            self.shapes |= {"preference": (k, wrong), "leaning_scale": (k,), "z": (j, k, wrong)}
        self.share = centred_share(codes)
        nodes, weights = model.quadrature
        self.arguments = (
            np.array([j, k, n_rho, n_slope, n_guess]),
            self._priors(model),
            model.prevalence.alpha(k),
            self.share,
            np.stack([nodes, np.log(weights)]),
            np.full(k, float(model.difficulty)),
            *codes.arrays,
            codes.weight,
        )

    def _priors(self, model: ScalarDifficulty) -> Floats:
        """Return hyperparameters in the order of the kernel, and the constant of the density."""
        k, j = self.k, self.coders
        alpha = model.prevalence.alpha(k)
        level = model.level_spread / math.sqrt(k)
        a, b = model.guessing.counts if model.guessing is not None else (1.0, 1.0)
        constant = gammaln(alpha.sum()) - gammaln(alpha).sum() + math.log(k)
        constant -= math.log(level) + HALF_LOG_TAU + log_ndtr(model.centre(k) / level)
        constant -= (k - 1) * (math.log(model.contrast_spread) + HALF_LOG_TAU)
        constant += k * (LOG_HALF_NORMAL - math.log(model.ability_spread)) - j * k * HALF_LOG_TAU
        if "difficulty_scale" in self.shapes:
            rhos = math.prod(self.shapes["difficulty_scale"])
            constant += rhos * (LOG_HALF_NORMAL - math.log(model.difficulty))
        if "discrimination" in self.shapes:
            constant -= j * (math.log(model.discrimination) + HALF_LOG_TAU)
        if "guessing" in self.shapes:
            constant -= k * betaln(a, b)
        if k > 2:
            spread = math.log(model.leaning_spread)
            constant -= k * (k - 2) * (spread + HALF_LOG_TAU) - k * (LOG_HALF_NORMAL - spread)
            constant -= j * k * (k - 2) * HALF_LOG_TAU
        return np.array(
            [model.centre(k), level, model.contrast_spread, model.ability_spread, model.difficulty,
             model.discrimination, a, b, model.leaning_spread, constant]
        )  # fmt: skip

    @property
    def free(self) -> tuple[str, ...]:
        """Free variables of the PyMC model, in order."""
        return tuple(self.shapes)

    @property
    def n(self) -> int:
        """Number of unconstrained parameters."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def cut(self, x: Floats) -> dict[str, Floats]:
        """Split unconstrained parameters by variable."""
        out, at = {}, 0
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            out[name] = np.reshape(x[at : at + size], shape)
            at += size
        return out

    def value(self, x: Floats) -> tuple[float, Floats]:
        """Return log density and gradient at unconstrained parameters."""
        from annomodels.kernels.difficulty import difficulty_density

        grad = np.empty(len(x))
        return difficulty_density(x, grad, *self.arguments), grad

    def constrained(self, x: Floats) -> dict[str, Floats]:
        """Return the variables of the PyMC model, by name."""
        free = self.cut(x)
        contrast = to_zero_sum(free["contrast"])
        out: dict[str, Floats] = {name: np.exp(free[name]) for name in LOGARITHMS if name in free}
        prevalence = np.append(free["prevalence"], -free["prevalence"].sum())
        mean, scale = out["level"] + contrast, out["ability_scale"]
        w = self.share[:, None]
        out |= {
            "prevalence": softmax(prevalence),
            "contrast": contrast,
            "mean_ability": mean,
            "ability": mean + scale ** (1.0 - w) * (free["ability"] - w * mean),
        }
        if "guessing" in free:
            out["guessing"] = 1.0 / (1.0 + np.exp(-free["guessing"]))
        if "z" in free:
            place, right = leaning_places(self.k)
            rows = np.arange(self.k)[:, None]
            out["preference"], out["z"] = to_zero_sum(free["preference"]), to_zero_sum(free["z"])
            own = out["preference"] + out["leaning_scale"][:, None] * out["z"]
            out["mean_leaning"] = out["preference"][rows, place] * ~right
            out["leaning"] = own[:, rows, place] * ~right
        return out

    def unconstrained(self, values: Mapping[str, object]) -> Floats:
        """Return unconstrained parameters from the free variables of the PyMC model."""
        given = {name: np.asarray(values[name], dtype=float) for name in self.shapes}
        mean, scale = given["level"] + given["contrast"], given["ability_scale"]
        w = self.share[:, None]
        free: dict[str, Floats] = {
            name: np.log(given[name]) for name in LOGARITHMS if name in given
        }
        free["prevalence"] = from_log_simplex(given["prevalence"])
        free["ability"] = (given["ability"] - mean) / scale ** (1.0 - w) + w * mean
        for name in ("contrast", "preference", "z"):
            if name in given:
                free[name] = from_zero_sum(given[name])
        if "guessing" in given:
            free["guessing"] = np.log(given["guessing"]) - np.log1p(-given["guessing"])
        return np.concatenate([np.ravel(free[name]) for name in self.shapes])


def from_log_simplex(shares: object) -> Floats:
    """Return unconstrained parameters of a simplex, as in PyMC."""
    logs = np.log(np.asarray(shares, dtype=float))
    return np.asarray(logs[:-1] - logs.mean())


def to_zero_sum(free: object) -> Floats:
    """Return a vector with sum zero along the last axis from free parameters, as in PyMC."""
    free = np.asarray(free, dtype=float)
    n = free.shape[-1] + 1
    total = free.sum(axis=-1, keepdims=True)
    shift = total / (np.sqrt(n) + n)
    return np.concatenate([free - shift, -total / np.sqrt(n)], axis=-1)


def from_zero_sum(values: object) -> Floats:
    """Return free parameters of a vector with sum zero along the last axis."""
    values = np.asarray(values, dtype=float)
    n = values.shape[-1]
    total = -values[..., -1:] * np.sqrt(n)
    return np.asarray(values[..., :-1] + total / (np.sqrt(n) + n))


def has_density(model: Model) -> TypeGuard[ScalarDifficulty]:
    """Return True if a model has a compiled density; NUTS compiles the PyMC model of others."""
    return type(model) is ScalarDifficulty and not model.covariates


def density_of(model: Model, codes: Encoded) -> DifficultyDensity | None:
    """Return the posterior density as compiled loops, if the model has one."""
    return DifficultyDensity(model, codes) if has_density(model) else None
