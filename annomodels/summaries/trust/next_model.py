"""Which model to try next when posterior predictive checks reject one."""

from __future__ import annotations

import json
from collections.abc import Collection

import xarray as xr

from annomodels.errors import Verb
from annomodels.models import MODELS
from annomodels.summaries.trust.findings import MESSAGES, Finding, finding

# aspects of the data that rules call "items"
OF_ITEMS = (
    *("votes, chi-square", "spread of the votes", "pairwise agreement", "Krippendorff's alpha"),
    "errors on the same items",
)
ORDERED = ("alike", "narrow", "matrices")  # families that do not use the order of labels
RULES = MESSAGES["next_model"]["rules"]


def next_model(
    model: str, rejected: Collection[str], n_labels: int, scale: str = "nominal"
) -> Finding | None:
    """Name the model to try after one that does not reproduce the data, as the value "other"."""
    if not rejected:
        return None
    family = MODELS[model].family if model in MODELS else ""
    other = because = ""
    if scale == "ordinal" and n_labels > 2 and family in ORDERED:
        other, because = "ordinal", MESSAGES["next_model"]["ordinal"]
    kinds = {*rejected, *(["items"] if set(OF_ITEMS).intersection(rejected) else [])}
    for rule in RULES:
        if not other and family in rule["families"] and kinds.intersection(rule["rejected"]):
            able = [name for name in rule["then"] if n_labels >= MODELS[name].fewest_labels]
            other, because = (*able[:1], "")[0], rule["because"]
    if not other:
        return None
    fit = Verb(f'am.fit(data, "{other}")', f"annomodels run DATA --model {other}")
    words = {"model": model, "other": other, "because": because}
    words["compare"] = str(Verb("am.compare", "annomodels compare"))
    return finding("next_model", "other", len(rejected), remedy=fit, **words)


def fitted_model(tree: xr.DataTree) -> str:
    """Return the short name of the model that was fitted, empty where the tree does not say."""
    return str(json.loads(tree.attrs.get("model", "{}")).get("name", ""))
