"""The plots of a fit as its methods: ``fit.plot.coders()``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Literal

from annomodels.data.html import Html

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Measure = Literal["accuracy", "skill", "bits", "reliability", "bias", "scale", "noise"]


class FitPlots(Html):
    """Plots of a fit, each a method that gives a matplotlib figure.

    With ``ax=`` a plot is drawn on your axes. A separate figure has a clear background and
    is not known to pyplot: save it with ``figure.savefig("name.svg")``; notebooks show it.

    Examples
    --------
    >>> import annomodels as am
    >>> fit = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1)
    >>> fit.plot
    plots: agreement, coders, confusion, coverage, difficulty, pairwise, predictive, prevalence,
    quadrant, ranks, simplex
    >>> fit.plot.confusion(1).axes[0].get_xlabel()
    'label given'
    """

    def __init__(self, fit: Any) -> None:
        self._fit = fit

    def __repr__(self) -> str:
        names = [name for name in dir(type(self)) if not name.startswith("_")]
        drawn = [name for name in names if not self._fit.lacks(f"plot.{name}")]
        return f"plots: {', '.join(drawn)}"

    def _of(self, name: str) -> Any:
        self._fit.require(f"plot.{name}")
        return self._fit

    def agreement(self, *, ax: Axes | None = None) -> Figure:
        """Draw the agreement coefficients, as observed and as the model implies them."""
        from annomodels.plots.coders import agreement_forest as draw

        return draw(self._of("agreement"), ax=ax)

    def coders(
        self,
        measure: Measure | None = None,
        *,
        most: int = 40,
        target: float | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """Draw the coders with 50 % and 95 % intervals, the worst on top."""
        from annomodels.plots.coders import coder_forest as draw

        return draw(self._of("coders"), measure=measure, most=most, target=target, ax=ax)

    def confusion(self, coder: Hashable, *, ax: Axes | None = None) -> Figure:
        """Draw what a coder says when the truth is this or that."""
        from annomodels.plots.coders import confusion_matrix as draw

        return draw(self._of("confusion"), coder, ax=ax)

    def coverage(self, *, ax: Axes | None = None) -> Figure:
        """Draw the expected accuracy of the gold labels when only the surest items are kept."""
        from annomodels.plots.trust import coverage as draw

        return draw(self._of("coverage"), ax=ax)

    def difficulty(self, *, ax: Axes | None = None) -> Figure:
        """Draw the items ordered by difficulty; only models such as "scalar-difficulty" know it."""
        from annomodels.plots.items import difficulty as draw

        return draw(self._of("difficulty"), ax=ax)

    def pairwise(
        self, measure: Literal["kappa", "agreement"] = "kappa", *, ax: Axes | None = None
    ) -> Figure:
        """Draw the agreement of every pair of coders, similar coders side by side."""
        from annomodels.plots.coders import pairwise_heatmap as draw

        return draw(self._of("pairwise"), measure=measure, ax=ax)

    def predictive(self, *, ax: Axes | None = None) -> Figure:
        """Draw what was observed against what the fitted model would produce."""
        from annomodels.plots.trust import predictive_votes as draw

        return draw(self._of("predictive"), ax=ax)

    def prevalence(self, *, ax: Axes | None = None) -> Figure:
        """Draw how frequent each label is, as given and as the model corrects it."""
        from annomodels.plots.items import prevalence as draw

        return draw(self._of("prevalence"), ax=ax)

    def quadrant(self, *, ax: Axes | None = None) -> Figure:
        """Draw the items by disagreement of their coders and doubt about their label."""
        from annomodels.plots.items import quadrant as draw

        return draw(self._of("quadrant"), ax=ax)

    def ranks(self, *, most: int = 4) -> Figure:
        """Draw whether the chains of the run tell the same story, a panel for each quantity."""
        from annomodels.plots.trust import ranks as draw

        return draw(self._of("ranks"), most=most)

    def simplex(self, *, ax: Axes | None = None) -> Figure:
        """Draw the items as points between three labels."""
        from annomodels.plots.items import simplex as draw

        return draw(self._of("simplex"), ax=ax)

    def values(self, *, ax: Axes | None = None) -> Figure:
        """Draw the true values of the items, where labels are numbers."""
        from annomodels.plots.items import values as draw

        return draw(self._of("values"), ax=ax)
