"""One coin: a coder has the same accuracy in all classes, and errors are uniform."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel, log_shares
from annomodels.models.parameters import Parameter, Variables
from annomodels.priors import Beta, Dirichlet
from annomodels.types import AnyArray, Floats, Places, TensorLike

if TYPE_CHECKING:
    from annomodels.kernels.rows import Coins


def coin_rows(accuracy: Floats, n_labels: int) -> Floats:
    """Return the log confusion [row, label, truth] for accuracies [row, 1] or [row, truth]."""
    wide = np.broadcast_to(accuracy, (len(accuracy), n_labels))[:, None, :]
    right = np.eye(n_labels, dtype=bool)[None]
    with np.errstate(divide="ignore"):
        return np.ascontiguousarray(
            np.log(np.where(right, wide, (1.0 - wide) / max(n_labels - 1, 1)))
        )


@dataclass(frozen=True)
class OneCoin(ConjugateModel):
    r"""Dawid-Skene with one accuracy for each coder and uniform errors.

    .. math::

        \pi \sim Dir(a), \quad \rho_j \sim Beta(\alpha, \beta), \quad c_i \sim Cat(\pi), \quad
        P(y_n = l \mid c_{i_n} = k) = \rho_{j_n} \text{ if } l = k \text{, else }
        \frac{1 - \rho_{j_n}}{K - 1}

    This is the smallest model with separate coders, for few labels per coder, many classes, or
    similar classes. It cannot represent a coder who confuses two labels or prefers one.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    accuracy
        Prior of the coders' accuracies.

    References
    ----------
    A. P. Dawid and A. M. Skene (1979), doi:10.2307/2346806; named in Y. Zhang, X. Chen, D. Zhou
    and M. I. Jordan (2016). Spectral methods meet EM. JMLR 17(102).

    Examples
    --------
    >>> OneCoin().accuracy
    Beta(a=2.8, b=1.2)
    """

    name: ClassVar[str] = "one-coin"
    title: ClassVar[str] = "one-coin"
    citation: ClassVar[str] = "doi:10.2307/2346806"
    family: ClassVar[str] = "narrow"
    swappable: ClassVar[bool] = False

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    accuracy: Beta = field(default_factory=lambda: Beta(2.8, 1.2))

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        dims = ("coder",) if self.n_columns(n_labels) == 1 else ("coder", "truth")
        about = f"Accuracies: {self.accuracy.in_words}."
        accuracy = Parameter("accuracy", dims, "unit", watched="", prior=self.accuracy, about=about)
        return (*super().variables(n_labels), accuracy)

    def log_rows(self, v: Variables) -> TensorLike:
        right = v["accuracy"]
        right = right[:, None, None] if self.n_columns(v.n_labels) == 1 else right[:, :, None]
        eye = np.eye(v.n_labels, dtype=bool)
        return v.xp.log(v.xp.where(eye, right, (1.0 - right) / (v.n_labels - 1)))

    def draw_places(self, held: dict[str, AnyArray], spare: AnyArray) -> Places:
        accuracy = held["accuracy"]
        return (accuracy[:, :, None] if accuracy.ndim == 2 else accuracy,)

    def source(self, state: State) -> Coins:
        from annomodels.kernels.rows import Coins

        accuracy = state.population["accuracy"]
        return Coins(accuracy.reshape(len(accuracy), -1), self.accuracy.counts)

    def n_columns(self, n_labels: int) -> int:
        """Return the number of accuracies per coder."""
        return 1

    def start(self, counts: Floats, sizes: Floats) -> State:
        k = len(sizes)
        right, given = np.einsum("jkk->jk", counts), counts.sum(axis=1)
        if self.n_columns(k) == 1:
            right, given = right.sum(axis=1, keepdims=True), given.sum(axis=1, keepdims=True)
        a, b = self.accuracy.counts
        accuracy = (right + a) / (given + a + b)
        return self._state(self.log_prevalence(sizes), accuracy)

    def _state(self, log_prevalence: Floats, accuracy: Floats) -> State:
        rows = coin_rows(accuracy, len(log_prevalence))
        held = accuracy[:, 0] if accuracy.shape[1] == 1 else accuracy
        return State(log_prevalence, rows, {"accuracy": np.ascontiguousarray(held)})

    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        return self.start(counts, sizes)

    def free(self, state: State) -> Floats:
        accuracy = state.population["accuracy"].ravel()
        with np.errstate(divide="ignore"):
            odds = np.log(accuracy) - np.log1p(-accuracy)
        return np.concatenate([state.log_prevalence, odds])

    def from_free(self, vector: Floats, like: State) -> State:
        k = len(like.log_prevalence)
        with np.errstate(over="ignore"):
            accuracy = 1.0 / (1.0 + np.exp(-vector[k:]))
        return self._state(log_shares(vector[:k], 0), accuracy.reshape(len(like.log_confusion), -1))

    def log_penalty(self, state: State) -> float:
        accuracy = state.population["accuracy"]
        a, b = self.accuracy.counts
        rows = a * np.log(accuracy).sum() + b * np.log1p(-accuracy).sum()
        return self.prevalence_penalty(state) + float(rows)

    def story(self) -> list[str]:
        return [
            "Every item has one true class; every coder is right with the same probability for all "
            "classes, and errors are equally likely to be any other label."
        ]


@dataclass(frozen=True)
class ClassConditional(OneCoin):
    r"""Dawid-Skene with one accuracy for each coder and class, and uniform errors.

    .. math::

        \pi \sim Dir(a), \quad \rho_{j,k} \sim Beta(\alpha, \beta), \quad
        c_i \sim Cat(\pi), \quad
        P(y_n = l \mid c_{i_n} = k) = \rho_{j_n,k} \text{ if } l = k \text{, else }
        \frac{1 - \rho_{j_n,k}}{K - 1}

    This model lies between one-coin and Dawid-Skene; for two classes, it equals Dawid-Skene. It
    represents the difficulty of a class for a coder, but no preference for a wrong label.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    accuracy
        Prior of the coders' accuracies.

    References
    ----------
    A. P. Dawid and A. M. Skene (1979), doi:10.2307/2346806; as "class-conditional Dawid-Skene" in
    the R package rater, doi:10.32614/RJ-2023-064.

    Examples
    --------
    >>> ClassConditional().n_columns(4)
    4
    """

    name: ClassVar[str] = "class-conditional"
    title: ClassVar[str] = "class-conditional"
    citation: ClassVar[str] = "doi:10.2307/2346806"

    def n_columns(self, n_labels: int) -> int:
        return n_labels

    def story(self) -> list[str]:
        return [
            "Every item has one true class; every coder has an accuracy for each class, and "
            "errors are equally likely to be any other label."
        ]
