"""Calling the command line in this process, and files to call it with."""

import csv
import json
import re
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

import annomodels as am
from annomodels.cli.main import cli, main
from tests.cli.rows import judge

VOTES = """item,coder,label,page
t1,ana,pos,p1
t1,ben,pos,p1
t1,cem,neg,p1
t2,ana,neg,p1
t2,ben,neg,p1
t2,cem,neg,p1
t3,ana,pos,p2
t3,ben,pos,p2
t3,cem,pos,p2
t4,ana,neg,p2
t4,ben,neg,p2
t4,cem,pos,p2
"""


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what looks into the saved fit as slow: loops of a stack take long to compile."""
    for item in items:
        if {"saved", "fitted"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def fits_loaded() -> dict[tuple[int, int], am.Fit]:
    """Keep the fits that were loaded, by time and size, which their copies have too."""
    return {}


@pytest.fixture(autouse=True)
def _each_fit_is_loaded_once(
    fits_loaded: dict[tuple[int, int], am.Fit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let commands share a fit that is as it was, and with it the tables that were computed."""
    from annomodels.fitting import load as loading

    load = loading.load

    def loaded(named: Path | str, *data: Any, **options: Any) -> am.Fit:
        """Load a fit, once; the package keeps this function if a test here is the first to ask."""
        path = Path(named).resolve()
        if data or options or not path.is_file():
            return load(named, *data, **options)
        key = path.stat().st_mtime_ns, path.stat().st_size
        fits_loaded[key] = found = fits_loaded.get(key) or load(path)
        return found

    monkeypatch.setattr(loading, "load", loaded)


@pytest.fixture
def call(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Run ``annomodels`` with some words; nothing may ever print a traceback."""
    monkeypatch.setenv("CI", "1")
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: object) -> Done:
        capsys.readouterr()
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        if proposed := re.search(r"try: +annomodels (.*)\n +reads (.*)", err):
            check_proposal(shlex.split(proposed[1]), proposed[2])
        return Done(code, out, err)

    def check_proposal(words: list[str], gives: str) -> None:
        """Run what a refusal proposes, as a check: it reads, with the counts that are stated."""

        def options(name: str) -> dict[str, bool]:
            command = cli.get_command(click.Context(cli), name)
            assert command is not None
            found = [p for p in command.params if isinstance(p, click.Option)]
            return {flag: not p.is_flag for p in found for flag in p.opts}

        takes, checks = options(words[0]), options("check")
        kept, rest = ["check"], iter(words[1:])
        for word in rest:
            value = [next(rest)] if takes.get(word) else []
            if not word.startswith("-") or (word in checks and word not in ("-o", "--output")):
                kept += [word, *value]
        if "-" in kept:  # the input is used up
            return
        code = main([*kept, "--format", "json"])
        out, err = capsys.readouterr()
        assert code in (0, 4), (kept, err)
        if counts := re.match(r"([\d,]+) items? × ([\d,]+) coders?", gives):
            read = json.loads(out)  # with every question, what is stated is the first one's
            found = next(iter(read.get("questions", {"": read}).values()))["checks"]
            values = [str(found[name]["value"]).replace(",", "") for name in ("items", "coders")]
            assert values == [n.replace(",", "") for n in counts.groups()], (kept, gives)

    return run


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "fit"
    words = ["run", "dataset:anesthesia", "-o", str(folder), "--no-report", "-q", "--chains", "2"]
    assert main([*words, "--draws", "100", "--sampler", "warmup=50"]) == 0
    return folder / "fit.nc"


@pytest.fixture(scope="session")
def fit(saved: Path) -> Path:
    """Give the folder in which the folder of that run lies, to be copied by transcripts."""
    return saved.parent.parent


@pytest.fixture(scope="session")
def made() -> Any:
    """Simulate labels whose truth an expert may state."""
    return am.simulate(items=150, coders=9, labels=["no", "yes"], seed=2)


@pytest.fixture(scope="session")
def fitted(made: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with labels, a saved fit, what is known of items, and a judged round.

    In ``alone/`` the judged items lie beside the fit, and the design of the audit is missing.
    """
    folder = tmp_path_factory.mktemp("audits")
    am.write(made.annotations, folder / "labels.csv")
    fit = am.fit(made.annotations, "hierarchical", chains=1, draws=60, warmup=30, seed=1)
    fit.save(folder / "fit.nc")
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "system", "left", "right", "twin"])
        for n, item in enumerate(made.annotations.items):
            rows.writerow([item, "AB"[n % 2], "A", "BC"[n % 2], n // 2])
    audit = am.audit(fit, 30, seed=1)
    audit.save(folder / "audit.json")
    audit.table.to_csv(folder / "audit.csv", index=False)
    judge(folder / "audit.csv", folder / "judged.csv", made.answers)
    (folder / "alone").mkdir()
    for name in ("fit.nc", "judged.csv"):
        shutil.copy2(folder / name, folder / "alone" / name)
    return folder
