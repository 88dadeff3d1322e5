"""Interrupts, closed pipes and full devices, with real processes."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from annomodels.engines.settings import Clock
from tests.cli.ptys import ANNOMODELS, drain, start, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")]


@pytest.mark.parametrize(
    ("model", "draws"),
    [("hierarchical", 100_000), pytest.param("stack", 20_000, marks=pytest.mark.calibration)],
)
def test_ctrl_c_while_sampling_keeps_what_was_sampled(
    tmp_path: Path, model: str, draws: int
) -> None:
    import annomodels as am

    few = ("--chains", 2, "--sampler", "warmup=20", "--draws", draws, "--no-report")
    process = start("run", "dataset:crowd", "-o", tmp_path / "out", "--model", model, *few)
    # written when the first draws are made, or when the stack climbs to its mode
    before = wait_for(process, "fitting" if model == "stack" else "sampling")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=900)
    assert process.returncode == 130, "".join(before) + err
    assert "Traceback" not in err
    assert "the draws so far are kept" in err
    assert out.splitlines()[0] == str(tmp_path / "out" / "gold.csv")
    fit = am.load(tmp_path / "out" / "fit.nc")
    assert fit.tree.attrs["stopped"] == "interrupted"
    assert 0 < fit.tree.attrs["draws"] < draws
    assert len(list((tmp_path / "out").iterdir())) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.few("15")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_twice_at_once_is_one(tmp_path: Path, number: int) -> None:
    """``timeout`` and make pass on a signal that the whole group of processes has got already."""
    few = ("--model", "hierarchical", "--chains", 2, "--draws", 100_000, "--no-report")
    process = start("run", "dataset:crowd", "-o", tmp_path / "out", *few)
    wait_for(process, "sampling")
    process.send_signal(number)
    time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=900)
    assert process.returncode == 130
    assert "the draws so far are kept" in err
    assert (tmp_path / "out" / "gold.csv").exists()


def test_ctrl_c_elsewhere_is_one_sentence(tmp_path: Path) -> None:
    process = start("run", "-", "-o", tmp_path / "out", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write("item,coder,label\n" * 50_000)  # more than a pipe holds: it reads now
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=900)
    assert process.returncode == 130
    assert out == ""
    assert err == "error: Interrupted. No output is incomplete.\n"
    assert list(tmp_path.iterdir()) == []


def test_the_time_limit_is_kept_and_said(call, tmp_path: Path, monkeypatch) -> None:
    looks = itertools.count()  # a fifth of a second each, so that slices stay short
    monkeypatch.setattr(Clock, "seconds", property(lambda _: next(looks) / 5))
    few = ("--model", "hierarchical", "--chains", 2, "--sampler", "warmup=20", "--draws", 5_000)
    words = ("--time-limit", "2s", "--no-report")
    done = call("run", "dataset:crowd", "-o", tmp_path / "out", *words, *few)
    assert done.code in (0, 4)
    assert "stopped at the time limit" in done.err
    assert (tmp_path / "out" / "fit.nc").exists()


@pytest.mark.parametrize(
    "words", [["--help"], ["datasets"], ["check", "dataset:crowd", "--format", "json"]]
)
def test_a_closed_pipe_is_silent(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        done = subprocess.run(
            [*ANNOMODELS, *words], stdout=closed, stderr=subprocess.PIPE, text=True, timeout=900
        )
    assert done.stderr == ""
    assert done.returncode == 0


def test_head_takes_the_first_line_only() -> None:
    command = f"set -o pipefail; {sys.executable} -m annomodels datasets caries -q | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=900)
    assert done.stdout == "item\tcoder\tlabel\n"
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_standard_output_on_a_full_disk() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*ANNOMODELS, "datasets"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=900
        )
    assert done.returncode == 3
    assert "disk is full" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_progress_bars_and_drawn_tables_only_on_a_terminal(tmp_path: Path) -> None:
    """The same call with and without a terminal, by way of a pseudo-terminal."""
    pty = pytest.importorskip("pty")
    words = [*ANNOMODELS, "agree", "dataset:trains"]
    env = {key: value for key, value in os.environ.items() if key not in ("CI", "NO_COLOR")}
    texts = {}
    for name, more in (("plain", {"NO_COLOR": "1"}), ("colour", {})):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            words, stdout=follower, stderr=follower, env={**env, "TERM": "xterm-256color", **more}
        )
        os.close(follower)
        parts: list[bytes] = []
        drain(leader, parts)
        os.close(leader)
        texts[name] = b"".join(parts).decode()
        assert process.wait(timeout=900) == 0
    assert "─" in texts["plain"]
    assert "\x1b[" not in texts["plain"]
    assert "\x1b[" in texts["colour"]
    piped = subprocess.run(words, capture_output=True, text=True, timeout=900, env=env)
    assert piped.stdout.startswith("coefficient\tvalue\t")


def test_signals_are_answered_before_anything_large_is_loaded(root: Path) -> None:
    """A traceback on Ctrl-C is only left to the start of Python itself."""
    code = f"""import sys; sys.path.insert(0, {str(root)!r}); before = set(sys.modules)
import annomodels.__main__; print(*sorted(set(sys.modules) - before))"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "annomodels.__main__" in loaded
    own = {name for name in loaded if name.startswith("annomodels")}
    assert own <= {f"annomodels{end}" for end in ("", ".__main__", ".cli", "._version")}
    assert not loaded & {"pathlib", "typing", "re", "enum", "signal", "click", "numpy"}, loaded


EXEC = """
import sys
from annomodels.cli import main
main._run = lambda *_: exec("raise KeyboardInterrupt")
sys.exit(main.main(["check", "dataset:trains"]))
"""


def test_a_signal_while_a_library_runs_text_ends_with_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "interrupted.py").write_text(EXEC)
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"],
        capture_output=True, text=True, timeout=900, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 130
    assert done.stderr == "error: Interrupted. No output is incomplete.\n"


LATE = """
import signal, sys
from annomodels import __main__ as entry
from annomodels.cli import main

def late(*_):
    signal.raise_signal(signal.SIGTERM)

real = signal.signal
if sys.argv.pop() == "restored":
    def setting(number, new):
        if getattr(new, "__name__", "") != "take":
            late()
        return real(number, new)

    signal.signal = setting
else:
    main._drop_unwritten = late
sys.exit(entry.main())
"""


@pytest.mark.parametrize(("moment", "code"), [("flushed", 130), ("restored", 0)])
def test_a_signal_after_the_last_line_is_no_traceback(moment: str, code: int) -> None:
    words = [sys.executable, "-c", LATE, "datasets", moment]
    done = subprocess.run(words, capture_output=True, text=True, timeout=900)
    assert done.returncode == code, done.stderr
    assert done.stderr == ""
