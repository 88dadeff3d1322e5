"""Small calculations by hand for the parts that coefficients are made of."""

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients.catalogue import find, panel_names
from annomodels.coefficients.counts import few_nodes
from annomodels.coefficients.distances import Squared
from annomodels.coefficients.implied import (
    evaluate,
    pair_joint,
)
from annomodels.coefficients.intervals import share_above
from annomodels.coefficients.parts.groups import between_groups
from annomodels.coefficients.parts.sentences import number
from annomodels.coefficients.parts.shares import overlap
from annomodels.coefficients.parts.table import planned
from annomodels.coefficients.requests import item_chances, label_margins
from annomodels.coefficients.rows import intra_coder, prepare, ranges
from annomodels.coefficients.tables import from_joint, over

of = am.Annotations.from_records


def test_names_of_coefficients_are_forgiving():
    names = ["Fleiss' kappa", "Cohen's κ", "ICC(2,1)", "cohen_kappa_score", "gwet.ac1.raw"]
    assert [find(name).name for name in names] == ["k", "kappa", "icc_a1", "kappa", "ac1"]
    usual = ("percent", "s", "pi", "k", "kappa", "multi_kappa", "alpha", "ac1")
    assert panel_names("nominal") == usual


def test_joint_tables():
    joint = pair_joint([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[1, 0], [0, 1]])
    assert joint == pytest.approx(np.array([[0.45, 0.1], [0.05, 0.4]]))
    found = evaluate("scott", from_joint([[77, 1, 2], [1, 6, 3], [2, 3, 5]]))
    assert found.value == pytest.approx(0.6471, abs=5e-5)
    assert 1 - found.expected == pytest.approx(0.66)
    assert evaluate("kappa", from_joint([[41, 3], [9, 47]])).value == pytest.approx(0.76, abs=5e-5)


def test_margins_and_chance_levels():
    data = of([(1, "a", "x"), (1, "b", "y"), (2, "a", "x")])
    assert label_margins(data, {"x": 30, "y": 50, "z": 20})[1].tolist() == [0.3, 0.5, 0.2]
    assert item_chances(data, {2: 1.0, 1: 0.25}).tolist() == [0.25, 1.0]


def test_counts_and_shares():
    repeats = [(1, "a", "x"), (1, "a", "x"), (2, "a", "x"), (2, "a", "y"), (2, "b", "x")]
    assert intra_coder(of(repeats)) == (0.5, 2)
    assert over([1.0, 0.0], [4, 0]) == pytest.approx([0.25, np.nan], nan_ok=True)
    above = share_above(np.array([[0.5, np.nan], [0.9, np.nan]]), 0.8)
    assert above == pytest.approx([0.5, np.nan], nan_ok=True)
    position, owner = ranges(np.array([5, 0]), np.array([2, 3]))
    assert (owner.tolist(), position.tolist()) == ([0, 0, 1, 1, 1], [5, 6, 0, 1, 2])
    nodes = few_nodes(Squared("interval", np.arange(101.0)), "pooled")
    assert nodes is not None
    assert nodes.values.tolist() == [0, 50, 100]
    asked = ((10, 1_000), (40_000, 1_000), (10**9, 1))
    assert [planned(2000, *size) for size in asked] == [2000, 400, 200]
    texts = [number(0.5), number(-0.0149), number(-1e-9), number(0.996, 2)]
    assert texts == [".500", "-.015", ".000", "1.00"]


def test_parts_of_the_design():
    data = of([(1, "a", 0), (1, "b", 1), (2, "c", 0), (2, "d", 0)])
    found = overlap(prepare(data)).components
    assert found[["coders", "items"]].values.tolist() == [[2, 1], [2, 1]]
    _, low, high = between_groups(np.array([0.2, 0.5, 0.8]), np.full(3, 0.05))
    assert low < 0.3 < high
