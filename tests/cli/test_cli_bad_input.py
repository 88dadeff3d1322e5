"""Bad input gets a clear sentence and the right exit code, and nothing is half-written."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

LONG = "x" * 10_000

BAD: dict[str, tuple[bytes, str]] = {
    "not text": (bytes(range(256)) * 4, "text|NUL|UTF-8"),
    "long labels": (
        f"item,coder,label\nt1,ana,{LONG}\nt1,ben,{LONG}y\n".encode(), "longer than"),
    "texts": (
        "\n".join(["item,coder,label"] + [f"t{i},c{j},remark {i} by {j}" for i in range(40)
                                          for j in range(3)]).encode(), "free text"),
}  # fmt: skip


@pytest.mark.parametrize("command", ["check", "agree", "run"])
@pytest.mark.parametrize("kind", BAD)
def test_files_that_cannot_be_understood(kind: str, command: str, tmp_path: Path, call) -> None:
    content, words = BAD[kind]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    out = ["-o", tmp_path / "out"] if command == "run" else []
    done = call(command, path, *out)
    assert done.code == 3
    assert done.out == ""
    assert any(word in done.err for word in words.split("|")), done.err
    assert "fix:" in done.err
    assert LONG not in done.err
    assert [p.name for p in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.parametrize("command", ["gold", "coders", "report"])
def test_a_file_of_another_program_is_no_fit(command: str, tmp_path: Path, call) -> None:
    import xarray as xr

    path = tmp_path / "other.nc"
    xr.Dataset({"x": ("a", [1, 2])}).to_netcdf(path, engine="h5netcdf")
    out = ["-o", tmp_path / "r.html"] if command == "report" else []
    done = call(command, path, *out)
    assert done.code == 3
    assert "fix:" in done.err
    assert not (tmp_path / "r.html").exists()


def _outputs(command: str, votes: Path, saved: Path) -> list[object]:
    return {
        "check": ["check", votes],
        "agree": ["agree", votes],
        "datasets": ["datasets", "trains"],
        "gold": ["gold", saved],
        "coders": ["coders", saved],
        "report": ["report", saved],
    }[command]


WRITERS = ("check", "agree", "datasets", "gold", "coders", "report")


@pytest.mark.slow
@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_leaves_nothing(
    command, votes, saved, tmp_path, call, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(os, "link", full)
    done = call(*_outputs(command, votes, saved), "-o", tmp_path / "out")
    assert done.code == 3
    assert "full" in done.err or "space" in done.err.casefold()
    assert [p.name for p in tmp_path.iterdir()] == ["votes.csv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_device_is_written_to_and_never_replaced(call) -> None:
    done = call("datasets", "trains", "-o", "/dev/full", "--force")
    assert done.code == 3
    assert "full" in done.err
    assert not Path("/dev/full").is_file()
    assert call("datasets", "trains", "-o", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


def test_a_folder_that_may_not_be_written_to(votes, tmp_path, call, monkeypatch) -> None:
    import os

    monkeypatch.setattr(os, "access", lambda *_: False)
    for words in (["check", votes, "-o", tmp_path / "x.csv"], ["run", votes, "-o", tmp_path / "x"]):
        done = call(*words)
        assert done.code == 2
        assert "no permission to write" in done.err
