"""Simulation-based calibration of scalar difficulty under NUTS (Talts et al. 2018).

Four coders label every item, so the data are the counts of 16 patterns: the model is compiled once,
and only the counts change. ANNOMODELS_CALIBRATION=reduced makes the study small.
"""

from __future__ import annotations

import dataclasses
import os
import sys

import numpy as np
import pytest
from scipy.stats import chisquare

import annomodels as am
from annomodels.models.continuous import scalar_difficulty
from annomodels.models.continuous.centring import centred_share
from annomodels.models.encoded import encode
from annomodels.priors import Covariates

pytestmark = [pytest.mark.calibration, pytest.mark.nuts]

REDUCED = os.environ.get("ANNOMODELS_CALIBRATION") == "reduced"
REPLICATIONS = 40 if REDUCED else 300
CODERS, ITEMS, DRAWS, RANKS = 4, 80, 500, 20
MODELS = {
    "plain": am.models.ScalarDifficulty(),
    "covariates": am.models.ScalarDifficulty(
        coder_covariates={j: {"years": j**2, "place": "east" if j else "west"} for j in range(4)}
    ),
    # the patterns of short items, and after them those of long ones; with coders so able, and
    # coefficients so small, that there is no second mode in which they err on one kind on the whole
    "items": am.models.ScalarDifficulty(
        accuracy=0.85,
        level_spread=0.4,
        item_covariates=Covariates(
            ("length",),
            tuple(str(i) for i in range(2 * 2**CODERS)),
            tuple((i // 2**CODERS,) for i in range(2 * 2**CODERS)),
            spread=0.4,
        ),
    ),
}
NAMES = (
    "prevalence", "difficulty_scale", "mean_ability", "ability_scale", "ability", "coder_effect",
    "item_effect",
)  # fmt: skip


def compiled(kind):
    """Give the model with the counts of patterns as data, and the patterns [pattern, coder].

    With a column of the kind of item after the coders.
    """
    import nutpie

    patterns = (np.arange(2**CODERS)[:, None] >> np.arange(CODERS)) & 1
    kinds = 2 if kind == "items" else 1
    patterns = np.column_stack([np.tile(patterns, (kinds, 1)), np.arange(kinds).repeat(2**CODERS)])
    n = len(patterns)
    rows = [(i, j, int(patterns[i, j])) for i in range(n) for j in range(CODERS)]
    data = am.Annotations.from_records(rows)
    model = MODELS[kind].with_data(data)
    codes = encode(data, kind=model.item_kinds)
    share = centred_share(dataclasses.replace(codes, weight=codes.weight * ITEMS / n))
    known = data.coords
    coords = {dim: known[dim] for dim in ("truth", "label", "coder")}
    before = scalar_difficulty.centred_share
    scalar_difficulty.centred_share = lambda _: share
    try:
        built = model.build(codes, {**coords, **model.coords(coords["label"])})
    finally:
        scalar_difficulty.centred_share = before
    start = {"level": np.array(0.9), "ability_scale": np.full(2, 0.7)}
    sampler = nutpie.compile_pymc_model(built, initial_points=start, backend="numba")
    # patterns in the order of the codes
    order = patterns[[int(np.flatnonzero(codes.inverse == n)[0]) for n in range(len(patterns))]]
    return model, sampler, order


def replication(model, sampler, patterns, seed):
    """Ranks of the true values among thinned draws, by quantity."""
    import nutpie

    rng = np.random.default_rng(seed)
    values = model.sample_values(CODERS, 2, rng)
    found = model.states({name: value[None] for name, value in values.items()})
    # difficulties from their distribution, not from the nodes
    truth = rng.choice(2, ITEMS, p=values["prevalence"])
    delta = rng.normal(0.0, values["difficulty_scale"], ITEMS)
    long = np.arange(ITEMS) * (1 + patterns[:, CODERS].max()) // ITEMS
    if "item_effect" in values:
        delta += (2.0 * long - 1.0) * values["item_effect"]
    odds = values["ability"][:, truth] - delta
    right = rng.random((CODERS, ITEMS)) < 1.0 / (1.0 + np.exp(-odds))
    label = np.where(right, truth, 1 - truth)
    place = {tuple(row): n for n, row in enumerate(patterns.tolist())}
    seen = np.column_stack([label.T, long])
    counts = np.bincount([place[tuple(row)] for row in seen.tolist()], minlength=len(patterns))
    counts = counts.astype(float)
    trace = nutpie.sample(
        sampler.with_data(data_weight=counts), draws=DRAWS, tune=300, chains=1, cores=1,
        seed=seed, progress_bar=False, save_warmup=False,
    )  # fmt: skip
    drawn = trace["posterior"].to_dataset()
    every = slice(None, None, DRAWS // 100)
    out = {}
    for name in (name for name in NAMES if name in values):
        draws = drawn[name].values[0, every].reshape(100, -1)
        out[name] = (draws < np.ravel(values[name])).sum(axis=0)
    assert found.share.shape[1] == model.n_states(2)
    return out


def study(kind, replications, seed=0):
    """Ranks by quantity, shape [replication, element]."""
    known = compiled(kind)
    parts = [replication(*known, 1000 * seed + n) for n in range(replications)]
    return {name: np.stack([part[name] for part in parts]) for name in parts[0]}


@pytest.mark.parametrize("kind", MODELS)
def test_ranks_are_uniform_and_intervals_cover(kind):
    ranks = study(kind, REPLICATIONS)
    assert ("coder_effect" in ranks) == (kind == "covariates")
    assert ("item_effect" in ranks) == (kind == "items")
    bins = 5 if REDUCED else 10
    for name, found in ranks.items():
        inside = (found >= 5) & (found <= 95)
        error = np.sqrt(0.09 / len(found))  # elements of one replication depend on each other
        assert abs(inside.mean() - 91 / 101) < 4 * error, (name, inside.mean())
        for column in found.T[:2]:
            counts = np.bincount(np.minimum(column * bins // 101, bins - 1), minlength=bins)
            assert chisquare(counts).pvalue > 0.001, (name, counts)


if __name__ == "__main__":
    import time

    begun = time.process_time()
    for name, found in study(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])).items():
        inside = ((found >= 5) & (found <= 95)).mean()
        columns = [np.bincount(np.minimum(c * 10 // 101, 9), minlength=10) for c in found.T[:2]]
        print(name, f"{inside:.3f}", [f"{chisquare(c).pvalue:.3f}" for c in columns])
    print(f"{time.process_time() - begun:.0f} s of processor time")
