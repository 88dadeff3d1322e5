"""Populations of groups of coders, where a model knows such groups."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.summaries.draws import interval, model_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["group_of_coders", "population_accuracy", "sentences"]

Floats = NDArray[np.float64]


def group_of_coders(tree: xr.DataTree, data: Annotations) -> dict[str, str]:
    """Group of each coder under a model with more than one group; empty under others.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.
    """
    return model_of(tree).group_of([label_text(name) for name in data.coders])


def population_accuracy(tree: xr.DataTree) -> dict[str, Floats]:
    r"""Accuracy of the mean of each group's population, by group, shape [sample].

    .. math:: a_g = \sum_k \pi_k m_{g,k,k}

    It is what a new coder of the group is expected to have. Empty under models without groups.

    Parameters
    ----------
    tree
        Result of a fit.
    """
    posterior = tree["posterior"].to_dataset()
    values = {str(name): drawn.values for name, drawn in posterior.data_vars.items()}
    found = model_of(tree).population_accuracy(values)
    return {name: drawn.astype(float).ravel() for name, drawn in found.items()}


def sentences(tree: xr.DataTree) -> tuple[str, ...]:
    """Say what the groups are worth, and how probably one is better than another.

    Parameters
    ----------
    tree
        Result of a fit.
    """
    found = population_accuracy(tree)
    out = []
    for name, draws in found.items():
        low, high = interval(draws)
        span = "" if len(draws) < 2 else f" [{low:.2f}, {high:.2f}]"
        out.append(f"Population accuracy of {name}: {draws.mean():.2f}{span}.")
    for (a, first), (b, second) in combinations(found.items(), 2):
        if len(first) < 2:
            break
        if first.mean() < second.mean():
            a, b, first, second = b, a, second, first
        out.append(f"P({a} better than {b}) = {(first > second).mean():.2f}.")
    return tuple(out)
