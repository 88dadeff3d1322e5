"""Gibbs chain of the span model; the truth of a group is summed out if possible."""

from __future__ import annotations

import math

import numpy as np

from annomodels.kernels.compile import Array, inlined, kernel
from annomodels.kernels.random import gamma_variate, log_dirichlet, uniform

# width (log scale) and maximum number of steps of the slice sampler of a concentration
WIDTH, MOST_STEPS = 1.0, 30
# iterations between updates of the concentrations, which take most of the time
EACH = 5
# smallest probability: a smaller one could underflow to 0, which has no logarithm
LEAST = 1e-12
LOG_LEAST = math.log(LEAST)


@inlined
def concentration_density(x: float, counts: Array, base: Array, center: float) -> float:
    """Return the log density of a log concentration, with the coders' rows integrated out."""
    s = math.exp(x)
    value = -0.5 * (x - center) ** 2
    top = math.lgamma(s)
    for j in range(counts.shape[0]):
        total = 0.0
        for k in range(base.shape[0]):
            n = counts[j, k]
            if n > 0.0:
                total += n
                value += math.lgamma(s * base[k] + n) - math.lgamma(s * base[k])
        if total > 0.0:
            value += top - math.lgamma(s + total)
    return value


@inlined
def move_concentration(x: float, counts: Array, base: Array, center: float, state: Array) -> float:
    """Update a log concentration by slice sampling (Neal 2003)."""
    level = concentration_density(x, counts, base, center) + math.log(uniform(state))
    left = x - WIDTH * uniform(state)
    right = left + WIDTH
    for _ in range(MOST_STEPS):
        if concentration_density(left, counts, base, center) <= level:
            break
        left -= WIDTH
    for _ in range(MOST_STEPS):
        if concentration_density(right, counts, base, center) <= level:
            break
        right += WIDTH
    while True:
        y = left + uniform(state) * (right - left)
        if concentration_density(y, counts, base, center) > level:
            return float(y)
        if y < x:
            left = y
        else:
            right = y
        if right - left < 1e-10:
            return x


@inlined
def count_tables(counts: Array, base: Array, s: float, tables: Array, state: Array) -> None:
    """Add counts of Chinese restaurant tables; given these counts, `base` is conjugate."""
    for j in range(counts.shape[0]):
        for k in range(base.shape[0]):
            weight = s * base[k]
            for n in range(int(counts[j, k])):
                if n == 0 or uniform(state) * (weight + n) < weight:
                    tables[k] += 1.0


@inlined
def log_beta(state: Array, pair: Array, a: float, b: float) -> tuple[float, float]:
    """Draw the logs of a beta variate and of its complement; both shapes are at least 1."""
    x, _ = gamma_variate(state, pair, 0, a)
    y, _ = gamma_variate(state, pair, 0, b)
    return math.log(x / (x + y)), math.log(y / (x + y))


@inlined
def move_rows(
    counts: Array,
    mean: Array,
    log_s: float,
    center: float,
    prior: Array,
    state: Array,
    pair: Array,
    room: Array,
    moves: bool,
) -> float:
    """Draw the mean of rows and, if `moves`, their concentration, given counts [row, column]."""
    if moves:
        log_s = move_concentration(log_s, counts, mean, center, state)
    s = math.exp(log_s)
    tables = room[0]
    tables[:] = prior
    count_tables(counts, mean, s, tables, state)
    log_dirichlet(state, pair, tables, room[1])
    for k in range(mean.shape[0]):
        mean[k] = max(math.exp(room[1, k]), LEAST)
    return log_s


@inlined
def normalize(weights: Array, size: int) -> float:
    """Turn log weights into probabilities in place; returns the log of their sum."""
    top = weights[0]
    for k in range(1, size):
        top = max(top, weights[k])
    total = 0.0
    for k in range(size):
        weights[k] = math.exp(weights[k] - top)
        total += weights[k]
    for k in range(size):
        weights[k] /= total
    return float(top + math.log(total))


@kernel
def group_weights(
    g: int,
    answer_first: Array,
    coder: Array,
    visit: Array,
    label: Array,
    shape: Array,
    shape_first: Array,
    log_other: Array,
    log_shape: Array,
    log_nothing: Array,
    log_prevalence: Array,
    log_given: Array,
    log_silent: Array,
    log_exact: Array,
    log_wrong: Array,
    by_class: Array,
    by_shape: Array,
) -> float:
    """Fill in P(class) and P(shape | not nothing) of a group; returns log P(answers)."""
    # `log_given` [coder, label, class] is log P(label | class) of attentive coders. `log_silent`
    # [visit, class] is log P(no mark | class), and its last column is log P(attentive).
    classes = log_prevalence.shape[0]
    first, size = shape_first[g], shape_first[g + 1] - shape_first[g]
    for k in range(classes):
        by_class[k] = log_prevalence[k]
    for s in range(size):
        by_shape[s] = log_shape[first + s]
    for a in range(answer_first[g], answer_first[g + 1]):
        j, said, silent = coder[a], label[a], log_silent[visit[a]]
        if said == 0:
            for k in range(classes):
                by_class[k] += silent[k]
        else:
            place, given = shape[a], log_given[j, said]
            for k in range(classes):
                by_class[k] += silent[classes] + given[k]
            for s in range(size):
                by_shape[s] += log_exact[j] if s == place else log_wrong[j] + log_other[g]
    border = normalize(by_shape, size)
    by_class[0] += log_nothing[g]
    for k in range(1, classes):
        by_class[k] += border
    return float(normalize(by_class, classes))


@inlined
def choose(weights: Array, size: int, state: Array) -> int:
    """Draw an index from probabilities."""
    left = uniform(state)
    for k in range(size - 1):
        left -= weights[k]
        if left < 0.0:
            return k
    return size - 1


@kernel
def run_chain(
    key: int,
    warmup: int,
    draws: int,
    thin: int,
    context: Array,
    contexts: int,
    answer_first: Array,
    coder: Array,
    visit: Array,
    visit_first: Array,
    label: Array,
    shape: Array,
    shape_first: Array,
    log_other: Array,
    log_shape: Array,
    log_nothing: Array,
    known: Array,
    known_shape: Array,
    start: Array,
    base_prior: Array,
    centers: Array,
    exact_prior: Array,
    prevalence_prior: Array,
    attention_prior: Array,
    prevalence: Array,
    evenness: Array,
    confusion: Array,
    base: Array,
    concentration: Array,
    exact: Array,
    attentive: Array,
    steadiness: Array,
    log_density: Array,
    truth: Array,
    truth_shape: Array,
    p_class: Array,
    p_shape: Array,
) -> None:
    """Run a chain; the arrays from `prevalence` on are outputs."""
    groups, coders, classes = known.shape[0], exact.shape[1], prevalence_prior.shape[0]
    visits = visit_first[coders]
    state, pair, room = np.empty(1, np.uint64), np.empty(2), np.empty((2, classes))
    state[0] = np.uint64(key)
    sizes = shape_first[1:] - shape_first[:-1]
    by_class, by_shape = np.empty(classes), np.empty(sizes.max())
    rows = np.empty((coders, classes, classes))
    log_exact, log_wrong = np.empty(coders), np.empty(coders)
    counts, borders = np.zeros((classes, coders, classes)), np.zeros((coders, 2))
    attended, attends = np.zeros((visits, 2)), np.full(visits, 0.9)
    log_given, log_silent = np.empty((coders, classes, classes)), np.empty((visits, classes + 1))
    shares, log_shares = np.zeros((contexts, classes)), np.zeros((contexts, classes))
    means, logs = np.empty((classes, classes)), np.full(classes, centers[0])
    overall, log_even = np.full(classes, 1.0 / classes), centers[1]
    mean_attention = np.empty((coders, 2))
    mean_attention[:, 0], mean_attention[:, 1] = 0.8, 0.2
    log_steady = np.full(coders, centers[2])
    row, out = np.empty(classes), np.empty(classes)
    chosen, chosen_shape = start.copy(), np.zeros(groups, np.int64)
    for k in range(classes):
        means[k] = base_prior[k] / base_prior[k].sum()
        rows[:, k] = means[k]
    for g in range(groups):  # start at the majority votes
        votes = np.zeros(sizes[g])
        for a in range(answer_first[g], answer_first[g + 1]):
            if label[a] > 0:
                votes[shape[a]] += 1.0
        chosen_shape[g] = votes.argmax()
        if known[g] >= 0:
            chosen[g], chosen_shape[g] = known[g], max(known_shape[g], 0)
    for iteration in range(warmup + draws * thin):
        moves = iteration % EACH == 0
        counts[:] = 0.0
        borders[:] = 0.0
        shares[:] = 0.0
        attended[:] = 0.0
        for g in range(groups):
            k, s = chosen[g], chosen_shape[g]
            shares[context[g], k] += 1.0
            for a in range(answer_first[g], answer_first[g + 1]):
                j, said, v = coder[a], label[a], visit[a]
                if said == 0:
                    p = attends[v] * rows[j, k, 0]
                    if uniform(state) * (p + 1.0 - attends[v]) >= p:
                        attended[v, 1] += 1.0
                        continue
                attended[v, 0] += 1.0
                counts[k, j, said] += 1.0
                if k > 0 and said > 0:
                    borders[j, 0 if shape[a] == s else 1] += 1.0
        log_even = move_rows(
            shares, overall, log_even, centers[1], prevalence_prior, state, pair, room, moves
        )
        for d in range(contexts):
            for k in range(classes):
                row[k] = math.exp(log_even) * overall[k] + shares[d, k]
            log_dirichlet(state, pair, row, log_shares[d])
        for k in range(classes):
            logs[k] = move_rows(
                counts[k], means[k], logs[k], centers[0], base_prior[k], state, pair, room, moves
            )
            for j in range(coders):
                for other in range(classes):
                    row[other] = math.exp(logs[k]) * means[k, other] + counts[k, j, other]
                log_dirichlet(state, pair, row, out)
                for other in range(classes):
                    rows[j, k, other] = max(math.exp(out[other]), LEAST)
                    log_given[j, other, k] = max(out[other], LOG_LEAST)
        for j in range(coders):
            log_exact[j], log_wrong[j] = log_beta(
                state, pair, exact_prior[0] + borders[j, 0], exact_prior[1] + borders[j, 1]
            )
            own = attended[visit_first[j] : visit_first[j + 1]]
            log_steady[j] = move_rows(
                own, mean_attention[j], log_steady[j], centers[2], attention_prior, state, pair,
                room[:, :2], moves,
            )  # fmt: skip
            for v in range(visit_first[j], visit_first[j + 1]):
                for n in range(2):
                    row[n] = math.exp(log_steady[j]) * mean_attention[j, n] + attended[v, n]
                log_dirichlet(state, pair, row[:2], out[:2])
                attends[v] = min(max(math.exp(out[0]), LEAST), 1.0 - LEAST)
                log_silent[v, classes] = math.log(attends[v])
                for k in range(classes):
                    log_silent[v, k] = math.log(attends[v] * rows[j, k, 0] + 1.0 - attends[v])
        used = iteration >= warmup
        kept = (iteration - warmup) // thin if used and (iteration - warmup) % thin == 0 else -1
        density = 0.0
        for g in range(groups):
            value = group_weights(
                g, answer_first, coder, visit, label, shape, shape_first, log_other, log_shape,
                log_nothing, log_shares[context[g]], log_given, log_silent, log_exact, log_wrong,
                by_class, by_shape,
            )  # fmt: skip
            if known[g] >= 0:
                value += math.log(max(by_class[known[g]], 1e-300))
                if known[g] > 0:
                    value += math.log(max(by_shape[known_shape[g]], 1e-300))
                by_class[:] = 0.0
                by_class[known[g]] = 1.0
                if known[g] > 0:
                    by_shape[:] = 0.0
                    by_shape[known_shape[g]] = 1.0
            density += value
            k = choose(by_class, classes, state)
            chosen[g] = k
            chosen_shape[g] = choose(by_shape, sizes[g], state)
            if kept >= 0:
                truth[kept, g] = k
                truth_shape[kept, g] = chosen_shape[g]
            if used:
                for other in range(classes):
                    p_class[g, other] += by_class[other] / (draws * thin)
                for s in range(sizes[g]):
                    p_shape[shape_first[g] + s] += by_shape[s] * (1 - by_class[0]) / (draws * thin)
        if kept >= 0:
            log_density[kept], evenness[kept] = density, math.exp(log_even)
            for k in range(classes):
                prevalence[kept, k] = overall[k]
                concentration[kept, k] = math.exp(logs[k])
                base[kept, k] = means[k]
            for j in range(coders):
                exact[kept, j] = math.exp(log_exact[j])
                attentive[kept, j] = mean_attention[j, 0]
                steadiness[kept, j] = math.exp(log_steady[j])
                confusion[kept, j] = rows[j]
