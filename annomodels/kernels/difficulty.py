"""Log density of the scalar difficulty model and its gradient, as its PyMC model has them."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, inlined, kernel
from annomodels.kernels.difficulty_rows import fill_rows, rows_back, spread_leanings
from annomodels.kernels.normal_priors import (
    half_normals,
    normals,
    partly_centred,
    partly_centred_back,
)
from annomodels.kernels.state_density import state_likelihood
from annomodels.kernels.transforms import (
    log_simplex,
    log_simplex_back,
    sum_of_squares,
    zero_sum,
    zero_sum_back,
)

# places of the constants of the priors; the last is all that does not move
(
    CENTRE, LEVEL, CONTRAST, ABILITY, DIFFICULTY, SLOPE, RIGHT, NOT_RIGHT, LEANING, CONSTANT
) = range(10)  # fmt: skip

# what the PyMC model takes for the logarithm of a truth that a state rules out
RULED_OUT = math.log(1e-300)


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
    """Give the log density at the unconstrained `x`, and fill `grad`.

    `sizes` are coders, labels, and numbers of difficulty scales, discriminations and shares of
    guesses; `alpha` pseudo-counts of the prevalence; `share` how far each coder is centred; `rule`
    nodes and log weights of the quadrature [2, node]; `fixed` the difficulty scales [truth] where
    none is estimated. Free numbers stand in the order of the PyMC variables.
    """
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
        starts, cell, gold, weight, truth, RULED_OUT, log_share, table, share_grad, table_grad
    )

    # and back
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
    """Write the gradient of leanings and their priors into that of the free numbers."""
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
