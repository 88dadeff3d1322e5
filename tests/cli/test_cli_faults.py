"""Faults from outside: signals at every stage, two runs at once, links, seeds, odd environments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import annomodels as am
from tests.cli.ptys import start, wait_for

FEW = ("--model", "hierarchical", "--draws", 60, "--warmup", 30, "--chains", 2, "--threads", 1)
NOT_POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and locks of POSIX")


@pytest.mark.few("2")
@NOT_POSIX
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_at_its_tables_keeps_the_fit(number, tmp_path):
    out = tmp_path / "out"
    process = start("run", "dataset:anesthesia", "-o", out, *FEW)
    wait_for(process, "making the tables")
    process.send_signal(number)
    _, err = process.communicate(timeout=900)
    assert process.returncode == 130
    assert f"annomodels report {out} -o {out}/report.html" in err
    assert [path.name for path in out.iterdir()] == ["fit.nc"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert am.load(out / "fit.nc").seed == 1


@pytest.mark.calibration
@NOT_POSIX
def test_two_runs_into_one_folder_and_what_a_killed_one_left(tmp_path):
    out = tmp_path / "out"
    run = ("run", "dataset:anesthesia", "-o", out, *FEW)
    first = start(*run)
    wait_for(first, "Fitting")
    second = start(*run, "--force")
    _, err = second.communicate(timeout=900)
    assert second.returncode == 2
    assert "Another process is writing to this folder" in err
    first.kill()
    first.communicate(timeout=900)
    assert [path.name for path in tmp_path.iterdir()] == [".out.annomodels-run"]
    third = start(*run, "--no-report")
    third.communicate(timeout=900)
    assert third.returncode in (0, 4)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.calibration
def test_no_docstrings_and_the_backend_of_another_environment_change_nothing(tmp_path):
    env = {"PYTHONOPTIMIZE": "2", "MPLBACKEND": "module://not_here.backend_inline"}
    process = start("run", "dataset:anesthesia", "-o", tmp_path / "out", *FEW, env=env)
    _, err = process.communicate(timeout=900)
    assert process.returncode in (0, 4), err
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.slow
def test_help_is_whole_without_docstrings():
    said = [
        start("fit", "--help", env={"PYTHONOPTIMIZE": level}).communicate(timeout=900)[0]
        for level in ("0", "2")
    ]
    assert said[0] == said[1]
    assert "Fit one model to DATA" in said[0]


def test_the_backend_of_a_notebook_stays(monkeypatch):
    code = (
        "from annomodels.plots.style import figure; import os; figure(2);"
        "import matplotlib as mpl; print(mpl.rcParams['backend'], os.environ['MPLBACKEND'])"
    )
    env = {**os.environ, "MPLBACKEND": "svg"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "svg svg\n", done.stderr


def test_a_fit_whose_tables_fail_is_kept(call, tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("annomodels.reporting.methods.methods", fail)
    out = tmp_path / "out"
    done = call("run", "dataset:anesthesia", "-o", out, *FEW, "--no-report")
    assert done.code == 3
    assert "The fit is saved" in done.err
    assert [path.name for path in out.iterdir()] == ["fit.nc"]


def test_the_way_to_the_outputs_is_nobody_elses(call, tmp_path):
    beside = tmp_path / ".out.annomodels-run"
    beside.mkdir()
    (beside / "mine.txt").write_text("mine")
    done = call("run", "dataset:anesthesia", "-o", tmp_path / "out", *FEW)
    assert done.code == 2
    assert (beside / "mine.txt").read_text() == "mine"


def test_a_file_that_came_in_the_meantime_stays(tmp_path):
    from annomodels.io.writing import OutputError, atomic_path

    target = tmp_path / "a.csv"

    def write() -> None:
        with atomic_path(target) as path:
            path.write_text("ours")
            target.write_text("theirs")

    with pytest.raises(OutputError, match="file of this name"):
        write()
    assert target.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [target]


@NOT_POSIX
def test_what_killed_processes_left_is_cleared_and_no_more(tmp_path):
    from annomodels.io.writing import atomic_path

    left, other = tmp_path / ".a-0123abcd.csv", tmp_path / ".a-mine.csv"
    left.write_text("half")
    other.write_text("mine")
    with atomic_path(tmp_path / "a.csv") as living:
        living.write_text("half")
        with atomic_path(tmp_path / "a.csv") as path:
            path.write_text("done")
        assert living.exists()
        assert not left.exists()
        (tmp_path / "a.csv").unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, "a.csv"]


def test_a_link_to_nothing(call, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    for command in ("run", "fit"):
        done = call(command, "dataset:anesthesia", "-o", link, *FEW)
        assert done.code == 2
        assert "link to something that does not exist" in done.err


def test_seeds_out_of_range_name_the_range(call, tmp_path):
    data = am.datasets.load("anesthesia")
    for seed in (-1, 2**63, 1.5, True):
        for ask in (
            lambda seed=seed: am.fit(data, seed=seed),
            lambda seed=seed: am.agreement(data, seed=seed),
            lambda seed=seed: am.breakdown(data, "coder", seed=seed),
            lambda seed=seed: am.diagnose(data, seed=seed),
            lambda seed=seed: am.simulate(9, 3, labels=["a", "b"], seed=seed),
        ):
            with pytest.raises(am.errors.NotApplicable, match=r"from 0 to 9223372036854775807"):
                ask()
    for words in (["fit", "dataset:anesthesia", "-o", tmp_path / "f.nc"], ["simulate"]):
        done = call(*words, "--seed", 10**23)
        assert done.code == 2
        assert "0<=x<=9223372036854775807" in done.err
    fit = am.fit(data, "hierarchical", chains=1, draws=10, warmup=5, seed=2**63 - 1, extend=False)
    assert am.load(fit.save(tmp_path / "g.nc")).seed == 2**63 - 1


def test_bells_and_colours_in_names_are_spelled(call, tmp_path):
    file = tmp_path / "votes.csv"
    rows = [f"t{i},{j}\a\x1b[31m,{i % 2}" for i in range(9) for j in "abc"]
    file.write_text("\n".join(["item,coder,label", *rows]), newline="")
    for command in ("check", "agree", "advise"):
        done = call(command, file)
        assert not set("\a\x1b") & set(done.out + done.err)
