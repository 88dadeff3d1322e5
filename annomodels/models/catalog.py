"""Catalog of models, each loaded on first use."""

from __future__ import annotations

import importlib
import json
from collections import UserDict
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from annomodels.errors import NotApplicable, meant
from annomodels.priors.written import (
    class_within,
    is_own,
    model_of,
    newest,
    place_of,
    written_models,
)

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from annomodels.data.annotations import Annotations
    from annomodels.models.base import Model
    from annomodels.models.conjugate import ConjugateModel
    from annomodels.models.interval import Interval
    from annomodels.models.mixtures.stack import Stack


class Catalogue(UserDict[str, Any]):
    """Models by name, each loaded on lookup."""

    def __getitem__(self, name: str) -> type[Model]:
        found: str | type[Model] = self.data[name]
        return load(found) if isinstance(found, str) else found


def load(place: str) -> type[Model]:
    """Load a class, given as ``module:Class`` below this folder."""
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
        "scalar-difficulty": "continuous.scalar_difficulty:ScalarDifficulty",
        "beta-binomial-by-item": "continuous.by_item:BetaBinomialByItem",
        "item-difficulty": "continuous.item_difficulty:ItemDifficulty",
        "logistic-random-effects": "continuous.logistic_random_effects:LogisticRandomEffects",
        "ordinal": "continuous.ordinal:Ordinal",
        "graded-response": "continuous.graded_response:GradedResponse",
    }
)

# models listed in help and messages; the others are for research
USUAL = (
    *("stack", "hierarchical", "dawid-skene", "groups", "ambiguous", "item-difficulty"),
    *("ordinal", "interval"),
)

# models of truths that are not classes
OTHERS = Catalogue(
    {
        "interval": "interval:Interval",
        "pairs": "pairs:MentionPairs",
        "single": "pairs:SingleTruth",
    }
)

# components of other models; not for use on their own
PARTS = Catalogue(
    {
        "kinds": "mixtures.kinds:HonestAndSpammers",
        "answering": "answering:Answering",
    }
)

EVERY = Catalogue({**MODELS.data, **OTHERS.data, **PARTS.data})

# public names of ``annomodels.models``: class name -> place
PLACES = {place.partition(":")[2]: place for place in EVERY.data.values()}


def resolve(model: str | Model) -> Model:
    """Return the model with a name; return a model unchanged."""
    from annomodels.models.base import Model, require_usable

    if isinstance(model, str):
        if model in MODELS or model in OTHERS:
            return _with_defaults(model)
    elif isinstance(model, type):
        raise NotApplicable(f"{model.__name__} is a class. Give a model: {model.__name__}().")
    elif not isinstance(model, Model):
        raise NotApplicable(
            f"{model!r} is not a model. Give a name, a model of am.models, or an instance of a "
            "class derived from these."
        )
    else:
        if is_own(type(model)) and model.name in EVERY:
            raise NotApplicable(
                f"The class {type(model).__name__} has the name {model.name!r} of a model of this "
                "package. Give it another name."
            )
        require_usable(model)
        return model
    raise NotApplicable(unknown(model, [*MODELS, *OTHERS]))


def unknown(name: str, names: Collection[str]) -> str:
    """Return the message about an unknown model name."""
    found = dict.fromkeys([*USUAL, *(other for other in OTHERS if other in names)])
    usual = f"Use one of {', '.join(found)}, or a model for research (see the models page)."
    return f"Unknown model {name!r}. {meant(name, names)}{usual}"


@lru_cache
def _with_defaults(name: str) -> Model:
    """Return the model with a name; models are immutable, so one instance is enough."""
    return class_of(name)()


def streamable(model: Model | type[Model]) -> bool:
    """Return True if counts of labels by truth suffice, so that labels may stay on disk."""
    return is_stack(model) or "em" in model.engines


def is_stack(model: Model | type[Model]) -> TypeIs[Stack | type[Stack]]:
    """Return True if P(truth) is combined from other models, see ``models.mixtures.stack``."""
    return model.family == "stack"


def require_suited(model: Model, data: Annotations) -> None:
    """Reject labels of items from which a model cannot learn, with all reasons."""
    if model.truth == "link":
        raise NotApplicable(
            f"The {model.title} model is for mentions and their antecedents, not for labels of "
            "items. Fit it to am.coref.pairs(documents or a table of judgments)."
        )
    if model.truth == "number":
        cast("Interval", model).encode(data)
    else:
        from annomodels.models.encoded import require_fittable

        require_fittable(data)


def with_no_answers(model: Model, data: Annotations) -> Model:
    """Return a model with rates of no answer; the model itself if it cannot have them."""
    from annomodels.models.answering import Answering

    if isinstance(model, Answering) or model.shared or "em" not in model.engines:
        return model
    return Answering(cast("ConjugateModel", model)).with_data(data)


def from_dict(data: Mapping[str, object]) -> Model:
    """Build a model and its nested models from the plain data of ``to_dict``."""
    for part in written_models(data):
        if "class" not in part:
            class_of(part["name"])
    kind = class_within(data)
    try:
        return cast("Model", model_of(data))
    except (TypeError, ValueError) as error:
        if not is_own(kind):
            raise
        raise NotApplicable(
            f"The class {kind.__name__} does not accept the fields that the fit was saved with: "
            f"{error}. Give the version of the class from that time."
        ) from error


def class_of(name: str) -> type[Model]:
    """Load the class of the model or component with a name."""
    return EVERY[name]


def placed(described: dict[str, object], given: Iterable[type[Model]] = ()) -> dict[str, object]:
    """Return the plain data of a model with current places of classes outside this package."""
    described = json.loads(json.dumps(described))
    named = {kind.name: kind for kind in given}
    missing = []
    own = [part for part in written_models(described) if "class" in part]
    for part in own:
        found = named.get(part["name"]) or newest(part["class"])
        if found is None or found.name != part["name"]:
            place = part["class"].partition("#")[0].replace(":", ".")
            missing.append(f"{part['name']!r} ({place})")
        else:
            part["class"] = place_of(found)
    if missing:
        raise NotApplicable(
            f"The model {' and '.join(missing)} is not part of annomodels, and a file never names "
            "code to run. Import its class in Python first, or give the class to am.load as "
            "model."
        )
    if idle := sorted(named.keys() - {part["name"] for part in own}):
        raise NotApplicable(
            f"This is a fit of {described['name']!r}, without a part named "
            f"{' or '.join(map(repr, idle))}: leave out the class."
        )
    return described
