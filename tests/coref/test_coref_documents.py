"""Spans, markables, judgments, layers and documents: what is allowed, and what is said if not."""

import dataclasses
from typing import Any

import pytest

import annomodels as am
from annomodels.coref import (
    Document,
    Judgment,
    Layer,
    Markable,
    Span,
    agreement,
    document,
    link_table,
    pair_table,
    score,
)


def marks(*words: int) -> dict[str, Markable]:
    return {f"m{n}": Markable(f"m{n}", Span((n,))) for n in words}


def test_a_span_is_its_words() -> None:
    assert Span((5, 3, 3)) == Span([3, 5])  # type: ignore[arg-type]
    assert (Span((3, 5)).start, Span((3, 5)).end, len(Span((3, 5)))) == (3, 5, 2)
    assert Span((3, 5)).name == "3+5"
    assert sorted([Span((3, 4)), Span((2, 9)), Span((3,))])[0] == Span((2, 9))


@pytest.mark.parametrize("tokens", [(), (-1,), (0.5,), ("a",), None])
def test_a_span_needs_positions(tokens: Any) -> None:
    with pytest.raises(am.errors.AnnotationError, match="are not positions of words"):
        Span(tokens)


def test_everything_is_frozen() -> None:
    text = document("t", {"a": [{1, 2}]})
    for thing, name in (
        (Span((1,)), "tokens"),
        (Markable("a", Span((1,))), "id"),
        (Judgment("a"), "category"),
        (text.layers["a"], "coder"),
        (text, "id"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, "x")


def test_a_head_is_one_of_the_words() -> None:
    with pytest.raises(am.errors.AnnotationError, match="head of 'm' is word 9"):
        Markable("m", Span((3, 4)), head=9)


def test_all_problems_of_a_layer_are_told_at_once() -> None:
    held = marks(0, 1, 2) | {
        "twin": Markable("twin", Span((2,))),
        "other": Markable("x", Span((7,))),
    }
    with pytest.raises(am.errors.AnnotationError) as caught:
        Layer(
            "ana",
            held,
            {
                "m1": Judgment("m1", "phrase", ("gone",)),
                "m2": Judgment("m2", None, ("m0", "m1")),
                "lost": Judgment("lost", "none"),
                "m0": Judgment("m0", None, (frozenset(),)),
            },
            clusters=(frozenset({"m0", "m1"}), frozenset({"m1", "nobody"})),
            near_identity=frozenset({frozenset({"m0"})}),
            dominating={frozenset({"none such"}): "it"},
        )
    text = str(caught.value)
    assert len(caught.value.problems) == 10
    for said in (
        "filed under 'other'",
        "'m2' and 'twin' have the same words",
        "'m1' points at 'gone'",
        "A judgment is about 'lost'",
        "A reading of 'm0' has no antecedent",
        "'m2' has 2 readings, but clusters are given too",
        "'m1' is in two clusters",
        "A cluster holds 'nobody'",
        "joins 1 markables",
        "names 'none such'",
    ):
        assert said in text
    assert all(problem.remedy for problem in caught.value.problems)


def test_a_document_checks_spans_and_coders() -> None:
    layer = Layer("ana", marks(0, 9))
    with pytest.raises(am.errors.AnnotationError) as caught:
        Document("t", ("a", "b"), layers={"ben": layer})
    assert [p.what for p in caught.value.problems] == [
        "The layer of 'ana' is filed under 'ben'.",
        "Beyond the last word: 1 markable; 'm9' has word 9, but the words are 0 to 1.",
    ]


def test_spans_not_ids_tell_what_coders_share() -> None:
    one = Layer("a", {"x1": Markable("x1", Span((0,))), "x2": Markable("x2", Span((2, 3)))})
    two = Layer("b", {"m": Markable("m", Span((2, 3))), "x1": Markable("x1", Span((2,)))})
    text = Document("t", tuple("vwxyz"), layers={"a": one, "b": two})
    assert [span.name for _, span in text.shared()] == ["2-3"]
    report = text.unaligned().set_index("span")
    assert report.loc["0", ["text", "marked", "missing"]].tolist() == ["v", "a", "b"]
    assert report.loc["2", ["text", "marked", "missing"]].tolist() == ["x", "b", "a"]
    assert text.text(Span((0, 1, 4))) == "v w … z"


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (["ab", "c"], "'ab' is not a cluster"),
        ([1, 2], "1 is not a cluster"),
        ([{"a", "b"}, {"b"}], r"In two clusters: 1 mention \(\"?'b'"),
        ([[{"a": 1}]], "cannot name a mention"),
    ],
)
def test_wrong_clusters_are_answered_in_words(clusters: Any, message: str) -> None:
    for call in (link_table, pair_table):
        with pytest.raises(am.errors.AnnotationError, match=message):
            call(clusters, clusters)


@pytest.mark.parametrize(
    "x",
    [[{"a", "b"}, {"c"}], {"a": "x", "b": "x", "c": None}, {1: {"a", "b"}, 2: {"c"}}],
    ids=range(3),
)
@pytest.mark.parametrize(
    "y",
    [[("a", "b", "c")], {"a": 1, "b": 1, "c": 1}, {"k": ["a", "b", "c"]}, [list("abca")]],
    ids=range(4),
)
def test_clusters_in_many_forms(x: Any, y: Any) -> None:
    if isinstance(x, list):
        x = [sorted(cluster) for cluster in x]
    assert tuple(link_table(x, y)) == (1, 1, 0, 0)
    assert tuple(pair_table(x, y)) == (1, 0, 2, 0)


def test_layers_are_clusters_too() -> None:
    text = document("t", {"x": [{"a", "b"}, {"c"}], "y": [{"a", "b", "c"}]})
    x, y = text.layers["x"], text.layers["y"]
    assert tuple(link_table(x, y)) == (1, 1, 0, 0)
    assert score(x, y)["muc"].recall == 1


def test_mentions_of_one_coder_only() -> None:
    x, y = [{"a", "b", "x"}], [{"a", "b", "y"}]
    assert tuple(pair_table(x, y)) == tuple(pair_table(x, y, missing="drop")) == (1, 0, 0, 0)
    assert tuple(pair_table(x, y, missing="singleton")) == (1, 2, 2, 1)
    with pytest.raises(am.errors.AnnotationError, match="not about the same mentions"):
        pair_table(x, y, missing="error")


def test_a_corpus_is_a_document_or_several_with_names_of_their_own() -> None:
    text = document("t", {"a": [{1, 2}], "b": [{1}, {2}]})
    assert agreement(text, "cluster").value == agreement([text], "cluster").value
    with pytest.raises(am.errors.AnnotationError, match="Documents have the same name: 't'"):
        agreement([text, text], "cluster")
    with pytest.raises(
        am.errors.AnnotationError, match="A Document was expected, but this is 'str'"
    ):
        agreement(["t"], "cluster")  # type: ignore[list-item]
