"""The pooled (multinomial) model: all coders share one confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from annomodels.models.dawid_skene import DawidSkene

__all__ = ["Pooled"]


@dataclass(frozen=True)
class Pooled(DawidSkene):
    r"""One confusion matrix for all coders.

    .. math::

        \pi \sim Dir(a), \quad \zeta_k \sim Dir(\alpha_k), \quad
        c_i \sim Cat(\pi), \quad y_n \sim Cat(\zeta_{c_{i_n}})

    Right when coders cannot be told apart or have a handful of labels each; a floor to compare
    other models with.

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

    def pymc_log_confusion(self, n_labels: int) -> Any:
        """Log confusion [row, truth, label] as a tensor, with its priors; in a model context."""
        import pymc as pm
        import pytensor.tensor as pt

        confusion = pm.Dirichlet(
            "confusion", a=self.confusion.alpha(n_labels), dims=("truth", "label")
        )
        return pt.log(confusion)[None]

    def describe(self) -> list[str]:
        """Story and priors in sentences."""
        story = (
            "Every item has one true class; all coders share one confusion matrix, so nothing is "
            "learnt about single coders."
        )
        return [story, *super().describe()[1:]]
