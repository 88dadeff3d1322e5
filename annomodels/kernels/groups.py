"""Rows of coders who belong to groups, each with a population of its own."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

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
from annomodels.kernels.compile import Array, Key
from annomodels.kernels.dirichlet import draw_own, log_beta_density, log_dirichlet_constant
from annomodels.kernels.population import LEAST, concentration_density, draw_population
from annomodels.kernels.random import mix


class Groups(NamedTuple):
    """Rows are Dirichlet(concentration * mean), both those of the coder's group."""

    # mean [group, truth, label], concentration [group, truth], accuracy [group], strength [group,
    # truth] and member [row], the group of each coder; scale, numbers, anchor and own are those of
    # kernels.rows.Population, the same for all groups

    mean: Array
    concentration: Array
    accuracy: Array
    strength: Array
    scale: Array
    numbers: Array
    anchor: Array
    own: Array
    member: Array


def draw_groups(
    source: Groups, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw the population of each group, then rows; `prior` [row, truth, label] follows it."""
    mean, concentration, accuracy, strength, scale, numbers, anchor, own, member = source
    for g in range(len(mean)):
        if numbers[ESTIMATED] > 0 or numbers[SPREAD] > 0:
            fill_anchor(accuracy[g], strength[g], anchor)
        # coders of other groups and those with priors of their own count as if they had no labels:
        # a Dirichlet-multinomial term without counts is 1
        mine = counts.copy()
        for j in range(len(member)):
            if member[j] != g or (len(own) > 0 and own[j, 0, 0] > 0.0):
                mine[j] = 0
        # the first group has the stream that one population of all coders would have
        stream = np.uint64(key) if g == 0 else mix(np.uint64(key) + np.uint64(g))
        draw_population(mine, anchor, scale, 1, stream, iteration, mean[g], concentration[g])
        if numbers[ESTIMATED] > 0:
            draw_common(
                mine, mean[g], concentration[g], accuracy[g : g + 1], strength[g], numbers, stream,
                iteration,
            )  # fmt: skip
        if numbers[SPREAD] > 0:
            draw_strength(mean[g], accuracy[g], strength[g], numbers, stream, iteration)
    for j in range(len(member)):
        g = member[j]
        alone = len(own) > 0 and own[j, 0, 0] > 0.0
        for k in range(mean.shape[1]):
            for label in range(mean.shape[2]):
                shared = concentration[g, k] * mean[g, k, label]
                prior[j, k, label] = own[j, k, label] if alone else shared
    draw_own(counts, prior, key, iteration, logc)


def prior_groups(source: Groups, prior: Array, logc: Array) -> float:
    """Log density of the rows and of the populations of all groups."""
    mean, concentration, accuracy, strength, scale, numbers, anchor, _, _ = source
    n_rows, n_labels, n_classes = logc.shape
    value: float = 0.0
    for j in range(n_rows):
        for k in range(n_classes):
            value += log_dirichlet_constant(prior[j, k])
            for label in range(n_labels):
                value += (prior[j, k, label] - 1.0) * logc[j, label, k]
    for g in range(len(mean)):
        if numbers[ESTIMATED] > 0 or numbers[SPREAD] > 0:
            fill_anchor(accuracy[g], strength[g], anchor)
        if numbers[ESTIMATED] > 0:
            value += log_beta_density(accuracy[g], numbers[RIGHT], numbers[WRONG])
        for k in range(n_classes):
            value += log_dirichlet_constant(anchor[k])
            for label in range(n_labels):
                value += (anchor[k, label] - 1.0) * math.log(mean[g, k, label])
            log_c = math.log(concentration[g, k])
            if concentration[g, k] < scale[LEAST]:
                return -np.inf
            value += concentration_density(scale, log_c)
            if numbers[SPREAD] > 0:
                value += log_normal_density(strength[g, k], numbers[STRENGTH], numbers[SPREAD])
    return value


def keep_groups(source: Groups, n: int, order: Array, kept: tuple[Array, ...]) -> None:
    """Keep what the populations of all groups are, class k at place `order[k]`."""
    for g in range(len(source.mean)):
        kept[2][n, g] = source.accuracy[g]
        for k in range(len(order)):
            kept[3][n, g, order[k]] = source.strength[g, k]
            kept[1][n, g, order[k]] = source.concentration[g, k]
            for label in range(len(order)):
                kept[0][n, g, order[k], label] = source.mean[g, k, label]
