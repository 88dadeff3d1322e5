"""Each format in a small export of our own, and its traps one by one."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from annomodels import read
from annomodels.errors import AnnotationError
from annomodels.io.assembly import chosen
from annomodels.io.formats import FORMATS
from annomodels.io.source import Options, Source

TABLES = [
    *["label_studio", "label_studio_table", "prodigy", "doccano", "argilla", "argilla_table"],
    *["argilla_dump", "mturk", "mturk_several", "toloka", "appen", "zooniverse", "sagemaker"],
    *["potato", "potato_table", "qualtrics", "long", "wide", "excel", "inspect_ai", "deepeval"],
    *["lm_eval", "langfuse"],
]


@pytest.mark.parametrize("name", TABLES)
def test_every_export_is_the_same_table(name: str, export: Any, votes: Any) -> None:
    path, options = export(name)
    data = read(path, **options)
    assert sorted(map(tuple, data.to_frame().to_numpy().tolist())) == votes


@pytest.mark.parametrize(
    "name", ["sagemaker_all", "inception", "grouped", "doccano_folder", "promptfoo"]
)
def test_exports_that_number_their_items(name: str, export: Any) -> None:
    path, options = export(name)
    data = read(path, **options)
    assert (data.n_items, data.n_coders, len(data)) == (2, 2, 4)
    assert data.votes.tolist() == [[0, 2], [1, 1]]


@pytest.mark.parametrize("name", ["brat", "webanno", "cas"])
def test_exports_of_spans(name: str, export: Any) -> None:
    path, options = export(name)
    data = read(path, **options)
    assert data.coders == ("ana", "ben")
    assert data.items[-1] == "a:7-10" if name == "brat" else "a.txt:7-10"
    assert data.texts is not None
    assert data.texts[-1] == "tea"


def test_every_format_has_an_export_of_our_own(export: Any, own_exports: Any) -> None:
    found = {chosen("auto", Source(export(name)[0]), Options()).name for name in own_exports}
    assert found == {form.name for form in FORMATS}


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[1] / "formats").iterdir()), ids=str)
def test_nothing_personal_but_the_names_of_coders_is_copied(path: Path) -> None:
    with contextlib.suppress(AnnotationError):
        data = read(path)
        kept = repr((data.items, data.coders, data.labels, data.texts, data.groups, data.notes))
        for personal in ("1.2.3.4", "NLD", "98% (49/50)", "Cognito", "IP Address"):
            assert personal not in kept
