"""Evaluation logs that this Python cannot unpack."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from annomodels import read
from annomodels.errors import AnnotationError


def test_inspect_logs_that_python_cannot_unpack_say_what_to_do(
    formats: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.eval"
    path.write_bytes((formats / "logs" / "inspect_ai.eval").read_bytes())

    def unknown(*args: Any) -> Any:
        raise NotImplementedError("That compression method is not supported")

    monkeypatch.setattr(zipfile, "_get_decompressor", unknown)
    with pytest.raises(AnnotationError, match="inspect log convert, to the format json"):
        read(path)
