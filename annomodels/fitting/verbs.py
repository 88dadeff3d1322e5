"""The one table of what can be asked of a fit: which function answers, or why none does."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

# what the truth of an item is, and where the labels are
Kind = tuple[str, str]
CLASSES, SCAN, NUMBERS = ("class", "memory"), ("class", "disk"), ("number", "memory")
LINKS = "link", "memory"

# Each function takes the tree of results, the data, and what the verb is told besides; those of
# plots take the fit.
VERBS: dict[str, dict[Kind, str]] = {
    "ambiguous": {LINKS: "annomodels.summaries.links:ambiguous"},
    "chains": {LINKS: "annomodels.summaries.links:chains"},
    "interpretations": {LINKS: "annomodels.summaries.links:interpretations"},
    "links": {LINKS: "annomodels.summaries.links:links"},
    "mentions": {LINKS: "annomodels.summaries.links:mentions"},
    "agreement": {
        CLASSES: "annomodels.summaries.agreement:agreement",
        NUMBERS: "annomodels.summaries.numbers:agreement",
    },
    "check": {
        CLASSES: "annomodels.summaries.trust.checks:check",
        SCAN: "annomodels.scale.summaries:check",
        NUMBERS: "annomodels.summaries.numbers:check",
        LINKS: "annomodels.summaries.links:check",
    },
    "coders": {
        CLASSES: "annomodels.summaries.coders.coders:coders",
        SCAN: "annomodels.scale.summaries:coders",
        NUMBERS: "annomodels.summaries.numbers:coders",
        LINKS: "annomodels.summaries.links:coders",
    },
    "coverage": {CLASSES: "annomodels.summaries.gold.coverage:coverage"},
    "effects": {CLASSES: "annomodels.summaries.coders.effects:effects"},
    "gold": {
        CLASSES: "annomodels.summaries.gold.gold:gold",
        NUMBERS: "annomodels.summaries.numbers:gold",
    },
    "groups": {CLASSES: "annomodels.summaries.coders.groups:groups"},
    "items": {
        CLASSES: "annomodels.summaries.items.items:items",
        NUMBERS: "annomodels.summaries.numbers:items",
    },
    "labels": {CLASSES: "annomodels.summaries.labels:scheme"},
    "next": {CLASSES: "annomodels.summaries.next.next_labels:next_labels"},
    "p_next": {CLASSES: "annomodels.summaries.foretold.p_next:p_next"},
    "predictive": {CLASSES: "annomodels.summaries.trust.predictive:aspects"},
    "prevalence": {
        CLASSES: "annomodels.summaries.labels:prevalence",
        SCAN: "annomodels.summaries.labels:prevalence",
    },
    "prior_sensitivity": {CLASSES: "annomodels.summaries.trust.priors:prior_sensitivity"},
    "wrong_labels": {CLASSES: "annomodels.summaries.gold.coverage:wrong_labels"},
    "why": {CLASSES: "annomodels.summaries.gold.why:why"},
    "write_gold": {SCAN: "annomodels.scale.summaries:write_gold"},
    "compare": {CLASSES: "annomodels.summaries.trust.held_out:held_out"},
    "plot.agreement": {
        CLASSES: "annomodels.plots.coders:agreement_forest",
        NUMBERS: "annomodels.plots.coders:agreement_forest",
    },
    "plot.coders": {
        CLASSES: "annomodels.plots.coders:coder_forest",
        SCAN: "annomodels.plots.coders:coder_forest",
        NUMBERS: "annomodels.plots.coders:coder_forest",
    },
    "plot.confusion": {
        CLASSES: "annomodels.plots.coders:confusion_matrix",
        SCAN: "annomodels.plots.coders:confusion_matrix",
    },
    "plot.coverage": {CLASSES: "annomodels.plots.trust:coverage"},
    "plot.difficulty": {CLASSES: "annomodels.plots.items:difficulty"},
    "plot.pairwise": {CLASSES: "annomodels.plots.coders:pairwise_heatmap"},
    "plot.predictive": {CLASSES: "annomodels.plots.trust:predictive_votes"},
    "plot.prevalence": {
        CLASSES: "annomodels.plots.items:prevalence",
        SCAN: "annomodels.plots.items:prevalence",
    },
    "plot.quadrant": {CLASSES: "annomodels.plots.items:quadrant"},
    "plot.ranks": {
        CLASSES: "annomodels.plots.trust:ranks",
        SCAN: "annomodels.plots.trust:ranks",
        LINKS: "annomodels.plots.trust:ranks",
    },
    "plot.simplex": {CLASSES: "annomodels.plots.items:simplex"},
    "plot.values": {NUMBERS: "annomodels.plots.items:values"},
}

IN_MEMORY = "the gold standard fits into memory, use gold()"
NO_VALUES = "items have classes and no values"
NO_LINKS = dict.fromkeys(
    ("ambiguous", "chains", "interpretations", "links", "mentions"),
    "items have no antecedents; fit am.coref.pairs(documents)",
)
PLOTTED = "this plot is drawn of classes only"
# why a kind of fit has no answer: for a verb, or (under "") for all others
REASONS: dict[Kind, dict[str, str]] = {
    NUMBERS: {
        **NO_LINKS,
        "": "numbers have no classes",
        "write_gold": IN_MEMORY,
        "compare": "held-out labels are scored for classes only",
        "effects": "covariates are of models of classes",
        "next": "labels to ask for are weighed for classes only",
        "p_next": "the next label is foretold for classes only",
        "predictive": "made-up labels are compared with the given ones for classes only",
        "prior_sensitivity": "other priors are tried for classes only",
        "groups": "groups of coders are compared for classes only",
        **{f"plot.{name}": PLOTTED for name in ("difficulty", "pairwise", "predictive")},
        **{f"plot.{name}": PLOTTED for name in ("quadrant", "ranks")},
    },
    LINKS: {
        "": "mentions are linked to antecedents and have no classes",
        "agreement": "agreement on links is measured on texts, am.coref.agreement_table(documents)",
        "gold": "silver labels are in mentions(), and silver chains in chains()",
        "items": "doubtful mentions are in ambiguous()",
        "p_next": "what one more reader would say is a column of interpretations()",
        "compare": "held-out labels are scored for classes only",
    },
    CLASSES: {**NO_LINKS, "write_gold": IN_MEMORY, "plot.values": NO_VALUES},
    SCAN: {
        **NO_LINKS,
        "": "needs the labels in memory: fit them without a scan",
        "plot.values": NO_VALUES,
        "gold": "the gold standard of a scan goes to disk, use write_gold(path)",
    },
}


def lacking(kind: Kind, verb: str) -> str:
    """Say why a kind of fit has no answer to a verb; empty where it has one.

    Raises
    ------
    KeyError
        When there is no such verb.
    """
    if kind in VERBS[verb]:
        return ""
    reasons = REASONS[kind]
    return reasons.get(verb) or reasons[""]


def answering(kind: Kind, verb: str) -> Callable[..., Any]:
    """Load the function that answers a verb for a kind of fit."""
    module, name = VERBS[verb][kind].split(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
