"""Dawid & Skene: each coder has an independent confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from annomodels.models.base import Earlier, State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.parameters import Parameter, Variables
from annomodels.priors import Diagonal, Dirichlet, FixedRows, Rows
from annomodels.priors.distributions import DirichletRows
from annomodels.priors.shares import as_table, dirichlet_like
from annomodels.types import Floats


@dataclass(frozen=True)
class DawidSkene(ConjugateModel):
    r"""Dawid & Skene's model: a separate confusion matrix for each coder.

    .. math::

        \pi \sim Dir(a), \quad \theta_{j,k} \sim Dir(\alpha_k), \quad
        c_i \sim Cat(\pi), \quad y_n \sim Cat(\theta_{j_n, c_{i_n}})

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    confusion
        Prior of the rows of the confusion matrices.

    References
    ----------
    A. P. Dawid and A. M. Skene (1979). Maximum likelihood estimation of observer error-rates
    using the EM algorithm. Applied Statistics 28(1), 20-28. doi:10.2307/2346806

    Examples
    --------
    >>> DawidSkene().confusion.alpha(2)
    array([[2.8, 1.2],
           [1.2, 2.8]])
    """

    name: ClassVar[str] = "dawid-skene"
    title: ClassVar[str] = "Dawid-Skene"
    citation: ClassVar[str] = "doi:10.2307/2346806"
    family: ClassVar[str] = "matrices"

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    confusion: FixedRows = field(default_factory=lambda: Diagonal(4.0, 0.7))

    @classmethod
    def unsmoothed(cls) -> DawidSkene:
        """Return the model without priors: maximum likelihood, for the ``em`` engine only.

        Examples
        --------
        >>> DawidSkene.unsmoothed().confusion.proper
        False
        """
        return cls(Dirichlet(0.0), Diagonal(0.0))

    def updated(self, earlier: Earlier) -> Self:
        draws = earlier.draws_of("confusion")
        if draws.ndim == 4:  # new coders resemble a random earlier coder
            draws = draws.reshape(-1, *draws.shape[2:])
        table = as_table(dirichlet_like(draws) * earlier.weight)
        confusion = Rows(table, earlier.labels)
        return replace(self, prevalence=earlier.prevalence, confusion=confusion)

    def row_counts(self, n_labels: int) -> Floats:
        """Return the Dirichlet pseudo-counts [truth, label] of a matrix."""
        return self.confusion.alpha(n_labels)

    def row_prior(self, state: State) -> Floats:
        return self.row_counts(len(state.log_prevalence))

    def collapsed(self, state: State) -> Floats | None:
        return self.row_prior(state)

    def start(self, counts: Floats, sizes: Floats) -> State:
        return self.with_mode(counts, sizes, self.row_counts(len(sizes)), {})

    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        return self.start(counts, sizes)

    def rows_prior(self, v: Variables) -> DirichletRows:
        alpha = self.row_counts(v.n_labels)
        return DirichletRows(alpha if self.shared else alpha[None])

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        prevalence, confusion = super().variables(n_labels)
        about = f"Rows of the confusion matrices: {self.confusion.in_words}."
        return prevalence, replace(confusion, about=about)

    def story(self) -> list[str]:
        return [
            "Every item has one true class; every coder has a confusion matrix, and "
            "labels are independent given the true class."
        ]


@dataclass(frozen=True)
class Pooled(DawidSkene):
    r"""One confusion matrix for all coders.

    .. math::

        \pi \sim Dir(a), \quad \zeta_k \sim Dir(\alpha_k), \quad
        c_i \sim Cat(\pi), \quad y_n \sim Cat(\zeta_{c_{i_n}})

    Use it if coders are anonymous or have few labels each, or as a baseline for other models.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    confusion
        Prior of the rows of the confusion matrix.

    References
    ----------
    S. Paun, B. Carpenter, J. Chamberlain, D. Hovy, U. Kruschwitz and M. Poesio (2018). Comparing
    Bayesian models of annotation. TACL 6, 571-585. doi:10.1162/tacl_a_00040

    Examples
    --------
    >>> Pooled().shared
    True
    """

    name: ClassVar[str] = "pooled"
    title: ClassVar[str] = "Pooled"
    citation: ClassVar[str] = "doi:10.1162/tacl_a_00040"
    shared: ClassVar[bool] = True
    family: ClassVar[str] = "alike"

    def story(self) -> list[str]:
        return [
            "Every item has one true class; all coders share one confusion matrix, so the model "
            "estimates nothing about single coders."
        ]
