"""Consensus error: the crowd can agree on the wrong class, even with many coders."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.mixtures.layout import Layout, TruthVariable
from annomodels.models.mixtures.state_model import StateModel
from annomodels.priors import Diagonal, FixedDiagonal


@dataclass(frozen=True)
class Consensus(StateModel):
    r"""Coders respond to a perceived class, which may differ from the truth.

    .. math::

        c'_i \sim Cat(\pi), \quad y_n \sim Cat(\theta_{j_n, c'_{i_n}}), \quad
        B_k \sim Dir(b_k), \quad truth_i \mid c'_i = k \sim Cat(B_k)

    B contains the error rates of the crowd that more coders cannot reduce. Labels have no
    information about them: without known truths, the posterior of B is its prior. Items with known
    truth update it.

    Parameters
    ----------
    coders
        Model of the labels given the perceived class.
    error
        Prior of the rows of B: pseudo-items, and the proportion for which the crowd is right.

    Examples
    --------
    >>> Consensus().layout(2).truths.alpha
    array([[19.,  1.],
           [ 1., 19.]])
    """

    name: ClassVar[str] = "consensus"
    title: ClassVar[str] = "consensus error"
    citation: ClassVar[str] = "this package"
    family: ClassVar[str] = "hardness"

    error: FixedDiagonal = field(default_factory=lambda: Diagonal(20.0, 0.95))

    def layout(self, n_labels: int) -> Layout:
        eye, right = np.eye(n_labels), f"{100 * self.error.accuracy:.0f} %"
        about = (
            f"The crowd is right about {right} of the items of a class (a prior worth "
            f"{self.error.strength:g} items; only known labels can update it)."
        )
        return Layout(
            names=tuple(str(k) for k in range(n_labels)),
            mix=eye,
            base=np.arange(n_labels),
            truth=eye,
            truths=TruthVariable("consensus", self.error.alpha(n_labels), about=about),
        )

    def story(self) -> list[str]:
        return ["The class that all coders perceive may differ from the truth."]
