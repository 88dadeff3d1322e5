"""Small exports of our own, one for each format, so that readers are tested without other data.

Every one says the same: ana and ben called d1 good, and differ on d2.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import annomodels as am
from annomodels.io import reading
from annomodels.io.proposals import Proposal

sys.path.insert(0, str(Path(__file__).parents[1] / "coref"))

VOTES = [("d1", "ana", "good"), ("d1", "ben", "good"), ("d2", "ana", "bad"), ("d2", "ben", "good")]
TEXT = {"d1": "Nice 😀 tea", "d2": "So so"}

Export = tuple[dict[str, bytes], dict[str, Any]]  # files by path, options of read


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def as_lines(values: list[Any]) -> bytes:
    return b"".join(as_json(value) + b"\n" for value in values)


def as_csv(rows: list[dict[str, Any]], **options: Any) -> bytes:
    return pd.DataFrame(rows).to_csv(index=False, **options).encode()


def as_zip(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def label_studio() -> Export:
    tasks = [
        {
            "id": n,
            "data": {"text": TEXT[item], "doc": item},
            "annotations": [
                {
                    "id": 10 * n + k,
                    "completed_by": coder,
                    "was_cancelled": False,
                    "ground_truth": False,
                    "result": [
                        {
                            "from_name": "mood",
                            "to_name": "text",
                            "type": "choices",
                            "value": {"choices": [label]},
                        }
                    ],
                }
                for k, (i, coder, label) in enumerate(VOTES)
                if i == item
            ],
            "predictions": [],
        }
        for n, item in enumerate(TEXT, 1)
    ]
    return {"export.json": as_json(tasks)}, {"item": "doc"}


def label_studio_table() -> Export:
    rows = [
        {"id": i[1], "doc": i, "text": TEXT[i], "mood": x, "annotator": c, "annotation_id": n,
         "created_at": "2026", "updated_at": "2026", "lead_time": 1.5}
        for n, (i, c, x) in enumerate(VOTES)
    ]  # fmt: skip
    return {"export.csv": as_csv(rows)}, {"item": "doc"}


def prodigy() -> Export:
    rows = [
        {"text": TEXT[i], "meta": {"doc": i}, "_input_hash": int(i[1]), "_task_hash": -int(i[1]),
         "_view_id": "choice", "options": [{"id": "good"}, {"id": "bad"}], "accept": [x],
         "answer": "accept", "_annotator_id": c, "_session_id": c}
        for i, c, x in VOTES
    ]  # fmt: skip
    return {"set.jsonl": as_lines(rows)}, {"item": "doc"}


def doccano() -> Export:
    files = {
        f"{coder}.jsonl": as_lines(
            [{"id": i, "text": TEXT[i], "label": [x], "Comments": []} for i, c, x in VOTES
             if c == coder]
        )
        for coder in ("ana", "ben")
    }  # fmt: skip
    return {"export.zip": as_zip(files)}, {}


def doccano_folder() -> Export:
    lines = {
        "ana": "__label__good a\n__label__bad b\n",
        "ben": "__label__good a\n__label__good b\n",
    }
    return {f"labels/{c}.txt": text.encode() for c, text in lines.items()}, {}


def argilla() -> Export:
    records = [
        {"id": item, "fields": {"text": text}, "suggestions": {}, "metadata": {},
         "responses": {"mood": [{"value": x, "user_id": c} for i, c, x in VOTES if i == item]}}
        for item, text in TEXT.items()
    ]  # fmt: skip
    return {"records.json": as_json(records)}, {}


def argilla_table() -> Export:
    rows = [
        {"id": item, "text": text, "mood.responses": [x for i, _, x in VOTES if i == item],
         "mood.responses.users": ["ana", "ben"], "mood.responses.status": ["submitted"] * 2,
         "mood.suggestion": "good"}
        for item, text in TEXT.items()
    ]  # fmt: skip
    packed = io.BytesIO()
    pd.DataFrame(rows).to_parquet(packed)
    return {"data.parquet": packed.getvalue()}, {}


def argilla_dump() -> Export:
    rows = [
        {"id": item, "mood": {"user_id": ["ana", "ben"], "status": ["submitted"] * 2,
                              "value": [x for i, _, x in VOTES if i == item]}}
        for item in TEXT
    ]  # fmt: skip
    return {"dump.jsonl": as_lines(rows)}, {}


def mturk() -> Export:
    rows = [
        {"HITId": "H" + i, "AssignmentId": i + c, "WorkerId": c, "AssignmentStatus": "Approved",
         "Input.doc": i, "Answer.mood.label": x}
        for i, c, x in VOTES
    ]  # fmt: skip
    return {"batch.csv": as_csv(rows)}, {"item": "doc"}


def mturk_several() -> Export:
    rows = [
        {"HITId": "H", "AssignmentId": c, "WorkerId": c, "Input.doc1": "d1", "Input.doc2": "d2",
         **{f"Answer.mood{i[1]}": x for i, who, x in VOTES if who == c}}
        for c in ("ana", "ben")
    ]  # fmt: skip
    return {"batch.csv": as_csv(rows)}, {"item": "doc"}


def toloka() -> Export:
    rows = [
        {"INPUT:doc": i, "OUTPUT:mood": x, "GOLDEN:mood": "", "ASSIGNMENT:task_id": "T" + i,
         "ASSIGNMENT:worker_id": c, "ASSIGNMENT:status": "APPROVED"}
        for i, c, x in VOTES
    ]  # fmt: skip
    return {"assignments.tsv": as_csv(rows, sep="\t")}, {"item": "doc"}


def appen() -> Export:
    rows = [
        {"_unit_id": i[1], "_golden": "false", "_id": n, "_tainted": "false", "_worker_id": c,
         "_ip": "9.9.9.9", "mood": x, "doc": i, "mood_gold": ""}
        for n, (i, c, x) in enumerate(VOTES)
    ]  # fmt: skip
    return {"full.csv": as_csv(rows)}, {"item": "doc"}


def appen_json() -> Export:
    units = [
        {"id": int(i[1]), "results": {"judgments": [
            {"unit_id": int(i[1]), "unit_data": {"doc": i, "text": TEXT[i]}, "worker_id": c,
             "id": f"{i}{c}", "golden": False, "tainted": False, "data": {"mood": x}}
            for item, c, x in VOTES if item == i]}}
        for i in TEXT
    ]  # fmt: skip
    return {"full.json": as_lines(units)}, {"item": "doc"}


def zooniverse() -> Export:
    drawn = [{"task": "T1", "value": [{"x": 3.5, "y": 8.1, "tool": 0}]}]
    rows = [
        {"classification_id": n, "user_name": c, "user_id": "", "workflow_id": 7,
         "annotations": json.dumps([{"task": "T0", "task_label": "Mood?", "value": x}]),
         "subject_ids": i}
        for n, (i, c, x) in enumerate(VOTES)
    ]  # fmt: skip
    rows += [{**rows[0], "classification_id": 99, "annotations": json.dumps(drawn)}]
    return {"classifications.csv": as_csv(rows)}, {}


def nested() -> Export:
    records = [
        {"id": i, "text": TEXT[i], "annotators": [c for item, c, _ in VOTES if item == i],
         "labels": [x for item, _, x in VOTES if item == i]}
        for i in TEXT
    ]  # fmt: skip
    return {"records.jsonl": as_lines(records)}, {}


def potato() -> Export:
    files = {
        f"annotation_output/{coder}/user_state.json": as_json(
            {"user_id": coder, "instance_id_to_label_to_value":
                {i: [[{"schema": "mood", "name": x}, "true"]] for i, c, x in VOTES if c == coder},
             "instance_id_to_span_to_value": {}}
        )
        for coder in ("ana", "ben")
    }  # fmt: skip
    return files, {}


def potato_table() -> Export:
    rows = [{"instance_id": i, "user_id": c, f"mood.{x}": "true"} for i, c, x in VOTES]
    return {"annotations.csv": as_csv(rows)}, {}


def long() -> Export:
    rows = [dict(zip(("item", "coder", "label"), vote, strict=True)) for vote in VOTES]
    return {"votes.csv": as_csv(rows)}, {}


def wide() -> Export:
    return {"votes.tsv": b"item\tana\tben\nd1\tgood\tgood\nd2\tbad\tgood\n"}, {}


def matrix() -> Export:
    return {"votes.csv": b"1,1\n2,1\n1,NA\n"}, {}


def excel() -> Export:
    packed = io.BytesIO()
    rows = [dict(zip(("item", "coder", "label"), vote, strict=True)) for vote in VOTES]
    pd.DataFrame(rows).to_excel(packed, index=False)
    return {"votes.xlsx": packed.getvalue()}, {}


def brat() -> Export:
    files = {}
    for coder, end in (("ana", 4), ("ben", 6)):
        files[f"marks/{coder}/a.txt"] = TEXT["d1"].encode()
        lines = f"T1\tFood 0 {end}\tNice\nT2\tFood 7 10\ttea\n*\tEquiv T1 T2\nA1\tSure T1\n"
        files[f"marks/{coder}/a.ann"] = lines.encode()
    return files, {"units": "exact", "question": "type"}


def conll() -> Export:
    files = {}
    for coder, tag in (("ana", "I-LOC"), ("ben", "O")):
        files[f"tags/{coder}/a.txt"] = f"Nice B-LOC\n😀 {tag}\n\ntea O\n".encode()
    return files, {"units": "token"}


def webanno() -> Export:
    files = {}
    for coder, label in (("ana", "PER[1]"), ("ben", "_")):
        files[f"project/annotation/a.txt/{coder}.tsv"] = (
            "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Name|value\n\n\n#Text=Nice 😀 tea\n"
            f"1-1\t0-4\tNice\t{label}\t\n1-2\t5-7\t😀\t{label}\t\n1-3\t8-11\ttea\tLOC\t\n"
        ).encode()
    return files, {"units": "exact"}


def cas() -> Export:
    types = (
        '<?xml version="1.0"?><typeSystemDescription '
        'xmlns="http://uima.apache.org/resourceSpecifier"><types><typeDescription>'
        "<name>custom.Name</name><supertypeName>uima.tcas.Annotation</supertypeName><features>"
        "<featureDescription><name>value</name><rangeTypeName>uima.cas.String</rangeTypeName>"
        "</featureDescription></features></typeDescription></types></typeSystemDescription>"
    )
    files = {"project/TypeSystem.xml": types.encode()}
    for coder in ("ana", "ben"):
        xmi = (
            '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
            'xmlns:cas="http:///uima/cas.ecore" xmlns:custom="http:///custom.ecore" '
            'xmi:version="2.0"><cas:NULL xmi:id="0"/><custom:Name xmi:id="9" sofa="1" begin="8" '
            'end="11" value="LOC"/><cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" '
            'mimeType="text" sofaString="Nice 😀 tea"/><cas:View sofa="1" members="9"/></xmi:XMI>'
        )
        files[f"project/annotation/a.txt/{coder}.xmi"] = xmi.encode()
    return files, {"units": "exact"}


def inspect_ai() -> Export:
    files: dict[str, Any] = {"header.json": {"version": 2, "eval": {"task": "t", "model": "m"}}}
    for item in TEXT:
        scores = {coder: {"value": label} for i, coder, label in VOTES if i == item}
        one = {"id": item, "epoch": 1, "input": TEXT[item], "scores": scores}
        files[f"samples/{item}_epoch_1.json"] = one
    return {"log.eval": as_zip({name: as_json(value) for name, value in files.items()})}, {}


def promptfoo() -> Export:
    results = []
    for n, item in enumerate(TEXT):
        parts = [
            {"score": label, "assertion": {"type": "llm-rubric", "provider": coder, "metric": "q"}}
            for i, coder, label in VOTES
            if i == item
        ]
        graded = {"pass": True, "componentResults": parts}
        case = {"description": item}
        output = {"output": TEXT[item]}
        results.append(
            {"testIdx": n, "testCase": case, "gradingResult": graded, "response": output}
        )
    return {"results.json": as_json({"evalId": "e", "results": {"results": results}})}, {}


def deepeval() -> Export:
    cases = [
        {"name": item, "input": TEXT[item], "metricsData": [
            {"name": "mood", "score": x, "evaluationModel": c} for i, c, x in VOTES if i == item]}
        for item in TEXT
    ]  # fmt: skip
    return {"run.json": as_json({"testFile": "a.py", "testCases": cases})}, {}


def lm_eval() -> Export:
    files = {
        f"samples/{coder}/samples_mood_2026-01-01T00-00-00.1.jsonl": as_lines(
            [{"doc_id": i, "doc": {"text": TEXT[i]}, "filtered_resps": [x], "filter": "none"}
             for i, c, x in VOTES if c == coder]
        )
        for coder in ("ana", "ben")
    }  # fmt: skip
    return files, {}


def langfuse() -> Export:
    rows = [
        {"id": n, "name": "mood", "source": "ANNOTATION", "authorUserName": c, "traceId": i,
         "value": 1, "stringValue": x}
        for n, (i, c, x) in enumerate(VOTES)
    ]  # fmt: skip
    return {"scores.csv": as_csv(rows)}, {}


MAKERS: dict[str, Callable[[], Export]] = {
    maker.__name__: maker
    for maker in (
        label_studio, label_studio_table, prodigy, doccano, doccano_folder, argilla, argilla_table,
        argilla_dump, appen_json, nested, mturk, mturk_several, toloka, appen, zooniverse,
        potato, potato_table, long, wide, matrix, excel, brat, conll, webanno, cas, inspect_ai,
        promptfoo, deepeval, lm_eval, langfuse,
    )
}  # fmt: skip


def lay_out(files: dict[str, bytes], folder: Path) -> Path:
    """Write files below a folder; gives the one file, or the outermost folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / next(iter(files)).split("/")[0]


@pytest.fixture(autouse=True)
def _proposals_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run what each refusal proposes, as it is printed: it reads, and gives what it says."""
    own = reading.with_proposal

    def checked(*args: Any) -> am.AnnotationError:
        error = own(*args)
        if isinstance(error.proposal, Proposal) and isinstance(error.proposal.path, (str, Path)):
            call, _, gives = str(error.proposal).partition(" reads ")
            if error.proposal.path != "-":
                found = eval(call, {"annomodels": am})
                assert repr(found).split("\n")[0].split(" · ")[:2] == gives.split(", ")[:2], call
        return error

    monkeypatch.setattr(reading, "with_proposal", checked)


@pytest.fixture
def export(tmp_path: Path) -> Callable[[str], tuple[Path, dict[str, Any]]]:
    """Write an export of our own; gives its path and the options that read it."""

    def write(name: str) -> tuple[Path, dict[str, Any]]:
        files, options = MAKERS[name]()
        return lay_out(files, tmp_path / name), options

    return write


@pytest.fixture(scope="session")
def own_exports() -> dict[str, Export]:
    """Files and options of all exports of our own."""
    return {name: maker() for name, maker in MAKERS.items()}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a text or bytes to a file."""

    def to_file(content: str | bytes, name: str = "votes.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


@pytest.fixture(scope="session")
def votes() -> list[tuple[str, str, str]]:
    """Give what the exports say."""
    return list(VOTES)
