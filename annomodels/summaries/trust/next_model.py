"""Which model to try next when posterior predictive checks reject one: rules as declared data."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass

import xarray as xr

from annomodels.errors import Verb
from annomodels.models import MODELS

# aspects of the data by the names that the table of checks gives them
OF_ITEMS = frozenset(
    {
        "votes, chi-square", "spread of the votes", "pairwise agreement", "Krippendorff's alpha",
        "errors on the same items",
    }
)  # fmt: skip
PAIRS = frozenset({"agreement of pairs"})
USE = frozenset({"use of labels"})

# families of models: coders alike; few numbers of a coder; a matrix each; harder and easier items;
# items with several readings
ALIKE, NARROW = frozenset({"alike"}), frozenset({"narrow"})
HARD, READ = frozenset({"hardness"}), frozenset({"readings"})
BY_CLASS = NARROW | {"matrices"}


@dataclass(frozen=True)
class Rule:
    """A model to try when one of some models fails in one of some ways."""

    families: frozenset[str]  # families of the models that the rule is about, see ``Model.family``
    rejected: frozenset[str]  # aspects of the data of which at least one is not reproduced
    then: tuple[str, ...]  # models to try, of which the first that exists for the labels is named
    because: str  # what it has that the other lacks, to follow "it"


RULES = (
    Rule(ALIKE, USE | PAIRS, ("hierarchical",), "gives every coder a confusion matrix"),
    Rule(ALIKE, OF_ITEMS, ("scalar-difficulty",), "lets coders differ and items be hard"),
    Rule(NARROW, USE, ("hierarchical",), "lets every coder prefer some labels"),
    Rule(
        BY_CLASS,
        OF_ITEMS | PAIRS,
        ("scalar-difficulty",),
        "lets items of one class differ in difficulty, so that coders err on the same items",
    ),
    Rule(
        HARD,
        OF_ITEMS,
        ("ambiguous", "readings"),
        "lets items have more than one right reading",
    ),
    Rule(
        READ,
        OF_ITEMS | PAIRS,
        ("scalar-difficulty",),
        "lets items of one class differ in difficulty by degrees",
    ),
)


@dataclass(frozen=True)
class NextModel:
    """The model to try next."""

    name: str  # its short name
    sentence: str  # why, and how


def next_model(
    model: str, rejected: Collection[str], n_labels: int, scale: str = "nominal"
) -> NextModel | None:
    """Name the model to try after one that does not reproduce the data."""
    if not rejected:
        return None
    family = MODELS[model].family if model in MODELS else ""
    if scale == "ordinal" and n_labels > 2 and family in BY_CLASS | ALIKE:
        return _said("ordinal", "uses the order of the labels", model)
    for rule in RULES:
        if family not in rule.families or not rule.rejected.intersection(rejected):
            continue
        for name in rule.then:
            if n_labels >= MODELS[name].fewest_labels:
                return _said(name, rule.because, model)
    return None


def _said(name: str, because: str, model: str) -> NextModel:
    fit = Verb(f'am.fit(data, "{name}")', f"annomodels run DATA --model {name}")
    return NextModel(
        name,
        f"The model {model} does not reproduce the data. Try {name} next: it {because}. "
        f"{Verb('am.compare', 'annomodels compare')} shows which predicts better. Fit it with "
        f"{fit}.",
    )


def fitted_model(tree: xr.DataTree) -> str:
    """Return the short name of the model that was fitted, empty where the tree does not say."""
    return str(json.loads(tree.attrs.get("model", "{}")).get("name", ""))
