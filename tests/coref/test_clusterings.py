"""Scores and tables of clusterings: the CoNLL reference scorer, enumeration, and at random."""

import json
import math
import random
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import annomodels as am
from annomodels.coefficients.implied import evaluate
from annomodels.coefficients.tables import from_joint
from annomodels.coref import (
    Markable,
    Score,
    Span,
    TwoByTwo,
    agreement,
    document,
    link_table,
    match_mentions,
    pair_table,
    score,
    text_kappa,
)
from annomodels.coref.conditions import chains
from annomodels.coref.tables import kappa_of

pytestmark = pytest.mark.filterwarnings("ignore:The link table")

NAMES = {"muc": "muc", "bcub": "b3", "ceafm": "ceaf_m", "ceafe": "ceaf_e", "blanc": "blanc"}
NAMES["lea"] = "lea"
CASES = json.loads((Path(__file__).parents[1] / "cases" / "coref_cases.json").read_text("utf-8"))
SCORER = {case["id"]: case for case in CASES["clustering_cases"]}
WITH_GAPS = CASES["noncontiguous_mentions"]
GAPS = {case["id"]: case for case in WITH_GAPS["cases"]}


def of_each(cases: dict[str, Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases.values(), ids=cases)


def test_no_case_is_left_out() -> None:
    assert len(SCORER) == 18
    assert len(GAPS) == 7 + 8


@of_each(SCORER)
def test_reference_scorer_and_coval(case: dict[str, Any]) -> None:
    found = score(case["key"], case["response"])
    for metric, expected in case["expected_R_P_F1"].items():
        # printed: 5 digits
        assert found[NAMES[metric]] == pytest.approx(expected, abs=6e-6), metric
    for metric, expected in case["computed_here_R_P_F1"].items():
        assert found[NAMES[metric]] == pytest.approx(expected, abs=1e-9), metric


@of_each(SCORER)
def test_order_and_names_do_not_matter_and_sides_swap(case: dict[str, Any]) -> None:
    shuffle = random.Random(case["id"])
    key, response = (
        [
            shuffle.sample([("renamed", m) for m in c], len(c))
            for c in shuffle.sample(case[side], len(case[side]))
        ]
        for side in ("key", "response")
    )
    before, after = score(case["key"], case["response"]), score(key, response)
    for metric, value in before.items():
        assert after[metric] == pytest.approx(value, abs=1e-12)
    # BLANC leaves out a kind of link that the key has none of, so its sides are not alike then.
    alike = all(1 < len(side) < sum(map(len, side)) for side in (key, response))
    for metric, (recall, precision, _) in score(response, key).items():
        if metric != "blanc" or alike:
            assert before[metric][:2] == pytest.approx((precision, recall), abs=1e-12), metric


@pytest.mark.parametrize("name", ["TC-A7", "TC-A9"])
def test_copies_of_a_mention_stay_in_the_cluster_that_came_first(name: str) -> None:
    case = SCORER[name]
    clusters: dict[int, list[tuple[int, ...]]] = {}
    for cluster, *place in case["response_file_order"]:
        clusters.setdefault(cluster, []).append(tuple(place))
    key = [[(0, 0, 1)], [(0, 3, 6), (1, 0, 0)], [(1, 2, 3), (1, 4, 4), (2, 6, 6)]]
    raw = list(clusters.values())
    if name == "TC-A9":  # one cluster holds copies of the mention of another
        with pytest.warns(am.errors.DataWarning, match="In two clusters"):
            found = score(key, raw)
    else:
        found = score(key, raw)
    expected = case["expected_R_P_F1"]["muc"]
    by_first = score(case["key"], case["response"])
    assert by_first["muc"] == pytest.approx(expected, abs=6e-6)
    assert len(found) == 6


def test_pradhan_2014_in_the_ways_clusters_are_written() -> None:
    key = [{"a", "b", "c"}, {"d", "e", "f", "g"}]
    response = [{"a", "b"}, {"c", "d"}, {"f", "g", "h", "i"}]
    found = score(key, response)
    # Pradhan et al. 2014, doi:10.3115/v1/P14-2006, section 4
    assert found["muc"] == pytest.approx((2 / 5, 2 / 5, 2 / 5))
    assert found["b3"] == pytest.approx((0.42, 0.50, 0.46), abs=6e-3)
    assert found["ceaf_m"] == pytest.approx((0.57, 0.50, 0.53), abs=6e-3)
    assert found["ceaf_e"] == pytest.approx((0.65, 0.43, 0.52), abs=6e-3)
    coref, other = 2 * 2 / (9 + 8), 2 * 8 / (12 + 20)  # F of each kind of link
    blanc = ((2 / 9 + 8 / 12) / 2, (2 / 8 + 8 / 20) / 2, (coref + other) / 2)
    assert found["blanc"] == pytest.approx(blanc)
    by_cluster = {m: n for n, cluster in enumerate(response) for m in cluster}
    assert score(key, by_cluster) == found == score(iter(map(sorted, key)), response)
    assert score([[[0, 1], [3, 4]]], [[(0, 1), (3, 4)]])["b3"] == Score(1.0, 1.0, 1.0)


@of_each(GAPS)
def test_corefud_mentions_with_gaps_match_in_part(case: dict[str, Any]) -> None:
    key_a, response_a = case["key_a"], case["response_a"]
    assert bool(match_mentions([key_a], [response_a], "partial")) == case["a_matches_partially"]
    assert bool(match_mentions([key_a], [response_a])) == case["a_matches_exactly"]
    rest = {m: Markable(m, Span((100 + n,))) for n, m in enumerate("bcde")}
    own = rest | {"a": Markable("a", Span(tuple(key_a["words"])), head=key_a["head"])}
    other = rest | {"a": Markable("a", Span(tuple(response_a)))}
    found = score(
        [[own[m] for m in c] for c in WITH_GAPS["key_clusters"]],
        [[other[m] for m in c] for c in WITH_GAPS["response_clusters"]],
        match="partial",
    )
    for metric, expected in case["expected"].items():
        assert found[NAMES[metric]] == pytest.approx(expected, abs=1e-12)


def test_nothing_to_score() -> None:
    nothing = (0.0, 0.0, 0.0)
    assert set(score([], []).values()) == {nothing}
    assert set(score([{"a", "b"}], []).values()) == {nothing}
    assert score([{"a"}], [{"a"}])["blanc"] == (1.0, 1.0, 1.0)
    assert score([{"a"}], [{"b"}])["blanc"] == nothing


codings = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 6), min_size=n, max_size=n),
        st.lists(st.integers(0, 6), min_size=n, max_size=n),
    )
)


def coding(labels: list[int]) -> dict[int, int]:
    return dict(enumerate(labels))


def restricted_growth(n: int) -> list[list[int]]:
    """All partitions of n mentions as lists of cluster numbers."""
    out: list[list[int]] = [[]]
    for _ in range(n):
        out = [[*one, k] for one in out for k in range(max(one, default=-1) + 2)]
    return out


def listed_pairs(x: list[int], y: list[int]) -> tuple[int, int, int, int]:
    cells = [0, 0, 0, 0]
    for i, j in combinations(range(len(x)), 2):
        cells[2 * (x[i] != x[j]) + (y[i] != y[j])] += 1
    return cells[0], cells[1], cells[2], cells[3]


@given(pair=codings)
def test_pair_kappa_is_the_adjusted_rand_index(pair: tuple[list[int], list[int]]) -> None:
    x, y = pair
    cells = pair_table(coding(x), coding(y))
    assert cells == listed_pairs(x, y)
    if cells.n and not math.isnan(cells.kappa):
        assert cells.kappa == pytest.approx(adjusted_rand_score(x, y), abs=1e-12)
    elif cells.n:  # all together or all alone, for both
        assert text_kappa(cells)[0] == adjusted_rand_score(x, y) == 1


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_pair_kappa_over_all_pairs_of_partitions(n: int) -> None:
    every = restricted_growth(n)
    # names of mentions mean nothing: one partition stands for all with clusters of its sizes
    alike = {tuple(sorted(Counter(x).values())): x for x in every}
    for x, y in product(alike.values(), every):
        cells = pair_table(coding(x), coding(y))
        assert cells == listed_pairs(x, y)
        kappa = text_kappa(cells)[0]
        assert kappa == pytest.approx(adjusted_rand_score(x, y), abs=1e-12)


@given(cells=st.tuples(*[st.integers(0, 50)] * 4))
def test_kappa_of_two_by_two_is_that_of_the_coefficients(cells: tuple[int, int, int, int]) -> None:
    a, b, c, d = cells
    if sum(cells):
        table = TwoByTwo(*cells)
        found = {"kappa": table.kappa, "pi": table.pi, "s": table.s}
        for name, value in found.items():
            expected = evaluate(name, from_joint([[a, b], [c, d]]))
            assert value == pytest.approx(float(expected.value), abs=1e-9, nan_ok=True), name
        kappa = evaluate("kappa", from_joint([[a, b], [c, d]]))
        sides = 1 - float(kappa.observed), 1 - float(kappa.expected)
        assert (table.observed, table.expected) == pytest.approx(sides)
        assert float(kappa_of(a, b, c, d)) == pytest.approx(table.kappa, nan_ok=True)


@given(pair=codings)
def test_links_are_symmetric_and_agree_with_muc(pair: tuple[list[int], list[int]]) -> None:
    x, y = map(coding, pair)
    cells, other = link_table(x, y), link_table(y, x)
    assert (cells.a, cells.b, cells.c, cells.d) == (other.a, other.c, other.b, other.d)
    recall, precision, _ = score(x, y)["muc"]
    assert (cells.recall, cells.precision) == pytest.approx((recall, precision))
    assert cells.n == len(x) - 1
    assert cells.d == len(set(pair[0])) + len(set(pair[1])) - len(set(zip(*pair, strict=True))) - 1


@given(pair=codings, seed=st.randoms(use_true_random=False))
def test_names_and_order_of_mentions_and_clusters_do_not_matter(
    pair: tuple[list[int], list[int]], seed: Any
) -> None:
    x, y = pair
    order = list(range(len(x)))
    seed.shuffle(order)
    names = seed.sample(range(100), 7)
    moved = {f"m{i}": names[x[i]] for i in order}, {f"m{i}": names[y[i]] for i in order}
    assert pair_table(*moved) == pair_table(coding(x), coding(y))
    assert link_table(*moved) == link_table(coding(x), coding(y))
    for metric, value in score(coding(x), coding(y)).items():
        assert score(*moved)[metric] == pytest.approx(value, abs=1e-9)


@given(pair=codings)
def test_scores_are_shares_and_perfect_for_equal_codings(pair: tuple[list[int], list[int]]) -> None:
    x, y = map(coding, pair)
    for name, value in score(x, y).items():
        assert all(-1e-12 <= part <= 1 + 1e-12 for part in value), name
    for name, value in score(x, x).items():
        if name != "muc" or len(set(pair[0])) < len(x):
            assert value == pytest.approx((1, 1, 1)), name


def reached(pointers: dict[int, list[int]], start: int) -> set[int]:
    out, work = {start}, [start]
    while work:
        for target in pointers.get(work.pop(), []):
            if target not in out:
                out.add(target)
                work.append(target)
    return out


@given(
    pointers=st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 7), max_size=3), max_size=8)
)
def test_chains_up_then_down_also_in_circles(pointers: dict[int, list[int]]) -> None:
    """The definition, step by step: everything that can reach what m can reach."""
    nodes = set(pointers) | {t for targets in pointers.values() for t in targets}
    up = {m: reached(pointers, m) for m in nodes}
    found = chains(pointers)
    assert set(found) == nodes
    for m in nodes:
        assert found[m] == {x for x in nodes if up[x] & up[m]}


def coders(mentions: int, number: int, longest: int) -> dict[str, dict[int, int]]:
    rng = np.random.default_rng(mentions)
    sizes = [longest, *np.minimum(rng.zipf(1.6, mentions), longest // 2)]
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)[:mentions])
    out = {}
    for n in range(number):
        said = np.where(rng.random(mentions) < 0.1, rng.permutation(truth), truth)
        out[f"c{n:02}"] = {m: int(k) for m, k in enumerate(said)}
    return out


@pytest.mark.slow
def test_pairs_links_and_scores_of_a_hundred_thousand_mentions() -> None:
    made = coders(100_000, 2, 4_000)
    cells = pair_table(*made.values())
    found = score(*made.values())
    assert cells.n == 100_000 * 99_999 // 2
    assert 0 < found["ceaf_e"].f1 < 1


@pytest.mark.few("incl-")
@pytest.mark.slow
@pytest.mark.parametrize("chain", ["partial", "incl-", "excl+", "cluster-own"])
def test_chains_of_twenty_coders(chain: str) -> None:
    text = document("t", coders(2_000, 20, 150), order=range(2_000))
    found = agreement(text, chain, "masi")
    assert found.n_labels == 40_000
    assert 0 < found.value < 1
