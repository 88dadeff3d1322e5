"""Effects of items summed out: the rule of each item against dense grids, and enough points."""

import json

import numpy as np
import pytest
import xarray as xr
from scipy.special import logsumexp, softmax

import annomodels as am
from annomodels.models.continuous.laplace import log_marginal
from annomodels.models.continuous.quadrature import effect_nodes, enough_nodes
from annomodels.summaries.trust.priors import effects_finding, summed_out
from tests.models.densities import integrate

pytestmark = pytest.mark.slow


def item(rng, k, n, scale):
    """Logits [label, truth, contrast] and labels of an item of class 0."""
    logit = np.zeros((n, k, k - 1)) + rng.normal(0.0, 0.5, (n, 1, k - 1))
    logit[:, :, 0] += 1.5
    p = softmax(np.append(logit[0, 0] + scale * rng.normal(size=k - 1), 0.0))
    return logit, np.full((k, k - 1), scale), rng.choice(k, n, p=p)


def log_probability(points, weights, logit, scale, label):
    """By points that all items share, for class 0."""
    total = np.log(weights)
    for n, y in enumerate(label):
        rows = np.hstack([logit[n, 0] + scale[0] * points, np.zeros((len(points), 1))])
        total = total + rows[:, y] - logsumexp(rows, axis=1)
    return logsumexp(total)


def dense(k):
    """Equally spaced points, a third of the narrowest posterior apart."""
    side = {1: 2001, 2: 201, 3: 41}[k - 1]
    axis = np.linspace(-5.0, 5.0, side)
    points = np.stack(np.meshgrid(*[axis] * (k - 1), indexing="ij"), axis=-1).reshape(-1, k - 1)
    weights = np.exp(-0.5 * (points**2).sum(axis=1))
    return points, weights / weights.sum()


@pytest.mark.few("2-2", "2-3", "50-3")
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("n", [2, 50])
def test_rule_of_an_item_equals_a_dense_grid_within_the_error_it_says(k, n, rng):
    points, weights = dense(k)
    off, said = [], []
    for scale in (0.5, 1.0, 2.0):
        logit, scales, label = item(rng, k, n, scale)
        found = log_marginal(logit, scales, label)
        off.append(found.log[0] - log_probability(points, weights, logit, scales, label))
        said.append(found.error[0])
    assert np.abs(off).max() < 0.03
    assert np.abs(np.array(off) / said).max() < 4.0
    assert max(said) < 0.02


@pytest.mark.few("4")
@pytest.mark.parametrize("k", [4, 5])
def test_error_of_the_rule_is_honest_for_fifty_labels(k, rng):
    """Against 64 times as many points, on a rule that is made coarse enough to be off."""
    z = []
    for _ in range(12):
        logit, scales, label = item(rng, k, 50, 1.5)
        rough, fine = (log_marginal(logit, scales, label, points) for points in (8, 512))
        z.extend((rough.log - fine.log) / rough.error)
        assert fine.error.max() < 0.01
    assert 0.3 < np.sqrt(np.mean(np.square(z))) < 1.6


def test_rule_agrees_with_gauss_and_hermite_where_labels_are_few(rng):
    logit, scales, label = item(rng, 3, 3, 0.7)

    def labels(z):
        rows = softmax(np.hstack([scales[0] * z, np.zeros((len(z), 1))])[:, None] + pad, axis=2)
        return rows[:, np.arange(len(label)), label].prod(axis=1)

    pad = np.concatenate([logit[:, 0], np.zeros((len(label), 1))], axis=1)[None]
    exact = integrate(labels, 2, order=60)
    assert log_marginal(logit, scales, label).log[0] == pytest.approx(np.log(exact), abs=0.01)


def test_more_labels_ask_for_more_points_and_few_for_the_usual_ones():
    sizes = [enough_nodes(3, np.full(60, n)) for n in (8, 20, 40, 90)]
    assert sizes == [None, 9, 11, 13]
    assert [enough_nodes(d, np.full(60, 40)) for d in (1, 2, 4, 6)] == [None, 15, 2048, 2048]
    # what an evaluation may cost
    assert enough_nodes(4, np.full(3000, 90)) is None
    few = am.simulate(20, 12, 4, 5, seed=1).annotations
    many = am.simulate(20, 60, 4, 50, seed=1).annotations
    for model in (am.models.ItemDifficulty(), am.models.LogisticRandomEffects()):
        assert model.with_data(few) == model
        assert model.with_data(many).nodes == 11
    assert am.models.ItemDifficulty(nodes=7).with_data(many).nodes == 7


@pytest.mark.few("3-0.01-0.008")
@pytest.mark.parametrize(
    ("k", "usual", "bound"), [(3, 0.01, 0.008), (4, 0.2, 0.04), (5, 0.1, 0.08)]
)
def test_points_that_are_taken_for_fifty_labels_are_closer(k, usual, bound, rng):
    # of most items: with five classes a few whose likelihood is narrow stay half a nat off
    size = enough_nodes(k - 1, np.full(20, 50))
    off = []
    for _ in range(60):
        logit, scales, label = item(rng, k, 50, 1.0)
        right = log_marginal(logit, scales, label).log[0]
        rules = effect_nodes(k - 1), effect_nodes(k - 1, size)
        off.append([log_probability(*rule, logit, scales, label) - right for rule in rules])
    before, now = np.median(np.abs(off), axis=0)
    assert before > usual
    assert now < bound


def tree_of(model, data, rng):
    """Two draws of the parameters, as a fit would have them."""
    k = data.n_labels
    values = {
        "prevalence": rng.dirichlet(np.full(k, 5.0), (1, 2)),
        "item_location": 1.5 * np.eye(k)[:, :-1] + rng.normal(0.0, 0.2, (1, 2, k, k - 1)),
        "item_spread": np.full((1, 2, k, k - 1), 1.0),
    }
    sizes = {"item_location": ("truth", "contrast"), "item_spread": ("truth", "contrast")}
    sizes["prevalence"] = ("truth",)
    dims = {name: ("chain", "draw", *sizes[name]) for name in values}
    posterior = xr.Dataset({name: (dims[name], v) for name, v in values.items()})
    tree = xr.DataTree.from_dict({"posterior": posterior})
    tree.attrs["model"] = json.dumps(model.to_dict())
    return tree


def test_check_says_when_points_are_too_few(rng):
    data = am.simulate(30, 60, 4, 50, difficulty=1.0, accuracy=0.6, seed=2).annotations
    coarse = effects_finding(tree_of(am.models.ItemDifficulty(nodes=5), data, rng), data)
    assert coarse.severity == 1
    assert coarse.value > 0.25
    assert coarse.sentence.startswith("125 points are too few")
    enough = effects_finding(tree_of(am.models.ItemDifficulty().with_data(data), data, rng), data)
    assert enough.severity == 0
    assert enough.value < 0.1
    few = am.simulate(30, 12, 4, 6, seed=3).annotations
    found = summed_out(tree_of(am.models.ItemDifficulty(), few, rng), few)
    assert found.points == 125
    assert found.log_error < 0.1
