"""NUTS for the interval model, on the PyMC model that defines it: the reference for Gibbs."""

from __future__ import annotations

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult
from annomodels.engines.interval import (
    BATCHES,
    TRUTHS,
    NumericChain,
    NumericResult,
    cut_at_ends,
    raw,
)
from annomodels.engines.pymc.compiled import compiled
from annomodels.engines.pymc.nuts import sample
from annomodels.engines.settings import Clock, Settings
from annomodels.models.interval import Interval
from annomodels.models.numeric import SAMPLED, NumberDraws, NumericLabels


def run(model: Interval, data: Annotations, settings: Settings) -> RawResult:
    """Sample the posterior of numeric labels with :func:`nuts`."""
    return raw(nuts, model, data, settings)


def nuts(model: Interval, labels: NumericLabels, settings: Settings) -> NumericResult:
    """Sample the PyMC model with nutpie, then draw the truths given all other parameters."""
    clock = Clock()
    settings.tell("compiling", 0.0, "building the PyMC model")
    coords = {
        "coder": [str(j) for j in range(labels.n_coders)],
        "item": [str(i) for i in range(labels.n_items)],
    }
    at = NumericChain(model, labels, settings.seed, 0)
    begun = NumberDraws(at.held, at.bias, at.scale, at.precision, at.ease)
    begin = begun.pymc_start(labels, at.d)
    code = compiled(model.build(labels, coords), begin, jitter=True)
    found, lp, diverging, stopped = sample(code, settings, SAMPLED)
    drawn = NumberDraws.of(found)
    if drawn.truth is None:
        mean, sd = drawn.truth_given(labels)
    else:
        mean = drawn.truth
        sd = np.zeros_like(mean)
    rng = np.random.default_rng(settings.seed)
    assert drawn.ease is not None
    hard = drawn.ease**-0.5
    chain_means = mean.reshape(-1, mean.shape[2])
    size = min(BATCHES * len(mean), len(chain_means))
    batch = np.stack([part.mean(axis=0) for part in np.array_split(chain_means, size)])
    thin = max(1, -(-mean.size // TRUTHS))
    draws = rng.normal(mean[:, ::thin], sd[:, ::thin])
    attrs = {"engine": "nuts", "thin": 1, "seconds": clock.seconds, "stopped": stopped}
    result = NumericResult(
        drawn.in_units(labels),
        lp,
        labels.centre + labels.unit * draws,
        labels.centre + labels.unit * chain_means.mean(axis=0),
        labels.unit * np.sqrt((sd**2).mean(axis=(0, 1)) + chain_means.var(axis=0)),
        labels.unit * batch.std(axis=0, ddof=1) / np.sqrt(size),
        hard.mean(axis=(0, 1)),
        hard.std(axis=(0, 1)),
        attrs,
        diverging,
    )
    return cut_at_ends(result, labels)
