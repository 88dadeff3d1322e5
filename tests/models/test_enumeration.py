"""The likelihood, P(truth) and the statistics of EM equal sums over every possible truth."""

import numpy as np
import pytest

from annomodels.engines.em import expect
from annomodels.engines.given import state_of
from annomodels.models import MODELS, resolve
from annomodels.models.confusion import ConfusionModel
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import encode
from annomodels.models.grouped import GroupedCoders
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.priors import Diagonal
from tests.models.densities import evaluate
from tests.models.enumeration import enumerate_truths, tiny

pytestmark = pytest.mark.slow

CONFUSION = [name for name, model in MODELS.items() if issubclass(model, ConfusionModel)]
# how strongly the population holds the mean of each row is learnt
LEARNT = {"learnt strengths": HierarchicalDawidSkene(population=Diagonal(50, 0.7, 10, spread=1))}
TWO_GROUPS = {
    f"two groups{what}": GroupedCoders(groups={0: "a", 2: "a"}, rest="b", population=population)
    for what, population in {
        "": Diagonal(30.0, 0.7, 10.0), ", fixed accuracy": Diagonal(20.0, 0.7),
        ", learnt strengths": Diagonal(30.0, 0.7, 10.0, spread=1.0),
    }.items()
}  # fmt: skip
LAW = {**dict(zip(CONFUSION, CONFUSION, strict=True)), **LEARNT, **TWO_GROUPS}
DAILY = [*CONFUSION, *LEARNT, "two groups, learnt strengths"]
DESIGNS = [(2, False), (3, False), (3, True)]


def _setting(name, n_labels, gold, rng):
    data = tiny(rng, n_labels=n_labels, gold=gold)
    model = resolve(name).with_data(data)
    codes = encode(data, shared=model.shared)
    state = model.sample_parameters(codes.n_rows, n_labels, rng)
    rows = np.exp(state.log_confusion).transpose(0, 2, 1)
    confusion = np.broadcast_to(rows, (data.n_coders, n_labels, n_labels))
    truth = enumerate_truths(data, np.exp(state.log_prevalence), confusion)
    return data, model, codes, state, truth


@pytest.mark.parametrize("name", CONFUSION)
@pytest.mark.parametrize("collapse", [True, False])
@pytest.mark.parametrize(("n_labels", "gold"), DESIGNS)
def test_expected_counts_of_a_pass_equal_enumeration(name, collapse, n_labels, gold, rng):
    data, model, _, state, (log_likelihood, p_truth, counts) = _setting(name, n_labels, gold, rng)
    codes = encode(data, shared=model.shared, collapse=collapse)
    got_counts, sizes, p, total = expect(codes, state)
    assert total == pytest.approx(log_likelihood, rel=1e-12)
    np.testing.assert_allclose(p[codes.inverse], p_truth, atol=1e-12)
    np.testing.assert_allclose(sizes, p_truth.sum(axis=0), atol=1e-10)
    if model.shared:
        counts = counts.sum(axis=0, keepdims=True)
    np.testing.assert_allclose(got_counts, counts, atol=1e-10)


@pytest.mark.parametrize("name", [n for n, m in MODELS.items() if issubclass(m, ConjugateModel)])
def test_sampled_truths_have_the_enumerated_frequencies(name, rng):
    from annomodels.kernels.passes import chances, sampled_pass, sums_of

    data, model, _, state, (_, p_truth, expected) = _setting(name, 3, True, rng)
    codes = encode(data, shared=model.shared, collapse=False)
    n_draws = 4000
    counts = np.zeros((codes.n_rows, 3, 3), dtype=np.int64)
    sizes = np.zeros(3, dtype=np.int64)
    p_sum, entropy = np.zeros(p_truth.shape), np.zeros(data.n_items)
    given, sums = chances(state.log_prevalence, state.log_confusion), sums_of(p_sum, entropy)
    cells, none = counts.reshape(-1, 3), np.empty((1, 0), dtype=np.int64)
    for n in range(n_draws):
        sampled_pass(
            codes.arrays, *given, None, np.uint64(1), n, 0, cells, none, sizes, none, True, sums
        )
    np.testing.assert_allclose(p_sum / n_draws, p_truth, atol=1e-10)
    error = 4.5 * np.sqrt(len(data) / n_draws)
    if model.shared:
        expected = expected.sum(axis=0, keepdims=True)
    assert np.abs(counts / n_draws - expected).max() < error
    assert np.abs(sizes / n_draws - p_truth.sum(axis=0)).max() < error


@pytest.mark.few(*(f"True-{name}" for name in DAILY))
@pytest.mark.nuts
@pytest.mark.parametrize("name", LAW)
@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.usefixtures("uncompiled")
def test_pymc_density_equals_enumeration_plus_prior(name, gold, rng):
    """The joint densities of Gibbs and PyMC are one: their difference does not vary."""
    data, model, codes, _, _ = _setting(LAW[name], 3, gold, rng)
    differences = []
    for values, prior, potential in evaluate(model, data, rng, 5, 0.3):
        confusion = np.broadcast_to(values["confusion"], (data.n_coders, 3, 3))
        enumerated = enumerate_truths(data, values["prevalence"], confusion)[0]
        assert potential == pytest.approx(enumerated, rel=1e-9)
        if isinstance(model, ConjugateModel):
            state = state_of(values)
            one = {name: np.asarray(value)[None] for name, value in values.items()}
            ours = expect(codes, state)[3] + float(model.log_prior(one)[0])
            differences.append(prior + potential - ours)
    if isinstance(model, ConjugateModel):
        assert np.ptp(differences) < 1e-8 * max(1.0, abs(differences[0]))
