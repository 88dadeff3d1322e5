"""Hierarchical Dawid-Skene: coders are drawn from a population that is estimated too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.models.base import DrawsOf, Earlier, State
from annomodels.models.conjugate import ConjugateModel, each_draw, shares_logp
from annomodels.models.observed import observed
from annomodels.models.parameters import ExpectedAccuracy, Parameter
from annomodels.priors import (
    CoderRows,
    Diagonal,
    Dirichlet,
    LogNormal,
    Pareto,
    ProperRows,
    Rows,
    ScalePrior,
)
from annomodels.priors.shares import as_table, dirichlet_logp, dirichlet_rows, inside
from annomodels.types import AnyArray, Floats, Ints, Places, Tensor

if TYPE_CHECKING:
    from annomodels.kernels.rows import Populations

# change of the log of a strength from which the mode of its row is sought again
LOOSE = 0.3
# variables of the population that single precision may round to 0 or 1
SHARES = "population", "common_accuracy"


@dataclass(frozen=True)
class HierarchicalDawidSkene(ConjugateModel):
    r"""Dawid-Skene with partial pooling: rows are Dirichlet around a population mean.

    .. math::

        a \sim Beta, \quad m_k \sim Dir(t_k\, e_k(a)), \quad
        s_k \sim p(s), \quad \theta_{j,k} \sim Dir(s_k m_k), \quad c_i \sim Cat(\pi), \quad
        y_n \sim Cat(\theta_{j_n, c_{i_n}})

    How alike the coders are (the concentration s) is estimated, so a coder with few labels borrows
    from the others exactly as much as the data support. The mean row of a class is held near e(a),
    which has the accuracy a that all classes share on its diagonal and uniform errors. Its strength
    t is 300 by default, so that classes do not drift to where no label names them; with a spread,
    ``Diagonal(300.0, 0.7, 10.0, spread=1.0)``, it is estimated for each class, and falls where the
    labels say plainly that most coders take the class for its neighbor. It is what is fitted by
    default where a stack cannot be.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    population
        Prior of the population mean; a well anchored diagonal keeps classes from drifting.
    concentration
        Prior of the concentration of each row, in pseudo-labels.
    returning
        Rows of coders that are known from an earlier fit, see :func:`annomodels.prior_from`. They
        are left out of the population, which describes the other coders.
    places
        Place of each coder of the data among `returning`, -1 for others; :meth:`with_data` says it.

    References
    ----------
    B. Carpenter (2008). Multilevel Bayesian models of categorical data annotation. Technical
    report, Alias-i. For two classes this is its beta-binomial model by coder.

    Examples
    --------
    >>> HierarchicalDawidSkene().population
    Diagonal(strength=300.0, accuracy=0.7, certainty=10.0, spread=0.0)
    """

    name: ClassVar[str] = "hierarchical"
    title: ClassVar[str] = "hierarchical Dawid-Skene"
    citation: ClassVar[str] = "Carpenter (2008)"
    family: ClassVar[str] = "matrices"
    grouping: ClassVar[Literal["", "may", "must"]] = "may"

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    population: ProperRows = field(default_factory=lambda: Diagonal(300.0, 0.7, 10.0))
    concentration: ScalePrior = field(default_factory=lambda: LogNormal(5.0, 0.7))
    returning: tuple[CoderRows, ...] = ()
    places: tuple[int, ...] = ()

    @classmethod
    def carpenter(cls) -> HierarchicalDawidSkene:
        """Return the priors of Carpenter (2008): means uniform, concentrations Pareto(1.5).

        Examples
        --------
        >>> HierarchicalDawidSkene.carpenter().concentration
        Pareto(alpha=1.5, minimum=1.0)
        """
        return cls(Dirichlet(1.0), Diagonal(2.0, 0.5), Pareto(1.5, 1.0))

    def updated(self, earlier: Earlier) -> HierarchicalDawidSkene:
        """Return this model with the posterior of an earlier fit as its priors."""
        logs = np.log(earlier.draws_of("concentration"))
        spread = math.hypot(float(logs.std()), 1e-3) / math.sqrt(earlier.weight)
        rows = earlier.counts("confusion")
        returning = tuple(
            CoderRows(as_table(rows[j]), earlier.labels, name)
            for j, name in enumerate(earlier.coders)
        )
        return replace(
            self,
            prevalence=earlier.prevalence,
            population=Rows(as_table(earlier.counts("population")), earlier.labels),
            concentration=LogNormal(float(np.exp(logs.mean())), spread),
            returning=returning if earlier.returning else (),
            places=(),
        )

    def new_rows(self, draws_of: DrawsOf, rng: np.random.Generator) -> Floats | None:
        """Draw a matrix [sample, truth, label] of a coder who is yet to come."""
        return dirichlet_rows(draws_of("concentration")[:, :, None] * draws_of("population"), rng)

    def expected_accuracy(self, draws_of: DrawsOf) -> ExpectedAccuracy | None:
        """Return the accuracy of the coders in each class, and its prior expectation."""
        # coders and their population are draws of the prior in data that are drawn from it; so the
        # observed accuracy is then off the mean by a number with mean 0 and variance 1
        prior = self.population
        if isinstance(prior, Rows) or self.returning:
            return None
        seen = np.diagonal(draws_of("confusion"), axis1=2, axis2=3).mean(axis=1)
        n_coders = draws_of("confusion").shape[1]
        mean = np.full((len(seen), 1), prior.accuracy)
        if prior.estimated:
            mean = draws_of("common_accuracy")[:, None]
        strength = draws_of("population_strength") if prior.spread else np.array(prior.strength)
        of_mean = 1.0 / (strength + 1.0)
        of_coders = (1.0 - of_mean) / ((draws_of("concentration") + 1.0) * n_coders)
        spread = np.sqrt(mean * (1.0 - mean) * (of_mean + of_coders))
        return ExpectedAccuracy(seen, np.broadcast_to(mean, seen.shape), spread)

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the population of the coders."""
        return (
            Parameter("population", ("truth", "label"), "simplex", watched="diagonal"),
            Parameter("concentration", ("truth",), "pseudo-counts"),
            Parameter("common_accuracy", (), "unit", optional=True),
            Parameter("population_strength", ("truth",), "pseudo-counts", optional=True),
        )

    def draw_places(self, held: dict[str, AnyArray], spare: AnyArray) -> Places:
        """Arrays in which kernels write draws of the population."""
        accuracy = held.get("common_accuracy", spare)
        # room that nobody reads where the strength is not estimated
        idle = np.empty_like(held["concentration"])
        strength = held.get("population_strength", idle)
        kept = (held["population"], held["concentration"], accuracy, strength)
        return tuple(values[:, None] for values in kept)

    def row_prior(self, state: State) -> Floats:
        """Dirichlet pseudo-counts of a confusion matrix, shape [truth, label]."""
        return state.population["concentration"][:, None] * state.population["population"]

    def collapsed(self, state: State) -> Floats | None:
        """Pseudo-counts of rows that are Dirichlet given counts of labels."""
        return self._shapes(self.row_prior(state))

    def source(self, state: State) -> Populations:
        """Return the population as the kernels take it, see ``kernels.rows``."""
        held = {name: value[None] for name, value in state.population.items()}
        member = np.zeros(len(state.log_confusion), dtype=np.int64)
        return self.populations(held, member)

    def populations(self, held: Mapping[str, Floats], member: Ints) -> Populations:
        """Return populations of groups, by the names of those of one, as the kernels take them."""
        from annomodels.kernels.rows import Populations

        prior, shape = self.population, held["concentration"].shape
        accuracy, beta = np.full(shape[0], prior.accuracy), (1.0, 1.0)
        if prior.estimated:
            accuracy, beta = held["common_accuracy"], prior.beta
        numbers = np.array([prior.strength, *beta, float(prior.estimated), prior.spread])
        strength = held["population_strength"] if prior.spread else np.full(shape, prior.strength)
        own = self.own_rows(shape[1])
        if len(own):
            member = np.where(own[:, 0, 0] > 0, -1, member[: len(own)])
        return Populations(
            held["population"], held["concentration"], accuracy, strength,
            np.array(self.concentration.coefficients()), numbers, prior.alpha(shape[1]), own,
            member,
        )  # fmt: skip

    def own_rows(self, n_labels: int) -> Floats:
        """Pseudo-counts [row, truth, label] of returning coders, 0 for all others; or empty."""
        if not any(place >= 0 for place in self.places):
            return np.empty((0, n_labels, n_labels))
        none = np.zeros((n_labels, n_labels))
        return np.stack([none if n < 0 else self.returning[n].alpha(n_labels) for n in self.places])

    def with_data(self, data: Annotations) -> Self:
        """Copy that knows which coders of the data return."""
        super().with_data(data)
        where = {rows.coder: n for n, rows in enumerate(self.returning)}
        places = tuple(where.get(label_text(name), -1) for name in data.coders)
        return replace(self, places=places if self.returning else ())

    def of_rows(self, chosen: NDArray[np.int64]) -> Self:
        """Model of some of the rows."""
        if not self.places:
            return self
        return replace(self, places=tuple(self.places[j] for j in chosen))

    def _shapes(self, row_prior: Floats) -> Floats:
        """Pseudo-counts [truth, label], or [row, truth, label] where coders return."""
        own = self.own_rows(len(row_prior))
        return np.where(own > 0, own, row_prior) if len(own) else row_prior

    def start(self, counts: Floats, sizes: Floats) -> State:
        """Parameters from soft counts [row, label, truth] and class sizes [truth]."""
        from annomodels.models.population import anchor_strength, population_mode

        prior = self.population
        accuracy = prior.accuracy
        own = self.own_rows(len(sizes))
        others = counts[own[:, 0, 0] == 0] if len(own) else counts
        if prior.estimated:
            # the share of right labels under the soft counts, weighed as the prior does
            right = np.einsum("jkk->", others)
            accuracy = (right + prior.beta[0]) / (others.sum() + prior.certainty)
            prior = Diagonal(prior.strength, float(accuracy), spread=prior.spread)
        anchor = prior.alpha(len(sizes))
        mean, concentration = population_mode(others, anchor, self.concentration)
        population = {"population": mean, "concentration": concentration}
        if prior.spread:
            shares = prior.mean(len(sizes))
            strength = anchor_strength(others, shares, concentration, prior.strength, prior.spread)
            loose = np.abs(np.log(strength / prior.strength)) > LOOSE
            if loose.any():
                mean[loose], concentration[loose] = population_mode(
                    others[:, :, loose], (strength[:, None] * shares)[loose], self.concentration
                )
            population["population_strength"] = strength
        if self.population.estimated:
            population["common_accuracy"] = np.array(accuracy)
        shapes = self._shapes(concentration[:, None] * mean)
        return self.with_mode(counts, sizes, shapes, population)

    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        """M-step with the population held: the mode given expected counts."""
        shapes = self._shapes(self.row_prior(state))
        return self.with_mode(counts, sizes, shapes, state.population)

    def log_penalty(self, state: State) -> float:
        """Return the penalty of EM: the log prior on the scale of log-ratios."""
        shapes = self._shapes(self.row_prior(state))
        return self.prevalence_penalty(state) + self.rows_penalty(state, shapes)

    def log_evidence(
        self, counts: Floats, sizes: Floats, log_likelihood: float, state: State
    ) -> float:
        """Estimate the logarithm of the mass of a mode, that of its population included."""
        found = super().log_evidence(counts, sizes, log_likelihood, state)
        return found + self.log_population(state.population)

    def log_population(self, held: dict[str, Floats]) -> float:
        """Log prior density of a population, on the scale of log-ratios and logarithms."""
        from scipy.special import gammaln

        prior, mean, value = self.population, held["population"], 0.0
        if prior.estimated:
            accuracy = float(held["common_accuracy"])
            right, wrong = prior.beta
            value += right * np.log(accuracy) + wrong * np.log1p(-accuracy)
            prior = Diagonal(prior.strength, accuracy, spread=prior.spread)
        anchor = prior.alpha(len(mean))
        if prior.spread:
            strength = held["population_strength"]
            anchor = strength[:, None] * prior.mean(len(mean))
            z = np.log(strength / prior.strength) / prior.spread
            value -= 0.5 * (z**2).sum()
        value += (anchor * np.log(np.maximum(mean, 1e-300))).sum()
        value += (gammaln(anchor.sum(axis=1)) - gammaln(anchor).sum(axis=1)).sum()
        concentration = held["concentration"]
        value += (self.concentration.logp(concentration) + np.log(concentration)).sum()
        return float(value)

    def log_priors(self, values: dict[str, Floats]) -> dict[str, Floats] | None:
        """Log prior densities [sample] of the prevalence and of the population, by variable."""
        if type(self).pymc_log_confusion is not HierarchicalDawidSkene.pymc_log_confusion:
            return None  # with priors of its own, as of several groups
        alpha = self.prevalence.alpha(values["prevalence"].shape[-1])
        found = {"prevalence": dirichlet_logp(values["prevalence"], alpha)}
        shares = {name: inside(values[name]) for name in SHARES if name in values}
        return found | self.population_logp({**values, **shares})

    def rows_logp(self, values: dict[str, Floats]) -> Floats:
        """Log prior density [draw] of draws of the rows and of their population."""
        shapes = values["concentration"][..., None] * values["population"]
        found = self.rows_given(values["confusion"], shapes[:, None])
        return np.asarray(found + sum(self.population_logp(values).values()))

    def rows_given(self, confusion: Floats, shapes: Floats) -> Floats:
        """Log density [draw] of rows given their pseudo-counts, or those of returning coders."""
        own = self.own_rows(confusion.shape[-1])
        if len(own):
            shapes = np.where(own > 0, own, shapes)
        return each_draw(shares_logp(confusion, shapes))

    def population_logp(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Log prior densities [sample] of the variables of a population."""
        prior, k, found = self.population, values["concentration"].shape[-1], {}
        anchor = prior.alpha(k)
        if prior.estimated:
            right = values["common_accuracy"]
            both = np.stack([right, 1.0 - right], axis=-1)
            found["common_accuracy"] = shares_logp(both, np.array(prior.beta))
            right = right[:, None, None]
            shares = np.where(np.eye(k, dtype=bool), right, (1.0 - right) / (k - 1))
            anchor = prior.strength * shares
        if prior.spread:
            strength = values["population_strength"]
            logp = LogNormal(prior.strength, prior.spread).logp(strength)
            found["population_strength"] = logp.sum(axis=-1)
            anchor = strength[:, :, None] * (anchor / prior.strength)
        found["population"] = shares_logp(values["population"], anchor).sum(axis=-1)
        found["concentration"] = self.concentration.logp(values["concentration"]).sum(axis=-1)
        return found

    def sample_parameters(self, n_rows: int, n_labels: int, rng: np.random.Generator) -> State:
        """Draw parameters from the prior."""
        prior: Diagonal | Rows = self.population
        population: dict[str, Floats] = {}
        if prior.estimated:
            population["common_accuracy"] = np.array(rng.beta(*prior.beta))
            held = float(population["common_accuracy"])
            prior = Diagonal(prior.strength, held, spread=prior.spread)
        anchor = prior.alpha(n_labels)
        if prior.spread:
            strength = LogNormal(prior.strength, prior.spread).sample(rng, (n_labels,))
            population["population_strength"] = strength
            anchor = strength[:, None] * prior.mean(n_labels)
        mean = np.stack([rng.dirichlet(a) for a in anchor])
        concentration = self.concentration.sample(rng, (n_labels,))
        alpha = self._shapes(concentration[:, None] * mean)
        tiny = np.finfo(float).tiny
        if alpha.ndim == 2:
            rows = np.stack([rng.dirichlet(a, n_rows) for a in alpha], axis=2)
        else:
            rows = np.stack([np.stack([rng.dirichlet(a) for a in own], axis=1) for own in alpha])
        prevalence = rng.dirichlet(self.prevalence.alpha(n_labels))
        population |= {"population": mean, "concentration": concentration}
        return State(np.log(prevalence), np.log(np.maximum(rows, tiny)), population)

    def pymc_log_confusion(self, n_labels: int) -> Tensor:
        """Log confusion [row, truth, label] as a tensor, with its priors; in a model context."""
        import pymc as pm
        import pytensor.tensor as pt

        prior = self.population
        shares: Any = prior.mean(n_labels)
        if prior.estimated:
            accuracy = pm.Beta("common_accuracy", *prior.beta)
            off = (1.0 - accuracy) / (n_labels - 1)
            shares = pt.where(np.eye(n_labels, dtype=bool), accuracy, off)
        anchor = prior.strength * shares
        if isinstance(prior, Rows):
            anchor = prior.alpha(n_labels)
        elif prior.spread:
            held = LogNormal(prior.strength, prior.spread).pymc("population_strength", dims="truth")
            anchor = held[:, None] * shares
        mean = pm.Dirichlet("population", a=anchor, dims=("truth", "label"))
        concentration = self.concentration.pymc("concentration", dims="truth")
        alpha = (concentration[:, None] * mean)[None]
        own = self.own_rows(n_labels)
        if len(own):
            known = observed("own_rows", own)
            alpha = pt.where(known > 0, known, alpha)
        confusion = pm.Dirichlet("confusion", a=alpha, dims=("coder", "truth", "label"))
        return pt.log(confusion)

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        return [
            "Every item has one true class; every coder has a confusion matrix, "
            "drawn from a population of coders whose mean and spread are estimated too.",
            f"Prevalence: {self.prevalence.in_words}.",
            f"Population mean of each row: Dirichlet with {self._strength()} "
            f"pseudo-counts, {self._centre()} of them on the right label.",
            f"Concentration of the coders around it: {self.concentration.in_words}.",
            *(
                [f"Rows of {len(self.returning)} coders as an earlier fit left them."]
                if self.returning
                else []
            ),
        ]

    def _strength(self) -> str:
        prior = self.population
        if not prior.spread:
            return f"{prior.strength:g}"
        words = LogNormal(prior.strength, prior.spread).in_words
        return f"an estimated number (for each class {words}) of"

    def _centre(self) -> str:
        prior = self.population
        if isinstance(prior, Rows):
            return f"on average {100 * prior.accuracy:.0f} %"
        if not prior.estimated:
            return f"{100 * prior.accuracy:.0f} %"
        right, wrong = prior.beta
        return f"an estimated share (Beta({right:g}, {wrong:g}), the same for all classes)"
