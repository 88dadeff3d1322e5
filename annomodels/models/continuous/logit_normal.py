"""Hierarchical Dawid-Skene on the logit scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.base import DrawsOf, State
from annomodels.models.confusion import ConfusionModel
from annomodels.models.continuous.contrasts import normalized
from annomodels.models.continuous.covariates import Regressed
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.parameters import Parameter, Variables
from annomodels.priors import Covariates, Diagonal, Dirichlet, FixedDiagonal, HalfNormal, Scale
from annomodels.priors.distributions import ZeroSumNormal
from annomodels.types import Floats, TensorLike


@dataclass(frozen=True)
class LogitNormalDawidSkene(Regressed, ConfusionModel):
    r"""Dawid-Skene with rows that are softmax of normal logits around a population.

    .. math::

        \zeta_k \sim b_k + N_0(0, t^2), \quad \omega_k \sim N^+(0, s^2), \quad
        \beta_{j,k} = \zeta_k + \omega_k z_{j,k}, \quad z_{j,k} \sim N_0(0, 1), \quad
        \theta_{j,k} = softmax(\beta_{j,k})

    :math:`N_0` is the normal distribution on vectors that sum to zero, so the logits are
    identified and no label is a reference; :math:`b_k` raises the diagonal above the other labels.
    Paun et al. (2018) instead fix the last logit at zero and use prior means of zero.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    centre
        Prior mean of the population; only its accuracy is used.
    location_spread
        Standard deviation t of the population location around its mean.
    scale_spread
        Scale s of the half-normal prior of the spread of the coders.
    coder_covariates
        Covariates of the coders, as for :class:`LogisticRandomEffects`:
        :math:`\sum_t x_{j,t} \gamma_t` is added to the logit of the right label relative to each
        other label.

    References
    ----------
    S. Paun, B. Carpenter, J. Chamberlain, D. Hovy, U. Kruschwitz and M. Poesio (2018). Comparing
    Bayesian models of annotation. TACL 6, 571-585. doi:10.1162/tacl_a_00040

    Examples
    --------
    >>> LogitNormalDawidSkene().engines
    ('nuts',)
    """

    name: ClassVar[str] = "logit-normal"
    title: ClassVar[str] = "logit-normal hierarchical Dawid-Skene"
    citation: ClassVar[str] = "doi:10.1162/tacl_a_00040"
    family: ClassVar[str] = "matrices"

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    centre: FixedDiagonal = field(default_factory=lambda: Diagonal(4.0, 0.7))
    location_spread: Scale = 0.5
    scale_spread: Scale = 1.0
    coder_covariates: Covariates | None = None

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        return self.effect_coords

    def new_rows(self, draws_of: DrawsOf, rng: np.random.Generator) -> Floats | None:
        location, scale = draws_of("location"), draws_of("scale")[..., None]
        z = rng.normal(size=location.shape)
        logits = location + scale * (z - z.mean(axis=-1, keepdims=True))
        rows = np.maximum(np.exp(logits - logits.max(axis=-1, keepdims=True)), 1e-300)
        return np.asarray(rows / rows.sum(axis=-1, keepdims=True))

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        dims = ("truth", "label")
        return (
            *super().variables(n_labels),
            Parameter(
                "location", dims, watched="diagonal",
                follows=lambda v: self.centre_logits(n_labels) + v["shift"],
                about=f"Population location: normal around {100 * self.centre.accuracy:.0f} % on "
                f"the right label, with spread {self.location_spread:g} logits.",
            ),
            Parameter(
                "scale", ("truth",), "positive", prior=HalfNormal(self.scale_spread),
                about=f"Spread of the coders: half-normal with scale {self.scale_spread:g} logits.",
            ),
            *self.effect_parameters,
            Parameter(
                "shift", dims, "zero-sum", prior=ZeroSumNormal(self.location_spread), kept=False
            ),
            Parameter("z", ("coder", *dims), "zero-sum", prior=ZeroSumNormal(), kept=False),
        )  # fmt: skip

    def centre_logits(self, n_labels: int) -> Floats:
        """Return the prior mean b of the location, zero-sum rows, shape [truth, label]."""
        accuracy = self.centre.accuracy
        lead = math.log(accuracy * (n_labels - 1) / (1.0 - accuracy))
        logits = lead * np.eye(n_labels)
        return logits - logits.mean(axis=1, keepdims=True)

    def log_rows(self, v: Variables) -> TensorLike:
        logits = v["location"][None] + v["scale"][None, :, None] * v["z"]
        if self.coder_covariates is not None:
            logits = logits + self.effect_of(v)[:, None, None] * right_label(v.n_labels)
        return normalized(logits, v.xp)

    @property
    def starter(self) -> HierarchicalDawidSkene:
        return HierarchicalDawidSkene(self.prevalence, Diagonal(300.0, self.centre.accuracy))

    def pymc_start(self, state: State) -> dict[str, Floats]:
        rows = np.transpose(state.log_confusion, (0, 2, 1))
        logits = rows - rows.mean(axis=2, keepdims=True)
        location = logits.mean(axis=0)
        scale = np.maximum(logits.std(axis=(0, 2)), 0.1)
        return {
            "prevalence": np.exp(state.log_prevalence),
            "shift": location - self.centre_logits(len(scale)),
            "scale": scale,
            "z": (logits - location) / scale[:, None],
            **self.effect_start,
        }

    def pymc_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        logits = np.log(np.maximum(values["confusion"], np.finfo(np.float32).tiny))
        logits -= logits.mean(axis=-1, keepdims=True)
        location = values["location"]
        expected = location[:, None]
        if self.coder_covariates is not None:
            ability = values["coder_effect"] @ np.array(self.coder_covariates.design).T
            expected = expected + ability[..., None, None] * right_label(location.shape[-1])
        z = (logits - expected) / values["scale"][:, None, :, None]
        shift = location - self.centre_logits(location.shape[-1])
        return {**values, "shift": shift, "z": z}

    def story(self) -> list[str]:
        return [
            "Every item has one true class; every coder has a confusion matrix whose rows are "
            "softmax of normal logits around a population that is estimated too."
        ]


def right_label(n_labels: int) -> Floats:
    """Return zero-sum logits that raise the right label by 1 relative to each other label."""
    return np.eye(n_labels) - 1.0 / n_labels
