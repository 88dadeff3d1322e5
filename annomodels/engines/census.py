"""A quick census of modes, and where chains begin.

A posterior of this kind may have several modes, and a chain does not leave the one that it begins
in: where most coders answer the wrong way round, the votes lead to a mode that known truths refute,
and no chain that begins near the votes says so. So EM climbs a little way from the votes, from the
known truths alone, from the votes with the classes moved on, and from random shares; what is found
is weighed by an estimate of its mass, and chains begin at the modes that count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from annomodels.engines.acceleration import Expectation, ascend
from annomodels.engines.kept import canonical_order
from annomodels.engines.source.jobs import (
    distances,
    expected,
    parameters_of,
    soft,
    total_gaps,
)
from annomodels.engines.source.spread import Spread
from annomodels.engines.starts import (
    Parts,
    SoftCounts,
    known_only,
    mixed,
    moved_on,
    near_votes,
    soft_counts,
    vote_shares,
)
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded
from annomodels.types import Floats

# passes of a climb before and after its population is set anew: enough to tell modes apart
FIRST_PASSES, MORE_PASSES, TOLERANCE = 8, 24, 1e-6
# nats behind the best mode after the first passes from which a climb is given up
HOPELESS = 300.0
# mean distance of class probabilities from which two modes are not one
APART = 0.05
# mean distance of the votes' mode from the votes up to which chains begin at the votes themselves
FAR = 0.25
# nats below the best mode up to which another one counts beside it
COMPARABLE = 5.0
# weight of the mode where chains begin, the rest at random
NEAR = 0.7
# decimals of expected counts that are kept: sums over parts differ in their last bits
DECIMALS = 3


@dataclass(frozen=True, eq=False)
class Found:
    """Where a climb ended.

    Parameters
    ----------
    name
        Where it began.
    evidence
        Estimate of the logarithm of the mass of the mode, in nats.
    state
        The parameters there.
    start
        Counts under which chains of this mode begin.
    """

    name: str
    evidence: float
    state: State
    start: SoftCounts


@dataclass(frozen=True, eq=False)
class Census:
    """Where chains begin, and why.

    Parameters
    ----------
    states
        Where each chain begins.
    modes
        Of each mode, the best first: the estimate of the log of its mass, the starts that led
        there, the shares of the classes and the number of chains that begin there.
    """

    states: list[State]
    modes: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Items:
    """The items as the census asks for them, here or over parts that lie anywhere.

    Parameters
    ----------
    parts
        Opens the items, part after part.
    volume
        Share of the labels that each confusion matrix gave, shape [row].
    has_gold
        Whether the truth of any item is known.
    expected
        Gives expected counts [row, label, truth], sizes [truth] and the log likelihood of a state.
    gaps
        Gives mean total variation distances of what states say of the items, [state, state].
    """

    parts: Parts
    volume: Floats
    has_gold: bool
    expected: Expectation
    gaps: Callable[[Sequence[State]], Floats]


def items_here(codes: Encoded) -> Items:
    """Give items that are here, in one part."""

    def weighed(state: State, items: bool) -> tuple[Floats, Floats, Floats, float]:
        given = parameters_of(state, here=True)
        return soft(codes.arrays, codes.weight, codes.n_rows, given, items)

    def expected_here(state: State) -> tuple[Floats, Floats, float]:
        counts, sizes, _, log_likelihood = weighed(state, items=False)
        return counts, sizes, log_likelihood

    def gaps(states: Sequence[State]) -> Floats:
        p_truth = [weighed(state, items=True)[2] for state in states]
        return total_gaps(p_truth, codes.weight) / codes.weight.sum()

    has_gold = bool((codes.gold >= 0).any())
    return Items(lambda: [codes], codes.volume, has_gold, expected_here, gaps)


def items_of(spread: Spread) -> Items:
    """Give items that are spread over a team."""
    source, here = spread.source, spread.team.here

    def expected_there(state: State) -> tuple[Floats, Floats, float]:
        counts, sizes, found = spread.sum(expected, parameters_of(state, here))
        return counts, sizes, float(found)

    def gaps(states: Sequence[State]) -> Floats:
        (total,) = spread.sum(distances, [parameters_of(state, here) for state in states])
        return np.asarray(total / source.n_items)

    def parts() -> Iterable[Encoded]:
        return (partition.open() for partition in source.partitions)

    return Items(parts, source.volume, source.has_gold, expected_there, gaps)


def chain_starts(
    model: ConjugateModel, items: Items, seed: int, chains: int, *, relabel: bool
) -> Census:
    """Begin chains at the modes that count: the first one there, the others near it.

    Parameters
    ----------
    model
        A model with conjugate parameters.
    items
        The data.
    seed
        Seed of the random numbers.
    chains
        Number of chains.
    relabel
        Whether classes are brought into their canonical order. Modes that differ by the names of
        the classes alone are then one.
    """
    rng = np.random.default_rng(seed)
    counts = partial(soft_counts, items.parts)
    votes = counts(vote_shares)
    chance = [counts(near_votes(0.0, rng)) for _ in range(max(1, chains - 1))]
    begins = {"votes": votes}
    if items.has_gold:
        begins["known gold"] = counts(known_only)
    if items.has_gold or not relabel:
        begins["votes moved on"] = counts(moved_on)
    begins["chance"] = chance[0]
    climbed: list[Found] = []
    for name, start in begins.items():
        least = max((each.evidence for each in climbed), default=-np.inf) - HOPELESS
        climbed.append(_climbed(model, items, name, start, least, relabel))
    first = model.start(*votes)
    groups, far = _groups(climbed, first, items)
    best = groups[0][0].evidence
    near = [group for group in groups if group[0].evidence >= best - COMPARABLE]
    # Votes are counted alike in any number of parts, to the last bit; but a chain may stay in
    # another mode than a climb from there finds.
    votes_are_near = far < FAR
    at = [
        votes if votes_are_near and any(each.name == "votes" for each in group) else group[0].start
        for group in near
    ]
    states = []
    for n in range(chains):
        start = at[n % len(at)]
        states.append(model.start(*(mixed(start, chance[n - 1], NEAR) if n else start)))
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
    items: Items,
    name: str,
    start: SoftCounts,
    least: float,
    relabel: bool,
) -> Found:
    """Climb from soft counts, the population of the model set anew once on the way."""

    def in_order(state: State) -> State:
        order = canonical_order(state, items.volume)
        return model.ordered(state, order) if relabel else state

    state, evidence = in_order(model.start(*start)), -np.inf
    for passes in (FIRST_PASSES, MORE_PASSES):
        climb = ascend(model, items.expected, state, tolerance=TOLERANCE, max_passes=passes)
        state = in_order(model.start(*items.expected(climb.state)[:2]))
        counts, sizes, log_likelihood = items.expected(state)
        evidence = model.log_evidence(counts, sizes, log_likelihood, state)
        if evidence < least:
            break
    return Found(name, evidence, state, (counts.round(DECIMALS), sizes.round(DECIMALS)))


def _groups(
    climbed: Sequence[Found], votes: State, items: Items
) -> tuple[list[list[Found]], float]:
    """Put together what says the same of the items, the best first.

    Gives too how far what the climb from the votes found lies from where it began.
    """
    gaps = items.gaps([*(each.state for each in climbed), votes])
    groups: list[list[int]] = []
    for n in sorted(range(len(climbed)), key=lambda n: -climbed[n].evidence):
        for group in groups:
            if gaps[n, group[0]] < APART:
                group.append(n)
                break
        else:
            groups.append([n])
    return [[climbed[n] for n in group] for group in groups], float(gaps[0, -1])
