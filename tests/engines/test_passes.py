"""Passes against numpy, for the numbers of classes that are written out and for others."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import entr, logsumexp

from annomodels.kernels.passes import (
    DrawSums,
    StateLayout,
    chances,
    sampled_pass,
    soft_pass,
    sums_of,
    weighing_pass,
)

N_ITEMS, N_CODERS = 400, 6
Case = tuple[tuple[NDArray[np.int64], ...], NDArray[np.float64], NDArray[np.float64]]


def case(k: int) -> Case:
    """Items with no to five labels, a few of them known; some labels are impossible."""
    rng = np.random.default_rng(k)
    n = rng.integers(0, 6, N_ITEMS)
    starts = np.concatenate([[0], n.cumsum()])
    cell = rng.integers(0, N_CODERS * k, starts[-1])
    gold = np.where(rng.random(N_ITEMS) < 0.1, rng.integers(0, k, N_ITEMS), -1)
    rows = rng.dirichlet(np.full(k, 0.7), (N_CODERS, k)).transpose(0, 2, 1)
    rows[0, 0, 1:] = 0.0  # only class 0 has this label of this coder
    rows[1, k - 1, 0] = 0.0
    with np.errstate(divide="ignore"):
        table = np.log(np.ascontiguousarray(rows))
    # the label that only class 0 can have stands on no item with the label that it cannot have
    cell[cell == k + k - 1] = 2 * k
    gold[[0 in cell[a:b] for a, b in pairwise(starts)]] = -1
    return (starts, cell, gold), np.log(rng.dirichlet(np.full(k, 2.0))), table


def expected(found: Case) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    (starts, cell, gold), prevalence, table = found
    k = len(prevalence)
    rows = table.reshape(-1, k)
    logp = np.stack([
        prevalence + rows[cell[a:b]].sum(axis=0) for a, b in pairwise(starts)
    ])  # fmt: skip
    known = np.flatnonzero(gold >= 0)
    logp[known] = np.where(np.arange(k) != gold[known, None], -np.inf, logp[known])
    total = logsumexp(logp, axis=1)
    return np.exp(logp - total[:, None]), total


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_expected_counts_are_those_of_numpy(k: int) -> None:
    found = case(k)
    (starts, cell, _), prevalence, table = found
    p, log_likelihood = expected(found)
    counts, sizes, out = np.zeros((N_CODERS, k, k)), np.zeros(k), np.empty((N_ITEMS, k))
    weight = np.arange(N_ITEMS) % 3 + 1.0
    total = soft_pass(
        found[0], weight, *chances(prevalence, table), counts.reshape(-1, k), sizes, out
    )
    np.testing.assert_allclose(out, p, atol=1e-15)
    np.testing.assert_allclose(total, weight @ log_likelihood, rtol=1e-13)
    np.testing.assert_allclose(sizes, weight @ p, rtol=1e-13)
    want = np.zeros((N_CODERS * k, k))
    np.add.at(want, cell, np.repeat(weight[:, None] * p, np.diff(starts), axis=0))
    np.testing.assert_allclose(counts.reshape(-1, k), want, rtol=1e-12, atol=1e-12)
    entropy, again = np.zeros(N_ITEMS), np.zeros((N_ITEMS, k))
    share, *given = chances(prevalence, table)
    again_total = weighing_pass(
        found[0], weight, None, share[None], *given, None, sums_of(again, entropy)
    )
    np.testing.assert_allclose(again_total, total, rtol=1e-13)
    np.testing.assert_allclose(again, p, atol=1e-12)
    np.testing.assert_allclose(entropy, entr(p).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
def test_draws_follow_the_probabilities_whether_they_are_kept_or_not(k: int) -> None:
    found = case(k)
    (_, cell, _), prevalence, table = found
    p, _ = expected(found)
    draws = 3000
    sums, entropy = np.zeros((N_ITEMS, k)), np.zeros(N_ITEMS)
    both = []
    target, none = sums_of(sums, entropy), np.empty((1, 0), dtype=np.int64)
    given = chances(prevalence, table)
    for keep in (True, False):
        counts, sizes = np.zeros((N_CODERS, k, k), dtype=np.int64), np.zeros(k, dtype=np.int64)
        for iteration in range(draws):
            sampled_pass(
                found[0], *given, None, np.uint64(3), iteration, 0, counts.reshape(-1, k), none,
                sizes, none, keep, target,
            )  # fmt: skip
        both.append((counts, sizes))
    assert (both[0][0] == both[1][0]).all()
    assert (both[0][1] == both[1][1]).all()
    np.testing.assert_allclose(sums / draws, p, atol=1e-12)
    variance = (p * (1 - p)).sum(axis=0)
    z = (both[0][1] / draws - p.sum(axis=0)) / np.sqrt(variance / draws)
    assert np.abs(z).max() < 4.5
    impossible = np.exp(table) == 0.0
    assert both[0][0][impossible].sum() == 0
    assert both[0][0].sum() == draws * len(cell)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("certain", [1e-4, 1e-90])
def test_items_with_more_labels_than_a_product_can_hold_are_weighed_by_logarithms(
    k: int, certain: float
) -> None:
    """Labels that speak for one class and then as strongly for another leave both as likely."""
    per_item = 200
    rows = np.full((k, k), certain)
    np.fill_diagonal(rows, 1.0 - (k - 1) * certain)
    with np.errstate(divide="ignore"):
        table = np.log(rows)[None]
    first_half = np.repeat([0, 1], per_item // 2)
    cell = np.concatenate([first_half, first_half[::-1], np.zeros(per_item, dtype=int)])
    starts = np.arange(4) * per_item
    prevalence = np.log(np.full(k, 1.0 / k))
    counts, sizes, p = np.zeros((1, k, k)), np.zeros(k), np.empty((3, k))
    given = chances(prevalence, table)
    gold = np.full(3, -1)
    items = starts, cell, gold
    total = soft_pass(items, np.ones(3), *given, counts.reshape(-1, k), sizes, p)
    want = np.zeros((3, k))
    want[:2, :2], want[2, 0] = 0.5, 1.0
    np.testing.assert_allclose(p, want, atol=1e-12)
    logp = prevalence + np.stack([
        table[0][cell[a:b]].sum(axis=0) for a, b in pairwise(starts)
    ])  # fmt: skip
    assert total == pytest.approx(logsumexp(logp, axis=1).sum(), rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("per_item", [3, 400])
def test_states_are_weighed_by_logarithms_where_a_product_is_too_small(per_item: int) -> None:
    rng = np.random.default_rng(per_item)
    n_states, k, n_items = 7, 3, 20
    table = rng.dirichlet(np.ones(4), (6, n_states)).transpose(0, 2, 1).reshape(-1, n_states)
    table = np.ascontiguousarray(table)
    cell = rng.integers(0, len(table), n_items * per_item)
    starts = np.arange(n_items + 1) * per_item
    gold = np.where(np.arange(n_items) % 4 == 0, 1, -1)
    share, truth = rng.dirichlet(np.ones(n_states)), rng.dirichlet(np.ones(k), n_states)
    logp = np.log(share) + np.log(table)[cell].reshape(n_items, per_item, -1).sum(axis=1)
    logp += np.where(gold[:, None] >= 0, np.log(truth[:, 1]), 0.0)
    want = np.exp(logp - logsumexp(logp, axis=1, keepdims=True))
    p, entropy = np.zeros((n_items, k)), np.zeros(n_items)
    p_state, none = np.zeros((n_items, n_states)), np.zeros((0, n_items))
    values = np.zeros((0, n_states))
    states = StateLayout(truth, np.zeros(0, dtype=np.int64), truth, table, values, 1e-30)
    total = weighing_pass(
        (starts, cell, gold), np.ones(n_items), None, share[None], table, None, states,
        DrawSums(p, entropy, p_state, none, none, np.arange(k)),
    )  # fmt: skip
    np.testing.assert_allclose(p_state, want, atol=1e-12)
    assert total == pytest.approx(logsumexp(logp, axis=1).sum(), rel=1e-13)
    known = gold >= 0
    np.testing.assert_allclose(p[~known], (want @ truth)[~known], atol=1e-12)
    np.testing.assert_allclose(p[known], np.eye(k)[1][None].repeat(known.sum(), axis=0))
    np.testing.assert_allclose(entropy[~known], entr(want @ truth).sum(axis=1)[~known], atol=1e-12)
