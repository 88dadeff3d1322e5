"""Data frames of any make become the same Annotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import annomodels as am
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


def _dask(cells: dict[str, list[Any]]) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(pd.DataFrame(cells), npartitions=2)


MAKES: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "pandas with a named index": lambda c: pd.DataFrame(c).set_index("item"),
    "pandas with an index of two": lambda c: pd.DataFrame(c).set_index(["item", "coder"]),
    "categories": lambda c: pd.DataFrame(c).astype("category"),
    "nullable": lambda c: pd.DataFrame(c).astype("string"),
    "pandas of Arrow": lambda c: pd.DataFrame(c).convert_dtypes(dtype_backend="pyarrow"),
    "pandas from polars": lambda c: pl.DataFrame(c).to_pandas(),
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "dask": _dask,
    "xarray": lambda c: pd.DataFrame(c).rename_axis("row").to_xarray().drop_vars("row"),
    "columns": dict,
    "records": lambda c: pd.DataFrame(c).to_dict("records"),
    "structured array": lambda c: pd.DataFrame(c).to_records(index=False),
}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_every_make_of_frame_gives_the_same(make: Any) -> None:
    data = Annotations.from_frame(make(CELLS), truth="truth", group="doc", text="text")
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
    "make", [pd.DataFrame, np.asarray, lambda m: pd.DataFrame(m, columns=range(1, 4))]
)
def test_a_matrix_has_a_column_for_each_coder(make: Any) -> None:
    cells = np.array([[0, 1, 1], [1, 1, 1], [0, 0, 0], [0, 0, 1]])
    data = Annotations.from_frame(make(cells))
    assert (data.n_items, data.n_coders, data.labels) == (4, 3, (0, 1))
    whole = am.agreement(make(cells), "percent", draws=0).value
    assert whole == am.agreement(data, "percent", draws=0).value


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


def test_all_problems_of_a_frame_come_at_once() -> None:
    frame = pd.DataFrame({"item": [None, "t"], "coder": ["a", ""], "label": ["x", "y"]})
    with pytest.raises(AnnotationError) as caught:
        Annotations.from_frame(frame)
    assert [p.where for p in caught.value.problems] == [
        "data frame, row 1, column 'item'",
        "data frame, row 2, column 'coder'",
    ]
    with pytest.raises(AnnotationError) as caught:
        Annotations.from_frame(frame, coder="codr", truth="gld")
    assert len(caught.value.problems) == 2
    assert "Did you mean 'coder'" in str(caught.value)


def test_lists_as_labels_and_things_that_are_no_frame_are_refused() -> None:
    frame = pd.DataFrame({"item": ["t"], "coder": ["a"], "label": [["x", "y"]]})
    with pytest.raises(AnnotationError, match="row 1"):
        Annotations.from_frame(frame)
    with pytest.raises(AnnotationError, match="'list'"):
        Annotations.from_frame([("t", "a", "x")])
    with pytest.raises(AnnotationError, match="No cell contains a label"):
        Annotations.from_frame(frame.iloc[:0])


def test_unknown_keywords_are_told_which_there_are() -> None:
    with pytest.raises(TypeError, match=r"has no keyword 'truth_column'. Did you mean .*truth"):
        am.read("a.csv", truth_column="truth")
    with pytest.raises(TypeError, match=r"read_questions.* has no keyword 'colour'"):
        am.read_questions("a.csv", colour="red")


def test_a_frame_is_read_as_a_file_is() -> None:
    wide = pd.DataFrame({"doc": ["d1", "d2", "d3"], "ana": list("xyx"), "ben": list("xyy")})
    assert Annotations.from_frame(wide).coders == ("ana", "ben")
    lists = pl.DataFrame(
        {"id": ["t1", "t2"], "annotators": [["a", "b"], ["a", "c"]], "labels": [[1, 0], [1, 1]]}
    )
    data = Annotations.from_frame(lists)
    assert (data.n_items, data.n_coders, len(data)) == (2, 3, 4)
    sheet = pd.DataFrame(
        {"item": [1, 1, 2, 2], "coder": list("abab"), "tone": list("xyxx"), "frame": list("pqpp")}
    )
    tone = Annotations.from_frame(sheet, question="tone", missing=["y"], map={"x": "X"})
    assert (tone.labels, tone.skips) == (("X",), 1)
    with pytest.raises(TypeError, match=r"has no keyword 'colour'.* It has item, coder, label"):
        Annotations.from_frame(sheet, colour="red")


def test_a_refusal_of_a_frame_names_the_call_that_reads_it() -> None:
    rows = [(f"c{n}", f"a{k}", "xy"[(n * k) % 2]) for n in range(20) for k in range(3)]
    frame = pd.DataFrame(rows, columns=["case_id", "annotator_id", "toxic"])
    with pytest.raises(AnnotationError) as caught:
        Annotations.from_frame(frame)
    call = str(caught.value).split("try:   annomodels.")[1].split(" reads ")[0]
    data = eval(call, {"Annotations": Annotations, "frame": frame})
    assert (data.n_items, data.n_coders, len(data)) == (20, 3, 60)


def test_verbs_take_frames_and_paths(tmp_path: Any) -> None:
    frame = pd.DataFrame(CELLS)
    path = tmp_path / "votes.csv"
    frame[["item", "coder", "label"]].to_csv(path, index=False)
    value = am.agreement(Annotations.from_frame(frame), "observed").value
    assert am.agreement(frame, "observed").value == value
    assert am.agreement(path, "observed").value == value
    assert am.agreement(str(path), "observed").value == value
    assert am.advise(frame).model == am.advise(path).model
    fit = am.fit(pl.DataFrame(CELLS), "dawid-skene", engine="em")
    assert fit.data.n_items == 2
    with pytest.raises(AnnotationError, match="does not exist"):
        am.fit("votes")


@pytest.mark.parametrize("make", [pd.Series, lambda pairs: pd.DataFrame(pairs.items())])
def test_answers_are_taken_as_series_and_frames(make: Any) -> None:
    from annomodels.auditing.answers import read_answers

    data = Annotations.from_frame(pd.DataFrame(CELLS))
    given = make({"t1": "pos", "t2": None})
    if isinstance(given, pd.DataFrame):
        given.columns = ["item", "truth"]
    assert read_answers(data, given) == {"t1": "pos"}
    with pytest.raises(AnnotationError, match="Truths were expected"):
        read_answers(data, 7)  # type: ignore[arg-type]


def test_a_key_of_a_data_frame() -> None:
    frame = pd.DataFrame({"doc": ["a", "a", "b"], "n": [1, 2, 1], "coder": "x", "label": "y"})
    assert Annotations.from_frame(frame, item=["doc", "n"]).items == ("a,1", "a,2", "b,1")
