"""Accuracy, skill and information of confusion matrices, and of coders on every draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import evenly, flat, n_samples, stacked, thinned
from annomodels.types import Floats

BUDGET = 256 * 2**20
NO_SIGNAL = 0.1  # signal below which labels are no evidence about the truth
DOUBT = 0.05  # largest acceptable probability of a signal below NO_SIGNAL
SIGNAL_DRAWS = 500
SURE = 2.0  # standard deviations from which a sign counts as certain


def accuracy(prevalence: Floats, confusion: Floats) -> Floats:
    """Compute P(right label), sum_k prevalence_k confusion_jkk, shape [..., coder]."""
    diagonal = np.diagonal(confusion, axis1=-2, axis2=-1)
    out: Floats = (diagonal * prevalence[..., None, :]).sum(axis=-1)
    return out


def says(prevalence: Floats, confusion: Floats) -> Floats:
    """Compute P(label) of each coder, sum_k prevalence_k confusion_jkl, [..., coder, label]."""
    out: Floats = (prevalence[..., None, None, :] @ confusion)[..., 0, :]
    return out


def skill(prevalence: Floats, confusion: Floats) -> Floats:
    """Compute kappa between a coder and the truth, shape [..., coder]."""
    # Cohen 1960, doi:10.1177/001316446002000104, with the truth as the second coder.
    right, said = accuracy(prevalence, confusion), says(prevalence, confusion)
    return _beyond_chance(prevalence, right, said)


def _beyond_chance(prevalence: Floats, right: Floats, said: Floats) -> Floats:
    chance = (said * prevalence[..., None, :]).sum(axis=-1)
    out: Floats = (right - chance) / np.maximum(1 - chance, 1e-12)
    return out


def bits(prevalence: Floats, confusion: Floats) -> Floats:
    """Compute the mutual information of truth and label of a coder, in bits, [..., coder]."""
    # Shannon 1948, doi:10.1002/j.1538-7305.1948.tb01338.x
    return _told(prevalence, confusion, says(prevalence, confusion))


def _told(prevalence: Floats, confusion: Floats, said: Floats) -> Floats:
    given = (_plogp(confusion).sum(axis=-1) * prevalence[..., None, :]).sum(axis=-1)
    out: Floats = np.maximum(given - _plogp(said).sum(axis=-1), 0.0)
    return out


def entropy_bits(p: Floats) -> Floats:
    """Compute the entropy over the last axis, in bits."""
    out: Floats = np.abs(_plogp(p).sum(axis=-1))
    return out


def _plogp(p: Floats) -> Floats:
    out: Floats = p * np.log2(np.maximum(p, 1e-300))
    return out


@dataclass(frozen=True, eq=False)
class CoderDraws:
    """Draws of accuracy, skill and information of coders."""

    accuracy: Floats
    skill: Floats
    bits: Floats
    recall: Floats
    over_use: Floats
    prevalence: Floats


def coder_draws(tree: xr.DataTree, data: Annotations, budget: int = BUDGET) -> CoderDraws:
    """Compute skills of coders on every draw, thinned if there are very many coders."""
    n_labels, n_coders, total = data.n_labels, data.n_coders, n_samples(tree)
    count = max(1, min(total, budget // (8 * n_coders * (3 + 2 * n_labels))))
    chosen = evenly(total, count)
    prevalence = flat(tree, "prevalence", chosen)
    values = tree["posterior"].to_dataset()["confusion"].values
    values = values.reshape(total, *values.shape[2:])
    shared = values.ndim == 3
    if shared:
        values = values[:, None]
    n_blocks = values.shape[1]
    step = max(1, budget // (32 * count * n_labels**2))
    scalars = np.empty((3, count, n_blocks))
    vectors = np.empty((2, count, n_blocks, n_labels))
    for first in range(0, n_blocks, step):
        some = slice(first, first + step)
        part = values[:, some] if count == total else values[chosen, some]
        part = part.astype(np.float64, copy=False)
        said = says(prevalence, part)
        scalars[0, :, some] = accuracy(prevalence, part)
        scalars[1, :, some] = _beyond_chance(prevalence, scalars[0, :, some], said)
        scalars[2, :, some] = _told(prevalence, part, said)
        vectors[0, :, some] = np.diagonal(part, axis1=-2, axis2=-1)
        vectors[1, :, some] = said - prevalence[:, None]
    if shared:
        scalars = np.broadcast_to(scalars, (3, count, n_coders))
        vectors = np.broadcast_to(vectors, (2, count, n_coders, n_labels))
    stack = stacked(tree)
    return CoderDraws(
        accuracy=scalars[0] if stack is None else stack.far_off(scalars[0]),
        skill=scalars[1],
        bits=scalars[2],
        recall=vectors[0],
        over_use=vectors[1],
        prevalence=prevalence,
    )


def signal(tree: xr.DataTree, data: Annotations) -> Floats:
    """Measure the dependence of labels on the truth, sum_j N_j rho_j / N, shape [draw]."""
    # rho_j is the skill of coder j, in absolute value if certainly below 0. If skill is near 0, it
    # is the information coefficient of correlation, sqrt(1 - exp(-2 I_j)) (Linfoot 1957,
    # doi:10.1016/S0019-9958(57)90116-X). It is 0 if a model-free test finds no dependence.
    draws = thinned(tree, data, SIGNAL_DRAWS)
    n, k = data.per_coder, data.n_labels
    if data.by_chance:
        return np.zeros(len(draws))
    worth = skill(draws.prevalence, draws.confusion)
    mean, spread = worth.mean(axis=0), worth.std(axis=0)
    worth = np.where(mean < -SURE * spread, -worth, worth)
    unclear = np.flatnonzero((n > 0) & (np.abs(mean) <= SURE * spread))
    if len(unclear):  # swaps among three or more classes can leave accuracy at chance
        nats = bits(draws.prevalence, draws.confusion[:, unclear]) * np.log(2.0)
        # three times the expected estimate from as many independent labels
        by_chance = 3.0 * (k - 1) ** 2 / (2.0 * n[unclear])
        certain = np.quantile(nats, 0.025, axis=0) > by_chance
        worth[:, unclear[certain]] = np.sqrt(-np.expm1(-2.0 * nats[:, certain]))
    return np.asarray(worth @ (n / n.sum()))


def doubtful(values: Floats) -> bool:
    """Return True if the signal may be too small to trust any label."""
    return bool((values < NO_SIGNAL).mean() > DOUBT)
