"""The next label of an item: by hand, with a label left out, and against labels held out."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln

import annomodels as am
from annomodels.errors import NotApplicable
from annomodels.io.writers.layouts import gold_list
from annomodels.summaries.p_next import Mixture, p_next, predicted, smoothed

OPTIONS = {"chains": 2, "draws": 200, "warmup": 100, "seed": 1}


@pytest.fixture(scope="module")
def small(make):
    world = make.world(seed=2, n_items=60, n_coders=6, n_labels=3, per_item=4, accuracy=0.75)
    return world, make.exact(world.data, world.prevalence, world.confusion)


def test_draws_predict_as_by_hand(small):
    world, tree = small
    data, p = world.data, tree["truth"]["p_truth"].values
    found = predicted(tree, data).sources[1]
    volume = np.bincount(data.coder, minlength=data.n_coders) / len(data)
    mean = np.tensordot(volume, world.confusion, axes=1)
    np.testing.assert_allclose(found.anyone, p @ mean, atol=1e-9)
    item, coder = np.array([0, 7, 7]), np.array([1, 0, 5])
    by_hand = [p[i] @ world.confusion[j] for i, j in zip(item, coder, strict=True)]
    np.testing.assert_allclose(found.of_coders(item, coder), by_hand, atol=1e-9)


def test_a_label_is_held_out_as_if_it_had_not_been_given(small):
    world, tree = small
    data = world.data
    held = predicted(tree, data).sources[1].held
    volume = np.bincount(data.coder, minlength=data.n_coders) / len(data)
    mean = np.tensordot(volume, world.confusion, axes=1)
    for n in (0, 5, 100):
        others = np.flatnonzero((data.item == data.item[n]) & (np.arange(len(data)) != n))
        p = world.prevalence * world.confusion[data.coder[others], :, data.label[others]].prod(0)
        p /= p.sum()
        for k, rows in enumerate((mean, world.confusion[data.coder[n]])):
            assert held[k, n] == pytest.approx(np.log((p @ rows)[data.label[n]]), abs=1e-9)


def test_shares_hold_a_label_out_too(small):
    data = small[0].data
    shares = predicted(small[1], data).sources[0]
    votes = data.votes.astype(float)
    mixture = smoothed(votes)
    for n in (0, 31):
        less = votes[data.item[n]].copy()
        less[data.label[n]] -= 1
        expected = mixture.predict(less[None])[0, data.label[n]]
        assert shares.held[0, n] == pytest.approx(np.log(expected))


def test_a_mixture_is_dirichlet_multinomial():
    mixture = Mixture(np.array([[2.0, 1.0], [0.5, 4.0]]), np.array([0.3, 0.7]))
    counts = np.array([[3.0, 1.0]])

    def evidence(n):
        a, total = mixture.alpha, mixture.alpha.sum(1)
        parts = gammaln(total) - gammaln(total + n.sum()) + (gammaln(a + n) - gammaln(a)).sum(1)
        return mixture.weight @ np.exp(parts)

    by_hand = [evidence(counts[0] + one) / evidence(counts[0]) for one in np.eye(2)]
    np.testing.assert_allclose(mixture.predict(counts)[0], by_hand)


def test_items_of_two_kinds_have_two_components_and_one_kind_has_one(rng):
    plain = rng.multinomial(5, rng.dirichlet([3, 3], size=300))
    assert len(smoothed(plain).weight) == 1
    two = np.concatenate([np.tile([8, 0], (100, 1)), rng.multinomial(8, [0.5, 0.5], size=100)])
    assert len(smoothed(two).weight) > 1


def test_rows_are_distributions_and_name_what_was_asked(small):
    world, tree = small
    data = world.data
    by_item = p_next(tree, data)
    names = [f"p_next_{label}" for label in data.labels]
    assert list(by_item.table.columns) == ["item", *names]
    np.testing.assert_allclose(by_item.table[names].sum(axis=1), 1.0)
    by_coder = p_next(tree, data, by="coder", items=["i3", "i1"], coders="c2").table
    assert by_coder[["item", "coder"]].values.tolist() == [["i3", "c2"], ["i1", "c2"]]
    np.testing.assert_allclose(by_coder[names].sum(axis=1), 1.0)
    with pytest.raises(NotApplicable, match="no coder 'c9'"):
        p_next(tree, data, by="coder", coders=["c9"])
    with pytest.raises(NotApplicable, match="by='coder'"):
        p_next(tree, data, coders=["c1"])


def test_rows_of_all_pairs_are_refused_where_they_are_too_many(small, monkeypatch):
    from annomodels.summaries import p_next as module

    monkeypatch.setattr(module, "MOST_ROWS", 100)
    with pytest.raises(NotApplicable, match="60 items by 6 coders are 360 rows"):
        p_next(small[1], small[0].data, by="coder")


def of_kinds(rng, n_items=300, n_coders=12):
    """Items that all read as "a", as "b", or either way; some coders prefer "b"."""
    share = rng.choice([0.05, 0.5, 0.95], n_items)
    lean = rng.normal(0, 2, n_coders)
    rows = []
    for i in range(n_items):
        for j in rng.permutation(n_coders)[:6]:
            p = 1 / (1 + np.exp(-np.log(share[i] / (1 - share[i])) - lean[j]))
            rows.append((i, int(j), "ab"[int(rng.random() < p)]))
    return rows


@pytest.mark.calibration
@pytest.mark.few("stack")
@pytest.mark.parametrize("model", ["hierarchical", "stack", "ambiguous"])
def test_labels_held_out_are_predicted_better_than_by_their_shares(model):
    rows = of_kinds(np.random.default_rng(1), 1500)
    out, told = rows[::6], [row for n, row in enumerate(rows) if n % 6]
    fit = am.fit(am.Annotations.from_records(told), model, **OPTIONS)
    votes = fit.data.votes
    shares = (votes + 0.5) / (votes + 0.5).sum(axis=1, keepdims=True)
    by_item = fit.p_next().table.set_index("item")
    by_coder = fit.p_next("coder").table.set_index(["item", "coder"])
    place = {item: n for n, item in enumerate(fit.data.items)}
    loss = np.array(
        [
            [
                -np.log(shares[place[i], "ab".index(k)]),
                -np.log(by_item.loc[i, f"p_next_{k}"]),
                -np.log(by_coder.loc[(i, j), f"p_next_{k}"]),
            ]
            for i, j, k in out
        ]
    ).mean(axis=0)
    assert loss[1] < loss[0]
    assert loss[2] < 0.95 * loss[1]


@pytest.mark.slow
def test_a_saved_stack_predicts_the_same(tmp_path, rng):
    fit = am.fit(am.Annotations.from_records(of_kinds(rng, 40)), "stack", **OPTIONS)
    back = am.load(fit.save(tmp_path / "fit.nc"))
    pd.testing.assert_frame_equal(fit.p_next().table, back.p_next().table)
    assert "hierarchical" in fit.p_next().notes[0]


def test_a_label_may_be_called_next():
    row = {"item": ["t"], "label": ["a"], "probability": [0.6]}
    gold = gold_list(pd.DataFrame(row | {"p_a": [0.6], "p_b": [0.4], "p_next_a": [0.7]}))
    assert gold.labels == ("a", "b")
    assert gold.items[0].predicted == {"a": 0.7}
    gold = gold_list(pd.DataFrame(row | {"p_b": [0.6], "p_next_a": [0.4]}))
    assert gold.labels == ("b", "next_a")
