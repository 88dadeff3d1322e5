"""Traps of the exports that are JSON: each is left out, counted, explained or refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annomodels import read, read_spans
from annomodels.errors import AnnotationError
from tests.io.asked import refused, rows

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Write JSON, JSON lines or, for a mapping of names, a folder."""

    def write(value: Any, name: str = "export.json") -> Path:
        path = tmp_path / name
        lines = "".join(json.dumps(part) + "\n" for part in value)
        path.write_text(lines if path.suffix == ".jsonl" else json.dumps(value))
        return path

    return write


# -- Label Studio --------------------------------------------------------------------------------


def annotation(number: int, coder: Any, label: Any, **more: Any) -> dict[str, Any]:
    labels = label if isinstance(label, list) else [label]
    result = [{"from_name": "q", "to_name": "t", "type": "choices", "value": {"choices": labels}}]
    return {"id": number, "completed_by": coder, "result": result, **more}


def task(number: int, *annotations: Any, **more: Any) -> dict[str, Any]:
    return {"id": number, "data": {"text": f"text {number}"}, "annotations": annotations, **more}


def test_label_studio_coders_are_numbers_objects_or_names(put: Put) -> None:
    who = [3, {"id": 4, "email": "a@b.c"}, {"id": 5}, "zoe", {"username": "u"}]
    data = read(put([task(1, *(annotation(n, c, "x") for n, c in enumerate(who, 1)))]))
    assert data.coders == ("3", "5", "a@b.c", "u", "zoe")


def test_label_studio_what_does_not_count(put: Put) -> None:
    data = read(
        put(
            [
                task(
                    1,
                    annotation(1, "a", "x"),
                    annotation(2, "b", "y", was_cancelled=True),
                    annotation(3, "c", "y", skipped=True),
                    annotation(4, "lead", "y", ground_truth=True),
                    annotation(1, "a", "x"),
                    annotation(5, None, "x"),
                    {"id": 6, "completed_by": "d", "result": []},
                    drafts=[annotation(7, "e", "z")],
                    predictions=[annotation(8, None, "z", model_version="m")],
                )
            ]
        )
    )
    assert rows(data) == [("1", "a", "x")]
    assert data.skips == 3
    assert data.gold is not None
    assert data.labels[data.gold[0]] == "y"
    notes = " ".join(data.notes)
    assert "1 row dropped that repeat an annotation id" in notes
    assert "Left out because they name no coder: 1 answer" in notes
    assert "1 annotation marked as ground truth: known truths" in notes


def test_label_studio_exported_again_with_another_label_keeps_the_last(put: Put) -> None:
    data = read(put([task(1, annotation(1, "a", "x"), annotation(1, "a", "y"))]))
    assert rows(data) == [("1", "a", "y")]
    assert any("the last one is kept" in note for note in data.notes)


def test_label_studio_models_on_request_only(put: Put) -> None:
    prediction = annotation(8, None, "z")
    path = put(
        [task(1, annotation(1, "a", "x"), predictions=[{**prediction, "model_version": "m"}])]
    )
    assert read(path).coders == ("a",)
    assert rows(read(path, models=True)) == [("1", "a", "x"), ("1", "model:m", "z")]
    data = read(put([task(1, annotation(1, "a", "x"), predictions=[901])]), models=True)
    assert any("numbers only" in note for note in data.notes)


def test_label_studio_old_key_and_one_task(put: Put) -> None:
    old = {"id": 1, "data": {}, "completions": [annotation(1, "a", "x")]}
    assert rows(read(put([old]))) == [("1", "a", "x")]
    assert rows(read(put(old))) == [("1", "a", "x")]


def test_label_studio_questions_and_their_values(put: Put) -> None:
    def result(name: str, kind: str, value: Any) -> dict[str, Any]:
        return {"from_name": name, "to_name": "t", "type": kind, "value": {kind: value}}

    results = [
        result("stars", "rating", 4),
        result("size", "number", 2.5),
        result("topic", "taxonomy", [["food", "soup"]]),
        {"from_name": "side", "type": "pairwise", "value": {"selected": "left"}},
    ]
    path = put([task(1, {"id": 1, "completed_by": "a", "result": results})])
    text = refused(path)
    assert "4 questions: 'side' (1 label), 'size'" in text
    assert "question='side'" in text
    for question, label in (
        ("stars", "4"),
        ("size", "2.5"),
        ("topic", "food/soup"),
        ("side", "left"),
    ):
        assert read(path, question=question).labels == (label,)
    assert "Did you mean 'stars'" in refused(path, question="star")


def test_label_studio_several_choices_are_one_label_or_a_set(put: Put) -> None:
    path = put([task(1, annotation(1, "a", ["y", "x"]), annotation(2, "b", "x"))])
    data = read(path)
    assert data.labels == ("x", "x|y")
    assert any("'x|y'; sets=True" in note for note in data.notes)
    assert set(read(path, sets=True).labels) == {frozenset({"x"}), frozenset({"x", "y"})}
    bar = put([task(1, annotation(1, "a", ["y", "x"]), annotation(2, "b", "x|y"))])
    assert read(bar).labels == ("x + y", "x|y")


def test_label_studio_labels_of_regions_are_not_labels_of_items(put: Put) -> None:
    twice = annotation(1, "a", "x")
    twice["result"] *= 2
    assert "asked of regions" in refused(put([task(1, twice)]))


def test_label_studio_marked_text_needs_units(put: Put) -> None:
    text = "ab 😊 Paris"

    def marked(number: int, coder: Any, start: int, end: int, **more: Any) -> dict[str, Any]:
        value = {"start": start, "end": end, "text": "Paris", "labels": ["LOC"]}
        result = {"from_name": "ner", "to_name": "t", "type": "labels", "value": value}
        return {"id": number, "completed_by": coder, "result": [result], **more}

    # ana's places count code points, ben's UTF-16 units as some browsers do.
    tasks = [{"id": 1, "data": {"text": text}, "annotations": [
        marked(1, "ana", 5, 10), marked(2, "ben", 6, 11), marked(2, "ben", 6, 11),
        marked(3, "lead", 5, 10, ground_truth=True)]}]  # fmt: skip
    path = put(tasks)
    assert "units=" in refused(path)
    data = read(path, units="exact")
    assert rows(data) == [("1:5-10", "ana", "LOC"), ("1:5-10", "ben", "LOC")]
    assert data.gold is not None
    assert data.gold.tolist() == [0]


def test_regions_of_images_are_said_for_what_they_are(put: Put) -> None:
    where = {"x": 1, "y": 2, "width": 3, "height": 4, "rectanglelabels": ["Car"]}
    box = {"from_name": "b", "type": "rectanglelabels", "value": where}
    drawn = {"id": 1, "completed_by": 1, "result": [box, box]}
    path = put([task(1, drawn)])
    for options in ({}, {"units": "exact"}):
        text = refused(path, **options)
        assert "2 bounding boxes (rectanglelabels) drawn on images" in text
        assert "stretches of text" not in text
    drawn["result"] = [*annotation(1, 1, "x")["result"], box]
    data = read(put([task(1, drawn)]))
    assert data.labels == ("x",)
    assert any("1 bounding box (rectanglelabels)" in note for note in data.notes)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("coco.json", '{"images": [], "annotations": [{"bbox": [1, 2, 3, 4]}]}', "COCO: 1 region"),
        ("via.json", '{"a.jpg": {"regions": [{"shape_attributes": {}}]}}', "VGG Image Annotator"),
        ("me.json", '{"shapes": [{}, {}], "imagePath": "a.jpg"}', "LabelMe: 2 regions"),
        ("p.jsonl", '{"image": "a.jpg", "spans": [{"points": [], "label": "x"}]}', "image.manual"),
        (
            "p.jsonl",
            '{"image": "a.jpg", "spans": [{"points": []}], "_task_hash": 1, "answer": "accept"}',
            "image.manual",
        ),
        ("cvat.xml", '<?xml version="1.0"?><annotations><box label="x"/></annotations>', "CVAT"),
        ("v.xml", "<?xml version='1.0'?><annotation><bndbox></bndbox></annotation>", "Pascal VOC"),
    ],
)
def test_files_of_image_programs_are_named(put: Put, name: str, text: str, said: str) -> None:
    path = put([], name)
    path.write_text(text)
    found = refused(path)
    assert said in found
    assert "give a table with item (the region), coder, label" in found


def test_projects_without_annotations_say_how_to_export(tmp_path: Path) -> None:
    def export(*names: str) -> Path:
        path = tmp_path / "project.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, "#FORMAT=WebAnno TSV 3.3\n" if name[-3:] == "tsv" else "x")
        return path

    unread = ("annotation/d.txt/ana.txt", "annotation_ser/d.txt/ana.ser", "source/d.txt")
    for more in ((), ("curation/d.txt/CURATION_USER.tsv",)):
        for options in ({}, {"units": "exact"}):
            text = refused(export(*unread, *more), **options)
            assert "as .ser and .txt only, and plain text (.txt) holds no annotations" in text
            assert "choose WebAnno TSV 3.3 or UIMA CAS" in text
            assert ("curated version alone" in text) == bool(more)


# -- Prodigy -------------------------------------------------------------------------------------


def example(item: int, coder: str | None, **more: Any) -> dict[str, Any]:
    base = {"text": "t", "_input_hash": item, "_task_hash": -item, "answer": "accept"}
    return {**base, "_view_id": "choice", "_session_id": coder, **more}


def test_prodigy_ignored_rejected_and_empty_answers(put: Put) -> None:
    rows_ = [
        example(1, "d-a", accept=["x"]),
        example(2, "d-a", accept=[]),
        example(3, "d-a", accept=[], answer="ignore"),
        example(4, "d-a", accept=["x"], answer="reject"),
    ]
    data = read(put(rows_, "x.jsonl"))
    assert rows(data) == [("1", "d-a", "x")]
    assert data.skips == 2
    assert any("rejected" in note for note in data.notes)


def test_prodigy_binary_answers_are_the_labels(put: Put) -> None:
    lines = [
        example(1, "a", _view_id="classification", label="RUDE"),
        example(1, "b", _view_id="classification", label="RUDE", answer="reject"),
    ]
    assert read(put(lines, "x.jsonl")).labels == ("accept", "reject")


def test_prodigy_mixed_kinds_are_refused(put: Put) -> None:
    lines = [example(1, "a", accept=["x"]), example(1, "b", _view_id="ner", spans=[])]
    assert "2 kinds of questions: 'choice', 'ner'" in refused(put(lines, "x.jsonl"))


def test_prodigy_without_sessions_the_file_is_the_coder(put: Put, tmp_path: Path) -> None:
    for name in ("ana", "ben"):
        (tmp_path / "sets").mkdir(exist_ok=True)
        put([example(1, None, accept=["x"])], f"sets/{name}.jsonl")
    assert read(tmp_path / "sets").coders == ("ana", "ben")


def test_prodigy_sessions_named_by_a_time_are_reported(put: Put) -> None:
    data = read(put([example(1, "d-2023-07-25_14-50-21", accept=["x"])], "x.jsonl"))
    assert any("without a name" in note for note in data.notes)


def test_prodigy_labels_that_nobody_chose_do_no_harm(put: Put) -> None:
    options = [{"id": "x"}, {"id": "y"}, {"id": "never"}]
    data = read(put([example(1, c, accept=["x"], options=options) for c in "ab"], "x.jsonl"))
    assert data.labels == ("x",)
    assert (
        read(put([example(1, "a", accept=["x"])], "x.jsonl"), labels=["x", "never"]).n_labels == 2
    )


def test_prodigy_spans(put: Put) -> None:
    spans = [{"start": 0, "end": 2, "label": "PER"}]
    tokens = [{"start": 0, "end": 2}, {"start": 3, "end": 5}]
    lines = [
        example(1, "a", _view_id="ner_manual", spans=spans, tokens=tokens, text="Jo is"),
        example(1, "b", _view_id="ner_manual", spans=[], tokens=tokens, text="Jo is"),
    ]
    path = put(lines, "x.jsonl")
    assert "units=" in refused(path)
    assert rows(read(path, units="token")) == [
        *[("1:0-2", "a", "PER"), ("1:0-2", "b", "(none)")],
        *[("1:3-5", "a", "(none)"), ("1:3-5", "b", "(none)")],
    ]


# -- doccano -------------------------------------------------------------------------------------


def packed(path: Path, files: dict[str, list[Any]]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, records in files.items():
            archive.writestr(name, "".join(json.dumps(record) + "\n" for record in records))
    return path


RECORD = {"id": 1, "text": "t", "label": ["x"], "Comments": []}


def test_doccano_without_coders_is_refused_with_the_way_out(put: Put, tmp_path: Path) -> None:
    for path in (packed(tmp_path / "a.zip", {"all.jsonl": [RECORD]}), put([RECORD], "all.jsonl")):
        text = refused(path)
        assert "no names of coders" in text
        assert "Share annotations across all users" in text


def test_doccano_sequences(tmp_path: Path) -> None:
    files = {
        "ana.jsonl": [{"id": 1, "text": "Jo is", "label": [[0, 2, "PER"]]}],
        "ben.jsonl": [{"id": 1, "text": "Jo is", "entities": [
            {"id": 9, "label": "PER", "start_offset": 0, "end_offset": 2}], "relations": []}],
    }  # fmt: skip
    path = packed(tmp_path / "a.zip", files)
    assert "units=" in refused(path)
    assert rows(read(path, units="exact")) == [("1:0-2", "ana", "PER"), ("1:0-2", "ben", "PER")]


def test_doccano_tables_join_labels_with_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ana.csv", "id,text,label\n1,t,x#y\n")
        archive.writestr("ben.csv", "id,text,label\n1,t,x\n")
    assert set(read(path, sets=True).labels) == {frozenset("x"), frozenset("xy")}


# -- Argilla -------------------------------------------------------------------------------------


def test_argilla_status_decides_where_it_is_known(put: Put) -> None:
    record = {"id": "t", "text": "x", "q.responses": ["a", "b", "c", "d"],
              "q.responses.users": ["u1", "u2", "u3", "u4"],
              "q.responses.status": ["submitted", "draft", "discarded", "pending"],
              "q.suggestion": "a", "q.suggestion.agent": "m"}  # fmt: skip
    path = put([record], "x.jsonl")
    data = read(path, coders={"u1": "ana"})
    assert rows(data) == [("t", "ana", "a")]
    assert data.skips == 1
    assert sorted(note for note in data.notes if "Left out" in note) == [
        "Left out because they are drafts: 1 answer.",
        "Left out because they are pending: 1 answer.",
        "Left out because they have no label (skipped or empty): 1 of 2 answers.",
    ]
    assert read(path, models=True).coders == ("model:m", "u1")


def test_argilla_spans_and_rankings_are_left_aside(put: Put) -> None:
    spans = [{"value": [{"start": 0, "end": 1, "label": "x"}], "user_id": "u"}]
    responses = {"ner": spans, "q": [{"value": ["a", "b"], "user_id": "u"}]}
    path = put([{"id": "t", "fields": {}, "suggestions": {}, "responses": responses}])
    data = read(path)
    assert data.labels == ("a|b",)
    assert any("'ner'" in note for note in data.notes)


def test_names_of_coders_from_a_file(put: Put, tmp_path: Path) -> None:
    responses = {"q": [{"value": "a", "user_id": u} for u in ("u1", "u2", "u3")]}
    path = put([{"id": "t", "fields": {}, "suggestions": {}, "responses": responses}])
    (tmp_path / "names.csv").write_text("u1,ana\nu2,ana\n")
    data = read(path, coders=tmp_path / "names.csv")
    assert data.coders == ("ana", "u3")
    assert "1 coder without a name: 'u3'." in data.notes
    assert "3 identifiers belong to 2 coders according to the names given." in data.notes
    (tmp_path / "names.csv").write_text("u1;ana;x\n")
    assert "not a table of coder names" in refused(path, coders=tmp_path / "names.csv")


# -- Potato --------------------------------------------------------------------------------------


def state(tmp_path: Path, coder: str, labels: Any, spans: Any = None) -> Path:
    folder = tmp_path / "annotation_output" / coder
    folder.mkdir(parents=True)
    content = {"user_id": coder, "instance_id_to_label_to_value": labels,
               "instance_id_to_span_to_value": spans or {}}  # fmt: skip
    (folder / "user_state.json").write_text(json.dumps(content))
    return tmp_path / "annotation_output"


def test_potato_old_form_values_and_unticked_options(tmp_path: Path) -> None:
    state(tmp_path, "ana", {"t": [[{"schema": "q", "name": "x"}, "true"],
                                  [{"schema": "q", "name": "y"}, "false"]]})  # fmt: skip
    state(tmp_path, "ben", {"t": {"q": {"y": "true"}}})
    path = state(tmp_path, "cho", {"t": [[{"schema": "q", "name": "scale"}, "4"]], "u": []})
    data = read(path)
    assert rows(data) == [("t", "ana", "x"), ("t", "ben", "y"), ("t", "cho", "4")]
    assert data.skips == 1


def test_potato_radio_buttons_are_their_names_whatever_key_stands_beside(tmp_path: Path) -> None:
    def said(name: str, value: str) -> list[Any]:
        return [[{"schema": "mood", "name": name}, value]]

    state(tmp_path, "ana", {"t": said("good", "good"), "u": said("bad", "bad")})
    path = state(tmp_path, "ben", {"t": said("good", "1"), "u": said("bad", "2")})
    assert read(path).labels == ("bad", "good")
    keys = tmp_path / "keys"
    state(keys, "ana", {"t": said("good", "1"), "u": said("bad", "2")})
    only_keys = state(keys, "ben", {"t": said("good", "2"), "u": said("bad", "1")})
    assert read(only_keys).labels == ("bad", "good")


def test_potato_ratings_of_several_statements_are_questions(tmp_path: Path) -> None:
    def said(clear: str, fair: str) -> list[Any]:
        return [[{"schema": "rate", "name": "clear"}, clear],
                [{"schema": "rate", "name": "fair"}, fair]]  # fmt: skip

    state(tmp_path, "ana", {"t": said("4", "1"), "u": said("1", "1")})
    path = state(tmp_path, "ben", {"t": said("4", "2"), "u": said("2", "5")})
    assert "'rate.clear' (4 labels), 'rate.fair' (4 labels)" in refused(path)
    fair = read(path, question="rate.fair")
    assert [label for _, _, label in rows(fair)] == ["1", "2", "1", "5"]


def test_potato_zero_is_a_rating_where_others_are_numbers(tmp_path: Path) -> None:
    def said(*pairs: Any) -> list[Any]:
        return [[{"schema": "q", "name": name}, value] for name, value in pairs]

    state(tmp_path, "ana", {"t": said(("slider", "0"))})
    path = state(tmp_path, "ben", {"t": said(("slider", "7"))})
    assert read(path).labels == ("0", "7")
    ticks = tmp_path / "ticks"
    path = state(ticks, "ana", {"t": said(("x", "0"), ("y", "1"))})
    assert read(path).labels == ("y",)
    (tmp_path / "rows.csv").write_text("instance_id,user_id,q\nt,ana,0\nt,ben,3\n")
    assert read(tmp_path / "rows.csv").labels == ("0", "3")


def test_potato_spans(tmp_path: Path) -> None:
    span = [[{"schema": "ner", "start": 0, "end": 5, "name": "PER"}, "true"]]
    path = state(tmp_path, "ana", {}, {"t": span})
    state(tmp_path, "ben", {"t": []}, {})
    assert rows(read(path, units="exact")) == [("t:0-5", "ana", "PER"), ("t:0-5", "ben", "(none)")]


def test_doccano_ids_that_are_lists_are_names_like_others(tmp_path: Path) -> None:
    line = json.dumps({"id": [1], "text": "a b", "label": [[0, 1, "x"]]})
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as packed:
        for coder in ("ana", "ben"):
            packed.writestr(f"{coder}.jsonl", line)
    with pytest.raises(AnnotationError, match="contains no spans"):
        read_spans(tmp_path / "export.zip")


def test_an_item_that_is_an_object_is_refused_in_words(put: Put) -> None:
    given = [{"item": {"n": 1}, "coder": c, "label": "x", "text": "t"} for c in "ab"]
    assert "where" in refused(put(given))
