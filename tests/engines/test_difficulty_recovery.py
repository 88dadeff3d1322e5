"""Scalar difficulty recovers what simulated labels were made of, from good and from bad starts."""

import numpy as np
import pytest

import annomodels as am
from tests.engines.crowds import draws, p_truth

pytestmark = pytest.mark.nuts


def simulated(seed, k, n_items, n_coders, per_item, scale):
    """Labels, truth, difficulties and abilities from the model."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n_items)
    delta = rng.normal(0, scale, n_items)
    ability = rng.normal(1.5 + np.log(k - 1), 0.6, (n_coders, k))
    rows = []
    for i in range(n_items):
        for j in rng.choice(n_coders, per_item, replace=False):
            right = np.exp(ability[j, truth[i]] - delta[i])
            if rng.random() < right / (right + k - 1):
                label = truth[i]
            else:
                label = (truth[i] + rng.integers(1, k)) % k
            rows.append((int(i), f"c{j}", int(label)))
    return am.Annotations.from_records(rows, labels=list(range(k))), truth, delta, ability


@pytest.mark.full("Compiles for a minute; reduced runs have ranks under the same model.")
def test_truth_difficulty_and_ability_are_recovered():
    data, truth, delta, ability = simulated(3, 3, 150, 8, 8, 1.0)
    fit = am.fit(data, "scalar-difficulty", chains=2, draws=400, seed=1)
    # with the parameters known 90 % would be right, and the difficulties correlate at .67
    assert (p_truth(fit).argmax(axis=1) == truth).mean() > 0.85
    items = fit.tree["items"].to_dataset()
    mean, sd = items["difficulty"].values, items["difficulty_sd"].values
    assert np.corrcoef(mean, delta)[0, 1] > 0.55
    # the posterior of a difficulty is close to normal
    inside = np.abs(delta - mean) < 1.645 * sd
    assert 0.8 < inside.mean() < 0.97
    low, high = np.quantile(draws(fit, "difficulty_scale"), [0.005, 0.995])
    assert low < 1.0 < high
    order = [data.coders.index(f"c{j}") for j in range(8)]
    low, high = np.quantile(draws(fit, "ability")[:, order], [0.05, 0.95], axis=0)
    assert ((low < ability) & (ability < high)).mean() > 0.7
    assert fit.tree["sample_stats"]["diverging"].values.mean() <= 0.0025
