"""Marks that overlap form groups; what a coder marked in a group is one answer."""

import random

import numpy as np
import pytest

from annomodels.errors import AnnotationError
from annomodels.io.span_builder import MarkedSpan, Spans
from annomodels.spans.groups import groups_of


def spans_of(*marks, seen=("ana", "ben"), texts=None):
    made = tuple(MarkedSpan("d", coder, "NE", a, b, label) for coder, a, b, label in marks)
    return Spans(made, {"d": tuple(seen)}, texts or {})


def test_a_chain_of_overlaps_is_one_group_and_a_split_is_one_answer():
    marks = [
        ("ana", 0, 9, "PER"),
        ("ben", 0, 4, "PER"),
        ("ben", 5, 12, "LOC"),
        ("ana", 20, 22, "LOC"),
    ]
    groups = groups_of(spans_of(*marks))
    assert groups.shapes == (((0, 4), (5, 12)), ((0, 9),), (), ((20, 22),), ())
    # a coder who saw the document and marked nothing at a place says "nothing"
    assert groups.label.tolist() == [2, 1, 1, 0]  # of the longest span of the answer
    assert groups.shape.tolist() == [1, 0, 0, -1]
    assert groups.longest.tolist() == [1, 0, 0, 0, 0]


def test_touching_spans_do_not_overlap():
    groups = groups_of(spans_of(("ana", 0, 4, "PER"), ("ben", 4, 9, "PER")))
    assert len(groups) == 2


def test_order_of_the_spans_does_not_matter():
    marks = [
        (c, a, a + n, k)
        for c in ("ana", "ben")
        for a, n, k in ((0, 3, "X"), (2, 4, "Y"), (8, 2, "X"))
    ]
    one = groups_of(spans_of(*marks, seen=("ana", "ben", "eva")))
    random.Random(1).shuffle(marks)
    other = groups_of(spans_of(*marks, seen=("eva", "ben", "ana")))
    assert one.shapes == other.shapes
    for name in ("label", "shape", "coder", "answer_first", "log_shape", "log_nothing"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_a_slip_in_a_flat_layer_is_left_out_and_said():
    marks = [("ana", 10 * n, 10 * n + 5, "X") for n in range(80)] + [
        ("ben", 0, 9, "X"),
        ("ben", 2, 4, "X"),
    ]
    groups = groups_of(spans_of(*marks))
    assert not groups.nested
    assert groups.notes == ("1 span overlapped a longer span of the same coder and were left out.",)


def test_nested_spans_are_groups_of_their_own():
    marks = [(c, a, b, k) for c in ("ana", "ben") for a, b, k in ((0, 20, "ORG"), (8, 12, "LOC"))]
    groups = groups_of(spans_of(*marks))
    assert groups.nested
    assert groups.shapes == (((0, 20),), (), ((8, 12),), ())
    assert groups.label.tolist() == [2, 2, 1, 1]


def test_the_same_place_with_two_labels_is_nested():
    marks = [(c, 0, 4, k) for c in ("ana", "ben") for k in ("A", "B")]
    groups = groups_of(spans_of(*marks))
    assert groups.nested
    assert sorted(groups.label.tolist()) == [1, 1, 2, 2]


def test_duplicates_count_once():
    once = groups_of(spans_of(("ana", 0, 4, "X"), ("ben", 0, 4, "X")))
    twice = groups_of(spans_of(*[("ana", 0, 4, "X")] * 2, ("ben", 0, 4, "X")))
    assert once.shapes == twice.shapes
    assert np.array_equal(once.label, twice.label)


def test_decisions_are_known_truth_where_they_touch():
    spans = spans_of(
        ("ana", 0, 4, "X"), ("ben", 0, 6, "X"), ("ana", 10, 12, "X"), ("ana", 20, 22, "Y")
    )
    decided = [
        MarkedSpan("d", "", "", 0, 5, "Y"),
        MarkedSpan("d", "", "", 10, 12, "(none)"),
        MarkedSpan("d", "", "", 30, 33, "Z"),
    ]
    groups = groups_of(spans, decisions=decided)
    assert groups.labels == ("X", "Y", "Z")
    assert groups.known.tolist() == [2, 0, -1, 3]
    assert groups.shapes[groups.shape_first[0] + groups.known_shape[0]] == ((0, 5),)
    # an expert is no coder: the answers of the place nobody marked are all "nothing"
    assert groups.label[groups.answer_first[3] :].tolist() == [0, 0]


def test_no_span_can_be_decided_where_the_longest_span_of_an_answer_is_not_its_first():
    spans = spans_of(("ana", 1, 3, "X"), ("ana", 4, 10, "X"), ("ben", 0, 10, "X"))
    groups = groups_of(spans, decisions=[MarkedSpan("d", "", "", 0, 10, "(none)")])
    assert (groups.known.tolist(), groups.known_shape.tolist()) == ([0], [-1])


def test_a_curated_version_is_known_truth_of_its_document():
    made = [MarkedSpan("d", c, "NE", 0, 4, "X") for c in ("ana", "ben", "")] + [
        MarkedSpan("d", "ana", "NE", 8, 9, "X")
    ]
    groups = groups_of(Spans(tuple(made), {"d": ("", "ana", "ben")}))
    assert groups.known.tolist() == [1, 0]
    assert groups.coders == ("ana", "ben")


def test_equal_texts_share_a_context():
    marks = [("ana", 0, 3, "X"), ("ben", 0, 3, "X"), ("ana", 4, 7, "X"), ("ana", 8, 11, "Y")]
    groups = groups_of(spans_of(*marks, texts={"d": "Rom rom Ulm"}))
    assert groups.context[0] == groups.context[1] != groups.context[2]
    assert len(set(groups_of(spans_of(*marks)).context.tolist())) == 1  # without a text: documents


@pytest.mark.parametrize(
    ("marks", "seen", "message"),
    [
        ([], ("ana", "ben"), "No coder marked a span"),
        ([("ana", 0, 4, "X")], ("ana",), "fewer than two coders"),
    ],
)
def test_what_cannot_be_fitted_is_refused(marks, seen, message):
    with pytest.raises(AnnotationError, match=message):
        groups_of(spans_of(*marks, seen=seen))
