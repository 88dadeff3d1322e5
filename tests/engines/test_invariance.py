"""Results depend neither on the order of the rows nor on names."""

import numpy as np
import pytest

import annomodels as am
from tests.engines.crowds import mean_and_error, p_truth, simulate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data():
    return simulate(np.random.default_rng(8))[0]


def _records(data):
    return list(data.to_frame().itertuples(index=False, name=None))


@pytest.mark.few("gibbs")
@pytest.mark.parametrize("engine", ["gibbs", "em"])
def test_shuffled_rows_give_the_same_draws(data, engine, rng):
    rows = _records(data)
    shuffled = [rows[n] for n in rng.permutation(len(rows))]
    again = am.Annotations.from_records(shuffled, labels=data.labels)
    options = {"chains": 2, "draws": 100, "seed": 5} | (
        {"extend": False} if engine == "gibbs" else {"starts": 3}
    )
    first, second = (
        am.fit(each, "hierarchical", engine=engine, **options) for each in (data, again)
    )
    np.testing.assert_array_equal(p_truth(first), p_truth(second))
    np.testing.assert_array_equal(
        first.tree["posterior"]["confusion"].values, second.tree["posterior"]["confusion"].values
    )


@pytest.mark.calibration
@pytest.mark.parametrize("model", ["hierarchical", "dawid-skene", "pooled"])
def test_renamed_items_coders_and_labels_move_with_their_names(data, model, rng):
    new_item = {name: f"i{n}" for name, n in zip(data.items, rng.permutation(1000), strict=False)}
    new_coder = dict(zip(data.coders, rng.permutation(data.coders), strict=True))
    new_label = {0: "z", 1: "x", 2: "y"}
    rows = [(new_item[i], str(new_coder[j]), new_label[k]) for i, j, k in _records(data)]
    renamed = am.Annotations.from_records(rows)
    where = [renamed.items.index(new_item[name]) for name in data.items]
    labels = [renamed.labels.index(new_label[k]) for k in data.labels]

    em, em_renamed = (
        am.fit(each, model, engine="em", starts=1, seed=1) for each in (data, renamed)
    )
    np.testing.assert_allclose(p_truth(em), p_truth(em_renamed)[where][:, labels], atol=2e-5)

    first, second = (am.fit(each, model, draws=1500, seed=6) for each in (data, renamed))
    a, error_a = mean_and_error(first.tree["posterior"]["prevalence"].values)
    b, error_b = mean_and_error(second.tree["posterior"]["prevalence"].values)
    assert (np.abs(a - b[labels]) < 5 * np.hypot(error_a, error_b[labels])).all()
    errors = [fit.tree["truth"]["p_truth_mcse"].values for fit in (first, second)]
    gap = p_truth(first) - p_truth(second)[where][:, labels]
    assert (
        np.abs(gap / np.maximum(np.hypot(errors[0], errors[1][where][:, labels]), 2e-3)).max() < 5
    )
