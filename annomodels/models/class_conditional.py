"""Class-conditional: a coder has one accuracy for each class, and errors are uniform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from annomodels.models.one_coin import OneCoin

__all__ = ["ClassConditional"]


@dataclass(frozen=True)
class ClassConditional(OneCoin):
    r"""Dawid-Skene with one accuracy for each coder and class, and uniform errors.

    .. math::

        \pi \sim Dir(a), \quad \rho_{j,k} \sim Beta(\alpha, \beta), \quad
        c_i \sim Cat(\pi), \quad
        P(y_n = l \mid c_{i_n} = k) = \rho_{j_n,k} \text{ if } l = k \text{, else }
        \frac{1 - \rho_{j_n,k}}{K - 1}

    Between one coin and Dawid-Skene, which it is for two classes. It sees that a class is hard for
    a coder, not which other label the class is taken for.

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
        """Give the number of accuracies of a coder."""
        return n_labels

    def describe(self) -> list[str]:
        """Story and priors in sentences."""
        return [
            "Every item has one true class; every coder has an accuracy for each class, and "
            "errors are equally likely to be any other label.",
            *self._priors(),
        ]
