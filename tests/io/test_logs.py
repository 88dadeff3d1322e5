"""Evaluation logs of Inspect AI, promptfoo, DeepEval, lm-evaluation-harness and Langfuse."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annomodels import read, read_questions
from annomodels.errors import AnnotationError
from annomodels.io import formats as registry
from tests.io.asked import rows

CANON = [
    *[("t1", "ana", "pos"), ("t1", "ben", "pos"), ("t1", "cho", "neu"), ("t2", "ana", "neg")],
    *[("t2", "ben", "neg"), ("t2", "cho", "neg"), ("t3", "ana", "pos"), ("t3", "ben", "neu")],
    *[("t4", "ana", "neg"), ("t4", "cho", "pos")],
]


@pytest.fixture
def logs(formats: Path) -> Path:
    return formats / "logs"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("inspect_ai.json", "Inspect AI"),
        ("inspect_ai.eval", "Inspect AI"),
        ("langfuse.csv", "Langfuse"),
        ("langfuse.jsonl", "Langfuse"),
        ("lm_eval", "lm-evaluation-harness"),
    ],
)
def test_shapes_of_logs_become_the_same_table(logs: Path, name: str, title: str) -> None:
    data = read(logs / name)
    prefix = "t" if name == "lm_eval" else ""
    assert [(f"{prefix}{i}", c, label) for i, c, label in rows(data)] == sorted(CANON)
    assert data.notes[0].startswith(f"Read as {title}")
    if name in ("inspect_ai.json", "inspect_ai.eval", "lm_eval"):
        assert data.texts is not None
        assert data.texts[0] == "Great soup!"
    assert (data.gold is not None) == (name == "lm_eval")  # the targets are the truth


# -- Inspect AI ----------------------------------------------------------------------------------


def inspect_log(path: Path, samples: list[Any], **about: Any) -> Path:
    log = {"version": 2, "eval": {"task": "soup", "model": "m", **about}, "samples": samples}
    path.write_text(json.dumps(log))
    return path


def sample(number: Any, epoch: int, **scores: Any) -> dict[str, Any]:
    return {"id": number, "epoch": epoch, "input": [], "scores": scores}


def test_inspect_epochs_models_and_tasks_are_part_of_the_item(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    both = [sample(1, 1, a={"value": "C"}, b={"value": "I"}), sample(1, 2, a={"value": "I"})]
    inspect_log(folder / "one.json", both)
    assert read(folder / "one.json").items == ("1, epoch 1", "1, epoch 2")
    inspect_log(folder / "two.json", both, model="other")
    items = read(folder).items
    assert items[0] == "1, epoch 1, model m"
    assert len(items) == 4


def test_inspect_parts_of_a_score_are_questions_and_edits_are_of_their_author(
    tmp_path: Path,
) -> None:
    edited = {
        "value": "C",
        "history": [{"value": "I"}, {"value": "C", "provenance": {"author": "ana"}}],
    }
    samples = [sample("x", 1, grade=edited), sample("y", 1, grade={"value": "C"}), sample("z", 1)]
    data = read(inspect_log(tmp_path / "a.json", samples))
    assert rows(data) == [("x", "ana", "C"), ("x", "grade", "I"), ("y", "grade", "C")]
    assert data.skips == 1
    parts = [sample(n, 1, judge={"value": {"tone": n % 2, "length": n % 3}}) for n in range(6)]
    found = read_questions(inspect_log(tmp_path / "b.json", parts))
    assert sorted(found) == ["length", "tone"]
    assert found["length"].labels == ("0", "1", "2")


def test_inspect_judges_are_named_with_their_model(tmp_path: Path) -> None:
    scorers = [
        {"name": "inspect_ai/model_graded_qa", "options": {"model": "gpt-a"}},
        {"name": "match", "options": {}},
    ]
    scores = {"model_graded_qa": {"value": "C"}, "match": {"value": "I"}}
    path = inspect_log(tmp_path / "a.json", [sample(1, 1, **scores)], scorers=scorers)
    assert read(path).coders == ("match", "model_graded_qa (gpt-a)")


def test_inspect_logs_that_python_cannot_unpack_say_what_to_do(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.eval"
    path.write_bytes((logs / "inspect_ai.eval").read_bytes())

    def unknown(*args: Any) -> Any:
        raise NotImplementedError("That compression method is not supported")

    monkeypatch.setattr(zipfile, "_get_decompressor", unknown)
    with pytest.raises(AnnotationError, match="inspect log convert, to the format json"):
        read(path)


# -- promptfoo -----------------------------------------------------------------------------------


def test_promptfoo_metrics_are_questions_and_judges_coders(logs: Path) -> None:
    path = logs / "promptfoo.json"
    data = read(path, question="polite")
    assert data.coders == ("openai:gpt-a", "openai:gpt-b")
    assert [label for _, _, label in rows(data)] == ["pass"] * 2 + ["fail"] * 2 + [
        "pass",
        "fail",
        "pass",
        "pass",
    ]
    assert data.texts is not None
    assert data.texts[0] == "A bowl of soup 0."
    scores = read(path, question="polite", label="score", scale="interval")
    assert scores.labels == ("0.1", "0.2", "0.8", "0.9")
    assert rows(read(path, question="overall")) == [("1", "human", "pass")]


def test_promptfoo_people_answer_the_only_question_and_providers_tell_outputs_apart(
    tmp_path: Path,
) -> None:
    def result(provider: str, *parts: Any) -> dict[str, Any]:
        graded = {"pass": True, "componentResults": list(parts)}
        return {"testIdx": 0, "promptIdx": 0, "provider": provider, "gradingResult": graded}

    judge = {"pass": False, "assertion": {"type": "llm-rubric", "value": "Is it polite?"}}
    person = {"pass": True, "assertion": {"type": "human"}}
    lines = [result("x", judge, person), result("y", judge)]
    path = tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    data = read(path)
    assert rows(data) == [
        ("0, provider x", "human", "pass"),
        ("0, provider x", "llm-rubric", "fail"),
        ("0, provider y", "llm-rubric", "fail"),
    ]


def test_promptfoo_texts_that_each_test_has_of_its_own_are_no_questions(tmp_path: Path) -> None:
    lines = [
        {"testIdx": n, "promptIdx": 0, "provider": "x", "gradingResult": {"componentResults": [
            {"pass": n < 2, "assertion": {"type": "icontains", "value": word}}]}}
        for n, word in enumerate(("Earth", "Paris", "56"))
    ]  # fmt: skip
    path = tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    data = read(path)
    assert data.coders == ("icontains",)
    assert [label for _, _, label in rows(data)] == ["pass", "pass", "fail"]


# -- DeepEval ------------------------------------------------------------------------------------


def test_deepeval_runs_of_two_judges_meet_at_their_cases(logs: Path) -> None:
    found = read_questions(logs / "deepeval")
    assert list(found) == ["Answer Relevancy", "Bias"]
    data = found["Answer Relevancy"]
    assert data.coders == ("gpt-a", "gpt-b")
    assert data.n_items == 3
    assert [label for _, _, label in rows(data)] == ["pass", "pass", "pass", "fail", "fail", "fail"]
    assert found["Bias"].skips == 1  # a judge that failed gave no label
    alone = read(logs / "deepeval" / "gpt-a.json", question="Bias", label="score")
    assert alone.labels == ("0.0",)


def test_deepeval_in_snake_case_and_cases_of_one_name(tmp_path: Path) -> None:
    metric = {"name": "M", "success": True, "evaluation_model": "j"}
    cases = [{"name": "case", "metrics_data": [metric], "order": n} for n in range(2)]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"test_results": cases}))
    assert read(path).items == ("case#0", "case#1")


# -- lm-evaluation-harness -----------------------------------------------------------------------


def test_lm_eval_choices_scores_and_filters(tmp_path: Path) -> None:
    folder = tmp_path / "org__model"
    folder.mkdir()
    path = folder / "samples_quiz_2026-01-01T10-00-00.1.jsonl"
    lines = [
        {"doc_id": n, "filter": "none", "target": 1, "acc": float(n % 2),
         "filtered_resps": [["-3.5", "False"], ["-1.5" if n % 2 else "-9", "True"]]}
        for n in range(4)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    data = read(path)
    assert rows(data) == [(str(n), "org/model", str(n % 2)) for n in range(4)]
    assert data.gold is not None
    assert read(path, label="acc").labels == ("0.0", "1.0")
    with pytest.raises(AnnotationError, match="Column 'acx'"):
        read(path, label="acx")
    other = [{**line, "filter": "strict", "filtered_resps": ["A"]} for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *other]))
    assert {label for _, _, label in rows(read(path, question="strict"))} == {"A"}


# -- Langfuse ------------------------------------------------------------------------------------


def test_langfuse_people_evaluators_and_questions(tmp_path: Path) -> None:
    score = {"name": "polite", "dataType": "BOOLEAN", "traceId": "t", "observationId": "o"}
    given = [
        {**score, "id": 1, "source": "ANNOTATION", "authorUserId": "u1", "value": 1,
         "stringValue": "True"},
        {**score, "id": 2, "source": "ANNOTATION", "value": 0, "stringValue": "False"},
        {**score, "id": 3, "source": "EVAL", "value": 1, "stringValue": "True"},
        {**score, "id": 4, "source": "EVAL", "name": "length", "value": 0.5, "stringValue": None},
    ]  # fmt: skip
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"data": given, "meta": {"page": 1}}))
    data = read(path, question="polite")
    assert rows(data) == [
        ("t/o", "ANNOTATION", "False"),
        ("t/o", "EVAL", "True"),
        ("t/o", "u1", "True"),
    ]
    assert any("1 annotations do not say whose" in note for note in data.notes)
    assert read(path, question="length").labels == ("0.5",)


def test_logs_are_told_by_their_own_format_only(logs: Path) -> None:
    mine = {"inspect-ai", "promptfoo", "deepeval", "lm-eval", "langfuse"}
    from annomodels.io.source import Options, Source

    for path in logs.iterdir():
        fit = [f.name for f in registry.FORMATS if f.fits(Source(path), Options())]
        assert set(fit) & mine == {fit[0]}, path
