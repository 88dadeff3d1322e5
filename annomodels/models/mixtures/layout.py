"""Layout of the states of items: the coders' rows in each, and its probability."""

# A state is reached by decisions: its class (by the prevalence), then one choice of each factor it
# belongs to. So its share is a product, and every factor is Dirichlet given the number of items.

from __future__ import annotations

from dataclasses import dataclass, field

from annomodels.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class Factor:
    """A choice that states differ in, with Dirichlet weights."""

    name: str  # variable that holds the weights
    alpha: Floats  # pseudo-counts of the choices
    # which one a state stands for, -1 where the factor does not concern it; shape [state]
    choice: Ints
    names: tuple[str, ...]  # what the choices are called


@dataclass(frozen=True, eq=False)
class ExtraRow:
    """A distribution of labels beside the coders' confusion matrices, Dirichlet."""

    name: str  # variable that holds it
    alpha: Floats  # pseudo-counts of the labels
    by_coder: bool  # whether each coder has one of their own


@dataclass(frozen=True, eq=False)
class Truths:
    """P(truth | perceived class), each row Dirichlet; only known truths can teach it."""

    name: str  # variable that holds it
    alpha: Floats  # pseudo-counts, shape [class, truth]


@dataclass(frozen=True, eq=False)
class Judgement:
    """Ways in which the truth may follow from a state, with Dirichlet weights."""

    # P(truth | state) is the weighted mean of the tables; only known truths can teach the weights

    name: str  # variable that holds the weights
    alpha: Floats  # pseudo-counts of the ways
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
        parts = (*self.factors, *self.rows, self.truths, self.judgement)
        names = [part.name for part in parts if part is not None]
        if len(set(names)) < len(names):
            raise ValueError(f"A layout names its variables apart, not {', '.join(names)}.")

    @property
    def n_perceived(self) -> int:
        """Number of classes that coders can perceive."""
        return int(self.base.max()) + 1
