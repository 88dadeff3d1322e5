"""True candidates of mentions: Gibbs in compiled loops, NUTS on the PyMC model."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from annomodels.data.candidates import Candidates
from annomodels.data.mixing import mixing, worst
from annomodels.data.schema import RawResult
from annomodels.engines.readers import next_label, read_shares
from annomodels.engines.settings import Clock, Interrupts, Settings, in_slices
from annomodels.models.pairs import PairModel, PairValues
from annomodels.models.parameters import watched_draws
from annomodels.types import AnyArray, Floats

BATCHES = 10


@dataclass(frozen=True)
class LinkDraws:
    """Draws of the sampler with leading dimensions [chain, draw]."""

    # p_batches: P(true), means over batches of draws, [chain, batch, candidate]; p_number: P(no,
    # one, several candidates true), means over all draws, [mention, 3]

    values: PairValues
    log_likelihood: Floats
    p_batches: Floats
    p_number: Floats
    attrs: dict[str, Any]
    stats: dict[str, AnyArray] = field(default_factory=dict)


Sampler = Callable[[PairModel, Candidates, Settings], LinkDraws]


def run_gibbs(model: PairModel, data: Candidates, settings: Settings) -> RawResult:
    """Sample with :func:`gibbs`."""
    return raw(gibbs, model, data, settings)


def run_nuts(model: PairModel, data: Candidates, settings: Settings) -> RawResult:
    """Sample with :func:`nuts`."""
    return raw(nuts, model, data, settings)


def raw(sample: Sampler, model: PairModel, data: Candidates, settings: Settings) -> RawResult:
    """Sample with an engine, and convert its output to a ``RawResult``."""
    settings.require_here(model.title)
    clock = Clock()
    codes = model.encode(data)
    drawn = sample(model, codes, settings)
    posterior = {**vars(drawn.values), "log_likelihood": drawn.log_likelihood}
    rhat, ess = worst(*mixing(watched_draws(model.parameters(), posterior, data.per_coder)))
    truth = {
        "p_true": (("chain", "batch", "candidate"), drawn.p_batches),
        "p_number": (("item", "number"), drawn.p_number),
        "p_next": (("candidate",), next_label(codes, read_shares(codes))),
    }
    return RawResult(
        posterior,
        drawn.log_likelihood + model.log_prior(vars(drawn.values)),
        stats=drawn.stats,
        groups={"truth": truth},
        attrs={"seconds": clock.seconds, "rhat_max": rhat, "ess_min": ess, **drawn.attrs},
    )


def _state(values: PairValues) -> tuple[Floats, ...]:
    """Return weights [class, 2], logs [coder, 2, kind], means [kind, 2], concentrations [kind]."""
    share = values.prevalence
    off = np.log1p(-np.minimum(share, 1 - 1e-16))
    weights = np.stack([off, np.log(share)], axis=1)
    logs = np.ascontiguousarray(np.stack([np.log(values.rate), np.log1p(-values.rate)], axis=1))
    mean = np.stack([values.mean, 1 - values.mean], axis=1)
    return weights, logs, mean, values.concentration.copy()


def log_likelihood(model: PairModel, codes: Candidates, values: PairValues) -> tuple[float, Floats]:
    """Return the log likelihood with the truth summed out, and P(true) of each candidate."""
    from annomodels.kernels.decisions import pair_pass, single_pass

    weights, logs, *_ = _state(values)
    p = np.empty(len(codes.labels))
    if model.single:
        total = single_pass(codes.case, weights, logs, p)
    else:
        counts = np.zeros(logs.shape, dtype=np.int64), np.zeros(weights.shape, dtype=np.int64)
        total = pair_pass(codes.case, weights, logs, np.uint64(0), 0, False, p, *counts)
    return float(total), p


def gibbs(model: PairModel, codes: Candidates, settings: Settings) -> LinkDraws:
    """Draw truths, populations, rates and prevalence in turn; chains start from prior draws."""
    from annomodels.kernels.decisions import iterate

    chains, draws, warmup = settings.chains, settings.draws, settings.warmup
    n_classes = len(codes.classes) - model.has_none
    anchor = model.anchor(n_classes)
    priors = model.prevalence_prior(n_classes), anchor, np.array(model.concentration.coefficients())
    kinds = (len(anchor),)
    sizes = (len(codes.classes),), (len(codes.coders), *kinds), kinds, kinds, ()
    kept = [tuple(np.empty((draws, *size)) for size in sizes) for _ in range(chains)]
    batches = min(BATCHES, draws)
    sums = [
        (np.zeros((batches, len(codes.labels))), np.zeros((len(codes.items), 3)))
        for _ in range(chains)
    ]
    keys = np.random.SeedSequence(settings.seed).generate_state(chains, np.uint64)
    rngs = [np.random.default_rng([settings.seed, chain]) for chain in range(chains)]
    states = [_state(model.sample_parameters(len(codes.coders), n_classes, rng)) for rng in rngs]

    def advance(first: int, end: int) -> None:
        def one(chain: int) -> None:
            iterate(
                codes.case, model.single, priors, states[chain], keys[chain], first, end,
                kept[chain], sums[chain],
            )  # fmt: skip

        list(pool.map(one, range(chains)))

    def warm(first: int, end: int) -> None:  # iterations below 0 store nothing
        advance(first - warmup, end - warmup)

    limit = settings.time_limit
    half = None if limit is None else limit / 2
    with ThreadPoolExecutor(settings.workers) as pool, Interrupts(True) as interrupts:
        run = settings, Clock(), interrupts
        _, hurried = in_slices(warm, warmup, *run, "warm-up", limit=half)
        if hurried == "interrupted":
            raise KeyboardInterrupt
        n, stopped = in_slices(advance, draws, *run, "sampling", limit=limit)
    drawn = (np.stack([own[:n] for own in each]) for each in zip(*kept, strict=True))
    prevalence, rate, mean, concentration, likelihood = drawn
    values = PairValues(prevalence, mean, concentration, rate)
    lengths = np.bincount(np.arange(n) * batches // draws)
    p = np.stack([p_sum[: len(lengths)] / lengths[:, None] for p_sum, _ in sums])
    number = np.mean([number / n for _, number in sums], axis=0)
    attrs = {"engine": "gibbs", "stopped": stopped or hurried}
    return LinkDraws(values, likelihood, p, number, attrs)


def nuts(model: PairModel, codes: Candidates, settings: Settings) -> LinkDraws:
    """Sample the PyMC model with nutpie, then compute P(true) under each draw."""
    from annomodels.engines.pymc.compiled import compiled
    from annomodels.engines.pymc.nuts import bound_concentrations, sample
    from annomodels.kernels.decisions import count_true

    settings.tell("compiling", 0.0, "building the PyMC model")
    pymc_model = model.build(codes, {})
    bound_concentrations(pymc_model, [each.name for each in model.parameters() if each.positive])
    code = compiled(pymc_model, {}, jitter=True)
    names = [each.name for each in fields(PairValues)]
    drawn, _, diverging, stopped = sample(code, settings, names)
    values = PairValues.of(drawn)
    chains, draws = diverging.shape
    batches = min(BATCHES, draws)
    p_batches = np.zeros((chains, batches, len(codes.labels)))
    number, likelihood = np.zeros((len(codes.items), 3)), np.empty((chains, draws))
    lengths = np.bincount(np.arange(draws) * batches // draws)
    # without a candidate "none of these", `none` is a class that no candidate has
    none = len(codes.classes) - model.has_none if model.single else -1
    for at in np.ndindex(likelihood.shape):
        one = PairValues(*(held[at] for held in vars(values).values()))
        likelihood[at], p = log_likelihood(model, codes, one)
        p_batches[at[0], at[1] * batches // draws] += p
        count_true(codes.firsts, codes.cls, none, p, number)
    p_batches /= lengths[:, None]
    attrs = {"engine": "nuts", "stopped": stopped}
    stats = {"diverging": diverging}
    return LinkDraws(values, likelihood, p_batches, number / likelihood.size, attrs, stats)
