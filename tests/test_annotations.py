"""Annotations: coding, order, problems all at once, copies."""

import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annomodels import Annotations
from annomodels.errors import AnnotationError, NotApplicable, Problem

ROWS = [("t2", "ben", "no"), ("t10", "ana", "yes"), ("t2", "ana", "yes"), ("t10", "ben", "yes")]


def same(a: Annotations, b: Annotations) -> bool:
    codes = all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("item", "coder", "label")
    )
    return codes and (a.items, a.coders, a.labels) == (b.items, b.coders, b.labels)


def test_rows_are_sorted_by_item_then_coder_and_names_naturally() -> None:
    data = Annotations.from_records(ROWS)
    assert data.items == ("t2", "t10")
    assert data.coders == ("ana", "ben")
    assert data.labels == ("no", "yes")
    assert data.item.tolist() == [0, 0, 1, 1]
    assert data.coder.tolist() == [0, 1, 0, 1]
    assert data.label.tolist() == [1, 0, 1, 1]
    assert data.starts.tolist() == [0, 2, 4]
    assert data.votes.tolist() == [[1, 1], [0, 2]]


def test_numbers_are_sorted_by_value_and_keep_their_type() -> None:
    data = Annotations.from_records(
        [(1, 2, 10), (1, 3, 9), (2, 2, -1), (2, 3, 9)], scale="interval"
    )
    assert data.labels == (-1, 9, 10)
    assert data.values.tolist() == [-1, 9, 10]


@given(st.lists(st.tuples(*[st.sampled_from("abcdef1")] * 3), min_size=1), st.randoms())
def test_the_order_of_rows_does_not_matter(
    rows: list[tuple[str, str, str]], chance: random.Random
) -> None:
    rows = list({row[:2]: row for row in rows}.values())  # repeats keep their order, so leave them
    shuffled = chance.sample(rows, len(rows))
    a, b = Annotations.from_records(rows), Annotations.from_records(shuffled)
    assert same(a, b)
    assert a.fingerprint == b.fingerprint
    assert a.notes == b.notes


def test_repeats_keep_their_order_and_can_be_dropped() -> None:
    data = Annotations.from_records([("t", "a", "x"), ("t", "b", "x"), ("t", "a", "y")])
    assert data.repeats == 1
    assert data.label.tolist() == [0, 1, 0]
    assert data.without_repeats().label.tolist() == [0, 0]
    assert data.without_repeats("last").label.tolist() == [1, 0]
    assert data.is_complete
    assert data.is_shared
    assert any("had already labeled the item" in note for note in data.notes)


def test_repeats_of_one_coder_do_not_make_an_item_shared() -> None:
    rows = [("t", "a", "x"), ("t", "a", "y"), ("u", "b", "x"), ("u", "b", "y")]
    assert not Annotations.from_records(rows).is_shared
    assert Annotations.from_records([*rows, ("u", "a", "x")]).is_shared


@pytest.mark.parametrize(
    "missing", [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, ""]
)
def test_a_missing_label_is_counted_as_a_skip(missing: object) -> None:
    data = Annotations.from_records([*ROWS, ("t3", "ana", missing)])
    assert (data.skips, data.n_items) == (1, 2)


@pytest.mark.parametrize("label", ["None", "NA", "null", "nan", "001", "1.0", " ", "0"])
def test_texts_that_look_missing_are_labels(label: str) -> None:
    data = Annotations.from_records([("t", "a", label), ("t", "b", "x")])
    assert label in data.labels


def test_all_problems_come_in_one_error() -> None:
    rows = [("t", "a"), ("t", None, "x"), "abc", {"t", "a", "x"}, ("", "a", "x"), 5]
    with pytest.raises(AnnotationError) as caught:
        Annotations.from_records(rows, source="here")
    shape, empty = caught.value.problems
    assert shape.where == "here, rows 1, 3, 4, 6"
    assert empty.where == "here, rows 2, 5"


def test_labels_outside_the_declared_set_are_named_with_their_rows() -> None:
    with pytest.raises(AnnotationError, match="'maybe'") as caught:
        Annotations.from_records(
            [*ROWS, ("t3", "a", None), ("t3", "b", "maybe")], labels=["no", "yes"]
        )
    assert caught.value.problems[0].where == "row 6"


@pytest.mark.parametrize(
    ("labels", "message"),
    [([], "empty"), (["no", "yes", "no"], "twice"), ("no,yes", "single text"), ([["no"]], "list")],
)
def test_a_wrong_label_set_is_refused(labels: list[str], message: str) -> None:
    with pytest.raises(AnnotationError, match=message):
        Annotations.from_records(ROWS, labels=labels)


def test_cells_that_are_lists_are_a_problem_with_their_row() -> None:
    with pytest.raises(AnnotationError, match="type 'list'") as caught:
        Annotations.from_records([("t", "a", "x"), ("t", "b", ["x", "y"])])
    assert "row 2" in str(caught.value)


def test_sets_of_labels_are_labels() -> None:
    x, xy = frozenset("x"), frozenset("xy")
    data = Annotations.from_records([("t", "a", xy), ("t", "b", x)])
    assert data.labels == (x, xy)


def test_the_same_name_as_text_and_as_number_is_refused() -> None:
    with pytest.raises(AnnotationError, match="as text and as another type"):
        Annotations.from_records([("t", "a", 1), ("t", "b", "1")])


def test_scales_are_checked() -> None:
    with pytest.raises(AnnotationError, match="without an order"):
        Annotations.from_records(ROWS, scale="ordinal")
    with pytest.raises(AnnotationError, match="not numbers"):
        Annotations.from_records(ROWS, scale="ratio")
    with pytest.raises(AnnotationError, match="not a scale"):
        Annotations.from_records(ROWS, scale="fuzzy")  # type: ignore[arg-type]
    assert Annotations.from_records(ROWS, labels=["no", "yes"], scale="ordinal").declared


def test_gold_adds_labels_only_where_their_place_is_clear() -> None:
    data = Annotations.from_records(ROWS, truth={"t2": "maybe", "elsewhere": "odd", "t10": None})
    assert data.labels == ("maybe", "no", "yes")
    assert data.gold is not None
    assert data.gold.tolist() == [0, -1]
    assert [data.labels[k] for k in data.label] == ["yes", "no", "yes", "yes"]
    with pytest.raises(AnnotationError, match="outside the label set"):
        Annotations.from_records(ROWS, labels=["no", "yes"], truth={"t2": "maybe"})
    with pytest.raises(AnnotationError, match="outside the label set"):
        Annotations.from_records(ROWS, truth={"t2": ["maybe"]})


def test_a_selection_keeps_the_label_set_and_what_belongs_to_the_items() -> None:
    data = Annotations.from_records(ROWS, truth={"t10": "yes"}).select(items=["t10"])
    assert data.labels == ("no", "yes")
    assert data.items == ("t10",)
    assert data.gold is not None
    assert data.gold.tolist() == [1]
    assert Annotations.from_records(ROWS).select(coders=["ben"]).coders == ("ben",)
    with pytest.raises(NotApplicable, match=r"no coder 'bem'.*Did you mean 'ben'"):
        Annotations.from_records(ROWS).select(coders=["ben", "bem"])
    with pytest.raises(AnnotationError, match="leaves no annotations"):
        data.select(coders=[])


def test_a_frame_comes_back_as_it_went_in() -> None:
    frame = Annotations.from_records(ROWS).to_frame()
    assert same(Annotations.from_frame(frame), Annotations.from_records(ROWS))


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ([("t", "a", "x"), ("u", "a", "y")], "Only one coder"),
        ([("t", "a", "x"), ("u", "b", "y")], "No item was labelled by two"),
        ([("t", "a", "x"), ("t", "b", "y"), ("u", "c", "x"), ("u", "d", "y")], "2 groups"),
        ([("t", "a", "x"), ("t", "b", "x")], "same label"),
    ],
)
def test_what_limits_the_data_is_said(rows: list[tuple[str, str, str]], note: str) -> None:
    data = Annotations.from_records(rows)
    assert sum(note in text for text in data.notes) == 1


def test_gold_against_the_crowd_and_of_one_class_is_said() -> None:
    rows = [(i, j, "xy"[i % 2]) for i in range(6) for j in range(3)]

    def notes(gold: dict[int, str]) -> str:
        return " ".join(Annotations.from_records(rows, truth=gold).notes)

    assert notes({i: "xy"[i % 2] for i in range(6)}) == ""
    against = notes({i: "yx"[i % 2] for i in range(5)})
    assert "5 of 5 known labels contradict most labels of their items" in against
    assert "All 3 known labels are 'x'" in notes({0: "x", 2: "x", 4: "x"})
    assert notes({0: "y"}) == ""


NAMES = st.one_of(
    st.text(max_size=5), st.integers(), st.floats(), st.none(), st.booleans(), st.lists(st.text())
)


@settings(max_examples=5 * settings().max_examples)
@given(st.lists(st.one_of(st.tuples(NAMES, NAMES, NAMES), st.lists(NAMES, max_size=4), NAMES)))
def test_any_rows_give_annotations_or_a_sentence(rows: list[object]) -> None:
    problems: tuple[Problem, ...] = ()
    data = None
    try:
        data = Annotations.from_records(rows)  # type: ignore[arg-type]
    except AnnotationError as error:
        problems = error.problems
    assert all(problem.what and problem.remedy for problem in problems)
    if data is None:
        assert problems
    else:
        assert len(data) + data.skips == len(rows)
        assert len(repr(data)) > 10
        assert len(data.fingerprint) == 12


def test_long_numbers_in_names_are_sorted_too() -> None:
    names = ["t" + "9" * 5000, "t" + "1" * 5000, "t2"]
    data = Annotations.from_records([(name, "a", "x") for name in names])
    assert data.items == (names[2], names[1], names[0])


def test_a_notebook_shows_sizes_and_notes_without_running_what_names_say() -> None:
    data = Annotations.from_records([("t1", "ana", "pos")], source="<script>.csv")
    assert "&lt;script&gt;.csv" in data._repr_html_()
    assert "<script>" not in data._repr_html_()
    assert "<li>Only one coder" in data._repr_html_()
