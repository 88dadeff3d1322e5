"""Every format has an export of our own, and nothing personal is copied from any."""

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
from tests.io.conftest import EXPORTS


def test_every_format_has_an_export_of_our_own(export: Any) -> None:
    found = {chosen("auto", Source(export(name)[0]), Options()).name for name in EXPORTS}
    assert found == {form.name for form in FORMATS}


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[1] / "formats").iterdir()), ids=str)
def test_nothing_personal_but_the_names_of_coders_is_copied(path: Path) -> None:
    with contextlib.suppress(AnnotationError):
        data = read(path)
        kept = repr((data.items, data.coders, data.labels, data.texts, data.groups, data.notes))
        for personal in ("1.2.3.4", "NLD", "98% (49/50)", "Cognito", "IP Address"):
            assert personal not in kept
