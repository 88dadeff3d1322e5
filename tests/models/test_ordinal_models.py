"""Ordinal and graded response models equal their definitions, by brute force."""

import numpy as np
import pytest
from scipy.special import expit, ndtr
from scipy.stats import dirichlet, lognorm, norm

from annomodels.models.continuous.cutpoints import interval_logp
from annomodels.models.continuous.graded_response import GradedResponse
from annomodels.models.continuous.ordinal import Ordinal
from tests.models.densities import enumerated, evaluate, half_normal_logpdf
from tests.models.enumeration import tiny


def label_probability(data, values, n, x):
    """P(label n | place x) straight from the cumulative probabilities."""
    j, y = data.coder[n], data.label[n]
    edges = np.concatenate([[-np.inf], values["cuts"], [np.inf]])
    z = (edges[y : y + 2, None] - x - values["shift"][j]) / values["spread"][j]
    lapse = values["lapse"][j]
    return (1 - lapse) * (expit(z[1]) - expit(z[0])) + lapse * values["lapse_label"][y]


def coders_log_prior(values):
    prior = Ordinal()
    total = half_normal_logpdf(values["shift_scale"], prior.shift_scale)
    total += half_normal_logpdf(values["spread_scale"], prior.spread_scale)
    total += lognorm.logpdf(values["typical_spread"], prior.typical_scale, scale=prior.typical)
    for name in ("shift_z", "spread_z", "lapse_z"):
        total += norm.logpdf(values[name]).sum()
    total += norm.logpdf(values["lapse_location"], np.log(0.03 / 0.97))
    total += half_normal_logpdf(values["lapse_scale"], 1.5)
    total += dirichlet.logpdf(values["lapse_label"], np.ones(len(values["lapse_label"])))
    odds = np.exp(values["lapse_location"] + values["lapse_scale"] * values["lapse_z"])
    np.testing.assert_allclose(values["lapse"], odds / (1 + odds))
    return total + dirichlet.logpdf(values["prevalence"], np.ones(len(values["prevalence"])))


@pytest.mark.nuts
@pytest.mark.parametrize(("n_labels", "gold"), [(2, False), (4, True)])
def test_ordinal_density_equals_enumeration(n_labels, gold, rng):
    data = tiny(rng, n_labels=n_labels, gold=gold)
    classes = np.arange(n_labels)
    for values, prior, potential in evaluate(Ordinal(), data, rng):

        def of_item(i, v=values):
            mine = np.flatnonzero(data.item == i)
            return np.prod([label_probability(data, v, n, classes) for n in mine], axis=0)

        assert potential == pytest.approx(enumerated(data, values["prevalence"], of_item), rel=1e-9)
        cuts = norm.logpdf(values["cuts"], np.arange(n_labels - 1) + 0.5, 0.25).sum()
        assert prior == pytest.approx(coders_log_prior(values) + cuts, abs=1e-6)
        assert (np.diff(values["cuts"]) > 0).all()


@pytest.mark.nuts
@pytest.mark.parametrize("gold", [False, True])
def test_graded_response_density_equals_integration(gold, rng):
    """Every item is integrated over the stretch of each class, on a fine grid of its own."""
    data = tiny(rng, n_labels=3, gold=gold)
    x = np.linspace(-7, 7, 20_001)
    step = x[1] - x[0]
    for values, prior, potential in evaluate(GradedResponse(nodes=321), data, rng):
        edges = np.concatenate([[-np.inf], values["cuts"], [np.inf]])
        inside = (x > edges[:-1, None]) & (x <= edges[1:, None])

        def of_item(i, v=values, inside=inside):
            mine = np.flatnonzero(data.item == i)
            labels = np.prod([label_probability(data, v, n, x) for n in mine], axis=0)
            return (inside * norm.pdf(x) * labels).sum(axis=1) * step

        ones = np.ones(3)  # the stretch holds the prevalence already
        assert potential == pytest.approx(enumerated(data, ones, of_item), abs=5e-3)
        assert prior == pytest.approx(coders_log_prior(values), abs=1e-6)
        np.testing.assert_allclose(np.diff(ndtr(edges)), values["prevalence"], atol=1e-8)


def _graded_values(rng, n_coders=6, n_labels=4):
    prevalence = rng.dirichlet(np.full(n_labels, 5.0), 1)
    from scipy.special import ndtri

    return {
        "prevalence": prevalence,
        "cuts": ndtri(prevalence.cumsum(axis=1)[:, :-1]),
        "shift": rng.normal(0, 0.2, (1, n_coders)),
        "spread": rng.lognormal(np.log(0.3), 0.2, (1, n_coders)),
        "lapse": rng.beta(1, 20, (1, n_coders)),
        "lapse_label": rng.dirichlet(np.ones(n_labels), 1),
    }


def test_more_points_hardly_change_the_graded_response_model(rng):
    values = _graded_values(rng)
    labels = rng.integers(4, size=(40, 6))

    def log_likelihoods(nodes):
        found = GradedResponse(nodes=nodes).states(values)
        of_label = np.log(found.emission[0])[np.arange(6), :, labels].sum(axis=1)
        return np.logaddexp.reduce(of_label + np.log(found.share[0]), axis=1)

    gap = np.abs(log_likelihoods(41) - log_likelihoods(641))
    assert gap.mean() < 0.005
    assert gap.max() < 0.05
    assert np.abs(log_likelihoods(7) - log_likelihoods(641)).max() > 0.05


def test_classes_of_the_graded_response_model_have_their_prevalence(rng):
    values = _graded_values(rng)
    found = GradedResponse().states(values)
    np.testing.assert_allclose(found.share[0].sum(), 1.0, atol=1e-12)
    np.testing.assert_allclose(found.truth[0].sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(found.share[0] @ found.truth[0], values["prevalence"][0], atol=1e-12)
    done = GradedResponse().result_values({name: value[0] for name, value in values.items()})
    np.testing.assert_allclose(done["confusion"].sum(axis=2), 1.0, atol=1e-9)


def test_far_tails_keep_their_digits():
    rows = interval_logp(np.array([[0.0], [40.0]]), np.array([-1.0, 1.0]), 0.0, 0.1, np)
    assert np.isfinite(rows).all()
    assert rows[1, 0] == pytest.approx(-410.0)
    assert rows[1, 1] == pytest.approx(-390.0)
    assert rows[1, 2] == pytest.approx(0.0, abs=1e-100)


def test_reversing_the_scale_reverses_everything(rng):
    """The ordinal models know an order of the labels, not a direction."""
    values = _graded_values(rng)
    mirrored = {
        "prevalence": values["prevalence"][:, ::-1],
        "cuts": -values["cuts"][:, ::-1],
        "shift": -values["shift"],
        "spread": values["spread"],
        "lapse": values["lapse"],
        "lapse_label": values["lapse_label"][:, ::-1],
    }
    one = GradedResponse().states(values)
    other = GradedResponse().states(mirrored)
    np.testing.assert_allclose(other.emission[:, :, ::-1, ::-1], one.emission, atol=1e-12)
    np.testing.assert_allclose(other.truth[:, ::-1, ::-1], one.truth, atol=1e-9)
    place, cuts = np.arange(4)[:, None], np.array([0.4, 1.6, 2.7])
    up = interval_logp(place, cuts, 0.2, 0.5, np)
    down = interval_logp(place, (3 - cuts)[::-1], -0.2, 0.5, np)
    np.testing.assert_allclose(down[::-1, ::-1], up, atol=1e-12)


def test_draws_from_the_prior_are_matrices_of_ordered_labels(rng):
    state = Ordinal().sample_parameters(5, 4, rng)
    rows = np.exp(state.log_confusion)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    # a higher class makes labels above any cut more likely, for every coder
    above = rows[:, ::-1].cumsum(axis=1)[:, :-1]
    assert (np.diff(above, axis=2) > -1e-12).all()
    assert np.diff(above, axis=2).max() > 0.01
