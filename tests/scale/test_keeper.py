"""Temporary folders go with their process, also when that was killed."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from annomodels.engines.source.disk import Keeper, sweep

pytest.importorskip("fcntl")

HOLD = """
import sys
from annomodels.engines.source.disk import Keeper
keeper = Keeper()
print(keeper.folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_a_folder_goes_with_its_keeper(folder: Path) -> None:
    keeper = Keeper()
    assert keeper.folder.parent == folder
    assert keeper.folder.is_dir()
    del keeper
    gc.collect()
    assert list(folder.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_nothing_else(folder: Path) -> None:
    (folder / "annomodels-other").mkdir()
    (folder / "annomodels-other" / "notes.txt").write_text("not one of ours")
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        its = Path(process.stdout.readline().strip())
        assert its.parent == folder
        first = Keeper()
        assert its.is_dir()  # it is alive
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert its.is_dir()
    second = Keeper()
    assert not its.exists()
    assert first.folder.is_dir()
    assert second.folder.is_dir()
    assert (folder / "annomodels-other" / "notes.txt").exists()


def test_what_cannot_be_looked_into_is_left(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweep(folder / "nowhere") == []
    held = folder / "annomodels-theirs" / "held"
    held.parent.mkdir()
    held.touch()
    look = os.stat

    def closed(path: Any, *args: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(str(held)):
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", closed)
        assert sweep(folder) == []
    assert sweep(folder) == [held.parent]
