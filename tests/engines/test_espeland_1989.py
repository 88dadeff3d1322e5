"""Five dentists on X-rays (Espeland & Handelman 1989) under the models of Carpenter (2008)."""

import numpy as np
import pytest

import annomodels as am
from tests.engines.crowds import draws
from tests.engines.patterns import by_votes, chi_square

pytestmark = pytest.mark.slow

VOTES = {
    "by coder": (1834.6, 1156.9, 313.1, 289.7, 215.9, 58.8),
    "difficulty": (1870.4, 1078.9, 399.8, 241.6, 184.0, 94.3),
}
SENSITIVITY = (0.405, 0.714, 0.599, 0.490, 0.915)
SPECIFICITY = (0.989, 0.898, 0.986, 0.968, 0.695)


@pytest.fixture(scope="module")
def caries():
    return am.datasets.load("caries")


@pytest.fixture(scope="module")
def by_coder(caries):
    return am.fit(caries, am.models.HierarchicalDawidSkene.carpenter(), draws=1000, seed=1)


@pytest.fixture(scope="module")
def difficulty(caries):
    model = am.models.ScalarDifficulty(difficulty=1.0, difficulty_fixed=True)
    return am.fit(caries, model, chains=2, seed=1)


def test_dawid_skene_does_not_give_the_patterns(caries, by_coder):
    assert chi_square(by_coder, caries) == pytest.approx(131, abs=3)
    np.testing.assert_allclose(by_votes(by_coder, caries), VOTES["by coder"], atol=2.5)


def test_nor_does_one_matrix_for_all(caries):
    pooled = am.fit(caries, "pooled", draws=300, seed=1)
    assert chi_square(pooled, caries) == pytest.approx(3177, abs=15)


def test_estimates_under_the_beta_binomial_by_coder(by_coder):
    pi = draws(by_coder, "prevalence")[:, 1]
    np.testing.assert_allclose(np.quantile(pi, [0.025, 0.5, 0.975]), (0.18, 0.20, 0.21), atol=0.006)
    assert pi.mean() == pytest.approx(0.196, abs=0.0012)
    confusion = draws(by_coder, "confusion").mean(axis=0)
    np.testing.assert_allclose(confusion[:, 1, 1], SENSITIVITY, atol=0.004)
    np.testing.assert_allclose(confusion[:, 0, 0], SPECIFICITY, atol=0.003)
    means, scales = draws(by_coder, "population"), draws(by_coder, "concentration")
    # the report prints two digits; its own Monte Carlo error is the larger one
    for k, mean, scale in (
        (0, (0.58, 0.82, 0.93), (1.0, 2.1)),
        (1, (0.37, 0.60, 0.79), (1.1, 2.6)),
    ):
        got = np.quantile(means[:, k, k], [0.025, 0.5, 0.975])
        np.testing.assert_allclose(got, mean, atol=0.025)
        np.testing.assert_allclose(np.quantile(scales[:, k], [0.025, 0.5]), scale, atol=0.15)


def test_the_check_rejects_it_and_names_difficulty(by_coder):
    found = by_coder.check()
    assert found.verdict == "needs review"
    rejected = found.table.query("not ok").name.tolist()
    assert "errors on the same items" in rejected
    assert "next model" in rejected
    assert any('am.fit(data, "scalar-difficulty")' in sentence for sentence in found.sentences)


@pytest.mark.calibration
@pytest.mark.nuts
def test_difficulty_gives_the_patterns(caries, difficulty):
    assert chi_square(difficulty, caries) < 75
    np.testing.assert_allclose(by_votes(difficulty, caries), VOTES["difficulty"], atol=6)
    assert difficulty.tree.attrs["rhat_max"] < 1.02
    table = difficulty.check().table.set_index("name")
    assert table.loc["votes, chi-square", "ok"]
    assert table.loc["spread of the votes", "ok"]


@pytest.mark.calibration
@pytest.mark.nuts
def test_difficulty_predicts_new_items_better(by_coder, difficulty):
    table = am.compare({"by coder": by_coder, "difficulty": difficulty}).table
    elpd = table.set_index("model")["elpd"]
    assert elpd["by coder"] == pytest.approx(-7476.4, abs=1.5)
    assert elpd["difficulty"] == pytest.approx(-7436.8, abs=2.5)
