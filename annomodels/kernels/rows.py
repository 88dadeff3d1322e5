"""Sources of confusion matrices: how rows are drawn given counts, and their prior density."""

# A model names its source by a tuple of arrays, which a Gibbs step updates in place:
# None: rows are Dirichlet with fixed pseudo-counts prior [truth, label];
# Population: the pseudo-counts follow from a population that is drawn too;
# Groups: the same with a population for each group of coders;
# Coins: a coder is right with a probability, and errors are uniform;
# Guessing: a coder knows the truth with a probability, else guesses by a habit.
# Each is a choice made while compiling, so a loop contains the code of its own source only.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from annomodels.kernels.common_accuracy import (
    ESTIMATED,
    RIGHT,
    SPREAD,
    STRENGTH,
    WRONG,
    draw_common,
    draw_strength,
    fill_anchor,
    log_normal_density,
)
from annomodels.kernels.compile import Array, Key, inlined, kernel
from annomodels.kernels.dirichlet import (
    draw_confusion,
    draw_own,
    draw_prevalence,
    log_beta_density,
    log_dirichlet_constant,
)
from annomodels.kernels.groups import Groups, draw_groups, keep_groups, prior_groups
from annomodels.kernels.population import LEAST, concentration_density, draw_population
from annomodels.kernels.random import CONFUSION, address, log_dirichlet, uniform


class Population(NamedTuple):
    """Rows are Dirichlet(concentration * mean)."""

    # scale holds the prior of the concentration as coefficients of its log density; numbers are the
    # strength of the prior of the mean, the Beta parameters of the accuracy on its diagonal,
    # whether that accuracy is estimated, and the spread of the strength [truth] of each row, 0 if
    # that is not; if neither is, anchor holds the pseudo-counts of the mean. own [row, truth,
    # label] are pseudo-counts of coders who represent themselves: they come from elsewhere, and the
    # population does not know them. It may be empty.

    mean: Array
    concentration: Array
    accuracy: Array
    strength: Array
    scale: Array
    numbers: Array
    anchor: Array
    own: Array


class Coins(NamedTuple):
    """Accuracy [row, 1], or [row, truth] for one in each class, and its Beta prior's parameters."""

    accuracy: Array
    beta: Array


class Guessing(NamedTuple):
    """Competence [row] with the parameters of its Beta prior, guesses [row, label] with theirs."""

    competence: Array
    guess: Array
    beta: Array
    alpha: Array


type Source = Population | Groups | Coins | Guessing | None


# -- draws -------------------------------------------------------------------------------------


def draw_fixed(
    source: None, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Rows given counts and fixed pseudo-counts."""
    draw_confusion(counts, prior, key, iteration, logc)


def draw_pooled(
    source: Population, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw the population with the rows integrated out, then rows; `prior` follows it."""
    mean, concentration, accuracy, strength, scale, numbers, anchor, own = source
    if numbers[ESTIMATED] > 0 or numbers[SPREAD] > 0:
        fill_anchor(accuracy[0], strength, anchor)
    # Coders with pseudo-counts of their own come from elsewhere: counted here, they would tell the
    # population of coders what it was not asked.
    others = counts
    if len(own) > 0:
        others = counts.copy()
        for j in range(len(own)):
            if own[j, 0, 0] > 0.0:
                others[j] = 0
    # The population first, with the rows integrated out, then the rows given it: drawn in turn,
    # the two would hold each other in place (a funnel) where coders have few labels.
    draw_population(others, anchor, scale, 1, key, iteration, mean, concentration)
    if numbers[ESTIMATED] > 0:
        draw_common(others, mean, concentration, accuracy, strength, numbers, key, iteration)
    if numbers[SPREAD] > 0:
        draw_strength(mean, accuracy[0], strength, numbers, key, iteration)
    for k in range(mean.shape[0]):
        for label in range(mean.shape[1]):
            prior[k, label] = concentration[k] * mean[k, label]
    draw_confusion(counts, prior, key, iteration, logc)
    draw_own(counts, own, key, iteration, logc)


def draw_coins(
    source: Coins, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw accuracies given the numbers of right and wrong labels."""
    accuracy, beta = source
    n_rows, n_labels, n_classes = logc.shape
    columns = accuracy.shape[1]
    state, pair = np.empty(1, dtype=np.uint64), np.empty(2)
    shape, log_share = np.empty(2), np.empty(2)
    for j in range(n_rows):
        state[0] = address(key, iteration, CONFUSION, j)
        for column in range(columns):
            shape[0], shape[1] = beta[0], beta[1]
            for k in range(n_classes):
                if columns == 1 or k == column:
                    for label in range(n_labels):
                        shape[0 if label == k else 1] += counts[j, label, k]
            # Beta(a, b) as a Dirichlet of two: its logarithms do not underflow near 0 and 1
            log_dirichlet(state, pair, shape, log_share)
            accuracy[j, column] = math.exp(log_share[0])
            wrong = log_share[1] - math.log(n_labels - 1.0)
            for k in range(n_classes):
                if columns == 1 or k == column:
                    for label in range(n_labels):
                        logc[j, label, k] = log_share[0] if label == k else wrong


def draw_guessing(
    source: Guessing, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw which of the right labels were known, then competence and guesses."""
    competence, guess, beta, alpha = source
    n_rows, n_labels, n_classes = logc.shape
    state, pair = np.empty(1, dtype=np.uint64), np.empty(2)
    share, log_share = np.empty(2), np.empty(2)
    shape, log_guess = np.empty(n_labels), np.empty(n_labels)
    for j in range(n_rows):
        state[0] = address(key, iteration, CONFUSION, j)
        share[0], share[1] = beta[0], beta[1]
        for label in range(n_labels):
            # Given the competence t and the guess g of a label, a right label was known with
            # probability t / (t + (1 - t) g); a wrong one was guessed for certain.
            known = competence[j] / (competence[j] + (1.0 - competence[j]) * guess[j, label])
            shape[label] = alpha[label]
            for k in range(n_classes):
                n = int(counts[j, label, k])
                guessed = n
                if k == label:
                    # a label that is right was known or guessed right
                    for _ in range(n):
                        if uniform(state) < known:
                            guessed -= 1
                    share[0] += n - guessed
                share[1] += guessed
                shape[label] += guessed
        log_dirichlet(state, pair, share, log_share)
        log_dirichlet(state, pair, shape, log_guess)
        competence[j] = math.exp(log_share[0])
        for label in range(n_labels):
            guess[j, label] = math.exp(log_guess[label])
            wrong = log_share[1] + log_guess[label]
            for k in range(n_classes):
                logc[j, label, k] = wrong
            logc[j, label, label] = math.log(competence[j] + math.exp(wrong))


# -- prior densities -----------------------------------------------------------------------------


def prior_fixed(source: None, prior: Array, logc: Array) -> float:
    """Log density of Dirichlet rows."""
    n_rows, n_labels, n_classes = logc.shape
    value: float = 0.0
    for k in range(n_classes):
        value += n_rows * log_dirichlet_constant(prior[k])
    for j in range(n_rows):
        for label in range(n_labels):
            for k in range(n_classes):
                value += (prior[k, label] - 1.0) * logc[j, label, k]
    return value


dirichlet_rows = inlined(prior_fixed)


def prior_pooled(source: Population, prior: Array, logc: Array) -> float:
    """Log density of the rows and of their population."""
    mean, concentration, accuracy, strength, scale, numbers, anchor, own = source
    value: float = 0.0
    if len(own) == 0:
        value += dirichlet_rows(None, prior, logc)
    else:
        for j in range(len(own)):
            alpha = own[j] if own[j, 0, 0] > 0.0 else prior
            value += dirichlet_rows(None, alpha, logc[j : j + 1])
    if numbers[ESTIMATED] > 0 or numbers[SPREAD] > 0:
        fill_anchor(accuracy[0], strength, anchor)
    for k in range(mean.shape[0]):
        value += log_dirichlet_constant(anchor[k])
        for label in range(mean.shape[1]):
            value += (anchor[k, label] - 1.0) * math.log(mean[k, label])
        log_c = math.log(concentration[k])
        if concentration[k] < scale[LEAST]:
            return -np.inf
        value += concentration_density(scale, log_c)
        if numbers[SPREAD] > 0:
            value += log_normal_density(strength[k], numbers[STRENGTH], numbers[SPREAD])
    if numbers[ESTIMATED] > 0:
        value += log_beta_density(accuracy[0], numbers[RIGHT], numbers[WRONG])
    return value


def prior_coins(source: Coins, prior: Array, logc: Array) -> float:
    """Log density of the accuracies."""
    accuracy, beta = source
    value = 0.0
    for j in range(accuracy.shape[0]):
        for column in range(accuracy.shape[1]):
            value += log_beta_density(accuracy[j, column], beta[0], beta[1])
    return value


def prior_guessing(source: Guessing, prior: Array, logc: Array) -> float:
    """Log density of competences and guesses."""
    competence, guess, beta, alpha = source
    value: float = len(competence) * log_dirichlet_constant(alpha)
    for j in range(len(competence)):
        value += log_beta_density(competence[j], beta[0], beta[1])
        for label in range(len(alpha)):
            value += (alpha[label] - 1.0) * math.log(guess[j, label])
    return value


# -- keeping -------------------------------------------------------------------------------------


def keep_nothing(source: None, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Keep nothing beside the rows."""


def keep_population(source: Population, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Keep mean, concentration, strength and accuracy, class k at place `order[k]`."""
    for k in range(len(order)):
        kept[3][n, order[k]] = source.strength[k]
        kept[1][n, order[k]] = source.concentration[k]
        for label in range(len(order)):
            kept[0][n, order[k], label] = source.mean[k, label]
    kept[2][n] = source.accuracy[0]


def keep_coins(source: Coins, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Keep accuracies; their classes stay where they are."""
    for j in range(source.accuracy.shape[0]):
        for column in range(source.accuracy.shape[1]):
            kept[0][n, j, column] = source.accuracy[j, column]


def keep_guessing(source: Guessing, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Keep competences and guesses; their classes stay where they are."""
    for j in range(len(source.competence)):
        kept[0][n, j] = source.competence[j]
        for label in range(source.guess.shape[1]):
            kept[1][n, j, label] = source.guess[j, label]


# numba compiles one kernel for each type of `source`; an overload picks the functions by that type,
# so no branch on the model is left in the loops.
# -- the choice ----------------------------------------------------------------------------------

DRAWS: dict[Any, Any] = {
    None: draw_fixed, Population: draw_pooled, Groups: draw_groups, Coins: draw_coins,
    Guessing: draw_guessing,
}  # fmt: skip
PRIORS: dict[Any, Any] = {
    None: prior_fixed, Population: prior_pooled, Groups: prior_groups, Coins: prior_coins,
    Guessing: prior_guessing,
}  # fmt: skip

KEEPS: dict[Any, Any] = {
    None: keep_nothing, Population: keep_population, Groups: keep_groups, Coins: keep_coins,
    Guessing: keep_guessing,
}  # fmt: skip


def draw_rows(
    source: Source, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw the rows of all coders and what they come from, in place; for kernels only."""
    raise NotImplementedError("called by compiled code")


def rows_logp(source: Source, prior: Array, logc: Array) -> float:
    """Log prior density of the rows and of what they come from; for kernels only."""
    raise NotImplementedError("called by compiled code")


def keep_source(source: Source, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Write draw n of what the rows come from; for kernels only."""
    raise NotImplementedError("called by compiled code")


def _kind(source: object) -> type | None:
    """Class of a source from its compiled type."""
    return source.instance_class if isinstance(source, types.NamedTuple) else None


# The overload stands for the chosen function itself, so that nothing is compiled around it;
# its annotations differ, which is why the signatures are not compared strictly.
@overload(draw_rows, strict=False)
def _draw_rows(
    source: object, counts: object, prior: object, key: object, iteration: object, logc: object
) -> Callable[..., object]:
    chosen: Callable[..., object] = DRAWS[_kind(source)]
    return chosen


@overload(rows_logp, strict=False)
def _rows_logp(source: object, prior: object, logc: object) -> Callable[..., object]:
    chosen: Callable[..., object] = PRIORS[_kind(source)]
    return chosen


@overload(keep_source, strict=False)
def _keep_source(source: object, n: object, order: object, kept: object) -> Callable[..., object]:
    chosen: Callable[..., object] = KEEPS[_kind(source)]
    return chosen


@kernel
def draw_parameters(
    counts: Array,
    sizes: Array,
    prevalence: Array,
    prior: Array,
    source: Source,
    key: Key,
    iteration: int,
    log_prevalence: Array,
    logc: Array,
) -> None:
    """Draw prevalence, rows and their source, in place."""
    # prevalence holds the pseudo-counts of the classes, prior those of Dirichlet rows
    draw_prevalence(sizes, prevalence, key, iteration, log_prevalence)
    draw_rows(source, counts, prior, key, iteration, logc)


@kernel
def log_prior(
    prevalence: Array, prior: Array, source: Source, log_prevalence: Array, logc: Array
) -> float:
    """Log prior density of prevalence, rows [coder, label, truth] and what these come from."""
    value: float = log_dirichlet_constant(prevalence)
    for k in range(len(log_prevalence)):
        value += (prevalence[k] - 1.0) * log_prevalence[k]
    return value + rows_logp(source, prior, logc)
