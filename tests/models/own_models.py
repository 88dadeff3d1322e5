"""Models that somebody defines outside the package, as docs/models/adding.md says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

import annomodels as am
from annomodels.models.base import Model
from annomodels.models.confusion import ConfusionModel
from annomodels.models.parameters import Parameter
from annomodels.models.states import SMALLEST, States, add_states, marginals
from annomodels.priors import Beta, Dirichlet, Scale


@dataclass(frozen=True)
class Neighbours(am.models.DawidSkene):
    """Dawid-Skene with rows that expect errors on the labels beside the right one."""

    name: ClassVar[str] = "neighbors"
    title: ClassVar[str] = "Dawid-Skene with neighbors"

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


@dataclass(frozen=True)
class Tight(am.models.LogisticRandomEffects):
    """Logistic random effects whose items differ little; its items have states."""

    item_scale: Scale = 0.3


@dataclass(frozen=True)
class HandMade(Lapsing):
    """Derived from nothing but Model: items are plain, or so hard that everybody guesses."""

    name: ClassVar[str] = "hand-made"

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    hard: Beta = field(default_factory=lambda: Beta(1.0, 9.0))

    def own_parameters(self, n_labels):
        return (
            Parameter("right", ("coder",), "unit", watched="", shown=True),
            Parameter("hard_share", (), "unit"),
        )

    def coords(self, labels):
        return {"state": [f"{label}/{kind}" for label in labels for kind in ("plain", "hard")]}

    def _states(self, prevalence, share, right, k, xp):
        """Shares [state] and rows [coder, state, label], for NumPy and PyTensor."""
        plain = xp.where(
            np.eye(k, dtype=bool), right[:, None, None], (1 - right[:, None, None]) / (k - 1)
        )
        rows = xp.stack([plain, xp.full_like(plain, 1.0 / k)], axis=2)
        shares = xp.stack([prevalence * (1.0 - share), prevalence * share], axis=1)
        return xp.reshape(shares, (2 * k,)), xp.reshape(rows, (rows.shape[0], 2 * k, k))

    def build(self, codes, coords):
        import pymc as pm
        import pytensor.tensor as pt

        k = codes.n_labels
        with pm.Model(coords=coords) as model:
            prevalence = pm.Dirichlet("prevalence", self.prevalence.alpha(k), dims="truth")
            share = pm.Beta("hard_share", *self.hard.counts)
            right = pm.Beta("right", 7.0, 3.0, dims="coder")
            shares, rows = self._states(prevalence, share, right, k, pt)
            log_truth = np.log(np.maximum(np.repeat(np.eye(k), 2, axis=0), SMALLEST))
            add_states(codes, pt.log(shares), pt.log(rows), log_truth)
        return model

    @property
    def starter(self):
        return am.models.OneCoin(self.prevalence)

    def pymc_start(self, state):
        return {
            "prevalence": np.exp(state.log_prevalence),
            "right": np.clip(state.population["accuracy"], 0.05, 0.95),
            "hard_share": np.array(0.1),
        }

    def n_states(self, n_labels):
        return 2 * n_labels

    def states(self, values):
        k = values["prevalence"].shape[1]
        parts = [
            self._states(p, s, r, k, np)
            for p, s, r in zip(
                values["prevalence"], values["hard_share"], values["right"], strict=True
            )
        ]
        share, rows = (np.stack(part) for part in zip(*parts, strict=True))
        truth = np.broadcast_to(np.repeat(np.eye(k), 2, axis=0), (len(share), 2 * k, k))
        hard = np.broadcast_to(np.tile([0.0, 1.0], k), share.shape)
        return States(share, rows, truth, {"hard": hard})

    def result_values(self, values):
        found = self.states({name: np.asarray(v)[None] for name, v in values.items()})
        _, confusion = marginals(found.share[0], found.emission[0], found.truth[0])
        return {**values, "confusion": confusion}
