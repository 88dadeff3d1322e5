"""NUTS for the interval model: the PyMC model is the definition, and the yardstick of Gibbs."""

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
    in_units,
    raw,
)
from annomodels.engines.pymc.compiled import compiled
from annomodels.engines.pymc.nuts import sample
from annomodels.engines.settings import Clock, Settings
from annomodels.models.interval import POPULATION, Interval
from annomodels.models.numeric import NumericLabels
from annomodels.types import Floats


def run(model: Interval, data: Annotations, settings: Settings) -> RawResult:
    """Sample the posterior of numeric labels; :func:`nuts` says how."""
    return raw(nuts, model, data, settings)


def nuts(model: Interval, labels: NumericLabels, settings: Settings) -> NumericResult:
    """Sample the PyMC model with nutpie, then draw the truths given everything else.

    Parameters
    ----------
    model
        The priors.
    labels
        The data in standard units.
    settings
        The options of the run.

    Raises
    ------
    EngineError
        When the time limit leaves no draw.
    """
    clock = Clock()
    settings.tell("compiling", 0.0, "building the PyMC model")
    coords = {
        "coder": [str(j) for j in range(labels.n_coders)],
        "item": [str(i) for i in range(labels.n_items)],
    }
    start = NumericChain(model, labels, settings.seed, 0)
    initial = dict(zip(POPULATION, start.held, strict=True))
    initial |= {"bias_raw": start.bias, "scale_raw": start.bias, "precision": start.precision}
    initial["ease"] = start.ease
    if not labels.exact:
        initial["truth_raw"] = start.d[np.isnan(labels.known)] / start.held[1]
    begin = {k: np.asarray(v, dtype=float) for k, v in initial.items()}
    code = compiled(model.build(labels, coords), begin, jitter=True)
    wanted = {*POPULATION, "bias", "scale", "precision", "ease", "truth"}
    v, lp, diverging, stopped = sample(code, settings, wanted)
    if labels.exact:
        mean, sd = truth_given(v, labels)
    else:
        mean = v["truth"]
        sd = np.zeros_like(mean)
    rng = np.random.default_rng(settings.seed)
    posterior = {name: v[name] for name in (*POPULATION, "bias", "scale")}
    posterior["noise_sd"] = v["precision"] ** -0.5
    hard = v["ease"] ** -0.5
    chain_means = mean.reshape(-1, mean.shape[2])
    size = min(BATCHES * len(mean), len(chain_means))
    batch = np.stack([part.mean(axis=0) for part in np.array_split(chain_means, size)])
    thin = max(1, -(-mean.size // TRUTHS))
    draws = rng.normal(mean[:, ::thin], sd[:, ::thin])
    attrs = {"engine": "nuts", "thin": 1, "seconds": clock.seconds, "stopped": stopped}
    result = NumericResult(
        in_units(posterior, labels),
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


def truth_given(v: dict[str, Floats], labels: NumericLabels) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the truths given draws [chain, draw, ...] of all else."""
    shape = (*v["truth_mean"].shape, labels.n_items)
    mean, sd = np.empty(shape), np.empty(shape)
    item, coder, n = labels.item, labels.coder, labels.n_items
    known = np.isfinite(labels.known)
    for at in np.ndindex(shape[:2]):
        weight = v["ease"][at][item] * v["precision"][at][coder]
        s = v["scale"][at][coder]
        rest = labels.y - v["truth_mean"][at] - v["bias"][at][coder]
        a = np.bincount(item, weight * s * s, minlength=n)
        b = np.bincount(item, weight * s * rest, minlength=n)
        variance = 1.0 / (a + v["truth_spread"][at] ** -2.0)
        mean[at] = np.where(known, labels.known, v["truth_mean"][at] + variance * b)
        sd[at] = np.where(known, 0.0, np.sqrt(variance))
    return mean, sd
