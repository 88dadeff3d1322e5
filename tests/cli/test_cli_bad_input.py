"""Bad input gets a clear sentence and the right exit code, and nothing is half-written."""

import errno
import re
from pathlib import Path

import pytest

from annomodels.cli.main import COMMANDS, load_command
from annomodels.cli.options import Named

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


# -- names that are empty, and files of true labels that are none -----------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_name_is_refused_and_never_means_this_folder(command) -> None:
    """An unset variable of a script gives an empty name."""
    found = {param: re.split(r"\W+", param.metavar or "") for param in load_command(command).params}
    named = [
        param
        for param, words in found.items()
        if {"FILE", "FOLDER", "FIT", "FILES"} & {*words} or param.name in ("data", "fit")
    ]
    loose = [param.opts for param in named if not isinstance(param.type, Named)]
    assert [opts for opts in loose if opts != ["--config"]] == []


TRUTHS = {
    "deep.json": "[" * 100_000,
    "deep objects.json": '{"a":' * 50_000,
    "design.json": '{"rounds": [["t1", "t2"]]}',
    "header.csv": "item,label\n",
    "other study.csv": "item,label\ndoc1,pos\ndoc2,neg\n",
    "unknown item.csv": "item,label\nt1,pos\nt99,neg\n",
    "twice.csv": "item,label\nt1,pos\nt1,neg\n",
    "nothing judged.csv": "item,label\nt1,\nt2,\n",
    "labels.csv": "item,coder,label\nt1,ana,pos\nt1,ben,neg\n",
    "not text.csv": "\0\1\2",
    "empty.csv": "",
    "null.json": "null",
    "number.json": "5",
    "rounds.json": '{"rounds": "yes"}',
}


# true labels of more items than the data have may test a fit
USES = [
    (name, use)
    for name in TRUTHS
    for use in (None, "fit", "test", "audit")
    if (name, use) != ("unknown item.csv", "test")
]


@pytest.mark.parametrize(("name", "use"), USES)
def test_true_labels_that_are_none_are_refused_before_the_fit(
    name, use, votes, tmp_path, call
) -> None:
    path = tmp_path / name
    path.write_text(TRUTHS[name])
    given = ["--truth", path, *(["--use", use] if use else [])]
    done = call("run", votes, "-o", tmp_path / "out", *given)
    assert done.code in (2, 3), done.err
    assert "fix:" in done.err or "Give the judged items" in done.err
    assert name in done.err
    assert "Fitting" not in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_file_of_options_that_is_none(votes, tmp_path, call) -> None:
    (tmp_path / "deep.toml").write_text("a = " + "[" * 50_000)
    for path, words in ((tmp_path / "deep.toml", "is not TOML"), ("/dev/zero", "device")):
        done = call("check", votes, "--config", path)
        assert done.code in (2, 3)
        assert words in done.err


CONLL = "\n".join(
    [
        "#begin document (a); part 000",
        *(f"a 0 {n} w * ({n % 2})" for n in range(12)),
        "#end document",
    ]
)
STREAM = ("--stream", "--engine", "em", "--model", "dawid-skene", "--no-report")


@pytest.mark.slow
@pytest.mark.parametrize("case", ["run", "stream", "cache", "coref", "check", "simulate"])
def test_a_disk_that_is_really_full_is_named_as_it_was_given(
    case, votes, tmp_path, call, small_disk
) -> None:
    for name in "xy":
        (tmp_path / f"{name}.conll").write_text(CONLL)
    (small_disk / "filler").write_bytes(b"x" * (4096 if case in ("run", "coref") else 28_000))
    out = small_disk / "out"
    words = {
        "run": ["run", votes, "-o", out, "--model", "hierarchical", "--draws", 60, "--chains", 2],
        "stream": ["run", votes, "-o", out, *STREAM],
        "cache": ["run", votes, "-o", tmp_path / "o", *STREAM, "--cache", out],
        "coref": ["coref", f"x={tmp_path}/x.conll", f"y={tmp_path}/y.conll", "-o", out],
        "check": ["datasets", "caries", "-o", out],
        "simulate": ["simulate", "--items", 5000, "-o", out],
    }
    done = call(*words[case])
    assert done.code == 3, done.err
    assert "The disk is full" in done.err
    assert f"where: {out}" in done.err
    assert ".annomodels-run" not in done.err
    left = {path.name for path in small_disk.iterdir()} - {"filler"}
    assert not left or (left == {"out"} and "The fit is saved" in done.err)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
