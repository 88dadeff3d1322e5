"""Hierarchical Dawid-Skene on the logit scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.base import DrawsOf, State
from annomodels.models.confusion import ConfusionModel
from annomodels.models.continuous.covariates import Regressed
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.parameters import Parameter
from annomodels.priors import Covariates, Diagonal, Dirichlet, FixedDiagonal, Scale
from annomodels.types import Floats, Tensor


@dataclass(frozen=True)
class LogitNormalDawidSkene(Regressed, ConfusionModel):
    r"""Dawid-Skene whose rows are softmax of normal logits around a population.

    .. math::

        \zeta_k \sim b_k + N_0(0, t^2), \quad \omega_k \sim N^+(0, s^2), \quad
        \beta_{j,k} = \zeta_k + \omega_k z_{j,k}, \quad z_{j,k} \sim N_0(0, 1), \quad
        \theta_{j,k} = softmax(\beta_{j,k})

    :math:`N_0` is the normal distribution on vectors that sum to zero, so the logits are
    identified and no label plays a special part; :math:`b_k` puts the diagonal above the rest.
    Paun et al. (2018) fix the last logit to zero instead and put the means of all of them at zero.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    centre
        Mean of the population; only its accuracy is used.
    location_spread
        Standard deviation t of the population location around its mean.
    scale_spread
        Scale s of the half-normal prior of the spread of the coders.
    coder_covariates
        What is known of the coders, as for :class:`LogisticRandomEffects`:
        :math:`\sum_t x_{j,t} \gamma_t` is added to the logit of the right label against each other
        label.

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

    @property
    def swappable(self) -> bool:  # type: ignore[override]
        """Return True if parameters with swapped classes belong to the model, too."""
        return self.coder_covariates is None

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Names along the dimensions that only this model has."""
        return self.effect_coords

    def new_rows(self, draws_of: DrawsOf, rng: np.random.Generator) -> Floats | None:
        """Draw a matrix [sample, truth, label] of a coder who is yet to come."""
        location, scale = draws_of("location"), draws_of("scale")[..., None]
        z = rng.normal(size=location.shape)
        logits = location + scale * (z - z.mean(axis=-1, keepdims=True))
        rows = np.maximum(np.exp(logits - logits.max(axis=-1, keepdims=True)), 1e-300)
        return np.asarray(rows / rows.sum(axis=-1, keepdims=True))

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the population of the coders."""
        return (
            Parameter("location", ("truth", "label"), watched="diagonal"),
            Parameter("scale", ("truth",), "positive"),
            *self.effect_parameters,
        )

    def auxiliary_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the free variables of the PyMC model of which nothing is kept."""
        return (
            Parameter("shift", ("truth", "label"), "zero-sum"),
            Parameter("z", ("coder", "truth", "label"), "zero-sum"),
        )

    def centre_logits(self, n_labels: int) -> Floats:
        """Prior mean b of the population location, rows summing to zero, shape [truth, label]."""
        accuracy = self.centre.accuracy
        lead = math.log(accuracy * (n_labels - 1) / (1.0 - accuracy))
        logits = lead * np.eye(n_labels)
        return logits - logits.mean(axis=1, keepdims=True)

    def pymc_log_confusion(self, n_labels: int) -> Tensor:
        """Log confusion [row, truth, label] as a tensor, with its priors; in a model context."""
        import pymc as pm
        import pytensor.tensor as pt

        shift = pm.ZeroSumNormal("shift", sigma=self.location_spread, dims=("truth", "label"))
        location = pm.Deterministic(
            "location", self.centre_logits(n_labels) + shift, dims=("truth", "label")
        )
        scale = pm.HalfNormal("scale", sigma=self.scale_spread, dims="truth")
        z = pm.ZeroSumNormal("z", sigma=1.0, dims=("coder", "truth", "label"))
        logits, ability = location[None] + scale[None, :, None] * z, self.pymc_effect()
        if ability is not None:
            logits = logits + ability[:, None, None] * right_label(n_labels)
        log_confusion = logits - pt.logsumexp(logits, axis=2, keepdims=True)
        pm.Deterministic("confusion", pt.exp(log_confusion), dims=("coder", "truth", "label"))
        return log_confusion

    @property
    def starter(self) -> HierarchicalDawidSkene:
        """The conjugate model whose mode is the starting point."""
        return HierarchicalDawidSkene(self.prevalence, Diagonal(300.0, self.centre.accuracy))

    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Values of the PyMC variables that correspond to a state of the starting model."""
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
        """Add the standardized logits, and the distance of the population from its center."""
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

    def sample_parameters(self, n_rows: int, n_labels: int, rng: np.random.Generator) -> State:
        """Draw parameters from the prior."""

        def zero_sum(*shape: int) -> Floats:
            z = rng.normal(size=(*shape, n_labels))
            return np.asarray(z - z.mean(axis=-1, keepdims=True))

        shift = self.location_spread * zero_sum(n_labels)
        location = self.centre_logits(n_labels) + shift
        scale = np.abs(rng.normal(0.0, self.scale_spread, n_labels))
        logits = location + scale[:, None] * zero_sum(n_rows, n_labels)
        population = {"location": location, "scale": scale}
        if self.coder_covariates is not None:
            known = self.coder_covariates
            effect = rng.normal(0.0, known.spread, len(known.terms))
            population["coder_effect"] = effect
            logits += (np.array(known.design) @ effect)[:, None, None] * right_label(n_labels)
        rows = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
        rows = rows.transpose(0, 2, 1)
        prevalence = rng.dirichlet(self.prevalence.alpha(n_labels))
        return State(np.log(prevalence), np.ascontiguousarray(rows), population)

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        return [
            "Every item has one true class; every coder has a confusion matrix whose rows are "
            "softmax of normal logits around a population that is estimated too.",
            f"Prevalence: {self.prevalence.in_words}.",
            f"Population location: normal around {100 * self.centre.accuracy:.0f} % on the right "
            "label, "
            f"with spread {self.location_spread:g} logits.",
            f"Spread of the coders: half-normal with scale {self.scale_spread:g} logits.",
            *self.effect_story,
        ]


def right_label(n_labels: int) -> Floats:
    """Logits, summing to zero, that lift the right label by one against each other."""
    return np.eye(n_labels) - 1.0 / n_labels
