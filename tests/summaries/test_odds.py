"""Sharing log-odds out among labels where items have states besides their truth."""

import numpy as np
import pytest

from annomodels.models.states import States, marginals
from annomodels.summaries.draws import Draws, truth_probabilities
from annomodels.summaries.why import along_the_path, contributions

N_DRAWS, N_CODERS, N_LABELS, N_STATES = 3, 4, 3, 6


def draws_of(truth: np.ndarray, rng: np.random.Generator) -> Draws:
    """Draws with states; `truth` has the shape [state, truth]."""
    n_states = len(truth)
    share = rng.dirichlet(np.ones(n_states), size=N_DRAWS)
    emission = rng.dirichlet(np.ones(N_LABELS), size=(N_DRAWS, N_CODERS, n_states))
    both = [marginals(s, e, truth) for s, e in zip(share, emission, strict=True)]
    states = States(share, emission, np.broadcast_to(truth, (N_DRAWS, *truth.shape)))
    return Draws(np.stack([p for p, _ in both]), np.stack([c for _, c in both]), states)


def logp_of(draws: Draws, said: list[tuple[int, int]]) -> np.ndarray:
    return np.stack([np.log(draws.emission[:, j, :, k]) for j, k in said], axis=1)


@pytest.fixture
def soft(rng) -> Draws:
    """Six states; some say for certain what the truth is, some do not."""
    truth = np.vstack([np.eye(3), rng.dirichlet(np.ones(3), size=3)])
    return draws_of(truth, rng)


def test_parts_and_prevalence_add_up_to_the_posterior_log_odds(soft: Draws, make) -> None:
    said = [(0, 0), (1, 2), (2, 2), (3, 1)]
    rows = np.array(said)
    data = make.coded(np.zeros(4, int), rows[:, 0], rows[:, 1], 1, 4, 3)
    parts, prior = along_the_path(soft, logp_of(soft, said), 2, 0)
    posterior = np.stack([p[0] for _, p in truth_probabilities(soft, data)])
    odds = np.log(posterior[:, 2] / posterior[:, 0])
    np.testing.assert_allclose(parts.sum(axis=1) + prior, odds, rtol=1e-9)


def test_all_items_at_once_get_the_parts_that_each_gets_alone(soft: Draws, make) -> None:
    """The table of gold labels and the reasons of one label follow one rule."""
    said = [[(0, 0), (1, 2), (1, 1), (3, 1)], [(2, 0)], [(0, 2), (1, 2)]]
    rows = np.array([(i, *each) for i, labels in enumerate(said) for each in labels])
    data = make.coded(*rows.T, 4, 4, 3)
    found = contributions(soft, data, np.array([2, 0, 1, 0]), np.array([0, 1, 2, 1]))
    for i, (labels, pair) in enumerate(zip(said, [(2, 0), (0, 1), (1, 2)], strict=True)):
        alone = along_the_path(soft, logp_of(soft, labels), *pair)[0].mean(axis=0)
        coders = [coder for coder, _ in labels]
        mine = found.item == i
        each = [alone[np.array(coders) == j].sum() for j in found.coder[mine]]
        np.testing.assert_allclose(found.value[mine], each, rtol=1e-9)
    parts, prior = along_the_path(soft, np.zeros((N_DRAWS, 0, N_STATES)), 0, 1)
    assert parts.shape == (N_DRAWS, 0)
    np.testing.assert_allclose(found.prior[3], prior.mean(), rtol=1e-9)


def test_with_one_state_for_each_truth_they_are_the_log_ratios(rng) -> None:
    draws = draws_of(np.eye(3), rng)
    said = [(0, 1), (2, 2), (3, 0)]
    logp = logp_of(draws, said)
    np.testing.assert_allclose(
        along_the_path(draws, logp, 1, 2)[0], logp[:, :, 1] - logp[:, :, 2], atol=1e-12
    )


def test_the_rule_misses_next_to_nothing(soft: Draws, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [(j, k) for j, k in zip((0, 1, 2, 3) * 3, (0, 1, 0, 2) * 3, strict=True)]
    logp = logp_of(soft, said)
    coarse, _ = along_the_path(soft, logp, 0, 1)
    monkeypatch.setattr("annomodels.summaries.why.NODES", 200)
    np.testing.assert_allclose(coarse, along_the_path(soft, logp, 0, 1)[0], atol=1e-5)


def test_equal_labels_of_equal_coders_get_equal_parts(soft: Draws) -> None:
    logp = logp_of(soft, [(1, 2), (0, 0), (1, 2)])
    parts, _ = along_the_path(soft, logp, 2, 1)
    np.testing.assert_allclose(parts[:, 0], parts[:, 2])


def test_a_label_that_tells_nothing_has_no_part(soft: Draws) -> None:
    logp = logp_of(soft, [(1, 2), (0, 0)])
    logp[:, 1] = np.log(0.25)
    np.testing.assert_allclose(along_the_path(soft, logp, 2, 1)[0][:, 1], 0.0, atol=1e-6)
