"""The table of models: one line each, and no model is loaded before somebody asks for it."""

from __future__ import annotations

import importlib
from collections import UserDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from annomodels.errors import NotApplicable

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations
    from annomodels.models.base import Model


class Catalogue(UserDict[str, Any]):
    """Models by name, each loaded when it is looked up."""

    def __getitem__(self, name: str) -> type[Model]:
        found: str | type[Model] = self.data[name]
        return load(found) if isinstance(found, str) else found


def load(place: str) -> type[Model]:
    """Load a class, given its module below this folder and its name."""
    module, name = place.split(":")
    found: type[Model] = getattr(importlib.import_module(f"annomodels.models.{module}"), name)
    return found


MODELS = Catalogue(
    {
        "hierarchical": "hierarchical:HierarchicalDawidSkene",
        "groups": "grouped:GroupedCoders",
        "dawid-skene": "dawid_skene:DawidSkene",
        "class-conditional": "one_coin:ClassConditional",
        "one-coin": "one_coin:OneCoin",
        "mace": "mace:Mace",
        "pooled": "dawid_skene:Pooled",
        "logit-normal": "continuous.logit_normal:LogitNormalDawidSkene",
        "guess-level": "mixtures.guess_level:GuessLevel",
        "consensus": "mixtures.consensus:Consensus",
        "easy-hard": "mixtures.easy_hard:EasyHardItems",
        "ambiguous": "mixtures.ambiguous:Ambiguous",
        "readings": "mixtures.readings:Readings",
        "stack": "mixtures.stack:Stack",
        "spammers": "mixtures.kinds:Spammers",
        "item-kinds": "mixtures.item_kinds:KindsOfItems",
        "scalar-difficulty": "continuous.scalar_difficulty:ScalarDifficulty",
        "beta-binomial-by-item": "continuous.by_item:BetaBinomialByItem",
        "item-difficulty": "continuous.item_difficulty:ItemDifficulty",
        "logistic-random-effects": "continuous.logistic_random_effects:LogisticRandomEffects",
        "ordinal": "continuous.ordinal:Ordinal",
        "graded-response": "continuous.graded_response:GradedResponse",
    }
)

# models of a truth that is no class
OTHERS = Catalogue(
    {
        "interval": "interval:Interval",
        "pairs": "pairs:MentionPairs",
        "single": "pairs:SingleTruth",
    }
)

# how coders label in models whose items have states, or whether they do; not models of their own
PARTS = Catalogue(
    {
        "kinds": "mixtures.kinds:HonestAndSpammers",
        "kind-rows": "mixtures.kind_rows:KindRows",
        "answering": "answering:Answering",
    }
)

# what ``annomodels.models`` shows: class name -> place
PLACES = {
    place.partition(":")[2]: place
    for place in (*MODELS.data.values(), *OTHERS.data.values(), *PARTS.data.values())
}


def resolve(model: str | Model) -> Model:
    """Give the model that a name stands for; a model stands for itself.

    Parameters
    ----------
    model
        A model or one of the names in ``MODELS`` and ``OTHERS``.

    Raises
    ------
    NotApplicable
        When there is no model of that name.

    Examples
    --------
    >>> resolve("pooled").title
    'Pooled'
    """
    if not isinstance(model, str):
        return model
    if model in MODELS or model in OTHERS:
        return class_of(model)()
    raise NotApplicable(f"There is no model {model!r}. Use one of {', '.join([*MODELS, *OTHERS])}.")


def with_no_answers(model: Model, data: Annotations) -> Model:
    """Model in which it is learnt too whether coders answer; the model itself where it cannot be.

    Parameters
    ----------
    model
        A model that knows the data.
    data
        Annotations with labels that are not classes.
    """
    if model.shadows or model.shared or not model.by_counts:
        return model
    answering: Any = PARTS["answering"]
    found: Model = answering(model).bound(data)
    return found


def from_dict(data: dict[str, Any]) -> Model:
    """Read back a model that ``to_dict`` wrote, with the models that it is made of."""
    for part in _parts(data.get("priors")):
        class_of(part)
    return class_of(data["name"]).from_dict(data)


def class_of(name: str) -> type[Model]:
    """Load the model, or the part of models, that has a name."""
    for table in (MODELS, OTHERS, PARTS):
        if name in table:
            return table[name]
    raise KeyError(name)


def _parts(plain: Any) -> Iterator[str]:
    """Names of the models within plain data."""
    inner = plain.values() if isinstance(plain, dict) else plain
    if isinstance(plain, dict) and "model" in plain:
        yield plain["model"]["name"]
    if isinstance(plain, dict | list):
        for value in inner:
            yield from _parts(value)
