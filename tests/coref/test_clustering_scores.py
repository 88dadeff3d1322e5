"""MUC, B3, CEAF, BLANC and LEA: the test cases of the CoNLL reference scorer and of its peers."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.coref import Markable, Score, Span, match_mentions, score

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
