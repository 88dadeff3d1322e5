"""Abilities of coders regressed on columns about them."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.special import log_softmax, logsumexp

import annomodels as am
from annomodels.engines.pymc.handed import with_data
from annomodels.errors import AnnotationError, NotApplicable
from annomodels.models.catalog import from_dict
from annomodels.models.continuous.covariates import bound_to
from annomodels.models.continuous.quadrature import effect_nodes, normal_nodes
from annomodels.priors import Covariates

LRE, SD = am.models.LogisticRandomEffects, am.models.ScalarDifficulty
LND = am.models.LogitNormalDawidSkene
KNOWN = {
    "ana": {"years": 1, "trained": True, "town": "Ulm"},
    "ben": {"years": 4, "trained": False, "town": "Bonn"},
    "cem": {"years": 2.5, "trained": True, "town": "Ulm"},
    "dea": {"years": 9, "trained": True, "town": "Essen"},
    "eva": {"years": 6, "trained": False, "town": "Ulm"},
}


def simulated(n_items=20, labels=2, seed=3):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n_items):
        truth = rng.integers(labels)
        for coder in KNOWN:
            said = truth if rng.random() < 0.75 else rng.integers(labels)
            rows.append((f"i{i}", coder, "xyz"[said]))
    return am.Annotations.from_records(rows, labels=list("xyz")[:labels])


# -- tables and terms ----------------------------------------------------------------------------


def test_tables_of_all_kinds_say_the_same():
    rows = [{"coder": name, **row} for name, row in KNOWN.items()]
    frame = pd.DataFrame(rows)
    tables = [
        rows, frame, frame.set_index("coder"), pd.DataFrame(KNOWN).T.astype({"years": float}),
        pl.DataFrame(rows, strict=False),
    ]  # fmt: skip
    first = SD(coder_covariates=KNOWN)
    for table in tables:
        found = SD(coder_covariates=table).coder_covariates
        assert found.columns == ("years", "trained", "town")
        names = list(KNOWN)
        assert found.terms_of(names)[0] == first.coder_covariates.terms_of(names)[0]
        np.testing.assert_allclose(
            found.terms_of(names)[2], first.coder_covariates.terms_of(names)[2]
        )


def test_numbers_are_standardized_and_texts_compared_with_the_most_frequent():
    terms, units, design = SD(coder_covariates=KNOWN).coder_covariates.terms_of(list(KNOWN))
    assert terms == ("years", "trained: False", "town: Bonn", "town: Essen")
    assert units == (
        "a standard deviation (2.79)", "against True", "against Ulm", "against Ulm",
    )  # fmt: skip
    np.testing.assert_allclose(design.mean(axis=0), 0, atol=1e-12)
    years = np.array([row["years"] for row in KNOWN.values()])
    np.testing.assert_allclose(design[:, 0], (years - 4.5) / years.std())
    np.testing.assert_allclose(design[:, 1], np.array([0, 1, 0, 0, 1]) - 0.4)
    assert Covariates(("a",), ("1", "2"), (("u",), ("t",))).terms_of(["1", "2"])[0] == ("a: u",)


def test_everything_that_is_wrong_is_said_at_once():
    table = {name: dict(row) for name, row in KNOWN.items()}
    table["flo"] = table.pop("eva")
    table["ana"] |= {"years": None, "pay": 1.0}
    table["ben"] |= {"trained": 3}
    for row in table.values():
        row["team"] = "blue"
        row["speed"] = math.inf if row["town"] == "Essen" else 1.0
    with pytest.raises(AnnotationError) as caught:
        SD(coder_covariates=table).with_data(simulated())
    problems = {each.what: each for each in caught.value.problems}
    assert [(each.what, each.where) for each in problems.values()] == [
        ("Covariates lack a row for 1 coder of the data.", "coder eva"),
        ("Covariates have 1 row for unknown coders.", "coder flo"),
        ("The column 'years' is empty for 1 coder.", "coder ana"),
        ("The column 'trained' mixes numbers and texts.", "texts for ana, cem, dea"),
        ("The column 'pay' is empty for 3 coders.", "coder ben, cem, dea"),
        ("The column 'team' is 'blue' for every coder: it has no effect.", "team"),
        ("The column 'speed' holds infinite numbers.", "dea"),
    ]
    assert all(each.remedy for each in problems.values())


def test_terms_that_cannot_be_told_apart_are_refused():
    twice = {name: {"a": row["years"], "b": 2 * row["years"]} for name, row in KNOWN.items()}
    with pytest.raises(AnnotationError, match="2 terms of covariates cannot be identified"):
        SD(coder_covariates=twice).with_data(simulated())
    many = {name: {"who": name, "years": row["years"]} for name, row in KNOWN.items()}
    with pytest.raises(AnnotationError, match="5 terms of covariates cannot be identified from 5"):
        SD(coder_covariates=many).with_data(simulated())


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ("years.csv", "not a table about coders"),
        ([{"name": "ana", "years": 1}], "not a table about coders"),
        ({"ana": 3.0}, "not a table about coders"),
        ({"ana": {}, "ben": {}}, "no column besides the coders"),
        (
            [{"coder": "a", "x": 1, "y": "a"}, {"coder": "a", "x": 1, "y": "b"}],
            r"1 coder with more than one row, which differ in 'y'",
        ),
    ],
)
def test_what_is_no_table_of_coders_is_refused(table, what):
    with pytest.raises(AnnotationError, match=what):
        LRE(coder_covariates=table)


def test_the_prior_of_the_coefficients_is_part_of_the_value():
    known = SD(coder_covariates=KNOWN).coder_covariates
    wide = Covariates(known.columns, known.names, known.values, spread=2.0)
    model = SD(coder_covariates=wide).with_data(simulated())
    assert "spread 2 logits" in model.describe()[-1]
    assert (
        "years (a standard deviation (2.79)), trained: False (against True)"
        in (model.describe()[-1])
    )
    assert from_dict(model.to_dict()) == model
    with pytest.raises(ValueError, match="spread > 0"):
        Covariates(("a",), ("1",), ((1.0,),), spread=0.0)


# -- densities -----------------------------------------------------------------------------------


def at_a_point(model, data, seed=7):
    """Log density without Jacobian by PyMC at a random point, and the variables there."""
    handed = with_data(model, data)
    rng = np.random.default_rng(seed)
    point = {
        name: value + 0.4 * rng.normal(size=np.shape(value))
        for name, value in handed.initial_point().items()
    }
    names = [each.name for each in handed.free_RVs]
    outputs = [handed.logp(jacobian=False), *handed.replace_rvs_by_values(handed.free_RVs)]
    compiled = handed.compile_fn(outputs, inputs=handed.value_vars, on_unused_input="ignore")
    total, *values = compiled(point)
    return float(total), dict(zip(names, values, strict=True))


def of_items(data, log_share, log_emission):
    """Sum over items of the log of the sum over states, written out label by label."""
    total = 0.0
    for i in range(data.n_items):
        each = log_share.copy()
        for n in np.flatnonzero(data.item == i):
            each = each + log_emission[data.coder[n], :, data.label[n]]
        total += logsumexp(each)
    return total


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("labels", [2, 3])
def test_the_density_of_logistic_random_effects_is_the_one_written_out(labels):
    data = simulated(labels=labels)
    model = LRE(coder_covariates=KNOWN, nodes=5).with_data(data)
    found, v = at_a_point(model, data)
    x, k = bound_to(model.coder_covariates, list(KNOWN)).design, labels
    ability = np.array(x) @ v["coder_effect"]
    expected = stats.dirichlet.logpdf(v["prevalence"], np.ones(k))
    expected += stats.norm.logpdf(v["coder_effect"], 0, 1).sum()
    expected += stats.norm.logpdf(v["coder_location"], 0, 1).sum()
    for name in ("coder_spread", "item_spread"):
        expected += stats.halfnorm.logpdf(v[name], 0, 1).sum()
    points, weights = effect_nodes(k - 1, 5)
    emission = np.empty((5, k * len(points), k))
    for j in range(5):
        for t in range(k):
            mean = v["coder_location"][t].copy()
            for contrast in range(k - 1):
                # the log-odds of the right label rise by the ability of the coder
                mean[contrast] += ability[j] * ((contrast == t) - (t == k - 1))
            expected += stats.norm.logpdf(v["coder_logit"][j, t], mean, v["coder_spread"][t]).sum()
            for m, point in enumerate(points):
                logits = v["coder_logit"][j, t] - v["item_spread"][t] * point
                emission[j, t * len(points) + m] = log_softmax(np.append(logits, 0.0))
    share = np.log(np.outer(v["prevalence"], weights)).ravel()
    assert found == pytest.approx(expected + of_items(data, share, emission), rel=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_the_density_of_scalar_difficulty_is_the_one_written_out():
    data = simulated()
    model = SD(coder_covariates=KNOWN, nodes=5).with_data(data)
    found, v = at_a_point(model, data)
    ability = np.array(model.coder_covariates.design) @ v["coder_effect"]
    level_sd = 1.0 / math.sqrt(2)
    centre = math.log(0.7 / 0.3)
    expected = stats.dirichlet.logpdf(v["prevalence"], np.ones(2))
    expected += stats.norm.logpdf(v["coder_effect"], 0, 1).sum()
    expected += stats.truncnorm.logpdf(v["level"], -centre / level_sd, np.inf, centre, level_sd)
    expected += stats.norm.logpdf(v["contrast"][0] * math.sqrt(2), 0, 0.75)  # sums to zero
    expected += stats.halfnorm.logpdf(v["ability_scale"], 0, 1).sum()
    expected += stats.halfnorm.logpdf(v["difficulty_scale"], 0, 1)
    mean = v["level"] + v["contrast"] + ability[:, None]
    expected += stats.norm.logpdf(v["ability"], mean, v["ability_scale"]).sum()
    nodes, weights = normal_nodes(5)
    emission = np.empty((5, 10, 2))
    for j in range(5):
        for t in range(2):
            for m, node in enumerate(nodes):
                odds = v["ability"][j, t] - v["difficulty_scale"] * node
                emission[j, 5 * t + m, t] = -np.log1p(np.exp(-odds))
                emission[j, 5 * t + m, 1 - t] = -np.log1p(np.exp(odds))
    share = np.log(np.outer(v["prevalence"], weights)).ravel()
    assert found == pytest.approx(expected + of_items(data, share, emission), rel=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("labels", [2, 3])
def test_the_rows_of_logit_normal_coders_are_those_written_out(labels):
    """The truth summed out of labels from rows that are computed here, and the priors."""
    data = simulated(labels=labels)
    model = LND(coder_covariates=KNOWN).with_data(data)
    found, v = at_a_point(model, data)
    ability = np.array(model.coder_covariates.design) @ v["coder_effect"]
    lead = math.log(0.7 * (labels - 1) / 0.3)
    rows = np.empty((5, labels, labels))
    for j in range(5):
        for t in range(labels):
            logits = v["shift"][t] + v["scale"][t] * v["z"][j, t]
            logits[t] += lead + ability[j]
            rows[j, t] = log_softmax(logits)
    plain = stats.multivariate_normal(np.zeros(labels - 1), np.eye(labels - 1)).logpdf
    basis = np.linalg.svd(np.ones((1, labels)))[2][1:].T
    expected = stats.dirichlet.logpdf(v["prevalence"], np.ones(labels))
    expected += stats.norm.logpdf(v["coder_effect"], 0, 1).sum()
    expected += stats.halfnorm.logpdf(v["scale"], 0, 1).sum()
    expected += sum(plain(row @ basis / 0.5) - (labels - 1) * math.log(0.5) for row in v["shift"])
    expected += sum(plain(row @ basis) for coder in v["z"] for row in coder)
    expected += of_items(data, np.log(v["prevalence"]), rows)
    assert found == pytest.approx(expected, rel=1e-9)
    kept = {
        "prevalence": v["prevalence"], "scale": v["scale"], "coder_effect": v["coder_effect"],
        "location": v["shift"] + model.centre_logits(labels), "confusion": np.exp(rows),
    }  # fmt: skip
    again = model.pymc_values({name: value[None] for name, value in kept.items()})
    np.testing.assert_allclose(again["z"][0], v["z"], atol=1e-9)
    np.testing.assert_allclose(again["shift"][0], v["shift"], atol=1e-12)


@pytest.mark.parametrize("model", [LRE, SD, LND])
def test_without_covariates_nothing_is_another(model):
    data = simulated()
    plain = model().with_data(data)
    told = model(coder_covariates=KNOWN).with_data(data)
    assert "coder_effect" not in {each.name for each in plain.parameters(2)}
    assert "coder_term" not in plain.coords(["x", "y"])
    assert {each.name: each.dims for each in told.parameters(2)}["coder_effect"] == ("coder_term",)
    assert len(told.describe()) == len(plain.describe()) + 1
    assert plain.swappable == (model is not SD)
    assert not told.swappable


# -- fits ----------------------------------------------------------------------------------------


def test_a_model_without_covariates_says_where_they_go():
    fit = am.fit(simulated(), "dawid-skene", chains=2, draws=50, seed=1, extend=False)
    with pytest.raises(NotApplicable, match=r"ScalarDifficulty\(coder_covariates=table\)"):
        fit.effects()
    assert not any("effects()" in note for note in fit.coders().notes)


def crowd(effects, seed, n_coders=30, n_items=150, hardness=0.5):
    """Labels of coders whose log-odds of being right follow from a number and a text."""
    rng = np.random.default_rng(seed)
    years = rng.gamma(2.0, 2.0, n_coders)
    expert = rng.random(n_coders) < 0.4
    expert[:2] = True, False
    z = (years - years.mean()) / years.std()
    ability = 1.0 + effects[0] * z + effects[1] * expert + rng.normal(0.0, 0.4, n_coders)
    rows = []
    for i in range(n_items):
        truth, hard = rng.integers(2), rng.normal(0.0, hardness)
        for j in rng.choice(n_coders, 6, replace=False):
            right = rng.random() < 1.0 / (1.0 + np.exp(hard - ability[j]))
            rows.append((f"i{i}", f"c{j}", int(truth if right else 1 - truth)))
    data = am.Annotations.from_records(rows, labels=[0, 1])
    table = {
        f"c{j}": {"years": years[j], "role": "expert" if expert[j] else "novice"}
        for j in range(n_coders)
        if f"c{j}" in data.coders
    }
    return data, table


def outcome(fit, effects):
    """Effect of the number and of being an expert, whichever role is the reference."""
    table = fit.effects().table.set_index("term")
    turned = "role: novice" in table.index
    row = table.loc["role: novice" if turned else "role: expert"]
    sign = -1.0 if turned else 1.0
    return table.loc["years"], row, sign * row["effect"], sign * effects[1]


def ask(fit, folder):
    """Ask a fit with covariates for all that there is."""
    again = am.load(fit.save(folder / "fit.nc"))
    assert again.model == fit.model
    assert again.effects().table.equals(fit.effects().table)
    assert "fit.effects()" in am.report(fit, folder / "page.html").read_text("utf-8")
    from annomodels.reporting.methods import methods

    assert "regressed on columns about the coder: years" in methods(fit)
    assert "coder_effect" in fit.pymc_draws()["posterior"]
    for verb in ("gold", "items", "agreement", "p_next", "prior_sensitivity", "check", "labels"):
        assert getattr(fit, verb)() is not None


@pytest.mark.few("LogitNormalDawidSkene")
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
@pytest.mark.parametrize("model", [SD, LND])
def test_all_that_is_asked_of_a_fit_is_answered_with_effects(model, tmp_path):
    """Whatever the draws are; the effects themselves are found where they are sampled."""
    data, table = crowd((0.8, 1.0), 5, n_coders=12, n_items=60)
    fit = am.fit(data, model(coder_covariates=table), chains=2, draws=60, seed=1)
    years, role, *_ = outcome(fit, (0.8, 1.0))
    assert years["unit"].startswith("a standard deviation (")
    assert role["unit"].startswith("against ")
    effect = fit.tree["posterior"]["coder_effect"].values.reshape(120, -1)
    np.testing.assert_allclose(fit.effects().table["effect"], effect.mean(axis=0), atol=1e-9)
    ask(fit, tmp_path)


@pytest.mark.nuts
@pytest.mark.full("Compiles for a minute; reduced runs ask it of draws that are given.")
def test_effects_are_found_and_go_through_all_that_is_asked_of_a_fit(tmp_path):
    data, table = crowd((0.8, 1.0), 5)
    fit = am.fit(data, SD(coder_covariates=table), chains=2, draws=300, warmup=300, seed=1)
    years, role, expert, true = outcome(fit, (0.8, 1.0))
    assert years["low"] < 0.8 < years["high"]
    assert years["p_positive"] > 0.99
    assert abs(expert - true) < 3 * role["sd"]
    assert years["unit"].startswith("a standard deviation (")
    assert any(note.startswith("Better with years") for note in fit.coders().notes)
    ask(fit, tmp_path)


@pytest.mark.nuts
@pytest.mark.full("36 fits; reduced runs have the densities and ranks under scalar difficulty.")
@pytest.mark.parametrize("model", [LRE, SD, LND])
def test_intervals_of_effects_hold_the_truth(model):
    """Two intervals of 95 % for each crowd, of which at most four may miss: .006 that more do."""
    missed, errors = 0, []
    rng = np.random.default_rng(17)
    for n in range(12):
        effects = rng.normal(0.0, 0.8, 2)
        data, table = crowd(effects, 100 + n, 24, 120, hardness=0.0 if model is LND else 0.5)
        fit = am.fit(data, model(coder_covariates=table), chains=2, draws=250, warmup=300, seed=n)
        years, role, expert, true = outcome(fit, effects)
        missed += not years["low"] < effects[0] < years["high"]
        missed += abs(expert - true) > 1.96 * role["sd"]
        errors += [years["effect"] - effects[0], expert - true]
    assert missed <= 4
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(len(errors))
