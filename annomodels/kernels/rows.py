"""Sources of confusion matrices: draws of rows given counts, and their storage."""

# The source of a model is a tuple of arrays that a Gibbs step updates in place:
# None: rows are Dirichlet with fixed pseudo-counts prior [truth, label];
# Populations: pseudo-counts come from a drawn population per group of coders;
# Coins: a coder is right with some probability, and errors are uniform;
# Guessing: a coder knows the truth with some probability, and otherwise guesses.
# The choice is made at compile time, so a loop contains the code of its source only.

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from annomodels.kernels.common_accuracy import (
    ESTIMATED,
    SPREAD,
    draw_common,
    draw_strength,
    fill_anchor,
)
from annomodels.kernels.compile import Array, Key, kernel
from annomodels.kernels.dirichlet import draw_confusion, draw_prevalence
from annomodels.kernels.population import draw_population
from annomodels.kernels.random import CONFUSION, address, log_dirichlet, mix, uniform


class Populations(NamedTuple):
    """Rows are Dirichlet(concentration * mean), with the parameters of the coder's group."""

    # mean [group, truth, label], concentration [group, truth], accuracy [group] and strength
    # [group, truth] are drawn. scale: coefficients of the log prior density of a concentration.
    # numbers: prior strength of a mean, Beta parameters of the accuracy on its diagonal, whether
    # that accuracy is estimated, and the standard deviation of the log strength, 0 if the strength
    # is fixed. If both are fixed, anchor contains the pseudo-counts of a mean. member [row]: group
    # of each coder, or -1 for coders outside all groups, who have fixed pseudo-counts own [row,
    # truth, label] and do not affect the populations.

    mean: Array
    concentration: Array
    accuracy: Array
    strength: Array
    scale: Array
    numbers: Array
    anchor: Array
    own: Array
    member: Array


class Coins(NamedTuple):
    """Accuracy [row, 1], or per class [row, truth], and the parameters of its Beta prior."""

    accuracy: Array
    beta: Array


class Guessing(NamedTuple):
    """Competence [row] and guesses [row, label], with the parameters of their priors."""

    competence: Array
    guess: Array
    beta: Array
    alpha: Array


type Source = Populations | Coins | Guessing | None


# -- draws -------------------------------------------------------------------------------------


def draw_fixed(
    source: None, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw rows given counts and fixed pseudo-counts."""
    draw_confusion(counts, prior, key, iteration, logc)


def draw_populations(
    source: Populations, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw the population of each group with rows integrated out, then the rows."""
    # alternating conditional draws would mix slowly (a funnel) if coders have few labels
    mean, concentration, accuracy, strength, scale, numbers, anchor, own, member = source
    n_rows, n_labels, n_classes = logc.shape
    for g in range(len(mean)):
        if numbers[ESTIMATED] > 0 or numbers[SPREAD] > 0:
            fill_anchor(accuracy[g], strength[g], anchor)
        # the first group has the stream of a single population of all coders
        stream = np.uint64(key) if g == 0 else mix(np.uint64(key) + np.uint64(g))
        draw_population(
            counts, member, g, anchor, scale, 1, stream, iteration, mean[g], concentration[g]
        )
        if numbers[ESTIMATED] > 0:
            draw_common(
                counts, member, g, mean[g], concentration[g], accuracy, strength[g], numbers,
                stream, iteration,
            )  # fmt: skip
        if numbers[SPREAD] > 0:
            draw_strength(mean[g], accuracy[g], strength[g], numbers, stream, iteration)
    state, pair = np.empty(1, dtype=np.uint64), np.empty(2)
    shape, row = np.empty(n_labels), np.empty(n_labels)
    for j in range(n_rows):
        # one stream per coder: draws do not depend on the order of coders or their threads
        state[0] = address(key, iteration, CONFUSION, j)
        g = member[j]
        for k in range(n_classes):
            for label in range(n_labels):
                pseudo = own[j, k, label] if g < 0 else concentration[g, k] * mean[g, k, label]
                shape[label] = pseudo + counts[j, label, k]
            log_dirichlet(state, pair, shape, row)
            for label in range(n_labels):
                logc[j, label, k] = row[label]


def draw_coins(
    source: Coins, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw accuracies given the counts of right and wrong labels."""
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
    """Draw how many right labels were known, then competence and guesses."""
    competence, guess, beta, alpha = source
    n_rows, n_labels, n_classes = logc.shape
    state, pair = np.empty(1, dtype=np.uint64), np.empty(2)
    share, log_share = np.empty(2), np.empty(2)
    shape, log_guess = np.empty(n_labels), np.empty(n_labels)
    for j in range(n_rows):
        state[0] = address(key, iteration, CONFUSION, j)
        share[0], share[1] = beta[0], beta[1]
        for label in range(n_labels):
            # With competence t and guessing probability g of a label, a right label was known with
            # probability t / (t + (1 - t) g); a wrong label was always guessed.
            known = competence[j] / (competence[j] + (1.0 - competence[j]) * guess[j, label])
            shape[label] = alpha[label]
            for k in range(n_classes):
                n = int(counts[j, label, k])
                guessed = n
                if k == label:
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


# -- keeping -------------------------------------------------------------------------------------


def keep_nothing(source: None, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Store nothing besides the rows."""


def keep_populations(source: Populations, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Store the populations of all groups, class k at position `order[k]`."""
    for g in range(len(source.mean)):
        kept[2][n, g] = source.accuracy[g]
        for k in range(len(order)):
            kept[3][n, g, order[k]] = source.strength[g, k]
            kept[1][n, g, order[k]] = source.concentration[g, k]
            for label in range(len(order)):
                kept[0][n, g, order[k], label] = source.mean[g, k, label]


def keep_coins(source: Coins, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Store accuracies, without reordering classes."""
    for j in range(source.accuracy.shape[0]):
        for column in range(source.accuracy.shape[1]):
            kept[0][n, j, column] = source.accuracy[j, column]


def keep_guessing(source: Guessing, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Store competences and guesses, without reordering classes."""
    for j in range(len(source.competence)):
        kept[0][n, j] = source.competence[j]
        for label in range(source.guess.shape[1]):
            kept[1][n, j, label] = source.guess[j, label]


# numba compiles a kernel per type of `source`; an overload selects the functions by that type, so
# the loops contain no branch on the model.
# -- the choice ----------------------------------------------------------------------------------

DRAWS: dict[Any, Any] = {
    None: draw_fixed, Populations: draw_populations, Coins: draw_coins, Guessing: draw_guessing,
}  # fmt: skip
KEEPS: dict[Any, Any] = {
    None: keep_nothing, Populations: keep_populations, Coins: keep_coins, Guessing: keep_guessing,
}  # fmt: skip


def draw_rows(
    source: Source, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw the rows of all coders and their source, in place; for kernels only."""
    raise NotImplementedError("called by compiled code")


def keep_source(source: Source, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Store draw n of the source of the rows; for kernels only."""
    raise NotImplementedError("called by compiled code")


def _kind(source: object) -> type | None:
    return source.instance_class if isinstance(source, types.NamedTuple) else None


# The overload returns the chosen function itself, so that no wrapper is compiled. Its annotations
# differ, so signatures are not compared strictly.
@overload(draw_rows, strict=False)
def _draw_rows(
    source: object, counts: object, prior: object, key: object, iteration: object, logc: object
) -> Callable[..., object]:
    chosen: Callable[..., object] = DRAWS[_kind(source)]
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
    # prevalence contains the pseudo-counts of the classes, prior those of Dirichlet rows
    draw_prevalence(sizes, prevalence, key, iteration, log_prevalence)
    draw_rows(source, counts, prior, key, iteration, logc)
