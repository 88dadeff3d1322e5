"""Layout of item states: the probability of each state, and its rows of labels."""

# A state is a sequence of choices: its class (by the prevalence), then one choice for each of its
# factors. So its probability is a product, and the posterior of each factor is Dirichlet given the
# counts of items.

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from annomodels.models.parameters import Parameter, Watched
from annomodels.priors.distributions import DirichletRows
from annomodels.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class ItemVariable:
    """Dirichlet variable of the items."""

    name: str
    alpha: Floats  # pseudo-counts of probabilities on the last axis
    # sentence in the model description; empty without one
    about: str = field(default="", kw_only=True)

    @property
    def parameter(self) -> Parameter:
        """Declaration of the variable; by default, weights of choices."""
        return self.declared((f"{self.name}_choice",))

    def declared(self, dims: tuple[str, ...], watched: Watched = "all") -> Parameter:
        """Declare the variable with these dimensions."""
        alpha = self.alpha[None] if "coder" in dims else self.alpha
        prior = DirichletRows(alpha)
        return Parameter(self.name, dims, "simplex", watched, prior, about=self.about)


@dataclass(frozen=True, eq=False)
class Factor(ItemVariable):
    """Choice that distinguishes states, with Dirichlet weights."""

    # choice of each state, -1 if the factor does not apply; shape [state]
    choice: Ints
    names: tuple[str, ...]  # names of the choices


@dataclass(frozen=True, eq=False)
class ExtraRow(ItemVariable):
    """Additional Dirichlet distribution of labels, separate from the confusion matrices."""

    by_coder: bool  # whether each coder has a separate distribution

    @property
    def parameter(self) -> Parameter:
        return self.declared(("coder", "label"), "") if self.by_coder else self.declared(("label",))


@dataclass(frozen=True, eq=False)
class TruthVariable(ItemVariable):
    """P(truth | perceived class) with Dirichlet rows; only known truths update it."""

    @property
    def parameter(self) -> Parameter:
        return self.declared(("perceived", "truth"))


@dataclass(frozen=True, eq=False)
class Judgement(ItemVariable):
    """Mixture of alternative tables of P(truth | state), with Dirichlet weights."""

    # P(truth | state) is the weighted mean of the tables; only known truths update the weights

    tables: Floats  # alternative tables of P(truth | state), shape [table, state, truth]
    names: tuple[str, ...]  # names of the tables


@dataclass(frozen=True, eq=False)
class Layout:
    """States of a model for a number of labels."""

    names: tuple[str, ...]  # names of the states
    # weight of each row in the label distribution of a state, shape [state, row]: the perceived
    # classes, then the extra rows, then one row per label (all coders give this label)
    mix: Floats
    # perceived class of a state if the prevalence applies to it, else -1; shape [state]
    base: Ints
    # P(truth | state) if fixed, shape [state, truth]; with `truths`, P(perceived class | state)
    truth: Floats
    factors: tuple[Factor, ...] = ()  # choices and extra rows
    rows: tuple[ExtraRow, ...] = ()
    truths: TruthVariable | None = None  # P(truth | perceived class)
    # P(truth | state) with estimated weights; it replaces `truth`, which is then its prior mean
    judgement: Judgement | None = None
    # values of the states by name, each [state]
    values: dict[str, Floats] = field(default_factory=dict)
    # fixed factor of the probability of each state, shape [state]; None for 1
    weight: Floats | None = None

    def __post_init__(self) -> None:
        if self.truths is not None and self.judgement is not None:
            raise ValueError("A layout has truths or a judgment, not both.")
        names = [part.name for part in self.parts]
        if len(set(names)) < len(names):
            raise ValueError(f"A layout needs different names, not {', '.join(names)}.")

    @property
    def parts(self) -> tuple[ItemVariable, ...]:
        """Variables of the items."""
        found = (*self.factors, *self.rows, self.truths, self.judgement)
        return tuple(part for part in found if part is not None)

    @property
    def yes_or_no(self) -> frozenset[str]:
        """Names of 0/1 values, whose mean is a probability."""
        return frozenset(name for name, v in self.values.items() if np.isin(v, (0, 1)).all())

    @property
    def said(self) -> bool:
        """Return True if there are rows for labels that all coders give."""
        return len(self.mix[0]) > self.n_perceived + len(self.rows)

    @property
    def choices(self) -> dict[str, tuple[str, ...]]:
        """Names along the dimensions of choices."""
        chosen = (part for part in self.parts if isinstance(part, Factor | Judgement))
        return {f"{part.name}_choice": part.names for part in chosen}

    @property
    def n_perceived(self) -> int:
        """Number of classes that coders can perceive."""
        return int(self.base.max()) + 1
