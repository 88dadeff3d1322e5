"""Subtypes: a class has kinds of items that coders, together, take in different ways."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.dawid_skene import DawidSkene
from annomodels.models.mixtures.layout import Layout
from annomodels.models.mixtures.state_model import StateModel
from annomodels.models.parameters import Parameter
from annomodels.priors import Diagonal, Dirichlet
from annomodels.types import Floats

JITTER = 0.3


@dataclass(frozen=True)
class SubtypeRows(DawidSkene):
    """Dawid-Skene rows of which each class has several; how coders label in :class:`Subtypes`.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the subtypes of all classes.
    confusion
        Prior of the rows.
    subtypes
        Number of subtypes of a class.

    Examples
    --------
    >>> SubtypeRows(subtypes=2).row_alpha(2)
    array([[2.8, 1.2],
           [2.8, 1.2],
           [1.2, 2.8],
           [1.2, 2.8]])
    """

    name: ClassVar[str] = "subtype-rows"
    title: ClassVar[str] = "rows of subtypes"
    swappable: ClassVar[bool] = False

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    confusion: Diagonal = field(default_factory=lambda: Diagonal(4.0, 0.7))
    subtypes: int = 2

    def row_alpha(self, n_labels: int) -> Floats:
        """Dirichlet pseudo-counts of the rows, shape [class and subtype, label]."""
        return np.repeat(self.confusion.alpha(n_labels), self.subtypes, axis=0)

    def row_prior(self, state: State) -> Floats:
        """Dirichlet pseudo-counts of the rows, shape [class and subtype, label]."""
        return self.row_alpha(state.log_confusion.shape[1])

    def expand(self, state: State) -> State:
        """Give each class of a Dawid-Skene state its subtypes, which differ a little."""
        m = self.subtypes
        rows = np.exp(np.repeat(state.log_confusion, m, axis=2))
        # the same way for all coders: what subtypes are is that coders err together
        noise = np.random.default_rng(0).normal(0.0, JITTER, rows.shape[1:])
        rows = rows * np.exp(noise)
        rows /= rows.sum(axis=1, keepdims=True)
        return State(np.repeat(state.log_prevalence, m) - np.log(m), np.log(rows))

    def sample_parameters(self, n_rows: int, n_labels: int, rng: np.random.Generator) -> State:
        """Draw parameters from the prior."""
        alpha = self.row_alpha(n_labels)
        rows = np.stack([rng.dirichlet(a, n_rows) for a in alpha], axis=2)
        prevalence = rng.dirichlet(self.prevalence.alpha(len(alpha)))
        return State(np.log(prevalence), np.log(rows))

    def pymc_log_confusion(self, n_labels: int) -> Any:
        """Log rows [coder, class and subtype, label] as a tensor, with their priors."""
        import pymc as pm
        import pytensor.tensor as pt

        dims = ("coder", "perceived", "label")
        return pt.log(pm.Dirichlet("confusion", a=self.row_alpha(n_labels)[None], dims=dims))


@dataclass(frozen=True)
class Subtypes(StateModel):
    r"""Every class has latent subtypes; a coder has a row for each.

    .. math::

        (c_i, m_i) \sim Cat(\pi), \quad \theta_{j,k,m} \sim Dir(\alpha_k), \quad
        y_n \sim Cat(\theta_{j_n, c_{i_n}, m_{i_n}})

    Coders who err on the same items are not independent given the class. Subtypes carry that
    dependence: within a subtype coders are independent again, so that five coders who share a
    mistake count for less than five.

    Parameters
    ----------
    coders
        How coders label, and how many subtypes there are.

    References
    ----------
    Y. Li, B. I. P. Rubinstein and T. Cohn (2019). Exploiting worker correlation for label
    aggregation in crowdsourcing. ICML, PMLR 97, 3886-3895 (EBCC).

    Examples
    --------
    >>> Subtypes().perceived(["no", "yes"])
    ['no/1', 'no/2', 'yes/1', 'yes/2']
    """

    name: ClassVar[str] = "subtypes"
    title: ClassVar[str] = "subtypes"
    citation: ClassVar[str] = "Li, Rubinstein and Cohn (2019)"
    family: ClassVar[str] = "readings"

    coders: ConjugateModel = field(default_factory=SubtypeRows)

    def __post_init__(self) -> None:
        if not isinstance(self.coders, SubtypeRows):
            raise ValueError("Subtypes needs coders=SubtypeRows(...).")

    @property
    def rows(self) -> SubtypeRows:
        """How coders label."""
        if not isinstance(self.coders, SubtypeRows):
            raise TypeError("Subtypes needs coders=SubtypeRows(...).")
        return self.coders

    @property
    def starter(self) -> ConjugateModel:
        """The conjugate model whose mode is the starting point."""
        return DawidSkene(confusion=self.rows.confusion)

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare what coders perceive: subtypes of a class may be numbered in any order."""
        loose = ("perceived",)
        return tuple(
            replace(each, exchangeable=loose) if "perceived" in each.along else each
            for each in super().own_parameters(n_labels)
        )

    def begin(self, state: State) -> State:
        """Parameters of the coders' model that correspond to a state of the starting model."""
        return self.rows.expand(replace(state, population={}))

    def perceived(self, labels: list[str]) -> list[str]:
        """Give names to the subtypes."""
        return [f"{label}/{m + 1}" for label in labels for m in range(self.rows.subtypes)]

    def layout(self, n_labels: int) -> Layout:
        """Give the states of the items: class and subtype."""
        names = tuple(self.perceived([str(k) for k in range(n_labels)]))
        return Layout(
            names=names,
            mix=np.eye(len(names)),
            base=np.arange(len(names)),
            truth=np.repeat(np.eye(n_labels), self.rows.subtypes, axis=0),
        )

    def describe(self) -> list[str]:
        """Story and priors in sentences."""
        rows = self.rows
        return [
            f"Every class has {rows.subtypes} latent subtypes, and every coder a confusion row "
            "for each: coders who err on the same items are taken to do so for a reason.",
            f"Prevalence of the subtypes: Dirichlet with {rows.prevalence.concentration:g} "
            "pseudo-counts each.",
            f"Rows: Dirichlet with {rows.confusion.strength:g} pseudo-counts, "
            f"{rows.confusion.accuracy:.0%} of them on the right label.",
        ]
