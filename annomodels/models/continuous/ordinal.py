"""Ordinal labels: ordered true classes, and coders with shift and noise on the scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from annomodels.models.base import State
from annomodels.models.confusion import ConfusionModel
from annomodels.models.continuous.cutpoints import ScaleModel, label_logp
from annomodels.models.parameters import Parameter, Variables
from annomodels.priors import Scale
from annomodels.priors.distributions import OrderedNormal
from annomodels.types import Floats, TensorLike


@dataclass(frozen=True)
class Ordinal(ScaleModel, ConfusionModel):
    r"""Dawid-Skene for ordered labels: coders perceive a scale with shift and noise, and cut it.

    .. math::

        c_i \sim Cat(\pi), \qquad
        P(y_n \le l \mid c_i = k) = F\Big(\frac{u_l - k - b_{j_n}}{s_{j_n}}\Big), \qquad
        u_l \sim N(l + 1/2, d^2), \quad u_1 < \dots < u_{K-1}

    with F logistic. Class k has position k on the scale, which defines the unit of all other
    parameters. A coder with shift :math:`b_j > 0` gives labels that are too high, a coder with a
    large spread :math:`s_j` is imprecise, and a proportion :math:`\lambda_j` of a coder's labels
    ignores the item. All three parameters are pooled over the coders
    (:class:`~annomodels.models.continuous.cutpoints.ScaleModel`).

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
    cut_spread
        Standard deviation d of a cut-point around the midpoint of its two classes.

    Examples
    --------
    >>> Ordinal().engines
    ('nuts',)
    """

    name: ClassVar[str] = "ordinal"
    title: ClassVar[str] = "ordinal"
    citation: ClassVar[str] = "this package"
    swappable: ClassVar[bool] = False

    cut_spread: Scale = 0.25

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        middle = np.arange(n_labels - 1, dtype=float) + 0.5
        cuts = Parameter(
            "cuts", ("cut",), prior=OrderedNormal(middle, self.cut_spread),
            about="Cut-points: normal around the middle between two classes with spread "
            f"{self.cut_spread:g} steps, in order.",
        )  # fmt: skip
        return (*super().variables(n_labels), cuts, *self.coder_parameters(n_labels))

    def log_rows(self, v: Variables) -> TensorLike:
        return label_logp(np.arange(v.n_labels), v["cuts"], v, v.xp)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        prevalence = np.exp(state.log_prevalence)
        return {
            "prevalence": prevalence,
            "cuts": np.arange(len(prevalence) - 1) + 0.5,
            **self.coder_start(state),
        }

    def story(self) -> list[str]:
        return [
            "Every item has one true class; the classes lie one step apart on a scale. Every coder "
            "sees the place of the item shifted and blurred (logistic) and divides the scale into "
            "labels at cut-points that all coders share."
        ]
