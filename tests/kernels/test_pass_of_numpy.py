"""A pass over the labels is machine code and computes what numpy does (speed: benchmarks/)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from annomodels.kernels.passes import chances, sampled_pass, soft_pass

N_ITEMS, N_CODERS, PER_ITEM, K = 20_000, 500, 5, 4
Floats = NDArray[np.float64]


class Crowd:
    """Labels at random, and parameters."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.starts = np.arange(0, N_ITEMS * PER_ITEM + 1, PER_ITEM)
        self.cell = rng.integers(0, N_CODERS * K, N_ITEMS * PER_ITEM)
        self.gold = np.full(N_ITEMS, -1)
        self.prevalence = np.log(rng.dirichlet(np.ones(K)))
        rows = rng.dirichlet(np.ones(K), (N_CODERS, K)).transpose(0, 2, 1)
        self.table = np.log(np.ascontiguousarray(rows))
        self.counts, self.sizes = np.zeros((N_CODERS, K, K)), np.zeros(K)
        self.p = np.empty((N_ITEMS, K))

    def expect(self) -> float:
        """E-step and expected counts, by the compiled pass."""
        self.counts[:], self.sizes[:] = 0.0, 0.0
        found = soft_pass(
            self.starts, self.cell, self.gold, np.ones(N_ITEMS),
            chances(self.prevalence, self.table), 0, N_ITEMS, self.counts, self.sizes, self.p,
        )  # fmt: skip
        return float(found)

    def draw(self) -> float:
        """Draw the truths and count, by the compiled pass."""
        counts = np.zeros((N_CODERS, K, K), dtype=np.int32)
        found = sampled_pass(
            self.starts, self.cell, self.gold, chances(self.prevalence, self.table),
            np.uint64(1), 0, np.arange(K), False, 0, N_ITEMS, counts, np.zeros(K, dtype=np.int64),
            np.empty((0, K)), np.empty(0),
        )  # fmt: skip
        return float(found)

    def in_numpy(self) -> float:
        """E-step and expected counts as one writes them in numpy."""
        logp = np.add.reduceat(self.table.reshape(-1, K)[self.cell], self.starts[:-1], axis=0)
        logp += self.prevalence
        top = logp.max(axis=1, keepdims=True)
        p = np.exp(logp - top)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        each = np.repeat(p, PER_ITEM, axis=0)
        counts = np.stack(
            [np.bincount(self.cell, each[:, k], minlength=N_CODERS * K) for k in range(K)], axis=1
        )
        self.counts = counts.reshape(N_CODERS, K, K)
        return float((np.log(total) + top).sum())


@pytest.fixture(scope="module")
def crowd() -> Crowd:
    return Crowd()


def test_both_compute_the_same(crowd: Crowd) -> None:
    expected = crowd.in_numpy()
    counts = crowd.counts
    crowd.counts = np.zeros_like(counts)
    assert crowd.expect() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(crowd.counts, counts, atol=1e-9)
    assert crowd.draw() == pytest.approx(expected, rel=1e-12)
    assert soft_pass.nopython_signatures  # compiled, and without a Python object inside
    assert sampled_pass.nopython_signatures
