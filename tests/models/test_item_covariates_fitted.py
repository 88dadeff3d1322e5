"""Fits of models whose items' difficulties are regressed on columns, through all that is asked."""

import math

import numpy as np
import pytest
from scipy.special import expit

import annomodels as am
from annomodels.errors import NotApplicable
from annomodels.models.base import sample_values
from annomodels.summaries.draws import only, state_probabilities, thinned
from annomodels.summaries.trust.held_out import held_out
from tests.models.densities import joint_of_item
from tests.models.enumeration import known_items

SD = am.models.ScalarDifficulty


@pytest.fixture(scope="module")
def small():
    """Tables of a fit whose draws are given: those of NUTS differ from processor to processor."""
    data, table = known_items(10, gold=True)
    model, rng = SD(item_covariates=table).with_data(data), np.random.default_rng(2)
    given = [sample_values(model, data.n_coders, 2, rng) for _ in range(60)]
    values = {name: np.stack([each[name] for each in given]) for name in given[0]}
    # the sums over points are as good as integrals from a spread of two steps on
    values["difficulty_scale"] = np.maximum(values["difficulty_scale"], 0.25)
    drawn = {name: v.reshape(2, 30, *v.shape[1:]) for name, v in values.items()}

    def sample(code, settings, wanted, **_):
        return {n: drawn[n] for n in wanted}, np.zeros((2, 30)), np.zeros((2, 30), bool), ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annomodels.engines.pymc.nuts.compiled", lambda *_: None)
        patch.setattr("annomodels.engines.pymc.nuts.sample", sample)
        return am.fit(data, model, chains=2, draws=30, seed=2)


def draws_of(fit):
    posterior = fit.tree["posterior"].to_dataset()
    every = {str(n): v.values.reshape(-1, *v.shape[2:]) for n, v in posterior.items()}
    return [{name: v[d] for name, v in every.items()} for d in range(len(every["prevalence"]))]


@pytest.mark.calibration
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
        np.testing.assert_allclose(column, odds if order == 0 else -odds, rtol=1e-3)


@pytest.mark.slow
def test_some_of_the_items_have_the_shares_that_they_have_among_all(small):
    data = small.data
    draws = thinned(small.tree, data, 5)
    part = only(data, np.array([7, 2]))
    whole = [p for _, p in state_probabilities(draws, data)]
    some = [p for _, p in state_probabilities(draws, part)]
    for a, b in zip(whole, some, strict=True):
        np.testing.assert_allclose(a[[7, 2]], b)
    other = data.replace(items=tuple(f"new {item}" for item in data.items))
    with pytest.raises(NotApplicable, match="no known covariates: 10 items"):
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
@pytest.mark.full("Two models to compile; reduced runs have a fit that regresses coders too.")
def test_effects_are_found_and_go_through_all_that_is_asked_of_a_fit(tmp_path):
    data, table, hard = crowd((0.8, 1.0), 5)
    fit = am.fit(data, SD(item_covariates=table), chains=2, draws=300, warmup=300, seed=1)
    found = fit.effects()
    assert found.table["of"].tolist() == ["item", "item"]
    assert sum("standardized over the items" in note for note in found.notes) == 1
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

    assert "difficulty of an item is regressed on columns about the item: length" in methods(fit)
    assert "item_effect" in fit.pymc_draws()["posterior"]
    fine = {"gold", "items", "agreement", "p_next", "prior_sensitivity", "next", "labels", "why"}
    for verb in fine | {"predictive", "check", "coders"}:
        assert getattr(fit, verb)() is not None
    assert fit.predictive().table["verdict"].eq("fits").mean() > 0.8


@pytest.mark.nuts
@pytest.mark.calibration
def test_coders_and_items_are_regressed_in_one_model():
    data, table, _ = crowd((0.8, 0.0), 5, n_items=100)
    years = {name: {"years": n} for n, name in enumerate(data.coders)}
    model = SD(item_covariates=table, coder_covariates=years)
    fit = am.fit(data, model, chains=2, draws=200, warmup=300, seed=1)
    effects = fit.effects()
    assert effects.table["of"].tolist() == ["coder", "item", "item"]
    assert [note.startswith("effect of") for note in effects.notes] == [True, False] * 2
    notes = [" ".join(summary.notes) for summary in (fit.coders(), fit.items())]
    assert "length" in notes[1]
    assert "length" not in notes[0]


@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
def test_the_check_says_which_terms_the_labels_cannot_tell():
    data, table, _ = crowd((0.3, 0.0), 8, n_items=60)
    truths = data.votes.argmax(axis=1)
    split = (data.votes > 0).all(axis=1)
    odd = {name: n < 3 for n, name in enumerate(data.items)}
    for n, name in enumerate(data.items):
        table[name] = {
            "fine": table[name]["genre"], "seldom": str(odd[name]), "one": float(n == 0),
            "class": str(truths[n]), "settled": str(not split[n]),
        }  # fmt: skip
    fit = am.fit(data, SD(item_covariates=table), chains=1, draws=20, seed=1)
    found = fit.check().table.set_index("name").loc["covariates of items"]
    assert not found["ok"]
    for reason in (
        "seldom: True (3 items with it", "nearly equals the class", "coders never disagree on items"
    ):  # fmt: skip
        assert reason in found["sentence"]
    assert "fine" not in found["sentence"]


@pytest.mark.nuts
@pytest.mark.full("30 fits; reduced runs have one fit, and ranks under scalar difficulty.")
def test_intervals_of_effects_hold_the_truth():
    """Two intervals of 95 % for each crowd, of which at most eight may miss: .004 that more do."""
    missed, errors, sds = 0, [], []
    rng = np.random.default_rng(17)
    for n in range(30):
        effects = rng.normal(0.0, 0.8, 2)
        data, table, _ = crowd(effects, 100 + n, n_items=150)
        fit = am.fit(data, SD(item_covariates=table), chains=2, draws=250, warmup=300, seed=n)
        length, genre, true = outcome(fit, effects)
        missed += not length["low"] < effects[0] < length["high"]
        missed += not genre["low"] < true < genre["high"]
        errors += [length["effect"] - effects[0], genre["effect"] - true]
        sds += [length["sd"], genre["sd"]]
    assert missed <= 8
    assert abs(np.mean(errors)) < 3 * np.std(errors) / math.sqrt(len(errors))
    assert 0.6 < np.std(errors) / np.sqrt(np.mean(np.square(sds))) < 1.5
