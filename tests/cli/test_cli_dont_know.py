"""``--read dont_know``: labels that are not classes."""

from pathlib import Path

import pytest

import annomodels as am
from tests.cli.rows import rows_of

GIBBS = ("--chains", 2, "--draws", 60, "--sampler", "warmup=30")
EM = ("--engine", "em")


@pytest.mark.slow
@pytest.mark.calibration
@pytest.mark.parametrize("how", [EM, GIBBS], ids=["em", "gibbs"])
def test_dont_know_is_learnt_and_reported(tmp_path: Path, call, how: tuple[object, ...]) -> None:
    path, out = tmp_path / "votes.csv", tmp_path / "out"
    rows = [
        f"t{i},{coder},{'dk' if (i + j) % 4 == 0 else 'yes' if i % 2 else 'no'}"
        for i in range(16)
        for j, coder in enumerate(("ana", "ben", "cem"))
    ]
    path.write_text("\n".join(["item,coder,label", *rows]) + "\n")
    assert call("run", path, "-o", out, "--no-report", "--read", "dont_know=dk", *how).code in (
        0,
        4,
    )
    fit = am.load(out / "fit.nc")
    assert fit.data.labels == ("no", "yes")
    assert len(fit.data.unanswered) == 12
    assert fit.tree["posterior"]["no_answer"].dims[2:] == ("coder", "truth", "dont_know")
    said = call("coders", out, "--format", "csv")
    table = rows_of(said.out)
    assert [int(row["dont_know"]) for row in table] == [4, 4, 4]
    assert all(0.4 < float(row["answer_rate"]) < 1.0 for row in table)
    assert "counts as no answer" in said.err
    # without the option it is a class
    assert call("check", path).code == 0
    assert call("agree", path, "--read", "dont_know=dk").code == 0
    assert am.read(path).labels == ("dk", "no", "yes")
