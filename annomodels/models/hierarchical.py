"""Hierarchical Dawid-Skene: coders are drawn from an estimated population."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.models.base import DrawsOf, Earlier, Model, State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.parameters import ExpectedAccuracy, Known, Parameter, Variables, log_jacobian
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
from annomodels.priors.distributions import DirichletRows
from annomodels.priors.shares import as_table, dirichlet_rows
from annomodels.types import AnyArray, Floats, Ints, Places, TensorLike

if TYPE_CHECKING:
    from annomodels.kernels.rows import Populations

# minimum change of a log strength for a new search for the mode of its row
LOOSE = 0.3
POPULATION = "population", "concentration", "common_accuracy", "population_strength"


@dataclass(frozen=True)
class HierarchicalDawidSkene(ConjugateModel):
    r"""Dawid-Skene with partial pooling: rows are Dirichlet around a population mean.

    .. math::

        a \sim Beta, \quad m_k \sim Dir(t_k\, e_k(a)), \quad
        s_k \sim p(s), \quad \theta_{j,k} \sim Dir(s_k m_k), \quad c_i \sim Cat(\pi), \quad
        y_n \sim Cat(\theta_{j_n, c_{i_n}})

    The model estimates the concentration s, the similarity of the coders, so the data determine how
    strongly coders with few labels are pooled. The prior keeps the mean row of a class near e(a),
    which has the common accuracy a on its diagonal and uniform errors. Its strength t is 300 by
    default, so that the meaning of a class cannot drift away from its label. With a spread,
    ``Diagonal(300.0, 0.7, 10.0, spread=1.0)``, the strength is estimated for each class. It is low
    if the labels clearly show that most coders confuse the class with a similar class. The
    hierarchical model is the default if a stack is not applicable.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    population
        Prior of the population mean; a strong diagonal keeps classes from drifting.
    concentration
        Prior of the concentration of each row, in pseudo-labels.
    returning
        Rows of coders from an earlier fit, see :func:`annomodels.prior_from`. The population
        describes only the other coders.
    places
        Index of each coder of the data in `returning`, -1 for others; set by :meth:`with_data`.

    References
    ----------
    B. Carpenter (2008). Multilevel Bayesian models of categorical data annotation. Technical
    report, Alias-i. For two classes, this is the beta-binomial model by coder.

    Examples
    --------
    >>> HierarchicalDawidSkene().population
    Diagonal(strength=300.0, accuracy=0.7, certainty=10.0, spread=0.0)
    """

    name: ClassVar[str] = "hierarchical"
    title: ClassVar[str] = "hierarchical Dawid-Skene"
    citation: ClassVar[str] = "Carpenter (2008)"
    family: ClassVar[str] = "matrices"

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    population: ProperRows = field(default_factory=lambda: Diagonal(300.0, 0.7, 10.0))
    concentration: ScalePrior = field(default_factory=lambda: LogNormal(5.0, 0.7))
    returning: tuple[CoderRows, ...] = ()
    places: tuple[int, ...] = ()

    @classmethod
    def carpenter(cls) -> HierarchicalDawidSkene:
        """Return the priors of Carpenter (2008): uniform means, Pareto(1.5) concentrations.

        Examples
        --------
        >>> HierarchicalDawidSkene.carpenter().concentration
        Pareto(alpha=1.5, minimum=1.0)
        """
        return cls(Dirichlet(1.0), Diagonal(2.0, 0.5), Pareto(1.5, 1.0))

    def updated(self, earlier: Earlier) -> HierarchicalDawidSkene:
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
        if self.populations_along:  # the group of a new coder is unknown
            return None
        return dirichlet_rows(draws_of("concentration")[:, :, None] * draws_of("population"), rng)

    def called(self, name: str) -> str:
        """Return the name of a population variable in a result."""
        return name

    @property
    def populations_along(self) -> tuple[str, ...]:
        """Dimensions of the populations: none for one population of all coders."""
        return ()

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        prior, along = self.population, self.populations_along
        prevalence, confusion = super().variables(n_labels)
        many = len(self.returning)
        about = f"Rows of {many} coders: posterior of an earlier fit." if many else ""
        accuracy = strength = None
        if isinstance(prior, Diagonal):
            accuracy = prior.beta if prior.estimated else None
            strength = LogNormal(prior.strength, prior.spread) if prior.spread else None
        spread = f"Concentration of the coders around it: {self.concentration.in_words}."
        return (
            prevalence,
            replace(confusion, about=about),
            Parameter(
                self.called("population"), (*along, "truth", "label"), "simplex", "diagonal",
                prior=lambda v: DirichletRows(self.anchor(v)),
                about=f"Population mean of each row: {prior.in_words}.",
            ),
            Parameter(
                self.called("concentration"), (*along, "truth"), "pseudo-counts",
                prior=self.concentration, about=spread,
            ),
            Parameter(
                self.called("common_accuracy"), along, "unit", prior=accuracy, optional=True
            ),
            Parameter(
                self.called("population_strength"), (*along, "truth"), "pseudo-counts",
                prior=strength, optional=True,
            ),
        )  # fmt: skip

    def anchor(self, v: Variables) -> TensorLike:
        """Return the pseudo-counts [truth, label] of the population mean."""
        prior = self.population
        if isinstance(prior, Rows):
            return prior.alpha(v.n_labels)
        shares: TensorLike = prior.mean(v.n_labels)
        if prior.estimated:
            right = v[self.called("common_accuracy")][..., None, None]
            eye = np.eye(v.n_labels, dtype=bool)
            shares = v.xp.where(eye, right, (1.0 - right) / (v.n_labels - 1))
        if prior.spread:
            return v[self.called("population_strength")][..., None] * shares
        return prior.strength * shares

    def of_coders(self, shapes: TensorLike, v: Variables) -> TensorLike:
        """Return the pseudo-counts of each coder's rows, shape [coder, truth, label]."""
        return shapes[..., None, :, :]

    def rows_prior(self, v: Variables) -> DirichletRows:
        mean, concentration = (v[self.called(name)] for name in ("population", "concentration"))
        shapes = self.of_coders(mean * concentration[..., None], v)
        own = self.own_rows(v.n_labels)
        if len(own):
            known = v.data("own_rows", own)
            shapes = v.xp.where(known > 0, known, shapes)
        return DirichletRows(shapes)

    def by_group(self, held: Mapping[str, AnyArray], axis: int) -> dict[str, AnyArray]:
        """Return the population variables by name, with groups along an axis."""
        names = {name: self.called(name) for name in POPULATION}
        found = {name: held[own] for name, own in names.items() if own in held}
        if self.populations_along:
            return found
        return {name: np.expand_dims(values, axis) for name, values in found.items()}

    def members_of(self, n_rows: int) -> Ints:
        """Return the group of each row."""
        return np.zeros(n_rows, dtype=np.int64)

    def draw_places(self, held: dict[str, AnyArray], spare: AnyArray) -> Places:
        found = self.by_group(held, 1)
        mean, spread = found["population"], found["concentration"]
        # unused output arrays if accuracy or strength is fixed
        accuracy = found.get("common_accuracy", np.empty(spread.shape[:-1], spread.dtype))
        strength = found.get("population_strength", np.empty(spread.shape, spread.dtype))
        return (mean, spread, accuracy, strength)

    def row_prior(self, state: State) -> Floats:
        held = state.population
        mean, concentration = (held[self.called(name)] for name in ("population", "concentration"))
        return np.asarray(concentration[..., None] * mean)

    def collapsed(self, state: State) -> Floats | None:
        return self._shapes(self.row_prior(state))

    def source(self, state: State) -> Populations:
        members = self.members_of(len(state.log_confusion))
        return self.populations(self.by_group(state.population, 0), members)

    def populations(self, held: Mapping[str, Floats], member: Ints) -> Populations:
        """Return the populations of groups in the format of ``kernels.rows``."""
        from annomodels.kernels.rows import Populations

        prior, shape = self.population, held["concentration"].shape
        accuracy, beta = np.full(shape[0], prior.accuracy), (1.0, 1.0)
        if isinstance(prior, Diagonal) and prior.estimated:
            accuracy, beta = held["common_accuracy"], tuple(prior.beta.counts)
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
        """Return pseudo-counts [row, truth, label] of returning coders, else 0; empty if none."""
        if not any(place >= 0 for place in self.places):
            return np.empty((0, n_labels, n_labels))
        none = np.zeros((n_labels, n_labels))
        return np.stack([none if n < 0 else self.returning[n].alpha(n_labels) for n in self.places])

    def with_data(self, data: Annotations) -> Self:
        super().with_data(data)
        where = {rows.coder: n for n, rows in enumerate(self.returning)}
        places = tuple(where.get(label_text(name), -1) for name in data.coders)
        return replace(self, places=places if self.returning else ())

    def of_rows(self, chosen: NDArray[np.int64]) -> Self:
        """Return the model of the chosen rows."""
        if not self.places:
            return self
        return replace(self, places=tuple(self.places[j] for j in chosen))

    def _shapes(self, row_prior: Floats) -> Floats:
        """Return pseudo-counts [truth, label]; [row, truth, label] with returning coders."""
        own = self.own_rows(row_prior.shape[-1])
        return np.where(own > 0, own, row_prior) if len(own) else row_prior

    def start(self, counts: Floats, sizes: Floats) -> State:
        population = self.population_at(counts)
        # row_prior uses only the population of a state
        shapes = self._shapes(self.row_prior(State(np.log(sizes + 1.0), np.empty(0), population)))
        return self.with_mode(counts, sizes, shapes, population)

    def population_at(self, counts: Floats) -> dict[str, Floats]:
        """Return the mode of the population given soft counts [row, label, truth]."""
        from annomodels.models.population import anchor_strength, population_mode

        prior, k = self.population, counts.shape[1]
        own = self.own_rows(k)
        others = counts[own[:, 0, 0] == 0] if len(own) else counts
        population: dict[str, Floats] = {}
        if isinstance(prior, Diagonal) and prior.estimated:
            # proportion of correct labels in the soft counts, with the prior's pseudo-labels
            right = np.einsum("jkk->", others)
            accuracy = (right + prior.beta.a) / (others.sum() + prior.certainty)
            prior = Diagonal(prior.strength, float(accuracy), spread=prior.spread)
            population["common_accuracy"] = np.array(accuracy)
        mean, concentration = population_mode(others, prior.alpha(k), self.concentration)
        population |= {"population": mean, "concentration": concentration}
        if prior.spread:
            shares = prior.mean(k)
            strength = anchor_strength(others, shares, concentration, prior.strength, prior.spread)
            loose = np.abs(np.log(strength / prior.strength)) > LOOSE
            if loose.any():
                mean[loose], concentration[loose] = population_mode(
                    others[:, :, loose], (strength[:, None] * shares)[loose], self.concentration
                )
            population["population_strength"] = strength
        return population

    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        shapes = self._shapes(self.row_prior(state))
        return self.with_mode(counts, sizes, shapes, state.population)

    def log_penalty(self, state: State) -> float:
        shapes = self._shapes(self.row_prior(state))
        return self.prevalence_penalty(state) + self.rows_penalty(state, shapes)

    def log_evidence(
        self, counts: Floats, sizes: Floats, log_likelihood: float, state: State
    ) -> float:
        found = super().log_evidence(counts, sizes, log_likelihood, state)
        return found + self.log_population(state.population)

    def log_population(self, held: dict[str, Floats]) -> float:
        """Return the log prior density of the population, on the log-ratio and log scales."""
        k = held[self.called("concentration")].shape[-1]
        names = [own for own in map(self.called, POPULATION) if own in held]
        known = {name: held[name][None] for name in names}
        declared = Known(self.variables(k), k, known)
        total = sum(float(values[0]) for values in declared.log_priors().values())
        return total + sum(log_jacobian(each, held[each.name]) for each in declared.given())

    def story(self) -> list[str]:
        return [
            "Every item has one true class; every coder has a confusion matrix, "
            "drawn from a population of coders whose mean and spread are estimated too."
        ]


def expected_accuracy(model: Model, draws_of: DrawsOf) -> ExpectedAccuracy | None:
    """Return the coder accuracy in each class, and its prior expectation.

    None if the classes do not share a prior accuracy.
    """
    # in data simulated from the prior, (observed accuracy - mean) / spread has mean 0 and
    # variance 1
    if not isinstance(model, HierarchicalDawidSkene) or model.populations_along:
        return None
    prior = model.population
    if isinstance(prior, Rows) or model.returning:
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
