"""Difficulties of items regressed on columns about them, against integrals of each item's own."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit, logsumexp

import annomodels as am
from annomodels.engines.pymc.handed import with_data
from annomodels.errors import AnnotationError, NotApplicable
from annomodels.models.base import n_states
from annomodels.models.catalog import from_dict
from annomodels.models.continuous.item_covariates import common_points, item_kinds, log_weights
from annomodels.models.encoded import encode
from annomodels.priors import Beta
from tests.models.densities import built, joint_of_item
from tests.models.enumeration import known_items

SD = am.models.ScalarDifficulty


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
    data, table = known_items(100)
    usual = SD(item_covariates={name: {"x": i} for i, name in enumerate(table)}).with_data(data)
    far = SD(item_covariates={name: {"x": i or 900} for i, name in enumerate(table)})
    assert usual.n_points == 84
    reach = np.ptp(np.array(far.with_data(data).item_covariates.design))
    assert reach > 9
    assert far.with_data(data).n_points == pytest.approx(84 * (10 + reach) / 16, abs=1)
    assert n_states(usual, 2) == 2 * 84 == len(usual.coords(["x", "y"])["state"])


# -- the density ---------------------------------------------------------------------------------


OPTIONS = {
    "plain": {},
    "three labels": {"by_class": True, "discrimination": 0.5, "guessing": Beta(1, 4)},
    "fixed": {"difficulty": 0.7, "difficulty_fixed": True},
    "coders too": {"coder_covariates": {name: {"years": n} for n, name in enumerate("abcde")}},
}


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("kind", OPTIONS)
def test_the_likelihood_of_an_item_is_its_integral(kind):
    data, table = known_items(8, labels=3 if "three" in kind else 2, gold=True)
    model = SD(item_covariates=table, **OPTIONS[kind]).with_data(data)
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


@pytest.mark.calibration
@pytest.mark.usefixtures("uncompiled")
def test_labels_drawn_by_the_pymc_model_are_those_of_items_of_that_difficulty():
    """All items are of the first class, coders alike: shares of the right label by item."""
    import pymc as pm

    data, table = known_items()
    model = SD(item_covariates=table).with_data(data)
    effect, scale, ability = np.array([1.2, -0.8]), 0.6, 1.0
    held = {
        "prevalence": np.array([1.0 - 1e-9, 1e-9]), "item_effect": effect,
        "difficulty_scale": scale, "ability": np.full((5, 2), ability),
    }  # fmt: skip
    drawn = pm.draw(pm.do(with_data(model, data), held)["labels"], 2000, random_seed=1)
    right = [(drawn[:, data.item == i] == 0).mean() for i in range(data.n_items)]
    x, z = np.array(model.item_covariates.design) @ effect, np.linspace(-8, 8, 801)
    weight = stats.norm.pdf(z) / stats.norm.pdf(z).sum()
    expected = expit(ability - x[:, None] - scale * z) @ weight
    np.testing.assert_allclose(right, expected, atol=0.04)
    assert np.ptp(expected) > 0.4


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_where_the_effect_is_zero_the_density_is_that_without_columns():
    data, table = known_items()
    told, plain = SD(item_covariates=table, nodes=21), SD(nodes=61)
    values = []
    for model in (told.with_data(data), plain):
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
    model = SD(item_covariates=table).with_data(data)
    codes = encode(data, kind=item_kinds(model))
    assert sorted(codes.weight.tolist()) == [1.0, 2.0, 4.0]
    assert codes.inverse[1] == codes.inverse[4] != codes.inverse[0]
    assert encode(data).n_patterns == 2
    assert (codes.kind[codes.inverse] == item_kinds(model)).all()
    assert (codes.of_patterns(np.array([1])).kind == codes.kind[1:2]).all()


# -- what is refused -----------------------------------------------------------------------------


def test_terms_that_cannot_be_told_apart_are_refused():
    data, table = known_items()
    each = {name: {"who": name} for name in table}
    SD(item_covariates={**each, "i0": {"who": "i1"}}).with_data(data)
    more = {name: {"who": name, "length": row["length"]} for name, row in table.items()}
    with pytest.raises(
        AnnotationError, match="12 terms of covariates cannot be identified from 12"
    ):
        SD(item_covariates=more).with_data(data)
    wrong = {name.upper(): row for name, row in table.items()}
    with pytest.raises(AnnotationError, match="Name items as the data do, such as i0"):
        SD(item_covariates=wrong).with_data(data)


@pytest.mark.parametrize(
    "name", ["LogisticRandomEffects", "ItemDifficulty", "LogitNormalDawidSkene", "Mace"]
)
def test_models_without_one_difficulty_say_which_model_takes_the_columns(name):
    with pytest.raises(NotApplicable, match=r"takes no item_covariates.*ScalarDifficulty"):
        getattr(am.models, name)(item_covariates={"i0": {"x": 1}})


def test_tables_may_be_the_labels_themselves_and_name_items_that_have_none():
    data, table = known_items()
    frame = pd.DataFrame([{"item": name, **row} for name, row in table.items()])
    long = pd.concat([frame, frame.iloc[::-1]])
    further = {**table, "later": {"length": 50, "genre": "poem"}}
    models = [SD(item_covariates=each).with_data(data) for each in (table, long, further)]
    assert models[0] == models[1] == models[2]
    assert from_dict(models[0].to_dict()) == models[0]
    known = models[0].item_covariates
    assert known.names == tuple(data.items)
    assert known.terms == ("length", "genre: chat")
    np.testing.assert_allclose(np.mean(known.design, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.std(known.design, axis=0)[0], 1)
