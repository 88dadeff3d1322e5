"""Labels that are sets look the same in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import annomodels as am
from annomodels.data.names import label_text, quoted

SCRIPT = """
import json, sys, tempfile
from pathlib import Path
import annomodels as am
from annomodels.cli.main import main

a, b = frozenset({"alpha", "beta", "gamma"}), frozenset({"delta", "epsilon"})
rows = [(i, j, a if (i + (j == 2 and i % 3 == 0)) % 2 else b) for i in range(8) for j in range(3)]
data = am.Annotations.from_records(rows)
fit = am.fit(data, chains=2, draws=20, warmup=10, seed=1)
folder = Path(tempfile.mkdtemp())
fit.save(folder / "fit.nc")
again = am.load(folder / "fit.nc")
am.report(again, folder / "report.html")
am.write_gold(again.gold(), folder / "prodigy.jsonl", to="prodigy")
print(repr(fit.gold()), repr(fit.coders()), repr(fit.items()), repr(fit.predictive()))
print(data.fingerprint, again.data.labels == data.labels, list(fit.tree["truth"]["truth"].values))
print((folder / "prodigy.jsonl").read_text())
print("frozenset" in (folder / "report.html").read_text())
sys.stdout.flush()
for words in (["gold", "--soft"], ["coders"], ["items"], ["gold", "--json"]):
    main([words[0], str(folder / "fit.nc"), "-q", "--format", "csv", *words[1:]]
         if "--json" not in words else ["gold", str(folder / "fit.nc"), "-q", "--json"])
"""


def test_a_set_is_its_members_in_order() -> None:
    assert label_text(frozenset()) == "{}"
    assert label_text(frozenset({"b", 10, 9.5, "a"})) == "{9.5, 10, a, b}"
    assert label_text(frozenset({frozenset({"d", "c"}), "b"})) == "{b, {c, d}}"
    assert quoted(frozenset({"b", "a"})) == "{a, b}"
    assert (quoted("a"), quoted(3)) == ("'a'", "3")


def test_the_fingerprint_of_ordinary_data_is_that_of_their_names() -> None:
    data = am.Annotations.from_records([("t1", "ana", "pos"), ("t1", "ben", "neg")])
    assert data.fingerprint == "b18fd07eabf7"


@pytest.fixture(scope="module")
def outputs() -> list[str]:
    """Let two processes with different orders of sets print."""
    found = []
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "CI": "1", "MPLBACKEND": "Agg"}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=env, timeout=900
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout)
    return found


@pytest.mark.calibration
def test_two_processes_print_the_same(outputs: list[str]) -> None:
    assert outputs[0] == outputs[1]


def test_no_table_shows_python_code(outputs: list[str]) -> None:
    assert "frozenset" not in outputs[0]
    assert "\nFalse\n" in outputs[0]  # neither does the report
    assert "p_{alpha, beta, gamma}" in outputs[0]
    rows = json.loads(outputs[0][outputs[0].rindex("\n[\n") :])
    labels = [["alpha", "beta", "gamma"], ["delta", "epsilon"]]
    assert sorted({tuple(row["label"]) for row in rows}) == [tuple(label) for label in labels]
