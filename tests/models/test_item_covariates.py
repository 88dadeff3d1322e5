"""Difficulties of items regressed on columns about them, against integrals of each item's own."""

from __future__ import annotations

import dataclasses
import math
import os

import numpy as np
import pandas as pd
import pytest
from densities import built
from scipy import stats
from scipy.integrate import quad, simpson
from scipy.special import expit, logsumexp

import annomodels as am
from annomodels.engines.pymc.handed import with_data
from annomodels.errors import AnnotationError, NotApplicable
from annomodels.models.catalog import from_dict
from annomodels.models.continuous.item_covariates import common_points, log_weights
from annomodels.models.encoded import encode
from annomodels.priors import Beta
from annomodels.summaries.draws import state_probabilities, thinned
from annomodels.summaries.trust.held_out import held_out

SD = am.models.ScalarDifficulty
REDUCED = os.environ.get("ANNOMODELS_CALIBRATION") == "reduced"


def simulated(n_items=12, labels=2, seed=3, gold=False):
    """Labels of five coders, and what is known of the items: a number and a text."""
    rng = np.random.default_rng(seed)
    table = {
        f"i{i}": {"length": int(rng.integers(3, 9)), "genre": "news" if i % 3 else "chat"}
        for i in range(n_items)
    }
    rows = []
    for i in range(n_items):
        truth = rng.integers(labels)
        for coder in "abcde":
            said = truth if rng.random() < 0.7 else rng.integers(labels)
            rows.append((f"i{i}", coder, "xyz"[said]))
    known = {"i1": "x"} if gold else None
    return am.Annotations.from_records(rows, labels=list("xyz")[:labels], gold=known), table


# -- the quadrature ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.0, 0.02, 0.1, 0.5, 1.5, 4.0])
@pytest.mark.parametrize("widest", [0.0, 1.0, 6.0])
def test_shared_points_integrate_the_labels_of_every_item(scale, widest):
    """Twenty labels, twelve of them right, of items here and there, against SciPy's `quad`.

    Below a spread of .1 logits the points are too far from each other to tell.
    """
    shift = np.linspace(-widest / 3, 2 * widest / 3, 7)
    points, width = common_points(shift, np.array([scale]), 84, np)
    log_share = log_weights(shift, points, width, logsumexp)[:, 0]

    def log_labels(x):
        return 12 * np.log(expit(1.0 - x)) + 8 * np.log(expit(x - 1.0))

    found = logsumexp(log_share + log_labels(points[0]), axis=1)
    for at, m in zip(found, shift, strict=True):
        # the integrand is scaled, so that it is no small number
        def integrand(x, m=m):
            return np.exp(log_labels(x) - log_labels(m)) * stats.norm.pdf(x, m, scale)

        exact = log_labels(m)
        if scale:
            exact += math.log(quad(integrand, m - 9 * scale, m + 9 * scale, limit=200)[0])
        # a spread below a step counts as .8 of one, .1 logits at the widest
        assert at == pytest.approx(exact, abs=1e-3 if scale >= 0.1 else 0.04 * widest + 1e-6)


def test_points_are_as_close_where_a_column_reaches_far():
    data, table = simulated(100)
    usual = SD(item_covariates={name: {"x": i} for i, name in enumerate(table)}).bound(data)
    far = SD(item_covariates={name: {"x": i == 0 and 900 or i} for i, name in enumerate(table)})
    assert usual.n_points == 84
    reach = np.ptp(np.array(far.bound(data).item_covariates.design))
    assert reach > 9
    assert far.bound(data).n_points == pytest.approx(84 * (10 + reach) / 16, abs=1)
    assert usual.n_states(2) == 2 * 84 == len(usual.coords(["x", "y"])["state"])


# -- the density ---------------------------------------------------------------------------------


def said_of(v, coder, label, hard, k):
    """P(label | class, difficulty) of a coder, [truth, difficulty], written out."""
    out = np.empty((k, len(hard)))
    for t in range(k):
        wrong = [other for other in range(k) if other != t]
        lean = np.array([v["leaning"][coder, t, other] if k > 2 else 0.0 for other in wrong])
        slope = v["discrimination"][coder] if "discrimination" in v else 1.0
        right = expit(v["ability"][coder, t] - slope * hard - logsumexp(lean))
        lucky = v["guessing"][t] if "guessing" in v else 0.0
        if label == t:
            out[t] = lucky + (1 - lucky) * right
        else:
            share = np.exp(lean[wrong.index(label)] - logsumexp(lean))
            out[t] = (1 - lucky) * (1 - right) * share
    return out


def joint_of_item(data, design, v, i, power=0, fixed=None):
    """E[difficulty^power; class, labels of an item], the difficulty integrated out, [truth].

    By Simpson's rule with 2,001 points around what is expected of this item.
    """
    k, mean = data.n_labels, float(design[i] @ v["item_effect"])
    scale = np.broadcast_to(v.get("difficulty_scale", fixed), k)
    z = np.linspace(-9.0, 9.0, 2001)
    out = np.zeros(k)
    for t in range(k):
        hard = mean + scale[t] * z
        p = stats.norm.pdf(z) * hard**power
        for n in np.flatnonzero(data.item == i):
            p = p * said_of(v, data.coder[n], data.label[n], hard, k)[t]
        out[t] = v["prevalence"][t] * simpson(p, x=z)
    if data.gold is not None and data.gold[i] >= 0:
        out[np.arange(k) != data.gold[i]] = 0.0
    return out


OPTIONS = {
    "plain": {},
    "three labels": {"by_class": True, "discrimination": 0.5, "guessing": Beta(1, 4)},
    "fixed": {"difficulty": 0.7, "difficulty_fixed": True},
}


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("kind", OPTIONS)
def test_the_likelihood_of_an_item_is_its_integral(kind):
    data, table = simulated(8, labels=3 if "three" in kind else 2, gold=True)
    model = SD(item_covariates=table, **OPTIONS[kind]).bound(data)
    handed = with_data(model, data)
    rng = np.random.default_rng(5)
    named = [*handed.free_RVs, *(v for v in handed.deterministics if v.name != "log_likelihood")]
    outputs = handed.replace_rvs_by_values([*named, handed["log_likelihood"]])
    total = handed.logp(jacobian=False)
    compiled = handed.compile_fn([total, *outputs], inputs=handed.value_vars)
    point = {
        name: value + 0.4 * rng.normal(size=np.shape(value))
        for name, value in handed.initial_point().items()
    }
    found, *values, by_item = compiled(point)
    v = dict(zip([each.name for each in named], values, strict=True))
    design = np.array(model.item_covariates.design)
    expected = [joint_of_item(data, design, v, i, fixed=0.7).sum() for i in range(data.n_items)]
    np.testing.assert_allclose(by_item, np.log(expected), atol=2e-5)
    if kind != "plain":
        return
    level_sd, centre = 1.0 / math.sqrt(2), math.log(0.7 / 0.3)
    prior = stats.dirichlet.logpdf(v["prevalence"], np.ones(2))
    prior += stats.norm.logpdf(v["item_effect"], 0, 1).sum()
    prior += stats.truncnorm.logpdf(v["level"], -centre / level_sd, np.inf, centre, level_sd)
    prior += stats.norm.logpdf(v["contrast"][0] * math.sqrt(2), 0, 0.75)
    prior += stats.halfnorm.logpdf(v["ability_scale"], 0, 1).sum()
    prior += stats.halfnorm.logpdf(v["difficulty_scale"], 0, 1)
    prior += stats.norm.logpdf(v["ability"], v["mean_ability"], v["ability_scale"]).sum()
    assert found == pytest.approx(prior + np.log(expected).sum(), abs=1e-3)


@pytest.mark.usefixtures("uncompiled")
def test_where_the_effect_is_zero_the_density_is_that_without_columns():
    data, table = simulated()
    told, plain = SD(item_covariates=table, nodes=21), SD(nodes=61)
    values = []
    for model in (told.bound(data), plain):
        pymc_model = built(model, data)
        point = {name: 0.3 + 0.0 * value for name, value in pymc_model.initial_point().items()}
        if "item_effect" in point:
            point["item_effect"] *= 0.0
        values.append(float(pymc_model.compile_logp(jacobian=False)(point)))
    assert values[0] == pytest.approx(values[1] + 2 * stats.norm.logpdf(0.0), abs=1e-4)


def test_items_with_the_same_labels_are_one_pattern_only_if_they_are_of_one_kind():
    rows = [(f"i{i}", coder, "x") for i in range(6) for coder in "ab"] + [("i6", "a", "y")]
    data = am.Annotations.from_records(rows)
    table = {f"i{i}": {"genre": "chat" if i in (1, 4) else "news"} for i in range(7)}
    model = SD(item_covariates=table).bound(data)
    codes = encode(data, kind=model.item_kinds)
    assert sorted(codes.weight.tolist()) == [1.0, 2.0, 4.0]
    assert codes.inverse[1] == codes.inverse[4] != codes.inverse[0]
    assert encode(data).n_patterns == 2
    assert (codes.kind[codes.inverse] == model.item_kinds).all()
    assert (codes.of_patterns(np.array([1])).kind == codes.kind[1:2]).all()


# -- what is refused -----------------------------------------------------------------------------


def test_everything_that_is_wrong_is_said_at_once():
    data, table = simulated()
    table["i0"] |= {"length": None}
    table["i1"] |= {"length": math.inf}
    table["i2"] |= {"genre": 3}
    for row in table.values():
        row["team"] = "blue"
    del table["i5"]
    table["elsewhere"] = {"length": 3, "genre": "chat", "team": "blue"}
    with pytest.raises(AnnotationError) as caught:
        SD(item_covariates=table).bound(data)
    assert [(each.what, each.where) for each in caught.value.problems] == [
        ("1 item(s) of the data have no row of covariates.", "i5"),
        ("The column 'length' is empty for 1 item(s).", "i0"),
        ("The column 'genre' holds numbers and texts.", caught.value.problems[2].where),
        ("The column 'team' says 'blue' of every item, so nothing can be learnt.", "team"),
    ]
    assert all(each.remedy for each in caught.value.problems)


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("items.csv", r'no columns about items(.|\n)*column "item"'),
        ({"i0": {}, "i1": {}}, "no column beside the items"),
        (
            [{"item": "i0", "x": 1, "said": "a"}, {"item": "i0", "x": 1, "said": "b"}],
            r"1 item\(s\) have more than one row, and these differ in 'said'",
        ),
    ],
)
def test_what_is_no_table_of_items_is_refused(table, what):
    with pytest.raises(AnnotationError, match=what):
        SD(item_covariates=table)


def test_terms_that_cannot_be_told_apart_are_refused():
    data, table = simulated()
    twice = {name: {"a": row["length"], "b": 2 * row["length"]} for name, row in table.items()}
    with pytest.raises(AnnotationError, match="2 terms of covariates cannot be told apart by 12"):
        SD(item_covariates=twice).bound(data)
    each = {name: {"who": name} for name in table}
    SD(item_covariates={**each, "i0": {"who": "i1"}}).bound(data)
    more = {name: {"who": name, "length": row["length"]} for name, row in table.items()}
    with pytest.raises(AnnotationError, match="12 terms of covariates cannot be told apart by 12"):
        SD(item_covariates=more).bound(data)
    wrong = {name.upper(): row for name, row in table.items()}
    with pytest.raises(AnnotationError, match="Name items as the data do, such as i0"):
        SD(item_covariates=wrong).bound(data)


@pytest.mark.parametrize(
    "name", ["LogisticRandomEffects", "ItemDifficulty", "LogitNormalDawidSkene", "Mace"]
)
def test_models_without_one_difficulty_say_which_model_takes_the_columns(name):
    with pytest.raises(NotApplicable, match=r"takes no item_covariates.*ScalarDifficulty"):
        getattr(am.models, name)(item_covariates={"i0": {"x": 1}})


def test_tables_may_be_the_labels_themselves_and_name_items_that_have_none():
    data, table = simulated()
    frame = pd.DataFrame([{"item": name, **row} for name, row in table.items()])
    long = pd.concat([frame, frame.iloc[::-1]])
    further = {**table, "later": {"length": 50, "genre": "poem"}}
    models = [SD(item_covariates=each).bound(data) for each in (table, long, further)]
    assert models[0] == models[1] == models[2]
    assert from_dict(models[0].to_dict()) == models[0]
    known = models[0].item_covariates
    assert known.names == tuple(data.items)
    assert known.terms == ("length", "genre: chat")
    np.testing.assert_allclose(np.mean(known.design, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.std(known.design, axis=0)[0], 1)


# -- fits ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    data, table = simulated(10, gold=True)
    return am.fit(data, SD(item_covariates=table), chains=2, draws=30, seed=2)


def draws_of(fit):
    posterior = fit.tree["posterior"].to_dataset()
    every = {str(n): v.values.reshape(-1, *v.shape[2:]) for n, v in posterior.items()}
    return [{name: v[d] for name, v in every.items()} for d in range(len(every["prevalence"]))]


@pytest.mark.nuts
@pytest.mark.slow
def test_tables_are_means_of_integrals_over_the_draws(small):
    """P(truth), difficulties, held-out densities and why, integrated anew on each draw."""
    data, each = small.data, draws_of(small)
    design = np.array(small.model.item_covariates.design)
    items = range(4)
    joint = np.array([[joint_of_item(data, design, v, i) for i in items] for v in each])
    share = joint / joint.sum(axis=2, keepdims=True)
    truth, known = small.tree["truth"].to_dataset(), small.tree["items"].to_dataset()
    np.testing.assert_allclose(truth["p_truth"].values[:4], share.mean(axis=0), atol=1e-5)
    total = joint.sum(axis=2)
    first, square = (
        [[joint_of_item(data, design, v, i, power).sum() for i in items] for v in each]
        for power in (1, 2)
    )
    mean = (first / total).mean(axis=0)
    sd = np.sqrt((square / total).mean(axis=0) - mean**2)
    np.testing.assert_allclose(known["difficulty"].values[:4], mean, atol=1e-4)
    np.testing.assert_allclose(known["difficulty_sd"].values[:4], sd, atol=1e-4)
    found = held_out(small.tree, data)
    np.testing.assert_allclose(found.in_sample[:4], np.log(total.mean(axis=0)), atol=1e-5)
    why = small.why(items=["i0", "i2"])
    sums = why.draws["log_odds"].values[:, [s == "(sum)" for s in why.table["source"]]]
    for column, i in zip(sums.T, (0, 2), strict=True):
        odds = np.log(share[:, i, 0] / share[:, i, 1])
        order = truth["p_truth"].values[i].argmax()
        np.testing.assert_allclose(column, odds if order == 0 else -odds, atol=1e-4)


@pytest.mark.nuts
def test_some_of_the_items_have_the_shares_that_they_have_among_all(small):
    data = small.data
    draws = thinned(small.tree, data, 5)
    from annomodels.summaries.next.gains import only

    part = only(data, np.array([7, 2]))
    whole = [p for _, p in state_probabilities(draws, data)]
    some = [p for _, p in state_probabilities(draws, part)]
    for a, b in zip(whole, some, strict=True):
        np.testing.assert_allclose(a[[7, 2]], b)
    other = data.replace(items=tuple(f"new {item}" for item in data.items))
    with pytest.raises(NotApplicable, match=r"10 item\(s\) were not in the fit"):
        draws.kinds_of(other)
    # items in general are the mean item of the data
    log = draws.log_share(3, draws.kinds_of(data))
    np.testing.assert_allclose(np.exp(log).mean(axis=0), draws.share[3])


def crowd(effects, seed, n_items=250, coders=12):
    """Labels of items whose difficulty follows from a number and a text; eight for each item."""
    rng = np.random.default_rng(seed)
    length = rng.gamma(2.0, 2.0, n_items)
    chat = rng.random(n_items) < 0.4
    z = (length - length.mean()) / length.std()
    hard = effects[0] * z + effects[1] * (chat - chat.mean()) + rng.normal(0.0, 0.5, n_items)
    ability = rng.normal(1.5, 0.5, (coders, 2))
    rows = []
    for i in range(n_items):
        truth = int(rng.random() < 0.4)
        for j in rng.choice(coders, 8, replace=False):
            right = rng.random() < expit(ability[j, truth] - hard[i])
            rows.append((f"i{i}", f"c{j}", truth if right else 1 - truth))
    data = am.Annotations.from_records(rows, labels=[0, 1])
    table = {
        f"i{i}": {"length": length[i], "genre": "chat" if chat[i] else "news"}
        for i in range(n_items)
    }
    return data, table, dict(zip([f"i{i}" for i in range(n_items)], hard, strict=True))


def outcome(fit, effects):
    """Rows of the number and of the text, and the true effect of the latter, turned as it is."""
    table = fit.effects().table.set_index("term")
    turned = "genre: news" in table.index
    row = table.loc["genre: news" if turned else "genre: chat"]
    return table.loc["length"], row, -effects[1] if turned else effects[1]


@pytest.mark.nuts
@pytest.mark.slow
def test_effects_are_found_and_go_through_all_that_is_asked_of_a_fit(tmp_path):
    data, table, hard = crowd((0.8, 1.0), 5)
    years = {name: {"years": n} for n, name in enumerate(data.coders)}
    model = SD(item_covariates=table, coder_covariates=years)
    fit = am.fit(data, model, chains=2, draws=300, warmup=300, seed=1)
    found = fit.effects()
    assert found.table["of"].tolist() == ["coder", "item", "item"]
    assert sum("standardised over the items" in note for note in found.notes) == 1
    length, genre, true = outcome(fit, (0.8, 1.0))
    assert length["low"] < 0.8 < length["high"]
    assert length["p_positive"] > 0.99
    assert length["unit"].startswith("a standard deviation (")
    assert genre["low"] < true < genre["high"]
    assert any(note.startswith("Harder with length") for note in fit.items().notes)
    assert not any("length" in note for note in fit.coders().notes)
    # a plain fit knows less of difficulties, and the shift is part of what is reported
    plain = am.fit(data, "scalar-difficulty", chains=2, draws=300, warmup=300, seed=1)
    true_hard = [hard[name] for name in data.items]
    near = [np.corrcoef(f.items().table["difficulty"], true_hard)[0, 1] for f in (fit, plain)]
    assert near[0] > near[1] + 0.05
    scores = am.compare({"told": fit, "plain": plain}).table
    assert scores["model"].iloc[0] == "told"
    again = am.load(fit.save(tmp_path / "fit.nc"))
    assert again.model == fit.model
    assert again.effects().table.equals(fit.effects().table)
    page = am.report(fit, tmp_path / "page.html").read_text("utf-8")
    assert "Harder with length" in page
    from annomodels.reporting.methods import methods

    assert "difficulty of an item is regressed on what is known of it: length" in methods(fit)
    assert "item_effect" in fit.pymc_draws()["posterior"]
    fine = {"gold", "items", "agreement", "p_next", "prior_sensitivity", "next", "labels", "why"}
    for verb in fine | {"predictive", "check", "coders"}:
        assert getattr(fit, verb)() is not None
    assert fit.predictive().table["verdict"].eq("fits").mean() > 0.8


@pytest.mark.nuts
@pytest.mark.calibration
def test_without_effect_the_posterior_is_that_without_columns():
    """Coefficients that are held at zero: all else within four Monte Carlo errors."""
    import arviz as az

    data, table, _ = crowd((0.0, 0.0), 4, n_items=80)
    known = SD(item_covariates=table).item_covariates
    still = SD(item_covariates=dataclasses.replace(known, spread=1e-6))
    fits = [am.fit(data, m, chains=4, draws=1000, seed=3) for m in (still, SD(nodes=41))]
    for name in ("prevalence", "mean_ability", "ability_scale", "difficulty_scale", "ability"):
        both = [fit.tree["posterior"].to_dataset()[[name]] for fit in fits]
        gap = np.abs(np.subtract(*(each[name].values.mean(axis=(0, 1)) for each in both)))
        assert (gap < 4 * np.hypot(*(az.mcse(each)[name].values for each in both))).all(), name
    p = [fit.tree["truth"].to_dataset() for fit in fits]
    error = 4 * np.hypot(*(each["p_truth_mcse"].values for each in p)) + 1e-3
    assert (np.abs(p[0]["p_truth"].values - p[1]["p_truth"].values) < error).all()


@pytest.mark.nuts
@pytest.mark.calibration
def test_draws_are_those_of_the_pymc_model(monkeypatch):
    """NUTS over the compiled loops and over PyMC: means and spreads within four errors."""
    import arviz as az

    data, table, _ = crowd((0.6, -0.5), 6, n_items=80)
    model, options = SD(item_covariates=table), {"chains": 4, "draws": 1000, "seed": 3}
    own = am.fit(data, model, **options)
    monkeypatch.setattr(SD, "density", lambda *_: None)
    pymc = am.fit(data, model, **options)
    for name in ("prevalence", "mean_ability", "difficulty_scale", "ability", "item_effect"):
        both = [fit.tree["posterior"].to_dataset()[[name]] for fit in (own, pymc)]
        for method, of in (("mean", np.mean), ("sd", np.std)):
            errors = [az.mcse(found, method=method)[name].values for found in both]
            gap = np.abs(np.subtract(*(of(each[name].values, axis=(0, 1)) for each in both)))
            assert (gap < 4 * np.hypot(*errors)).all(), (name, method)


@pytest.mark.nuts
@pytest.mark.calibration
def test_intervals_of_effects_hold_the_truth():
    """Two intervals of 95 % for each crowd: of 60 at most eight may miss, of 12 three.

    More miss with probability .004 and .0002.
    """
    missed, errors, sds = 0, [], []
    rng = np.random.default_rng(17)
    replications, most = (6, 3) if REDUCED else (30, 8)
    for n in range(replications):
        effects = rng.normal(0.0, 0.8, 2)
        data, table, _ = crowd(effects, 100 + n, n_items=150)
        fit = am.fit(data, SD(item_covariates=table), chains=2, draws=250, warmup=300, seed=n)
        length, genre, true = outcome(fit, effects)
        missed += not length["low"] < effects[0] < length["high"]
        missed += not genre["low"] < true < genre["high"]
        errors += [length["effect"] - effects[0], genre["effect"] - true]
        sds += [length["sd"], genre["sd"]]
    assert missed <= most
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(len(errors))
    assert 0.6 < np.std(errors) / np.sqrt(np.mean(np.square(sds))) < 1.5
