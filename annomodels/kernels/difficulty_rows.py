"""Rows of confusion matrices under an item difficulty, and the gradient back."""

from __future__ import annotations

import math

from annomodels.kernels.compile import Array, inlined


@inlined
def fill_rows(
    ability: Array, hard: Array, slope: Array, guess: Array, leaning: Array, table: Array
) -> None:
    """Log P(label | class, difficulty) as [coder * labels + label, class * nodes + node].

    `ability` is [coder, truth], `hard` [truth, node]; `slope` [coder], `guess` [truth] and
    `leaning` [coder, truth, label] are empty where the model has none.
    """
    n_coders, k = ability.shape
    nodes = hard.shape[1]
    for j in range(n_coders):
        for truth in range(k):
            lucky = guess[truth] if len(guess) else 0.0
            total = wrong_total(leaning, j, truth, k)
            for q in range(nodes):
                s = truth * nodes + q
                effect = hard[truth, q] * (slope[j] if len(slope) else 1.0)
                odds = ability[j, truth] - effect - total
                small = math.log1p(math.exp(-abs(odds)))
                log_right, log_wrong = min(odds, 0.0) - small, min(-odds, 0.0) - small
                if len(guess):
                    log_right = math.log(lucky + (1.0 - lucky) * math.exp(log_right))
                    log_wrong += math.log1p(-lucky)
                for label in range(k):
                    at = j * k + label
                    if label == truth:
                        table[at, s] = log_right
                    elif len(leaning):
                        table[at, s] = log_wrong + leaning[j, truth, label] - total
                    else:
                        table[at, s] = log_wrong


@inlined
def wrong_total(leaning: Array, j: int, truth: int, k: int) -> float:
    """Log of the sum of exp(leaning) over the wrong labels; 0 where there is one of them."""
    if len(leaning) == 0:
        return 0.0
    total = 0.0
    for label in range(k):
        if label != truth:
            total += math.exp(leaning[j, truth, label])
    return math.log(total)


@inlined
def rows_back(
    ability: Array,
    hard: Array,
    slope: Array,
    guess: Array,
    leaning: Array,
    grad: Array,
    ability_grad: Array,
    hard_grad: Array,
    slope_grad: Array,
    guess_grad: Array,
    leaning_grad: Array,
) -> None:
    """Add the gradient with respect to what `fill_rows` takes; `grad` is that of its table."""
    n_coders, k = ability.shape
    nodes = hard.shape[1]
    for j in range(n_coders):
        steep = slope[j] if len(slope) else 1.0
        for truth in range(k):
            lucky = guess[truth] if len(guess) else 0.0
            total = wrong_total(leaning, j, truth, k)
            of_total = 0.0
            for q in range(nodes):
                s = truth * nodes + q
                odds = ability[j, truth] - steep * hard[truth, q] - total
                p = 1.0 / (1.0 + math.exp(-odds))
                of_right, of_wrong = grad[j * k + truth, s], 0.0
                for label in range(k):
                    if label != truth:
                        of_label = grad[j * k + label, s]
                        of_wrong += of_label
                        if len(leaning):
                            leaning_grad[j, truth, label] += of_label
                right = lucky + (1.0 - lucky) * p
                rise = (1.0 - lucky) * (p / right) * (1.0 - p) if right > 0.0 else 1.0
                of_odds = of_right * rise - of_wrong * p
                if len(guess):
                    guess_grad[truth] += of_right * (1.0 - p) / right - of_wrong / (1.0 - lucky)
                ability_grad[j, truth] += of_odds
                hard_grad[truth, q] -= steep * of_odds
                if len(slope):
                    slope_grad[j] -= hard[truth, q] * of_odds
                of_total -= of_odds + of_wrong
            if len(leaning):
                for label in range(k):
                    if label != truth:
                        leaning_grad[j, truth, label] += of_total * math.exp(
                            leaning[j, truth, label] - total
                        )


@inlined
def spread_leanings(common: Array, scale: Array, own: Array, leaning: Array) -> None:
    """Leanings [coder, truth, label] from those of the wrong labels alone, zero on the diagonal.

    `common` is [truth, wrong], `scale` [truth], `own` [coder, truth, wrong].
    """
    n_coders, k, _ = leaning.shape
    for j in range(n_coders):
        for truth in range(k):
            for label in range(k):
                if label == truth:
                    leaning[j, truth, label] = 0.0
                else:
                    w = label - int(label > truth)
                    leaning[j, truth, label] = common[truth, w] + scale[truth] * own[j, truth, w]
