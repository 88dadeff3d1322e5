"""How many gold labels are wrong, and how many the majority vote would get wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.summaries.draws import choices, interval, thinned, truth_probabilities
from annomodels.summaries.gold.gold import pooled_truths

__all__ = ["Wrong", "wrong_labels"]

_DRAWS = 400
_CELLS = 40_000_000  # items x classes x draws to look at: a second or two


@dataclass(frozen=True)
class Wrong:
    """Posterior of the number of wrong labels.

    Parameters
    ----------
    n
        Items whose truth is not known.
    gold, gold_low, gold_high
        Expected number of wrong labels of the gold standard, with a 95 % interval.
    vote, vote_low, vote_high
        The same for the majority vote; a tie counts as a choice at random.
    """

    n: int
    gold: float
    gold_low: float
    gold_high: float
    vote: float
    vote_low: float
    vote_high: float


def wrong_labels(fit: Any) -> Wrong:
    """Count wrong labels on replicated truths, one per posterior draw.

    Parameters
    ----------
    fit
        A fit; with engine "em" the intervals are NaN.
    """
    data = fit.data
    mean = np.asarray(fit.tree["truth"]["p_truth"].values, dtype=float)
    unknown = np.ones(data.n_items, bool) if data.gold is None else data.gold < 0
    best = mean.argmax(axis=1)
    winners = data.votes == data.votes.max(axis=1, keepdims=True)
    chance = winners / winners.sum(axis=1, keepdims=True)
    gold = float((1 - mean.max(axis=1))[unknown].sum())
    vote = float((1 - (mean * chance).sum(axis=1))[unknown].sum())
    counts = _replicated(fit, unknown, best, chance)
    low, high = interval(counts)
    return Wrong(
        n=int(unknown.sum()),
        gold=gold,
        gold_low=float(low[0]),
        gold_high=float(high[0]),
        vote=vote,
        vote_low=float(low[1]),
        vote_high=float(high[1]),
    )


def _replicated(
    fit: Any, unknown: NDArray[np.bool_], best: NDArray[np.int64], chance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Numbers of wrong labels by gold and by vote, shape [draw, 2]."""
    most = max(40, min(_DRAWS, _CELLS // max(chance.size, 1)))
    if "pool" in fit.tree.children:
        beliefs = pooled_truths(fit.tree, most)
    else:
        beliefs = truth_probabilities(thinned(fit.tree, fit.data, most), fit.data)
    rng = np.random.default_rng(0)
    counts = []
    for _, p in beliefs:
        truth = choices(p, rng.random(len(p)))
        vote = choices(chance, rng.random(len(p)))
        counts.append([((truth != by) & unknown).sum() for by in (best, vote)])
    return np.array(counts, dtype=float)
