"""Bad input gets a clear sentence and the right exit code, and nothing is half-written."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

LONG = "x" * 10_000

BAD: dict[str, tuple[bytes, str]] = {
    "empty file": (b"", "empty"),
    "header only": (b"item,coder,label\n", "no row|No row|header"),
    "one column": (b"label\npos\nneg\npos\n", "column"),
    "latin-1": ("item,coder,label\nt1,ana,schön\nt1,ben,gut\n".encode("latin-1"), "UTF-8"),
    "not text": (bytes(range(256)) * 4, "text|NUL|UTF-8"),
    "count table": (
        b"item,neg,neu,pos\nt1,0,1,4\nt2,2,2,1\nt3,5,0,0\nt4,1,1,3\n", "count"),
    "mixed delimiters": (b"item,coder,label\nt1;ana;pos\nt1;ben;neg\nt2;ana;pos\n", "delimiter|;"),
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


NOT_FITTABLE = {
    "one coder": ("t1,ana,pos\nt2,ana,neg\nt3,ana,pos\n", "one coder"),
    "no overlap": ("t1,ana,pos\nt2,ben,neg\nt3,cem,pos\n", "two coders"),
    "one label": ("t1,ana,pos\nt1,ben,pos\nt2,ana,pos\nt2,ben,pos\n", "Every label is 'pos'"),
    "one coder, one label": ("t1,ana,pos\nt2,ana,pos\n", "2 problems"),
    "one row": ("t1,ana,pos\n", "2 problems"),
}


@pytest.mark.parametrize("kind", NOT_FITTABLE)
def test_data_from_which_nothing_can_be_learnt(kind: str, tmp_path: Path, call) -> None:
    rows, words = NOT_FITTABLE[kind]
    path = tmp_path / "bad.csv"
    path.write_text("item,coder,label\n" + rows)
    assert call("check", path).code == 0
    agreement = call("agree", path)
    assert agreement.code == 0
    alpha = next(line for line in agreement.out.splitlines() if line.startswith("alpha\t"))
    assert alpha.split("\t")[1] == ""
    assert alpha.split("\t")[-1] != ""
    done = call("run", path, "-o", tmp_path / "out")
    assert done.code == 3
    assert words in done.err
    assert "fix:" in done.err
    assert [p.name for p in tmp_path.iterdir()] == ["bad.csv"]


GOLD = {
    "against": ("np", "8 of 8 known labels contradict most labels of their items"),
    "one class": ("pp", "All 8 known labels are 'p'"),
}


@pytest.mark.parametrize("kind", GOLD)
def test_gold_that_is_against_the_crowd_or_of_one_class_is_said(kind, tmp_path, call) -> None:
    codes, words = GOLD[kind]
    path = tmp_path / "gold.csv"
    rows = [f"t{i},{c},{'pn'[i % 2]},{codes[i % 2]}" for i in range(8) for c in "abc"]
    path.write_text("\n".join(["item,coder,label,gold", *rows]) + "\n")
    for command in ("check", "agree"):
        done = call(command, path, "--truth", "gold")
        assert done.code == 0
        assert words in done.out + done.err


def test_gold_that_differs_between_files_is_refused(tmp_path, call) -> None:
    for name, gold in (("ana", "p"), ("ben", "n")):
        rows = ["item,label,gold", *(f"t{i},p,{gold if i == 1 else 'p'}" for i in range(4))]
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    paths = [tmp_path / "ana.csv", tmp_path / "ben.csv"]
    done = call("check", *paths, "--truth", "gold")
    assert done.code == 3
    assert "1 item with more than one gold: 't1'" in done.err
    assert "fix:" in done.err


def test_all_problems_of_a_table_at_once(tmp_path: Path, call) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("item,coder,label\n,ana,pos\nt1,,neg\nt1,ana,pos\n")
    done = call("check", path)
    assert done.code == 3
    assert "row 2" in done.err
    assert "row 3" in done.err


def test_missing_file_names_one_that_looks_like_it(votes: Path, call) -> None:
    done = call("check", votes.with_name("vote.csv"))
    assert done.code == 3
    assert "Did you mean votes.csv?" in done.err


def test_a_folder_is_no_file(tmp_path: Path, call) -> None:
    done = call("check", tmp_path)
    assert done.code == 3
    assert "folder" in done.err


def test_unknown_columns_suggest_close_ones(votes: Path, call) -> None:
    done = call("check", votes, "--coder", "codr")
    assert done.code == 3
    assert "coder" in done.err


@pytest.mark.parametrize("command", ["gold", "coders", "report"])
@pytest.mark.parametrize("kind", ["missing", "csv", "folder", "netcdf"])
def test_files_that_are_no_fit(command: str, kind: str, votes: Path, tmp_path: Path, call) -> None:
    path = {
        "missing": tmp_path / "no.nc",
        "csv": votes,
        "folder": tmp_path,
        "netcdf": tmp_path / "other.nc",
    }[kind]
    if kind == "netcdf":
        import xarray as xr

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
@pytest.mark.parametrize(
    ("words", "ending", "use"),
    [("gold {fit}", "xlsx", ".csv"), ("report {fit}", "pdf", ".html"),
     ("gold {fit}", "parquet", ".csv"), ("coders {fit}", "bib", ".csv")],
)  # fmt: skip
def test_no_file_is_called_what_it_is_not(words, ending, use, votes, saved, tmp_path, call) -> None:
    path = tmp_path / f"out.{ending}"
    done = call(*words.format(fit=saved, votes=votes).split(), "-o", path)
    assert done.code == 2
    assert f"not written as .{ending}" in done.err
    assert use in done.err
    assert not path.exists()


@pytest.mark.parametrize("command", WRITERS)
def test_outputs_that_exist_stay_without_force(command, votes, saved, tmp_path, call) -> None:
    target = tmp_path / "there.txt"
    target.write_text("mine")
    done = call(*_outputs(command, votes, saved), "-o", target)
    assert done.code == 2
    assert "--force" in done.err
    assert target.read_text() == "mine"


@pytest.mark.parametrize("command", WRITERS)
def test_outputs_below_a_file_or_in_no_folder(command, votes, saved, tmp_path, call) -> None:
    for target in (votes / "out.csv", tmp_path / "no" / "out.csv", tmp_path):
        done = call(*_outputs(command, votes, saved), "-o", target)
        assert done.code == 2
        assert "choose another place" in done.err.casefold()
    assert [p.name for p in tmp_path.iterdir()] == ["votes.csv"]


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
