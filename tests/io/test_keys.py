"""Items that several columns name, rows that end early, and tables without a header."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annomodels import Annotations, read
from annomodels.errors import AnnotationError
from annomodels.io.records import Records
from annomodels.io.source import Options, Source
from annomodels.io.tables.keys import key_cells, key_of
from annomodels.io.tables.plain import read_wide
from annomodels.io.tables.table import Table

Write = Callable[..., Path]


PAIRS = "prompt,left,right,ana,ben\n" + "".join(
    f"p{n},{a},{b},{a},{b}\n" for n in (1, 2) for a, b in (("x", "y"), ("x", "z"), ("y", "z"))
)


# -- the item is a key -----------------------------------------------------------------------


@pytest.mark.parametrize("item", ["prompt,left,right", ["prompt", "left", "right"]])
def test_several_columns_name_an_item_of_a_wide_table(write: Write, item: Any) -> None:
    data = read(write(PAIRS), item=item, coder_columns=["ana", "ben"])
    assert (data.n_items, data.n_coders, data.repeats) == (6, 2, 0)
    assert data.items[0] == "p1,x,y"
    assert not any("not used" in note for note in data.notes)


def test_several_columns_name_an_item_of_a_long_table(write: Write) -> None:
    rows = "".join(f"d{d},{s},{c},v{s}\n" for d in (1, 2) for s in (1, 2) for c in ("ana", "ben"))
    data = read(write("doc,user,coder,label\n" + rows), item=["doc", "user"])
    assert data.items == ("d1,1", "d1,2", "d2,1", "d2,2")
    assert data.coders == ("ana", "ben")  # "user" is a part of the item, not a coder


def test_names_of_a_key_are_never_the_same_for_different_rows() -> None:
    cells = ["", "a", ",", '"', 'a"', "a,", "a\nb", '""', '","']
    rows = list(itertools.product(cells, repeat=3))
    names = key_cells([list(column) for column in zip(*rows, strict=True)])
    assert len(set(names)) == len(rows)
    assert names[rows.index(("", "", ""))] == ""
    assert [key_of(row) for row in rows] == names


def test_a_column_with_a_comma_in_its_name_can_be_named(write: Write) -> None:
    text = '"last, first",n,coder,label\nx,1,a,p\nx,2,a,q\n'
    assert read(write(text), item="last, first").items == ("x",)
    for item in ('"last, first",n', ["last, first", "n"]):
        assert read(write(text), item=item).items == ("x,1", "x,2")


def test_all_columns_of_a_key_that_are_not_there_are_named(write: Write) -> None:
    with pytest.raises(AnnotationError) as caught:
        read(write(PAIRS), item="promt,left,turn", coder_columns=["ana", "ben"])
    said = [problem.what for problem in caught.value.problems]
    assert [what for what in said if "'promt'" in what or "'turn'" in what] == said
    assert len(said) == 2
    assert "Did you mean 'prompt'" in caught.value.problems[0].remedy


def test_a_key_of_columns_that_a_tool_puts_a_word_before(write: Write) -> None:
    rows = "".join(f"h,{w},{d},{s},l{s}\n" for w in "ab" for d in (1, 2) for s in (1, 2))
    data = read(write("HITId,WorkerId,Input.doc,Input.seg,Answer.x\n" + rows), item="doc,seg")
    assert data.items == ("1,1", "1,2", "2,1", "2,2")


def test_a_key_of_fields_inside_records(write: Write) -> None:
    tasks = [
        {"id": n, "data": {"doc": f"d{n}", "seg": 7}, "annotations": [
            {"completed_by": c, "result": [{"from_name": "m", "to_name": "t", "type": "choices",
                                            "value": {"choices": ["good"]}}]} for c in (1, 2)]}
        for n in (1, 2)
    ]  # fmt: skip
    data = read(write(json.dumps(tasks), "tasks.json"), item=["doc", "seg"])
    assert data.items == ("d1,7", "d2,7")


def test_a_key_of_a_data_frame() -> None:
    import pandas as pd

    frame = pd.DataFrame({"doc": ["a", "a", "b"], "n": [1, 2, 1], "coder": "x", "label": "y"})
    assert Annotations.from_frame(frame, item=["doc", "n"]).items == ("a,1", "a,2", "b,1")


@pytest.mark.parametrize("item", [5, [], ["a", 5], {"a": 1}])
def test_what_is_no_key_is_said(write: Write, item: Any) -> None:
    with pytest.raises(AnnotationError, match="is not a name, nor several"):
        read(write(PAIRS), item=item)


# -- rows that end early, or are broken ------------------------------------------------------


def test_cells_that_no_row_has_are_empty(write: Write) -> None:
    rows = "".join(f"H,{w},d{n},good\n" for w in "ab" for n in (1, 2))
    text = f"HITId,WorkerId,Input.doc,Answer.mood,Approve,Reject\n{rows}"
    data = read(write(text), item="doc")
    assert len(data) == 4
    assert any("'Approve', 'Reject' (all rows)" in note for note in data.notes)


def test_one_broken_row_among_hundreds_is_left_out_and_listed(write: Write) -> None:
    rows = [f"t{n},{c},pos\n" for n in range(100) for c in "ab"]
    rows[6] = "t3,a,pos,or, neg\n"
    data = read(write("item,coder,label\n" + "".join(rows)))
    assert len(data) == 199
    assert any("Left out" in note and "row 8" in note for note in data.notes)
    with pytest.raises(AnnotationError, match="1 row of 5 cells where the header has 3"):
        read(write("item,coder,label\n" + "".join(rows[:20])))


def test_row_names_of_r_have_no_name(write: Write) -> None:
    data = read(
        write('"item" "coder" "label"\n"1" "t1" "a" "so so"\n"2" "t1" "b" "x"\n'), delimiter=" "
    )
    assert data.labels == ("so so", "x")


# -- no header -------------------------------------------------------------------------------


def test_columns_of_a_table_without_a_header(write: Write) -> None:
    text = "w1\turl1\tyes\nw2\turl1\tno\nw1\turl2\tyes\nw2\turl2\tyes\n"
    data = read(write(text, "labels.txt"), columns=["coder", "item", "label"])
    assert (data.items, data.coders, len(data)) == (("url1", "url2"), ("w1", "w2"), 4)
    with pytest.raises(AnnotationError, match=r"columns=\['item', 'coder', 'label'\]"):
        read(write(text + "w3\turl1\tyes\n", "labels.txt"))


def test_blanks_between_cells_and_rows_above(write: Write) -> None:
    text = "3 2 6\n" + "".join(f"{i}   {c}\t {c}\n" for i in range(3) for c in (0, 1))
    data = read(
        write(text, "l.txt"), delimiter=" ", skip_rows=1, columns=["item", "coder", "label"]
    )
    assert (data.n_items, data.n_coders, len(data)) == (3, 2, 6)
    with pytest.raises(AnnotationError, match=r"only numbers.*\n.*\n.*columns="):
        read(write("0 0 0\n0 1 1\n1 0 a\n1 1 0\n"), delimiter=" ", format="long")


def test_columns_are_named_in_tables_only(write: Write) -> None:
    with pytest.raises(AnnotationError, match="in tables only"):
        read(write('{"item": 1}\n', "a.jsonl"), columns=["item", "coder", "label"])
    with pytest.raises(AnnotationError, match="not all different"):
        read(write("1,2,3\n"), columns=["item", "item", "label"])


class Counted(str):
    """Name of a column that counts how often it is looked at."""

    __slots__ = ()
    looks = 0

    def __hash__(self) -> int:
        Counted.looks += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        Counted.looks += 1
        return super().__eq__(other)


def test_twice_the_columns_take_twice_the_looks() -> None:
    looks = []
    for size in (200, 400):
        names = [Counted(f"c{n}") for n in range(size)]
        cells = {"item": ["a", "b"], **{name: ["x", "y"] for name in names}}
        source = Source.of_table(Table(cells, [2, 3], "wide.csv"))
        Counted.looks = 0
        found = Records(source, Options(every=True))
        read_wide(found)
        assert len(found.chosen().labels) == 2 * size
        looks.append(Counted.looks)
    assert looks[1] < 2.5 * looks[0]
