"""Many files as one: one for each coder, batches, files with columns of their own, archives."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from annomodels import read, read_spans, scan
from annomodels.errors import AnnotationError

TONE = {"ana": "xyxyxy", "ben": "xyxyxx", "cem": "yyxyxy"}


def sheet(coder: str) -> pd.DataFrame:
    """Coding sheet of one coder, who is named nowhere in it."""
    rows = range(len(TONE[coder]))
    columns = {"ID": [f"t{n}" for n in rows], "tone": list(TONE[coder])}
    return pd.DataFrame({**columns, "depth": [n % 3 + 1 for n in rows]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "coding"
    place.mkdir()
    return place


def task(number: int, label: str, coder: object) -> dict[str, object]:
    """Task of Label Studio with one choice."""
    result = {"from_name": "m", "to_name": "t", "type": "choices", "value": {"choices": [label]}}
    return {"id": number, "data": {"text": "so"}, "annotations": [
        {"id": number, "completed_by": coder, "result": [result]}]}  # fmt: skip


def test_a_folder_of_workbooks_is_the_work_of_those_they_are_called_after(folder: Path) -> None:
    for coder in TONE:
        sheet(coder).to_excel(folder / f"{coder}.xlsx", index=False)
    data = read(folder, item="ID", question="tone")
    assert (data.n_items, data.coders, len(data)) == (6, ("ana", "ben", "cem"), 18)
    assert "ana.xlsx: 6 labels of 6 items by 'ana'." in data.notes
    with pytest.raises(AnnotationError, match="2 questions") as caught:
        read(folder, item="ID")
    assert caught.value.problems[0].choices == ("depth", "tone")
    assert read(folder, question="tone").n_items == 6  # the first column names each item once


def test_names_before_paths_are_the_coders(folder: Path) -> None:
    for n, coder in enumerate(TONE):
        sheet(coder).assign(coder="who").to_csv(folder / f"{n}.csv", index=False)
    paths = {coder: folder / f"{n}.csv" for n, coder in enumerate(TONE)}
    assert read(paths, item="ID", label="tone").coders == ("ana", "ben", "cem")


def test_files_of_one_folder_may_have_different_formats(folder: Path) -> None:
    sheet("ana").to_csv(folder / "ana.csv", index=False)
    sheet("ben").to_json(folder / "ben.jsonl", orient="records", lines=True)
    sheet("cem").to_csv(folder / "cem.tsv", index=False, sep="\t")
    (folder / "README.txt").write_text("How we coded.")
    assert read(folder, item="ID", label="tone").n_coders == 3


def test_a_cell_that_a_file_lacks_is_no_skip_and_an_empty_one_is(folder: Path) -> None:
    sheet("ana").to_csv(folder / "ana.csv", index=False)
    sheet("ben").assign(tone=["x", "", "x", "y", "x", "x"]).to_csv(folder / "ben.csv", index=False)
    data = read(folder, item="ID", label="tone")
    assert (len(data), data.skips) == (11, 1)
    assert any("1 of 6 items are in one of the files only" in note for note in data.notes)


def test_every_file_that_lacks_a_column_is_named(folder: Path) -> None:
    sheet("ana").to_csv(folder / "ana.csv", index=False)
    sheet("ben").rename(columns={"ID": "Id"}).to_csv(folder / "ben.csv", index=False)
    sheet("cem").drop(columns="tone").to_csv(folder / "cem.csv", index=False)
    with pytest.raises(AnnotationError) as caught:
        read(folder, item="ID", label="tone")
    said = [(problem.what, problem.where) for problem in caught.value.problems]
    assert [(what.split("'")[1], Path(where).name) for what, where in said] == [
        ("ID", "ben.csv"),
        ("tone", "cem.csv"),
    ]
    assert "Did you mean 'Id'" in caught.value.problems[0].remedy


def test_a_coder_in_two_files_is_refused_unless_items_were_shown_again(folder: Path) -> None:
    for name in ("one", "two"):
        sheet("ana").assign(coder="ana").to_csv(folder / f"{name}.csv", index=False)
    with pytest.raises(AnnotationError, match="'ana' labeled 6 items in two files") as caught:
        read(folder, item="ID", label="tone")
    assert "one.csv" in caught.value.problems[0].where
    assert "repeats='all'" in caught.value.problems[0].remedy
    assert read(folder, item="ID", label="tone", repeats="all").repeats == 6


def test_paths_at_which_there_is_nothing_are_all_named(folder: Path) -> None:
    with pytest.raises(AnnotationError) as caught:
        read({"ana": folder / "ana.csv", "ben": folder / "ben.csv"})
    assert len(caught.value.problems) == 2


def test_judges_give_the_columns_that_their_files_have(folder: Path) -> None:
    human = pd.DataFrame({"idx": range(6), "a1": list("112012"), "a2": list("112212")})
    human.to_json(folder / "human.json", orient="records")
    judge = pd.DataFrame({"idx": range(1, 7), "gpt": ["1", "2", "Tie", "1", "1", "2"]})
    judge.to_json(folder / "gpt.json", orient="records")
    data = read([folder / "human.json", folder / "gpt.json"], item="idx",
                coder_columns=["a1", "a2", "gpt"], map={"Tie": "0"})  # fmt: skip
    assert (data.n_items, len(data), data.skips) == (7, 18, 0)
    assert data.coders == ("a1", "a2", "gpt")
    assert data.labels == ("0", "1", "2")


def test_people_in_columns_and_judges_in_rows(folder: Path) -> None:
    human = pd.DataFrame({"idx": range(6), "a1": list("112012"), "a2": list("112212")})
    human.to_csv(folder / "human.csv", index=False)
    for name in ("gpt", "claude"):
        pd.DataFrame({"idx": range(6), "verdict": list("112112")}).to_csv(
            folder / f"{name}.csv", index=False
        )
    paths = {name: folder / f"{name}.csv" for name in ("human", "gpt", "claude")}
    data = read(paths, item="idx", coder_columns=["a1", "a2"], label="verdict")
    assert data.coders == ("a1", "a2", "claude", "gpt")
    assert data.is_complete


def test_batches_of_a_wide_table_keep_their_columns_as_coders(folder: Path) -> None:
    for batch in (1, 2):
        rows = {
            "item": [f"b{batch}-{n}" for n in range(4)],
            "ana": list("xyxy"),
            "ben": list("xyyy"),
        }
        pd.DataFrame(rows).to_csv(folder / f"batch{batch}.csv", index=False)
    data = read(folder)
    assert (data.n_items, data.coders) == (8, ("ana", "ben"))


def test_exports_of_a_tool_are_joined_and_named(folder: Path) -> None:
    for coder in ("ana", "ben"):
        tasks = [task(n, TONE[coder][n], 1) for n in range(6)]
        (folder / f"{coder}.json").write_text(json.dumps(tasks))
    data = read({"ana": folder / "ana.json", "ben": folder / "ben.json"})
    assert (data.n_items, data.coders, len(data)) == (6, ("ana", "ben"), 12)
    assert any("ben.json: 6 labels of 6 items by 'ben'" in note for note in data.notes)


def test_spans_in_a_file_for_each_coder(folder: Path) -> None:
    for coder, end in (("ana", 4), ("ben", 7)):
        value = {"start": 0, "end": end, "labels": ["PER"]}
        result = {"from_name": "l", "to_name": "t", "type": "labels", "value": value}
        tasks = [{"id": 1, "data": {"text": "Haag in Paris"}, "annotations": [
            {"id": 1, "completed_by": 1, "result": [result]}]}]  # fmt: skip
        (folder / f"{coder}.json").write_text(json.dumps(tasks))
    paths = {coder: folder / f"{coder}.json" for coder in ("ana", "ben")}
    assert read(paths, units="overlap").coders == ("ana", "ben")
    assert repr(read_spans(paths)) == "2 spans · 1 document · 2 coders"


def test_accounts_and_task_numbers_of_several_projects_are_not_taken_for_the_same(
    folder: Path,
) -> None:
    for n, coder in enumerate(("ana", "ben")):
        (folder / coder).mkdir()
        for place in range(2):
            value = {"start": 0, "end": 4 + n, "labels": ["PER"]}
            result = {"from_name": "l", "to_name": "t", "type": "labels", "value": value}
            made = [{"id": 1, "completed_by": 1, "result": [result]}]
            tasks = [{"id": 1, "data": {"text": f"Haag {(place + n) % 2}"}, "annotations": made}]
            (folder / coder / f"part{place}.json").write_text(json.dumps(tasks))
    with pytest.raises(AnnotationError) as caught:
        read(folder)
    assert [one.where for one in caught.value.problems] == [
        "4 files: ana/part0.json, ana/part1.json, ben/part0.json, ben/part1.json"
    ]
    with pytest.raises(AnnotationError, match=f"(?s)one coder, .1.*ana={folder}/ana ben="):
        read(folder, units="exact")
    paths = {coder: folder / coder for coder in ("ana", "ben")}
    spans = read_spans(paths)
    assert (spans.coders, len(spans.seen)) == (("ana", "ben"), 2)
    assert any("matched by their texts" in note for note in spans.notes)


def test_one_file_for_each_worker_in_an_archive(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for coder in TONE:
            archive.writestr(f"all/{coder}/codes.csv", sheet(coder).to_csv(index=False))
    path = tmp_path / "work.zip"
    path.write_bytes(packed.getvalue())
    assert read(path, item="ID", label="tone").coders == ("ana", "ben", "cem")


def test_a_tool_that_writes_a_file_for_each_coder_is_known_by_names_too(folder: Path) -> None:
    for coder in ("ana", "ben"):
        place = folder / f"of-{coder}"
        place.mkdir()
        (place / "d.txt").write_text("Haag in Paris")
        (place / "d.ann").write_text("T1\tPER 0 4\tHaag\n")
    paths: dict[str, str | Path] = {name: folder / f"of-{name}" for name in ("ana", "ben")}
    assert read(paths, units="exact").coders == ("ana", "ben")


@pytest.mark.parametrize("paths", [[None], [5], {"ana": 5}, [b"a.csv"]])
def test_what_is_no_path_is_said(paths: object) -> None:
    with pytest.raises(AnnotationError, match="A file name was expected"):
        read(paths)  # type: ignore[arg-type]
    if not isinstance(paths, dict):
        with pytest.raises(AnnotationError, match="A file name was expected"):
            scan(paths)  # type: ignore[arg-type]


# -- on the command line ---------------------------------------------------------------------


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, object]]:
    from annomodels.cli.main import main

    def run(*words: object) -> dict[str, object]:
        capsys.readouterr()
        code = main(["check", *map(str, words), "--json"])
        out, err = capsys.readouterr()
        if code != 0:
            return {"code": code, "err": err}
        checks = json.loads(out)["checks"]
        return {name: checks[name]["value"] for name in ("items", "coders", "labels_given")}

    return run


def test_paths_with_and_without_names(folder: Path, check: Callable[..., object]) -> None:
    for coder in TONE:
        sheet(coder).to_csv(folder / f"{coder}.csv", index=False)
    options = ("--item", "ID", "--label", "tone")
    wanted = {"items": 6, "coders": 3, "labels_given": 18}
    paths = [folder / f"{coder}.csv" for coder in TONE]
    assert check(folder, *options) == wanted
    assert check(*paths, *options) == wanted
    assert check(f"eve={paths[0]}", *paths[1:], *options) == wanted
    mapped = check(*paths, *options, "--map", "x=y")
    assert mapped["code"] == 3  # type: ignore[index]
    assert "All 2 labels become 'y'" in mapped["err"]  # type: ignore[index]
    assert check(*paths, *options, "--map", "xy")["code"] == 2  # type: ignore[index]


def test_the_same_numbers_for_different_texts_are_no_items_of_several_coders(
    tmp_path: Path,
) -> None:
    for who in ("en", "fr"):
        rows = [f"{n},a sentence in {who} with number {n},{'xy'[n % 2]}" for n in range(20)]
        (tmp_path / f"{who}.csv").write_text("number,tweet,mood\n" + "\n".join(rows) + "\n")
    with pytest.raises(AnnotationError, match="'tweet' differs in 20 of the 20 rows"):
        read(tmp_path, label="mood")


def test_files_that_are_objects_by_item_are_of_a_coder_each(folder: Path) -> None:
    for coder, labels in TONE.items():
        held = {f"t{n}": label for n, label in enumerate(labels)}
        (folder / f"{coder}.json").write_text(json.dumps(held))
    data = read(folder)
    assert (data.n_items, data.coders, data.labels, len(data)) == (6, tuple(TONE), ("x", "y"), 18)
    for coder, labels in TONE.items():
        both = {"a": {"tone": labels[0], "words": []}, "b": {"tone": labels[1], "words": [1]}}
        held = {f"d{n}": {**both, "about": {"kind": "k"}} for n in range(9)}
        (folder / f"{coder}.json").write_text(json.dumps(held))
    with pytest.raises(AnnotationError, match="label='tone'") as caught:
        read(folder)
    assert len(caught.value.problems) == 1
    data = read(folder, label="tone")
    assert (data.n_items, data.n_coders, data.items[:2]) == (18, 3, ("d0,a", "d0,b"))
    for n, coder in enumerate(TONE):
        (folder / f"{coder}.json").write_text(json.dumps({f"p{n}": n, "q": 2}))
    with pytest.raises(AnnotationError, match="object of other fields"):
        read(folder)


def test_fields_of_lists_or_objects_are_no_questions(folder: Path) -> None:
    for coder in TONE:
        held = {"set": "s", "image": {"size": 1}, "annotations": [{"name": "x"}]}
        (folder / f"{coder}.json").write_text(json.dumps(held))
    with pytest.raises(AnnotationError, match="not labels: 'image', 'annotations'"):
        read(folder)
