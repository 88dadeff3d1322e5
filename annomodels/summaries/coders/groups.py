"""Groups of coders side by side: people and programs, trained coders and a crowd."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.errors import AnnotationError, NotApplicable, Problem
from annomodels.summaries.coders.populations import group_of_coders, population_accuracy
from annomodels.summaries.draws import interval
from annomodels.summaries.skills import coder_draws
from annomodels.types import Floats

MEASURES = ("accuracy", "skill", "bits")


def groups(
    tree: xr.DataTree,
    data: Annotations,
    groups: Mapping[Hashable, Hashable] | None = None,
    *,
    by_labels: bool = False,
) -> Summary:
    """Tabulate accuracy, skill and information of groups of coders, and their differences."""
    # The value of a group is the mean over its coders on every draw. Under the hierarchical model
    # one population draws coders with few labels towards each other: differences are rather too
    # small.
    if tree["posterior"].to_dataset()["confusion"].ndim == 4:
        raise NotApplicable("The pooled model gives all coders one confusion matrix.")
    populations: dict[str, Floats] = {}
    if groups is None:
        known = group_of_coders(tree, data)
        groups = {name: known[label_text(name)] for name in data.coders if known}
        populations = population_accuracy(tree)
    strange = [name for name in groups if name not in set(data.coders)]
    if strange:
        raise AnnotationError(
            Problem(
                f"Names with a group that are not coders of the data, {len(strange):,} "
                f"in all: {', '.join(map(label_text, strange[:5]))}.",
                data.source,
                "Name coders as the data do: data.coders.",
            )
        )
    named = list(dict.fromkeys(groups[name] for name in data.coders if name in groups))
    if not named:
        raise NotApplicable("No coder has a group. Give a mapping from coder to group.")
    draws = coder_draws(tree, data)
    n = np.bincount(data.coder, minlength=data.n_coders)
    texts = [label_text(name) for name in named]
    weight = np.zeros((len(named), data.n_coders))
    for j, coder in enumerate(data.coders):
        if coder in groups:
            weight[named.index(groups[coder]), j] = n[j] if by_labels else 1.0
    size, labels = (weight > 0).sum(axis=1), (weight > 0) @ n
    weight /= weight.sum(axis=1, keepdims=True)
    values = {name: getattr(draws, name) @ weight.T for name in MEASURES}
    if populations:
        values["population"] = np.stack([populations[text] for text in texts], axis=1)
    rows: list[dict[str, Any]] = [
        {"group": text, "coders": int(size[g]), "labels": int(labels[g])}
        | _columns({name: x[:, g] for name, x in values.items()}, pair=False)
        for g, text in enumerate(texts)
    ]
    rows += [
        {"group": f"{texts[a]} - {texts[b]}"}
        | _columns({name: x[:, a] - x[:, b] for name, x in values.items()}, pair=True)
        for a, b in combinations(range(len(named)), 2)
    ]
    kept = xr.Dataset(
        {name: (("sample", "group"), x) for name, x in values.items()}, coords={"group": texts}
    )
    table = pd.DataFrame(rows).astype({"coders": "Int64", "labels": "Int64"})
    left = data.n_coders - int(size.sum())
    notes = (f"Left out, having no group: {left:,} of {data.n_coders:,} coders.",) if left else ()
    return Summary("Groups of coders", table, kept, notes)


def _columns(draws: dict[str, Floats], *, pair: bool) -> dict[str, object]:
    out: dict[str, Any] = {}
    for name, values in draws.items():
        low, high = interval(values)
        out |= {name: float(values.mean()), f"{name}_low": float(low), f"{name}_high": float(high)}
        if len(values) < 2:
            above = float("nan")
        else:
            above = float((values > 0).mean()) if pair else float("nan")
        out[f"{name}_p_above"] = above
    return out
