"""Simulation-based calibration of scalar difficulty under NUTS (Talts et al. 2018).

ANNOMODELS_CALIBRATION=reduced makes the study small.
"""

import os

import numpy as np
import pytest
from scipy.stats import chisquare

import annomodels as am
from annomodels.models.base import sample_values
from annomodels.priors import Covariates

pytestmark = [pytest.mark.calibration, pytest.mark.nuts]

# Of 50 replications, p < .001 finds a posterior that is off by its standard deviation in 97 %, one
# half as wide as it should be in 72 %; one twice as wide is found by its coverage in 95 %.
REPLICATIONS = 50 if os.environ.get("ANNOMODELS_CALIBRATION") == "reduced" else 300
CODERS, ITEMS, RANKS, EVERY = 4, 80, 19, 10
LONG = np.arange(ITEMS) * 2 // ITEMS
# With coders so able, and coefficients so small, that there is no second mode in which they err on
# one kind or class on the whole: a single chain may miss one. With the default priors, 90 %
# intervals covered the prevalence in 86 % of 700 replications (every 20th draw kept).
ABLE = {"accuracy": 0.85, "level_spread": 0.4}
MODELS = {
    "plain": am.models.ScalarDifficulty(**ABLE),
    "items": am.models.ScalarDifficulty(
        **ABLE,
        item_covariates=Covariates(
            ("length",), tuple(map(str, range(ITEMS))), tuple((int(n),) for n in LONG), spread=0.4
        ),
    ),
    "coders": am.models.ScalarDifficulty(
        **ABLE,
        coder_covariates=Covariates(
            ("years",), tuple(map(str, range(CODERS))), tuple((n,) for n in range(CODERS)), 0.4
        ),
    ),
}
NAMES = (
    "prevalence", "difficulty_scale", "mean_ability", "ability_scale", "ability", "coder_effect",
    "item_effect",
)  # fmt: skip


def replication(model, seed):
    """Ranks of the true values among thinned draws, by quantity."""
    rng = np.random.default_rng(seed)
    values = sample_values(model, CODERS, 2, rng)
    # difficulties from their distribution, not from the nodes
    truth = rng.choice(2, ITEMS, p=values["prevalence"])
    delta = rng.normal(0.0, values["difficulty_scale"], ITEMS)
    if "item_effect" in values:
        delta += (2.0 * LONG - 1.0) * values["item_effect"]
    odds = values["ability"][:, truth] - delta
    right = rng.random((CODERS, ITEMS)) < 1.0 / (1.0 + np.exp(-odds))
    label = np.where(right, truth, 1 - truth)
    rows = [(i, j, int(label[j, i])) for j in range(CODERS) for i in range(ITEMS)]
    data = am.Annotations.from_records(rows, labels=[0, 1])
    fit = am.fit(data, model, chains=1, draws=RANKS * EVERY, warmup=300, seed=seed)
    drawn = fit.tree["posterior"].to_dataset()
    assert fit.engine == "nuts"
    out = {}
    for name in (name for name in NAMES if name in values):
        draws = drawn[name].values[0, EVERY - 1 :: EVERY].reshape(RANKS, -1)
        out[name] = (draws < np.ravel(values[name])).sum(axis=0)
    return out


FULL = pytest.mark.full("Compiles for a minute; reduced runs have the model without terms.")


@pytest.mark.parametrize(
    "kind", ["plain", pytest.param("items", marks=FULL), pytest.param("coders", marks=FULL)]
)
def test_ranks_are_uniform_and_intervals_cover(kind):
    model = MODELS[kind]
    if kind != "plain":  # the terms are those of the items and coders
        model = model.with_data(
            am.Annotations.from_records([(i, i % CODERS, i % 2) for i in range(ITEMS)])
        )
    parts = [replication(model, n) for n in range(REPLICATIONS)]
    effects = [name for name in parts[0] if name.endswith("_effect")]
    assert effects == ([] if kind == "plain" else [f"{kind[:-1]}_effect"])
    for name in parts[0]:
        found = np.stack([part[name] for part in parts])
        inside = (found >= 1) & (found <= RANKS - 1)
        error = np.sqrt(0.09 / len(found))  # elements of one replication depend on each other
        assert abs(inside.mean() - 0.9) < 4 * error, (name, inside.mean())
        for column in found.T[:2]:
            counts = np.bincount(column * 10 // (RANKS + 1), minlength=10)
            assert chisquare(counts).pvalue > 0.001, (name, counts)
