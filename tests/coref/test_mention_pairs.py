"""The truth is summed out rightly, Gibbs and PyMC have one definition; the crowd of ezCoref."""

import json

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.links import log_likelihood
from annomodels.models.pairs import MentionPairs, PairValues, SingleTruth
from annomodels.priors import Beta, Dirichlet, LogNormal, Pareto
from tests.coref.pair_cases import design, enumerate_truths, simulate

MODELS = {
    "pairs": MentionPairs(prevalence=Beta(2, 3), concentration=Pareto(1.5, 1.0)),
    "single": SingleTruth(prevalence=Dirichlet(0.7)),
    "single or none": SingleTruth(prevalence=Dirichlet(2.0), none=True),
}
models = pytest.mark.parametrize("name", MODELS)


def _case(name, rng, n_items=4):
    model = MODELS[name]
    codes = design(rng, n_items, 4, 3, n_classes=3, none=model.has_none)
    values = model.sample_parameters(4, 3, rng)
    simulate(model, codes, values, rng)
    return model, codes, values


@pytest.mark.slow
@models
def test_likelihood_and_truth_equal_enumeration(name, rng):
    from annomodels.kernels.decisions import count_true

    for _ in range(5):
        model, codes, values = _case(name, rng)
        total, p, number = enumerate_truths(model, codes, values)
        found, p_found = log_likelihood(model, codes, values)
        assert found == pytest.approx(total, rel=1e-10)
        np.testing.assert_allclose(p_found, p, rtol=1e-8, atol=1e-12)
        counted = np.zeros_like(number)
        none = 3 if model.single else -1
        count_true(codes.firsts, codes.cls, none, p_found, counted)
        np.testing.assert_allclose(counted, number, atol=1e-10)


@pytest.mark.few("pairs", "single")
@pytest.mark.slow
@models
@pytest.mark.usefixtures("uncompiled")
def test_joint_densities_of_gibbs_and_pymc_are_one(name, rng):
    model, codes, _ = _case(name, rng, n_items=8)
    built = model.build(codes, {})
    names = ["prevalence", "mean", "concentration", "rate"]
    wanted = built.replace_rvs_by_values([built["decisions"], *(built[each] for each in names)])
    logp = built.compile_fn(
        [built.logp(jacobian=False), *wanted], inputs=built.value_vars, mode="FAST_COMPILE"
    )
    start = built.initial_point()
    for _ in range(5):
        point = {key: value + rng.normal(0, 0.4, np.shape(value)) for key, value in start.items()}
        total, potential, *drawn = map(np.asarray, logp(point))
        values = PairValues(*drawn)
        likelihood = log_likelihood(model, codes, values)[0]
        assert float(potential) == pytest.approx(likelihood, rel=1e-9)
        assert float(total) == pytest.approx(likelihood + model.log_prior(vars(values)), rel=1e-9)


@pytest.mark.slow
@models
def test_prior_draws_have_the_moments_that_the_model_states(name, rng):
    model = MODELS[name]
    anchor = model.anchor(3)
    drawn = [model.sample_parameters(2, 3, rng) for _ in range(4000)]
    mean = np.mean([values.mean for values in drawn], axis=0)
    np.testing.assert_allclose(mean, anchor[:, 0] / anchor.sum(axis=1), atol=0.015)
    rate = np.mean([values.rate for values in drawn], axis=0)
    np.testing.assert_allclose(rate, np.tile(mean, (2, 1)), atol=0.025)
    share = np.mean([values.prevalence for values in drawn], axis=0)
    prior = model.prevalence_prior(3)
    expected = prior[:, 1] / (prior.sum() if model.single else prior.sum(axis=1))
    np.testing.assert_allclose(share, expected, atol=0.02)


@pytest.mark.slow
def test_priors_exclude_the_swap_of_true_and_false(rng):
    model = MentionPairs()
    means = np.array([model.sample_parameters(1, 1, rng).mean for _ in range(20_000)])
    # worse than chance: sensitivity below 1 - specificity
    assert (means.sum(axis=1) < 1).mean() < 0.01


@models
def test_models_come_back_from_plain_data_and_declare_their_draws(name, rng):
    from annomodels.models.catalog import from_dict

    model, codes, values = _case(name, rng)
    assert from_dict(json.loads(json.dumps(model.to_dict()))) == model
    sizes = {
        "class": model.n_weights(3),
        "coder": 4,
        "kind": len(model.coords(list("abc"))["kind"]),
    }
    for each in model.parameters()[:4]:
        assert getattr(values, each.name).shape == tuple(sizes[dim] for dim in each.dims)
    assert [each.name for each in model.parameters()[4:]] == ["log_likelihood"]
    assert am.models.resolve("pairs") == am.coref.MentionPairs()
    data = am.datasets.load("anesthesia")
    with pytest.raises(am.errors.NotApplicable, match=r"am\.coref\.pairs"):
        am.fit(data, model)
    with pytest.raises(am.errors.NotApplicable, match="Use pairs or single"):
        am.fit(codes, "interval")


@models
def test_models_describe_their_priors(name):
    text = " ".join(MODELS[name].describe())
    assert ("none of these" in text) == MODELS[name].has_none
    assert ("Pareto" in text) == isinstance(MODELS[name].concentration, Pareto)
    assert ("log-normal" in text) == isinstance(MODELS[name].concentration, LogNormal)


@pytest.fixture(scope="module")
def study(benchmark_script):
    return benchmark_script("ezcoref")


@pytest.fixture(scope="module")
def data(study, shared):
    return study.read(shared / "data" / "ezcoref")


@pytest.mark.slow
def test_majority_voting_has_the_accuracy_on_record(study, data):
    labels, gold = data
    assert study.majority(labels, gold).accuracy == pytest.approx(0.8347, abs=5e-5)


@pytest.mark.calibration
@pytest.mark.parametrize("name", ["mention-pair", "single-truth"])
def test_models_beat_majority_voting_on_the_whole_set(study, data, name):
    labels, gold = data
    fit = study.fitted(study.VARIANTS[name], labels, chains=1, draws=200, warmup=150)
    found = study.judged(fit, gold)
    assert found.n == 5555
    votes = study.majority(labels, gold)
    assert found.accuracy > votes.accuracy
    # what one more reader would say is better than shares of votes in every respect
    forecast = study.judged(fit, gold, "p_next")
    assert forecast.accuracy == found.accuracy
    assert forecast.log_loss < 0.65 * votes.log_loss
    assert forecast.ece < votes.ece < found.ece
