"""The weights of an opinion pool are those of its PyMC model, and P(truth) follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from crowds import p_truth, simulate
from scipy.special import logsumexp
from scipy.stats import beta, norm

import annomodels as am
from annomodels.engines.pooling import draw_pool, log_truth, member_beliefs, pooled_truth
from annomodels.priors import Beta

pytestmark = pytest.mark.slow

OPTIONS = {"chains": 2, "draws": 200, "warmup": 100, "seed": 1, "extend": False}
ONE = am.models.OpinionPool(others=(), weights=(0.6,))


def beliefs(rng, n_models, n_items, k=3, sharp=3.0):
    """Log probabilities of models that know something of the same truth."""
    truth = rng.integers(k, size=n_items)
    logits = sharp * np.eye(k)[truth] + rng.normal(0, 1.5, (n_models, n_items, k))
    return logits - logsumexp(logits, axis=2, keepdims=True), truth


@pytest.fixture(scope="module")
def data():
    return simulate(np.random.default_rng(2), n_items=60, n_coders=15, n_labels=3, per_item=5)


def test_the_density_is_that_of_the_pymc_model(rng):
    pool = am.models.OpinionPool()
    log_p, truth = beliefs(rng, 3, 12)
    model = pool.build_pool(log_p, truth)
    weight = np.exp(rng.normal(-1, 1, (5, 3)))
    error = rng.uniform(0.01, 0.4, 5)
    logp = model.compile_logp(vars=model.free_RVs, jacobian=False)
    whole = model.compile_logp(jacobian=False)
    for w, e, mine in zip(weight, error, log_truth(weight, error, log_p, truth), strict=True):
        point = {"weight_log__": np.log(w), "error_logodds__": np.log(e / (1 - e))}
        prior = norm.logpdf(np.log(w), np.log(pool.weights), pool.spread).sum() - np.log(w).sum()
        prior += beta.logpdf(e, pool.error.a, pool.error.b)
        assert logp(point) == pytest.approx(prior, abs=1e-4)
        assert whole(point) - logp(point) == pytest.approx(mine, abs=1e-8)


@pytest.mark.parametrize("n_items", [0, 1, 30, 500])
def test_draws_agree_with_a_grid(rng, n_items):
    pool = am.models.OpinionPool(others=(), weights=(0.6,), error=Beta(1.0, 20.0))
    log_p, truth = beliefs(rng, 1, n_items)
    log_w = np.log(0.6) + 0.5 * np.linspace(-5, 5, 201)
    e = (np.arange(120) + 0.5) / 300
    w, each = (part.ravel() for part in np.meshgrid(np.exp(log_w), e, indexing="ij"))
    logp = norm.logpdf(np.log(w), np.log(0.6), 0.5) + beta.logpdf(each, 1.0, 20.0)
    logp += log_truth(w[:, None], each, log_p, truth)
    share = np.exp(logp - logsumexp(logp))
    wanted = share @ np.log(w), share @ each
    deviation = (
        np.sqrt(share @ (np.log(w) - wanted[0]) ** 2),
        np.sqrt(share @ (each - wanted[1]) ** 2),
    )
    found = draw_pool(pool, log_p, truth)
    for values, mean, spread in zip(
        (np.log(found.weight[:, 0]), found.error), wanted, deviation, strict=True
    ):
        assert abs(values.mean() - mean) < 0.15 * spread
        assert 0.85 < values.std() / spread < 1.15


def test_a_narrow_posterior_far_from_the_prior_is_found(rng):
    """Models that know nothing: weights near 0, or an error near 1."""
    log_p, _ = beliefs(rng, 3, 1500, sharp=0.0)
    truth = rng.integers(3, size=1500)
    pool = am.models.OpinionPool()
    found = draw_pool(pool, log_p, truth)
    p, _ = pooled_truth(log_p, found)
    assert abs(p[np.arange(1500), truth].mean() - 1 / 3) < 0.02


def test_known_truth_teaches_whom_to_believe(rng):
    good, truth = beliefs(rng, 1, 400, sharp=4.0)
    noise, _ = beliefs(rng, 1, 400, sharp=0.0)
    pool = am.models.OpinionPool(others=(am.models.DawidSkene(),), weights=(0.5, 0.5))
    found = draw_pool(pool, np.concatenate([good, noise]), truth)
    assert found.weight[:, 0].mean() > 0.6 > 0.25 > found.weight[:, 1].mean()


def test_probabilities_are_those_of_the_definition(data):
    labels, _ = data
    fit = am.fit(labels, "opinion-pool", **OPTIONS)
    pool = fit.tree["pool"].to_dataset()
    log_p, total = pool["member_log_p"].values, 0.0
    np.testing.assert_allclose(np.exp(log_p[0]), p_truth(am.fit(labels, "readings", **OPTIONS)))
    for w, e in zip(pool["weight"].values, pool["error"].values, strict=True):
        p = np.exp(np.tensordot(w, log_p, 1))
        total = total + (1 - e) * p / p.sum(axis=1, keepdims=True) + e / 3
    np.testing.assert_allclose(p_truth(fit), total / len(pool["error"]), atol=1e-12)
    entropy = fit.tree["truth"]["conditional_entropy"].values
    own = -(p_truth(fit) * np.log(p_truth(fit))).sum(axis=1)
    assert (entropy <= own + 1e-12).all()
    assert np.isfinite(fit.tree["truth"]["p_truth_mcse"].values).all()


def test_known_gold_changes_weights_and_is_kept(data):
    labels, truth = data
    wrong = {item: int((truth[labels.items.index(item)] + 1) % 3) for item in range(15)}
    told = am.fit(labels.with_gold(wrong), "opinion-pool", **OPTIONS)
    plain = am.fit(labels, "opinion-pool", **OPTIONS)
    known = told.data.gold >= 0
    np.testing.assert_array_equal(p_truth(told)[known], np.eye(3)[told.data.gold[known]])
    # a crowd that is wrong on all of them is believed less on the others
    sure = [p_truth(fit)[~known].max(axis=1).mean() for fit in (told, plain)]
    assert sure[0] < sure[1] - 0.1
    assert told.tree["pool"]["error"].values.mean() > plain.tree["pool"]["error"].values.mean()
    # the models themselves have not seen it
    before, after = (fit.tree["pool"]["member_log_p"].values[1:] for fit in (plain, told))
    np.testing.assert_allclose(before, after)


def test_a_fit_can_be_saved_and_says_where_its_probabilities_come_from(data, tmp_path):
    fit = am.fit(data[0], "opinion-pool", **OPTIONS)
    again = am.load(fit.save(tmp_path / "fit.nc"))
    assert again.model == fit.model
    np.testing.assert_array_equal(
        again.tree["pool"]["member_log_p"].values, fit.tree["pool"]["member_log_p"].values
    )
    for found in (fit, again):
        notes = " ".join(found.gold().notes)
        assert "readings 0.6" in notes
        assert "no gold taught them" in notes
        assert any("opinion pool" in note for note in found.why(0).notes)
        # that items differ is what a pool takes account of
        assert "too sure" not in " ".join([*found.gold().notes, *found.next(budget=5).notes])


def test_a_run_that_is_ended_keeps_the_readings(data):
    fit = am.fit(data[0], "opinion-pool", time_limit=1e-6, **{**OPTIONS, "chains": 1})
    assert fit.tree.attrs["stopped"] == "time limit"
    assert "pool" not in fit.tree.children
    assert any("that of the readings alone" in note for note in fit.gold().notes)


@pytest.mark.parametrize(
    "wrong",
    [{"weights": (0.5,)}, {"weights": (0.5, 0.1, 0.0)}, {"spread": 0.0}, {"least": 0.0}],
    ids=str,
)
def test_what_is_no_pool_is_refused(wrong):
    with pytest.raises(ValueError, match="An opinion pool needs"):
        am.models.OpinionPool(**wrong)


def test_beliefs_have_a_floor():
    log_p = member_beliefs(ONE, [np.array([[1.0, 0.0]])])
    assert log_p.min() == pytest.approx(np.log(1e-9))
