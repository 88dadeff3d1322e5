"""Plots of a fit as methods, such as ``fit.plot.coders()``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate

from annomodels import plots
from annomodels.data.html import Html

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _method[**P](
    name: str, draw: Callable[Concatenate[Any, P], Figure]
) -> Callable[Concatenate[FitPlots, P], Figure]:
    """Return a plot as a method that raises NotApplicable, with the reason, if a fit lacks it."""

    @functools.wraps(draw)
    def method(found: FitPlots, /, *args: P.args, **options: P.kwargs) -> Figure:
        found._fit.require(f"plot.{name}")
        return draw(found._fit, *args, **options)

    return method


class FitPlots(Html):
    """Plots of a fit, each a method that returns a matplotlib figure.

    With ``ax=`` a plot is drawn on your axes. A separate figure has a clear background and
    is not known to pyplot: save it with ``figure.savefig("name.svg")``; notebooks show it.

    Examples
    --------
    >>> import annomodels as am
    >>> fit = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1)
    >>> fit.plot
    plots: agreement, coders, confusion, coverage, difficulty, doubt, pairwise, predictive,
    prevalence, ranks, simplex
    >>> fit.plot.confusion(1).axes[0].get_xlabel()
    'label given'
    """

    agreement = _method("agreement", plots.agreement_forest)
    coders = _method("coders", plots.coder_forest)
    confusion = _method("confusion", plots.confusion_matrix)
    coverage = _method("coverage", plots.coverage)
    difficulty = _method("difficulty", plots.difficulty)
    pairwise = _method("pairwise", plots.pairwise_heatmap)
    predictive = _method("predictive", plots.predictive_votes)
    prevalence = _method("prevalence", plots.prevalence)
    doubt = _method("doubt", plots.doubt)
    ranks = _method("ranks", plots.ranks)
    simplex = _method("simplex", plots.simplex)
    values = _method("values", plots.values)

    def __init__(self, fit: Any) -> None:
        self._fit = fit

    def __repr__(self) -> str:
        names = [name for name in dir(type(self)) if not name.startswith("_")]
        drawn = [name for name in names if not self._fit.unsupported(f"plot.{name}")]
        return f"plots: {', '.join(drawn)}"
