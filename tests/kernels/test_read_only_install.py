"""Compiled loops are kept in a folder of the user where the installation cannot be written to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CALL = """
import sys, tempfile
from pathlib import Path

real, closed = tempfile.TemporaryFile, sys.argv[1:]

def refusing(*args, dir=None, **options):
    if any(part in Path(dir).as_posix() for part in closed):
        raise OSError(30, "Read-only file system", str(dir))
    return real(*args, dir=dir, **options)

tempfile.TemporaryFile = refusing
import numpy as np
from annomodels.kernels import compile as compiling
from annomodels.kernels.products import close_batch

batch, total, square = np.ones((3, 2)), np.zeros((3, 2)), np.zeros((3, 2))
close_batch(batch, 2, total, square)
print(compiling.CACHED, total.sum())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("closed", "kept"),
    [(["annomodels/kernels"], "True"), (["annomodels/kernels", "annomodels/numba"], "False")],
    ids=["installation", "home too"],
)
def test_loops_are_kept_where_they_can_be(closed: list[str], kept: str, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", CALL, *closed],
        capture_output=True,
        text=True,
        check=True,
        env={**environment, "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert done.stdout.split() == [kept, "3.0"]
    assert bool(list(tmp_path.rglob("products.close_batch*.nbi"))) == (kept == "True")
