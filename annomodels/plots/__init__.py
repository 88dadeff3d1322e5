"""Pictures of a fit: functions that take a fit or a summary and give back a matplotlib figure.

One plot per file, one look in ``style``, and ``svg`` to put them into a page. May import all that
computes; only the report and the command line import it. matplotlib is loaded inside functions.
"""

from __future__ import annotations

from annomodels.plots.agreement import agreement_forest
from annomodels.plots.coders import coder_forest
from annomodels.plots.confusion import confusion_matrix
from annomodels.plots.coverage import coverage
from annomodels.plots.difficulty import difficulty
from annomodels.plots.pairwise import pairwise_heatmap
from annomodels.plots.predictive import predictive_votes
from annomodels.plots.prevalence import prevalence
from annomodels.plots.quadrant import quadrant
from annomodels.plots.ranks import ranks
from annomodels.plots.simplex import simplex
from annomodels.plots.svg import inline
from annomodels.plots.values import values

__all__ = [
    "agreement_forest",
    "coder_forest",
    "confusion_matrix",
    "coverage",
    "difficulty",
    "inline",
    "pairwise_heatmap",
    "predictive_votes",
    "prevalence",
    "quadrant",
    "ranks",
    "simplex",
    "values",
]
