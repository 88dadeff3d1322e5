"""The difference between chains is measured beyond the noise of their draws."""

from __future__ import annotations

import numpy as np
import pytest

from annomodels.limits import P_OFF
from annomodels.summaries.trust.convergence import chains_apart


def halves_of(chains: int, draws: int, shift: float, seed: int) -> np.ndarray:
    """Make means over halves of independent draws; the first chain is shifted."""
    rng = np.random.default_rng(seed)
    p = rng.beta(4, 2, (chains, draws, 300))
    p[0] += shift
    means = p.reshape(chains, 2, draws // 2, 300).mean(axis=2)
    return np.stack([means, 1 - means], axis=-1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("draws", [20, 50, 200])
def test_chains_that_agree_are_not_apart_however_few_their_draws(draws: int, seed: int) -> None:
    halves = halves_of(4, draws, 0.0, seed)
    mean = halves.mean(axis=1)
    plain = np.abs(mean - mean.mean(axis=0)).sum(axis=2).mean(axis=1).max() / 2
    assert plain > (P_OFF if draws < 30 else 0)  # the noise alone is beyond the limit
    assert chains_apart(halves) < (P_OFF if draws < 30 else P_OFF / 2)


@pytest.mark.parametrize("draws", [50, 200])
def test_chains_that_differ_are_as_far_apart_as_they_are(draws: int) -> None:
    # the mean of four chains moves by a quarter of the shift of one
    assert chains_apart(halves_of(4, draws, 0.08, 1)) == pytest.approx(0.06, abs=0.012)
