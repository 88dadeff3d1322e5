"""Gibbs sampler for the interval model, with results in units of the labels."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.mixing import ess, rhat
from annomodels.data.schema import RawResult
from annomodels.engines.settings import Clock, Interrupts, Settings, in_slices
from annomodels.models.interval import Interval
from annomodels.models.numeric import POPULATION, NumberDraws, NumericLabels
from annomodels.models.parameters import watched_draws
from annomodels.types import AnyArray, Floats

BATCHES = 20
KEPT_TRUTHS = 400
MOST_THIN = 16
GOOD_RHAT, GOOD_ESS = 1.01, 400
# label reads per label and iteration, the unit of `Settings.patience`
N_OPS = 40
# maximum size of the stored draws of the truths, over all chains
TRUTHS = 20_000_000


@dataclass
class NumericResult:
    """Draws of the sampler, in units of the labels."""

    # draws [chain, draw, ...] of the population parameters and of the coders' bias, scale and
    # noise_sd
    posterior: dict[str, Floats]
    # log density of the labels in standard units with the truths summed out, [chain, draw]
    log_likelihood: Floats
    truth: Floats  # draws of the truths [chain, some draws, item]
    # posterior mean and standard deviation of each item's truth, from conditional moments, and the
    # Monte Carlo error of the mean; [item]
    truth_mean: Floats
    truth_sd: Floats
    truth_mcse: Floats
    difficulty: Floats  # posterior mean of the difficulty, [item]
    difficulty_sd: Floats
    attrs: dict[str, Any] = field(default_factory=dict)  # plain values about the run
    diverging: AnyArray | None = None  # whether each draw of NUTS diverged, [chain, draw]


Sampler = Callable[[Interval, NumericLabels, Settings], NumericResult]


class NumericChain:
    """State and stored draws of one Gibbs chain."""

    def __init__(self, model: Interval, labels: NumericLabels, key: int, number: int) -> None:
        rng = np.random.default_rng([key & 0xFFFFFFFF, number])
        self.labels, self.key, self.iteration = labels, np.uint64(key), 0
        n, j = labels.n_items, labels.n_coders
        self.prior = model.prior_numbers()
        size = np.maximum(np.bincount(labels.item, minlength=n), 1)
        mean = np.bincount(labels.item, labels.y, minlength=n) / size
        rest = labels.y - mean[labels.item]
        noise = max(float(rest.std()), 0.05)
        spread = max(float(mean.std()), 0.05)
        # dispersed starts: item means, with different population scales in each chain
        apart = np.exp(rng.normal(0.0, 0.5 if number else 0.0, 6))
        self.held = np.array([mean.mean(), spread, 0.3, 0.3, noise, 1.0, 4.0])
        self.held[1:] *= apart
        self.d = np.where(np.isnan(labels.known), mean, labels.known) - self.held[0]
        self.bias, self.scale = np.zeros(j), np.ones(j)
        self.precision, self.ease = np.full(j, noise**-2.0), np.ones(n)
        self.y = labels.y.copy()

    def room(self, draws: int, truth_thin: int) -> None:
        """Allocate arrays for draws."""
        n, j = self.labels.n_items, self.labels.n_coders
        self.truth_thin = truth_thin
        self.kept = np.empty((draws, len(POPULATION)))
        self.kept_bias, self.kept_scale, self.kept_precision = np.empty((3, draws, j))
        self.kept_truth = np.empty((-(-draws // truth_thin), n))
        self.likelihood = np.empty(draws)
        self.truth_sums, self.ease_sums = np.zeros((BATCHES + 1, n)), np.zeros((2, n))

    def advance(self, first: int, end: int, thin: int) -> None:
        """Run iterations `first` to `end`, counted from the start of the stage."""
        from annomodels.kernels.interval import iterate

        labels, begun = self.labels, self.iteration
        iterate(
            labels.item, labels.coder, self.y, labels.low, labels.high, labels.exact,
            labels.known, self.prior,
            np.uint64(int(self.key) ^ (begun << 20)), first, end, thin, self.truth_thin, BATCHES,
            bool(np.isfinite(labels.known).any()), self.held, self.d, self.bias, self.scale,
            self.precision, self.ease, self.kept, self.kept_bias, self.kept_scale,
            self.kept_precision, self.kept_truth, self.likelihood, self.truth_sums, self.ease_sums,
        )  # fmt: skip


def run(model: Interval, data: Annotations, settings: Settings) -> RawResult:
    """Sample the posterior of numeric labels with :func:`gibbs`."""
    return raw(gibbs, model, data, settings)


def raw(engine: Sampler, model: Interval, data: Annotations, settings: Settings) -> RawResult:
    """Sample with an engine, and convert its output to a ``RawResult``."""
    settings.require_here(model.title)
    labels = model.encode(data)
    result = engine(model, labels, settings)
    watched = watched_draws(model.parameters(), result.posterior, data.per_coder)
    r, n = rhat(watched), ess(watched)
    told = not np.isnan(r).all()
    draws = result.truth.reshape(-1, data.n_items)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    truth = {
        "truth_mean": result.truth_mean,
        "truth_sd": result.truth_sd,
        "truth_low": low,
        "truth_high": high,
        "truth_mcse": result.truth_mcse,
    }
    some = draws[:: -(-len(draws) // KEPT_TRUTHS)].astype(np.float32)
    return RawResult(
        result.posterior,
        result.log_likelihood,
        stats={} if result.diverging is None else {"diverging": result.diverging},
        item_values={"difficulty": result.difficulty, "difficulty_sd": result.difficulty_sd},
        groups={
            "truth": {name: (("item",), values) for name, values in truth.items()},
            "truth_draws": {"truth": (("sample", "item"), some)},
        },
        attrs={
            "centre": labels.centre,
            "unit": labels.unit,
            "ends": list(labels.ends),
            "rhat_max": float(np.nanmax(r)) if told else float("nan"),
            "ess_min": float(np.nanmin(n)) if told else float("nan"),
            **result.attrs,
        },
    )


def gibbs(model: Interval, labels: NumericLabels, settings: Settings) -> NumericResult:
    """Sample by blocked Gibbs steps; chains that have not mixed continue, thinned."""
    keys = np.random.SeedSequence(settings.seed).generate_state(settings.chains, np.uint64)
    chains = [NumericChain(model, labels, int(key), n) for n, key in enumerate(keys)]
    draws = settings.draws
    truth_thin = max(1, -(-settings.chains * draws * labels.n_items // TRUTHS))
    with ThreadPoolExecutor(settings.workers) as pool, Interrupts(True) as interrupts:
        settings.tell("compiling", 0.0)
        for chain in chains:
            chain.room(1, 1)
        chains[0].advance(0, 0, 0)
        clock, limit = Clock(settings.time_limit), settings.time_limit
        go = partial(in_slices, settings=settings, clock=clock, interrupts=interrupts)

        def advance(thin: int, first: int, end: int) -> None:
            list(pool.map(lambda chain: chain.advance(first, end, thin), chains))

        half = None if limit is None else limit / 2
        _, hurried = go(partial(advance, 0), settings.warmup, name="warm-up", limit=half)
        if hurried == "interrupted":
            raise KeyboardInterrupt
        thin, work = 1, 0
        whole: tuple[list[NumericChain], int, int] | None = None
        while True:
            for chain in chains:
                chain.room(draws, truth_thin)
                chain.iteration += 1
            further = partial(advance, thin)
            n, stopped = go(further, draws * thin, name="sampling", thin=thin, limit=limit)
            n, stopped = -(-n // thin), stopped or hurried
            if whole is not None and n < draws:  # the stage before has more draws
                chains, n, thin = whole
                break
            work += settings.chains * draws * thin * N_OPS * len(labels.y)
            room = settings.extend and thin < MOST_THIN and 3 * work <= settings.patience
            if stopped or not room or _mixed(model, _posterior(chains, n, labels), labels):
                break
            whole = [copy(chain) for chain in chains], n, thin
            thin *= 2
    posterior = _posterior(chains, n, labels)
    attrs = {"engine": "gibbs", "thin": thin, "seconds": clock.seconds, "stopped": stopped}
    return _collect(chains, n, posterior, labels, attrs)


def _posterior(chains: list[NumericChain], n: int, labels: NumericLabels) -> dict[str, Floats]:
    each = (
        (chain.kept, chain.kept_bias, chain.kept_scale, chain.kept_precision) for chain in chains
    )
    drawn = (np.stack([values[:n] for values in part]) for part in zip(*each, strict=True))
    return NumberDraws(*drawn).in_units(labels)


def _mixed(model: Interval, posterior: dict[str, Floats], labels: NumericLabels) -> bool:
    draws = watched_draws(model.parameters(), posterior, np.bincount(labels.coder))
    r, n = rhat(draws), ess(draws)
    if np.isnan(r).all():
        return True
    total = draws.shape[0] * draws.shape[1]
    return bool(np.nanmax(r) < GOOD_RHAT and np.nanmin(n) >= min(GOOD_ESS, 0.4 * total))


def _collect(
    chains: list[NumericChain], n: int, posterior: dict[str, Floats], labels: NumericLabels,
    attrs: dict[str, object],
) -> NumericResult:  # fmt: skip
    """Combine the chains, averaging item values over all draws."""
    truth = labels.centre + labels.unit * np.stack(
        [chain.kept_truth[: -(-n // chain.truth_thin)] for chain in chains]
    )
    draws = len(chains[0].kept)
    used = [b for b in range(BATCHES) if (b + 1) * draws // BATCHES <= n] or [0]
    size = np.bincount(np.arange(n) * BATCHES // draws, minlength=BATCHES)
    total = sum(chain.truth_sums[:BATCHES].sum(axis=0) for chain in chains)
    square = sum(chain.truth_sums[BATCHES] for chain in chains)
    count = n * len(chains)
    mean = np.asarray(total / count)
    sd = np.sqrt(np.maximum(square / count - mean**2, 0.0))
    sd[np.isfinite(labels.known)] = 0.0  # exactly 0, without rounding errors
    batch = np.concatenate([chain.truth_sums[used] / size[used][:, None] for chain in chains])
    mcse = np.full_like(mean, np.nan)
    if len(batch) > 1:
        mcse = batch.std(axis=0, ddof=1) / np.sqrt(len(batch))
    hard = np.stack([chain.ease_sums for chain in chains]).sum(axis=0) / count
    return cut_at_ends(
        NumericResult(
            posterior,
            np.stack([chain.likelihood[:n] for chain in chains]),
            truth,
            labels.centre + labels.unit * mean,
            labels.unit * sd,
            labels.unit * mcse,
            hard[0],
            np.sqrt(np.maximum(hard[1] - hard[0] ** 2, 0.0)),
            attrs,
        ),
        labels,
    )


def cut_at_ends(result: NumericResult, labels: NumericLabels) -> NumericResult:
    """Clip truths to the ends of the scale: labels do not distinguish values beyond them."""
    if np.isinf(labels.ends).all():
        return result
    truth = np.clip(result.truth, *labels.ends)
    flat = truth.reshape(-1, truth.shape[2])
    parts = np.array_split(flat, min(BATCHES * len(truth), len(flat)))
    batch = np.stack([part.mean(axis=0) for part in parts])
    result.truth = truth
    result.truth_mean, result.truth_sd = flat.mean(axis=0), flat.std(axis=0)
    result.truth_mcse = batch.std(axis=0, ddof=1) / np.sqrt(len(batch))
    return result
