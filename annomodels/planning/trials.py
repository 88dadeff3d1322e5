"""Simulated worlds for studies, and results of a trial."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from annomodels.coefficients.agreement import agreement
from annomodels.data.annotations import Annotations
from annomodels.errors import AnnotationError
from annomodels.fitting.run import fit
from annomodels.models.base import Model
from annomodels.models.encoded import require_fittable
from annomodels.planning.simulate import Workload, assign, simulate
from annomodels.progress import silent
from annomodels.summaries.coders.populations import new_coders
from annomodels.summaries.draws import Draws, choices, thinned
from annomodels.types import Ints

if TYPE_CHECKING:
    from annomodels.fitting.fit import Fit

World = Callable[[int, int, int, int], tuple[Annotations, Ints]]
"""Makes annotations and their truth from numbers of items, coders, labels per item, and a seed."""

DRAWS = 400


def assumed(**assumptions: Any) -> World:
    """Make data from stated assumptions, the arguments of :func:`annomodels.simulate`."""

    def world(items: int, coders: int, per_item: int, seed: int) -> tuple[Annotations, Ints]:
        made = simulate(items, coders, labels_per_item=per_item, seed=seed, **assumptions)
        return made.annotations, made.truth

    return world


def like_pilot(pilot: Fit, workload: Workload = "even") -> World:
    """Simulate data like a pilot's, each time from another posterior draw."""
    # Coders are new ones from the model's population if there is one and its items are no more than
    # their class; else coders of the pilot, drawn with replacement, as in this draw.
    tree, data = pilot.tree, pilot.data
    draws = thinned(tree, data, DRAWS)
    population = draws.states is None and new_coders(tree, 1) is not None

    def world(items: int, coders: int, per_item: int, seed: int) -> tuple[Annotations, Ints]:
        rng = np.random.default_rng(seed)
        s = int(rng.integers(len(draws)))
        if population:
            # new coders of this draw, [coder, truth, label]; they come in pairs
            made_up = (
                new_coders(tree, len(draws), seed=seed * 10_000 + n) for n in range(-(-coders // 2))
            )
            found = [side[s] for pair in made_up if pair for side in (pair.first, pair.second)]
            emission = np.stack(found[:coders])
        else:
            emission = draws.emission[s, rng.integers(data.n_coders, size=coders)]
        item, coder = assign(items, coders, per_item, workload, rng)
        state, truth = _items(draws, s, items, rng)
        label = choices(emission[coder, state[item]], rng.random(len(item)))
        made = Annotations(
            item=item.astype(np.int32),
            coder=coder.astype(np.int32),
            label=label.astype(np.int32),
            items=tuple(range(items)),
            coders=tuple(range(coders)),
            labels=data.labels,
            scale=data.scale,
            declared=True,
        )
        return made, truth

    return world


def _items(draws: Draws, s: int, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw the states and truths of new items."""
    share = np.broadcast_to(draws.share[s], (n, draws.share.shape[1]))
    state = choices(share, rng.random(n))
    if draws.states is None:
        return state, state
    return state, choices(draws.truth(s)[state], rng.random(n))


RUN: dict[str, Any] = {"chains": 1, "draws": 200, "warmup": 100, "extend": False, "threads": 1}
ALPHA_DRAWS = 500


class Trial(NamedTuple):
    """Results of one trial."""

    accuracy: float
    vote: float
    alpha: float
    width: float


def trial(data: Annotations, truth: Ints, model: str | Model, seed: int) -> Trial:
    """Fit simulated data and compare the gold standard with the truth."""
    voted = vote_accuracy(data, truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small or one-sided data are intended
        measured = agreement(data, "alpha", draws=ALPHA_DRAWS, seed=seed)
        width = measured.high - measured.low if np.isfinite(measured.value) else float("nan")
        try:
            require_fittable(data)
        except AnnotationError:
            return Trial(voted, voted, measured.value, width)
        result = fit(data, model, seed=seed, progress=silent, **RUN)
    label = result.tree["truth"].to_dataset()["p_truth"].values.argmax(axis=1)
    return Trial(float((label == truth).mean()), voted, measured.value, width)


def vote_accuracy(data: Annotations, truth: Ints) -> float:
    """Return the share of right majority votes; a tie counts in part."""
    best = data.votes == data.votes.max(axis=1, keepdims=True)
    return float((best[np.arange(data.n_items), truth] / best.sum(axis=1)).mean())
