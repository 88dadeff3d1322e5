"""Pictures of a fit: functions that take a fit or a summary and give back a matplotlib figure.

Coders in one file, items in another, what tells whether to believe a fit in ``trust``; one look in
``style``, and ``svg`` to put them into a page.
May import all that computes; only the report and the command line import it. matplotlib is loaded
inside functions.
"""

from __future__ import annotations

from annomodels.plots.coders import (
    agreement_forest,
    coder_forest,
    confusion_matrix,
    pairwise_heatmap,
)
from annomodels.plots.items import difficulty, doubt, prevalence, simplex, values
from annomodels.plots.svg import inline
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
