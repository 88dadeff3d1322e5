"""Draws, class probabilities and replicates against enumeration."""

import itertools

import numpy as np
import pytest

from annomodels.summaries.draws import (
    Draws,
    draw_labels,
    per_item,
    thinned,
    truth_probabilities,
)
from annomodels.summaries.trust.predictive import error_dispersion


@pytest.fixture
def tiny(make, rng):
    """Four items, the third without labels and the fourth with known gold; three classes."""
    item, coder = np.array([0, 0, 1, 1, 1, 3]), np.array([0, 1, 0, 0, 1, 1])
    label = np.array([0, 2, 1, 1, 0, 2])
    gold = np.array([-1, -1, -1, 0])
    data = make.coded(item, coder, label, 4, 2, 3, gold=gold)
    prevalence = rng.dirichlet(np.ones(3))
    confusion = rng.dirichlet(np.ones(3), size=(2, 3))
    return data, prevalence, confusion


def test_truth_probabilities_are_the_enumerated_ones(make, tiny):
    data, prevalence, confusion = tiny
    tree = make.exact(data, prevalence, confusion)
    expected = np.zeros((4, 3))
    for i, k in itertools.product(range(4), range(3)):
        expected[i, k] = prevalence[k]
        for n in np.flatnonzero(data.item == i):
            expected[i, k] *= confusion[data.coder[n], k, data.label[n]]
    expected /= expected.sum(axis=1, keepdims=True)
    expected[3] = [1, 0, 0]
    found = list(truth_probabilities(thinned(tree, data), data, budget=1))
    assert [step for step, _ in found] == [0, 1, 2, 3]
    for _, p in found:
        np.testing.assert_allclose(p, expected, rtol=1e-12)


def test_coders_who_share_a_matrix_are_as_if_each_had_it(make, tiny):
    data, prevalence, confusion = tiny
    shared = np.broadcast_to(confusion[:1], confusion.shape)
    found = [
        [p for _, p in truth_probabilities(Draws(prevalence[None], each[None]), data)]
        for each in (shared, shared.copy())
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize("n_labels", [3, 40])
def test_labels_are_drawn_by_cumulated_probabilities(rng, n_labels):
    confusion = rng.dirichlet(np.full(n_labels, 0.3), size=(4, n_labels))
    coder, truth = rng.integers(4, size=500), rng.integers(n_labels, size=500)
    for rows in (confusion, np.broadcast_to(confusion[:1], confusion.shape)):
        label = draw_labels(rows, coder, truth, np.random.default_rng(1))
        uniform = np.random.default_rng(1).random(500)
        below = rows.cumsum(axis=2)[coder, truth, :-1]
        np.testing.assert_array_equal(label, (uniform[:, None] >= below).sum(axis=1))


def test_thinning_spreads_over_all_chains(make):
    world = make.world(n_items=20, n_coders=3, per_item=2)
    tree = make.gibbs(world.data, chains=4, draws=10, warmup=2)
    every = thinned(tree, world.data)
    assert len(every) == 40
    some = thinned(tree, world.data, 8)
    np.testing.assert_array_equal(some.prevalence, every.prevalence[::5])
    np.testing.assert_array_equal(some.confusion, every.confusion[::5])
    assert len(thinned(tree, world.data, budget=1)) == 1


def test_sums_by_item_skip_items_without_labels(tiny):
    data, _, _ = tiny
    np.testing.assert_array_equal(per_item(np.ones(len(data)), data.starts), [2, 3, 0, 1])


@pytest.mark.slow
def test_errors_gather_on_items_where_they_were_put(make):
    """Half of the items are so hard that coders guess: the errors are overdispersed."""
    world = make.world(n_items=400, n_coders=10, per_item=6, accuracy=0.9)
    rng = np.random.default_rng(5)
    data = world.data
    hard = rng.random(400) < 0.5
    guess = rng.integers(0, 2, len(data))
    mixed = data.replace(label=np.where(hard[data.item], guess, data.label))
    even = error_dispersion(thinned(make.gibbs(data), data, 200), data, rng)
    uneven = error_dispersion(thinned(make.gibbs(mixed), mixed, 200), mixed, rng)
    assert (even[1] >= even[0]).mean() > 0.05
    assert (uneven[1] >= uneven[0]).mean() < 0.01
    assert uneven[0].mean() > 1.15
