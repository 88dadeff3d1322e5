"""Plots of a fit: functions from a fit or a summary to a matplotlib figure.

Coders and items have a file each, ``trust`` has diagnostics, and ``style`` the common look and the
way into a page.
May import all computing modules; only the report and the command line import it. matplotlib is
loaded inside functions.
"""

from __future__ import annotations

from annomodels.plots.coders import (
    agreement_forest,
    coder_forest,
    confusion_matrix,
    pairwise_heatmap,
)
from annomodels.plots.items import difficulty, doubt, prevalence, simplex, values
from annomodels.plots.style import inline
from annomodels.plots.trust import coverage, predictive_votes, ranks

__all__ = [
    "agreement_forest",
    "coder_forest",
    "confusion_matrix",
    "coverage",
    "difficulty",
    "doubt",
    "inline",
    "pairwise_heatmap",
    "predictive_votes",
    "prevalence",
    "ranks",
    "simplex",
    "values",
]
