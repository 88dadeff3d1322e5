"""Kinds of items: the Gibbs step keeps the joint distribution, held-out labels are exact."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from crowds import alone, pass_over, shared_set
from scipy.special import gammaln, logsumexp

import annomodels as am
from annomodels.engines import gibbs
from annomodels.engines.settings import Settings
from annomodels.engines.source import held
from annomodels.engines.state_chain import StateChain
from annomodels.models.encoded import encode
from annomodels.models.mixtures.item_kinds import KindsOfItems
from annomodels.models.mixtures.layout import Layout
from annomodels.models.mixtures.state_model import StateModel

pytestmark = pytest.mark.slow

ITEMS, CODERS, K = 5, 4, 2
ON_SETS = {"chains": 4, "draws": 400, "warmup": 200, "seed": 1, "extend": False, "rows": False}


def whole(items=ITEMS, coders=CODERS, seed=1, gold=None):
    """Labels of all coders on all items, at random."""
    rng = np.random.default_rng(seed)
    rows = [(i, j, int(rng.integers(K))) for i in range(items) for j in range(coders)]
    return am.Annotations.from_records(rows, labels=range(K), truth=gold)


def seen(state):
    """Give what is compared: numbers that the order of kinds and communities does not change."""
    held, share = state.population, np.exp(state.log_prevalence)
    rows = np.exp(state.log_confusion)
    right = sum(rows[:, a // 2, a] @ np.ones(CODERS) * share[a] for a in range(len(share)))
    first = held["population"][:, [0, 2], [0, 1]]
    others = held["population"][:, [1, 3], [0, 1]]
    return np.array([
        share[:2].sum(), share[:2].sum() ** 2, share[0], share[1], share.max(), right / CODERS,
        first.mean(), others.mean(), (first**2).mean(), others.var(),
        np.log(held["concentration"]).mean(), np.log(held["concentration"][:, [0, 2]]).mean(),
        held["community_share"].max(), rows[0, 0, 0], rows[0, 0, 0] ** 2, rows[1, 1, 1],
    ])  # fmt: skip


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("known", "lapse_rate"),
    # known truth with lapses takes every turn that known truth without them does
    [(0, 0.0), (2, 0.1)],
)
def test_the_step_keeps_the_joint_distribution_of_labels_and_parameters(known, lapse_rate):
    """Geweke (2004), doi:10.1198/016214504000001132: labels are made anew after every step."""
    model = KindsOfItems(kinds=2, communities=2, concentration=(3.0, 0.5), lapse_rate=lapse_rate)
    rng = np.random.default_rng(3)
    data = whole(gold=dict.fromkeys(range(known), 0) or None)
    codes = encode(data, collapse=False)
    start = model.starter.sample_parameters(CODERS, K, rng)
    chain = StateChain(model, codes.volume, start, 7, relabel=False)
    chain.state = model.coders.sample_parameters(CODERS, K, rng)
    n, moved, found = 12_000, 0, []
    for number in range(n):
        chain.iteration = number
        share = np.exp(chain.state.log_prevalence)
        state = rng.choice(len(share), ITEMS, p=share / share.sum())
        rows = np.exp(chain.state.log_confusion)[codes.row, 1, np.repeat(state, CODERS)]
        label = (rng.random(len(rows)) < rows).astype(codes.label.dtype)
        truth = np.where(rng.random(ITEMS) < lapse_rate, 1 - state // 2, state // 2)
        gold = np.where(np.arange(ITEMS) < known, truth, -1).astype(codes.gold.dtype)
        pass_over(chain, replace(codes, label=label, gold=gold))
        before = chain.counts.copy()
        chain._draw()
        moved += (before != chain.counts).any()
        found.append(seen(chain.state))
    assert moved > (0.005 if known else 0.03) * n  # known truth holds kinds in place
    drawn = np.array(found)[500:]
    prior = np.array([seen(model.coders.sample_parameters(CODERS, K, rng)) for _ in range(12_000)])
    blocks = np.array_split(drawn, 40)
    error = np.std([block.mean(axis=0) for block in blocks], axis=0) / np.sqrt(40)
    z = (drawn.mean(axis=0) - prior.mean(axis=0)) / np.hypot(
        error, prior.std(axis=0) / np.sqrt(len(prior))
    )
    assert np.abs(z).max() < 4, z.round(1)


@dataclass(frozen=True)
class Plain(StateModel):
    """Dawid-Skene, as a model whose items have states."""

    name: ClassVar[str] = "plain"
    title: ClassVar[str] = "plain"
    citation: ClassVar[str] = ""

    coders: am.models.DawidSkene = field(default_factory=am.models.DawidSkene)

    def layout(self, n_labels):
        """Give the states of the items: the classes."""
        eye = np.eye(n_labels)
        return Layout(tuple(map(str, range(n_labels))), eye, np.arange(n_labels), eye)

    def describe(self):
        """Story and priors in sentences."""
        return []


def log_evidence(item, coder, label, gold):
    """Log P(labels, known truth), summed over all labelings, parameters integrated out."""

    def of(counts, alpha):
        return (
            gammaln(alpha.sum(-1)) - gammaln((alpha + counts).sum(-1))
            + (gammaln(alpha + counts) - gammaln(alpha)).sum(-1)
        ).sum()  # fmt: skip

    alpha, each = am.models.DawidSkene().confusion.alpha(K), []
    for z in product(range(K), repeat=ITEMS):
        if all(g < 0 or g == k for g, k in zip(gold, z, strict=True)):
            counts = np.zeros((CODERS, K, K))
            np.add.at(counts, (coder, np.array(z)[item], label), 1)
            each.append(of(np.bincount(z, minlength=K), np.ones(K)) + of(counts, alpha[None]))
    return logsumexp(each)


@pytest.mark.few("gold1")
@pytest.mark.parametrize("gold", [None, {0: 1, 3: 0}])
def test_held_out_labels_equal_enumeration_over_all_labelings(gold):
    data = whole(seed=4, gold=gold)
    options = {"chains": 2, "draws": 4000, "warmup": 100, "extend": False, "seed": 2}
    found = gibbs.run(Plain(), data, Settings(**options)).label_density
    codes = encode(data, collapse=False)
    item = np.repeat(np.arange(ITEMS), CODERS)
    labels = item, codes.row, codes.label
    full, exact = log_evidence(*labels, codes.gold), []
    for n in range(len(item)):
        others = [np.delete(part, n) for part in labels]
        exact.append(full - log_evidence(*others, codes.gold))
    np.testing.assert_allclose(found, exact, atol=0.03)


def test_a_fit_holds_held_out_densities_where_rows_are_dirichlet():
    data, options = whole(), {"chains": 2, "draws": 20, "warmup": 10, "extend": False, "seed": 1}
    fit = am.fit(data, KindsOfItems(kinds=2), **options)
    density = fit.tree["held_out"]["label_density"]
    assert density.dims == ("annotation",)
    assert (density < 0).all()
    for name in ("spammers", "ambiguous"):
        assert "held_out" not in am.fit(data, name, **options).tree.children


def test_a_run_without_rows_keeps_the_prevalence_and_says_the_same_of_items():
    data, model = whole(20), KindsOfItems(kinds=2, communities=2)
    options = {"chains": 2, "draws": 20, "warmup": 10, "extend": False, "seed": 1}
    full = gibbs.run(model, data, Settings(**options))
    lean = gibbs.run(model, data, Settings(**options, rows=False))
    assert set(lean.posterior) == {"prevalence"}
    for name, values in lean.posterior.items():
        np.testing.assert_allclose(values, full.posterior[name], atol=1e-12)
    np.testing.assert_array_equal(lean.p_truth, full.p_truth)
    np.testing.assert_array_equal(lean.lp, full.stats["log_likelihood"])
    # some draws are kept whole, for what coders say next
    assert {"perceived_confusion", "community_share"} <= set(lean.few)
    np.testing.assert_array_equal(lean.label_density, full.label_density)


@pytest.mark.parametrize("anchored", [False, True])
def test_anchored_classes_are_named_so_that_most_labels_are_right(anchored):
    """A chain that begins with all classes swapped finds back, and without the anchor does not."""
    rng = np.random.default_rng(9)
    truth, right = rng.integers(0, 2, 150), np.repeat([0.2, 0.5, 0.8], [2, 3, 6])
    label = np.where(rng.random((150, 11)) < right, truth[:, None], 1 - truth[:, None])
    rows = [(i, j, int(label[i, j])) for i in range(150) for j in range(11)]
    codes = encode(am.Annotations.from_records(rows, labels=range(K)), collapse=False)
    model = KindsOfItems(kinds=1, communities=3, anchored=anchored)
    counts = np.array([[(label == a)[truth != k].sum(0) for k in range(K)] for a in range(K)])
    start = model.starter.start(counts.transpose(2, 0, 1).astype(float), np.array([75.0, 75.0]))
    run = alone(model, codes, start, 3)
    run.begin()
    run.slice([30], 1, None, None)
    given = run.chains[0].counts.reshape(11, K, K).sum(axis=0)
    held.forget(run.spread.token)
    assert (np.trace(given) > given.sum() / 2) == anchored


def test_rows_of_all_kinds_count_against_the_memory():
    data, model = whole(20), KindsOfItems(kinds=3)
    options = {"chains": 2, "draws": 200, "warmup": 5, "extend": False, "seed": 1}
    full = gibbs.run(model, data, Settings(**options)).posterior
    drawn = full["confusion"].nbytes + full["perceived_confusion"].nbytes
    few = gibbs.run(model, data, Settings(**options, memory=drawn - 1)).posterior
    assert few["perceived_confusion"].dtype == np.float32
    lean = gibbs.run(model, data, Settings(**options, memory=1, rows=False)).posterior
    assert lean["prevalence"].shape == (2, 200, K)
    assert lean["prevalence"].dtype == np.float64


def test_chains_begin_with_items_anywhere_and_known_truth_in_place():
    data = whole(200, gold={i: i % 2 for i in range(20)})
    codes, model = encode(data, collapse=False), KindsOfItems(kinds=2)
    start = model.starter.start(np.ones((CODERS, K, K)), np.ones(K))
    run = alone(model, codes, start, 3)
    run.begin()
    (chain,) = run.chains
    assert chain.sizes.sum() == 200
    assert (chain.sizes > 25).all()
    assert chain.golds.sum(axis=1)[[0, 2]].tolist() == [10, 10]
    run.slice([30], 1, None, None)
    assert np.array_equal(chain.golds.sum(axis=0), [10, 10])
    assert not chain.golds[[0, 1], 1].any()
    held.forget(run.spread.token)


@pytest.mark.parametrize("wrong", [{"kinds": 0}, {"communities": 0}, {"others": (4.0, 1.4)}])
def test_priors_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match="KindsOfItems needs"):
        KindsOfItems(**wrong)


def right(p, truth):
    """Share of items whose most probable class is the true one, and mean log loss."""
    known = truth >= 0
    p, truth = p[known], truth[known]
    chance = p[np.arange(len(truth)), truth]
    return (p.argmax(axis=1) == truth).mean(), -np.log(np.maximum(chance, 1e-15)).mean()


def test_entailment_is_settled_better_than_by_votes(shared):
    data, truth = shared_set(shared, "snow_rte")
    found = gibbs.run(KindsOfItems(), data, Settings(**ON_SETS))
    accuracy, loss = right(found.p_truth, truth)
    assert accuracy >= 0.92
    assert loss <= 0.21


@pytest.mark.calibration
def test_chains_see_the_mode_in_which_most_coders_are_wrong_about_a_kind(shared):
    """Votes are right on 69 % of the ducks, and chains that begin there stay at 61 %."""
    data, truth = shared_set(shared, "ducks")
    found = gibbs.run(KindsOfItems(), data, Settings(**ON_SETS))
    assert right(found.p_truth, truth)[0] > 0.7
