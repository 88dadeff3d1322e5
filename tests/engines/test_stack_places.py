"""A stack is the same wherever its items lie, and is not lost with a machine."""

import signal

import numpy as np
import pytest

import annomodels as am
from annomodels.engines import stacking
from tests.engines.crowds import Elsewhere, Forgetful, p_truth, simulate

pytestmark = pytest.mark.slow

OPTIONS = {"chains": 2, "draws": 60, "warmup": 25, "seed": 1}


@pytest.fixture(scope="module")
def data():
    labels, truth = simulate(np.random.default_rng(4), n_items=90, n_coders=12, per_item=4)
    return labels.with_truth({i: int(truth[labels.items.index(i)]) for i in range(25)})


@pytest.fixture(scope="module")
def reference(data):
    return am.fit(data, "stack", threads=1, **OPTIONS)


def assert_same(fit, reference):
    """To the last bit: groups of the tree, and what is said of the run."""
    assert set(fit.tree.children) == set(reference.tree.children)
    for group in ("posterior", "sample_stats", "truth", "stack", "coders"):
        found, wanted = (each.tree[group].to_dataset() for each in (fit, reference))
        assert set(found) == set(wanted)
        for name in wanted:
            np.testing.assert_array_equal(found[name].values, wanted[name].values, name)
    for name in ("dependence", "copies", "draws"):
        assert fit.tree.attrs[name] == reference.tree.attrs[name]


@pytest.mark.few("threads and parts")
@pytest.mark.parametrize(
    "where",
    [
        {"threads": 2},
        {"partitions": 4, "threads": 3},
        {"executor": Elsewhere(), "partitions": 5},
        {"executor": "threads", "threads": 2, "partitions": 3},
    ],
    ids=["threads", "parts", "elsewhere", "threads and parts"],
)
def test_here_in_threads_and_in_parts(data, reference, where):
    assert_same(am.fit(data, "stack", **where, **OPTIONS), reference)


def test_what_was_lost_with_a_machine_is_made_again(data, reference):
    """Every block, and every stage of its mixture, each time that it is needed."""
    some = {**OPTIONS, "executor": Forgetful(places=2), "partitions": 3}
    assert_same(am.fit(data, "stack", **some), reference)


@pytest.mark.calibration
def test_known_truth_that_is_plenty_teaches_by_a_part_of_it(data, reference, monkeypatch):
    monkeypatch.setattr(stacking, "MOST_KNOWN", 10)
    few = am.fit(data, "stack", threads=1, **OPTIONS)
    assert_same(am.fit(data, "stack", partitions=4, **OPTIONS), few)
    sharpness = [fit.tree["stack"]["sharpness"].values for fit in (few, reference)]
    assert sharpness[0].std() > 0.5 * sharpness[1].std()
    assert (sharpness[0] != sharpness[1]).any()


def test_a_run_that_is_interrupted_keeps_what_it_has(data, reference, monkeypatch):
    monkeypatch.setattr(stacking, "ENOUGH", 40)

    def interrupt(stage, share, message):
        if stage == "fitting" and share == 0.0:
            signal.raise_signal(signal.SIGINT)

    fit = am.fit(data, "stack", progress=interrupt, **OPTIONS)
    assert fit.tree.attrs["stopped"] == "interrupted"
    assert fit.tree["posterior"].sizes["draw"] == 40  # nobody waits for all of the coders' draws
    np.testing.assert_array_equal(p_truth(fit), p_truth(reference))


def test_fewer_draws_are_made_of_coders_where_labels_are_very_many():
    stack = am.models.Stack()
    assert stack.share_of_draws(1_000_000, 1_000, 2) == 1.0
    assert 0.25 < stack.share_of_draws(4_000_000, 1_000, 2) < 0.5
    assert stack.share_of_draws(10_000_000, 10_000, 2) == 0.25


@pytest.mark.parametrize(
    ("size", "affordable"),
    [
        ((8_000, 164, 2), True),
        ((10_000_000, 10_000, 2), True),
        ((10_000_000, 10_000, 5), True),
        ((100_000_000, 10_000, 2), False),
        ((3_200, 60, 100), False),
    ],
    ids=str,
)
def test_many_labels_are_no_reason_against_a_stack_and_dozens_of_classes_are(size, affordable):
    assert am.models.Stack().affordable(*size) == affordable
