"""The table of models: one line each."""

from __future__ import annotations

from typing import Any

from annomodels.errors import NotApplicable
from annomodels.models.ambiguous import Ambiguous
from annomodels.models.answering import Answering
from annomodels.models.base import Model
from annomodels.models.by_item import BetaBinomialByItem
from annomodels.models.class_conditional import ClassConditional
from annomodels.models.consensus import Consensus
from annomodels.models.dawid_skene import DawidSkene
from annomodels.models.easy_hard import EasyHardItems
from annomodels.models.graded_response import GradedResponse
from annomodels.models.grouped import GroupedCoders
from annomodels.models.guess_level import GuessLevel
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.item_difficulty import ItemDifficulty
from annomodels.models.kinds import HonestAndSpammers
from annomodels.models.logistic_random_effects import LogisticRandomEffects
from annomodels.models.logit_normal import LogitNormalDawidSkene
from annomodels.models.mace import Mace
from annomodels.models.one_coin import OneCoin
from annomodels.models.opinion_pool import OpinionPool
from annomodels.models.ordinal import Ordinal
from annomodels.models.pooled import Pooled
from annomodels.models.readings import Readings
from annomodels.models.scalar_difficulty import ScalarDifficulty
from annomodels.models.spammers import Spammers
from annomodels.models.subtypes import SubtypeRows, Subtypes

__all__ = ["MODELS", "from_dict", "resolve"]

MODELS: dict[str, type[Model]] = {
    model.name: model
    for model in (
        HierarchicalDawidSkene,
        GroupedCoders,
        DawidSkene,
        ClassConditional,
        OneCoin,
        Mace,
        Pooled,
        LogitNormalDawidSkene,
        GuessLevel,
        Consensus,
        EasyHardItems,
        Ambiguous,
        Readings,
        OpinionPool,
        Spammers,
        Subtypes,
        ScalarDifficulty,
        BetaBinomialByItem,
        ItemDifficulty,
        LogisticRandomEffects,
        Ordinal,
        GradedResponse,
    )
}

# how coders label in models whose items have states, or whether they do; not models of their own
PARTS: dict[str, type[Model]] = {
    part.name: part for part in (HonestAndSpammers, SubtypeRows, Answering)
}


def resolve(model: str | Model) -> Model:
    """Give the model that a name stands for; a model stands for itself.

    Parameters
    ----------
    model
        A model or one of the names in ``MODELS``.

    Raises
    ------
    NotApplicable
        When there is no model of that name.

    Examples
    --------
    >>> resolve("pooled").title
    'Pooled'
    """
    if isinstance(model, Model):
        return model
    if model in MODELS:
        return MODELS[model]()
    if model == "interval":
        raise NotApplicable(
            "The interval model is for labels that are numbers and has a call of its own: "
            "am.fit_interval(data), or annomodels interval DATA -o FOLDER."
        )
    raise NotApplicable(f"There is no model {model!r}. Use one of {', '.join(MODELS)}.")


def from_dict(data: dict[str, Any]) -> Model:
    """Read back a model that ``to_dict`` wrote."""
    return {**MODELS, **PARTS}[data["name"]].from_dict(data)
