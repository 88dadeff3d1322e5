"""Spans, layers and documents: what is allowed, said if not, and written and read again."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
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
    link_probabilities,
    link_table,
    pair_table,
    pairs,
    read,
    score,
    silver,
    write,
)
from annomodels.io.coref.writing import to_text
from annomodels.io.writing import OutputError


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


def text(gap: bool = False, name: str = "news/a#2") -> Document:
    spans = {
        "m1": Span((0,)), "m2": Span.between(1, 3), "m3": Span((2,)), "m4": Span.between(5, 6),
        "m5": Span((5, 7)) if gap else Span((7,)), "m6": Span.between(1, 2),
    }  # fmt: skip
    markables = {one: Markable(one, span) for one, span in spans.items()}
    clusters = (frozenset({"m1", "m4", "m6"}), frozenset({"m2", "m5"}))
    layer = Layer("gold", markables, clusters=clusters)
    words = ("Ana", "said", "that", "Ben", "left", "the", "house", ".")
    return Document(name, words, (0, 5), "news", {"gold": layer})


@pytest.mark.parametrize("ending", ["jsonl", "conll"])
def test_what_is_written_is_read_again(tmp_path: Path, ending: str) -> None:
    before = text()
    assert write(before, tmp_path / f"x.{ending}") == ()
    (after,) = read(tmp_path / f"x.{ending}", coder="gold")
    assert after.tokens == before.tokens
    assert after.sentence_starts == before.sentence_starts
    assert (after.id, after.genre) == (before.id, before.genre)
    assert set(after.layers["gold"].groups) == set(before.layers["gold"].groups)


@pytest.mark.parametrize("seed", range(6))
def test_nested_mentions_of_any_shape_come_back(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    spans: set[tuple[int, int]] = set()
    while len(spans) < 25:
        first = int(rng.integers(0, 40))
        last = min(39, first + int(rng.integers(0, 8)))
        if not any(a < first <= b < last or first < a <= last < b for a, b in spans):
            spans.add((first, last))
    markables = {f"{a}-{b}": Markable(f"{a}-{b}", Span.between(a, b)) for a, b in spans}
    groups: dict[int, set[str]] = {}
    for one in sorted(markables):
        groups.setdefault(int(rng.integers(0, 6)), set()).add(one)
    layer = Layer("c", markables, clusters=tuple(map(frozenset, groups.values())))
    made = Document("d", tuple(f"w{n}" for n in range(40)), (0, 11, 30), None, {"c": layer})
    for ending in ("jsonl", "conll"):
        assert write(made, tmp_path / f"x.{ending}") == ()
        (after,) = read(tmp_path / f"x.{ending}", coder="c")
        assert set(after.layers["c"].groups) == set(layer.groups)


def test_gaps_are_kept_in_json_and_told_in_conll(tmp_path: Path) -> None:
    before = text(gap=True)
    assert write(before, tmp_path / "x.jsonl") == ()
    (after,) = read(tmp_path / "x.jsonl")
    assert set(after.layers["gold"].groups) == set(before.layers["gold"].groups)
    (note,) = write(before, tmp_path / "x.conll")
    assert note == "CoNLL-2012 has no gaps: 1 mention left out."


def test_conll_tells_of_spaces_and_of_brackets_that_cross() -> None:
    markables = {"a": Markable("a", Span.between(0, 2)), "b": Markable("b", Span.between(1, 3))}
    layer = Layer("c", markables, clusters=())
    made = Document("d", ("in front", "of", "", "it"), (0,), None, {"c": layer})
    written, notes = to_text(made, "conll")
    assert [note.split(":")[0] for note in notes] == [
        "CoNLL-2012 brackets nest", "Words of CoNLL-2012 contain no spaces",
    ]  # fmt: skip
    rows = [line.split("\t") for line in written.splitlines() if "\t" in line]
    assert {len(row) for row in rows} == {12}
    assert [row[3] for row in rows] == ["in_front", "of", "_", "it"]


def test_single_mentions_can_be_left_out() -> None:
    line = json.loads(to_text(text(), "jsonlines", singletons=False)[0])
    assert line["clusters"] == [[[0, 0], [1, 2], [5, 6]], [[1, 3], [7, 7]]]
    assert len(json.loads(to_text(text(), "jsonlines")[0])["clusters"]) == 3


def test_wrong_requests_are_answered_in_words(tmp_path: Path) -> None:
    two = document("t", {"a": [[1, 2]], "b": [[1], [2]]})
    with pytest.raises(am.errors.AnnotationError, match="2 coders; a file holds one"):
        write(two, tmp_path / "x.jsonl")
    with pytest.raises(am.errors.AnnotationError, match="Unknown coder 'c'"):
        write(two, tmp_path / "x.jsonl", "c")
    with pytest.raises(am.errors.NotApplicable, match="'jsonlines' or 'conll'"):
        write(two, tmp_path / "x.xml", "a")
    write(two, tmp_path / "x.jsonl", "a")
    with pytest.raises(OutputError, match="A file with this name"):
        write(two, tmp_path / "x.jsonl", "b")
    write(two, tmp_path / "x.jsonl", "b", force=True)
    assert json.loads((tmp_path / "x.jsonl").read_text())["coder"] == "b"


@pytest.mark.slow
def test_silver_chains_are_a_layer_with_probabilities(tmp_path: Path) -> None:
    words = ["Ana", "she", "Ben", "he", "her"]
    agreed = [["Ana", "she", "her"], ["Ben", "he"]]
    apart = [["Ana", "she"], ["Ben", "he", "her"]]
    texts = [
        document(f"t{n}", {"a": agreed, "b": agreed, "c": apart if n == 3 else agreed}, order=words)
        for n in range(8)
    ]
    fit = am.fit(pairs(texts), draws=400, chains=2, warmup=200, seed=1)
    drawn = silver(fit, texts)
    assert [one.coders for one in drawn] == [("silver",)] * 8
    for one, before in zip(drawn, texts, strict=True):
        assert set(one.layers["silver"].groups) == set(before.layers["a"].groups)
    known = link_probabilities(fit, texts)
    assert known["t3", Span((4,))] < known["t0", Span((4,))]
    assert ("t0", Span((0,))) not in known
    line = json.loads(to_text(drawn, "jsonlines", probabilities=known)[0].splitlines()[0])
    assert line["clusters"] == [[[0, 0], [1, 1], [4, 4]], [[2, 2], [3, 3]]]
    assert line["p_link"][0][0] is None
    assert all(p > 0.9 for p in line["p_link"][0][1:])
    # no link is probable enough: every mention is alone
    assert all(len(g) == 1 for one in silver(fit, texts, 1.0) for g in one.layers["silver"].groups)
    with pytest.raises(am.errors.AnnotationError, match="in none of the documents"):
        silver(fit, texts[:3])
    write(drawn, tmp_path / "s.conll")
    assert len(read(tmp_path / "s.conll")) == 8
