"""Compiled loops are kept where that is possible, and forgotten if a source is new."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from annomodels.kernels.compile import forget_older

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


def test_compiled_loops_of_other_sources_are_deleted(tmp_path: Path) -> None:
    source, part = tmp_path / "passes.py", tmp_path / "mixtures" / "stacked.py"
    compiled = [path.parent / "__pycache__" / f"{path.stem}.nbi" for path in (source, part)]
    for path in (source, part, *compiled):
        path.parent.mkdir(exist_ok=True)
        path.write_text("1")

    forget_older(tmp_path)  # nobody knows which sources they are from
    assert not any(path.exists() for path in compiled)
    for path in compiled:
        path.write_text("2")
    forget_older(tmp_path)
    assert all(path.exists() for path in compiled)
    part.write_text("changed")
    forget_older(tmp_path)
    assert not any(path.exists() for path in compiled)


def test_a_folder_that_cannot_be_changed_is_left(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "passes.py").write_text("1")
    compiled = tmp_path / "__pycache__" / "passes.nbc"
    compiled.parent.mkdir()
    compiled.write_text("2")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    forget_older(tmp_path)
    assert compiled.exists()
