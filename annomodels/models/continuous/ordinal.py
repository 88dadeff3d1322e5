"""Ordinal labels: true classes in order, coders who shift and blur the scale."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np

from annomodels.models.base import State
from annomodels.models.confusion import ConfusionModel
from annomodels.models.continuous.cutpoints import CODER_PARAMETERS, CoderScale, label_logp
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.parameters import Parameter
from annomodels.priors import Dirichlet, Probability, Scale
from annomodels.types import Floats, Tensor


@dataclass(frozen=True)
class Ordinal(ConfusionModel):
    r"""Dawid-Skene for labels in order: coders shift and blur the scale, then cut it.

    .. math::

        c_i \sim Cat(\pi), \qquad
        P(y_n \le l \mid c_i = k) = F\Big(\frac{u_l - k - b_{j_n}}{s_{j_n}}\Big), \qquad
        u_l \sim N(l + 1/2, d^2), \quad u_1 < \dots < u_{K-1}

    with F logistic. Class k lies at k on the scale; that fixes the unit of everything else. A
    coder with shift :math:`b_j > 0` gives labels that are too high; one with a large spread
    :math:`s_j` is not precise; and a share :math:`\lambda_j` of their labels does not look at the
    item at all. All three are pooled over the coders
    (:class:`~annomodels.models.continuous.cutpoints.CoderScale`).

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    shift_scale
        Scale t of the half-normal prior of the spread of the shifts.
    typical
        Median of the spread (blur) of a typical coder.
    typical_scale
        Standard deviation of its logarithm.
    spread_scale
        Scale w of the half-normal prior of how much the log spreads of the coders differ.
    typical_lapse
        Share of labels of a typical coder that do not look at the item.
    cut_spread
        Standard deviation d of a cut-point around the middle of its two classes.

    Examples
    --------
    >>> Ordinal().engines
    ('nuts',)
    """

    name: ClassVar[str] = "ordinal"
    title: ClassVar[str] = "ordinal"
    citation: ClassVar[str] = "this package"
    swappable: ClassVar[bool] = False

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    shift_scale: Scale = 0.5
    typical: Scale = 0.35
    typical_scale: Scale = 0.5
    spread_scale: Scale = 0.5
    typical_lapse: Probability = 0.03
    cut_spread: Scale = 0.25

    @property
    def coders(self) -> CoderScale:
        """Parameters of the coders on the scale."""
        return CoderScale(
            self.shift_scale,
            self.typical,
            self.typical_scale,
            self.spread_scale,
            self.typical_lapse,
        )

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Names along the dimensions that only this model has."""
        return {"cut": [f"{a} | {b}" for a, b in pairwise(labels)]}

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the cut-points, and how coders use the scale."""
        return CODER_PARAMETERS

    def pymc_log_confusion(self, n_labels: int) -> Tensor:
        """Log confusion [row, truth, label] as a tensor, with its priors; in a model context."""
        import pymc as pm
        import pytensor.tensor as pt
        from pymc.distributions.transforms import ordered

        coders = self.coders.pymc(n_labels)
        middle = np.arange(n_labels - 1) + 0.5
        # the constraint truncates the normal density; its constant does not depend on parameters
        cuts = pm.Normal(
            "cuts", middle, self.cut_spread, dims="cut", transform=ordered, initval=middle
        )
        log_confusion = label_logp(np.arange(n_labels), cuts, coders, pt)
        pm.Deterministic("confusion", pt.exp(log_confusion), dims=("coder", "truth", "label"))
        return log_confusion

    def pymc_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Add the standardized numbers of the coders."""
        return self.coders.pymc_values(values)

    @property
    def starter(self) -> HierarchicalDawidSkene:
        """The conjugate model whose mode is the starting point."""
        return HierarchicalDawidSkene(self.prevalence)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Values of the PyMC variables that correspond to a state of the starting model."""
        prevalence = np.exp(state.log_prevalence)
        return {
            "prevalence": prevalence,
            "cuts": np.arange(len(prevalence) - 1) + 0.5,
            **self.coders.start(len(state.log_confusion), len(prevalence)),
        }

    def sample_parameters(self, n_rows: int, n_labels: int, rng: np.random.Generator) -> State:
        """Draw parameters from the prior."""
        middle = np.arange(n_labels - 1) + 0.5
        cuts = rng.normal(middle, self.cut_spread)
        while (np.diff(cuts) <= 0).any():
            cuts = rng.normal(middle, self.cut_spread)
        drawn = self.coders.sample(n_rows, n_labels, rng)
        rows = label_logp(np.arange(n_labels), cuts, drawn, np)
        prevalence = rng.dirichlet(self.prevalence.alpha(n_labels))
        rows = np.ascontiguousarray(rows.transpose(0, 2, 1))
        return State(np.log(prevalence), rows, {**drawn, "cuts": cuts})

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        return [
            "Every item has one true class; the classes lie one step apart on a scale. Every "
            "coder sees the place of the item shifted and blurred (logistic) and cuts the scale "
            "into labels at cut-points that all share.",
            f"Prevalence: {self.prevalence.in_words}.",
            f"Cut-points: normal around the middle between two classes with spread "
            f"{self.cut_spread:g} steps, in order.",
            *self.coders.describe(),
        ]
