"""Gibbs against NUTS, calibration, recovery, order and names; what one more reader would say."""

import os
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import chi2

import annomodels as am
from annomodels.coref import pairs
from annomodels.data.mixing import ess, rhat
from annomodels.engines import readers
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


def _codes(said):
    rows = [(f"t#{i:04}", f"c{j}", x) for i, xs in enumerate(said) for j, x in enumerate(xs)]
    return pairs(pd.DataFrame(rows, columns=["item", "coder", "label"]))


def _sample(rng, n, coders, shares=(0.6, 0.4), spread=0.8, within=0.5):
    """Draw labels one after the other: the class by an urn, the antecedent by another."""
    out = []
    for _ in range(n):
        own: list[str] = []
        for _ in range(coders):
            new = sum(x == "DN()" for x in own)
            if rng.random() < (new + spread * shares[0]) / (len(own) + spread):
                own.append("DN()")
                continue
            old = [x for x in own if x != "DN()"]
            if rng.random() < within / (len(old) + within):
                own.append(f"DO({len(set(old))})")
            else:
                own.append(old[rng.integers(len(old))])
        out.append(own)
    return out


SAID = [
    ["DN()", "DN()", "DO(1)"],
    ["DO(1)", "DO(1)", "DO(2)", "DO(3)"],
    ["DN()"],
    ["DO(4)", "expletive"],
]
SHARES, SPREAD, WITHIN = np.array([0.5, 0.3, 0.2]), 0.7, np.array([0.0, 1.3, 0.0])


def _in_turn(labels):
    """Log probability of labels that are said one after the other."""
    total, seen = 0.0, Counter()
    for n, label in enumerate(labels):
        name = label.split("(")[0]
        h = ["DN", "DO", "expletive"].index(name)
        own = sum(times for x, times in seen.items() if x.split("(")[0] == name)
        total += np.log((own + SPREAD * SHARES[h]) / (n + SPREAD))
        if name == "DO":
            total += np.log((seen[label] or WITHIN[h]) / (own + WITHIN[h]))
        seen[label] += 1
    return total


def test_the_likelihood_is_that_of_labels_one_after_the_other(rng):
    wanted = sum(_in_turn(rng.permutation(labels)) for labels in SAID)
    found = readers.log_likelihood_of(_codes(SAID), SHARES, SPREAD, WITHIN)
    assert found == pytest.approx(wanted, rel=1e-12)


def test_the_forecast_is_the_ratio_of_likelihoods_with_one_label_more():
    codes = _codes(SAID)
    drawn = readers.Readers(SHARES[None], np.array([SPREAD]), WITHIN[None])
    p = readers.next_label(codes, drawn)
    before = readers.log_likelihood_of(codes, SHARES, SPREAD, WITHIN)
    for m, (i, label) in enumerate(zip(codes.mention, codes.labels, strict=True)):
        more = [labels + [label] * int(n == i) for n, labels in enumerate(SAID)]
        after = readers.log_likelihood_of(_codes(more), SHARES, SPREAD, WITHIN)
        assert p[m] == pytest.approx(np.exp(after - before), rel=1e-10)
    # with what nobody said yet it is a distribution
    for i, labels in enumerate(SAID):
        rest = {"DN()", "DO(99)", "expletive"} - set(labels)
        other = [np.exp(_in_turn([*labels, x]) - _in_turn(labels)) for x in rest]
        assert p[codes.mention == i].sum() + sum(other) == pytest.approx(1.0)


@pytest.mark.usefixtures("uncompiled")
def test_joint_densities_are_one():
    from scipy.stats import dirichlet

    codes = _codes(SAID)
    built = readers.build_readers(codes)
    names = ["classes", "spread", "within"]
    wanted = built.replace_rvs_by_values([built[name] for name in names])
    logp = built.compile_fn(
        [built.logp(jacobian=False), *wanted], inputs=built.value_vars, mode="FAST_COMPILE"
    )
    rng, start = np.random.default_rng(3), built.initial_point()
    for _ in range(3):
        point = {key: value + rng.normal(0, 0.5, np.shape(value)) for key, value in start.items()}
        total, classes, spread, within = map(np.asarray, logp(point))
        own = np.array([0.0, within[0], 0.0])
        mine = readers.log_likelihood_of(codes, classes, float(spread), own)
        mine += dirichlet.logpdf(classes, np.ones(3))
        mine += float(readers.SPREAD.logp(spread) + readers.SPREAD.logp(within[0]))
        assert float(total) == pytest.approx(mine, rel=1e-7)


def test_draws_have_the_posterior_of_a_grid(rng):
    codes = _codes(_sample(rng, 40, 4))
    drawn = readers.read_shares(codes, draws=4000)
    share, spread = np.linspace(0.01, 0.99, 50), np.exp(np.linspace(-3.5, 2.5, 40))
    log_p = np.array(
        [
            [
                readers.log_likelihood_of(codes, np.array([x, 1 - x]), a, np.array([0.0, 1.0]))
                # in terms of log a
                + float(readers.SPREAD.logp(a)) + np.log(a)
                for a in spread
            ]
            for x in share
        ]
    )  # fmt: skip
    p = np.exp(log_p - logsumexp(log_p))
    for values, grid, weight in (
        (drawn.classes[:, 0], share, p.sum(axis=1)),
        (np.log(drawn.spread), np.log(spread), p.sum(axis=0)),
    ):
        mean = (grid * weight).sum()
        sd = np.sqrt(((grid - mean) ** 2 * weight).sum())
        assert values.mean() == pytest.approx(mean, abs=0.1 * sd)
        assert values.std() == pytest.approx(sd, rel=0.1)


def test_the_forecast_is_right_on_average(rng):
    said = _sample(rng, 4000, 6)
    codes = _codes([labels[:5] for labels in said])
    found = readers.read_shares(codes)
    assert found.spread.mean() == pytest.approx(0.8, abs=0.12)
    assert found.antecedents[:, 1].mean() == pytest.approx(0.5, abs=0.1)
    p = readers.next_label(codes, found)
    came = np.array(
        [codes.labels[m] == said[i][5] for m, i in enumerate(codes.mention)], dtype=float
    )
    for edge in np.arange(0, 1, 0.2):
        chosen = (p >= edge) & (p < edge + 0.2)
        error = np.sqrt((p * (1 - p))[chosen].sum()) / chosen.sum()
        assert abs(p[chosen].mean() - came[chosen].mean()) < 4 * error


@pytest.mark.full("Compiles for a minute; reduced runs have the density and intervals that cover.")
def test_nuts_gives_the_same(rng):
    import nutpie

    codes = _codes(_sample(rng, 200, 4))
    compiled = nutpie.compile_pymc_model(readers.build_readers(codes), backend="numba")
    tree = nutpie.sample(compiled, draws=1000, tune=500, chains=2, seed=1, progress_bar=False)
    found, drawn = tree["posterior"].to_dataset(), readers.read_shares(codes, draws=2000)
    pairs = {
        "spread": drawn.spread,
        "classes": drawn.classes[:, 0],
        "within": drawn.antecedents[:, 1],
    }
    for name, values in pairs.items():
        other = found[name].values.reshape(2000, -1)[:, 0]
        assert values.mean() == pytest.approx(other.mean(), abs=0.15 * other.std())
        assert values.std() == pytest.approx(other.std(), rel=0.15)
