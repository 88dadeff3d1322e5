"""Which model to try next when posterior predictive checks reject one: rules as declared data."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annomodels.models import MODELS

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["RULES", "NextModel", "Rule", "fitted_model", "next_model"]

# aspects of the data by the names that the table of checks gives them
OF_ITEMS = frozenset(
    {
        "votes, chi-square", "spread of the votes", "pairwise agreement", "Krippendorff's alpha",
        "errors on the same items",
    }
)  # fmt: skip
PAIRS = frozenset({"agreement of pairs"})
USE = frozenset({"use of labels"})

# models whose items are no more than their class, and coders have a matrix of some kind
BY_CLASS = frozenset(
    {"hierarchical", "dawid-skene", "class-conditional", "one-coin", "mace", "logit-normal"}
)
ALIKE = frozenset({"pooled", "beta-binomial-by-item", "item-difficulty"})
NARROW = frozenset({"class-conditional", "one-coin", "mace"})
HARD = frozenset(
    {"scalar-difficulty", "logistic-random-effects", "easy-hard", "guess-level", "consensus"}
)


@dataclass(frozen=True)
class Rule:
    """A model to try when one of some models fails in one of some ways.

    Parameters
    ----------
    models
        Models that the rule is about.
    rejected
        Aspects of the data of which at least one is not reproduced.
    then
        Models to try, of which the first that exists for the labels is named.
    because
        What it has that the other lacks, to follow "it".
    """

    models: frozenset[str]
    rejected: frozenset[str]
    then: tuple[str, ...]
    because: str


RULES = (
    Rule(ALIKE, USE | PAIRS, ("hierarchical",), "gives every coder a confusion matrix"),
    Rule(ALIKE, OF_ITEMS, ("scalar-difficulty",), "lets coders differ and items be hard"),
    Rule(NARROW, USE, ("hierarchical",), "lets every coder prefer labels of their own"),
    Rule(
        BY_CLASS,
        OF_ITEMS | PAIRS,
        ("scalar-difficulty",),
        "lets items of one class differ in difficulty, so that coders err on the same items",
    ),
    Rule(
        HARD,
        PAIRS,
        ("subtypes",),
        "lets a class have kinds of items on which the same coders err together",
    ),
    Rule(
        HARD,
        OF_ITEMS,
        ("ambiguous", "subtypes"),
        "lets items have more than one right reading, or kinds within a class",
    ),
    Rule(
        frozenset({"ambiguous", "subtypes"}),
        OF_ITEMS | PAIRS,
        ("scalar-difficulty",),
        "lets items of one class differ in difficulty by degrees",
    ),
)

# models that need more labels than two to be another model
FEWEST_LABELS = {"ambiguous": 3}


@dataclass(frozen=True)
class NextModel:
    """The model to try next.

    Parameters
    ----------
    name
        Its short name.
    sentence
        Why, and how.
    """

    name: str
    sentence: str


def next_model(
    model: str, rejected: Collection[str], n_labels: int, scale: str = "nominal"
) -> NextModel | None:
    """Name the model to try after one that does not reproduce the data.

    Parameters
    ----------
    model
        Short name of the model that was fitted.
    rejected
        Names of the aspects it does not reproduce.
    n_labels
        Number of labels.
    scale
        Scale of the labels; ordered ones of three or more suit the ordinal model.

    Returns
    -------
    NextModel
        None when nothing is rejected, or no rule helps.

    Examples
    --------
    >>> next_model("dawid-skene", ["votes, chi-square"], 2).name
    'scalar-difficulty'
    >>> next_model("dawid-skene", [], 2) is None
    True
    """
    if not rejected:
        return None
    if scale == "ordinal" and n_labels > 2 and "ordinal" in MODELS and model in BY_CLASS | ALIKE:
        return _said("ordinal", "uses the order of the labels", model)
    for rule in RULES:
        if model not in rule.models or not rule.rejected.intersection(rejected):
            continue
        for name in rule.then:
            if name in MODELS and n_labels >= FEWEST_LABELS.get(name, 2):
                return _said(name, rule.because, model)
    return None


def _said(name: str, because: str, model: str) -> NextModel:
    return NextModel(
        name,
        f"The model {model} does not reproduce the data. Try {name} next: it {because}. "
        f'am.compare tells which predicts better; fit it with am.fit(data, "{name}").',
    )


def fitted_model(tree: xr.DataTree) -> str:
    """Give the short name of the model that was fitted, empty where the tree does not say.

    Parameters
    ----------
    tree
        Result of a fit.
    """
    return str(json.loads(tree.attrs.get("model", "{}")).get("name", ""))
