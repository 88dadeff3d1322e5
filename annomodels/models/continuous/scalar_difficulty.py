"""Scalar difficulty: items differ in how hard they are, coders in how able they are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from annomodels.models.base import State
from annomodels.models.continuous.centring import centred_share, of_each, partly_centred
from annomodels.models.continuous.density import Density
from annomodels.models.continuous.difficulty_rows import (
    drawn_leanings,
    leaning_priors,
    log_rows,
    start_values,
)
from annomodels.models.continuous.item_covariates import HardnessRegressed
from annomodels.models.continuous.quadrature import normal_nodes
from annomodels.models.encoded import Encoded
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.observed import observed
from annomodels.models.parameters import Parameter
from annomodels.models.states import States, add_states, marginals
from annomodels.priors import Beta, Covariates, Diagonal, Dirichlet, NonNegative, Probability, Scale
from annomodels.types import Floats, PyMCModel

# what the variables of the result are to the rows
ROLES = {"leaning": "leaning", "slope": "discrimination", "guess": "guessing"}


@dataclass(frozen=True)
class ScalarDifficulty(HardnessRegressed):
    r"""Hierarchical Dawid-Skene whose items have a difficulty that lowers everybody's accuracy.

    .. math::

        c_i \sim Cat(\pi), \quad \delta_i \sim N(0, \rho_{c_i}^2), \quad
        \gamma_{j,k} \sim N(\mu_k, \sigma_k^2), \quad
        P(y_n = l \mid c_i = k) \propto
        \begin{cases} \exp(\gamma_{j,k} - a_j \delta_i) & l = k \\
        \exp(\epsilon_{j,k,l}) & l \ne k \end{cases}

    The leanings :math:`\epsilon_{j,k,l}` of a row sum to zero over the wrong labels and are pooled
    too, so no label plays a special part and the ability :math:`\gamma` is the log-odds of the
    right label against a typical wrong one. With two labels they vanish, and P(correct) is
    :math:`logit^{-1}(\gamma_{j,k} - \delta_i)`, the logistic model of Carpenter (2008).
    The mean of :math:`\mu` over the classes is positive (sensitivity above minus specificity on
    the logit scale, as in Han et al.), so classes cannot swap. Difficulty is integrated out by
    Gauss-Hermite quadrature and recovered for every item afterwards.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    accuracy
        Accuracy of a typical coder on an item of difficulty 0 around which the prior is centred.
    level_spread
        Standard deviation, in logits, of the mean of :math:`\mu` over the classes, cut off at 0.
    contrast_spread
        Standard deviation of what sets the classes apart (summing to zero over them).
    ability_spread
        Scale of the half-normal priors of :math:`\sigma_k`.
    difficulty
        Scale of the half-normal priors of :math:`\rho_k`, or its value where it is fixed.
    difficulty_fixed
        Whether :math:`\rho_k` is fixed; with difficulty 0 items are alike.
    by_class
        Whether classes have a spread of difficulties each; by default they share one, which labels
        of few coders tell better from the prevalence.
    leaning_spread
        Standard deviation of the mean leanings, and scale of the half-normal prior of the coders'
        spread around them; three labels or more.
    discrimination
        Standard deviation of :math:`\log a_j`; 0 holds :math:`a_j = 1`. (Two-parameter model.)
    guessing
        Prior of the share g_k of labels that are right whatever the difficulty, P(correct) =
        g_k + (1 - g_k) P(correct | not guessed); None for none. (Three-parameter model.)
    nodes
        Nodes of the quadrature.
    coder_covariates
        What is known of the coders, as for :class:`LogisticRandomEffects`: their abilities are
        normal around :math:`\mu_k + \sum_t x_{j,t} \gamma_t`.
    item_covariates
        What is known of the items, in the same forms with "item" for "coder": their difficulties
        are normal around :math:`\sum_t x_{i,t} \beta_t`. The prevalence does not depend on it.

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
    correlated: ClassVar[bool] = True

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
            Fixed scale of the difficulties; None estimates it for each class.

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

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare abilities and difficulties, and what the options of the model add to them."""
        out = [
            Parameter("ability", ("coder", "truth"), watched=""),
            Parameter("mean_ability", ("truth",)),
            Parameter("ability_scale", ("truth",), "positive"),
        ]
        if not self.difficulty_fixed:
            dims = ("truth",) if self.by_class else ()
            out.append(Parameter("difficulty_scale", dims, "positive"))
        if n_labels > 2:
            out += [
                Parameter("leaning", ("coder", "truth", "label"), watched=""),
                Parameter("mean_leaning", ("truth", "label")),
                Parameter("leaning_scale", ("truth",), "positive"),
            ]
        if self.discrimination:
            out.append(Parameter("discrimination", ("coder",), "positive"))
        if self.guessing is not None:
            out.append(Parameter("guessing", ("truth",), "unit"))
        return (*out, *self.effect_parameters)

    def auxiliary_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the free variables of the PyMC model of which nothing is kept."""
        return (
            Parameter("level", (), "positive"),
            Parameter("contrast", ("truth",), "zero-sum"),
            Parameter("preference", ("truth", "wrong"), "zero-sum"),
            Parameter("z", ("coder", "truth", "wrong"), "zero-sum"),
        )

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Names along the dimensions that only this model has."""
        nodes = [f"{x:.2f}" for x in self.quadrature[0]]
        if self.item_covariates is not None:  # they move with the items
            nodes = [str(n) for n in range(1, self.n_points + 1)]
        state = [f"{label}/{x}" for label in labels for x in nodes]
        return {"state": state, **self.effect_coords}

    @property
    def quadrature(self) -> tuple[Floats, Floats]:
        """Nodes and weights of the standardized difficulty."""
        none = self.difficulty_fixed and self.difficulty == 0
        return normal_nodes(1 if none else self.nodes)

    def centre(self, n_labels: int) -> float:
        """Prior mean of the mean ability, in logits."""
        return math.log(self.accuracy * (n_labels - 1) / (1.0 - self.accuracy))

    # -- PyMC ------------------------------------------------------------------------------------

    def build(self, codes: Encoded, coords: dict[str, list[str]]) -> PyMCModel:
        """Build the PyMC model with truth and difficulty summed out."""
        import pymc as pm
        import pytensor.tensor as pt

        k = codes.n_labels
        nodes, weights = self.quadrature
        with pm.Model(coords=coords) as model:
            prevalence = pm.Dirichlet("prevalence", a=self.prevalence.alpha(k), dims="truth")
            mu = self.level_spread / math.sqrt(k)
            level = pm.TruncatedNormal("level", mu=self.centre(k), sigma=mu, lower=0.0)
            contrast = pm.ZeroSumNormal("contrast", sigma=self.contrast_spread, dims="truth")
            mean = pm.Deterministic("mean_ability", level + contrast, dims="truth")
            scale = pm.HalfNormal("ability_scale", sigma=self.ability_spread, dims="truth")
            centred = observed("centred_share", centred_share(codes))[:, None]
            explained = self.pymc_effect()
            expected = mean[None] if explained is None else mean[None] + explained[:, None]
            ability = pm.Normal(
                "ability",
                mu=of_each(expected, centred),
                sigma=scale[None],
                dims=("coder", "truth"),
                transform=partly_centred(centred),
            )
            rho: Any = pt.as_tensor_variable(self.difficulty)
            if not self.difficulty_fixed:
                along = "truth" if self.by_class else None
                rho = pm.HalfNormal("difficulty_scale", sigma=self.difficulty, dims=along)
            hard, log_weight = (rho * np.ones(k))[:, None] * nodes, np.log(weights)
            if self.item_covariates is not None:
                hard, log_weight = self.pymc_points(rho, k)
            tilt, slope = self.discrimination, None
            if tilt:
                slope = pm.LogNormal("discrimination", mu=0.0, sigma=tilt, dims="coder")
            own = self.guessing
            guess = None if own is None else pm.Beta("guessing", *own.counts, dims="truth")
            leaning = leaning_priors(k, self.leaning_spread) if k > 2 else None
            logp = log_rows(ability, hard, k, pt, leaning=leaning, slope=slope, guess=guess)
            share, n_states = pt.log(prevalence)[:, None] + log_weight, self.n_states(k)
            log_truth = np.log(np.maximum(np.repeat(np.eye(k), n_states // k, axis=0), 1e-300))
            add_states(
                codes,
                pt.reshape(share, (n_states,) if share.ndim == 2 else (-1, n_states)),
                pt.reshape(logp, (codes.n_rows, n_states, k)),
                log_truth,
            )
        return model

    @property
    def starter(self) -> HierarchicalDawidSkene:
        """The conjugate model whose mode is the starting point."""
        return HierarchicalDawidSkene(self.prevalence, Diagonal(300.0, 0.7, 10.0))

    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Values of the PyMC variables that correspond to a state of the starting model."""
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

    def density(self, codes: Encoded) -> Density | None:
        """Return the posterior in compiled loops, for this class but not for derived ones."""
        if type(self) is not ScalarDifficulty or self.coder_covariates is not None:
            return None
        from annomodels.models.continuous.difficulty_density import DifficultyDensity

        return DifficultyDensity(self, codes)

    # -- what follows from draws -----------------------------------------------------------------

    def prior_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Add what the mean abilities are made of."""
        mean = values["mean_ability"]
        level = mean.mean(axis=-1, keepdims=True)
        return {**values, "level": level[:, 0], "contrast": mean - level}

    def pymc_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Add those of the mean abilities, and standardized leanings."""
        found = self.prior_values(values)
        if "leaning" not in values:
            return found
        off = ~np.eye(values["leaning"].shape[-1], dtype=bool)
        own, common = (
            values[name][..., off].reshape(*values[name].shape[:-1], -1)
            for name in ("leaning", "mean_leaning")
        )
        z = (own - common[:, None]) / values["leaning_scale"][:, None, :, None]
        return {**found, "preference": common, "z": z}

    def result_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Turn one draw of the PyMC variables into the variables of the result."""
        found = self.states({name: np.asarray(v)[None] for name, v in values.items()})
        prevalence, confusion = marginals(found.share[0], found.emission[0], found.truth[0])
        return {**values, "prevalence": prevalence, "confusion": confusion}

    def n_states(self, n_labels: int) -> int:
        """Return the number of states an item may be in."""
        points = len(self.quadrature[0]) if self.item_covariates is None else self.n_points
        return n_labels * points

    def states(self, values: dict[str, Floats]) -> States:
        """States of the items: a class and a node of the difficulty."""
        prevalence, ability = values["prevalence"], values["ability"]
        draws, n_coders, k = ability.shape
        n_states = self.n_states(k)
        scale = values.get("difficulty_scale", np.full(draws, self.difficulty))
        scale, kinds = scale.reshape(draws, -1), None
        if self.item_covariates is None:
            nodes, weights = self.quadrature
            hard = (scale * np.ones(k))[:, :, None] * nodes
            share = (prevalence[:, :, None] * weights).reshape(draws, n_states)
        else:
            kinds, share, hard = self.kinds_of(values["item_effect"], scale, prevalence)
        emission = np.empty((draws, n_coders, n_states, k))
        for d in range(draws):
            own = {role: values[name][d] for role, name in ROLES.items() if name in values}
            logp = log_rows(ability[d], hard[d], k, np, **own)
            emission[d] = np.exp(logp).reshape(n_coders, n_states, k)
        of_class = np.repeat(np.eye(k), n_states // k, axis=0)
        truth = np.broadcast_to(of_class, (draws, n_states, k))
        found = {"difficulty": hard.reshape(draws, n_states)}
        return States(share, emission, truth, found, kinds)

    def sample_values(
        self, n_coders: int, n_labels: int, rng: np.random.Generator
    ) -> dict[str, Floats]:
        """Draw the variables of the result from the prior."""
        k = n_labels
        level = -1.0
        while level < 0:
            level = rng.normal(self.centre(k), self.level_spread / math.sqrt(k))
        contrast = rng.normal(0.0, self.contrast_spread, k)
        mean = level + contrast - contrast.mean()
        scale = np.abs(rng.normal(0.0, self.ability_spread, k))
        values: dict[str, Floats] = {
            "prevalence": rng.dirichlet(self.prevalence.alpha(k)),
            "mean_ability": mean,
            "ability_scale": scale,
            "ability": rng.normal(mean, scale, (n_coders, k)),
        }
        values |= self.drawn_effects(rng)
        if (known := self.coder_covariates) is not None:
            values["ability"] += (np.array(known.design) @ values["coder_effect"])[:, None]
        if not self.difficulty_fixed:
            classes = k if self.by_class else None
            values["difficulty_scale"] = np.abs(rng.normal(0.0, self.difficulty, classes))
        if k > 2:
            values |= drawn_leanings(n_coders, k, self.leaning_spread, rng)
        if self.discrimination:
            values["discrimination"] = rng.lognormal(0.0, self.discrimination, n_coders)
        if self.guessing is not None:
            values["guessing"] = rng.beta(self.guessing.a, self.guessing.b, k)
        return self.result_values(values)

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        out = [
            "Every item has one true class and a difficulty; every coder has an ability for each "
            "class, drawn from a population that is estimated too. The log-odds of the right "
            "label are ability minus difficulty.",
            f"Prevalence: {self.prevalence.in_words}.",
            f"Population of abilities: normal around {100 * self.accuracy:.0f} % on the right "
            "label, with "
            f"spread {self.level_spread:g} logits together and {self.contrast_spread:g} between "
            "the classes; their mean over the classes is better than chance.",
            f"Spread of the coders: half-normal with scale {self.ability_spread:g} logits.",
        ]
        if self.difficulty_fixed:
            out.append(f"Spread of the difficulties: {self.difficulty:g} logits, fixed.")
        else:
            spread = f"half-normal with scale {self.difficulty:g} logits"
            out.append(f"Spread of the difficulties: {spread}.")
        if self.discrimination:
            out.append(
                "Coders feel difficulty more or less: log discrimination is normal with spread "
                f"{self.discrimination:g}."
            )
        if self.guessing is not None:
            a, b = self.guessing.a, self.guessing.b
            out.append(f"Labels that are right by a guess: a share with prior Beta({a:g}, {b:g}).")
        return [*out, *self.effect_story]
