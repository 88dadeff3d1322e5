"""Declared parameters: names of a model's draws, their dimensions, and how they are seen to mix."""

# Every model declares each variable of its result once (:meth:`Model.parameters`). From that follow
# the dimensions in the result tree, which classes move when a draw is relabeled, the starts of
# NUTS, R-hat and effective sample sizes, and the names in messages.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from annomodels.types import AnyArray, Floats, Ints

Support = Literal["real", "positive", "pseudo-counts", "unit", "simplex", "zero-sum"]
Watched = Literal["", "all", "diagonal", "accuracy", "rate"]

BUSIEST = 100  # coders whose own parameters are watched
TINY = 1e-300


@dataclass(frozen=True)
class Parameter:
    """Variable of the posterior, as its model declares it."""

    name: str  # what it is called in the result tree and in the PyMC model
    dims: tuple[str, ...] = ()  # its dimensions beyond chain and draw
    # the values it may take: ``simplex`` and ``zero-sum`` along the last dimension, ``unit``
    # between 0 and 1, ``pseudo-counts`` the positive totals of Dirichlet distributions
    support: Support = "real"
    watched: Watched = "all"
    # whether the table of coders has a column of it; it is one number for each coder
    shown: bool = False
    effect: str = ""  # of coefficients of covariates, what one more of each adds to, in words
    optional: bool = False  # whether there are none where priors or data leave nothing to estimate

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
