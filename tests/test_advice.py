"""Advice that messages give: each is followed, and then the situation is better.

`tests/advice` has the situations that are lines, and finds every place of the sources that advises:
a new one fails here until a situation hears it. Situations that take more than lines are below.
"""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.cli.main import main
from tests.advice.base import make, votes
from tests.advice.follow import (
    HEARD,
    Situation,
    advice_in,
    given_again,
    heard,
    prepare,
    says,
    unadvised,
    unheeded,
)
from tests.advice.sites import all_sites
from tests.advice.situations import SITUATIONS as LINES
from tests.advice.situations import UNREACHED

FEW = ("--chains", "2", "--draws", "200", "--sampler", "warmup=100")
FAST = ("-q", "--no-report", "--model", "hierarchical", *FEW)


@dataclass
class Said:
    """Exit code and output of a command."""

    code: int
    text: str


Run = Callable[..., Said]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def one(*words: object) -> Said:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Said(code, " ".join("".join(capsys.readouterr()).split()))

    return one


def repeats_in_a_fit(run: Run) -> None:
    Path("votes.csv").write_text(votes(1, again=0.08))
    words = ("run", "votes.csv", "-o", "out", *FAST)
    run(*words)
    check = am.load("out/fit.nc").check()
    assert any("Repeats:" in found.sentence for found in check.findings)
    told = run("check", "votes.csv", "--read", "repeats=first")
    assert told.code == 0
    assert am.read("votes.csv", repeats="first").repeats == 0
    run(*words, "--force", "--read", "repeats=first")
    check = am.load("out/fit.nc").check()
    assert not any("Repeats:" in found.sentence for found in check.findings)


def repeats_that_are_refused(run: Run) -> None:
    Path("votes.csv").write_text(votes(2, again=0.0) + votes(3, again=0.0).partition("\n")[2])
    refused = run("agree", "votes.csv")
    assert refused.code == 3
    for action in ("first", "all"):
        assert f"--read repeats={action}" in refused.text
        assert run("agree", "votes.csv", "--read", f"repeats={action}").code == 0


def audit_of_other_data(run: Run) -> None:
    for seed, folder in ((4, "one"), (5, "two")):
        Path(f"{folder}.csv").write_text(votes(seed))
        run("run", f"{folder}.csv", "-o", folder, *FAST)
    run("audit", "one", "--size", "5", "-o", "x.csv")
    Path("two/audit.json").write_bytes(Path("one/audit.json").read_bytes())
    refused = run("audit", "two", "--size", "5", "-o", "y.csv")
    if refused.code:
        assert "annomodels audit --start-over" in refused.text
    again = run("audit", "two", "--size", "5", "-o", "y.csv", "--force", "--start-over")
    assert again.code == 0
    assert len(pd.read_csv("y.csv")) == 5


def units_are_no_labels(run: Run) -> None:
    Path("votes.csv").write_text(votes(6))
    refused = run("agree", "votes.csv", "--coefficient", "alpha_u")
    assert refused.code == 2
    assert "leave out --coefficient alpha_u" in refused.text
    assert run("agree", "votes.csv").code == 0
    units = [
        ("t", "a", 0, 5, "x"),
        ("t", "b", 1, 5, "x"),
        ("u", "a", 2, 4, "x"),
        ("u", "b", 2, 6, "x"),
    ]
    from annomodels import coefficients

    made = coefficients.Units.from_records(units, lengths={"t": 10, "u": 10})
    assert np.isfinite(coefficients.alpha_u(made, draws=0).value)


def chains_of_readings(run: Run) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for item in range(1, 121):
        truth = "DN()" if rng.random() < 0.3 else f"DO({int(rng.integers(item))})"
        for coder in "abc":
            wrong = "DN()" if rng.random() < 0.4 else f"DO({int(rng.integers(item))})"
            rows.append((f"t#{item}", coder, wrong if rng.random() < 0.5 else truth))
    data = am.coref.pairs(pd.DataFrame(rows, columns=["item", "coder", "label"]))
    before = am.fit(data, "pairs", seed=1, draws=500, warmup=200)
    assert float(before.tree.attrs["rhat_max"]) >= 1.05
    assert "model='single'" in before.check().sentences[0]
    assert "longer chains" not in before.check().sentences[0]
    # fewer draws than needed: `coref` has no option for more
    few = am.fit(data, "single", seed=1, draws=90, warmup=200, extend=False).check()
    assert all("more draws (in Python, am.fit)" in text for text in few.sentences[:2])
    assert not any("single" in text for text in few.sentences)
    after = am.fit(data, "single", seed=1, draws=500, warmup=200)
    assert float(after.tree.attrs["rhat_max"]) < 1.05


def too_few_draws(run: Run) -> None:
    Path("votes.csv").write_text(votes(7))
    data = am.read("votes.csv")
    short = am.fit(data, "dawid-skene", chains=2, draws=6, warmup=5, seed=1)
    assert any("more draws" in text for text in short.check().sentences)
    longer = am.fit(data, "dawid-skene", chains=4, draws=1000, warmup=300, seed=1)
    assert not any("more draws" in text for text in longer.check().sentences)


SITUATIONS = (
    repeats_in_a_fit,
    repeats_that_are_refused,
    audit_of_other_data,
    units_are_no_labels,
    chains_of_readings,
    too_few_draws,
)


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.__name__)
def test_what_a_message_advises_can_be_done_and_helps(
    run: Run, situation: Callable[[Run], None]
) -> None:
    situation(run)


@pytest.mark.slow
def test_forecasts_of_labels_and_notes_of_gold_hold_no_method(capsys) -> None:
    """The notes after a run say nothing about weights of a mixture or about public data sets."""
    fit = am.fit(am.datasets.load("anesthesia"), seed=1, chains=2, draws=100, warmup=100)
    notes = " ".join([*fit.gold().notes, *fit.next().notes])
    assert "mixture" not in notes
    assert "ublic data sets" not in notes


@pytest.fixture(scope="session")
def shared_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with what situations share."""
    folder = tmp_path_factory.mktemp("advice")
    make(folder)
    return folder


@pytest.fixture
def workplace(shared_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a copy of the shared files."""
    folder = tmp_path / "work"
    shutil.copytree(shared_files, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "400")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("situation", LINES, ids=lambda each: each.id)
def test_advice_names_what_helps(
    workplace: None, situation: Situation, request: pytest.FixtureRequest
) -> None:
    """What the advice names is done, nothing else, and then the advice is not given again."""
    if situation.compiles:
        request.getfixturevalue("unsampled")
    prepare(situation)
    there = {path.name for path in Path().iterdir()}
    first = heard(situation.before, situation.stdin)
    places = {site.key for site in all_sites() if says(site, first)}
    assert set(json.loads(HEARD.read_text())[situation.id]) <= places, first.text
    for line in situation.after:
        for path in map(Path, re.findall(r"-o (\S+)", line)):
            if path.exists() and path.name not in there:  # written by the line before
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        done = heard(line)
        # 4: the outputs are there, but the chains of a run in a test are too short
        assert done.code in ((0, 4) if line.startswith("run ") else (0,)), (
            f"{line}\n{first.text}\n{done.text}"
        )
        assert given_again(situation, first, done) == []
    assert unheeded(situation, advice_in(first)) == set(), first.text
    assert unadvised(situation, first.text) == set(), first.text


@pytest.mark.slow
def test_every_place_that_advises_is_heard_in_a_situation() -> None:
    """A new advice needs a situation; `python -m tests.advice.record` notes where it is heard."""
    recorded = json.loads(HEARD.read_text())
    assert sorted(recorded) == sorted(each.id for each in LINES)
    reached = {key for keys in recorded.values() for key in keys}
    excused = [key for keys in UNREACHED.values() for key in keys]
    places = {site.key for site in all_sites()}
    assert sorted(places - reached - set(excused)) == [], "advice that nobody followed"
    assert sorted(set(excused) - places) == [], "these are gone: shorten the list"
    assert sorted(reached.intersection(excused)) == [], "these are followed: shorten the list"
