"""Data frames of any make become the same Annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from annomodels import Annotations
from annomodels.errors import AnnotationError

CELLS: dict[str, list[Any]] = {
    "item": ["t1", "t1", "t2", "t2"],
    "coder": ["ana", "ben", "ana", "ben"],
    "label": ["pos", "NA", "pos", None],
    "doc": ["d1", "d1", "d2", "d2"],
    "truth": ["pos", "pos", None, None],
    "text": ["Hello.", "Hello.", "Bye.", "Bye."],
}


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, lambda c: pl.DataFrame(c).to_pandas()],
    ids=["pandas", "polars", "lazy", "pyarrow", "pandas-from-polars"],
)
def test_every_make_of_frame_gives_the_same(make: Any) -> None:
    data = Annotations.from_frame(make(CELLS), gold="truth", group="doc", text="text")
    assert data.to_frame().to_numpy().tolist() == [
        ["t1", "ana", "pos"],
        ["t1", "ben", "NA"],
        ["t2", "ana", "pos"],
    ]
    assert data.skips == 1
    assert data.gold is not None
    assert data.gold.tolist() == [1, -1]
    assert data.groups == ("d1", "d2")
    assert data.texts == ("Hello.", "Bye.")


@pytest.mark.parametrize(
    "names",
    [
        ("task", "worker", "label"),
        ("item", "rater", "rating"),
        ("unit", "annotator", "annotation"),
        ("subject", "coder", "value"),
        ("Task_ID", "WorkerId", "Label"),
    ],
)
def test_words_of_other_tools_are_known(names: tuple[str, str, str]) -> None:
    frame = pd.DataFrame([["t", "a", "x"], ["t", "b", "y"]], columns=list(names))
    assert Annotations.from_frame(frame).n_coders == 2


def test_numbers_stay_numbers_and_gaps_do_not_make_them_floats() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2], "coder": [7, 8, 7], "label": [3, 1, np.nan]})
    data = Annotations.from_frame(frame)
    assert data.labels == (1, 3)
    assert all(type(name) is int for name in (*data.items, *data.coders, *data.labels))


def test_categories_and_booleans_are_fine() -> None:
    frame = pd.DataFrame({"item": ["t", "t"], "coder": ["a", "b"], "label": [True, False]})
    assert Annotations.from_frame(frame).labels == (False, True)
    frame["label"] = pd.Categorical(["lo", None], categories=["lo", "hi"])
    data = Annotations.from_frame(frame, labels=["lo", "hi"], scale="ordinal")
    assert (data.labels, data.skips) == (("lo", "hi"), 1)


def test_the_own_word_wins_and_two_others_are_asked_about() -> None:
    frame = pd.DataFrame({"task": ["s"], "item": ["t"], "worker": ["a"], "label": ["x"]})
    assert Annotations.from_frame(frame).items == ("t",)
    frame = pd.DataFrame({"task": ["s"], "unit": ["t"], "worker": ["a"], "label": ["x"]})
    with pytest.raises(AnnotationError, match="could hold the item"):
        Annotations.from_frame(frame)


def test_a_conflict_about_an_item_names_item_and_row() -> None:
    frame = pd.DataFrame({**CELLS, "truth": ["pos", "neg", None, None], "doc": list("aabc")})
    with pytest.raises(AnnotationError) as caught:
        Annotations.from_frame(frame, gold="truth", group="doc")
    gold, group = caught.value.problems
    assert gold.where == "data frame, row 2, column 'truth'"
    assert "'t2'" in group.what


def test_all_problems_of_a_frame_come_at_once() -> None:
    frame = pd.DataFrame({"item": [None, "t"], "coder": ["a", ""], "label": ["x", "y"]})
    with pytest.raises(AnnotationError) as caught:
        Annotations.from_frame(frame)
    assert [p.where for p in caught.value.problems] == [
        "data frame, row 1, column 'item'",
        "data frame, row 2, column 'coder'",
    ]
    with pytest.raises(AnnotationError) as caught:
        Annotations.from_frame(frame, coder="codr", gold="gld")
    assert len(caught.value.problems) == 2
    assert "Did you mean 'coder'" in str(caught.value)


def test_lists_as_labels_and_things_that_are_no_frame_are_refused() -> None:
    frame = pd.DataFrame({"item": ["t"], "coder": ["a"], "label": [["x", "y"]]})
    with pytest.raises(AnnotationError, match="row 1"):
        Annotations.from_frame(frame)
    with pytest.raises(AnnotationError, match="'list'"):
        Annotations.from_frame([("t", "a", "x")])
    with pytest.raises(AnnotationError, match="no label"):
        Annotations.from_frame(frame.iloc[:0])


def test_gold_may_be_a_mapping() -> None:
    data = Annotations.from_frame(pd.DataFrame(CELLS), gold={"t2": "pos"})
    assert data.gold is not None
    assert data.gold.tolist() == [-1, 1]
