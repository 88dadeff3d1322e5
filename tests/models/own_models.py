"""Models that somebody defines outside the package, as docs/models/adding.md says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

import annomodels as am
from annomodels.models.base import Model
from annomodels.models.confusion import ConfusionModel, clamped_logp, emission_logp
from annomodels.models.parameters import Parameter
from annomodels.priors import Dirichlet, Scale


@dataclass(frozen=True)
class Neighbours(am.models.DawidSkene):
    """Dawid-Skene with rows that expect errors on the labels beside the right one."""

    name: ClassVar[str] = "neighbours"
    title: ClassVar[str] = "Dawid-Skene with neighbours"

    decay: Scale = 1.0

    def row_counts(self, n_labels):
        place = np.arange(n_labels)
        return 0.2 + 4.0 * np.exp(-self.decay * abs(place[:, None] - place))

    def describe(self):
        return [
            "Every item has one true class, and every coder a confusion matrix.",
            "Prevalence: Dirichlet with 1 pseudo-count a class.",
            f"Rows: Dirichlet, pseudo-counts fall by e^-{self.decay:g} with each step.",
        ]


class Lapsing(Model):
    """What two models have in common that has no name: fields and a description."""

    def describe(self):
        return ["Every item has one true class.", "Coders know it or guess.", "Guesses are alike."]


@dataclass(frozen=True)
class Knowing(Lapsing, ConfusionModel):
    """By NUTS only: coders know with an ability of their own, or guess by a common habit."""

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    spread: Scale = 1.0

    def own_parameters(self, n_labels):
        return (
            Parameter("ability", ("coder",), watched="", shown=True),
            Parameter("habit", ("label",), "simplex"),
        )

    def pymc_log_confusion(self, n_labels):
        import pymc as pm
        import pytensor.tensor as pt

        ability = pm.Normal("ability", 1.0, self.spread, dims="coder")
        habit = pm.Dirichlet("habit", np.full(n_labels, 2.0), dims="label")
        knows = pm.math.sigmoid(ability)[:, None, None]
        rows = knows * np.eye(n_labels) + (1.0 - knows) * habit
        pm.Deterministic("confusion", rows, dims=("coder", "truth", "label"))
        return pt.log(rows)

    @property
    def starter(self):
        return am.models.Mace(self.prevalence)

    def pymc_start(self, state):
        knows = np.clip(state.population["competence"], 0.05, 0.95)
        return {
            "prevalence": np.exp(state.log_prevalence),
            "ability": np.log(knows / (1.0 - knows)),
            "habit": state.population["guess"].mean(axis=0),
        }

    def sample_parameters(self, n_rows, n_labels, rng):
        raise NotImplementedError


@dataclass(frozen=True)
class Tight(am.models.LogisticRandomEffects):
    """Logistic random effects whose items differ little; its items have states."""

    item_scale: Scale = 0.3


@dataclass(frozen=True)
class HandMade(Lapsing):
    """Derived from nothing but Model, with a likelihood of its own: coders are alike."""

    name: ClassVar[str] = "hand-made"
    shared: ClassVar[bool] = True

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))

    def own_parameters(self, n_labels):
        return (Parameter("right", (), "unit"),)

    def build(self, codes, coords):
        import pymc as pm
        import pytensor.tensor as pt

        k = codes.n_labels
        with pm.Model(coords=coords) as model:
            prevalence = pm.Dirichlet("prevalence", self.prevalence.alpha(k), dims="truth")
            right = pm.Beta("right", 7.0, 3.0)
            rows = pt.where(np.eye(k, dtype=bool), right, (1.0 - right) / (k - 1))
            pm.Deterministic("confusion", rows, dims=("truth", "label"))
            joint = pt.log(prevalence)[None] + emission_logp(pt.log(rows)[None], codes, pt)
            pm.Potential("labels", clamped_logp(joint, codes))
        return model

    @property
    def starter(self):
        return am.models.Pooled(self.prevalence)

    def pymc_start(self, state):
        accuracy = float(np.exp(np.diagonal(state.log_confusion[0])).mean())
        return {"prevalence": np.exp(state.log_prevalence), "right": np.array(accuracy)}
