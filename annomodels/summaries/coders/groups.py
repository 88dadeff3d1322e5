"""Comparison of groups of coders, such as people and programs, or experts and a crowd."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import combinations

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable
from annomodels.models.grouped import refuse_strange
from annomodels.summaries.coders.populations import group_of_coders, population_accuracy
from annomodels.summaries.draws import estimated
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
    # The value of a group is the mean over its coders on every draw. The hierarchical model shrinks
    # coders with few labels towards one population, so differences tend to be too small.
    if tree["posterior"]["confusion"].ndim == 4:
        raise NotApplicable("The pooled model gives all coders one confusion matrix.")
    populations: dict[str, Floats] = {}
    if groups is None:
        known = group_of_coders(tree, data)
        groups = {name: known[label_text(name)] for name in data.coders if known}
        populations = population_accuracy(tree)
    strange = [label_text(name) for name in groups if name not in set(data.coders)]
    refuse_strange(strange, data.source)
    named = list(dict.fromkeys(groups[name] for name in data.coders if name in groups))
    if not named:
        raise NotApplicable("No coder has a group. Give a mapping from coder to group.")
    draws = coder_draws(tree, data)
    n = data.per_coder
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
    pairs = list(combinations(range(len(named)), 2))
    names = [*texts, *(f"{texts[a]} - {texts[b]}" for a, b in pairs)]
    columns: dict[str, object] = {"group": names}
    for name, counted in (("coders", size), ("labels", labels)):
        columns[name] = pd.array([*counted.tolist(), *[None] * len(pairs)], dtype="Int64")
    for name, x in values.items():
        each = np.column_stack([x, *(x[:, a] - x[:, b] for a, b in pairs)])
        above = (each > 0).mean(axis=0)
        above[: len(named) if len(x) > 1 else None] = np.nan
        columns |= {**estimated(name, each), f"{name}_p_above": above}
    kept = xr.Dataset(
        {name: (("sample", "group"), x) for name, x in values.items()}, coords={"group": texts}
    )
    left = data.n_coders - int(size.sum())
    out = f"Coders left out because they have no group: {left:,} of {data.n_coders:,}."
    notes = (out,) if left else ()
    return Summary("Groups of coders", pd.DataFrame(columns), kept, notes)
