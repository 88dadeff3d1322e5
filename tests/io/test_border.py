"""Files that were made to hurt are refused in words, by every door, within little memory."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from annomodels.errors import AnnotationError
from annomodels.io.border import guarded, raw_bytes

MEGABYTES = 200
CPU_SECONDS = 60  # of all files together; one that never ends is stopped here
LONG = "item,coder,label\nt1,ana,pos\nt1,ben,neg\nt2,ana,pos\nt2,ben,pos\n"
CONLL = "#begin document (t); part 000\nAna (1)\nsaid -\nshe (1)\n\n#end document\n"


def packed(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def flipped(path: Path, chance: random.Random) -> Path:
    """Turn 37 bytes of the packed data into others."""
    data = bytearray(path.read_bytes())
    for _ in range(37):
        data[chance.randrange(60, len(data) // 2)] ^= chance.randrange(1, 256)
    path.write_bytes(data)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    place = tmp_path_factory.mktemp("hostile")
    chance = random.Random(1)
    texts = {f"{who}.conll": CONLL * 400 for who in ("ana", "ben")}
    for name in texts:
        texts[name] = "".join(f"{chance.random()}\n" for _ in range(5000)) + texts[name]
    flipped(packed(place / "flipped.zip", texts), chance)
    with zipfile.ZipFile(place / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for who in ("ana", "ben"):
            with archive.open(f"{who}.conll", "w", force_zip64=True) as file:
                file.write(CONLL.encode())
                for _ in range(200):
                    file.write(bytes(1_000_000))
    # an entry whose stated place lies before the beginning of the archive
    broken = packed(place / "moved.zip", {"ana.jsonl": '{"id": 1, "text": "a", "label": ["x"]}'})
    data = broken.read_bytes()
    broken.write_bytes(data[:20] + data[40:])
    (place / "first-row-empty.csv").write_text(",,,,,,\n1,1\n3,2,NA\n1,NA,3\n")
    (place / "commas.csv").write_text("," * 20_000)
    (place / "wide-commas.csv").write_text("a,b" + "," * 20_000 + "\npos,pos\nneg,neg\npos,neg\n")
    (place / "long-cell.csv").write_text(LONG + f't3,ana,"{"x" * 200_000}\n')
    (place / "long-name.csv").write_text(f"item,coder,label,{'x' * 200_000}\nt1,ana\n")
    (place / "nothing.csv").write_bytes(b"\0" * 1_000_000)
    os.mkfifo(place / "pipe.csv")
    (place / "loop").mkdir()
    os.symlink(place / "loop", place / "loop" / "again")
    os.symlink("self", place / "loop" / "self")
    return [*(str(path) for path in sorted(place.iterdir())), "/dev/zero", "/dev/urandom"]


# Runs in a process of its own, with a limit of processor time and a look at its peak of memory.
DOORS = """
import resource, sys
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
import annomodels as am
door = sys.argv[2]
if door.startswith("cli "):
    from annomodels.cli.main import main
    import contextlib, io
for path in sys.argv[3:]:
    if door.startswith("cli "):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            code = main([*door.split()[1:], path])
        print(path, code)
    else:
        call = am.coref.read if door == "coref.read" else getattr(am, door)
        try:
            call(path)
            print(path, "read")
        except am.errors.AnnomodelsError as error:
            print(path, "refused")
# what getrusage says holds for the process that forked this one too
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) // 1024)
"""


def through(door: str, paths: list[str]) -> tuple[dict[str, str], int]:
    run = subprocess.run(
        [sys.executable, "-c", DOORS, str(CPU_SECONDS), door, *paths],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    *rows, peak = run.stdout.splitlines()
    return dict(row.rsplit(" ", 1) for row in rows if row.startswith("/")), int(peak)


@pytest.mark.slow
@pytest.mark.parametrize("door", ["read", "read_spans", "coref.read"])
def test_hostile_files_are_refused_in_words(door: str, hostile: list[str]) -> None:
    said, peak = through(door, hostile)
    assert said == dict.fromkeys(hostile, "refused")
    assert peak < MEGABYTES


@pytest.mark.slow
@pytest.mark.parametrize("door", ["cli check", "cli coref --model none"])
def test_hostile_files_are_bad_input_to_commands(door: str, hostile: list[str]) -> None:
    said, peak = through(door, hostile)
    assert said == dict.fromkeys(hostile, "3")
    assert peak < MEGABYTES


@pytest.mark.slow
def test_a_name_that_is_not_utf_8_is_a_name_like_others(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"\xff.csv")
    with open(path, "wb") as file:
        file.write(LONG.encode())
    run = subprocess.run(
        [sys.executable, "-m", "annomodels", "check", path],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (run.returncode, b"\\xff.csv" in run.stdout) == (0, True), run.stderr


@pytest.mark.slow
def test_wide_tables_cost_in_proportion_to_their_columns(tmp_path: Path) -> None:
    def calls(coders: int) -> int:
        """Count the calls of functions while a table without names is read."""
        path = tmp_path / f"{coders}.csv"
        row = ",".join(["pos", "neg"] * (coders // 2))
        path.write_text("".join(f"t{n},{row}\n" for n in range(4)))
        script = (
            "import sys, annomodels as am\nn = 0\n"
            "def count(*_):\n    global n\n    n += 1\n"
            "sys.setprofile(count)\n"
            f"try:\n    am.read({str(path)!r})\nexcept am.errors.AnnomodelsError:\n    pass\n"
            "sys.setprofile(None)\nprint(n)"
        )
        run = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        return int(run.stdout)

    calls(10)
    assert calls(4000) < 3 * calls(2000)


def test_the_guard_keeps_the_cause_and_lets_a_full_disk_through() -> None:
    with pytest.raises(AnnotationError, match="IndexError") as caught, guarded("a.csv"):
        raise IndexError("list index out of range")
    assert isinstance(caught.value.__cause__, IndexError)
    with pytest.raises(OSError, match="No space"), guarded("a.csv"):
        raise OSError(28, "No space left on device", "a.csv")
    with pytest.raises(MemoryError), guarded("a.csv"):
        raise MemoryError


def test_what_comes_through_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    given, taken = os.pipe()
    os.write(taken, LONG.encode())
    os.close(taken)
    assert raw_bytes(f"/dev/fd/{given}") == LONG.encode()
    os.close(given)
