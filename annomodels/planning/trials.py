"""One study carried out on paper: made-up labels, fitted, and compared with their truth."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from annomodels.coefficients.agreement import agreement
from annomodels.data.annotations import Annotations
from annomodels.errors import AnnotationError
from annomodels.fitting.run import fit
from annomodels.models.base import Model
from annomodels.models.fittable import require_fittable
from annomodels.types import Ints

RUN: dict[str, Any] = {"chains": 1, "draws": 200, "warmup": 100, "extend": False, "threads": 1}
ALPHA_DRAWS = 500


class Trial(NamedTuple):
    """What came out.

    Parameters
    ----------
    accuracy
        Share of right gold labels.
    vote
        The same of the majority vote, a tie counted by the chance to hit.
    alpha
        Krippendorff's alpha, and the width of its 95 % interval; NaN where it is undefined.
    """

    accuracy: float
    vote: float
    alpha: float
    width: float


def trial(data: Annotations, truth: Ints, model: str | Model, seed: int) -> Trial:
    """Fit made-up data and compare the gold standard with the truth.

    Parameters
    ----------
    data
        Made-up annotations.
    truth
        Codes of the true labels, shape [item].
    model
        The model that gives the gold standard. Where nothing can be fitted, because no item has
        two labels, the vote is the gold standard.
    seed
        Seed of the fit.

    Examples
    --------
    >>> from annomodels.planning.simulate import simulate
    >>> made = simulate(40, 6, 2, 6, accuracy=0.99, seed=1)
    >>> found = trial(made.annotations, made.truth, "dawid-skene", 1)
    >>> found.accuracy, found.vote, round(found.alpha, 2)
    (1.0, 1.0, 0.93)
    """
    voted = vote_accuracy(data, truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small or one-sided data: they are what is studied
        measured = agreement(data, "alpha", draws=ALPHA_DRAWS, seed=seed)
        width = measured.high - measured.low if np.isfinite(measured.value) else float("nan")
        try:
            require_fittable(data)
        except AnnotationError:
            return Trial(voted, voted, measured.value, width)
        result = fit(data, model, seed=seed, **RUN)
    label = result.tree["truth"].to_dataset()["p_truth"].values.argmax(axis=1)
    return Trial(float((label == truth).mean()), voted, measured.value, width)


def vote_accuracy(data: Annotations, truth: Ints) -> float:
    """Share of items whose majority vote is right; a tie counts by the chance to hit.

    Examples
    --------
    >>> rows = [("t1", "a", 0), ("t1", "b", 1), ("t2", "a", 1), ("t2", "b", 1)]
    >>> vote_accuracy(Annotations.from_records(rows), np.array([0, 1]))
    0.75
    """
    best = data.votes == data.votes.max(axis=1, keepdims=True)
    return float((best[np.arange(data.n_items), truth] / best.sum(axis=1)).mean())
