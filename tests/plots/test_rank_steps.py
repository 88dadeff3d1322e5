"""Rank plots tell chains that agree from chains that do not (Vehtari et al. 2021)."""

import numpy as np

from annomodels.plots.trust import _steps


def test_chains_from_one_distribution_stay_near_one(rng):
    steps = _steps(rng.normal(size=(4, 3000)))
    assert steps.shape == (4, 15)
    np.testing.assert_allclose(steps.mean(axis=1), 1.0)
    assert np.abs(steps - 1).max() < 0.35


def test_a_shifted_chain_stands_out(rng):
    values = rng.normal(size=(4, 1000))
    values[2] += 2.0
    steps = _steps(values)
    assert steps[2, -1] > 2.0
    assert steps[2, 0] < 0.2
