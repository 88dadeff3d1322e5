"""The crowd of ezCoref (Gupta et al. 2023): silver antecedents against majority voting and gold."""

import pytest


@pytest.fixture(scope="module")
def study(benchmark_script):
    return benchmark_script("ezcoref")


@pytest.fixture(scope="module")
def data(study, shared):
    return study.read(shared / "data" / "ezcoref")


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
