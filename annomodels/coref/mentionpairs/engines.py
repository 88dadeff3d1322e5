"""Gibbs in compiled loops, NUTS on the PyMC model: the same draws come out."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from annomodels.data.candidates import Candidates
from annomodels.models.pairs import PairModel, PairValues
from annomodels.types import Floats

BATCHES = 10


@dataclass(frozen=True)
class Draws:
    """What an engine gives; variables have leading dimensions [chain, draw].

    P(true) are means over batches of draws, [chain, batch, candidate], and P(no, one, several
    candidates true) means over all draws, [mention, 3].
    """

    prevalence: Floats
    rate: Floats
    mean: Floats
    concentration: Floats
    log_likelihood: Floats
    p_batches: Floats
    p_number: Floats


def _state(values: PairValues) -> tuple[Floats, ...]:
    """Weights [class, 2], logs [coder, 2, kind], means [kind, 2], concentrations [kind]."""
    share = values.prevalence
    off = np.log1p(-np.minimum(share, 1 - 1e-16))
    weights = np.stack([off, np.log(share)], axis=1)
    logs = np.ascontiguousarray(np.stack([np.log(values.rate), np.log1p(-values.rate)], axis=1))
    mean = np.stack([values.mean, 1 - values.mean], axis=1)
    return weights, logs, mean, values.concentration.copy()


def log_likelihood(model: PairModel, codes: Candidates, values: PairValues) -> tuple[float, Floats]:
    """Log likelihood with the truth summed out, and P(true) of every candidate."""
    from annomodels.kernels.decisions import pair_pass, single_pass

    weights, logs, *_ = _state(values)
    p = np.empty(len(codes.labels))
    if model.single:
        total = single_pass(codes.case, weights, logs, p)
    else:
        counts = np.zeros(logs.shape, dtype=np.int64), np.zeros(weights.shape, dtype=np.int64)
        total = pair_pass(codes.case, weights, logs, np.uint64(0), 0, False, p, *counts)
    return float(total), p


def run_gibbs(
    model: PairModel, codes: Candidates, chains: int, draws: int, warmup: int, seed: int
) -> Draws:
    """Draw truths, populations, rates and prevalence in turn; chains start from prior draws."""
    from annomodels.kernels.decisions import iterate

    n_classes = len(codes.classes) - model.has_none
    anchor = model.anchor(n_classes)
    priors = model.prevalence_prior(n_classes), anchor, np.array(model.concentration.coefficients())
    sizes = (len(codes.classes),), (len(codes.coders), len(anchor)), (len(anchor),), (len(anchor),)
    kept = [tuple(np.empty((draws, *size)) for size in (*sizes, ())) for _ in range(chains)]
    batches = min(BATCHES, draws)
    sums = [
        (np.zeros((batches, len(codes.labels))), np.zeros((len(codes.items), 3)))
        for _ in range(chains)
    ]
    keys = np.random.SeedSequence(seed).generate_state(chains, np.uint64)

    def run(chain: int) -> None:
        rng = np.random.default_rng([seed, chain])
        state = _state(model.sample_parameters(len(codes.coders), n_classes, rng))
        iterate(
            codes.case, model.single, priors, state, keys[chain], -warmup, draws,
            kept[chain], sums[chain],
        )  # fmt: skip

    with ThreadPoolExecutor(min(chains, os.cpu_count() or 1)) as pool:
        list(pool.map(run, range(chains)))
    prevalence, rate, mean, concentration, likelihood = map(np.stack, zip(*kept, strict=True))
    lengths = np.bincount(np.arange(draws) * batches // draws)
    p = np.stack([sum_ / lengths[:, None] for sum_, _ in sums])
    number = np.mean([number / draws for _, number in sums], axis=0)
    return Draws(prevalence, rate, mean, concentration, likelihood, p, number)


def run_nuts(
    model: PairModel, codes: Candidates, chains: int, draws: int, warmup: int, seed: int
) -> Draws:
    """Sample the PyMC model with nutpie, then the truth given each draw."""
    import nutpie

    from annomodels.engines.pymc.compiled import repeatable
    from annomodels.engines.pymc.nuts import bound_concentrations
    from annomodels.kernels.decisions import count_true

    pymc_model = model.build(codes, {})
    bound_concentrations(pymc_model, ("concentration",))
    with repeatable():
        compiled = nutpie.compile_pymc_model(pymc_model, backend="numba")
    tree = nutpie.sample(
        compiled, draws=draws, tune=max(warmup, 300), chains=chains, seed=seed,
        cores=min(chains, os.cpu_count() or 1), progress_bar=False, target_accept=0.9,
    )  # fmt: skip
    found = tree["posterior"].to_dataset()
    names = "prevalence", "rate", "mean", "concentration"
    held: dict[str, Any] = {name: np.asarray(found[name].values, dtype=float) for name in names}
    batches = min(BATCHES, draws)
    p_batches = np.zeros((chains, batches, len(codes.labels)))
    number, likelihood = np.zeros((len(codes.items), 3)), np.empty((chains, draws))
    lengths = np.bincount(np.arange(draws) * batches // draws)
    # a class that no candidate has is "none of these" where that is no candidate
    none = len(codes.classes) - model.has_none if model.single else -1
    for chain in range(chains):
        for draw in range(draws):
            values = PairValues(**{name: held[name][chain, draw] for name in names})
            likelihood[chain, draw], p = log_likelihood(model, codes, values)
            p_batches[chain, draw * batches // draws] += p
            count_true(codes.firsts, codes.cls, none, p, number)
    p_batches /= lengths[:, None]
    return Draws(**held, log_likelihood=likelihood, p_batches=p_batches,
                 p_number=number / (chains * draws))  # fmt: skip
