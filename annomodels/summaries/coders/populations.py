"""Populations of coders: accuracy per group, and simulated new coders."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.models.grouped import groups_in
from annomodels.models.mixtures.state_model import newcomers
from annomodels.summaries.draws import evenly, flat, interval, model_of, n_samples
from annomodels.types import Floats


def group_of_coders(tree: xr.DataTree, data: Annotations) -> dict[str, str]:
    """Return the group of each coder; empty unless the model has several groups."""
    found = groups_in(model_of(tree))
    return {} if found is None else found.group_of([label_text(name) for name in data.coders])


def population_accuracy(tree: xr.DataTree) -> dict[str, Floats]:
    """Return the accuracy of each group's mean coder, sum_k pi_k m_gkk, by group, [sample]."""
    model = groups_in(model_of(tree))
    if model is None:
        return {}
    posterior = tree["posterior"].to_dataset()
    values = {str(name): drawn.values for name, drawn in posterior.data_vars.items()}
    found = model.population_accuracy(values)
    return {name: drawn.astype(float).ravel() for name, drawn in found.items()}


def sentences(tree: xr.DataTree) -> tuple[str, ...]:
    """Describe the accuracy of each group, and the probability that one beats another."""
    found = population_accuracy(tree)
    out = []
    for name, draws in found.items():
        low, high = interval(draws)
        span = "" if len(draws) < 2 else f" ({low:.2f} to {high:.2f})"
        out.append(f"Population accuracy of {name}: {draws.mean():.2f}{span}.")
    for (a, first), (b, second) in combinations(found.items(), 2):
        if len(first) < 2:
            break
        if first.mean() < second.mean():
            a, b, first, second = b, a, second, first
        out.append(f"P({a} better than {b}) = {(first > second).mean():.2f}.")
    return tuple(out)


class Newcomers(NamedTuple):
    """Two new coders per draw: state probabilities, and P(label | state) of each coder."""

    share: Floats
    first: Floats
    second: Floats


def new_coders(tree: xr.DataTree, n_max: int, seed: int = 0) -> Newcomers | None:
    """Draw two new coders from the population on every draw; None without a population."""
    total = n_samples(tree)
    chosen = evenly(total, min(n_max, total))
    rng = np.random.default_rng(seed)
    found = newcomers(model_of(tree), lambda name: flat(tree, name, chosen), rng)
    return None if found is None else Newcomers(*found)
