"""What a refusal proposes beside the cases: options that were said, large files, standard input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import annomodels as am
from annomodels.cli.main import main
from annomodels.errors import AnnotationError

CASES = Path(__file__).parent / "cases" / "proposals"


def test_a_proposal_keeps_what_was_said_and_replaces_what_was_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = CASES / "options_several_columns" / "votes.csv"
    words = ["check", str(path), "--item", "dialog_id", "--coder", "annotator", "--label", "act"]
    assert main([*words, "--scale", "nominal"]) == 3
    error = capsys.readouterr().err
    assert "--scale nominal --item dialog_id,turn_id\n" in error
    assert error.count("--item dialog_id") == 2  # in the fix, and in the command
    assert "reads 30 items × 3 coders × 3 labels, 90 annotations" in error


def test_large_files_are_refused_without_trying(monkeypatch: pytest.MonkeyPatch) -> None:
    from annomodels.io import proposals

    monkeypatch.setattr(proposals, "LARGEST", 100)
    with pytest.raises(AnnotationError) as caught:
        am.read(CASES / "options_art_id" / "votes.csv")
    assert caught.value.proposal is None


@pytest.mark.parametrize(
    ("views", "code"), [(("ner", "ner"), "no-units"), (("choice", "ner"), "several-kinds")]
)
def test_columns_of_a_recognized_export_are_not_searched(
    views: tuple[str, str], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its reader does not use columns, so a search costs time and finds nothing."""
    marked = {"spans": [{"start": 0, "end": 1, "label": "X"}]}
    rows = [
        {"text": "t", "_input_hash": n, "_task_hash": n, "answer": "accept", "_view_id": view}
        | {"_session_id": "a"}
        | (marked if view == "ner" else {"accept": ["x"]})
        for n, view in enumerate(views)
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    searched: list[object] = []

    def candidates(*told: object) -> list[dict[str, object]]:
        searched.append(told)
        return []

    monkeypatch.setattr("annomodels.io.proposals.candidates", candidates)
    with pytest.raises(AnnotationError) as caught:
        am.read(path)
    assert [problem.code for problem in caught.value.problems] == [code]
    assert not searched


def test_standard_input_is_read_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with (CASES / "options_art_id" / "votes.csv").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["check", "-"]) == 3
    assert "annomodels check - --coder worker_id --item art_id" in capsys.readouterr().err
