"""Hierarchical Dawid-Skene: coders are drawn from a population that is estimated too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from annomodels.models.confusion import Floats, State
from annomodels.models.conjugate import ConjugateModel, dirichlet_logp
from annomodels.models.population import population_mode
from annomodels.priors import Diagonal, Dirichlet, LogNormal, Pareto, ScalePrior

__all__ = ["HierarchicalDawidSkene"]


@dataclass(frozen=True)
class HierarchicalDawidSkene(ConjugateModel):
    r"""Dawid-Skene with partial pooling: rows are Dirichlet around a population mean.

    .. math::

        m_k \sim Dir(\alpha_k), \quad s_k \sim p(s), \quad
        \theta_{j,k} \sim Dir(s_k m_k), \quad c_i \sim Cat(\pi), \quad
        y_n \sim Cat(\theta_{j_n, c_{i_n}})

    How alike the coders are (the concentration s) is estimated, so a coder with few labels borrows
    from the others exactly as much as the data support. The default model.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    population
        Prior of the population mean; a well anchored diagonal keeps classes from drifting.
    concentration
        Prior of the concentration of each row, in pseudo-labels.

    References
    ----------
    B. Carpenter (2008). Multilevel Bayesian models of categorical data annotation. Technical
    report, Alias-i. For two classes this is its beta-binomial model by coder.

    Examples
    --------
    >>> HierarchicalDawidSkene().population
    Diagonal(strength=300.0, accuracy=0.7, certainty=10.0)
    """

    name: ClassVar[str] = "hierarchical"
    title: ClassVar[str] = "hierarchical Dawid-Skene"
    citation: ClassVar[str] = "Carpenter (2008)"

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    population: Diagonal = field(default_factory=lambda: Diagonal(300.0, 0.7, 10.0))
    concentration: ScalePrior = field(default_factory=lambda: LogNormal(5.0, 0.7))

    @classmethod
    def carpenter(cls) -> HierarchicalDawidSkene:
        """Give the priors of Carpenter (2008): means uniform, concentrations Pareto(1.5).

        Examples
        --------
        >>> HierarchicalDawidSkene.carpenter().concentration
        Pareto(alpha=1.5, minimum=1.0)
        """
        return cls(Dirichlet(1.0), Diagonal(2.0, 0.5), Pareto(1.5, 1.0))

    def row_prior(self, state: State) -> Floats:
        """Dirichlet pseudo-counts of a confusion matrix, shape [truth, label]."""
        return state.population["concentration"][:, None] * state.population["population"]

    def anchor(self, state: State) -> Floats:
        """Dirichlet pseudo-counts of the population mean, shape [truth, label]."""
        prior = self.population
        if prior.estimated:
            prior = Diagonal(prior.strength, float(state.population["common_accuracy"]))
        return prior.alpha(len(state.log_prevalence))

    def start(self, counts: Floats, sizes: Floats) -> State:
        """Parameters from soft counts [row, label, truth] and class sizes [truth]."""
        prior = self.population
        accuracy = prior.accuracy
        if prior.estimated:
            # the share of right labels under the soft counts, weighed as the prior does
            right = np.einsum("jkk->", counts)
            accuracy = (right + prior.beta[0]) / (counts.sum() + prior.certainty)
        anchor = Diagonal(prior.strength, float(accuracy)).alpha(len(sizes))
        mean, concentration = population_mode(counts, anchor, self.concentration)
        population = {"population": mean, "concentration": concentration}
        if prior.estimated:
            population["common_accuracy"] = np.array(accuracy)
        return self.with_mode(counts, sizes, concentration[:, None] * mean, population)

    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        """M-step with the population held: the mode given expected counts."""
        return self.with_mode(counts, sizes, self.row_prior(state), state.population)

    def draw(self, counts: Floats, sizes: Floats, state: State, key: int, iteration: int) -> None:
        """Gibbs step in place: the population with the rows integrated out, then the rows."""
        from annomodels.kernels.dirichlet import draw_confusion, draw_prevalence
        from annomodels.kernels.population import draw_accuracy, draw_population

        k = len(sizes)
        mean, concentration = state.population["population"], state.population["concentration"]
        scale = np.array(self.concentration.coefficients())
        draw_population(counts, self.anchor(state), scale, 1, key, iteration, mean, concentration)
        if self.population.estimated:
            common = state.population["common_accuracy"]
            common[()] = draw_accuracy(
                mean, *self.population.beta, self.population.strength, key, iteration, float(common)
            )
        draw_prevalence(sizes, self.prevalence.alpha(k), key, iteration, state.log_prevalence)
        draw_confusion(counts, self.row_prior(state), key, iteration, state.log_confusion)

    def log_population_prior(self, state: State) -> float:
        """Log density of the population parameters."""
        mean, concentration = state.population["population"], state.population["concentration"]
        value = dirichlet_logp(np.log(mean), self.anchor(state))
        value += float(self.concentration.logp(concentration).sum())
        if self.population.estimated:
            a = float(state.population["common_accuracy"])
            right, wrong = self.population.beta
            value += float(xlogy(right - 1, a) + xlog1py(wrong - 1, -a) - betaln(right, wrong))
        return value

    def sample_parameters(self, n_rows: int, n_labels: int, rng: np.random.Generator) -> State:
        """Draw parameters from the prior."""
        prior, population = self.population, {}
        if prior.estimated:
            population["common_accuracy"] = np.array(rng.beta(*prior.beta))
            prior = Diagonal(prior.strength, float(population["common_accuracy"]))
        mean = np.stack([rng.dirichlet(a) for a in prior.alpha(n_labels)])
        concentration = self.concentration.sample(rng, (n_labels,))
        alpha = concentration[:, None] * mean
        tiny = np.finfo(float).tiny
        rows = np.stack([rng.dirichlet(a, n_rows) for a in alpha], axis=2)
        prevalence = rng.dirichlet(self.prevalence.alpha(n_labels))
        population |= {"population": mean, "concentration": concentration}
        return State(np.log(prevalence), np.log(np.maximum(rows, tiny)), population)

    def pymc_log_confusion(self, n_labels: int) -> Any:
        """Log confusion [row, truth, label] as a tensor, with its priors; in a model context."""
        import pymc as pm
        import pytensor.tensor as pt

        prior = self.population
        anchor: Any = prior.alpha(n_labels)
        if prior.estimated:
            accuracy = pm.Beta("common_accuracy", *prior.beta)
            off = (1.0 - accuracy) / (n_labels - 1)
            anchor = prior.strength * pt.where(np.eye(n_labels, dtype=bool), accuracy, off)
        mean = pm.Dirichlet("population", a=anchor, dims=("truth", "label"))
        concentration = self.concentration.pymc("concentration", dims="truth")
        alpha = (concentration[:, None] * mean)[None]
        confusion = pm.Dirichlet("confusion", a=alpha, dims=("coder", "truth", "label"))
        return pt.log(confusion)

    def describe(self) -> list[str]:
        """Story and priors in sentences."""
        match self.concentration:
            case LogNormal(median=median, spread=spread):
                scale = f"log-normal with median {median:g} and log-scale spread {spread:g}"
            case Pareto(alpha=alpha, minimum=minimum):
                scale = f"Pareto with tail index {alpha:g} from {minimum:g} upwards"
        return [
            "Every item has one true class; every coder has a confusion matrix of their own, "
            "drawn from a population of coders whose mean and spread are estimated too.",
            f"Prevalence: Dirichlet with {self.prevalence.concentration:g} pseudo-counts a class.",
            f"Population mean of each row: Dirichlet with {self.population.strength:g} "
            f"pseudo-counts, {self._centre()} of them on the right label.",
            f"Concentration of the coders around it: {scale}.",
        ]

    def _centre(self) -> str:
        prior = self.population
        if not prior.estimated:
            return f"{prior.accuracy:.0%}"
        right, wrong = prior.beta
        return f"an estimated share (Beta({right:g}, {wrong:g}), the same for all classes)"
