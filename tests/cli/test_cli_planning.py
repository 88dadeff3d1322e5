"""``annomodels next`` and ``annomodels simulate``."""

import json

import pytest

import annomodels as am
from tests.cli.rows import rows_of


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    made = am.simulate(200, 8, ["no", "yes"], 4, spammers=0.25, seed=4)
    path = tmp_path_factory.mktemp("crowd") / "fit.nc"
    am.fit(
        made.annotations, "hierarchical", chains=2, draws=100, warmup=50, seed=1, extend=False
    ).save(path)
    return path


@pytest.mark.slow
def test_next_keeps_its_limits(crowd, call):
    words = ["--coder", "c1, c2,c3", "--per-item", 1, "--per-coder", 4, "--stop", 0]
    rows = rows_of(call("next", crowd, "--budget", 50, *words, "--format", "csv").out)
    assert 0 < len(rows) <= 12
    assert {r["coder"] for r in rows} <= {"c1", "c2", "c3"}
    assert len({r["item"] for r in rows}) == len(rows)


def test_simulate_writes_what_the_package_makes(call, tmp_path):
    out, truth = tmp_path / "votes.csv", tmp_path / "truth.csv"
    words = ["--items", 30, "--coders", 6, "--labels", "neg,pos", "--labels-per-item", "2-4"]
    words += [
        "--assume",
        "prevalence=.9,.1",
        "--assume",
        "spammers=0.5",
        "--assume",
        "gold=5",
        "--seed",
        3,
    ]
    done = call("simulate", *words, "-o", out, "--truth", truth)
    assert done.code == 0, done.err
    assert "3 honest" in done.err
    data = am.read(out, truth="gold")
    made = am.simulate(
        30, 6, ["neg", "pos"], (2, 4), prevalence=[0.9, 0.1], spammers=0.5, gold=5, seed=3,
        accuracy=am.priors.Beta(*(round(m * (0.16 / 0.12**2 - 1), 9) for m in (0.8, 0.2))),
    )  # fmt: skip
    assert data.to_frame().equals(made.annotations.to_frame())
    assert (data.gold >= 0).sum() == 5
    rows = rows_of(truth)
    assert {r["item"]: r["truth"] for r in rows} == made.answers
    again = call("simulate", *words)
    assert again.out.replace("\t", ",") == out.read_text()


@pytest.mark.calibration
@pytest.mark.slow
def test_design_gives_what_the_package_gives(call):
    words = ["--items", 60, "--coders", "4,8", "--labels-per-item", "2,4", "--replications", 3]
    done = call(
        "design", *words, "--assume", "accuracy=0.9", "--assume", "spread=0", "--format", "json"
    )
    assert done.code == 0, done.err
    expected = am.design(
        items=60, coders=[4, 8], labels_per_item=[2, 4], replications=3, accuracy=0.9, seed=1
    )
    rows = json.loads(done.out)
    assert [r["accuracy"] for r in rows] == pytest.approx(list(expected.table["accuracy"]))
    assert [r["reaches"] for r in rows] == list(expected.table["reaches"])
    assert f"note: {expected.notes[0]}" in done.err
