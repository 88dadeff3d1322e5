"""Marked stretches of text and chains: brat, WebAnno TSV 3, UIMA CAS, and rules that make items."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import annomodels as am
from annomodels.errors import AnnotationError
from annomodels.io.span_builder import UNITS, MarkedSpan, Spans, to_code_points


def marks(spans: Spans, question: str) -> list[tuple[int, int, str]]:
    return [(s.start, s.end, s.label) for s in spans.spans if s.question == question]


# -- WebAnno TSV 3 -----------------------------------------------------------------------------


@given(st.lists(st.text("ab😊é", min_size=1, max_size=4), min_size=1, max_size=6), st.data())
def test_webanno_places_are_code_points_in_any_text(words: list[str], data: st.DataObject) -> None:
    from annomodels.io.records import Records
    from annomodels.io.source import Options, Source
    from annomodels.io.tools import projects as reader

    cut = data.draw(st.integers(0, len(words)))
    text, unit, lines, want = "", 0, ["#FORMAT=WebAnno TSV 3.3", "#T_SP=a.L|f", "", ""], []
    for number, sentence in enumerate((words[:cut], words[cut:]), 1):
        lines.append(f"#Text={' '.join(sentence)}")
        for n, word in enumerate(sentence, 1):
            size = len(word.encode("utf-16-le")) // 2
            lines.append(f"{number}-{n}\t{unit}-{unit + size}\t{word}\tX\t")
            want.append((len(text), len(text) + len(word), "X"))
            text, unit = text + word + " ", unit + size + 1
    found = Records(Source("x", data=b""), Options())
    reader._read("\n".join(lines), "d", "ana", found)
    spans = found.spans()
    assert marks(spans, "L.f") == want
    assert spans.texts["d"] == text[:-1]


# -- units -------------------------------------------------------------------------------------

SPANS = Spans(
    (
        MarkedSpan("d", "ana", "NE", 0, 4, "PER"),
        MarkedSpan("d", "ana", "NE", 5, 8, "LOC"),
        MarkedSpan("d", "ben", "NE", 0, 8, "PER"),
        MarkedSpan("e", "ana", "NE", 0, 2, "LOC"),
    ),
    {"d": ("ana", "ben", "cho"), "e": ("ana",)},
    {"d": "Anna saw.", "e": "Oh"},
)


def labels_of(by: str, **options: Any) -> dict[tuple[str, str], Any]:
    frame = SPANS.units(by, **options).to_frame()
    return {(item, coder): label for item, coder, label in frame.to_numpy().tolist()}


def test_exact_units_hold_every_place_and_everybody_who_worked_there() -> None:
    none = "(none)"
    assert labels_of("exact") == {
        ("d:0-4", "ana"): "PER", ("d:0-4", "ben"): none, ("d:0-4", "cho"): none,
        ("d:0-8", "ana"): none, ("d:0-8", "ben"): "PER", ("d:0-8", "cho"): none,
        ("d:5-8", "ana"): "LOC", ("d:5-8", "ben"): none, ("d:5-8", "cho"): none,
        ("e:0-2", "ana"): "LOC",
    }  # fmt: skip


def test_tokens_and_groups_of_overlapping_spans() -> None:
    tokens = labels_of("token")
    assert [tokens[f"d:{p}", "ben"] for p in ("0-4", "5-8", "8-9")] == ["PER", "PER", "(none)"]
    groups = labels_of("overlap", sets=True)
    assert groups["d:0-8", "ana"] == frozenset({"PER", "LOC"})
    assert groups["d:0-8", "cho"] == frozenset()
    assert labels_of("overlap")["d:0-8", "ana"] == "LOC+PER"


def test_units_are_never_guessed() -> None:
    with pytest.raises(AnnotationError, match=r"Unknown unit 'word'") as caught:
        SPANS.units("word")
    assert all(name in str(caught.value) for name in UNITS)
    with pytest.raises(AnnotationError, match="belong to no chains"):
        SPANS.units("chain")
    with pytest.raises(AnnotationError, match="Unknown question 'POS'"):
        SPANS.units("exact", question="POS")
    bare = Spans(SPANS.spans, SPANS.seen)
    with pytest.raises(AnnotationError, match="text of the document 'd' is not"):
        bare.units("token")
    two = Spans((*SPANS.spans, MarkedSpan("d", "ana", "POS", 0, 4, "N")), SPANS.seen)
    with pytest.raises(AnnotationError, match="2 questions: 'NE'"):
        two.units("exact")


def test_spans_can_be_asked_by_distance_of_sets() -> None:
    data = SPANS.units("overlap", sets=True)
    assert isinstance(data, am.Annotations)
    assert data.texts == ("Anna saw", "Oh")


@given(st.text())
def test_places_in_utf_16_become_code_points(text: str) -> None:
    places = to_code_points(text)
    units = 0
    for point, sign in enumerate(text):
        assert places[units] == point
        units += len(sign.encode("utf-16-le", "surrogatepass")) // 2
    assert places[units] == len(text)
    assert len(places) == units + 1
