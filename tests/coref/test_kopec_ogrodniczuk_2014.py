"""Kopeć and Ogrodniczuk (2014), Inter-annotator agreement in coreference annotation of Polish."""

import math
from typing import Any

import pytest

from annomodels.coref import (
    Document,
    Layer,
    Markable,
    Span,
    TwoByTwo,
    agreement,
    alpha,
    clustered_agreement,
    document,
    dominating_agreement,
    head_agreement,
    link_table,
    mention_agreement,
    near_identity_agreement,
    pair_agreement,
    pair_table,
    set_distance,
    text_kappa,
)

A = [{3}, {4, 5}, {1}, {2, 5}, {2, 4}]
B: list[set[int]] = [set(), {4}, {5}, {2}, {3}]
CLUSTERS_A = [{1, 3}, {2, 4, 5}]
CLUSTERS_B = [{1}, {2, 4}, {3, 5}]
DISTANCES = ["passonneau", "jaccard", "dice", "masi", "dkpro_masi", "nominal"]


@pytest.mark.parametrize("place", range(4))
def test_section_5_conventions_for_texts(cases: dict[str, Any], place: int) -> None:
    case = cases["per_text_kappa_conventions"][place]
    rule = ["both none", "one none", "both all", "too few"][place]
    value = [1.0, 0.0, 1.0, math.nan][place]
    assert text_kappa(TwoByTwo(*case["cells"])) == pytest.approx((value, rule), nan_ok=True)
    if isinstance(case["kappa"], int):
        assert value == case["kappa"]
    assert text_kappa(TwoByTwo(0, 0, 7, 93))[0] == TwoByTwo(0, 0, 7, 93).kappa


def figures(found: Any) -> tuple[float, float, float]:
    return found.observed, found.expected, found.value


@pytest.mark.parametrize("distance", DISTANCES)
def test_table_4_alpha_with_the_mention_left_out(cases: dict[str, Any], distance: str) -> None:
    held = cases["seed002_weighted_alpha"]
    assert ([*map(set, held["A"])], [*map(set, held["B"])]) == (A, B)
    expected = pytest.approx(held["computed_here_Do_De_alpha"][distance], abs=1e-6)
    text = document("t", {"A": CLUSTERS_A, "B": CLUSTERS_B})
    assert figures(alpha([A, B], distance)) == expected
    assert figures(agreement(text, "cluster-own", distance)) == expected


def by_two_digits(a: frozenset[int], b: frozenset[int]) -> float:
    return {0: 0.0, 1: 0.33, 2: 0.67, 3: 1.0}[round(3 * set_distance(a, b, "passonneau"))]


def as_printed(a: frozenset[int], b: frozenset[int]) -> float:
    return set_distance(a, b, "passonneau") * (1 - set_distance(a, b, "jaccard"))


@pytest.mark.parametrize(
    ("name", "distance", "options"),
    [
        ("passonneau_.33_.67", by_two_digits, {}),
        ("masi_as_printed_in_seed", as_printed, {}),
        ("passonneau_disjoint_first", "passonneau", {"empty": "disjoint"}),
    ],
)
def test_table_4_with_thirds_of_two_digits_and_with_masi_as_printed(
    cases: dict[str, Any], name: str, distance: Any, options: dict[str, Any]
) -> None:
    held = cases["seed002_weighted_alpha"]["computed_here_Do_De_alpha"]
    assert figures(alpha([A, B], distance, **options)) == pytest.approx(held[name], abs=1e-6)
    assert as_printed(frozenset({1}), frozenset({2})) == 0  # so it is no distance


@pytest.mark.parametrize(
    ("chain", "key", "n"),
    [
        ("cluster", "own_mention_included", 5),
        ("cluster-own-observed", "exclusive_Do_inclusive_De", 4),
    ],
)
def test_table_4_with_the_mention_itself(
    cases: dict[str, Any], chain: str, key: str, n: int
) -> None:
    held = cases["seed002_weighted_alpha"][key]
    known = [distance for distance in DISTANCES if distance in held]
    assert len(known) == n
    text = document("t", {"A": CLUSTERS_A, "B": CLUSTERS_B})
    for distance in known:
        found = figures(agreement(text, chain, distance))
        assert found == pytest.approx(held[distance], abs=1e-6), distance


def test_table_4_as_links_and_pairs(cases: dict[str, Any]) -> None:
    held = cases["seed002_weighted_alpha"]
    links = link_table(CLUSTERS_A, CLUSTERS_B)
    assert list(links) == held["link_table_abcd"]
    assert links.kappa == pytest.approx(held["link_kappa"])
    pairs = pair_table(CLUSTERS_A, CLUSTERS_B)
    assert pairs.table == held["pair_table"]
    assert pairs.kappa == pytest.approx(held["pair_kappa"], abs=1e-9)


@pytest.mark.parametrize("words", [(1, 1, 1, 2, 4, 3), (2, 4, 3)])
def test_section_4_example_of_heads(words: tuple[int, ...]) -> None:
    """S is .4783, with mentions of one word or without them."""
    spans = {f"m{n}": tuple(range(10 * n, 10 * n + size)) for n, size in enumerate(words)}
    heads = {m: span[0] for m, span in spans.items()}
    other = heads | {m: span[1] for m, span in spans.items() if len(span) == 4}
    layers = {c: layer(c, spans, h, ()) for c, h in (("a", heads), ("b", other))}
    found = head_agreement(Document("t", ("w",) * 60, layers=layers))
    got = [round(x, 4) for x in (found.observed, found.expected, found.value)]
    assert got == ([0.8333, 0.6806, 0.4783] if len(words) == 6 else [0.6667, 0.3611, 0.4783])


def layer(
    coder: str,
    spans: dict[str, tuple[int, ...]],
    heads: dict[str, int],
    clusters: tuple[frozenset[str], ...],
    near: set[frozenset[str]] | None = None,
    dominating: dict[frozenset[str], str] | None = None,
) -> Layer:
    markables = {m: Markable(m, Span(words), head=heads.get(m)) for m, words in spans.items()}
    return Layer(coder, markables, {}, clusters, frozenset(near or ()), dominating or {})


def polish_text() -> Document:
    """Make a text with nested and discontinuous mentions and all kinds of marks."""
    ana = layer(
        "ana",
        {"a1": (0, 1, 2), "a2": (2,), "a3": (4, 6), "a4": (8,), "a5": (10, 11)},
        {"a1": 0, "a3": 4, "a5": 11},
        (frozenset({"a1", "a4"}), frozenset({"a2", "a5"})),
        {frozenset({"a1", "a3"})},
        {frozenset({"a1", "a4"}): "the old town ", frozenset({"a2", "a5"}): "town"},
    )
    ben = layer(
        "ben",
        {"b1": (0, 1, 2), "b2": (2,), "b3": (4, 5, 6), "b4": (8,), "b5": (10, 11), "b6": (13,)},
        {"b1": 1, "b3": 4, "b5": 11},
        (frozenset({"b1", "b4", "b6"}), frozenset({"b2", "b3"})),
        {frozenset({"b1", "b5"})},
        {frozenset({"b1", "b4", "b6"}): "the old town", frozenset({"b2", "b3"}): "city"},
    )
    words = ("one", "of", "the", "b", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m")
    return Document("PCC-1", words, layers={"ana": ana, "ben": ben}, genre="dailies")


def test_all_measures_on_one_text() -> None:
    text = polish_text()
    # (4, 6) and (4, 5, 6) differ by their inner border
    assert mention_agreement(text) == (4, 5, 6)
    assert mention_agreement(text, "ben", "ana") == (4, 6, 5)
    # ana: 0 2 4 8 11, ben: 1 2 4 8 11 13
    assert mention_agreement(text, match="head") == (4, 5, 6)
    heads = head_agreement(text)
    got = heads.observed, heads.expected, heads.n_items
    assert got == pytest.approx((3 / 4, (1 / 3 + 1 + 1 + 1 / 2) / 4, 4))
    assert heads.value == pytest.approx(1 - 1 / (2 / 3 + 1 / 2))
    near = near_identity_agreement(text)  # only links between shared mentions count
    assert near.pooled == (0, 0, 1, 5)
    assert near.rules["one none"] == 1
    assert near.mean == 0.0
    assert pair_agreement(text).pooled == (1, 1, 0, 4)
    assert clustered_agreement(text).pooled == (3, 1, 0, 0)
    assert clustered_agreement(text, restrict_first=True).pooled == (2, 2, 0, 0)
    same = dominating_agreement(text)
    assert (same.mentions, same.same_mentions) == (3, 2)
    assert (same.clusters, same.same_clusters, same.representatives) == (2, 1, "ana")
    other = dominating_agreement(text, representatives="second")
    assert (other.clusters, other.representatives) == (2, "ben")
    assert dominating_agreement(text, normalise=str).same_mentions == 0
    assert dominating_agreement(text, normalise=len).mentions == 3  # type: ignore[arg-type]


def test_section_7_5_kappa_by_text_type() -> None:
    texts = [
        document("f1", {"a": [[1, 2], [3]], "b": [[1, 2], [3]]}, genre="fiction"),
        document("f2", {"a": [[1, 2], [3, 4]], "b": [[1, 2, 3, 4]]}, genre="fiction"),
        document("n1", {"a": CLUSTERS_A, "b": CLUSTERS_B}, genre="dailies"),
        document("n2", {"a": [[1]], "b": [[1]]}, genre="dailies"),
    ]
    found = pair_agreement(texts)
    assert found.by_document.tolist() == pytest.approx([1, 0, 1 / 11, math.nan], nan_ok=True)
    assert found.mean == pytest.approx((1 + 0 + 1 / 11) / 3)
    assert found.rules["too few"] == 1
    assert found.by_genre.loc["fiction"].tolist() == pytest.approx([2, 0.5, 0.5])
    assert found.by_genre.loc["dailies"].tolist() == pytest.approx([1, 1 / 11, 0])
    assert tuple(found.pooled) == (1 + 2 + 1, 0 + 0 + 3, 0 + 4 + 1, 2 + 0 + 5)


def test_three_coders_give_the_mean_over_their_pairs_and_a_pooled_alpha() -> None:
    text = document("t", {"a": [[1, 2], [3, 4]], "b": [[1, 2], [3, 4]], "c": [[1, 2, 3], [4]]})
    found = pair_agreement(text)
    assert found.mean == pytest.approx(found.table["kappa"].mean())
    cells = found.pooled
    share = cells.yes
    n = 2 * cells.n
    expected = 1 - (1 - cells.observed) / (2 * share * (1 - share) * n / (n - 1))
    assert found.alpha == pytest.approx(expected)
