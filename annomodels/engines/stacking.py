"""P(truth) of a stack: its members fitted, weighed and put together, and coders given the truth.

How sure the stack may be is learnt from the items of known truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from annomodels.data.alike import taken_together
from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines import gibbs
from annomodels.engines.chain import Chain
from annomodels.engines.collect import collect_parameters
from annomodels.engines.kept import Kept
from annomodels.engines.settings import Clock, Progress, Settings
from annomodels.engines.stages import chain_keys, room_for
from annomodels.models.encoded import Encoded, encode
from annomodels.models.mixtures.stack import (
    Stack,
    as_far_off,
    layered,
    stacking_weights,
    vote_shares,
)
from annomodels.types import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from annomodels.models.mixtures.state_model import StateModel

CELLS = 4_000_000
# iterations of members, as a share of what is asked for
MEMBERS = 0.4
# draws of the layer: so many, fewer where they would take more than so many numbers in all
LAYERS, FEWEST, MOST_CELLS = 1000, 200, 1_000_000_000
# steps of the slice sampler before the first draw of the layer, and between two
BURN, THIN = 200, 5
# bytes of the few whole draws of a member, of all its chains
MOST_OF_ALL = 128 * 2**20
# draws of the coders before those that are kept: they begin near the mode
WARMUP = 50


def run(model: Stack, data: Annotations, settings: Settings) -> RawResult:
    """Fit the members, put them together, and draw the coders given truths from the stack.

    A run that was stopped or interrupted stacks the members that it has.

    Parameters
    ----------
    model
        The stack, which knows the data.
    data
        The annotations, known truth among them.
    settings
        The options of the run.
    """
    clock = Clock(settings.time_limit)
    # coders of one label cost as much as others and tell nothing of themselves
    alike, place = taken_together(data)
    parts = members(model, alike, settings, clock)
    had = slice(len(parts))
    stack = replace(
        model,
        members=model.members[had],
        favour=model.favour[had],
        powers=model.powers[had],
    )
    densities = np.stack([np.asarray(part.label_density) for part in parts])
    foretold, gain = stacking_weights(densities), stack.gain(densities, data.n_labels)
    weights = stack.weights(foretold)
    p = np.stack([vote_shares(data.votes), *(beliefs(part) for part in parts)])
    log_q = stack.log_mixture(p, weights)
    layer = draw_layer(stack, log_q, gain, data, settings.seed)
    mean, entropy, mcse = averaged(log_q, layer)
    mcse += _error_of_members(stack, weights, log_q, parts) * layer.sharpness.mean() * mean
    if data.gold is not None:
        known = np.flatnonzero(data.gold >= 0)
        mean[known] = np.eye(data.n_labels)[data.gold[known]]
        mcse[known], entropy[known] = 0.0, 0.0
    settings.tell("coders", 0.0)
    result = coders_given(stack, data, log_q, layer, mean, settings)
    names = stack.names[1:]
    result.attrs |= {
        "engine": "gibbs",
        "seconds": float(sum(part.attrs["seconds"] for part in parts)) + clock.seconds,
        "stopped": next((part.attrs["stopped"] for part in parts if part.attrs.get("stopped")), ""),
        "gain": gain,
        "members": {
            name: {key: float(part.attrs[key]) for key in ("rhat_max", "ess_min")}
            for name, part in zip(names, parts, strict=True)
        },
        "left_out": list(model.names[1 + len(parts) :]),
    }
    held = {
        "member": np.log(np.maximum(p, 1e-300)),
        "weight": weights,
        "foretold": foretold,
        "log_mixture": log_q,
        "sharpness": layer.sharpness,
        "unknown": layer.unknown,
        "tilt": layer.tilt,
    }
    of_members = {f"member_{n}": _whole(stack, n, part, place) for n, part in enumerate(parts)}
    result = replace(result, groups=result.groups | of_members, stack=held)
    return replace(result, p_truth=mean, p_truth_mcse=mcse, conditional_entropy=entropy)


def _whole(
    stack: Stack, n: int, part: RawResult, place: Ints
) -> dict[str, tuple[tuple[str, ...], AnyArray]]:
    """Give the few whole draws of a member with their dimensions.

    `place` is that of each coder among those whom the members were fitted to.
    """
    dims = stack.members[n].dims(part.p_truth.shape[1])
    found = {name: (("few", *dims[name]), values) for name, values in part.few.items()}
    by_coder = {name: own.index("coder") for name, (own, _) in found.items() if "coder" in own}
    each = sum(found[name][1].nbytes / found[name][1].shape[at] for name, at in by_coder.items())
    few = len(next(iter(part.few.values()), ()))
    if each * len(place) > MOST_OF_ALL:
        few = max(1, int(few * MOST_OF_ALL / (each * len(place))))
    for name, (own, values) in found.items():
        chosen = values[np.arange(few) * len(values) // few]
        at = by_coder.get(name)
        found[name] = own, chosen if at is None else np.take(chosen, place, axis=at)
    return found


def members(model: Stack, data: Annotations, settings: Settings, clock: Clock) -> list[RawResult]:
    """Fit the members, up to one that is stopped early."""
    plain = data.replace(dont_know=(), unanswered=None)
    seeds = np.random.SeedSequence([settings.seed, 1]).generate_state(len(model.members))
    share = MEMBERS * model.share_of_iterations(len(data), data.n_coders, data.n_labels)
    parts: list[RawResult] = []
    for n, member in enumerate(model.members):
        if parts and (parts[-1].attrs.get("stopped") or clock.over):
            break
        left = None if clock.limit is None else max(clock.limit - clock.seconds, 1e-3)
        own = replace(
            settings,
            # modes of members are averaged over, not left: longer chains would not mix either
            warmup=math.ceil(round(share * settings.warmup, 6)),
            draws=math.ceil(round(share * settings.draws, 6)),
            extend=False,
            rows=False,
            seed=int(seeds[n]),
            time_limit=left,
            progress=_named(settings, model.names[1 + n]),
        )
        parts.append(gibbs.run(cast("StateModel", member), plain, own))
    return parts


def _named(settings: Settings, name: str) -> Progress | None:
    """Progress that says which member is meant."""
    told = settings.progress
    if told is None:
        return None
    tell: Callable[[str, float, str], Any] = told
    return lambda stage, share, message: tell(stage, share, f"{name} {message}".strip())


def beliefs(part: RawResult) -> Floats:
    """P(truth) of a member, of items of known truth as if it were not known."""
    return part.p_truth if part.p_open is None else part.p_open


def _error_of_members(
    stack: Stack, weights: Floats, log_q: Floats, parts: list[RawResult]
) -> Floats:
    """Relative Monte Carlo error of the mixture, to first order from those of the members."""
    variance = np.zeros_like(log_q)
    for power, weight, part in zip(stack.powers, weights[1:], parts, strict=True):
        raised = np.maximum(part.p_truth, 1e-3) ** power
        share = weight * raised / raised.sum(axis=1, keepdims=True) / np.exp(log_q)
        variance += (np.minimum(share, 1.0) * power * part.p_truth_mcse) ** 2
    return np.asarray(np.sqrt(variance))


# -- the layer: how sure the stack may be -------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Layer:
    """Draws of sharpness [draw], share of unknown items [draw] and tilt [draw, truth]."""

    sharpness: Floats
    unknown: Floats
    tilt: Floats

    def part(self, chosen: Any) -> tuple[Floats, Floats, Floats]:
        """Give some of the draws."""
        return self.sharpness[chosen], self.unknown[chosen], self.tilt[chosen]


def draw_layer(stack: Stack, log_q: Floats, gain: float, data: Annotations, seed: int) -> Layer:
    """Draw the layer given the known truth of the data, else from its prior."""
    n_items, n_labels = log_q.shape
    n = max(FEWEST, min(LAYERS, MOST_CELLS // (n_items * n_labels)))
    gold = np.full(n_items, -1) if data.gold is None else data.gold
    known = np.flatnonzero(gold >= 0)
    rng = np.random.default_rng([seed, 2])
    if not len(known):
        return Layer(*stack.layer(rng.standard_normal((n, 2 + n_labels)), gain))
    log_known, truth = log_q[known], gold[known].astype(np.int64)

    def density(z: Floats) -> float:
        return log_truth(log_known, truth, *stack.layer(z[None], gain))

    return Layer(*stack.layer(elliptical(density, 2 + n_labels, n, rng), gain))


def log_truth(
    log_q: Floats, truth: Ints, sharpness: Floats, unknown: Floats, tilt: Floats
) -> float:
    """Log P(known truth) of all items together under one draw of the layer."""
    log_p = sharpness[0] * log_q + tilt[0]
    top = log_p.max(axis=1)
    of_truth = log_p[np.arange(len(truth)), truth] - top
    of_truth -= np.log(np.exp(log_p - top[:, None]).sum(axis=1))
    flat = np.log(unknown[0] / log_q.shape[1])
    return float(np.logaddexp(np.log1p(-unknown[0]) + of_truth, flat).sum())


def elliptical(
    density: Callable[[Floats], float], size: int, n: int, rng: np.random.Generator
) -> Floats:
    """Draw from a density times a standard normal prior, by elliptical slice sampling.

    Parameters
    ----------
    density
        Log likelihood at a point, shape [size].
    size
        Number of variables.
    n
        Number of draws.
    rng
        Source of chance.

    Returns
    -------
    ndarray
        Shape [n, size].

    References
    ----------
    I. Murray, R. P. Adams and D. J. C. MacKay (2010). Elliptical slice sampling. AISTATS, PMLR 9,
    541-548.
    """
    x, out = np.zeros(size), np.empty((n, size))
    now = density(x)
    for step in range(BURN + n * THIN):
        other = rng.standard_normal(size)
        least = now + np.log(rng.random())
        angle = 2.0 * np.pi * rng.random()
        low, high = angle - 2.0 * np.pi, angle
        while True:
            proposed = x * np.cos(angle) + other * np.sin(angle)
            now = density(proposed)
            if now > least:
                break
            low, high = (angle, high) if angle < 0.0 else (low, angle)
            angle = low + (high - low) * rng.random()
        x = proposed
        if step >= BURN and (step - BURN) % THIN == 0:
            out[(step - BURN) // THIN] = x
    return out


def averaged(log_q: Floats, layer: Layer) -> tuple[Floats, Floats, Floats]:
    """P(truth) averaged over the layer, its entropy in nats, and the error of the average."""
    n, k = log_q.shape
    p, square, entropy = np.empty((n, k)), np.empty((n, k)), np.empty(n)
    step = max(1, CELLS // (len(layer.unknown) * k))
    for begin in range(0, n, step):
        some = slice(begin, begin + step)
        each = layered(log_q[some], *layer.part(slice(None)))
        p[some] = each.mean(axis=0)
        square[some] = each.var(axis=0)
        entropy[some] = -(each * np.log(np.maximum(each, 1e-300))).sum(axis=2).mean(axis=0)
    return p, entropy, np.sqrt(square / len(layer.unknown))


# -- coders given truths from the stack ---------------------------------------------------------


def coders_given(
    stack: Stack,
    data: Annotations,
    log_q: Floats,
    layer: Layer,
    p: Floats,
    settings: Settings,
) -> RawResult:
    """Draw prevalence, coders and population, each time given one draw of all truths."""
    codes = encode(data, collapse=False)
    draws, single = room_for(codes.n_rows, codes.n_labels, settings)
    counts = np.zeros((len(codes.volume) * codes.n_labels, codes.n_labels))
    item = np.repeat(np.arange(data.n_items), np.diff(codes.starts))
    np.add.at(counts, codes.cell.astype(np.int64), p[item])
    shape = (codes.n_rows, codes.n_labels, codes.n_labels)
    begin = stack.start(counts.reshape(shape), p.sum(axis=0))
    log_q, best = np.ascontiguousarray(log_q), p.argmax(axis=1)
    keys = chain_keys(settings)
    chains = [
        Chain(stack, codes.volume, replace(begin, **_copied(begin)), key, False) for key in keys
    ]

    def sampled(n: int) -> tuple[Kept, Ints, Ints]:
        layers = np.random.default_rng([settings.seed, 3, n]).permutation(
            np.resize(np.arange(len(layer.unknown)), WARMUP + draws)
        )
        return _sampled(chains[n], codes, log_q, best, layer, layers, draws, single)

    with ThreadPoolExecutor(settings.workers) as pool:
        done = list(pool.map(sampled, range(len(chains))))
    gaps = np.zeros((len(chains), len(chains)))
    attrs = {"thin": 1, "warmup": settings.warmup}
    result = collect_parameters(stack, [kept for kept, *_ in done], codes.volume, gaps, attrs)
    result.stats["wrong"] = np.stack([wrong for _, wrong, _ in done]).astype(float)
    right = np.stack([right for *_, right in done])
    right = as_far_off(right, data, stack.far_off, settings.seed)
    return replace(result, groups={"coders": {"right": (("chain", "draw", "coder"), right)}})


def _copied(state: Any) -> dict[str, Any]:
    return {
        "log_prevalence": state.log_prevalence.copy(),
        "log_confusion": state.log_confusion.copy(),
        "population": {name: np.array(values) for name, values in state.population.items()},
    }


def _sampled(
    chain: Chain,
    codes: Encoded,
    log_q: Floats,
    best: Ints,
    layer: Layer,
    layers: Ints,
    draws: int,
    single: bool,
) -> tuple[Kept, Ints, Ints]:
    """Draw truths given the layer and coders given truths, in turns.

    Gives what is kept, and of each draw the number of wrong gold labels and that of the right
    labels of each coder.
    """
    from annomodels.kernels.rows import draw_parameters, log_prior

    kept, state = chain.room(draws, single), chain.state
    kept.make_room(chain.model.pymc_start(state))
    # what parameters come from changes in place
    prior, logs = chain.model.priors(state), (state.log_prevalence, state.log_confusion)
    wrong = np.zeros(draws, dtype=np.int64)
    right: Ints = np.zeros((draws, codes.n_rows), dtype=np.int64)
    for n, (counts, sizes, missed) in enumerate(_truths(chain, codes, log_q, best, layer, layers)):
        own = counts.reshape(state.log_confusion.shape)
        draw_parameters(own, sizes, *prior, chain.key, chain.iteration, *logs)
        chain.iteration += 1
        if n >= WARMUP:
            wrong[n - WARMUP] = missed
            right[n - WARMUP] = own.trace(axis1=1, axis2=2)
            likelihood = float((own * state.log_confusion).sum())
            likelihood += float(sizes @ state.log_prevalence)
            lp = likelihood + float(log_prior(*prior, *logs))
            kept.add(chain.model.pymc_start(state), likelihood, lp, False)
    return kept, wrong, right


def _truths(
    chain: Chain, codes: Encoded, log_q: Floats, best: Ints, layer: Layer, layers: Ints
) -> Iterator[tuple[Ints, Ints, int]]:
    """Draw all truths again and again: counts [cell, truth], class sizes and wrong labels."""
    from annomodels.kernels.mixtures.stacked import stacked_truths

    k = codes.n_labels
    for n in layers:
        counts = np.zeros((codes.n_rows * k, k), dtype=np.int64)
        sizes = np.zeros(k, dtype=np.int64)
        missed = stacked_truths(
            *codes.arrays, log_q, layer.sharpness[n], layer.unknown[n], layer.tilt[n], best,
            chain.key, chain.iteration, counts, sizes,
        )  # fmt: skip
        yield counts, sizes, int(missed)
