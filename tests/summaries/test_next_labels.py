"""Which labels to ask for next: gains against enumeration, spending, and what it brings."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import annomodels as am
from annomodels.models.states import States
from annomodels.summaries.draws import Draws, thinned, truth_probabilities
from annomodels.summaries.next_labels import (
    allocate,
    beliefs,
    coder_bits,
    gains,
    most_labels,
    next_labels,
    outcomes,
    steps,
)

pytestmark = pytest.mark.slow


def joint_by_enumeration(data, share, emission, truth, item, says, m):
    """P(truth, labels y_1 .. y_m) of an item, every factor multiplied out; labels -> [truth].

    `says` lists (probability, coder): who gives each further label, chosen anew each time.
    """
    n_samples, n_states = share.shape
    found = {}
    for labels in itertools.product(range(data.n_labels), repeat=m):
        total = np.zeros(truth.shape[2])
        for s in range(n_samples):
            for z in range(n_states):
                seen = share[s, z]
                norm = 0.0
                for other in range(n_states):
                    p = share[s, other]
                    for n in np.flatnonzero(data.item == item):
                        p *= emission[s, data.coder[n], other, data.label[n]]
                    norm += p
                for n in np.flatnonzero(data.item == item):
                    seen *= emission[s, data.coder[n], z, data.label[n]]
                p = seen / norm / n_samples
                for y in labels:
                    p *= sum(w * emission[s, j, z, y] for w, j in says)
                total += p * truth[s, z]
        found[labels] = total
    return found


def information(joint):
    """Mutual information of truth and outcome in bits."""
    table = np.array(list(joint.values()))
    total = 0.0
    for y, k in np.ndindex(*table.shape):
        if table[y, k] > 0:
            total += table[y, k] * math.log2(table[y, k] / (table[y].sum() * table[:, k].sum()))
    return total


def tiny(rng, n_labels, n_states):
    """Few labels and few draws of a model whose items have states."""
    rows = [(i, j, int(rng.integers(n_labels))) for i in range(3) for j in range(2 + i % 2)]
    rows.append((9, 3, 0))
    data = am.Annotations.from_records(rows, labels=list(range(n_labels)))
    n_samples = 3
    share = rng.dirichlet(np.ones(n_states), n_samples)
    emission = rng.dirichlet(np.ones(n_labels), (n_samples, data.n_coders, n_states))
    if n_states == n_labels:
        truth = np.broadcast_to(np.eye(n_labels), (n_samples, n_labels, n_labels))
        return data, Draws(share, emission), truth
    truth = rng.dirichlet(np.ones(n_labels), (n_samples, n_states))
    truth[:, 0] = np.eye(n_labels)[0]
    plain = share[:, :n_labels], emission[:, :, :n_labels]
    return data, Draws(*plain, States(share, emission, truth)), truth


@pytest.mark.parametrize(("n_labels", "n_states"), [(2, 2), (3, 3), (2, 5), (3, 4)])
def test_gains_equal_enumeration_of_everything_that_may_be_said(rng, n_labels, n_states):
    data, draws, truth = tiny(rng, n_labels, n_states)
    weight = rng.dirichlet(np.ones(data.n_coders))
    says = list(zip(weight, range(data.n_coders), strict=True))
    typical = np.einsum("j,sjzl->szl", weight, draws.emission)
    items = np.array([2, 0])
    ((_, state),) = beliefs(draws, data, items)
    gold = gains(draws, state, typical, 3, "gold")
    bits = gains(draws, state, typical, 3, "bits")
    for row, item in enumerate(items):
        for m in (1, 2, 3):
            joint = joint_by_enumeration(data, draws.share, draws.emission, truth, item, says, m)
            now = sum(joint.values())
            expected = sum(p.max() for p in joint.values()) - now.max()
            assert gold[row, m - 1] == pytest.approx(expected, abs=1e-11)
            assert bits[row, m - 1] == pytest.approx(information(joint), abs=1e-11)


@pytest.mark.parametrize(("n_labels", "n_states"), [(2, 2), (3, 3), (2, 5)])
def test_what_a_coder_tells_equals_enumeration(rng, n_labels, n_states):
    data, draws, truth = tiny(rng, n_labels, n_states)
    items = np.arange(data.n_items)
    coders = np.array([3, 0])
    ((_, state),) = beliefs(draws, data, items)
    found = coder_bits(draws, state, coders)
    for i, (column, j) in itertools.product(items, enumerate(coders)):
        joint = joint_by_enumeration(data, draws.share, draws.emission, truth, i, [(1.0, j)], 1)
        assert found[i, column] == pytest.approx(information(joint), abs=1e-11)


def test_beliefs_come_in_blocks_and_leave_known_gold_aside(make):
    world = make.world(n_items=20, n_coders=5, per_item=3)
    data = world.data.replace(gold=np.r_[0, np.full(19, -1)])
    draws = thinned(make.gibbs(world.data, draws=4, warmup=5), data)
    items = np.array([7, 0, 3, 12])
    ((_, whole),) = beliefs(draws, data, items)
    parts = list(beliefs(draws, data, items, budget=1))
    assert [(s.start, s.stop) for s, _ in parts] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    np.testing.assert_allclose(np.concatenate([p for _, p in parts]), whole)
    assert 0 < whole[1, 0, 0] < 1


def test_models_whose_items_have_states_are_read_by_their_states(rng):
    data, given, _ = tiny(rng, 2, 5)
    ((_, state),) = beliefs(given, data, np.arange(data.n_items))
    now = np.stack([p.sum(axis=1) for _, p in given.parts(state)], axis=1) / len(given)
    expected = np.mean([p for _, p in truth_probabilities(given, data)], axis=0)
    np.testing.assert_allclose(now, expected, atol=1e-12)


def test_uncertainty_about_the_coder_lessens_what_a_label_tells():
    state = np.full((1, 2, 2), 0.5)
    sure = np.broadcast_to(np.array([[0.8, 0.2], [0.2, 0.8]]), (2, 1, 2, 2))
    either = np.array([[[[1.0, 0.0], [0.0, 1.0]]], [[[0.6, 0.4], [0.4, 0.6]]]])
    share = np.full((2, 2), 0.5)
    known = coder_bits(Draws(share, sure), state, np.array([0]))
    unknown = coder_bits(Draws(share, either), state, np.array([0]))
    assert unknown == pytest.approx(known)  # the same accuracy on average: one label tells as much
    of_each = np.mean(
        [0.5 * math.log2(1 / 0.5) * 2, 1 + 0.6 * math.log2(0.6) + 0.4 * math.log2(0.4)]
    )
    assert unknown[0, 0] < of_each


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=3),
    st.integers(1, 9),
)
def test_spending_is_the_best_there_is_for_as_many_labels(pieces, budget):
    gained = np.cumsum(pieces, axis=1)
    room = np.full(len(gained), 3)
    portions = steps(gained, room)
    taken = allocate(portions, budget, 0.0)
    assert (np.diff(portions.gain) <= 1e-12).all()
    spent = int(portions.size[taken].sum())
    assert spent <= budget
    if not np.array_equal(taken, np.arange(len(taken))):
        return  # a portion did not fit: what follows it is second best
    total = np.c_[np.zeros(len(gained)), gained]
    best = max(
        sum(total[i, m] for i, m in enumerate(ms))
        for ms in itertools.product(range(4), repeat=len(gained))
        if sum(ms) == spent
    )
    assert float(portions.gain[taken] @ portions.size[taken]) == pytest.approx(best)


def test_room_and_stop_are_kept():
    gained = np.array([[0.3, 0.5, 0.6], [0.2, 0.3, 0.4]])
    portions = steps(gained, np.array([1, 0]))
    assert portions.item.tolist() == [0]
    assert portions.size.tolist() == [1]
    assert allocate(steps(gained, np.array([3, 3])), 9, 0.25).tolist() == [0]


@pytest.mark.parametrize(("n_labels", "m"), [(2, 5), (4, 3)])
def test_outcomes_are_all_outcomes(n_labels, m):
    counts, log_ways = outcomes(n_labels, m)
    assert len(counts) == math.comb(m + n_labels - 1, m)
    assert (counts.sum(axis=1) == m).all()
    assert np.exp(log_ways).sum() == pytest.approx(n_labels**m)
    assert most_labels(100, 5) == 1


@pytest.fixture(scope="module")
def crowd_fit():
    made = am.simulate(150, 12, 3, 3, spammers=0.2, gold=10, seed=3)
    return made, am.fit(
        made.annotations, "hierarchical", chains=2, draws=150, warmup=100, seed=1, extend=False
    )


def test_no_label_is_asked_for_twice_and_all_limits_are_kept(crowd_fit):
    _, fit = crowd_fit
    found = fit.next(budget=80, per_item=2, per_coder=20, coders=fit.data.coders[:8], stop=0)
    table = found.table
    done = fit.data.to_frame()
    asked = set(zip(table["item"], table["coder"], strict=True))
    assert len(asked) == len(table) <= 80
    assert not asked & set(zip(done["item"], done["coder"], strict=True))
    assert table["item"].value_counts().max() <= 2
    assert table["coder"].value_counts().max() <= 20
    assert set(table["coder"]) <= set(fit.data.coders[:8])
    gold = {name for name, g in zip(fit.data.items, fit.data.gold, strict=True) if g >= 0}
    assert not gold & set(table["item"])
    assert (table["gain"].diff().dropna() <= 1e-12).all()
    assert found.coders["asked"].sum() == len(table)
    assert 0 <= found.after < found.before
    assert f"leave {found.after:,.1f} of {found.before:,.1f} wrong gold labels" in found.notes[0]


def test_spammers_are_not_asked_and_the_table_says_whom_to_ask(crowd_fit):
    made, fit = crowd_fit
    found = fit.next(budget=60, stop=0)
    kind = dict(zip(made.annotations.coders, made.kinds, strict=True))
    named = [name for name in found.table["coder"] if name]
    assert named
    assert {kind[name] for name in named} == {"honest"}
    advice = dict(zip(found.coders["coder"], found.coders["advice"], strict=True))
    told = {advice[name] for name in kind if "spammer" in kind[name]}
    assert told <= {"stop", "give test items"}
    assert found.coders["bits"].is_monotonic_decreasing


def test_all_labels_of_everybody_leave_only_new_coders(make):
    world = make.world(n_items=40, n_coders=3, per_item=3, accuracy=0.7)
    tree = make.gibbs(world.data)
    found = next_labels(tree, world.data, budget=20)
    assert len(found.table)
    assert set(found.table["coder"]) == {""}
    assert "No coder is named for" in " ".join(found.notes)
    named = next_labels(tree, world.data, budget=20, coders=world.data.coders)
    assert len(named.table) == 0


def test_it_says_when_to_stop(make):
    world = make.world(n_items=60, n_coders=8, per_item=8, accuracy=0.97)
    found = next_labels(make.gibbs(world.data), world.data, stop=0.3)
    assert found.finished
    assert found.notes[0].startswith("Stop here")
    more = next_labels(
        make.gibbs(make.world(per_item=2).data), make.world(per_item=2).data, budget=5
    )
    assert not more.finished
    assert more.notes[1].endswith("more labels would pay.")
    assert more.after < more.before


@pytest.mark.parametrize(
    "wrong",
    [{"by": "luck"}, {"budget": 0}, {"per_item": 0}, {"per_coder": 0}, {"stop": -1.0},
     {"coders": ["nobody"]}, {"coders": []}],
    ids=str,
)  # fmt: skip
def test_impossible_wishes_are_refused(crowd_fit, wrong):
    with pytest.raises(am.errors.NotApplicable, match=r"Use one|Give a|give a|Name some|no coder"):
        crowd_fit[1].next(**wrong)
