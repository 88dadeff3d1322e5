"""Hierarchical Dawid-Skene: coders are drawn from a population that is estimated too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from annomodels.models.confusion import Floats, State
from annomodels.models.conjugate import ConjugateModel
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

    def source(self, state: State) -> Any:
        """Give the population as the kernels take it, see ``kernels.rows``."""
        from annomodels.kernels.rows import Population

        held, prior = state.population, self.population
        accuracy, beta = np.array([prior.accuracy]), (1.0, 1.0)
        if prior.estimated:
            accuracy, beta = held["common_accuracy"].reshape(1), prior.beta
        numbers = np.array([prior.strength, *beta, float(prior.estimated)])
        scale = np.array(self.concentration.coefficients())
        return Population(held["population"], held["concentration"], accuracy, scale, numbers)

    def start(self, counts: Floats, sizes: Floats) -> State:
        """Parameters from soft counts [row, label, truth] and class sizes [truth]."""
        from annomodels.models.population import population_mode

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
        return [
            "Every item has one true class; every coder has a confusion matrix of their own, "
            "drawn from a population of coders whose mean and spread are estimated too.",
            f"Prevalence: Dirichlet with {self.prevalence.concentration:g} pseudo-counts a class.",
            f"Population mean of each row: Dirichlet with {self.population.strength:g} "
            f"pseudo-counts, {self._centre()} of them on the right label.",
            f"Concentration of the coders around it: {self.concentration.in_words}.",
        ]

    def _centre(self) -> str:
        prior = self.population
        if not prior.estimated:
            return f"{prior.accuracy:.0%}"
        right, wrong = prior.beta
        return f"an estimated share (Beta({right:g}, {wrong:g}), the same for all classes)"
