"""Beta-binomial by item: each item has a separate label probability; coders are identical."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.errors import NotApplicable
from annomodels.models.base import DrawsOf, Model, State
from annomodels.models.continuous.quadrature import beta_nodes
from annomodels.models.encoded import Encoded
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.observed import items_of, names_items, observed, observed_labels
from annomodels.models.parameters import Defined, Parameter
from annomodels.models.states import States, as_it_is
from annomodels.priors import Diagonal, Dirichlet, FixedDiagonal, LogNormal, Pareto, ScalePrior
from annomodels.priors.distributions import DirichletRows
from annomodels.priors.shares import dirichlet_rows
from annomodels.types import Floats, PyMCModel, Tensor, TensorLike

SMALLEST = 1e-12


@dataclass(frozen=True)
class BetaBinomialByItem(Model):
    r"""Two labels; each item has a probability of the second label, the same for all coders.

    .. math::

        c_i \sim Cat(\pi), \quad \theta_i \mid c_i = k \sim Beta(s_k m_{k,1}, s_k m_{k,0}), \quad
        y_n \sim Bernoulli(\theta_{i_n})

    The probability is integrated out, so the number of second labels of an item is beta-binomial
    given its class. This is the counterpart of the beta-binomial model by coder
    (:class:`~annomodels.models.HierarchicalDawidSkene` with two labels): items differ, coders do
    not.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    population
        Prior of the mean label probability of each class.
    concentration
        Prior of the concentration of items around this mean, in pseudo-labels.
    nodes
        Number of nodes m of the Gauss-Jacobi quadrature for P(truth) and the label probability of
        an item; exact for items with up to 2m - 1 labels.

    References
    ----------
    B. Carpenter (2008). Multilevel Bayesian models of categorical data annotation. Technical
    report, Alias-i; beta-binomial by item.

    Examples
    --------
    >>> BetaBinomialByItem().shared
    True
    """

    name: ClassVar[str] = "beta-binomial-by-item"
    title: ClassVar[str] = "beta-binomial by item"
    citation: ClassVar[str] = "Carpenter (2008)"
    family: ClassVar[str] = "alike"
    shared: ClassVar[bool] = True
    swappable: ClassVar[bool] = False

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    population: FixedDiagonal = field(default_factory=lambda: Diagonal(10.0, 0.8))
    concentration: ScalePrior = field(default_factory=lambda: LogNormal(5.0, 0.7))
    nodes: int = 24

    @classmethod
    def carpenter(cls) -> BetaBinomialByItem:
        """Return the priors of Carpenter (2008): uniform means, Pareto(1.5) concentrations.

        Examples
        --------
        >>> BetaBinomialByItem.carpenter().concentration
        Pareto(alpha=1.5, minimum=1.0)
        """
        return cls(Dirichlet(1.0), Diagonal(2.0, 0.5), Pareto(1.5, 1.0))

    def new_rows(self, draws_of: DrawsOf, rng: np.random.Generator) -> Floats | None:
        """Draw a matrix [sample, truth, label] of a new coder, for one item per sample."""
        return dirichlet_rows(draws_of("concentration")[:, :, None] * draws_of("population"), rng)

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        return (
            *super().variables(n_labels),
            Parameter(
                "population", ("truth", "label"), "simplex", "diagonal",
                prior=DirichletRows(self.population.alpha(2)),
                about=f"Mean of the items of a class: {self.population.in_words}.",
            ),
            Parameter(
                "concentration", ("truth",), "pseudo-counts", prior=self.concentration,
                about=f"Concentration of the items around it: {self.concentration.in_words}.",
                correlated=True,
            ),
        )  # fmt: skip

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        return {"state": [f"{label}/{n}" for label in labels for n in range(1, self.nodes + 1)]}

    def build(self, codes: Encoded, coords: dict[str, list[str]]) -> PyMCModel:
        import pymc as pm

        self._refuse(codes)
        with pm.Model(coords=coords) as model:
            v = Defined(self.variables(2), 2, codes)
            b, a = (v["concentration"] * v["population"][:, label] for label in (0, 1))
            _add_coins(codes, v["prevalence"], a, b)
        return model

    def _refuse(self, codes: Encoded) -> None:
        if codes.n_labels != 2:
            raise NotApplicable(
                f"The {self.title} model supports two labels, not {codes.n_labels}. Use "
                "scalar-difficulty, which supports any number."
            )
        most = int(np.diff(codes.starts).max(initial=0))
        if most > 2 * self.nodes - 1:
            raise NotApplicable(
                f"An item has {most} labels; with {self.nodes} nodes P(truth) is exact up to "
                f"{2 * self.nodes - 1}. Fit BetaBinomialByItem(nodes={most // 2 + 1})."
            )

    @property
    def starter(self) -> HierarchicalDawidSkene:
        return HierarchicalDawidSkene(self.prevalence, Diagonal(300.0, 0.7, 10.0))

    def pymc_start(self, state: State) -> dict[str, Floats]:
        mean = np.clip(state.population["population"], 0.05, 0.95)
        low = 1.2 * getattr(self.concentration, "minimum", 0.0)
        return {
            "prevalence": np.exp(state.log_prevalence),
            "population": mean / mean.sum(axis=1, keepdims=True),
            "concentration": np.maximum(np.minimum(state.population["concentration"], 20.0), low),
        }

    def states(self, values: dict[str, Floats]) -> States:
        mean, concentration = values["population"], values["concentration"]
        draws = len(mean)
        a, b = (concentration * mean[:, :, label] for label in (1, 0))
        # quadrature needs a beta density, so a and b have a minimum
        nodes, weights = beta_nodes(self.nodes, np.maximum(a, SMALLEST), np.maximum(b, SMALLEST))
        coin = nodes.reshape(draws, -1)
        share = (values["prevalence"][:, :, None] * weights).reshape(draws, -1)
        emission = np.stack([1.0 - coin, coin], axis=2)[:, None]
        truth = np.broadcast_to(
            np.repeat(np.eye(2), self.nodes, axis=0), (draws, 2 * self.nodes, 2)
        )
        return States(share, emission, truth, {"item_share": coin})

    def story(self) -> list[str]:
        return [
            "Every item has one true class and its own probability of the second label; coders "
            "are alike."
        ]


def _add_coins(codes: Encoded, prevalence: Tensor, a: Tensor, b: Tensor) -> None:
    """Add the log likelihood of the labels to a PyMC model, given the beta parameters a and b."""
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor import sparse

    ones, total = _counts(codes)
    known = np.flatnonzero(codes.gold >= 0)
    gold = codes.gold[known].astype(np.int64)

    def of_items(
        data: Callable[..., Tensor], ones: Tensor, prevalence: Tensor, a: Tensor, b: Tensor
    ) -> Tensor:
        """Return the log probability of each item's labels."""
        n = data("total", total)[:, None]
        steps = data("steps", np.arange(max(1.0, total.max(initial=0.0))))
        heads, tails = _rising(a, ones, steps), _rising(b, n - ones, steps)
        joint = pt.log(prevalence) + heads + tails - _rising(a + b, n, steps)
        found = pt.logsumexp(joint, axis=1)
        if not len(known):
            return found
        at = data("known", known)
        return pt.set_subtensor(found[at], joint[at, data("gold", gold)])

    if not names_items():
        each = of_items(observed, observed("ones", ones)[:, None], prevalence, a, b)
        pm.Potential("labels", pt.sum(observed("weight", codes.weight) * each))
        return
    item, summed = items_of(codes)

    def of_labels(label: object, *parameters: Tensor) -> Tensor:
        ones = sparse.structured_dot(summed, pt.cast(label, "float64")[:, None])
        return of_items(as_it_is, ones, *parameters)

    def drawn(prevalence: Tensor, a: Tensor, b: Tensor, size: object) -> Tensor:
        truth = pm.Categorical.dist(p=pt.tile(prevalence[None, :], (codes.n_patterns, 1)))
        if len(known):
            truth = pt.set_subtensor(truth[known], gold)
        coin = pm.Beta.dist(a[truth], b[truth])
        return pm.Bernoulli.dist(coin[item])

    observed_labels(codes, of_labels, drawn, prevalence, a, b, signature="(t),(t),(t)")


def _rising(x: Tensor, count: TensorLike, steps: TensorLike) -> Tensor:
    """Return log(x (x + 1) ... (x + count - 1)), for `count` [pattern, 1] and `x` [truth]."""
    # for very large x, a difference of log gamma functions is only rounding error, and NUTS, with
    # its long first steps, got stuck there in about 1 of 100 runs
    import pytensor.tensor as pt

    factors = pt.log(x[None, :, None] + steps)
    return pt.sum(pt.switch(pt.lt(steps, count[:, :, None]), factors, 0.0), axis=2)


def _counts(codes: Encoded) -> tuple[Floats, Floats]:
    """Return the numbers of second labels and of all labels of each pattern."""
    pattern = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
    ones = np.bincount(pattern, weights=codes.label, minlength=codes.n_patterns)
    return ones, np.diff(codes.starts).astype(float)
