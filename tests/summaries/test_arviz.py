"""ArviZ works on what `fit.to_arviz()` hands out, and its numbers are those of our tables."""

import arviz as az
import numpy as np
import pytest

import annomodels as am

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Estimated shape parameter"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:arviz_plots"),
]


@pytest.fixture(scope="module")
def data():
    return am.datasets.load("anesthesia")


@pytest.mark.few("stack")
@pytest.mark.parametrize("model", ["dawid-skene", "pooled", "consensus", "stack"])
def test_summary_forest_and_loo_of_classes(data, model):
    fit = am.fit(data, model, chains=2, draws=151, seed=1)
    tree = fit.to_arviz()
    summary = az.summary(tree, var_names="accuracy", round_to="none")
    assert [name.split("[")[1][:-1] for name in summary.index] == list(data.coders)
    np.testing.assert_allclose(summary["mean"], fit.coders().table["accuracy"], atol=1e-12)
    assert len(az.summary(tree)) > len(summary)
    figure = az.plot_forest(tree, var_names="accuracy", backend="none")
    assert figure.viz is not None
    theirs, ours = az.loo(tree), am.compare({"one": fit, "again": fit}).table.iloc[0]
    assert theirs.n_data_points == data.n_items
    found = theirs.elpd, theirs.se, theirs.p
    np.testing.assert_allclose(found, ours[["elpd", "se", "parameters"]].astype(float), atol=1e-6)


def test_known_truth_and_thinned_draws_agree_too(data, monkeypatch):
    from annomodels.summaries import draws

    known = data.with_truth({data.items[0]: data.labels[1]})
    fit = am.fit(known, "hierarchical", chains=3, draws=200, seed=1)
    monkeypatch.setattr(draws, "BUDGET", 8 * 5 * 16 * 400)
    monkeypatch.setattr(draws.thinned, "__defaults__", (None, draws.BUDGET))
    tree = fit.to_arviz()
    assert dict(tree["log_likelihood"].sizes) == {"chain": 3, "draw": 133, "item": 45}
    ours = am.compare({"one": fit, "again": fit}).table["elpd"][0]
    assert az.loo(tree).elpd == pytest.approx(ours, abs=1e-6)


def test_numbers_have_draws_and_no_density_of_labels(data):
    fit = am.fit(data.replace(scale="interval"), "interval", chains=2, draws=100, seed=1)
    tree = fit.to_arviz()
    assert set(tree.children) == {"posterior", "sample_stats"}
    mean = az.summary(tree, var_names="bias", round_to="none")["mean"]
    np.testing.assert_allclose(mean, fit.coders().table["bias"], atol=1e-12)


def test_a_fit_without_draws_says_so(data):
    fit = am.fit(data, "dawid-skene", engine="em", seed=1)
    with pytest.raises(am.errors.NotApplicable, match="em gives one estimate and no draws"):
        fit.to_arviz()
    sampled = am.fit(data, "mace", chains=2, draws=100, seed=1)
    assert "log_likelihood" not in sampled.to_arviz(log_likelihood=False).children
