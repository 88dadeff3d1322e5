"""Starts of chains: soft counts from votes, known truth or random shares; a mode census."""

# The posterior may have several modes, and a chain does not leave the mode where it starts. If most
# coders reverse the classes, the votes lead to a mode that known truths refute, and no chain that
# starts near the votes shows it. So EM takes some steps from the votes, from the known truths
# alone, from the votes with shifted classes, and from random class shares. Modes are weighted by an
# estimate of their mass, and chains start at those that are not negligible.

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.engines.acceleration import Climb, Expectation, ascend
from annomodels.engines.kept import alike, canonical_order
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded
from annomodels.types import Floats

if TYPE_CHECKING:
    from annomodels.engines.source.spread import Spread

Parts = Callable[[], Iterable[Encoded]]
# class shares of patterns, shape [pattern, truth]
Way = Callable[[Encoded], Floats]
# counts [row, label, truth] and class sizes [truth]
SoftCounts = tuple[Floats, Floats]

# passes of a climb before and after its population is updated: enough to distinguish modes
FIRST_PASSES, MORE_PASSES, TOLERANCE = 8, 24, 1e-6
# a climb this many nats behind the best mode after the first passes is given up
HOPELESS = 300.0
# mean distance of class probabilities from which two modes are different
APART = 0.05
# chains start at the votes if the votes' mode is closer than this mean distance
FAR = 0.25
# modes up to this many nats below the best one are not negligible
COMPARABLE = 5.0
# weight of the mode in the starts of chains; the rest is random
NEAR = 0.7
# expected counts are rounded to these decimals: sums over parts differ in their last bits
DECIMALS = 3


def vote_shares(codes: Encoded) -> Floats:
    """Return vote shares, 1 for a known truth, shape [pattern, truth]."""
    k = codes.n_labels
    pattern = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
    vote = codes.label < k
    flat = np.bincount((pattern * k + codes.label)[vote], minlength=codes.n_patterns * k)
    votes = flat.reshape(codes.n_patterns, k).astype(float)
    shares = votes / np.maximum(votes.sum(axis=1, keepdims=True), 1.0)
    return clamp(shares, codes)


def clamp(shares: Floats, codes: Encoded) -> Floats:
    """Set the class shares of known items to their known class."""
    known = np.flatnonzero(codes.gold >= 0)
    shares[known] = 0.0
    shares[known, codes.gold[known]] = 1.0
    return shares


def random_shares(codes: Encoded, rng: np.random.Generator, votes: float) -> Floats:
    """Return random class shares per pattern, mixed with vote shares of weight `votes`."""
    noise = rng.dirichlet(np.ones(codes.n_labels), codes.n_patterns)
    return clamp(votes * vote_shares(codes) + (1.0 - votes) * noise, codes)


def known_only(codes: Encoded) -> Floats:
    """Return class shares of patterns with known truth; those of all others are 0."""
    return clamp(np.zeros((codes.n_patterns, codes.n_labels)), codes)


def moved_on(codes: Encoded) -> Floats:
    """Return vote shares with each class shifted to the next one."""
    return clamp(np.roll(vote_shares(codes), 1, axis=1), codes)


def near_votes(votes: float, rng: np.random.Generator) -> Way:
    """Return a function that draws random class shares, mixed with vote shares."""
    return partial(random_shares, rng=rng, votes=votes)


def start_states(
    model: ConjugateModel, parts: Parts, seed: int, weights: Sequence[float]
) -> list[State]:
    """Return starting parameters, the first at the votes, the others near them."""
    rng = np.random.default_rng(seed)
    ways: list[Way] = [vote_shares, *(near_votes(weight, rng) for weight in weights)]
    return [model.start(*soft_counts(parts, way)) for way in ways]


def soft_counts(parts: Parts, shares_of: Way) -> SoftCounts:
    """Count labels [row, label, truth] and class sizes [truth] under class shares."""
    # summed part by part in a fixed order, so that the result is the same to the last bit for any
    # number of parts
    counts = sizes = np.empty((0, 0))
    for number, codes in enumerate(parts()):
        k = codes.n_labels
        if not number:
            counts, sizes = np.zeros((codes.n_rows, codes.n_codes, k)), np.zeros((1, k))
        cells = counts.reshape(-1, k)
        weighted = shares_of(codes) * codes.weight[:, None]
        pattern = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
        cell = codes.cell.astype(np.int64)
        if number:  # continue the sums as in a single part
            cell = np.concatenate([np.arange(len(cells)), cell])
        for truth in range(k):
            values = weighted[pattern, truth]
            if number:
                values = np.concatenate([cells[:, truth], values])
            cells[:, truth] = np.bincount(cell, values, minlength=len(cells))
        sizes = np.concatenate([sizes, weighted]).sum(axis=0, keepdims=True)
    return counts, sizes[0]


def mixed(one: SoftCounts, other: SoftCounts, weight: float) -> SoftCounts:
    """Return the counts under a mixture of two kinds of class shares; `weight` is of `one`."""
    counts, sizes = (weight * a + (1.0 - weight) * b for a, b in zip(one, other, strict=True))
    return counts, sizes


def state_from_shares(model: ConjugateModel, codes: Encoded, shares: Floats) -> State:
    """Return the parameters at their mode given class shares of the patterns."""
    return model.start(*soft_counts(lambda: [codes], lambda _: shares))


@dataclass(frozen=True, eq=False)
class Found:
    """Result of a climb, for the census."""

    name: str  # name of the start
    evidence: float  # estimate of the logarithm of the mass of the mode, in nats
    state: State  # parameters at the end
    start: SoftCounts  # counts for the starts of chains at this mode


@dataclass(frozen=True, eq=False)
class Census:
    """Starts of the chains, and the modes they come from."""

    states: list[State]  # start of each chain
    # per mode, best first: estimated log mass, starts that led there, class shares, and number of
    # chains that start there
    modes: list[dict[str, Any]] = field(default_factory=list)


def expectation_of(spread: Spread) -> Expectation:
    """Return a function from a state to expected counts, computed where the items are."""
    from annomodels.engines.source.jobs import expected, parameters_of

    def expectation(state: State) -> tuple[Floats, Floats, float]:
        counts, sizes, found = spread.sum(expected, parameters_of(state, spread.here))
        return counts, sizes, float(found)

    return expectation


def gaps_of(spread: Spread, states: Sequence[State]) -> Floats:
    """Return the mean total variation distance of P(truth) between states, [state, state]."""
    from annomodels.engines.source.jobs import distances, parameters_of

    if len(states) < 2:  # no pass over the items
        return np.zeros((len(states), len(states)))
    (total,) = spread.sum(distances, [parameters_of(state, spread.here) for state in states])
    return np.asarray(total / spread.source.n_items)


def chain_starts(
    model: ConjugateModel, spread: Spread, seed: int, chains: int, *, relabel: bool
) -> Census:
    """Start chains at modes that are not negligible: the first one there, others nearby."""
    rng, has_gold = np.random.default_rng(seed), spread.source.has_gold
    counts = partial(soft_counts, spread.source.opened)
    votes = counts(vote_shares)
    chance = [counts(near_votes(0.0, rng)) for _ in range(max(1, chains - 1))]
    begins = {"votes": votes}
    if has_gold:
        begins["known gold"] = counts(known_only)
    if has_gold or not relabel:
        begins["votes moved on"] = counts(moved_on)
    begins["chance"] = chance[0]
    climbed: list[Found] = []
    first = model.start(*votes)  # only once: setting a population takes long
    for name, start in begins.items():
        least = max((each.evidence for each in climbed), default=-np.inf) - HOPELESS
        state = first if start is votes else model.start(*start)
        climbed.append(_climbed(model, spread, name, state, least, relabel))
    groups, far = _groups(climbed, first, spread)
    best = groups[0][0].evidence
    near = [group for group in groups if group[0].evidence >= best - COMPARABLE]
    # Counts of votes are the same to the last bit for any number of parts; but a chain may stay in
    # a mode that a climb from there does not reach.
    votes_are_near = far < FAR
    at = [
        votes if votes_are_near and any(each.name == "votes" for each in group) else group[0].start
        for group in near
    ]
    states = []
    for n in range(chains):
        start = at[n % len(at)]
        if n:
            states.append(model.start(*mixed(start, chance[n - 1], NEAR)))
        else:
            states.append(deepcopy(first) if start is votes else model.start(*start))
    modes = [
        {
            "evidence": round(group[0].evidence, 1),
            "starts": [each.name for each in group],
            "prevalence": np.exp(group[0].state.log_prevalence).round(4).tolist(),
            "chains": len(range(n, chains, len(at))) if n < len(at) else 0,
        }
        for n, group in enumerate(groups)
    ]
    return Census(states, modes)


def _climbed(
    model: ConjugateModel,
    spread: Spread,
    name: str,
    state: State,
    least: float,
    relabel: bool,
) -> Found:
    """Climb from a state, updating the population of the model once on the way."""

    def in_order(state: State) -> State:
        order = canonical_order(state, spread.source.volume)
        return model.ordered(state, order) if relabel else state

    expectation = expectation_of(spread)
    state, evidence = in_order(state), -np.inf
    for passes in (FIRST_PASSES, MORE_PASSES):
        climb = ascend(model, expectation, state, Climb(TOLERANCE, passes))
        state = in_order(model.start(*expectation(climb.state)[:2]))
        counts, sizes, log_likelihood = expectation(state)
        evidence = model.log_evidence(counts, sizes, log_likelihood, state)
        if evidence < least:
            break
    return Found(name, evidence, state, (counts.round(DECIMALS), sizes.round(DECIMALS)))


def _groups(
    climbed: Sequence[Found], votes: State, spread: Spread
) -> tuple[list[list[Found]], float]:
    """Return groups of equal modes, best first, and the distance of the votes from their mode."""
    gaps = gaps_of(spread, [*(each.state for each in climbed), votes])
    order = sorted(range(len(climbed)), key=lambda n: -climbed[n].evidence)
    groups = alike(gaps, order, APART)
    return [[climbed[n] for n in group] for group in groups], float(gaps[0, -1])
