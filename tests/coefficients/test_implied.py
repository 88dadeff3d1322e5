"""Coefficients of a fitted model: population values of its draws."""

import itertools
from functools import partial

import numpy as np
import pytest

from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.coefficients.distances import make_distance
from annomodels.coefficients.implied import (
    evaluate,
    implied,
    pair_joint,
)
from annomodels.coefficients.tables import from_joint
from annomodels.errors import NotApplicable
from tests.coefficients.test_intraclass import NAMES as ICC
from tests.coefficients.test_intraclass import by_hand

VALUES = [1.0, 2.0, 4.0]
EXACT, PRINTED = pytest.approx, partial(pytest.approx, abs=5e-5)
IMPLIED = [name for name, entry in COEFFICIENTS.items() if entry.implied]
NAMES = [name for name in IMPLIED if not COEFFICIENTS[name].two_coders_only]


def draws(rng, samples=5, coders=4, k=3):
    prevalence = rng.dirichlet(np.full(k, 5.0), samples)
    confusion = rng.dirichlet(np.ones(k), (samples, coders, k)) * 0.4 + 0.6 * np.eye(k)
    return prevalence, confusion


def binary(sensitivity, specificity):
    return np.array([[specificity, 1 - specificity], [1 - sensitivity, sensitivity]])


@pytest.mark.parametrize(
    ("prevalence", "coder", "n_coders", "values"),
    [
        # the tutorial: classes of equal size
        (0.5, binary(0.85, 0.9), 2, {"percent": EXACT(0.7825), "kappa": PRINTED(0.5639)}),
        # accuracy .8: A_o = .68, A_e = .5
        (0.5, binary(0.8, 0.8), 5, {"percent": EXACT(0.68)}),
        (0.5, binary(0.8, 0.8), 5, dict.fromkeys(["multi_kappa", "k", "alpha", "s"], EXACT(0.36))),
        # 5 % prevalence and 95 % accuracy, not 0 as Carpenter's 2008 report has it
        (0.05, binary(0.95, 0.95), 2, {"kappa": PRINTED(0.4475)}),
    ],
    ids=["tutorial", "observed", "corrected", "rare class"],
)
def test_published_values(prevalence, coder, n_coders, values):
    found = implied([[1 - prevalence, prevalence]], [[coder] * n_coders], list(values))
    for name, value in values.items():
        assert found[name] == value, name


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_panel_is_the_mean_over_all_pairs(distance, weighted, rng):
    prevalence, confusion = draws(rng)
    v = np.array([3.0, 1.0, 0.5, 2.0]) if weighted else np.ones(4)
    found = implied(prevalence, confusion, NAMES, v if weighted else None, distance, values=VALUES)
    metric = make_distance(distance, "abc", VALUES)
    pairs = list(itertools.combinations(range(4), 2))
    joints = [pair_joint(prevalence, confusion[:, a], confusion[:, b]) for a, b in pairs]
    shares = [v[a] * v[b] for a, b in pairs]
    tables = from_joint(joints, shares)
    margins = (np.einsum("sk,sjkl->sjl", prevalence, confusion) * (v / v.sum())[:, None]).sum(1)
    light = [evaluate("kappa", from_joint(j), metric).value for j in joints]
    for name in NAMES:
        entry = COEFFICIENTS[name]
        if entry.numeric:
            continue  # see test_intraclass.py
        if entry.each_pair:
            expected = np.average(light, axis=0, weights=shares)
        elif entry.expectation in ("pooled", "smoothed", "without_replacement", "gwet"):
            even = distance if entry.weighted else "nominal"
            how = metric if entry.weighted else make_distance("nominal", "abc")
            if weighted or even == "ordinal":
                # Pairs weigh the labels of their coders otherwise than labels weigh themselves.
                continue
            assert np.allclose(tables.pooled, margins)
            expected = evaluate(name, tables, how).value
        elif distance == "ordinal" and weighted:
            continue
        else:
            how = metric if entry.weighted else make_distance("nominal", "abc")
            expected = evaluate(name, tables, how).value
        assert found[name] == pytest.approx(expected, abs=1e-12), name


def test_two_coders_agree_with_their_pair(rng):
    prevalence, confusion = draws(rng, coders=2)
    found = implied(prevalence, confusion, IMPLIED, values=VALUES)
    for name in IMPLIED:
        joint = from_joint(pair_joint(prevalence, confusion[:, 0], confusion[:, 1]))
        numeric = COEFFICIENTS[name].numeric
        distance = make_distance("interval" if numeric else "nominal", "abc", VALUES)
        pair = evaluate(name, joint, distance).value
        assert found[name] == pytest.approx(pair, abs=1e-12, nan_ok=True), name
        assert np.isnan(pair).all() == COEFFICIENTS[name].two_labels_only


def test_alpha_is_k_for_infinitely_many_items(rng):
    found = implied(*draws(rng), ["alpha", "k", "irsq", "Fleiss' kappa"])
    assert np.allclose(found["alpha"], found["k"])
    assert np.allclose(found["irsq"], found["k"])
    assert np.allclose(found["Fleiss' kappa"], found["k"])


def test_coefficient_for_two_coders_is_nan_for_more(rng):
    found = implied(*draws(rng), "kappa")
    assert np.isnan(found["kappa"]).all()


def test_blocks_do_not_show(rng, monkeypatch):
    from annomodels.coefficients import implied as module

    prevalence, confusion = draws(rng, samples=7)
    whole = module.implied(prevalence, confusion, NAMES, values=VALUES)
    monkeypatch.setattr(module, "BLOCK", 2 * confusion[0].size)
    blocked = module.implied(prevalence, confusion, NAMES, values=VALUES)
    for name in NAMES:
        assert np.allclose(whole[name], blocked[name], equal_nan=True)


def test_population_is_the_limit_of_many_items(rng):
    prevalence, confusion = draws(rng, samples=1, coders=3)
    truth = rng.choice(3, 60_000, p=prevalence[0])
    cumulative = confusion[0].cumsum(-1)
    labels = (rng.random((3, 60_000, 1)) > cumulative[:, truth]).sum(-1)
    joints = [
        np.bincount(labels[a] * 3 + labels[b], minlength=9).reshape(3, 3)
        for a, b in itertools.combinations(range(3), 2)
    ]
    for name in ("percent", "s", "k", "multi_kappa", "alpha", "ac1"):
        seen = evaluate(name, from_joint(joints, n=180_000)).value
        assert implied(prevalence, confusion, name)[name][0] == pytest.approx(seen, abs=0.015)
    limit = implied(prevalence, confusion, ICC, values=VALUES)
    for name, seen in by_hand(np.array(VALUES)[labels].T).items():
        assert limit[name][0] == pytest.approx(seen, abs=0.012), name


def test_a_view_of_one_matrix_for_all_coders_is_not_copied(rng):
    prevalence, confusion = draws(rng, samples=50, coders=1)
    shared = np.broadcast_to(confusion, (50, 200, 3, 3))
    found = implied(prevalence, shared, "k")["k"]
    joint = pair_joint(prevalence, confusion[:, 0], confusion[:, 0])
    assert found == pytest.approx(evaluate("k", from_joint(joint)).value, abs=1e-12)


def test_shapes_are_checked(rng):
    prevalence, confusion = draws(rng)
    with pytest.raises(NotApplicable, match=r"\[sample, coder, truth, label\]"):
        implied(prevalence, confusion[:, 0], "k")
    with pytest.raises(NotApplicable, match="one weight >= 0 for each of the 4 coders"):
        implied(prevalence, confusion, "k", coder_weight=[1.0, 2.0])
