"""Gibbs step of coders who belong to communities and have a row for every kind of items."""

# Rows [coder, label, slot] have one slot for each kind of each class: class k, kind m at k * M + m.
# Rows of coder j are Dirichlet(concentration * mean), both those of the slot in the community of
# the coder. Communities, means and concentrations are drawn with the rows integrated out; tables of
# a Chinese restaurant make them conjugate (Teh et al. 2006, doi:10.1198/016214506000000302).

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from annomodels.kernels.compile import Array, Key, inlined, kernel
from annomodels.kernels.random import (
    COMMUNITY,
    CONFUSION,
    KINDS,
    MEAN,
    PREVALENCE,
    address,
    gamma_variate,
    log_dirichlet,
    uniform,
)

# a mean below it counts as this: its logarithm is taken all over
LEAST_MEAN = 1e-10
# up to so many labels a Beta number is a product of powers of uniform numbers
FEW = 3
# numbers of labels of one kind by one coder below this are looked up in a table
TABLED = 24
# attempts to move a kind to another class, for each slot
MOVES = 4
SHAPE, RATE, LOW, HIGH = range(4)


class Kinds(NamedTuple):
    """Source of the coders' rows, and its priors."""

    # mean [community, slot, label], concentration [community, slot], member [coder] the community
    # of each and share [community] are drawn. scale holds shape and rate of the gamma prior of the
    # concentrations and the bounds they lie between. levels [level, 2] are strengths and accuracies
    # of the prior of the means, log_level [level, 2] log prior probabilities of these for the first
    # kinds of the classes and for the others. pseudo [kind] are pseudo-counts of the kinds of a
    # class. anchored lets classes change names so that most labels are right.

    mean: Array
    concentration: Array
    member: Array
    share: Array
    scale: Array
    levels: Array
    log_level: Array
    pseudo: Array
    anchored: bool


@inlined
def level_constants(levels: Array, n_labels: int) -> Array:
    """Log normalising constant of a mean's prior at each level."""
    constants = np.empty(len(levels))
    for g in range(len(levels)):
        strength, accuracy = levels[g, 0], levels[g, 1]
        right, wrong = strength * accuracy, strength * (1.0 - accuracy) / (n_labels - 1)
        value: float = math.lgamma(strength) - math.lgamma(right)
        constants[g] = value - (n_labels - 1) * math.lgamma(wrong)
    return constants


@inlined
def log_mean_density(log_mean: Array, at: int, level: Array, constant: float) -> float:
    """Log density of a mean, given by its logarithms, whose prior favours the label `at`."""
    right = level[0] * level[1] - 1.0
    wrong = level[0] * (1.0 - level[1]) / (len(log_mean) - 1) - 1.0
    value: float = constant
    for label in range(len(log_mean)):
        value += (right if label == at else wrong) * log_mean[label]
    return value


@inlined
def fill_logs(mean: Array, log_mean: Array) -> None:
    """Fill `log_mean` with the logarithms of the means."""
    for t in range(mean.shape[0]):
        for a in range(mean.shape[1]):
            for label in range(mean.shape[2]):
                log_mean[t, a, label] = math.log(mean[t, a, label])


@inlined
def pick_log(weights: Array, u: float) -> int:
    """Place that the uniform number `u` falls on among weights given by their logarithms."""
    top: float = weights[0]
    for n in range(1, len(weights)):
        top = max(top, weights[n])
    total = 0.0
    for n in range(len(weights)):
        weights[n] = math.exp(weights[n] - top)
        total += weights[n]
    rest = u * total
    for n in range(len(weights)):
        rest -= weights[n]
        if rest < 0.0:
            return n
    return int(np.argmax(weights))


@inlined
def draw_levels(
    source: Kinds, n_kinds: int, constants: Array, log_mean: Array, state: Array, chosen: Array
) -> None:
    """Draw for each community which strength and accuracy first and other kinds have."""
    mean, levels = source.mean, source.levels
    fill_logs(mean, log_mean)
    weights = np.empty(len(levels))
    for t in range(len(mean)):
        for other in range(2 if n_kinds > 1 else 1):
            for g in range(len(levels)):
                weights[g] = source.log_level[g, other]
                for a in range(mean.shape[1]):
                    if (a % n_kinds > 0) == (other == 1):
                        weights[g] += log_mean_density(
                            log_mean[t, a], a // n_kinds, levels[g], constants[g]
                        )
            chosen[t, other] = pick_log(weights, uniform(state))


@inlined
def fill_risen(source: Kinds, risen: Array) -> None:
    """Fill `risen` [community, slot, label, n] with log Gamma(x + n) - log Gamma(x)."""
    # x are the pseudo-counts of the labels; the place after the last label is for their sum
    mean, concentration = source.mean, source.concentration
    n_labels = mean.shape[2]
    for t in range(mean.shape[0]):
        for a in range(mean.shape[1]):
            for label in range(n_labels + 1):
                x = concentration[t, a] * (mean[t, a, label] if label < n_labels else 1.0)
                value = 0.0
                for n in range(risen.shape[3]):
                    risen[t, a, label, n] = value
                    value += math.log(x + n)


@inlined
def risen_by(n: int, x: float, table: Array) -> float:
    """Look up log Gamma(x + n) - log Gamma(x), or compute it for an n beyond the table."""
    return float(table[n]) if n < len(table) else math.lgamma(x + n) - math.lgamma(x)


@inlined
def draw_member(
    source: Kinds, counts: Array, j: int, risen: Array, weights: Array, state: Array
) -> None:
    """Draw the community of a coder, their rows integrated out."""
    mean, concentration = source.mean, source.concentration
    n_labels, n_slots = counts.shape[1], counts.shape[2]
    for t in range(len(mean)):
        value = math.log(source.share[t])
        for a in range(n_slots):
            total = 0
            for label in range(n_labels):
                n = counts[j, label, a]
                if n > 0:
                    value += risen_by(
                        n, concentration[t, a] * mean[t, a, label], risen[t, a, label]
                    )
                    total += n
            if total > 0:
                value -= risen_by(total, concentration[t, a], risen[t, a, n_labels])
        weights[t] = value
    source.member[j] = pick_log(weights, uniform(state))


@inlined
def log_beta_variate(state: Array, pair: Array, a: float, n: int) -> float:
    """Logarithm of a Beta(a, n) number."""
    if n <= FEW:
        value = 0.0
        for r in range(n):
            value += math.log(uniform(state)) / (a + r)
        return value
    x, left = gamma_variate(state, pair, np.int64(0), a)
    y, left = gamma_variate(state, pair, left, float(n))
    return math.log(x / (x + y))


@inlined
def draw_communities(
    source: Kinds, counts: Array, key: Key, iteration: int, n_kinds: int, chosen: Array
) -> None:
    """Draw who is in which community, how large these are, and means and concentrations."""
    mean, concentration, member, share, scale, levels, _, _, _ = source
    n_labels, n_slots = counts.shape[1], counts.shape[2]
    state, pair = np.empty(1, dtype=np.uint64), np.empty(2)
    tables = np.zeros(mean.shape)
    logs, fewer = np.zeros(concentration.shape), np.zeros(concentration.shape)
    sizes, weights = np.ones(len(mean)), np.empty(len(mean))
    risen = np.empty((len(mean), n_slots, n_labels + 1, TABLED))
    if len(mean) > 1:
        fill_risen(source, risen)
    for j in range(len(counts)):
        state[0] = address(key, iteration, COMMUNITY, j)
        if len(mean) > 1:
            draw_member(source, counts, j, risen, weights, state)
        t = member[j]
        sizes[t] += 1.0
        for a in range(n_slots):
            total = 0
            for label in range(n_labels):
                n = counts[j, label, a]
                total += n
                alpha = concentration[t, a] * mean[t, a, label]
                if n > 0:  # the first label always opens a table
                    tables[t, a, label] += 1.0
                for r in range(1, n):
                    if uniform(state) * (alpha + r) < alpha:
                        tables[t, a, label] += 1.0
            if total > 0:
                logs[t, a] += log_beta_variate(state, pair, concentration[t, a] + 1.0, total)
                if uniform(state) * (total + concentration[t, a]) < total:
                    fewer[t, a] += 1.0
    if len(mean) > 1:
        state[0] = address(key, iteration, COMMUNITY, len(counts))
        log_dirichlet(state, pair, sizes, weights)
        for t in range(len(mean)):
            share[t] = max(math.exp(weights[t]), 1e-300)
    shape, row = np.empty(n_labels), np.empty(n_labels)
    for t in range(len(mean)):
        for a in range(n_slots):
            state[0] = address(key, iteration, MEAN, t * n_slots + a)
            opened = 0.0
            strength, accuracy = levels[chosen[t, 1 if a % n_kinds > 0 else 0]]
            for label in range(n_labels):
                right = label == a // n_kinds
                part = accuracy if right else (1.0 - accuracy) / (n_labels - 1)
                shape[label] = strength * part + tables[t, a, label]
                opened += tables[t, a, label]
            x, _ = gamma_variate(state, pair, np.int64(0), scale[SHAPE] + opened - fewer[t, a])
            x /= scale[RATE] - logs[t, a]
            # a proposal from the conditional without bounds, refused where it lies beyond them
            if scale[LOW] <= x <= scale[HIGH]:
                concentration[t, a] = x
            log_dirichlet(state, pair, shape, row)
            whole = 0.0
            for label in range(n_labels):
                mean[t, a, label] = max(math.exp(row[label]), LEAST_MEAN)
                whole += mean[t, a, label]
            for label in range(n_labels):
                mean[t, a, label] /= whole


@inlined
def sizes_density(n: int, of_slot: float, of_class: int, pseudo: float, alpha: float) -> float:
    """Log density of the size of a slot and of its class, shares and prevalence integrated out."""
    value: float = math.lgamma(of_slot + n) + math.lgamma(alpha + of_class)
    return value - math.lgamma(pseudo + of_class)


@inlined
def swap_slots(source: Kinds, counts: Array, sizes: Array, a: int, b: int) -> None:
    """Let two slots change places with all that is in them."""
    mean, concentration = source.mean, source.concentration
    sizes[a], sizes[b] = sizes[b], sizes[a]
    for t in range(len(mean)):
        concentration[t, a], concentration[t, b] = concentration[t, b], concentration[t, a]
        for label in range(mean.shape[2]):
            mean[t, a, label], mean[t, b, label] = mean[t, b, label], mean[t, a, label]
    for j in range(len(counts)):
        for label in range(counts.shape[1]):
            held = counts[j, label, a]
            counts[j, label, a] = counts[j, label, b]
            counts[j, label, b] = held


@inlined
def move_kinds(
    source: Kinds, counts: Array, sizes: Array, known: Array, log_odds: float, alpha: Array,
    constants: Array, log_mean: Array, chosen: Array, state: Array,
) -> int:  # fmt: skip
    """Propose that kinds of two classes change places (Metropolis); gives how many did."""
    mean, levels, pseudo = source.mean, source.levels, source.pseudo
    n_kinds, n_slots = len(pseudo), mean.shape[1]
    of_class, whole, moved = np.zeros(len(alpha), dtype=np.int64), 0.0, 0
    for m in range(n_kinds):
        whole += pseudo[m]
    for a in range(n_slots):
        of_class[a // n_kinds] += sizes[a]
    for _ in range(MOVES * n_slots):
        a = min(int(uniform(state) * n_slots), n_slots - 1)
        b = min(int(uniform(state) * n_slots), n_slots - 1)
        u = uniform(state)
        k, other = a // n_kinds, b // n_kinds
        if k == other or (sizes[a] == 0 and sizes[b] == 0):
            continue
        gained = known[a, other] + known[b, k] - known[a, k] - known[b, other]
        # without strays an item of known truth would be impossible in another class
        if gained < 0 and log_odds == np.inf:
            continue
        more = sizes[b] - sizes[a]
        value = sizes_density(sizes[b], pseudo[a % n_kinds], of_class[k] + more, whole, alpha[k])
        value -= sizes_density(sizes[a], pseudo[a % n_kinds], of_class[k], whole, alpha[k])
        value += sizes_density(
            sizes[a], pseudo[b % n_kinds], of_class[other] - more, whole, alpha[other]
        )
        value -= sizes_density(sizes[b], pseudo[b % n_kinds], of_class[other], whole, alpha[other])
        if gained != 0:
            value += gained * log_odds
        for t in range(len(mean)):
            of_a = chosen[t, 1 if a % n_kinds > 0 else 0]
            of_b = chosen[t, 1 if b % n_kinds > 0 else 0]
            logs_a, logs_b = log_mean[t, a], log_mean[t, b]
            value += log_mean_density(logs_a, other, levels[of_b], constants[of_b])
            value += log_mean_density(logs_b, k, levels[of_a], constants[of_a])
            value -= log_mean_density(logs_a, k, levels[of_a], constants[of_a])
            value -= log_mean_density(logs_b, other, levels[of_b], constants[of_b])
        if math.log(u) < value:
            of_class[k] += more
            of_class[other] -= more
            swap_slots(source, counts, sizes, a, b)
            for t in range(len(mean)):
                for label in range(len(alpha)):
                    held = log_mean[t, a, label]
                    log_mean[t, a, label] = log_mean[t, b, label]
                    log_mean[t, b, label] = held
            for label in range(len(alpha)):
                known[a, label], known[b, label] = known[b, label], known[a, label]
            moved += 1
    return moved


@inlined
def anchor_classes(source: Kinds, counts: Array, sizes: Array, n_kinds: int) -> int:
    """Let two classes change names wherever more labels are right then; how often they did."""
    n_labels, moved = counts.shape[1], 0
    given = np.zeros((n_labels, n_labels), dtype=np.int64)  # labels by class and label
    for j in range(len(counts)):
        for label in range(n_labels):
            for a in range(counts.shape[2]):
                given[a // n_kinds, label] += counts[j, label, a]
    for k in range(n_labels):
        for other in range(k):
            if given[k, other] + given[other, k] > given[k, k] + given[other, other]:
                for m in range(n_kinds):
                    swap_slots(source, counts, sizes, k * n_kinds + m, other * n_kinds + m)
                for label in range(n_labels):
                    held = given[k, label]
                    given[k, label] = given[other, label]
                    given[other, label] = held
                moved += 1
    return moved


@kernel
def draw_kinds(
    counts: Array, sizes: Array, known: Array, log_odds: float, alpha: Array, source: Kinds,
    key: Key, iteration: int, log_prevalence: Array, logc: Array,
) -> int:  # fmt: skip
    """Draw shares of the slots, rows and their source, in place; returns how many kinds moved."""
    # counts [coder, label, slot] and sizes [slot] follow the kinds that move; known [slot, truth]
    # counts items with known labels, alpha [class] pseudo-counts of the classes
    n_kinds = len(source.pseudo)
    n_rows, n_labels, n_slots = counts.shape
    state, pair = np.empty(1, dtype=np.uint64), np.empty(2)
    chosen = np.zeros((len(source.mean), 2), dtype=np.int64)
    # strengths and accuracies are summed out of the model: drawn where needed, never kept
    state[0] = address(key, iteration, KINDS, 0)
    constants, log_mean = level_constants(source.levels, n_labels), np.empty(source.mean.shape)
    draw_levels(source, n_kinds, constants, log_mean, state, chosen)
    draw_communities(source, counts, key, iteration, n_kinds, chosen)
    draw_levels(source, n_kinds, constants, log_mean, state, chosen)
    moved: int = move_kinds(
        source, counts, sizes, known, log_odds, alpha, constants, log_mean, chosen, state
    )
    if source.anchored and known.sum() == 0:
        moved += anchor_classes(source, counts, sizes, n_kinds)
    shape, row = np.empty(n_labels), np.empty(n_labels)
    for j in range(n_rows):
        state[0] = address(key, iteration, CONFUSION, j)
        t = source.member[j]
        for a in range(n_slots):
            for label in range(n_labels):
                shape[label] = source.concentration[t, a] * source.mean[t, a, label]
                shape[label] += counts[j, label, a]
            log_dirichlet(state, pair, shape, row)
            for label in range(n_labels):
                logc[j, label, a] = row[label]
    state[0] = address(key, iteration, PREVALENCE, 0)
    classes, log_class = alpha.copy(), np.empty(len(alpha))
    for a in range(n_slots):
        classes[a // n_kinds] += sizes[a]
    log_dirichlet(state, pair, classes, log_class)
    for k in range(len(alpha)):
        of_kinds = log_prevalence[k * n_kinds : (k + 1) * n_kinds]
        log_dirichlet(state, pair, source.pseudo + sizes[k * n_kinds : (k + 1) * n_kinds], of_kinds)
        for m in range(n_kinds):
            of_kinds[m] += log_class[k]
    return moved
