"""Several questions of one file are read in one pass."""

from __future__ import annotations

from pathlib import Path

import pytest

import annomodels as am
from annomodels.io import source


def test_a_file_is_parsed_once_however_many_questions_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []
    own = source.TextRows

    def counting(*args: object) -> object:
        parsed.append(args)
        return own(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(source, "TextRows", counting)
    names = ",".join(f"q{k}" for k in range(50))
    rows = [f"t{n},{c}," + ",".join(str((n + k + ord(c)) % 3) for k in range(50))
            for n in range(40) for c in "abc"]  # fmt: skip
    path = tmp_path / "sheet.csv"
    path.write_text("\n".join([f"item,coder,{names}", *rows]) + "\n")
    assert len(am.read_questions(path)) == 50
    assert len(parsed) == 1
