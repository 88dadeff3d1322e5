"""Layout of the states of items: the coders' rows in each, and its probability."""

# A state is reached by decisions: its class (by the prevalence), then one choice of each factor it
# belongs to. So its share is a product, and every factor is Dirichlet given the number of items.

from __future__ import annotations

from dataclasses import dataclass, field

from annomodels.models.parameters import Parameter, Watched
from annomodels.priors.distributions import DirichletRows
from annomodels.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Part:
    """A variable of the items."""

    name: str
    alpha: Floats  # pseudo-counts, of shares on the last axis

    @property
    def parameter(self) -> Parameter:
        """Declare the variable: weights of choices, where nothing else is said."""
        return self.declared((f"{self.name}_choice",))

    def declared(self, dims: tuple[str, ...], watched: Watched = "all") -> Parameter:
        """Declare the variable with these dimensions."""
        alpha = self.alpha[None] if "coder" in dims else self.alpha
        return Parameter(self.name, dims, "simplex", watched, DirichletRows(alpha))


@dataclass(frozen=True, eq=False)
class Factor(Part):
    """A choice that states differ in, with Dirichlet weights."""

    # which one a state stands for, -1 where the factor does not concern it; shape [state]
    choice: Ints
    names: tuple[str, ...]  # what the choices are called


@dataclass(frozen=True, eq=False)
class ExtraRow(Part):
    """A distribution of labels beside the coders' confusion matrices, Dirichlet."""

    by_coder: bool  # whether each coder has one of their own

    @property
    def parameter(self) -> Parameter:
        return self.declared(("coder", "label"), "") if self.by_coder else self.declared(("label",))


@dataclass(frozen=True, eq=False)
class Truths(Part):
    """P(truth | perceived class), each row Dirichlet; only known truths can teach it."""

    @property
    def parameter(self) -> Parameter:
        return self.declared(("perceived", "truth"))


@dataclass(frozen=True, eq=False)
class Judgement(Part):
    """Ways in which the truth may follow from a state, with Dirichlet weights."""

    # P(truth | state) is the weighted mean of the tables; only known truths can teach the weights

    tables: Floats  # P(truth | state) of each way, shape [way, state, truth]
    names: tuple[str, ...]  # what the ways are called


@dataclass(frozen=True, eq=False)
class Layout:
    """The states of a model for a number of labels."""

    names: tuple[str, ...]  # what each state is called
    # share of each row in the labels of an item in a state, shape [state, row]: first the perceived
    # classes, then the extra rows, then the labels themselves (said by all alike)
    mix: Floats
    # perceived class of a state whose share the prevalence governs, else -1; shape [state]
    base: Ints
    # P(truth | state) where it is fixed, in terms of perceived classes where `truths` says what
    # these are worth; shape [state, truth]
    truth: Floats
    factors: tuple[Factor, ...] = ()  # choices and extra rows
    rows: tuple[ExtraRow, ...] = ()
    truths: Truths | None = None  # what a perceived class says of the truth
    # how the truth follows from a state where that is to be learnt; it takes the place of `truth`,
    # which then is its prior mean
    judgement: Judgement | None = None
    # numbers that states stand for, by name, each [state]
    values: dict[str, Floats] = field(default_factory=dict)
    # fixed part of the probability of each state, shape [state]; 1 without
    weight: Floats | None = None

    def __post_init__(self) -> None:
        if self.truths is not None and self.judgement is not None:
            raise ValueError("A layout has truths or a judgment, not both.")
        names = [part.name for part in self.parts]
        if len(set(names)) < len(names):
            raise ValueError(f"A layout names its variables apart, not {', '.join(names)}.")

    @property
    def parts(self) -> tuple[Part, ...]:
        """Variables of the items."""
        found = (*self.factors, *self.rows, self.truths, self.judgement)
        return tuple(part for part in found if part is not None)

    @property
    def said(self) -> bool:
        """Return True if labels themselves are among the rows, said by all alike."""
        return len(self.mix[0]) > self.n_perceived + len(self.rows)

    @property
    def choices(self) -> dict[str, tuple[str, ...]]:
        """Names along the dimensions of the choices."""
        chosen = (part for part in self.parts if isinstance(part, Factor | Judgement))
        return {f"{part.name}_choice": part.names for part in chosen}

    @property
    def n_perceived(self) -> int:
        """Number of classes that coders can perceive."""
        return int(self.base.max()) + 1
