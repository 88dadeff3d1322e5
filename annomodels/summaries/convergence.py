"""R-hat and effective draws of the parameters that must have mixed, with their names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.summaries import skills

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["convergence"]

Floats = NDArray[np.float64]

BUSIEST = 100
FEWEST_DRAWS = 8
# parameters of populations beside those with a diagonal: as they are, and on the log scale
MEANS = ("mean_ability", "guessing")
SCALES = (
    "concentration", "scale", "common_accuracy", "ability_scale", "leaning_scale",
    "difficulty_scale", "group_concentration", "group_accuracy",
)  # fmt: skip


def convergence(tree: xr.DataTree, data: Annotations) -> tuple[list[str], Floats, Floats]:
    """Rank-normalised split R-hat and bulk effective sample size of what is watched.

    Watched are the prevalence, the population of coders (diagonal, and concentration or scale on
    the log scale) and the accuracy of the hundred busiest coders. One chain is cut in two.

    Source: Vehtari et al. 2021, doi:10.1214/20-BA1221.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.

    Returns
    -------
    tuple
        Names, R-hat and effective sample sizes; constants are left out, and everything when
        there are too few draws.

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> names, rhat, ess = convergence(*small_fit())
    >>> names[0], bool(rhat.max() < 1.1), bool(ess.min() > 50)
    ('prevalence of neg', True, True)
    """
    from arviz_stats.base import array_stats

    if "watched" in tree.attrs:
        return _noted(tree, data)
    names, draws = _watched(tree, data)
    if draws.shape[0] == 1:
        half = draws.shape[1] // 2
        draws = np.stack([draws[0, :half], draws[0, half : 2 * half]])
    if draws.shape[1] < FEWEST_DRAWS:
        return [], np.empty(0), np.empty(0)
    columns = np.ascontiguousarray(np.moveaxis(draws, 2, 0))
    varies = np.ptp(columns, axis=(1, 2)) > 1e-12
    names = [name for name, keep in zip(names, varies, strict=True) if keep]
    if not names:
        return [], np.empty(0), np.empty(0)
    # a chain that stands still has no variance: R-hat is then infinite, which is the right answer
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat = array_stats.rhat(columns[varies], chain_axis=1, draw_axis=2)
        ess = array_stats.ess(columns[varies], chain_axis=1, draw_axis=2)
    return names, np.nan_to_num(rhat, nan=np.inf), np.nan_to_num(ess, nan=0.0)


def _noted(tree: xr.DataTree, data: Annotations) -> tuple[list[str], Floats, Floats]:
    """Give what was found of every iteration, where the draws are few of many."""
    found = json.loads(tree.attrs["watched"])
    values = np.array([found["rhat"], found["ess"]], dtype=float)
    names = [f"prevalence of {label_text(name)}" for name in data.labels]
    chosen = np.argsort(-data.per_coder, kind="stable")[:BUSIEST]
    coders = [f"accuracy of {data.coders[j]}" for j in chosen]
    others = values.shape[1] - len(names) - len(coders)
    names += [f"parameter {n} of the population of coders" for n in range(1, others + 1)]
    varies = np.isfinite(values[1])
    rhat = np.nan_to_num(values[0, varies], nan=np.inf)
    names = [name for name, keep in zip([*names, *coders], varies, strict=True) if keep]
    return names, rhat, values[1, varies]


def _watched(tree: xr.DataTree, data: Annotations) -> tuple[list[str], Floats]:
    posterior = tree["posterior"].to_dataset()
    labels = [label_text(name) for name in data.labels]
    prevalence = posterior["prevalence"].values.astype(float)
    parts = [prevalence]
    names = [f"prevalence of {label}" for label in labels]
    for variable in ("population", "location"):
        if variable in posterior:
            # the last row of a location has no diagonal: it is the base of the logits
            diagonal = np.diagonal(posterior[variable].values, axis1=2, axis2=3)
            parts.append(diagonal)
            names += [f"{variable} of {label}" for label in labels[: diagonal.shape[2]]]
    for variable in MEANS:
        if variable in posterior:
            parts.append(posterior[variable].values)
            names += [f"{variable.replace('_', ' ')} of {label}" for label in labels]
    for variable in SCALES:
        if variable in posterior:
            values = np.log(np.maximum(posterior[variable].values, 1e-300))
            values = values.reshape(*values.shape[:2], -1)
            parts.append(values)
            words = variable.replace("_", " ")
            names += [f"{words} {n}" for n in range(1, values.shape[2] + 1)]
    confusion = posterior["confusion"]
    if confusion.ndim == 4:
        right = skills.accuracy(prevalence, confusion.values[:, :, None])
        names.append("accuracy of all coders")
    else:
        busy = data.per_coder
        chosen = np.argsort(-busy, kind="stable")[:BUSIEST]
        right = skills.accuracy(prevalence, confusion.values[:, :, chosen])
        names += [f"accuracy of {data.coders[j]}" for j in chosen]
    parts.append(right)
    return names, np.concatenate(parts, axis=2)
