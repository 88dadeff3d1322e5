"""Truth that gold labels are judged by: its files, and what is wrong with them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import annomodels as am
from annomodels.io.mappings import truths_from, truths_of

ROWS = [(item, coder, label) for item, label in ((1, "x"), (2, "y"), (3, "x")) for coder in "abc"]


@pytest.mark.parametrize(
    "text",
    [
        "item,truth\n1,x\n2,y\n",
        "note\ttask_id\tgold\nwhy\t1\tx\n\t2\ty\n",
        "item;label;coder\n1;x;expert\n2;y;expert\n",
        "1,x\n2,y\n",
        "sentence,tag\n1,x\n2,y\n9,\n",
        '{"1": "x", "2": "y", "9": null}',
        '﻿item,truth\n1,x\n2,y\n"9",""\n',
    ],
)
def test_every_way_to_write_it_is_the_same_truth(write, text: str) -> None:
    found = truths_from(write(text))
    assert {item: found[item] for item in ("1", "2")} == {"1": "x", "2": "y"}
    assert "9" not in found
    data = am.Annotations.from_records(ROWS)
    assert truths_of(write(text), data) == {1: "x", 2: "y"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("item,truth\n", "file contains no truths"),
        ("a,b,c\n1,x,3\n", "not a table of truths"),
        ("item,truth\n1,x\n1,y\n", "1 item with more than one truth"),
        ("item,truth,note\n1\n", "fewer cells"),
        ('{"1": ["x"]}', "not a table of truths"),
        ("item,truth\n7,x\n", "None of the items in the file is in the data"),
        ("item,truth\n1,z\n", "outside the label set"),
    ],
)
def test_what_is_wrong_is_said(write, text: str, said: str) -> None:
    with pytest.raises(am.errors.AnnotationError, match=said):
        truths_of(write(text), am.Annotations.from_records(ROWS))


def test_truth_that_the_fit_was_told_cannot_judge_it(write) -> None:
    data = am.Annotations.from_records(ROWS).with_truth({1: "x"})
    path = write("item,truth\n1,x\n")
    with pytest.raises(am.errors.AnnotationError, match="has already seen it"):
        truths_of(path, data)
    assert truths_of(write("item,truth\n1,x\n2,y\n", "more.csv"), data) == {1: "x", 2: "y"}


WORDS = st.sampled_from(
    ["item", "truth", "label", "1", "2", "x", "y", ",", ";", "\t", "\n", '"', "{", "}", ":", "null"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=60), st.lists(WORDS, max_size=25).map("".join).map(str.encode)))
def test_whatever_stands_in_the_file_it_is_truth_or_a_problem_in_words(tmp_path, content) -> None:
    path = tmp_path / "truth"
    path.write_bytes(content)
    found = {}
    with contextlib.suppress(am.errors.AnnotationError):
        found = truths_of(path, am.Annotations.from_records(ROWS))
    assert set(found) <= {1, 2, 3}
    assert set(found.values()) <= {"x", "y"}
