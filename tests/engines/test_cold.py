"""How much a first fit compiles, counted and not timed, so that the machine does not matter."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = """
import sys
from numba.core import event

class Count(event.Listener):
    n = 0
    def on_start(self, event): Count.n += 1
    def on_end(self, event): pass

event.register("numba:compile", Count())
import annomodels as am
am.fit(am.datasets.load("crowd"), sys.argv[1], chains=2, draws=10, warmup=10, seed=1)
print(Count.n)
"""
# compilations of a first fit; lower a number as soon as there are fewer
MOST = {"dawid-skene": 45, "hierarchical": 94, "guess-level": 97}


@pytest.mark.calibration
@pytest.mark.slow
@pytest.mark.parametrize("model", MOST)
def test_a_first_fit_compiles_no_more_than_it_did(model: str, tmp_path: Path, root: Path) -> None:
    around = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(root)}
    found = subprocess.run(
        [sys.executable, "-c", COUNT, model], env=around, check=True, capture_output=True, text=True
    )
    assert int(found.stdout) <= MOST[model]
