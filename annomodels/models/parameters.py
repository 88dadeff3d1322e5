"""Declared parameters: names and dimensions of a model's draws, and their convergence checks."""

# Each model declares each variable once (:meth:`Model.variables`). The declaration determines
# the PyMC variable, draws from the prior, log prior densities, the description, the dimensions in
# the result tree, the relabeling of classes, R-hat and effective sample sizes, and the names in
# messages.

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

BUSIEST = 100  # maximum number of coders whose parameters are monitored
TINY = 1e-300


@dataclass(frozen=True)
class Parameter:
    """Declaration of a model variable."""

    name: str  # name in the result tree and in the PyMC model
    dims: tuple[str, ...] = ()  # dimensions without chain and draw
    # possible values: ``simplex`` and ``zero-sum`` along the last dimension, ``unit`` between 0
    # and 1, ``pseudo-counts`` for positive totals of Dirichlet distributions
    support: Support = "real"
    watched: Watched = "all"
    # prior, or a function from the variables to the prior; None without a prior
    prior: Distribution | Callable[[Variables], Distribution | None] | None = None
    # function that derives it from other variables, if it has no prior
    follows: Follows | None = None
    about: str = ""  # sentence in the model description; empty without one
    # whether a result keeps it; else :meth:`Model.pymc_values` recovers it from the kept variables
    kept: bool = True
    # whether it is a column of the coder table, with one number per coder
    shown: bool = False
    tells_spammers: bool = False  # whether it is 1 for spammers
    effect: str = ""  # for coefficients of covariates: name of the affected quantity
    terms: tuple[tuple[str, str], ...] = ()  # and names and units of their terms
    # whether it is so correlated with other variables that NUTS should adapt to the directions
    correlated: bool = False
    optional: bool = False  # whether it may be absent, if priors or data leave nothing to estimate

    def distribution(self, variables: Variables) -> Distribution | None:
        """Return the prior, given the variables on which it depends."""
        return self.prior(variables) if callable(self.prior) else self.prior

    @property
    def positive(self) -> bool:
        """Return True if it is positive and unbounded, so that its logarithm is monitored."""
        return self.support in ("positive", "pseudo-counts")

    @property
    def words(self) -> str:
        """Name in messages."""
        return "accuracy" if self.watched == "accuracy" else self.name.replace("_", " ")

    @property
    def along(self) -> tuple[str, ...]:
        """Dimensions of its monitored quantities."""
        if self.watched == "accuracy":
            return self.dims[:-2]
        if self.watched == "diagonal":
            return self.dims[:-1]
        return tuple(d for d in self.dims if d != "truth" or self.watched != "rate")

    def columns(self, values: AnyArray, prevalence: Floats, busiest: Ints) -> Floats:
        """Return the monitored quantities [chain, draw, column] of values [chain, draw, ...]."""
        if "coder" in self.along:
            values = np.take(values, busiest, axis=2 + self.dims.index("coder"))
        if self.watched in ("accuracy", "diagonal"):
            values = np.diagonal(values, axis1=-2, axis2=-1)
        if self.watched in ("accuracy", "rate"):
            axis = -1 if self.watched == "accuracy" else 2 + self.dims.index("truth")
            last = np.moveaxis(values, axis, -1)
            shape = (*prevalence.shape[:2], *(1,) * (last.ndim - 3), prevalence.shape[2])
            values = (last * prevalence.reshape(shape)).sum(axis=-1)
        if self.positive:
            values = np.log(np.maximum(values, TINY))
        return np.asarray(values, dtype=np.float64).reshape(*values.shape[:2], -1)

    def labels(self, sizes: Mapping[str, int], coords: Mapping[str, Sequence[object]]) -> list[str]:
        """Return readable names of these columns."""
        if self.watched == "accuracy" and not self.along:
            return ["accuracy of all coders"]
        parts = [map(str, coords.get(dim, range(1, sizes[dim] + 1))) for dim in self.along]
        every = [", ".join(names) for names in product(*parts)]
        return [f"{self.words} of {names}" if names else self.words for names in every]


type Follows = Callable[[Variables], TensorLike]


class Variables(ABC):
    """Variables of a model by name, each created on first use."""

    xp: ModuleType = np  # functions for the values: NumPy or PyTensor
    codes: Encoded | None = None  # labels of a PyMC model

    def __init__(self, declared: Iterable[Parameter], n_labels: int) -> None:
        self.declared = {each.name: each for each in declared}
        self.n_labels = n_labels
        self.made: dict[str, TensorLike] = {}
        self.making: list[str] = []  # names of variables whose dependencies are being created
        self.asked: list[str] = []  # names in order of access

    def __getitem__(self, name: str) -> TensorLike:
        if name not in self.made:
            each = self.declared.get(name)
            if each is None:
                raise EngineError(
                    f"The model has no variable {name}. Declare it in variables, next to those of "
                    "super().variables(n_labels)."
                )
            if name in self.making:
                raise EngineError(
                    f"The variable {name} depends on itself. Give it a prior, or derive it from "
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
        """Create a variable from its prior or from other variables."""

    def every(self) -> dict[str, TensorLike]:
        """Create all variables that have a prior or are derived from others."""
        for name, each in self.declared.items():
            if each.prior is not None or each.follows is not None:
                self[name]
        return self.made

    def data(self, name: str, values: AnyArray) -> TensorLike:
        """Return an array of data; `name` identifies it in a PyMC model."""
        return values


class Defined(Variables):
    """Variables of a PyMC model, for use in its context."""

    def __init__(
        self, declared: Iterable[Parameter], n_labels: int, codes: Encoded | None = None
    ) -> None:
        import pytensor.tensor as pt

        super().__init__(declared, n_labels)
        self.xp, self.codes = pt, codes
        self.numbers: dict[str, TensorLike] = {}  # registered data by name

    def make(self, each: Parameter, prior: Distribution | None) -> TensorLike:
        import pymc as pm

        if prior is not None:
            return prior.pymc(each.name, each.dims)
        assert each.follows is not None
        return pm.Deterministic(each.name, each.follows(self), dims=each.dims)

    def data(self, name: str, values: AnyArray) -> TensorLike:
        """Register an array of data once, as a data variable."""
        if name not in self.numbers:
            self.numbers[name] = observed(name, values)
        return self.numbers[name]


class DrawnVariables(Variables):
    """Variables drawn from their priors."""

    def __init__(
        self, declared: Iterable[Parameter], sizes: Mapping[str, int], rng: np.random.Generator
    ) -> None:
        super().__init__(declared, sizes["truth"])
        self.sizes, self.rng = sizes, rng

    def make(self, each: Parameter, prior: Distribution | None) -> Floats:
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
        if each.follows is None:
            raise KeyError(each.name)
        return each.follows(self)

    def given(self) -> list[Parameter]:
        """Return the declared variables whose values are known."""
        return [each for name, each in self.declared.items() if name in self.made]

    def log_priors(self, *, chosen: bool = False) -> dict[str, Floats]:
        """Return log prior densities [draw] by variable, in the order of dependence.

        With `chosen`, coder parameters with an estimated population are omitted.
        """
        found: dict[str, Floats] = {}
        for each in self.given():
            self._add_log_prior(found, each.name, chosen)
        return found

    # not a function within: one that calls itself would keep all draws until garbage is collected
    def _add_log_prior(self, found: dict[str, Floats], name: str, chosen: bool) -> None:
        if name in found:
            return
        each = self.declared[name]
        self.asked.clear()
        prior, others = each.distribution(self), tuple(self.asked)
        for other in others:
            self._add_log_prior(found, other, chosen)
        learned = "coder" in each.dims and (others or not each.kept)
        if prior is not None and not (chosen and learned):
            found[name] = each_draw(prior.logp(np.asarray(self[name])))


def log_jacobian(each: Parameter, values: Floats) -> float:
    """Return the log Jacobian of the change to log-ratios or logarithms."""
    total = np.log(np.maximum(values, TINY)).sum()
    return float(total + np.log1p(-values).sum() if each.support == "unit" else total)


def reordered(
    declared: Iterable[Parameter], values: Mapping[str, Floats], back: Ints
) -> dict[str, Floats]:
    """Return the variables of one draw with reordered classes."""
    dims = {each.name: each.dims for each in declared}
    out = dict(values)
    for name, array in values.items():
        along = dims.get(name, ())
        if "truth" in along:  # from the end, because a shared matrix may lack the coder axis
            out[name] = np.asarray(np.take(array, back, axis=along.index("truth") - len(along)))
    return out


class ExpectedAccuracy(NamedTuple):
    """Draws of the mean coder accuracy in each class, with its prior expectation."""

    seen: Floats  # mean over the coders, shape [sample, truth]
    # prior mean and standard deviation of `seen`, given the parameters that all classes share,
    # shapes [sample, truth]
    mean: Floats
    spread: Floats


def busiest_coders(volume: AnyArray) -> Ints:
    """Return the indices of the coders with the most labels."""
    return np.argsort(-np.asarray(volume), kind="stable")[:BUSIEST]


def watched_draws(
    parameters: Iterable[Parameter], posterior: Mapping[str, AnyArray], volume: AnyArray
) -> Floats:
    """Return the draws of all monitored quantities, shape [chain, draw, column]."""
    # models of numbers have no prevalence
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
    """Return readable names of the columns of :func:`watched_draws`."""
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
