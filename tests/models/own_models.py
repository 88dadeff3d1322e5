"""Models that somebody defines outside the package, as docs/models/adding.md says."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

import annomodels as am
from annomodels.models.base import Model
from annomodels.models.confusion import ConfusionModel
from annomodels.models.parameters import Parameter
from annomodels.models.states import ItemStates
from annomodels.priors import Beta, Dirichlet, Scale
from annomodels.priors.distributions import DirichletRows, Normal


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
    """What two models have in common that has no name: fields and a story."""

    def story(self):
        return ["Every item has one true class.", "Coders know it or guess.", "Guesses are alike."]


@dataclass(frozen=True)
class Knowing(Lapsing, ConfusionModel):
    """By NUTS only: coders know with an ability of their own, or guess by a common habit."""

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    spread: Scale = 1.0

    def variables(self, n_labels):
        habit = DirichletRows(np.full(n_labels, 2.0))
        ability = Normal(1.0, self.spread)
        return (
            *super().variables(n_labels),
            Parameter("ability", ("coder",), watched="", shown=True, prior=ability),
            Parameter("habit", ("label",), "simplex", prior=habit),
        )

    def log_rows(self, v):
        knows = 1.0 / (1.0 + v.xp.exp(-v["ability"][:, None, None]))
        return v.xp.log(knows * np.eye(v.n_labels) + (1.0 - knows) * v["habit"])

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

    def variables(self, n_labels):
        right = Beta(7.0, 3.0)
        return (
            *super().variables(n_labels),
            Parameter("right", ("coder",), "unit", watched="", prior=right, shown=True),
            Parameter("hard_share", (), "unit", prior=self.hard),
        )

    def coords(self, labels):
        return {"state": [f"{label}/{kind}" for kind in ("plain", "hard") for label in labels]}

    def item_states(self, v):
        k, right, hard = v.n_labels, v["right"][:, None, None], v["hard_share"]
        plain = v.xp.where(np.eye(k, dtype=bool), right, (1.0 - right) / (k - 1))
        rows = v.xp.concatenate([plain, v.xp.full_like(plain, 1.0 / k)], axis=1)
        share = v.xp.concatenate([v["prevalence"] * (1.0 - hard), v["prevalence"] * hard])
        truth = np.vstack([np.eye(k), np.eye(k)])
        is_hard = np.repeat([0.0, 1.0], k)
        return ItemStates(v.xp.log(share), truth, emission=rows, values={"hard": is_hard})

    @property
    def starter(self):
        return am.models.OneCoin(self.prevalence)

    def pymc_start(self, state):
        return {
            "prevalence": np.exp(state.log_prevalence),
            "right": np.clip(state.population["accuracy"], 0.05, 0.95),
            "hard_share": np.array(0.1),
        }
