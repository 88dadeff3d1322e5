"""Log density of the scalar difficulty model and its gradient, equal to those of PyMC."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, inlined, kernel
from annomodels.kernels.transforms import (
    half_normals,
    log_simplex,
    log_simplex_back,
    normals,
    partly_centred,
    partly_centred_back,
    state_likelihood,
    sum_of_squares,
    zero_sum,
    zero_sum_back,
)


@inlined
def fill_rows(
    ability: Array, hard: Array, slope: Array, guess: Array, leaning: Array, table: Array
) -> None:
    """Fill `table` [coder * labels + label, class * nodes + node] with log probabilities."""
    # ability [coder, truth], hard [truth, node]; slope [coder], guess [truth] and leaning [coder,
    # truth, label] are empty if the model does not have them
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
                # both log-logistic functions from one exponential that cannot overflow
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
    """Return the log sum of exp(leaning) over the wrong labels; 0 without leanings."""
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
    """Add the gradient for the arguments of `fill_rows`; `grad` is that of its table."""
    n_coders, k = ability.shape
    nodes = hard.shape[1]
    for j in range(n_coders):
        steep = slope[j] if len(slope) else 1.0
        for truth in range(k):
            lucky = guess[truth] if len(guess) else 0.0
            total = wrong_total(leaning, j, truth, k)
            # All wrong labels share one total, so their gradients are summed first: nodes x labels
            # steps instead of nodes x labels squared.
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
    """Fill leanings [coder, truth, label] from those of the wrong labels; 0 on the diagonal."""
    # common [truth, wrong], scale [truth], own [coder, truth, wrong]
    n_coders, k, _ = leaning.shape
    for j in range(n_coders):
        for truth in range(k):
            for label in range(k):
                if label == truth:
                    leaning[j, truth, label] = 0.0
                else:
                    w = label - int(label > truth)
                    leaning[j, truth, label] = common[truth, w] + scale[truth] * own[j, truth, w]


# indices of the constants of the priors; the last is the constant of the log density
(
    CENTRE, LEVEL, CONTRAST, ABILITY, DIFFICULTY, SLOPE, RIGHT, NOT_RIGHT, LEANING, CONSTANT,
) = range(10)  # fmt: skip


@kernel
def difficulty_density(
    x: Array,
    grad: Array,
    sizes: Array,
    prior: Array,
    alpha: Array,
    share: Array,
    rule: Array,
    fixed: Array,
    starts: Array,
    cell: Array,
    gold: Array,
    weight: Array,
) -> float:
    """Return the log density at unconstrained `x`, and fill `grad`."""
    # sizes: counts of coders, labels, difficulty scales, discriminations and guessing rates. alpha:
    # pseudo-counts of the prevalence. share: degree of centering per coder. rule [2, node]: nodes
    # and log weights of the quadrature. fixed [truth]: difficulty scales if none is estimated.
    # Unconstrained values are in the order of the PyMC variables.
    n_coders, k, n_rho, n_slope, n_guess = sizes
    nodes = rule.shape[1]
    grad[:] = 0.0
    value = prior[CONSTANT]

    # prevalence
    log_pi, pi_grad = np.empty(k), np.zeros(k)
    log_simplex(x[: k - 1], log_pi)
    for t in range(k):
        value += alpha[t] * log_pi[t]
        pi_grad[t] = alpha[t]

    # population of abilities
    at = k - 1
    level = math.exp(x[at])
    z = (level - prior[CENTRE]) / prior[LEVEL]
    value += x[at] - 0.5 * z * z
    grad[at] = 1.0 - z * level / prior[LEVEL]
    mean, mean_grad = np.empty(k), np.zeros(k)
    of_contrast = slice(k, 2 * k - 1)
    zero_sum(x[of_contrast], mean)
    value -= 0.5 * sum_of_squares(mean) / prior[CONTRAST] ** 2
    contrast_grad = -mean / prior[CONTRAST] ** 2
    mean += level
    of_scale = slice(2 * k - 1, 3 * k - 1)
    scale = np.exp(x[of_scale])
    value += half_normals(x[of_scale], prior[ABILITY], grad[of_scale])
    of_ability = slice(3 * k - 1, 3 * k - 1 + n_coders * k)
    ability = np.empty((n_coders, k))
    value += partly_centred(x[of_ability], share, mean, scale, ability)

    # difficulty, discrimination, guessing
    at = of_ability.stop
    of_rho = slice(at, at + n_rho)
    rho = fixed.copy()
    if n_rho:
        value += half_normals(x[of_rho], prior[DIFFICULTY], grad[of_rho])
        for t in range(k):
            rho[t] = math.exp(x[at + t * (n_rho - 1) // (k - 1)])
    hard = np.empty((k, nodes))
    for t in range(k):
        for q in range(nodes):
            hard[t, q] = rho[t] * rule[0, q]
    at += n_rho
    of_slope = slice(at, at + n_slope)
    slope = np.exp(x[of_slope])
    if n_slope:
        value += normals(x[of_slope], prior[SLOPE], grad[of_slope])
    at += n_slope
    of_guess = slice(at, at + n_guess)
    guess = 1.0 / (1.0 + np.exp(-x[of_guess]))
    for n in range(n_guess):
        value += prior[RIGHT] * math.log(guess[n]) + prior[NOT_RIGHT] * math.log1p(-guess[n])

    # leanings
    at += n_guess
    wrong = k - 1 if k > 2 else 0
    free = max(wrong - 1, 0)
    common, spread = np.empty((k, wrong)), np.empty(k)
    own = np.empty((n_coders, k, wrong))
    leaning = np.empty((n_coders if wrong else 0, k, k))
    of_common, of_spread = at, at + k * free
    of_own = of_spread + k
    if wrong:
        for t in range(k):
            zero_sum(x[of_common + t * free : of_common + (t + 1) * free], common[t])
            value -= 0.5 * sum_of_squares(common[t]) / prior[LEANING] ** 2
            spread[t] = math.exp(x[of_spread + t])
            for j in range(n_coders):
                begin = of_own + (j * k + t) * free
                zero_sum(x[begin : begin + free], own[j, t])
                value -= 0.5 * sum_of_squares(own[j, t])
        value += half_normals(x[of_spread:of_own], prior[LEANING], grad[of_spread:of_own])
        spread_leanings(common, spread, own, leaning)

    # labels
    n_states = k * nodes
    log_share, truth = np.empty(n_states), np.empty(n_states, dtype=np.int64)
    for t in range(k):
        for q in range(nodes):
            log_share[t * nodes + q] = log_pi[t] + rule[1, q]
            truth[t * nodes + q] = t
    table = np.empty((n_coders * k, n_states))
    fill_rows(ability, hard, slope, guess, leaning, table)
    share_grad, table_grad = np.zeros(n_states), np.zeros(table.shape)
    value += state_likelihood(
        starts, cell, gold, weight, truth, log_share, table, share_grad, table_grad
    )

    # gradients
    ability_grad, hard_grad = np.zeros(ability.shape), np.zeros(hard.shape)
    slope_grad, guess_grad = np.zeros(n_slope), np.zeros(n_guess)
    leaning_grad = np.zeros(leaning.shape)
    rows_back(
        ability, hard, slope, guess, leaning, table_grad,
        ability_grad, hard_grad, slope_grad, guess_grad, leaning_grad,
    )  # fmt: skip
    for t in range(k):
        for q in range(nodes):
            pi_grad[t] += share_grad[t * nodes + q]
            if n_rho:
                place = of_rho.start + t * (n_rho - 1) // (k - 1)
                grad[place] += hard_grad[t, q] * hard[t, q]
    log_simplex_back(log_pi, pi_grad, grad[: k - 1])
    partly_centred_back(
        x[of_ability], share, mean, scale, ability_grad,
        grad[of_ability], mean_grad, grad[of_scale],
    )  # fmt: skip
    grad[k - 1] += level * mean_grad.sum()
    zero_sum_back(mean_grad + contrast_grad, grad[of_contrast])
    for n in range(n_slope):
        grad[of_slope.start + n] += slope_grad[n] * slope[n]
    for n in range(n_guess):
        g = guess[n]
        grad[of_guess.start + n] = (
            prior[RIGHT] * (1.0 - g) - prior[NOT_RIGHT] * g + guess_grad[n] * g * (1.0 - g)
        )
    if wrong:
        leanings_back(
            leaning_grad, spread, own, common, prior[LEANING],
            grad[of_common:of_spread], grad[of_spread:of_own], grad[of_own:],
        )  # fmt: skip
    return float(value)


@inlined
def leanings_back(
    grad: Array, spread: Array, own: Array, common: Array, scale: float,
    common_free: Array, log_spread: Array, own_free: Array,
) -> None:  # fmt: skip
    """Convert the gradient of leanings and their priors into that of the unconstrained values."""
    n_coders, k, wrong = own.shape
    free = wrong - 1
    of_common, of_own = np.empty(wrong), np.empty(wrong)
    for t in range(k):
        for w in range(wrong):
            of_common[w] = -common[t, w] / scale**2
        for j in range(n_coders):
            for w in range(wrong):
                g = grad[j, t, w + int(w >= t)]
                of_common[w] += g
                of_own[w] = g * spread[t] - own[j, t, w]
                log_spread[t] += g * own[j, t, w] * spread[t]
            begin = (j * k + t) * free
            zero_sum_back(of_own, own_free[begin : begin + free])
        zero_sum_back(of_common, common_free[t * free : (t + 1) * free])
