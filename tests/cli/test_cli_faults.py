"""Faults from outside: signals at every stage, two runs at once, links, seeds, odd environments."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading

import pytest

import annomodels as am
from tests.cli.ptys import sent_to_a_terminal, start, wait_for
from tests.cli.rows import write_rows

SHORT = ("--draws", 60, "--chains", 2, "--sampler", "warmup=30", "--sampler", "threads=1")
FEW = ("--model", "hierarchical", *SHORT)
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
def test_help_is_whole_without_docstrings(call):
    without = start("run", "--help", env={"PYTHONOPTIMIZE": "2"}).communicate(timeout=900)[0]
    assert without == call("run", "--help").out
    assert "Analyze DATA and write a folder" in without


@pytest.mark.slow
def test_the_backend_of_a_notebook_stays(monkeypatch):
    code = (
        "from annomodels.plots.style import figure; import os; figure(2);"
        "import matplotlib as mpl; print(mpl.rcParams['backend'], os.environ['MPLBACKEND'])"
    )
    env = {**os.environ, "MPLBACKEND": "svg"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "svg svg\n", done.stderr


@pytest.mark.slow
def test_a_fit_whose_tables_fail_is_kept(call, tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("annomodels.cli.jobs.methods", fail)
    out = tmp_path / "out"
    done = call("run", "dataset:anesthesia", "-o", out, *FEW, "--no-report")
    assert done.code == 3
    assert "The fit is saved" in done.err
    assert [path.name for path in out.iterdir()] == ["fit.nc"]


def test_a_file_that_came_in_the_meantime_stays(tmp_path):
    from annomodels.io.writing import OutputError, atomic_path

    target = tmp_path / "a.csv"

    def write() -> None:
        with atomic_path(target) as path:
            path.write_text("ours")
            target.write_text("theirs")

    with pytest.raises(OutputError, match="file with this name"):
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


def test_a_link_to_nothing_or_to_a_file(call, tmp_path):
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(file)
    done = call("run", "dataset:anesthesia", "-o", link, *FEW)
    assert done.code == 2
    assert "link to something that does not exist" in done.err
    file.touch()
    done = call("run", "dataset:anesthesia", "-o", link, *FEW)
    assert done.code == 2
    assert "must be a folder, but this is a file" in done.err


@pytest.mark.slow
def test_seeds_out_of_range_name_the_range(tmp_path):
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
    fit = am.fit(data, "hierarchical", chains=1, draws=10, warmup=5, seed=2**63 - 1, extend=False)
    assert am.load(fit.save(tmp_path / "g.nc")).seed == 2**63 - 1


def test_bells_and_colours_in_names_are_spelled(call, tmp_path):
    rows = [f"t{i},{j}\a\x1b[31m,{i % 2}" for i in range(9) for j in "abc"]
    file = write_rows(tmp_path / "votes.csv", rows)
    for command in ("check", "agree"):
        done = call(command, file)
        assert not set("\a\x1b") & set(done.out + done.err)


# -- outputs that are no regular files -------------------------------------------------------

REPORT = ("report", "FIT", "-o", "OUT", "--force")
WRITERS = {
    "report": REPORT,
    "gold": ("gold", "FIT", "-o", "OUT", "--force"),
    "parquet": ("gold", "FIT", "--to", "parquet", "-o", "OUT"),
    "methods": ("report", "FIT", "--methods", "OUT", "--force"),
    "convert": ("convert", "dataset:anesthesia", "--to", "long", "-o", "OUT", "--force"),
    "datasets": ("datasets", "trains", "-o", "OUT", "--force"),
    "simulate": ("simulate", "-o", "OUT", "--force"),
    "audit": ("audit", "FIT", "--size", 5, "-o", "OUT", "--force"),
}


def words_of(name: str, fit: object, out: object) -> list[object]:
    return [{"FIT": fit, "OUT": out}.get(str(word), word) for word in WRITERS[name]]


def whole_fit(saved, tmp_path):
    folder = tmp_path / "fit"
    folder.mkdir()
    shutil.copy2(saved, folder / "fit.nc")
    return folder / "fit.nc"


def read_through(pipe):
    """Let a thread read all that comes through a pipe; gives what it will have read."""
    os.mkfifo(pipe)
    parts = []
    reader = threading.Thread(target=lambda: parts.append(pipe.read_bytes()), daemon=True)
    reader.start()
    return reader, parts


PLACES = ("pipe", "link to a pipe", "device", "link to a file")
CASES = [(place, name) for place in PLACES for name in WRITERS]
CASES.remove(("link to a file", "parquet"))  # this command does not replace a file here
# every output in two kinds of places
IN_TURN = [
    f"{place}-{name}"
    for place, name in CASES
    if list(WRITERS).index(name) % 2 == PLACES.index(place) % 2
]


@pytest.mark.few(*IN_TURN)
@NOT_POSIX
@pytest.mark.parametrize(("place", "name"), CASES)
def test_what_is_no_regular_file_stays_and_gets_the_output(place, name, saved, call, tmp_path):
    if place == "device" and os.geteuid() != 0:
        pytest.skip("only root makes devices")
    out, folder = tmp_path / "out", tmp_path / "elsewhere"
    folder.mkdir()
    own = folder / "own" if place.startswith("link") else out
    if own != out:
        out.symlink_to(own)
    if place == "device":
        os.mknod(own, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    elif place == "link to a file":
        own.write_text("before")
    else:
        reader, parts = read_through(own)
    done = call(*words_of(name, whole_fit(saved, tmp_path), out))
    assert done.code == 0, done.err
    assert out.is_symlink() == (own != out)
    if place == "device":
        assert stat.S_ISCHR(own.lstat().st_mode)
    elif place == "link to a file":
        assert own.read_bytes() != b"before"
    else:
        reader.join(timeout=60)
        assert parts[0]
        assert stat.S_ISFIFO(own.lstat().st_mode)
    assert [path.name for path in folder.iterdir()] == ["own"] * (own != out)


@NOT_POSIX
def test_a_folder_with_a_pipe_in_place_of_an_output_keeps_it(tmp_path):
    from annomodels.io.writing import OutputError, put

    source, pipe = tmp_path / "a", tmp_path / "pipe"
    source.write_text("ours")
    reader, _ = read_through(pipe)
    put(source, pipe, force=True)
    reader.join(timeout=60)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "s"))
        source.write_text("ours")
        with pytest.raises(OutputError, match="not replaced"):
            put(source, tmp_path / "s", force=True)
    assert stat.S_ISSOCK((tmp_path / "s").lstat().st_mode)


# -- streams, terminals, the environment, signals -----------------------------------------------

FIT_TWO = """
import signal, sys
import annomodels as am
data = am.datasets.load("crowd")
options = dict(chains=2, warmup=20, extend=False, seed=1)
def progress(stage, share, message):
    if stage == "sampling" and share:
        print("sampling", file=sys.stderr, flush=True)
am.fit(data, "hierarchical", draws=200_000, progress=progress, **options)
print("went on")
"""


@pytest.mark.few("1")
@NOT_POSIX
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_script_that_fits_ends_with_the_signal(number):
    process = subprocess.Popen(
        [sys.executable, "-c", FIT_TWO], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(process, "sampling")
    process.send_signal(number)
    out, _ = process.communicate(timeout=900)
    assert process.returncode == -number
    assert out == ""


@pytest.mark.few("estimating the coders-15")
@NOT_POSIX
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("stage", ["estimating the coders", "making the tables"])
def test_what_was_sampled_is_kept_from_the_coders_on(number, stage, tmp_path):
    out = tmp_path / "out"
    few = ("--model", "stack", *SHORT, "--no-report")
    process = start("run", "dataset:anesthesia", "-o", out, *few)
    wait_for(process, stage)
    process.send_signal(number)
    process.communicate(timeout=900)
    assert process.returncode == 130
    assert (out / "fit.nc").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.slow
def test_a_signal_while_a_fit_is_saved_leaves_the_whole_file(tmp_path, monkeypatch):
    from annomodels.fitting import saving

    fit = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1)
    write = saving.write_tree

    def interrupted(tree, path):
        write(tree, path)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(saving, "write_tree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit.save(tmp_path / "fit.nc")
    assert am.load(tmp_path / "fit.nc").seed == 1


CLOSED = [
    ("check dataset:trains >&-", 0),
    ("check dataset:trains 2>&-", 0),
    ("check - <&-", 3),
    ("run dataset:trains -o out --no-report --engine em >&- 2>&- <&-", 0),
    ("--version >&-", 0),
]


@pytest.mark.slow
@NOT_POSIX
@pytest.mark.parametrize(("words", "code"), CLOSED)
def test_closed_streams(words, code, tmp_path):
    line = f"{sys.executable} -m annomodels {words}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "out" / "fit.nc").exists() == words.startswith("run")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_notes_that_cannot_be_written_do_not_end_a_run(tmp_path):
    words = "run dataset:trains -o out --no-report --engine em"
    line = f"{sys.executable} -m annomodels {words} 2>/dev/full"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert (tmp_path / "out" / "fit.nc").exists()


@pytest.mark.few("NUMBA_DISABLE_JIT=1-how1", "NUMBA_NUM_THREADS=0-how0")
@pytest.mark.slow
@pytest.mark.parametrize("how", [FEW, ()])
@pytest.mark.parametrize("variable", ["NUMBA_DISABLE_JIT=1", "NUMBA_NUM_THREADS=0"])
def test_a_variable_that_stops_the_compiler_is_named(variable, how, tmp_path):
    name, value = variable.split("=")
    words = ("run", "dataset:anesthesia", "-o", tmp_path / "out", *how)
    process = start(*words, env={name: value})
    _, err = process.communicate(timeout=900)
    assert process.returncode == 2
    assert f"unset {name}" in err


HOSTILE = "\x1b]0;pwn\x07\x9b31m<script>alert(1)</script>![x](http://evil)"


@pytest.mark.slow
def test_no_escape_sequence_reaches_a_terminal(tmp_path, monkeypatch):
    fit = tmp_path / "fit.nc"
    rows = [f"t{i},{HOSTILE}{j},{i % 2}" for i in range(9) for j in "abc"]
    file = write_rows(tmp_path / "h.csv", rows)
    am.fit(file, engine="em", seed=1).save(fit)
    for form in ("table", "tsv", "csv", "json", "md", "tex"):
        code, shown = sent_to_a_terminal(["coders", fit, "--format", form, "-q"], 80, monkeypatch)
        assert code == 0
        assert "pwn" in shown
        assert not set("\x1b\x07\x9b") & set(shown), form


def test_markup_in_names_is_escaped_in_markdown():
    import pandas as pd

    from annomodels.cli.tables import to_text

    text = to_text(pd.DataFrame({"coder": [HOSTILE], "<b>": ["a|b"]}), "md")
    assert not re.search(r"(?<!\\)[<>\[\]|](?=\S)", text.splitlines()[2][1:-1].replace(" | ", ""))
    assert "\\<script\\>" in text
    assert "!\\[x\\](http" in text


@pytest.mark.slow
def test_check_needs_no_table_of_labels_by_items(call, tmp_path, measured):
    rows = [f"i{n},c{j},l{n}" for n in range(10_000) for j in (0, 1)]
    file = write_rows(tmp_path / "many.csv", rows)
    done, peak = measured(call, "check", file)
    assert done.code == 0
    assert peak < 200e6  # a table would take 0.8 GB


@pytest.mark.parametrize(
    ("words", "remedy"), [("check", "Use a part"), ("run", "merge rare labels")]
)
def test_the_remedy_for_memory_is_one_of_the_command(words, remedy, call, tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    where = {"check": "commands.labels", "run": "jobs"}[words]
    monkeypatch.setattr(f"annomodels.cli.{where}.load_any", fail)
    done = call(words, "dataset:trains", *["-o", tmp_path / "f"] * (words == "run"))
    assert done.code == 3
    assert remedy in done.err


def test_messages_name_the_outputs_as_they_were_given():
    from annomodels.cli.places import as_given

    assert as_given("where: a/.out.annomodels-run/fit.nc") == "where: a/out/fit.nc"
    assert as_given("where: .out.annomodels-run") == "where: .out.annomodels-run"
