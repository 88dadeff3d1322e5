"""What is written is read by the tools' own libraries, where they are installed.

Label Studio's SDK, Argilla and datasets are no dependencies, not even of the tests: without them
these tests are skipped, and test_writers.py holds the same files to the shapes that the tools
document.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import annomodels as am
from annomodels import Annotations

TEXTS = {"t1": "Good 😊", "t2": 'So "so"', "7": "=1+1"}
GOLD = pd.DataFrame(
    {
        "item": ["t1", "t2", "7"],
        "label": ["pos", "", "neg"],
        "probability": [0.9, 0.5, 1.0],
        "p_neg": [0.1, 0.5, 1.0],
        "p_pos": [0.9, 0.5, 0.0],
        "votes": ["pos 2, neg 1", "pos 1, neg 1", "neg 3"],
    }
)
ROWS = [("t1", "ana", "pos"), ("t1", "ben", "neg"), ("t2", "ana", "neg"), ("7", "ben", "pos")]
CONFIG = """<View><Text name="text" value="$text"/><Choices name="{}" toName="text">
<Choice value="pos"/><Choice value="neg"/></Choices></View>"""


@pytest.fixture
def data() -> Annotations:
    made = Annotations.from_records(ROWS, gold={"t2": "neg"})
    return made.replace(texts=tuple(TEXTS[item] for item in made.items))


def gold(to: str, path: Path) -> Path:
    return am.write_gold(GOLD, path, to, question="mood", texts=TEXTS)


# -- Label Studio ------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["label-studio", "label-studio-review"])
def test_label_studio_takes_the_predictions_for_its_configuration(to: str, tmp_path: Path) -> None:
    interface = pytest.importorskip("label_studio_sdk.label_interface")
    objects = pytest.importorskip("label_studio_sdk.label_interface.objects")
    config = interface.LabelInterface(CONFIG.format("mood"))
    tasks = json.loads(gold(to, tmp_path / "g.json").read_text())
    for task in tasks:
        objects.TaskValue(**task)
        assert config.validate_task({"data": task["data"]})
        assert all(config.validate_prediction(one) for one in task["predictions"])
    wrong = json.loads(json.dumps(tasks).replace('"pos"', '"perhaps"'))
    assert not all(config.validate_prediction(task["predictions"][0]) for task in wrong)


def test_label_studio_takes_the_judgements_and_converts_them(
    data: Annotations, tmp_path: Path
) -> None:
    interface = pytest.importorskip("label_studio_sdk.label_interface")
    converter = pytest.importorskip("label_studio_sdk.converter")
    path = am.write(data, tmp_path / "d.json", "label-studio")
    config = CONFIG.format("label")
    known = interface.LabelInterface(config)
    for task in json.loads(path.read_text()):
        assert all(known.validate_annotation(one) for one in task["annotations"])
    made = converter.Converter(config, str(tmp_path), download_resources=False)
    made.convert(str(path), str(tmp_path / "min"), "JSON_MIN", is_dir=False)
    made.convert(str(path), str(tmp_path / "csv"), "CSV", is_dir=False)
    for name in ("min/result.json", "csv/result.csv"):
        back = am.read(tmp_path / name, item="item", question="label")
        triples = {tuple(row) for row in back.to_frame().to_numpy().tolist()}
        assert {(item, label) for item, _, label in triples} >= {(i, k) for i, _, k in ROWS}


# -- Argilla -----------------------------------------------------------------------------------


def records(path: Path) -> list[Any]:
    io = pytest.importorskip("argilla.records._io")
    read = io.JsonIO._records_from_json
    return list(read(str(path)))


def test_argilla_builds_records_with_suggestions(tmp_path: Path) -> None:
    first, second, third = records(gold("argilla", tmp_path / "g.json"))
    (suggestion,) = first.suggestions
    assert (first.id, first.fields["text"]) == ("t1", "Good 😊")
    said = suggestion.question_name, suggestion.value, suggestion.score, suggestion.agent
    assert said == ("mood", "pos", 0.9, "annomodels")
    assert not list(second.suggestions)
    assert third.metadata["doubt"] == 0


def test_argilla_builds_records_with_responses(data: Annotations, tmp_path: Path) -> None:
    found = {
        (record.id, response.user_id, response.value)
        for record in records(am.write(data, tmp_path / "d.json", "argilla"))
        for response in record.responses
    }
    assert found == set(ROWS)


# -- datasets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "ending"), [("parquet", "parquet"), ("json", "jsonl"), ("csv", "csv")]
)
def test_datasets_loads_judgements(
    kind: str, ending: str, data: Annotations, tmp_path: Path
) -> None:
    datasets = pytest.importorskip("datasets")
    path = am.write(data, tmp_path / f"d.{ending}")
    table = datasets.load_dataset(
        kind, data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
    ).to_pandas()
    assert set(zip(table["item"].astype(str), table["coder"], table["label"], strict=True)) == set(
        ROWS
    )
    assert set(table["text"]) == set(TEXTS.values())


def test_datasets_loads_soft_labels_and_prodigy_examples(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    crowd = am.datasets.load("crowd")
    fit = am.fit(crowd.select(items=crowd.items[:20]), engine="em", seed=1, starts=1)
    fit.save(tmp_path / "fit.nc")
    from annomodels.cli.main import main

    soft, examples = tmp_path / "soft.parquet", gold("prodigy", tmp_path / "p.jsonl")
    assert main(["gold", str(tmp_path / "fit.nc"), "--to", "parquet", "-o", str(soft), "-q"]) == 0
    for kind, path in (("parquet", soft), ("json", examples)):
        table = datasets.load_dataset(
            kind, data_files=str(path), split="train", cache_dir=str(tmp_path / "cache")
        )
        assert len(table) == (20 if kind == "parquet" else 3)
        if kind == "parquet":
            parts = [name for name in table.column_names if name.startswith("p_")]
            assert parts == ["p_neg", "p_neu", "p_pos"]
            assert all(abs(sum(row[p] for p in parts) - 1) < 1e-6 for row in table)
