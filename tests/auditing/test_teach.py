"""What an audit teaches P(truth): scored by items that it was not taught by."""

from types import SimpleNamespace

import numpy as np
import pytest

from annomodels.auditing import estimate as teach
from annomodels.auditing.answers import Answers


@pytest.fixture
def lesson(world, monkeypatch):
    """Teach by a made-up layer that sharpens P(truth) by what it is given, and keep its calls."""
    p = world.fit.tree["truth"]["p_truth"].values
    fit = SimpleNamespace(tree=world.fit.tree, seed=1, data=world.fit.data)
    calls = []

    def layered(fit, stack, item, truth, of):
        calls.append((item, truth, of))
        powers = np.linspace(0.1, 3, 30)
        each = p[None] ** powers[:, None, None]
        each /= each.sum(axis=2, keepdims=True)
        best = np.log(each[:, item, truth]).sum(axis=1).argmax()
        return each[best][of]

    monkeypatch.setattr(teach, "_layered", layered)
    monkeypatch.setattr(teach, "stacked", lambda tree: "a stack")
    monkeypatch.setattr(teach, "beliefs", lambda fit: fit.said)

    def taught(said, item, truth):
        calls.clear()
        fit.said = said
        none = np.empty(0, dtype=np.int64)
        return teach.taught(fit, Answers(item, truth, none, none, ())), list(calls)

    return p, taught


def test_a_lesson_is_used_where_it_predicts_held_out_items_better(world, lesson):
    p, taught = lesson
    timid = p**0.2 / (p**0.2).sum(axis=1, keepdims=True)
    item = np.random.default_rng(1).choice(400, 80, replace=False)
    found, _ = taught(timid, item, world.truth[item])
    assert found.used
    assert found.after < found.before - 0.05
    np.testing.assert_array_equal(found.p_truth[item].argmax(axis=1), world.truth[item])
    # answers at random teach nothing of what is already flat
    flat = np.full_like(p, 0.5)
    found, _ = taught(flat, item, np.random.default_rng(2).integers(2, size=80))
    assert not found.used
    others = np.setdiff1d(np.arange(400), item)
    np.testing.assert_array_equal(found.p_truth[others], flat[others])


def test_no_item_is_scored_by_what_it_taught_itself(world, lesson):
    p, taught = lesson
    item = np.arange(50)
    _, calls = taught(p**0.5, item, world.truth[item])
    held = calls[: teach.FOLDS]
    assert sorted(np.concatenate([of for *_, of in held])) == list(item)
    for given, truth, of in held:
        assert not np.intersect1d(given, of).size
        np.testing.assert_array_equal(truth, world.truth[given])
