"""Compiled log density of models with item effects on the logits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import gammaln, softmax

from annomodels.models.continuous.centring import centred_share
from annomodels.models.continuous.density import (
    HALF_LOG_TAU,
    LOG_HALF_NORMAL,
    Layout,
    from_log_simplex,
)
from annomodels.models.continuous.quadrature import effect_nodes
from annomodels.models.encoded import Encoded
from annomodels.types import Floats


class RandomEffectsDensity(Layout):
    """Posterior of logistic random effects, or of item difficulty, given labels."""

    def __init__(
        self,
        model: Any,
        codes: Encoded,
        coder_scale: float | None = None,
    ) -> None:
        k = codes.n_labels
        table = (k, k - 1)
        alpha = model.prevalence.alpha(k)
        constant = gammaln(alpha.sum()) - gammaln(alpha).sum() + math.log(k)
        constant -= k * (k - 1) * (math.log(model.location_spread) + HALF_LOG_TAU)
        constant += k * (k - 1) * (LOG_HALF_NORMAL - math.log(model.item_scale))
        n_coders = 0
        # shapes of the unconstrained parameters, in the order of the PyMC model
        self.shapes = {"prevalence": (k - 1,)}
        if coder_scale is not None:
            n_coders = codes.n_rows
            self.shapes |= {"coder_location": table, "coder_spread": table, "item_spread": table}
            self.shapes["coder_logit"] = (n_coders, *table)
            constant += k * (k - 1) * (LOG_HALF_NORMAL - math.log(coder_scale))
            constant -= n_coders * k * (k - 1) * HALF_LOG_TAU
        else:
            self.shapes |= {"item_location": table, "item_spread": table}
        self.share = centred_share(codes)
        points, weights = effect_nodes(k - 1, model.nodes)
        self.arguments = (
            n_coders,
            np.array(
                [
                    model.location_spread,
                    1.0 if coder_scale is None else coder_scale,
                    model.item_scale,
                    constant,
                ]
            ),
            alpha,
            self.share,
            np.ascontiguousarray(points),
            np.log(weights),
            *codes.arrays,
            codes.weight,
        )

    def value(self, x: Floats) -> tuple[float, Floats]:
        from annomodels.kernels.random_effects import random_effects_density

        grad = np.empty(len(x))
        return random_effects_density(x, grad, *self.arguments), grad

    def constrained(self, x: Floats) -> dict[str, Floats]:
        out = {
            name: np.exp(values) if name.endswith("_spread") else values
            for name, values in self.cut(x).items()
        }
        out["prevalence"] = softmax(np.append(out["prevalence"], -out["prevalence"].sum()))
        if "coder_logit" in out:
            mean, scale, w = out["coder_location"], out["coder_spread"], self.share[:, None, None]
            out["coder_logit"] = mean + scale ** (1.0 - w) * (out["coder_logit"] - w * mean)
        return out

    def unconstrained(self, values: Mapping[str, object]) -> Floats:
        given = {name: np.asarray(values[name], dtype=float) for name in self.shapes}
        free = {
            name: np.log(value) if name.endswith("_spread") else value
            for name, value in given.items()
        }
        free["prevalence"] = from_log_simplex(given["prevalence"])
        if "coder_logit" in given:
            mean, scale = given["coder_location"], given["coder_spread"]
            w = self.share[:, None, None]
            free["coder_logit"] = (given["coder_logit"] - mean) / scale ** (1.0 - w) + w * mean
        return np.concatenate([np.ravel(free[name]) for name in self.shapes])
