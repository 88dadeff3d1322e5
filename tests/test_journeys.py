"""How many files of the package a reader walks through on five common ways, by what really runs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import annomodels as am

pytestmark = pytest.mark.slow

# The files whose code may run. A change that needs more has taken a detour, or should say why here.
# Loops that are compiled already load the classes of whatever they were compiled for, so `run` may
# pass one more file (kernels/answering.py) where other models were fitted before.
MOST = {"agreement": 20, "first fit": 45, "second fit": 22, "run": 160, "coref": 95}

TRACER = """
import sys
from pathlib import Path
import annomodels as am

FOLDER, SEEN = Path(am.__file__).parent.as_posix() + "/", set()


def note(code, place):
    # what a file does while it is imported does not count, its classes do
    if code.co_filename.startswith(FOLDER) and code.co_name != "<module>":
        SEEN.add(code.co_filename.removeprefix(FOLDER))
    return sys.monitoring.DISABLE


def watch():
    sys.monitoring.use_tool_id(3, "journey")
    sys.monitoring.register_callback(3, sys.monitoring.events.PY_START, note)
    sys.monitoring.set_events(3, sys.monitoring.events.PY_START)


def fit():
    return am.fit(data, "dawid-skene", seed=1, chains=2, draws=100, warmup=50)


def run(*words):
    from annomodels.cli.main import main

    assert main([*words, "-q"]) in (0, 4)


data = am.datasets.load("anesthesia")
"""
WAYS = {
    "agreement": "watch(); am.agreement(data)",
    "first fit": "watch(); fit()",
    "second fit": "fit(); watch(); fit()",
    "run": "watch(); run('run', 'votes.csv', '-o', 'run')",
    "coref": "watch(); run('coref', 'texts.zip', '-o', 'coref', '--model', 'none')",
}
CONLL = """#begin document (tiny); part 000
tiny 0 0 Ana NNP * - - - spk * (1)
tiny 0 1 fed VBD * - - - spk * -
tiny 0 2 it PRP * - - - spk * ({it})
tiny 0 3 , , * - - - spk * -
tiny 0 4 she PRP * - - - spk * (1)
tiny 0 5 said VBD * - - - spk * -

#end document
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels as a table, and a text whose mentions two coders have linked."""
    folder = tmp_path_factory.mktemp("journeys")
    data = am.datasets.load("anesthesia").to_frame()
    data.to_csv(folder / "votes.csv", index=False)
    with zipfile.ZipFile(folder / "texts.zip", "w") as archive:
        for coder, chain in (("ana", 2), ("ben", 1)):
            archive.writestr(f"{coder}/tiny.conll", CONLL.format(it=chain))
    return folder


@pytest.mark.few("agreement", "first fit", "coref")
@pytest.mark.parametrize(
    "way",
    list(WAYS),
)
def test_a_way_through_the_package_is_short(way: str, folder: Path) -> None:
    code = f"{TRACER}\n{WAYS[way]}\nprint('files:', *sorted(SEEN))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("files:"))
    files = line.split()[1:]
    assert len(files) <= MOST[way], f"{len(files)} files: {' '.join(files)}"
