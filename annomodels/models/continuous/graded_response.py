"""Graded response: the truth is a position on a scale, and classes are intervals of it."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

import numpy as np
from scipy.special import erfinv, ndtr

from annomodels.models.base import State
from annomodels.models.continuous.cutpoints import ScaleModel, label_logp
from annomodels.models.parameters import Parameter, Variables
from annomodels.models.states import ItemStates
from annomodels.types import Floats, TensorLike

REACH = 4.0
LEAST_SHARE = 1e-9


@dataclass(frozen=True)
class GradedResponse(ScaleModel):
    r"""Each item has a position on a scale; coders perceive it with shift and noise, and cut it.

    .. math::

        x_i \sim N(0, 1), \qquad
        P(y_n \le l \mid x_i) = F\Big(\frac{u_l - x_i - b_{j_n}}{s_{j_n}}\Big), \qquad
        u_l = \Phi^{-1}(\pi_1 + \dots + \pi_l), \quad \pi \sim Dir(a)

    with F logistic. The true class of an item is the interval between two cut-points that contains
    its position, so :math:`\pi` is the prevalence of the classes, and an item close to a cut-point
    is hard because it is between two classes. Shift :math:`b_j`, spread :math:`s_j` and lapse rate
    of the coders are pooled (:class:`~annomodels.models.continuous.cutpoints.ScaleModel`); the unit
    of shift and spread is the standard deviation of the items.

    The position is summed out over an equally spaced grid whose points represent the normal
    distribution in their bins. A bin with a cut-point belongs to two classes, in proportion to
    their parts of its probability.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    shift_scale
        Scale t of the half-normal prior of the spread of the shifts.
    typical
        Median of the spread (noise) of a typical coder.
    typical_scale
        Standard deviation of its logarithm.
    spread_scale
        Scale w of the half-normal prior of the standard deviation of the coders' log spreads.
    typical_lapse
        Proportion of labels of a typical coder that ignore the item.
    nodes
        Number of points of the grid.

    References
    ----------
    F. Samejima (1969). Estimation of latent ability using a response pattern of graded scores.
    Psychometrika 34, S1-S97. doi:10.1007/BF03372160

    Examples
    --------
    >>> len(GradedResponse().grid()[0])
    41
    """

    name: ClassVar[str] = "graded-response"
    title: ClassVar[str] = "graded response"
    citation: ClassVar[str] = "doi:10.1007/BF03372160"
    swappable: ClassVar[bool] = False

    nodes: int = 41

    def grid(self) -> tuple[Floats, Floats]:
        """Return points [node] and bin edges [node + 1]; the outermost edges are infinite."""
        points = np.linspace(-REACH, REACH, self.nodes)
        inner = (points[1:] + points[:-1]) / 2
        return points, np.concatenate([[-np.inf], inner, [np.inf]])

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        return {**super().coords(labels), "state": [f"{x:.3g}" for x in self.grid()[0]]}

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        def cuts(v: Variables) -> TensorLike:
            below = v.xp.clip(v.xp.cumsum(v["prevalence"])[:-1], LEAST_SHARE, 1.0 - LEAST_SHARE)
            inverse = erfinv if v.xp is np else v.xp.erfinv
            return np.sqrt(2.0) * inverse(2.0 * below - 1.0)

        given = Parameter("cuts", ("cut",), follows=cuts)
        return (*super().variables(n_labels), given, *self.coder_parameters(n_labels))

    def _truth(self, prevalence: TensorLike, xp: ModuleType) -> TensorLike:
        """Return P(truth | point) [node, truth]: proportion of a bin's probability per class."""
        edges = ndtr(self.grid()[1])
        upper = xp.cumsum(prevalence)[:-1]
        filled = xp.clip(upper[None, :], edges[:-1, None], edges[1:, None]) - edges[:-1, None]
        below = filled / np.diff(edges)[:, None]
        whole = xp.ones_like(below[:, :1])
        return xp.concatenate([below[:, :1], below[:, 1:] - below[:, :-1], whole - below[:, -1:]],
                              axis=1)  # fmt: skip

    def item_states(self, v: Variables) -> ItemStates:
        points, edges = self.grid()
        return ItemStates(
            np.log(np.diff(ndtr(edges))),
            self._truth(v["prevalence"], v.xp),
            label_logp(points, v["cuts"], v, v.xp),
            values={"position": points},
        )

    def pymc_start(self, state: State) -> dict[str, Floats]:
        prevalence = np.exp(state.log_prevalence) + 0.02
        return {"prevalence": prevalence / prevalence.sum(), **self.coder_start(state)}

    def story(self) -> list[str]:
        return [
            "Every item has a place on a scale, standard normal; its true class is the range "
            "between two cut-points that contains this place. Every coder sees the place shifted "
            "and blurred (logistic) and divides the scale at cut-points that all coders share. The "
            "cut-points follow from the prevalence."
        ]
