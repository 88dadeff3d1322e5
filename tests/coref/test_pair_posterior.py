"""The bootstrap over mentions: weights enter as they should, and intervals hold what they claim."""

from __future__ import annotations

import os
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import annomodels as am
from annomodels.coref import document, pair_draws, pair_posterior, pair_table
from annomodels.coref.posteriors import _kappas, corrected_interval
from annomodels.coref.tables import kappa_of

REDUCED = os.environ.get("ANNOMODELS_CALIBRATION") == "reduced"


def two_coders(rng: np.random.Generator, mentions: int, error: float) -> list[dict[int, int]]:
    """Chains that grow with their length, and two coders who misplace a mention now and then."""
    truth = np.zeros(mentions, dtype=int)
    chains = 1
    for place in range(1, mentions):
        if rng.random() < 0.55:
            truth[place] = chains
            chains += 1
        else:
            truth[place] = truth[rng.integers(0, place)]
    out = []
    for _ in range(2):
        wrong = rng.random(mentions) < error
        said = np.where(wrong, rng.integers(0, chains, mentions), truth)
        out.append(dict(enumerate(said.tolist())))
    return out


def test_a_pair_counts_with_the_product_of_its_weights(rng: np.random.Generator) -> None:
    x, y = rng.integers(0, 3, 9), rng.integers(0, 3, 9)
    weights = rng.exponential(size=(4, 9))
    for row, found in zip(weights, _kappas(x, y, weights), strict=True):
        cells = np.zeros(4)
        for i, j in combinations(range(9), 2):
            cells[2 * (x[i] != x[j]) + (y[i] != y[j])] += row[i] * row[j]
        assert found == pytest.approx(float(kappa_of(*cells)))


def test_equal_weights_give_kappa_itself(rng: np.random.Generator) -> None:
    x, y = two_coders(rng, 40, 0.1)
    codes = (np.array([coding[m] for m in range(40)]) for coding in (x, y))
    assert _kappas(*codes, np.ones((1, 40)))[0] == pytest.approx(pair_table(x, y).kappa)


def test_draws_are_those_of_the_seed_and_surround_kappa(rng: np.random.Generator) -> None:
    x, y = two_coders(rng, 80, 0.08)
    draws = pair_draws(x, y, 400, seed=3)
    assert np.array_equal(draws, pair_draws(x, y, 400, seed=3))
    assert not np.array_equal(draws, pair_draws(x, y, 400, seed=4))
    assert np.quantile(draws, 0.05) < pair_table(x, y).kappa < np.quantile(draws, 0.95)


def test_texts_without_any_pair_and_without_mentions() -> None:
    assert set(pair_draws([{1}, {2}], [{1}, {2}], 5)) == {1.0}
    assert set(pair_draws([{1, 2}], [{1, 2}], 5)) == {1.0}
    assert np.isnan(pair_draws([{1}], [{1}], 5)).all()
    with pytest.raises(am.NotApplicable, match="No text has two mentions"):
        pair_posterior(document("t", {"a": [{1}], "b": [{1}]}))
    with pytest.raises(am.NotApplicable, match="draws=0"):
        pair_draws([{1}], [{1}], 0)


def texts(rng: np.random.Generator, n: int, coders: int = 2) -> list[Any]:
    out = []
    for place in range(n):
        codings = two_coders(rng, 40, 0.08) + two_coders(rng, 40, 0.08)
        named = dict(zip("abcd"[:coders], codings, strict=False))
        out.append(document(f"t{place}", named, genre="fg"[place % 2]))
    return out


def test_three_quantities(rng: np.random.Generator) -> None:
    found = pair_posterior(texts(rng, 10), 4000)
    mean, sigma = found.kappa.mean(), found.kappa.std()
    assert found.these_texts.mean() == pytest.approx(mean)
    assert found.these_texts.std() == pytest.approx(
        np.sqrt((found.draws.var(1)).sum()) / 10, rel=0.1
    )
    # Dirichlet(1, ..., 1) weights over n texts: variance sigma^2 / (n + 1)
    assert found.mean_over_texts.mean() == pytest.approx(mean, abs=0.01)
    assert found.mean_over_texts.std() == pytest.approx(sigma / np.sqrt(11), rel=0.1)
    assert set(found.new_text) == set(found.kappa)
    assert found.new_text.std() == pytest.approx(sigma, rel=0.1)
    table = found.table()
    assert (table["low"] < table["kappa"]).all()
    assert (table["kappa"] <= table["high"]).all()
    assert {name: len(part.names) for name, part in found.by_genre().items()} == {"f": 5, "g": 5}
    assert "mean_over_texts" in repr(found)


def test_a_mention_has_one_weight_for_all_pairs_of_coders(rng: np.random.Generator) -> None:
    (text,) = texts(rng, 1, coders=2)
    layers = dict(text.layers)
    copy = am.coref.Layer("c", layers["b"].markables, clusters=layers["b"].clusters)
    two = pair_posterior(text, 200, seed=5).draws[0]
    three = pair_posterior(text.with_layers(layers | {"c": copy}), 200, seed=5).draws[0]
    assert three == pytest.approx((2 * two + 1) / 3)  # a-b, a-c the same, b-c perfect


@pytest.mark.calibration
@pytest.mark.parametrize(("mentions", "error"), [(50, 0.08), (70, 0.03), (150, 0.08)])
def test_intervals_of_single_texts_in_simulation(mentions: int, error: float) -> None:
    rng = np.random.default_rng(mentions)
    true = np.mean([pair_table(*two_coders(rng, mentions, error)).kappa for _ in range(1500)])
    replicates = 150 if REDUCED else 1000
    inside = 0
    for seed in range(replicates):
        codings = two_coders(rng, mentions, error)
        kappa = pair_table(*codings).kappa
        low, high = corrected_interval(kappa, pair_draws(*codings, draws=400, seed=seed))
        inside += low <= true <= high
    # three standard errors around 0.9, and two points for texts where coders are nearly perfect;
    # pairs taken as independent give about 0.6
    error_of_share = 3 * (0.9 * 0.1 / replicates) ** 0.5
    assert abs(inside / replicates - 0.9) <= error_of_share + 0.02
