"""Each format in a small export of our own, and its traps one by one."""

from __future__ import annotations

from typing import Any

import pytest

from annomodels import read
from annomodels.io.assembly import chosen
from annomodels.io.formats import FORMATS
from annomodels.io.source import Options, Source

TABLES = [
    *["label_studio", "label_studio_table", "prodigy", "doccano", "argilla", "argilla_table"],
    *["argilla_dump", "mturk", "mturk_several", "toloka", "appen", "zooniverse"],
    *["potato", "potato_table", "long", "wide", "excel", "inspect_ai", "deepeval"],
    *["lm_eval", "langfuse"],
]


@pytest.mark.parametrize("name", TABLES)
def test_every_export_is_the_same_table(name: str, export: Any, votes: Any) -> None:
    path, options = export(name)
    data = read(path, **options)
    assert sorted(map(tuple, data.to_frame().to_numpy().tolist())) == votes


@pytest.mark.parametrize("name", ["doccano_folder", "promptfoo"])
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
