r"""Coefficients that a fitted model implies: population values, one for each draw.

The labels of coders a and b have the joint :math:`\sum_k p_k \, \theta_{akl} \, \theta_{bkm}`. The
mean of joints over pairs needs no coder x coder table: :math:`\sum_{a \ne b} v_a v_b x_a x_b =
(\sum_a v_a x_a)^2 - \sum_a v_a^2 x_a^2`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from annomodels.coefficients.catalogue import Coefficient, find
from annomodels.coefficients.distances import Distance, DistanceLike, make_distance
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.tables import Evaluated, PairTables, fold, from_joint, over
from annomodels.errors import NotApplicable, Verb
from annomodels.types import Floats

BLOCK = 2_000_000


def pair_joint(prevalence: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
    p = np.asarray(prevalence, dtype=float)[..., None]
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    return np.asarray(np.swapaxes(a * p, -1, -2) @ b)


def implied(
    prevalence: ArrayLike,
    confusion: ArrayLike,
    names: Iterable[str] | str,
    coder_weight: ArrayLike | None = None,
    distance: DistanceLike = "nominal",
    values: ArrayLike | None = None,
) -> dict[str, Floats]:
    """Return the model-implied coefficients of a panel of coders, one value per draw."""
    p, theta = np.asarray(prevalence, dtype=float), np.asarray(confusion)
    if theta.ndim != 4 or p.shape != (theta.shape[0], theta.shape[2]):
        raise NotApplicable(
            f"prevalence has the shape {p.shape} and confusion {theta.shape}; they should be "
            "[sample, truth] and [sample, coder, truth, label]."
        )
    asked = [names] if isinstance(names, str) else list(names)
    entries = {name: _entry(name) for name in asked}
    metrics = {
        name: _metric(entry, theta.shape[-1], distance, values) for name, entry in entries.items()
    }
    n_coders = theta.shape[1]
    v = np.ones(n_coders) if coder_weight is None else np.asarray(coder_weight, dtype=float)
    if v.shape != (n_coders,) or not (np.isfinite(v).all() and (v >= 0).all()):
        raise NotApplicable(
            f"coder_weight has the shape {v.shape}; give one weight >= 0 for each of the "
            f"{n_coders} coders."
        )
    v = v / v.sum()
    found: dict[str, list[Floats]] = {name: [] for name in asked}
    block = max(1, BLOCK // max(int(np.prod(theta.shape[1:])), 1))
    for start in range(0, len(p), block):
        piece = slice(start, start + block)
        tables = _panel(p[piece], theta[piece], v)
        for name, entry in entries.items():
            if entry.two_coders_only and n_coders > 2:
                found[name].append(np.full(len(p[piece]), np.nan))
            elif entry.each_pair:
                # mean over the pairs of coders, one coder against all later ones at a time
                some, rows = p[piece], theta[piece]
                sums, weights = np.zeros((2, len(some)))
                for a in range(n_coders - 1):
                    joint = pair_joint(some[:, None], rows[:, a, None], rows[:, a + 1 :])
                    kappa = evaluate_with(entry.expectation, from_joint(joint), metrics[name]).value
                    w = np.where(np.isnan(kappa), 0.0, v[a] * v[a + 1 :])
                    weights += w.sum(-1)
                    sums += (np.where(w > 0, kappa, 0.0) * w).sum(-1)
                found[name].append(over(sums, weights))
            else:
                each = evaluate_with(entry.expectation, tables, metrics[name])
                found[name].append(each.value)
    return {name: np.concatenate(pieces) for name, pieces in found.items()}


def _entry(name: str) -> Coefficient:
    entry = find(name)
    if not entry.implied:
        raise NotApplicable(
            f"{entry.title} does not follow from a model of the labels alone. "
            f"Use {Verb('am.agreement', 'annomodels agree')}."
        )
    return entry


def _metric(
    entry: Coefficient, n_labels: int, distance: DistanceLike, values: ArrayLike | None
) -> Distance:
    x = None if values is None else np.asarray(values, dtype=float)
    how = "interval" if entry.numeric else distance if entry.weighted else "nominal"
    return make_distance(how, range(n_labels), x)


def _panel(p: Floats, theta: Floats, v: Floats) -> PairTables:
    first, second = np.triu_indices(theta.shape[-1])
    margins = np.einsum("sk,sjkl->sjl", p, theta, optimize=True) * v[:, None]
    pooled = margins.sum(1)
    total = np.einsum("j,sjkl->skl", v, theta, optimize=True)
    weighted = np.moveaxis(theta, 1, 3) * v
    within = weighted @ np.swapaxes(weighted, -1, -2)
    joint = np.einsum("sk,sklm->slm", p, total[..., :, None] * total[..., None, :] - within)
    rows = np.concatenate([pooled[:, None], margins], axis=1)
    return PairTables(
        first=first,
        second=second,
        together=np.maximum(fold(joint), 0.0),
        pooled=pooled,
        left=rows,
        right=rows,
        sign=np.concatenate([[1.0], np.full(len(v), -1.0)]),
        n=np.full(len(p), np.inf),
    )


def evaluate(name: str, tables: PairTables, distance: Distance | None = None) -> Evaluated:
    """Evaluate a coefficient of label-pair tables, by :data:`~.catalogue.COEFFICIENTS` name."""
    entry = find(name)
    if entry.chance:
        raise NotApplicable(
            f"{entry.title} needs the items, not only tables of label pairs. "
            f"Use {Verb('am.agreement', 'annomodels agree')}."
        )
    return evaluate_with(entry.expectation, tables, distance)
