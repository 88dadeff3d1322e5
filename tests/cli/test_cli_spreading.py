"""--executor and --sampler dask: the same numbers, and sentences when it fails."""

import logging
from pathlib import Path

import numpy as np
import pytest

import annomodels as am

pytestmark = pytest.mark.slow

SIZE = ["--chains", "2", "--draws", "30", "--sampler", "warmup=20"]


@pytest.fixture(scope="module")
def labels(tmp_path_factory) -> str:
    rng = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    lines = ["item,coder,label"]
    for item in range(60):
        truth = rng.integers(2)
        said = np.where(rng.random(4) < 0.8, truth, 1 - truth)
        lines += [f"i{item:03},c{coder},{label}" for coder, label in enumerate(said)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def confusion(path: Path) -> np.ndarray:
    return am.load(path / "fit.nc").tree["posterior"]["confusion"].values


def test_threads_change_no_number(call, labels: str, tmp_path: Path) -> None:
    plain, threads = tmp_path / "plain", tmp_path / "threads"
    common = [*SIZE, "--model", "one-coin", "--no-report"]
    assert call("run", labels, "-o", plain, *common).code in (0, 4)
    done = call("run", labels, "-o", threads, *common, "--sampler", "threads=1")
    assert done.code in (0, 4), done.err
    np.testing.assert_array_equal(confusion(threads), confusion(plain))


@pytest.mark.calibration
def test_a_local_dask_cluster(call, labels: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    plain, dask = tmp_path / "plain", tmp_path / "dask"
    common = [*SIZE, "--engine", "em", "--model", "dawid-skene", "--no-report"]
    assert call("run", labels, "-o", plain, *common).code in (0, 4)
    done = call("run", labels, "-o", dask, *common, "--sampler", "dask=local:2")
    assert done.code in (0, 4), done.err
    np.testing.assert_allclose(confusion(dask), confusion(plain), atol=1e-9)
