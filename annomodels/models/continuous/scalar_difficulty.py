"""Scalar difficulty: items differ in difficulty, coders in ability."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.base import State, n_states
from annomodels.models.continuous.centring import PartlyCentred
from annomodels.models.continuous.difficulty_rows import (
    leaning_parameters,
    log_rows,
    start_values,
)
from annomodels.models.continuous.item_covariates import HardnessRegressed
from annomodels.models.continuous.quadrature import normal_nodes
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.parameters import Known, Parameter, Variables
from annomodels.models.states import ItemStates, States
from annomodels.priors import (
    Beta,
    Covariates,
    Diagonal,
    Dirichlet,
    HalfNormal,
    LogNormal,
    NonNegative,
    Probability,
    Scale,
)
from annomodels.priors.distributions import TruncatedNormal, ZeroSumNormal
from annomodels.types import Floats, TensorLike

# argument of `log_rows` -> variable of the result
ROLES = {"leaning": "leaning", "slope": "discrimination", "guess": "guessing"}


@dataclass(frozen=True)
class ScalarDifficulty(HardnessRegressed):
    r"""Hierarchical Dawid-Skene with an item difficulty that lowers the accuracy of all coders.

    .. math::

        c_i \sim Cat(\pi), \quad \delta_i \sim N(0, \rho_{c_i}^2), \quad
        \gamma_{j,k} \sim N(\mu_k, \sigma_k^2), \quad
        P(y_n = l \mid c_i = k) \propto
        \begin{cases} \exp(\gamma_{j,k} - a_j \delta_i) & l = k \\
        \exp(\epsilon_{j,k,l}) & l \ne k \end{cases}

    The leanings :math:`\epsilon_{j,k,l}` of a row sum to zero over the wrong labels and are also
    pooled, so no label is a reference, and the ability :math:`\gamma` is the log-odds of the right
    label relative to a typical wrong label. With two labels, there are no leanings, and P(correct)
    is :math:`logit^{-1}(\gamma_{j,k} - \delta_i)`, the logistic model of Carpenter (2008). The mean
    of :math:`\mu` over the classes is positive (sensitivity above minus specificity on the logit
    scale, as in Han et al.), so classes cannot swap. Difficulty is integrated out by Gauss-Hermite
    quadrature and recovered for each item afterwards.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    accuracy
        Accuracy of a typical coder on an item of difficulty 0, the center of the prior.
    level_spread
        Standard deviation, in logits, of the mean of :math:`\mu` over the classes, truncated at 0.
    contrast_spread
        Standard deviation of the class contrasts, which sum to zero over the classes.
    ability_spread
        Scale of the half-normal priors of :math:`\sigma_k`.
    difficulty
        Scale of the half-normal priors of :math:`\rho_k`, or the value of a fixed :math:`\rho_k`.
    difficulty_fixed
        Whether :math:`\rho_k` is fixed; with a difficulty of 0, items are identical.
    by_class
        Whether each class has a separate spread of difficulties; the default is a common spread,
        which is better identified with few coders.
    leaning_spread
        Standard deviation of the mean leanings, and scale of the half-normal prior of the coders'
        spread around them; for three or more labels.
    discrimination
        Standard deviation of :math:`\log a_j`; 0 fixes :math:`a_j = 1`. (Two-parameter model.)
    guessing
        Prior of the probability g_k of a correct guess at any difficulty, P(correct) =
        g_k + (1 - g_k) P(correct | not guessed); None for no guessing. (Three-parameter model.)
    nodes
        Number of quadrature nodes.
    coder_covariates
        Covariates of the coders, as for :class:`LogisticRandomEffects`: abilities are normal around
        :math:`\mu_k + \sum_t x_{j,t} \gamma_t`.
    item_covariates
        Covariates of the items, in the same formats with "item" for "coder": difficulties are
        normal around :math:`\sum_t x_{i,t} \beta_t`. The prevalence does not depend on them.

    References
    ----------
    B. Carpenter (2008). Multilevel Bayesian models of categorical data annotation. Technical
    report, Alias-i.

    E. Han, J. Adiguzel and B. Carpenter (2024), on crowdsourced ratings with item effects.

    Examples
    --------
    >>> ScalarDifficulty().engines
    ('nuts',)
    >>> ScalarDifficulty.carpenter(difficulty=1.0).difficulty_fixed
    True
    """

    name: ClassVar[str] = "scalar-difficulty"
    title: ClassVar[str] = "scalar difficulty"
    citation: ClassVar[str] = "Carpenter (2008)"
    family: ClassVar[str] = "hardness"
    swappable: ClassVar[bool] = False

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    accuracy: Probability = 0.7
    level_spread: Scale = 1.0
    contrast_spread: Scale = 0.75
    ability_spread: Scale = 1.0
    difficulty: NonNegative = 1.0
    difficulty_fixed: bool = False
    by_class: bool = False
    leaning_spread: Scale = 0.5
    discrimination: NonNegative = 0.0
    guessing: Beta | None = None
    nodes: int = 21
    coder_covariates: Covariates | None = None
    item_covariates: Covariates | None = None

    @classmethod
    def carpenter(cls, difficulty: float | None = None) -> ScalarDifficulty:
        """Return vague priors for two labels: the model of Carpenter (2008) without bounds.

        Parameters
        ----------
        difficulty
            Fixed spread of the difficulties; None estimates it for each class.

        Examples
        --------
        >>> ScalarDifficulty.carpenter().level_spread
        10.0
        """
        vague = 10.0
        scale = vague if difficulty is None else difficulty
        return cls(
            accuracy=0.5,
            level_spread=vague,
            contrast_spread=vague,
            ability_spread=vague,
            difficulty=scale,
            difficulty_fixed=difficulty is not None,
            by_class=True,
        )

    # -- names -----------------------------------------------------------------------------------

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        along = ("truth",) if self.by_class else ()
        hard, tilt = HalfNormal(self.difficulty or 1.0), LogNormal(1.0, self.discrimination or 1.0)
        level = TruncatedNormal(self.centre(n_labels), self.level_spread / math.sqrt(n_labels))
        words = f"{self.difficulty:g} logits, fixed"
        if not self.difficulty_fixed:
            words = f"half-normal with scale {self.difficulty:g} logits"

        def abilities(v: Variables) -> PartlyCentred:
            mean = v["mean_ability"][..., None, :]
            if self.coder_covariates is not None:
                mean = mean + self.effect_of(v)[..., None]
            return PartlyCentred(mean, v["ability_scale"][..., None, :], v.codes)

        out = [
            *super().variables(n_labels),
            Parameter("ability", ("coder", "truth"), watched="", prior=abilities),
            Parameter(
                "mean_ability", ("truth",),
                follows=lambda v: v["level"][..., None] + v["contrast"],
                about=f"Population of abilities: normal around {100 * self.accuracy:.0f} % on the "
                f"right label, with spread {self.level_spread:g} logits together and "
                f"{self.contrast_spread:g} between the classes; their mean over the classes is "
                "better than chance.",
            ),
            Parameter(
                "ability_scale", ("truth",), "positive", prior=HalfNormal(self.ability_spread),
                about=f"Spread of the coders: half-normal with scale {self.ability_spread:g} "
                f"logits. Spread of the difficulties: {words}.",
            ),
            Parameter("level", (), "positive", prior=level, kept=False, correlated=True),
            Parameter(
                "contrast", ("truth",), "zero-sum", prior=ZeroSumNormal(self.contrast_spread),
                kept=False,
            ),
        ]  # fmt: skip
        if not self.difficulty_fixed:
            out.append(Parameter("difficulty_scale", along, "positive", prior=hard))
        if n_labels > 2:
            out += leaning_parameters(n_labels, self.leaning_spread)
        if self.discrimination:
            about = (
                "Difficulty affects coders to different degrees: log discrimination is normal with "
                f"spread {self.discrimination:g}."
            )
            out.append(Parameter("discrimination", ("coder",), "positive", prior=tilt, about=about))
        if self.guessing is not None:
            about = f"Labels that are right by guessing: share with prior {self.guessing.in_words}."
            out.append(Parameter("guessing", ("truth",), "unit", prior=self.guessing, about=about))
        return (*out, *self.effect_parameters)

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        nodes = [f"{x:.2f}" for x in self.quadrature[0]]
        if self.item_covariates is not None:  # the points depend on the items
            nodes = [str(n) for n in range(1, self.n_points + 1)]
        state = [f"{label}/{x}" for label in labels for x in nodes]
        wrong = {"wrong": [str(n) for n in range(1, len(labels))]} if len(labels) > 2 else {}
        return {"state": state, **wrong, **self.effect_coords}

    @property
    def quadrature(self) -> tuple[Floats, Floats]:
        """Quadrature nodes and weights of the standardized difficulty."""
        none = self.difficulty_fixed and self.difficulty == 0
        return normal_nodes(1 if none else self.nodes)

    def centre(self, n_labels: int) -> float:
        """Return the prior mean of the mean ability, in logits."""
        return math.log(self.accuracy * (n_labels - 1) / (1.0 - self.accuracy))

    # -- states of an item -----------------------------------------------------------------------

    def item_states(self, v: Variables) -> ItemStates:
        k, size = v.n_labels, n_states(self, v.n_labels)
        scale = np.asarray(self.difficulty) if self.difficulty_fixed else v["difficulty_scale"]
        if self.item_covariates is None:
            nodes, weights = self.quadrature
            hard, log_weight = (scale * np.ones(k))[:, None] * nodes, np.log(weights)
        else:
            hard, log_weight = self.points_of(v, scale)
        share = v.xp.log(v["prevalence"])[:, None] + log_weight
        return ItemStates(
            v.xp.reshape(share, (size,) if share.ndim == 2 else (-1, size)),
            np.repeat(np.eye(k), size // k, axis=0),
            self._log_emission(v, hard),
            values={} if v.codes else {"difficulty": np.ravel(hard)},
        )

    def _log_emission(self, v: Variables, hard: TensorLike) -> TensorLike:
        """Return log P(label | state) [coder, state, label] for difficulties [truth, point]."""
        own = {role: v[name] for role, name in ROLES.items() if name in v}
        logp = log_rows(v["ability"], hard, v.n_labels, v.xp, **own)
        return v.xp.reshape(logp, (logp.shape[0], n_states(self, v.n_labels), v.n_labels))

    # -- PyMC ------------------------------------------------------------------------------------

    @property
    def starter(self) -> HierarchicalDawidSkene:
        return HierarchicalDawidSkene(self.prevalence, Diagonal(300.0, 0.7, 10.0))

    def pymc_start(self, state: State) -> dict[str, Floats]:
        values = {**start_values(state), **self.effect_start}
        if not self.difficulty_fixed:
            start = min(0.8 * self.difficulty, 1.0)
            classes = (len(state.log_prevalence),) if self.by_class else ()
            values["difficulty_scale"] = np.full(classes, start)
        if self.discrimination:
            values["discrimination"] = np.ones(len(state.log_confusion))
        if self.guessing is not None:
            k = len(state.log_prevalence)
            values["guessing"] = np.full(k, min(max(self.guessing.mean, 0.02), 0.98))
        return values

    # -- derived from draws ----------------------------------------------------------------------

    def pymc_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        mean = values["mean_ability"]
        level = mean.mean(axis=-1, keepdims=True)
        found = {**values, "level": level[:, 0], "contrast": mean - level}
        if "leaning" not in values:
            return found
        off = ~np.eye(values["leaning"].shape[-1], dtype=bool)
        own, common = (
            values[name][..., off].reshape(*values[name].shape[:-1], -1)
            for name in ("leaning", "mean_leaning")
        )
        z = (own - common[:, None]) / values["leaning_scale"][:, None, :, None]
        return {**found, "preference": common, "z": z}

    def states(self, values: dict[str, Floats]) -> States:
        if self.item_covariates is None:
            found = super().states(values)
            assert found is not None
            return found
        prevalence = values["prevalence"]
        draws, k = prevalence.shape
        scale = values.get("difficulty_scale", np.full(draws, self.difficulty)).reshape(draws, -1)
        kinds, share, hard = self.kinds_of(values["item_effect"], scale, prevalence)
        declared = self.variables(k)
        of_draw = ({name: v[d] for name, v in values.items()} for d in range(draws))
        emission = np.exp(
            [
                self._log_emission(Known(declared, k, v), h)
                for v, h in zip(of_draw, hard, strict=True)
            ]
        )
        truth = np.repeat(np.eye(k), n_states(self, k) // k, axis=0)
        difficulty = {"difficulty": hard.reshape(draws, -1)}
        return States(
            share, emission, np.broadcast_to(truth, (draws, *truth.shape)), difficulty, kinds
        )

    def story(self) -> list[str]:
        return [
            "Every item has one true class and a difficulty; every coder has an ability for each "
            "class, drawn from a population that is estimated too. The log-odds of the right "
            "label are ability minus difficulty."
        ]
