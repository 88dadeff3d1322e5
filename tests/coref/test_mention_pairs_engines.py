"""Gibbs against NUTS, calibration, recovery, and independence of order and names."""

import os
from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2

import annomodels as am
from annomodels.data.mixing import ess, rhat
from annomodels.engines.links import gibbs, log_likelihood, nuts
from annomodels.engines.settings import Settings
from annomodels.models.pairs import MentionPairs, PairValues, SingleTruth
from annomodels.summaries.links import monte_carlo_error
from tests.coref.pair_cases import design, simulate, table_of

pytestmark = pytest.mark.slow

REDUCED = os.environ.get("ANNOMODELS_CALIBRATION") == "reduced"
REPLICATIONS = 60 if REDUCED else 400
MODELS = {"pairs": MentionPairs(), "single or none": SingleTruth(none=True)}
models = pytest.mark.parametrize("name", MODELS)


def run(chains, draws, warmup, seed=1, **options):
    return Settings(chains=chains, draws=draws, warmup=warmup, seed=seed, **options)


@pytest.mark.calibration
def test_gibbs_and_nuts_agree(rng):
    model = MODELS["single or none"]
    codes = design(rng, 40, 4, 3, none=model.has_none)
    kinds = len(model.anchor(2))
    share = np.full(model.n_weights(2), 1 / model.n_weights(2))
    rate = rng.uniform(0.65, 0.95, (4, kinds))
    simulate(model, codes, PairValues(share, rate[0], np.ones(kinds), rate), rng)
    one, two = gibbs(model, codes, run(2, 4000, 500)), nuts(model, codes, run(2, 1200, 300))
    for variable in ("prevalence", "mean", "rate", "concentration"):
        x, y = getattr(one.values, variable), getattr(two.values, variable)
        if variable == "concentration":
            x, y = np.log(x), np.log(y)
        error = np.hypot(_error(x), _error(y))
        assert (np.abs(x.mean((0, 1)) - y.mean((0, 1))) < 5 * error + 0.004).all(), variable
    p, q = one.p_batches.mean((0, 1)), two.p_batches.mean((0, 1))
    error = np.hypot(monte_carlo_error(one.p_batches), monte_carlo_error(two.p_batches))
    assert (np.abs(p - q) < 5 * error + 0.004).all()
    assert error.max() < 0.03
    np.testing.assert_allclose(one.p_number, two.p_number, atol=10 * error.max())
    np.testing.assert_allclose(one.p_number.sum(axis=1), 1.0, atol=1e-9)


def _error(draws):
    """Monte Carlo error from ten batches of each chain."""
    chains, n = draws.shape[:2]
    means = draws.reshape(chains * 10, n // 10, *draws.shape[2:]).mean(axis=1)
    return means.std(axis=0, ddof=1) / np.sqrt(len(means))


def test_the_weight_of_a_class_that_is_hardly_ever_true_mixes():
    rng = np.random.default_rng(2)
    model = MODELS["single or none"]
    codes = design(rng, 800, 6, 4, none=True)
    rate = np.full((6, 2), 0.9)
    simulate(model, codes, PairValues(np.array([0.7, 0.3, 0.0]), rate[0], rate[0], rate), rng)
    drawn = gibbs(model, codes, run(2, 800, 200))
    none = np.log(drawn.values.prevalence[:, :, 2:])
    assert none.max() < -2
    assert rhat(none)[0] < 1.03
    assert ess(none)[0] > 400


@cache
def _ranks(name):
    """Ranks of true parameters among 99 thinned draws, by quantity."""
    model, rng = MODELS[name], np.random.default_rng(5)
    found: dict[str, list[int]] = {}
    for replication in range(REPLICATIONS):
        codes = design(rng, 30, 5, 3, none=model.has_none)
        values = model.sample_parameters(5, 2, rng)
        simulate(model, codes, values, rng)
        drawn = gibbs(model, codes, run(1, 99 * 20, 500, replication))
        true = {"likelihood": log_likelihood(model, codes, values)[0]}
        draws = {"likelihood": drawn.log_likelihood[0, ::20]}
        for part in ("prevalence", "mean", "concentration"):
            for k, value in enumerate(getattr(values, part)):
                true[f"{part}[{k}]"] = value
                draws[f"{part}[{k}]"] = getattr(drawn.values, part)[0, ::20, k]
        for k in range(values.rate.shape[1]):
            true[f"rate[0, {k}]"] = values.rate[0, k]
            draws[f"rate[0, {k}]"] = drawn.values.rate[0, ::20, 0, k]
        for quantity, value in true.items():
            found.setdefault(quantity, []).append(int((draws[quantity] < value).sum()))
    return found


@pytest.mark.calibration
@models
def test_ranks_of_true_parameters_are_uniform(name):
    bins = 10
    for quantity, ranks in _ranks(name).items():
        counts = np.bincount(np.array(ranks) * bins // 100, minlength=bins)
        expected = len(ranks) / bins
        p = chi2.sf(((counts - expected) ** 2 / expected).sum(), bins - 1)
        # some 20 quantities: with .0005 one of them fails in 1 % of studies of a right sampler
        assert p > 0.0005, (quantity, counts)


@pytest.mark.calibration
@models
def test_intervals_cover(name):
    inside = [5 <= rank < 95 for ranks in _ranks(name).values() for rank in ranks]
    assert abs(np.mean(inside) - 0.9) < 4 * np.sqrt(0.9 * 0.1 / REPLICATIONS) / 2


@models
def test_a_careless_coder_and_the_truth_are_found(name, rng):
    model = MODELS[name]
    codes = design(rng, 500, 8, 5, none=model.has_none)
    kinds = len(model.anchor(2))
    rate = rng.uniform(0.75, 0.95, (8, kinds))
    rate[3] = 0.5 if name == "pairs" else 0.35
    share = np.array([0.5, 0.45, 0.05][: model.n_weights(2)])
    truth = simulate(model, codes, PairValues(share, rate[0], np.ones(kinds), rate), rng)
    drawn = gibbs(model, codes, run(2, 500, 300))
    low, high = np.quantile(drawn.values.rate, (0.01, 0.99), axis=(0, 1))
    assert ((low < rate) & (rate < high)).mean() > 0.85
    overall = drawn.values.rate.mean(axis=(0, 1, 3))
    assert overall.argmin() == 3
    assert np.sort(overall)[1] - overall[3] > 0.1
    p = drawn.p_batches.mean(axis=(0, 1))
    listed = np.array([label != "none of these" for label in codes.labels])
    shares = codes.votes / np.repeat(codes.judged(), np.diff(codes.firsts))
    assert ((p - truth) ** 2)[listed].mean() < ((shares - truth) ** 2)[listed].mean()
    # of candidates with P(true) near a value, that share is true
    for edge in (0.0, 0.8):
        chosen = (p >= edge) & (p < edge + 0.2)
        error = np.sqrt((p * (1 - p))[chosen].sum()) / chosen.sum()
        assert abs(p[chosen].mean() - truth[chosen].mean()) < 4 * error + 0.01


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(8)
    codes = design(rng, 80, 5, 4)
    kinds = len(MentionPairs().anchor(2))
    rate = rng.uniform(0.7, 0.95, (5, kinds))
    values = PairValues(np.array([0.6, 0.4]), rate[0], np.ones(kinds), rate)
    simulate(MentionPairs(), codes, values, rng)
    return table_of(codes)


@models
def test_the_order_of_rows_changes_nothing(name, table):
    options = {"model": MODELS[name], "draws": 2000, "chains": 2, "seed": 1}
    moved = table.sample(frac=1.0, random_state=3)
    one, two = (am.fit(am.coref.pairs(rows), **options) for rows in (table, moved))
    assert one.data.fingerprint == two.data.fingerprint
    assert one.interpretations().table.equals(two.interpretations().table)
    assert one.coders().table.equals(two.coders().table)


@pytest.mark.few("pairs")
@models
def test_names_of_coders_and_candidates_mean_nothing(name, table):
    other = table.assign(
        coder=table["coder"].map(lambda name: f"x{9 - int(name[1:])}"),
        label=table["label"].map(lambda label: f"{'ba'[int(label[1])]}({9 - int(label[3])})"),
        item=table["item"].map(lambda item: f"u#{9999 - int(item[2:])}"),
    )
    options = {"model": MODELS[name], "draws": 3000, "chains": 4, "seed": 1}
    first, second = (am.fit(am.coref.pairs(rows), **options) for rows in (table, other))
    assert first.data.fingerprint != second.data.fingerprint
    one, two = (fit.interpretations().table for fit in (first, second))
    one, two = (each[each["label"] != "none of these"] for each in (one, two))
    renamed = {
        (f"u#{9999 - int(i[2:])}", f"{'ba'[int(x[1])]}({9 - int(x[3])})"): p
        for i, x, p in zip(one["item"], one["label"], one["p_true"], strict=True)
    }
    found = dict(zip(zip(two["item"], two["label"], strict=True), two["p_true"], strict=True))
    assert renamed.keys() == found.keys()
    assert max(abs(found[place] - p) for place, p in renamed.items()) < 0.04


def test_seeds_differ_and_the_number_of_chains_does_not_matter_to_the_first(table):
    codes, model = am.coref.pairs(table), MentionPairs()
    one, two = (gibbs(model, codes, run(chains, 50, 10)).values for chains in (1, 2))
    other = gibbs(model, codes, run(1, 50, 10, seed=2)).values
    np.testing.assert_array_equal(one.rate[0], two.rate[0])
    assert (one.rate != other.rate).any()


@models
def test_what_there_is_when_the_time_is_over_is_kept(name, table, monkeypatch):
    from annomodels.engines import links, settings

    codes = am.coref.pairs(table)
    model = MODELS[name]
    whole = gibbs(model, model.encode(codes), run(2, 400, 20))
    seen = []

    class Stopped(settings.Clock):
        @property
        def seconds(self):
            return 10.0 * (len(seen) >= 3)

    monkeypatch.setattr(links, "Clock", Stopped)
    told = run(2, 400, 20, time_limit=5.0, progress=lambda *what: seen.append(what))
    part = gibbs(model, model.encode(codes), told)
    n = part.log_likelihood.shape[1]
    assert 0 < n < 400
    assert part.attrs["stopped"] == "time limit"
    np.testing.assert_array_equal(part.values.rate, whole.values.rate[:, :n])
    np.testing.assert_allclose(part.p_number.sum(axis=1), 1.0)
    assert part.p_batches.max() <= 1.0 + 1e-12
    none = gibbs(model, model.encode(codes), run(2, 400, 40, time_limit=0.0))
    assert none.attrs["stopped"] == "time limit"
    assert 0 < none.log_likelihood.shape[1] < 400


@models
def test_an_interrupt_keeps_the_draws(name, table):
    codes, model = am.coref.pairs(table), MODELS[name]
    whole = gibbs(model, model.encode(codes), run(2, 400, 20))

    def interrupted(stage, share, message):
        if stage == "sampling":
            raise KeyboardInterrupt

    part = gibbs(model, model.encode(codes), run(2, 400, 20, progress=interrupted))
    assert part.attrs["stopped"] == "interrupted"
    n = part.log_likelihood.shape[1]
    assert 0 < n < 400
    np.testing.assert_array_equal(part.values.rate, whole.values.rate[:, :n])
