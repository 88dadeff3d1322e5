"""Whatever is read, the answer is Annotations or problems in words; nothing else is ever raised."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annomodels import Annotations, read
from annomodels.errors import AnnotationError
from annomodels.io.formats import FORMATS

CELL = st.one_of(
    st.sampled_from(
        ["", "a", "b", "A ", "1", "2", "0", "NA", "None", "-1", "x,y", 'q"q', "é\n", "x" * 300]
    ),
    st.text(max_size=6),
)
ROLES = ["item", "coder", "label", "gold", "text", "question", "annotation_id", "a", "b"]
HEADER = st.one_of(st.sampled_from([*ROLES, "task", "worker", ""]), CELL)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "item": st.sampled_from(["item", "task", "a"]),
        "coder": st.sampled_from(["coder", "item"]),
        "label": st.sampled_from(["label", "gold"]),
        "truth": st.sampled_from(["gold", "label", "zzz"]),
        "group": st.sampled_from(["text", "coder"]),
        "text": st.sampled_from(["text", "label"]),
        "question": st.sampled_from(["a", ""]),
        "format": st.sampled_from(["auto", "long", "wide", "matrix"]),
        "scale": st.sampled_from(["nominal", "ordinal", "interval"]),
        "labels": st.sampled_from([["a", "b"], ["1", "2", "0"]]),
        "missing": st.sampled_from([["NA"], "a"]),
        "coder_columns": st.sampled_from([["a", "b"], ["coder"], []]),
    },
)


def outcome(content: bytes, options: dict[str, Any]) -> Annotations | AnnotationError:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        try:
            return read("-", **options)
        except AnnotationError as error:
            return error


def check(result: Annotations | AnnotationError) -> None:
    if isinstance(result, AnnotationError):
        assert result.problems
        assert all(problem.what and problem.remedy for problem in result.problems)
    else:
        assert len(result) > 0
        assert set(result.item.tolist()) == set(range(result.n_items))
        assert set(result.coder.tolist()) == set(range(result.n_coders))
        assert result.label.min() >= 0
        assert result.label.max() < result.n_labels
        assert len({str(name) for name in result.labels}) == result.n_labels
        assert repr(result)


@pytest.mark.slow
@settings(max_examples=5 * settings().max_examples)
@given(st.lists(HEADER, max_size=5), st.lists(st.lists(CELL, max_size=5), max_size=8), OPTIONS)
def test_any_ragged_table(
    header: list[str], rows: list[list[str]], options: dict[str, Any]
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    check(outcome(text.getvalue().encode("utf-8", "surrogatepass"), options))


@pytest.mark.slow
@settings(max_examples=5 * settings().max_examples)
@given(st.data(), st.sampled_from([",", ";", "\t", "|"]), OPTIONS)
def test_any_rectangular_table(data: st.DataObject, mark: str, options: dict[str, Any]) -> None:
    width = data.draw(st.integers(2, 5))
    header = data.draw(st.permutations(["item", "coder", "label", "gold", "a"]))[:width]
    cells = data.draw(
        st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=8)
    )
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=mark).writerows([header, *cells])
    check(outcome(text.getvalue().encode("utf-8", "surrogatepass"), options))


@settings(max_examples=5 * settings().max_examples)
@given(st.binary(max_size=200), OPTIONS)
def test_any_bytes(content: bytes, options: dict[str, Any]) -> None:
    check(outcome(content, options))


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=5 * settings().max_examples)
@given(
    st.lists(st.dictionaries(st.sampled_from(ROLES), VALUES, max_size=6), max_size=5),
    st.booleans(),
    OPTIONS,
)
def test_any_json(records: list[dict[str, Any]], lines: bool, options: dict[str, Any]) -> None:
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records)
    check(outcome(text.encode(), options))


# Keys by which the exports of tools are recognised, with values of any kind.
TOOL_KEYS = st.sampled_from(
    [
        *["id", "data", "annotations", "completions", "predictions", "completed_by", "result"],
        *["_task_hash", "_input_hash", "answer", "accept", "spans", "_view_id", "meta", "text"],
        *["fields", "responses", "suggestions", "q.responses", "q.responses.users", "label"],
        *["datasetObjectId", "x.annotationsFromAllWorkers", "instance_id", "user_id", "labels"],
        *["annotation_id", "annotator", "lead_time", "HITId", "WorkerId", "_unit_id", "_worker_id"],
        *["from_name", "type", "value", "choices", "status", "%FEATURE_STRUCTURES", "entities"],
    ]
)
TOOL_VALUES = st.recursive(
    VALUES | st.sampled_from(["choices", "labels", "accept", "submitted", "t1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TOOL_KEYS, inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=5 * settings().max_examples)
@given(
    st.lists(st.dictionaries(TOOL_KEYS, TOOL_VALUES, max_size=9), min_size=1, max_size=4),
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            "item": st.sampled_from(["id", "meta.id"]),
            "units": st.sampled_from(["exact", "token", "overlap", "chain"]),
            "models": st.booleans(),
            "sets": st.booleans(),
            "format": st.sampled_from([form.name for form in FORMATS]),
        },
    ),
)
def test_any_record_with_keys_of_tools(
    records: list[dict[str, Any]], lines: bool, options: dict[str, Any]
) -> None:
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records)
    check(outcome(text.encode(), options))


@pytest.mark.slow
@settings(max_examples=5 * settings().max_examples)
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1),
            st.sampled_from(["ana", "ben"]),
            # a blank cell is no label, even if it is declared
            st.text(
                st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1
            ).filter(str.strip),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_a_table_comes_back_as_it_was_written(rows: list[tuple[str, str, str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("item", "coder", "label"), *rows])
    options = {"labels": sorted({row[2] for row in rows}), "repeats": "all"}
    data = outcome(text.getvalue().encode(), options)
    assert isinstance(data, Annotations), data
    got = [tuple(row) for row in data.to_frame().to_numpy().tolist()]
    assert sorted(got) == sorted(rows)
