"""Regression of item difficulty on covariates, for models with one difficulty per item."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from types import ModuleType

import numpy as np
from scipy.special import logsumexp

from annomodels.models.base import Model
from annomodels.models.continuous.covariates import ITEM_EFFECT, Regressed
from annomodels.models.parameters import Variables
from annomodels.models.states import Kinds
from annomodels.priors import Covariates
from annomodels.types import Floats, Ints, TensorLike

# range of the points beyond the extreme items, in standard deviations
REACH = 5.0
# additional range in logits, so that points stay distinct if all items are identical
LEAST = 1e-3
# minimum spread in steps, and sharpness of this smooth minimum; its error is below 0.001 % from 2
# steps on, as is the error of sums over normal densities from 1.2 steps on
FINEST, ABRUPT = 0.6, 8.0
# number of points per node of the model, and range of the covariates for which it suffices
FINER, USUAL = 4, 6.0


class HardnessRegressed(Regressed):
    """Base of models in which item difficulty may depend on covariates."""

    # delta_i ~ N(sum_t x_it beta_t, rho^2), beta_t ~ N(0, s^2)

    item_covariates: Covariates | None
    nodes: int

    @cached_property
    def _kinds(self) -> tuple[Ints, Floats]:
        """Kind of each item, and values of the terms for each kind, [kind, term]."""
        known = self.item_covariates
        design = np.array([] if known is None else known.design, dtype=float)
        rows, of_item = np.unique(design, axis=0, return_inverse=True)
        return np.asarray(of_item).ravel(), rows

    @property
    def n_points(self) -> int:
        """Number of difficulty points, common to all items, for a model with item covariates."""
        # four per node; more, with equal density, if the range of a covariate exceeds six of its
        # standard deviations
        known = self.item_covariates
        design = np.zeros((1, 1)) if known is None or not known.design else self._kinds[1]
        widest = max(USUAL, float(np.ptp(design, axis=0).max()))
        return math.ceil(FINER * self.nodes * (widest + 2 * REACH) / (USUAL + 2 * REACH))

    def points_of(self, v: Variables, scale: TensorLike) -> tuple[TensorLike, TensorLike]:
        """Return points [truth, point] and log weights [kind, truth, point] in a PyMC model."""
        # scale is the spread of the difficulties, scalar or [truth]
        shift = v.data("item_design", self._kinds[1]) @ v[ITEM_EFFECT.name]
        points, width = common_points(shift, v.xp.atleast_1d(scale), self.n_points, v.xp)
        shares = log_weights(shift, points, width, v.xp.logsumexp)
        return points * np.ones((v.n_labels, 1)), shares

    def kinds_of(
        self, effect: Floats, scale: Floats, prevalence: Floats
    ) -> tuple[Kinds, Floats, Floats]:
        """Return kinds, mean state probabilities [draw, state] and points [draw, truth, point]."""
        # effect [draw, term]; scale [draw, truth] or [draw, 1]; prevalence [draw, truth]
        of_item, design = self._kinds
        size, shift = self.n_points, effect @ design.T
        with np.errstate(divide="ignore"):
            log_prevalence = np.log(prevalence)[:, None, :, None]

        def log_share(draw: int, some: Ints) -> Floats:
            points, width = common_points(shift[draw], scale[draw], size, np)
            log = log_weights(shift[draw][some], points, width, logsumexp)
            return np.asarray((log_prevalence[draw] + log).reshape(len(some), -1))

        every, often = np.arange(len(design)), np.bincount(of_item) / len(of_item)
        draws = range(len(effect))
        mean = np.stack([often @ np.exp(log_share(d, every)) for d in draws])
        points = np.stack([common_points(shift[d], scale[d], size, np)[0] for d in draws])
        shape = (*prevalence.shape, size)
        known = self.item_covariates
        names = () if known is None else known.names
        return Kinds(names, of_item, design, log_share), mean, np.broadcast_to(points, shape)


def item_kinds(model: Model) -> Ints | None:
    """Return the kind of each item, if items differ before labeling."""
    if not isinstance(model, HardnessRegressed) or model.item_covariates is None:
        return None
    return model._kinds[0]


def common_points(
    shift: TensorLike, scale: TensorLike, size: int, xp: ModuleType
) -> tuple[TensorLike, TensorLike]:
    """Return equally spaced points [truth, point] that cover all difficulties, and widths."""
    # The trapezoidal rule is accurate unless the normal density is much narrower than a step: with
    # a spread of r steps, its error is 2 e^(-2 pi^2 r^2) (Trefethen and Weideman 2014,
    # doi:10.1137/130932132). A spread below 0.6 steps is therefore replaced by 0.6 steps.
    # shift [kind], scale [truth]
    low, high = xp.min(shift), xp.max(shift)
    half = 0.5 * (high - low) + REACH * scale + LEAST
    points = 0.5 * (low + high) + half[:, None] * np.linspace(-1.0, 1.0, size)
    finest = FINEST * 2.0 / (size - 1) * half
    log = xp.logaddexp(ABRUPT * xp.log(xp.maximum(scale, 1e-30)), ABRUPT * xp.log(finest))
    return points, xp.exp(log / ABRUPT)


def log_weights(
    shift: TensorLike, points: TensorLike, width: TensorLike, log_sum: Callable[..., TensorLike]
) -> TensorLike:
    """Return the log weight of each point for items of each kind, [kind, truth, point]."""
    z = (points[None] - shift[:, None, None]) / width[None, :, None]
    log = -0.5 * z**2
    return log - log_sum(log, axis=2, keepdims=True)
