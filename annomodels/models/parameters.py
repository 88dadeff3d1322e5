"""Declared parameters: names of a model's draws, their dimensions, and how they are seen to mix."""

# Every model declares each variable once (:meth:`Model.own_parameters`). From that follow the
# variable of the PyMC model, draws of the prior, log prior densities, the description, the
# dimensions in the result tree, which classes move when a draw is relabeled, R-hat and effective
# sample sizes, and the names in messages.

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from annomodels.errors import EngineError
from annomodels.models.observed import observed
from annomodels.priors.distributions import Distribution, each_draw
from annomodels.types import AnyArray, Floats, Ints, TensorLike

if TYPE_CHECKING:
    from annomodels.models.encoded import Encoded

Support = Literal["real", "positive", "pseudo-counts", "unit", "simplex", "zero-sum"]
Watched = Literal["", "all", "diagonal", "accuracy", "rate"]

BUSIEST = 100  # coders whose own parameters are watched
TINY = 1e-300


@dataclass(frozen=True)
class Parameter:
    """Variable of a model, as it declares it once."""

    name: str  # what it is called in the result tree and in the PyMC model
    dims: tuple[str, ...] = ()  # its dimensions beyond chain and draw
    # the values it may take: ``simplex`` and ``zero-sum`` along the last dimension, ``unit``
    # between 0 and 1, ``pseudo-counts`` the positive totals of Dirichlet distributions
    support: Support = "real"
    watched: Watched = "all"
    # what it is drawn from, or a function that says so given the variables; None without a prior
    prior: Distribution | Callable[[Variables], Distribution | None] | None = None
    # how it follows from other variables, if it has no prior
    follows: Follows | None = None
    about: str = ""  # what it is in the description of the model; empty if nothing is said of it
    # whether a result keeps it; else :meth:`Model.pymc_values` finds it in what is kept
    kept: bool = True
    # whether the table of coders has a column of it; it is one number for each coder
    shown: bool = False
    tells_spammers: bool = False  # whether it is 1 for coders who are spammers
    effect: str = ""  # of coefficients of covariates, what one more of each adds to, in words
    # whether others depend on it so much that NUTS should learn the directions
    correlated: bool = False
    optional: bool = False  # whether there are none where priors or data leave nothing to estimate

    def distribution(self, variables: Variables) -> Distribution | None:
        """Return what it is drawn from, given the variables that this depends on."""
        return self.prior(variables) if callable(self.prior) else self.prior

    @property
    def positive(self) -> bool:
        """Return True if it is above 0 without a bound, so that its logarithm is watched."""
        return self.support in ("positive", "pseudo-counts")

    @property
    def words(self) -> str:
        """Name in text."""
        return "accuracy" if self.watched == "accuracy" else self.name.replace("_", " ")

    @property
    def along(self) -> tuple[str, ...]:
        """Dimensions of what is watched of it."""
        if self.watched == "accuracy":
            return self.dims[:-2]
        if self.watched == "diagonal":
            return self.dims[:-1]
        return tuple(d for d in self.dims if d != "truth" or self.watched != "rate")

    def columns(self, values: AnyArray, prevalence: Floats, busiest: Ints) -> Floats:
        """Draws [chain, draw, column] of what is watched, of values [chain, draw, ...]."""
        if self.watched in ("accuracy", "diagonal"):
            values = np.diagonal(values, axis1=-2, axis2=-1)
        if self.watched in ("accuracy", "rate"):
            axis = -1 if self.watched == "accuracy" else 2 + self.dims.index("truth")
            last = np.moveaxis(values, axis, -1)
            shape = (*prevalence.shape[:2], *(1,) * (last.ndim - 3), prevalence.shape[2])
            values = (last * prevalence.reshape(shape)).sum(axis=-1)
        if "coder" in self.along:
            values = np.take(values, busiest, axis=2 + self.along.index("coder"))
        if self.positive:
            values = np.log(np.maximum(values, TINY))
        return np.asarray(values, dtype=np.float64).reshape(*values.shape[:2], -1)

    def labels(self, sizes: Mapping[str, int], coords: Mapping[str, Sequence[object]]) -> list[str]:
        """Names of these columns for people."""
        if self.watched == "accuracy" and not self.along:
            return ["accuracy of all coders"]
        parts = [map(str, coords.get(dim, range(1, sizes[dim] + 1))) for dim in self.along]
        every = [", ".join(names) for names in product(*parts)]
        return [f"{self.words} of {names}" if names else self.words for names in every]


type Follows = Callable[[Variables], TensorLike]


class Variables(ABC):
    """Variables of a model by name, each made when it is first asked for."""

    xp: ModuleType = np  # functions for the values: NumPy or PyTensor
    codes: Encoded | None = None  # labels of a PyMC model

    def __init__(self, declared: Iterable[Parameter], n_labels: int) -> None:
        self.declared = {each.name: each for each in declared}
        self.n_labels = n_labels
        self.made: dict[str, TensorLike] = {}
        self.making: list[str] = []  # names of those that wait for what they depend on
        self.asked: list[str] = []  # names in the order in which they were asked for

    def __getitem__(self, name: str) -> TensorLike:
        if name not in self.made:
            each = self.declared[name]
            if name in self.making:
                raise EngineError(
                    f"The variable {name} depends on itself: give it a prior, or derive it from "
                    "other variables."
                )
            self.making.append(name)
            prior = each.distribution(self)
            if prior is None and each.follows is None:
                raise KeyError(name)
            self.made[name] = self.make(each, prior)
            self.making.pop()
        self.asked.append(name)
        return self.made[name]

    def __contains__(self, name: str) -> bool:
        return name in self.declared

    @abstractmethod
    def make(self, each: Parameter, prior: Distribution | None) -> TensorLike:
        """Make a variable from its prior, or from what it follows from."""

    def every(self) -> dict[str, TensorLike]:
        """Make all variables that have a prior or follow from others."""
        for name, each in self.declared.items():
            if each.prior is not None or each.follows is not None:
                self[name]
        return self.made

    def data(self, name: str, values: AnyArray) -> TensorLike:
        """Return numbers of the data, by name."""
        return values


class Defined(Variables):
    """Variables of a PyMC model; used in its context."""

    def __init__(
        self, declared: Iterable[Parameter], n_labels: int, codes: Encoded | None = None
    ) -> None:
        import pytensor.tensor as pt

        super().__init__(declared, n_labels)
        self.xp, self.codes = pt, codes
        self.numbers: dict[str, TensorLike] = {}  # of the data, by name

    def make(self, each: Parameter, prior: Distribution | None) -> TensorLike:
        """Add the variable to the model."""
        import pymc as pm

        if prior is not None:
            return prior.pymc(each.name, each.dims)
        assert each.follows is not None
        return pm.Deterministic(each.name, each.follows(self), dims=each.dims)

    def data(self, name: str, values: AnyArray) -> TensorLike:
        """Register numbers of the data once, which are no part of the graph."""
        if name not in self.numbers:
            self.numbers[name] = observed(name, values)
        return self.numbers[name]


class Drawn(Variables):
    """Variables drawn from their priors."""

    def __init__(
        self, declared: Iterable[Parameter], sizes: Mapping[str, int], rng: np.random.Generator
    ) -> None:
        super().__init__(declared, sizes["truth"])
        self.sizes, self.rng = sizes, rng

    def make(self, each: Parameter, prior: Distribution | None) -> Floats:
        """Draw the variable."""
        if prior is not None:
            return prior.sample(self.rng, tuple(self.sizes[dim] for dim in each.dims))
        assert each.follows is not None
        return np.asarray(each.follows(self))


class Known(Variables):
    """Variables with known values, which may have the draws as their first dimension."""

    def __init__(
        self, declared: Iterable[Parameter], n_labels: int, values: Mapping[str, Floats]
    ) -> None:
        super().__init__(declared, n_labels)
        self.made = dict(values)

    def make(self, each: Parameter, prior: Distribution | None) -> TensorLike:
        """Compute a variable that follows from others."""
        if each.follows is None:
            raise KeyError(each.name)
        return each.follows(self)

    def given(self) -> list[Parameter]:
        """Return the declared variables whose values are known."""
        return [each for name, each in self.declared.items() if name in self.made]

    def log_priors(self, *, chosen: bool = False) -> dict[str, Floats]:
        """Log prior densities [draw] by variable, each after those that its prior depends on.

        With `chosen`, coders around a population that is learned are left out.
        """
        found: dict[str, Floats] = {}

        def add(name: str) -> None:
            each = self.declared[name]
            self.asked.clear()
            prior, others = each.distribution(self), tuple(self.asked)
            for other in others:
                if other not in found:
                    add(other)
            learned = "coder" in each.dims and (others or not each.kept)
            if prior is not None and not (chosen and learned):
                found[name] = each_draw(prior.logp(np.asarray(self[name])))

        for each in self.given():
            if each.name not in found:
                add(each.name)
        return found


def log_jacobian(each: Parameter, values: Floats) -> float:
    """Log of what turns the density of a variable into that of its log-ratios or logarithms."""
    total = np.log(np.maximum(values, TINY)).sum()
    return float(total + np.log1p(-values).sum() if each.support == "unit" else total)


class ExpectedAccuracy(NamedTuple):
    """Draws of the mean accuracy of the coders in each class beside what their prior expects."""

    seen: Floats  # mean over the coders, shape [sample, truth]
    # what the prior expects of it given what all classes have in common, and the standard deviation
    # that it allows, shapes [sample, truth]
    mean: Floats
    spread: Floats


def busiest_coders(volume: AnyArray) -> Ints:
    """Return the coders with the most labels, by place."""
    return np.argsort(-np.asarray(volume), kind="stable")[:BUSIEST]


def watched_draws(
    parameters: Iterable[Parameter], posterior: Mapping[str, AnyArray], volume: AnyArray
) -> Floats:
    """Draws of everything that must have mixed, shape [chain, draw, column]."""
    # numbers have no classes, and nothing that is weighed by their prevalence
    prevalence = np.asarray(posterior.get("prevalence", np.empty((0, 0, 0))), dtype=np.float64)
    coders = busiest_coders(volume)
    return np.concatenate(
        [
            each.columns(np.asarray(posterior[each.name]), prevalence, coders)
            for each in parameters
            if each.watched and each.name in posterior
        ],
        axis=2,
    )


def watched_names(
    parameters: Iterable[Parameter],
    posterior: Mapping[str, AnyArray],
    volume: AnyArray,
    coords: Mapping[str, Sequence[object]],
) -> list[str]:
    """Names of the columns of :func:`watched_draws`, for people."""
    coders = busiest_coders(volume)
    known = dict(coords)
    if "coder" in known:
        known["coder"] = [known["coder"][j] for j in coders]
    names = []
    for each in parameters:
        if each.watched and each.name in posterior:
            sizes = dict(zip(each.dims, posterior[each.name].shape[2:], strict=True))
            if "coder" in sizes:
                sizes["coder"] = len(coders)
            names += each.labels(sizes, known)
    return names
