"""Distances between labels: their formulas, their sums, and what is refused."""

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import annomodels as am
from annomodels.coefficients.distances import (
    DISTANCES,
    SET_DISTANCES,
    SIZE_DISTANCES,
    make_distance,
    set_distance,
)
from annomodels.errors import AnnotationError
from tests.coefficients.pairs_of_labels import of_pairs
from tests.coefficients.test_edges import GIVEN

LABELS = ["a", "b", "c", "d"]
VALUES = np.array([0.0, 1.0, 3.0, 7.0])
PLAIN = [name for name in DISTANCES if name not in SET_DISTANCES]
SETS = st.frozensets(st.integers(0, 4), min_size=1)


def table_of(distance, pooled):
    first, second = (x.ravel() for x in np.indices((4, 4)))
    return distance.pairs(first, second, pooled).reshape(4, 4)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("nominal", [0, 1, 1, 1]),
        ("interval", [0, 1, 9, 49]),
        ("ratio", [0, 1, 1, 1]),
        ("linear", [0, 1 / 7, 3 / 7, 1]),
        ("quadratic", [0, 1 / 49, 9 / 49, 1]),
        ("rank_linear", [0, 1 / 3, 2 / 3, 1]),
        ("rank_quadratic", [0, 1 / 9, 4 / 9, 1]),
        ("gwet_ordinal", [0, 2 / 12, 6 / 12, 1]),
        ("radical", [0, np.sqrt(1 / 7), np.sqrt(3 / 7), 1]),
        ("circular", np.sin(np.pi * np.array([0, 1, 3, 7]) / 8) ** 2),
        ("bipolar", [0, 1 / 13, 9 / (3 * 11), 49 / (7 * 7)]),
        ("ordinal", [0, 0.15**2, 0.4**2, 0.75**2]),
    ],
)
def test_formulas(name, row):
    """Distances of the first label to each; shares .1, .2, .3, .4 for the ordinal one."""
    table = table_of(make_distance(name, LABELS, VALUES), np.array([1.0, 2.0, 3.0, 4.0]))
    assert table[0] == pytest.approx(row)


@pytest.mark.parametrize("name", PLAIN)
def test_sums_are_those_of_the_table(name, rng):
    distance = make_distance(name, LABELS, VALUES)
    pooled = rng.random((3, 1, 4))
    left, right = rng.random((3, 2, 4)), rng.random((3, 2, 4))
    found = distance.form(left, right, pooled)
    assert found.shape == (3, 2)
    for s, m in np.ndindex(3, 2):
        table = table_of(distance, pooled[s, 0])
        assert np.allclose(table, table.T)
        assert np.allclose(np.diag(table), 0)
        assert found[s, m] == pytest.approx(left[s, m] @ table @ right[s, m])
        assert np.ravel(distance.largest(pooled[s, 0]))[0] == pytest.approx(table.max())
        assert distance.reach(right[s], pooled[s, 0]) == pytest.approx(right[s] @ table)


@pytest.mark.parametrize("name", [*PLAIN, [[0, 1, 2, 2], [1, 0, 1, 2], [2, 1, 0, 1], [2, 2, 1, 0]]])
def test_distances_can_be_sent_to_another_process(name):
    distance = make_distance(name, LABELS, VALUES)
    other = pickle.loads(pickle.dumps(distance))
    pooled = np.array([1.0, 2.0, 3.0, 4.0])
    assert np.array_equal(table_of(other, pooled), table_of(distance, pooled))


@pytest.mark.parametrize(("typed", "name"), GIVEN["distances"].items())
def test_names_of_other_packages(typed, name):
    assert make_distance(typed, LABELS, VALUES).name == name


def test_gwets_weights_on_five_labels():
    """Gwet 2014, five labels: weights one step from the diagonal."""
    labels, values = list(range(1, 6)), np.arange(1.0, 6)
    step = (np.array([0]), np.array([1]), np.ones(5))
    for name, weight in (("linear", 0.75), ("quadratic", 0.9375), ("radical", 0.5)):
        assert 1 - make_distance(name, labels, values).pairs(*step)[0] == pytest.approx(weight)
    assert 1 - make_distance("gwet_ordinal", labels, values).pairs(*step)[0] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: "far" if a != b else 0, "'a' to 'b' is not a number"),
        (lambda a, b: float(a != b) + (a > b), "differs by direction"),
    ],
)
def test_what_a_function_has_to_give(function, message):
    with pytest.raises(AnnotationError, match=message):
        make_distance(function, LABELS)


def test_words_in_order_have_a_linear_distance():
    assert make_distance("linear", ["low", "high"]).name == "linear"


def test_a_table_with_1_on_the_diagonal_holds_weights_of_agreement():
    found = make_distance(np.eye(4), LABELS)
    assert (table_of(found, np.ones(4)) == 1 - np.eye(4)).all()
    assert "treated as weights of agreement" in found.note


WEIGHTS = np.array([[1, 0.8, 0.5], [0.8, 1, 0.6], [0.5, 0.6, 1]])
SIX = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "c"), ("c", "c"), ("a", "c")]


def gwet_ac2(pairs, weights, items=None):
    """Observed agreement and AC2 from the formula of Gwet's handbook, as irrCAC has it."""
    codes = np.array([["abc".index(label) for label in pair] for pair in pairs])
    items = np.ones(len(pairs)) if items is None else items
    p_a = (items * weights[codes[:, 0], codes[:, 1]]).sum() / items.sum()
    p = np.bincount(codes.reshape(-1), np.repeat(items, 2), 3) / (2 * items.sum())
    p_e = weights.sum() / 6 * (p * (1 - p)).sum()
    return p_a, (p_a - p_e) / (1 - p_e)


@pytest.mark.parametrize("table", [WEIGHTS, 1 - WEIGHTS], ids=["weights", "distances"])
def test_ac2_of_weights_that_do_not_reach_0_is_that_of_irrcac(table):
    data = of_pairs(SIX)
    p_a, value = gwet_ac2(SIX, WEIGHTS)
    found = am.agreement(data, "ac2", distance=table, draws=0)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert am.agreement(data, "percent", distance=table, draws=0).value == pytest.approx(p_a)
    assert ("weights of agreement" in found.note) == (table is WEIGHTS)
    # The error goes by the same unit: derivatives by the weight of each item.
    step = 1e-6
    ups = [gwet_ac2(SIX, WEIGHTS, np.ones(6) + step * one)[1] for one in np.eye(6)]
    error = np.sqrt(6 / 5 * np.square((np.array(ups) - value) / step).sum())
    assert found.analytic().se == pytest.approx(error, rel=1e-4)


def test_a_list_of_names_takes_the_distance():
    data = of_pairs([(1, 2), (2, 2), (3, 1), (1, 1), (2, 3), (3, 3)])
    names = ["ac1", "kappa", "alpha"]
    panel = am.agreement(data, names, distance="quadratic")
    alone = [am.agreement(data, name, distance="quadratic").value for name in names]
    assert panel.table["value"].tolist() == alone


def test_distances_above_1_are_rescaled_and_the_note_says_so():
    data, table = of_pairs(SIX), 4 * (1 - WEIGHTS)
    found = am.agreement(data, "ac2", distance=table, draws=0)
    assert found.value == pytest.approx(gwet_ac2(SIX, 1 - (1 - WEIGHTS) / 0.5)[1])
    assert "divided by the largest, 2," in found.note
    assert "divided" not in am.agreement(data, "k", distance=table, draws=0).note


def test_the_empty_set_can_be_as_far_as_any_other():
    labels = [frozenset(), frozenset({1}), frozenset({1, 2})]
    near, far = (make_distance(name, labels) for name in ("passonneau", "passonneau_empty_1"))
    first, second = np.array([0, 1]), np.array([1, 2])
    assert near.pairs(first, second, np.ones(3)) == pytest.approx([1 / 3, 1 / 3])
    assert far.pairs(first, second, np.ones(3)) == pytest.approx([1, 1 / 3])


def test_many_values_are_summed_in_blocks(rng):
    x = np.sort(rng.random(700)) + 0.1
    distance = make_distance("ratio", [str(v) for v in x], x)
    p, q = rng.random(700), rng.random(700)
    table = ((x[:, None] - x) / (x[:, None] + x)) ** 2
    assert distance.form(p, q, p) == pytest.approx(p @ table @ q)


def exact(name, a, b):
    """Distances of sets as they are written in the papers, as fractions."""
    empty = 1 if name == "passonneau_empty_1" else Fraction(1, 3)
    rules = [(a == b, 0), (not a or not b, empty), (a <= b or b <= a, Fraction(1, 3))]
    step = next(value for fits, value in [*rules, (a & b, Fraction(2, 3)), (True, 1)] if fits)
    share = Fraction(1) if a == b else Fraction(len(a & b), len(a | b))
    both = Fraction(1) if a == b else Fraction(2 * len(a & b), len(a) + len(b))
    known = {"jaccard": 1 - share, "dice": 1 - both, "masi": 1 - share * (1 - step)}
    known |= {"masi_dkpro": (1 - share) * step, "nominal": Fraction(a != b)}
    return known.get(name, step)


@given(SETS, SETS)
def test_set_distances_are_the_nearest_numbers_to_the_fractions_of_the_papers(a, b):
    for name in {*SET_DISTANCES, *SIZE_DISTANCES}:
        found = set_distance(a, b, name)
        assert found == float(exact(name, a, b)) == set_distance(b, a, name)
        assert (found == 0) == (a == b)
        assert 0 <= found <= 1


@given(SETS)
def test_empty_set_is_a_legal_label(a):
    empty = frozenset()
    assert {set_distance(empty, empty, name) for name in SET_DISTANCES} == {0}
    assert set_distance(empty, a, "passonneau") * 3 == 1
    assert {set_distance(empty, a, name) for name in ("jaccard", "dice", "masi")} == {1}


@given(SETS, SETS)
def test_disjoint_sets_are_as_far_apart_as_can_be(a, b):
    b = frozenset(("other", each) for each in b)
    assert {set_distance(a, b, name) for name in SET_DISTANCES} == {1}


@pytest.mark.parametrize("name", list(SET_DISTANCES))
def test_set_distances_by_name(name):
    labels = [frozenset(), frozenset({1}), frozenset({1, 2}), frozenset({2, 3})]
    table = table_of(make_distance(name, labels), np.ones(4))
    for (k, a), (m, b) in itertools.product(enumerate(labels), repeat=2):
        assert table[k, m] == float(exact(name, a, b))
