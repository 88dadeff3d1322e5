"""Coders who perceive a position on a scale with shift and noise, and label by cut-points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import ModuleType

import numpy as np

from annomodels.models.base import Model, State
from annomodels.models.continuous.contrasts import softplus
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.parameters import Follows, Parameter, Support, Variables
from annomodels.priors import Dirichlet, HalfNormal, LogNormal, Probability, Scale
from annomodels.priors.distributions import DirichletRows, Normal
from annomodels.types import Floats, TensorLike

LAPSE_SCALE = 1.5  # scale of the half-normal prior of the spread of the log-odds of lapses


def interval_logp(
    position: TensorLike, cuts: TensorLike, shift: TensorLike, spread: TensorLike, xp: ModuleType
) -> TensorLike:
    """Return the log probability of each label, given a position on the scale."""
    # P(y <= l | x, j) = F((u_l - x - b_j) / s_j), F(t) = 1 / (1 + e^-t); computed as F(a) - F(b) =
    # F(a) F(-b) (1 - e^(b - a)) to avoid cancellation; cuts [label - 1]
    logits = (cuts - position - shift) / spread
    below, above = -softplus(-logits, xp), -softplus(logits, xp)
    if xp is not np:
        gap = logits[..., 1:] - logits[..., :-1]
        inner = below[..., 1:] + above[..., :-1] + xp.log(-xp.expm1(-gap))
        return xp.concatenate([below[..., :1], inner, above[..., -1:]], axis=-1)
    gap = np.diff(logits, axis=-1)
    inner = below[..., 1:] + above[..., :-1] + np.log(-np.expm1(-gap))
    return np.concatenate([below[..., :1], inner, above[..., -1:]], axis=-1)


def label_logp(
    position: TensorLike,
    cuts: TensorLike,
    coders: Mapping[str, TensorLike] | Variables,
    xp: ModuleType,
) -> TensorLike:
    """Return the log probability of each label for each coder, including lapses."""
    # P(y = l | x, j) = (1 - lambda_j) P_j(l | x) + lambda_j gamma_l; position [place], cuts [label
    # - 1]
    shift, spread, lapse = (coders[name][:, None, None] for name in ("shift", "spread", "lapse"))
    seen = interval_logp(position[None, :, None], cuts[None, None], shift, spread, xp)
    guessed = xp.log(lapse) + xp.log(coders["lapse_label"])[None, None]
    return xp.logaddexp(xp.log1p(-lapse) + seen, guessed)


@dataclass(frozen=True)
class ScaleModel(Model):
    """Base of models whose coders see places on a scale, with pooled shift, spread and lapses."""

    # b_j ~ N(0, tau^2), log s_j ~ N(log m, omega^2), tau ~ N+(0, t^2), m ~ LogNormal(m_0, v), omega
    # ~ N+(0, w^2); logit lambda_j ~ N(a, h^2), a ~ N(logit lambda_0, 1), h ~ N+(0, 1.5^2), gamma ~
    # Dir(1).
    # A proportion lambda_j of a coder's labels ignores the item and follows gamma. Without lapses,
    # one careless label in a hundred would determine the spread of a coder.

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    # scale t of the half-normal prior of the spread of the shifts, in steps of the scale
    shift_scale: Scale = 0.5
    typical: Scale = 0.35  # median of the typical spread, in steps of the scale
    typical_scale: Scale = 0.5  # standard deviation of its logarithm
    spread_scale: Scale = 0.5  # scale w of the half-normal prior of the sd of the log spreads
    typical_lapse: Probability = 0.03  # the center of the prior

    @property
    def lapse_logit(self) -> float:
        """Prior mean of the log-odds of a lapse."""
        return math.log(self.typical_lapse / (1.0 - self.typical_lapse))

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        return {"cut": [f"{a} | {b}" for a, b in pairwise(labels)]}

    def coder_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the arguments of :func:`label_logp`, and their population."""

        def of_coder(name: str, support: Support, follows: Follows) -> Parameter:
            return Parameter(name, ("coder",), support, "", follows=follows, shown=True)

        def lapse(v: Variables) -> TensorLike:
            logit = v["lapse_location"][..., None] + v["lapse_scale"][..., None] * v["lapse_z"]
            return 1.0 / (1.0 + v.xp.exp(-logit))

        def spread(v: Variables) -> TensorLike:
            log_ratio = v["spread_scale"][..., None] * v["spread_z"]
            return v["typical_spread"][..., None] * v.xp.exp(log_ratio)

        typical, even = LogNormal(self.typical, self.typical_scale), np.ones(n_labels)
        standard = ("shift_z", "spread_z", "lapse_z")
        return (
            of_coder("shift", "real", lambda v: v["shift_scale"][..., None] * v["shift_z"]),
            of_coder("spread", "positive", spread),
            of_coder("lapse", "unit", lapse),
            Parameter("lapse_label", ("label",), "simplex", prior=DirichletRows(even)),
            Parameter(
                "shift_scale", (), "positive", prior=HalfNormal(self.shift_scale),
                about="Shifts of the coders: normal around 0, their spread half-normal with scale "
                f"{self.shift_scale:g}.",
            ),
            Parameter("typical_spread", (), "positive", prior=typical),
            Parameter(
                "spread_scale", (), "positive", prior=HalfNormal(self.spread_scale),
                about=f"Spread (blur) of a typical coder: {typical.in_words}; log spreads of the "
                f"coders differ by a half-normal with scale {self.spread_scale:g}.",
            ),
            Parameter(
                "lapse_location", prior=Normal(self.lapse_logit, 1.0),
                about="Share of labels that do not depend on the item: typically "
                f"{100 * self.typical_lapse:.0f} %, log-odds normal over the coders; such labels "
                "follow one distribution for all coders.",
            ),
            Parameter("lapse_scale", (), "positive", prior=HalfNormal(LAPSE_SCALE)),
            *(Parameter(z, ("coder",), prior=Normal(0.0, 1.0), kept=False) for z in standard),
        )  # fmt: skip

    @property
    def starter(self) -> HierarchicalDawidSkene:
        return HierarchicalDawidSkene(self.prevalence)

    def coder_start(self, state: State) -> dict[str, Floats]:
        """Return initial values of the coders' variables, with identical coders."""
        n_coders, n_labels, _ = state.log_confusion.shape
        return {
            "shift_scale": np.asarray(0.3 * self.shift_scale),
            "typical_spread": np.asarray(self.typical),
            "spread_scale": np.asarray(0.3 * self.spread_scale),
            "shift_z": np.zeros(n_coders),
            "spread_z": np.zeros(n_coders),
            "lapse_location": np.asarray(self.lapse_logit),
            "lapse_scale": np.asarray(0.5),
            "lapse_z": np.zeros(n_coders),
            "lapse_label": np.full(n_labels, 1.0 / n_labels),
        }

    def pymc_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        typical, scale, lapse_scale, location, shift_scale = (
            values[name][:, None]
            for name in (
                "typical_spread", "spread_scale", "lapse_scale", "lapse_location", "shift_scale",
            )
        )  # fmt: skip
        logit = np.log(values["lapse"]) - np.log1p(-values["lapse"])
        return {
            **values,
            "shift_z": values["shift"] / shift_scale,
            "spread_z": np.log(values["spread"] / typical) / scale,
            "lapse_z": (logit - location) / lapse_scale,
        }
