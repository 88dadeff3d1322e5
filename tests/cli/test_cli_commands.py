"""What each command gives: the result on stdout, everything else on stderr."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from packaging.requirements import Requirement

import annomodels as am
from annomodels.cli import installed
from annomodels.cli.commands.labels import CONVENTIONS
from annomodels.coefficients.agreement import Convention
from annomodels.reporting.methods import bibtex, methods, methods_latex
from tests.cli.rows import rows_of

FORMS = [("label", form) for form in ("table", "tsv", "csv", "md", "tex")]
FORMS += [(part, "json") for part in ("label", "item", "coder", "pair")]


@pytest.mark.slow
@pytest.mark.parametrize(("by", "form"), FORMS)
def test_every_part_has_every_form(by: str, form: str, call) -> None:
    done = call("agree", "dataset:trains", "--by", by, "--coefficient", "k", "--format", form)
    assert done.code == 0
    n = {"label": 4, "item": 25, "coder": 4, "pair": 6}[by]
    if form == "json":
        rows = json.loads(done.out)
        assert len(rows) == n
        assert {row["coefficient"] for row in rows} == {"k"}
    else:
        assert len(done.out.splitlines()) >= n + 1


def test_the_conventions_are_those_of_python():
    assert get_args(Convention) == CONVENTIONS


@pytest.mark.slow
def test_quiet_says_nothing_and_verbose_says_more(votes: Path, call) -> None:
    assert call("agree", "dataset:anesthesia", "-q").err == ""
    few = ["--draws", 20, "--sampler", "warmup=10", "--chains", 2, "--force"]
    path = votes.with_name("out")
    plain = call("run", votes, "-o", path, *few, "--no-report").err
    more = call("run", votes, "-o", path, *few, "--no-report", "-v").err
    assert "seed 1" in plain
    assert "gibbs" in plain
    assert len(more) > len(plain)


@pytest.mark.slow
def test_gold_leaves_unsettled_labels_empty_only_with_a_threshold(saved: Path, call) -> None:
    plain = rows_of(call("gold", saved).out)
    strict = rows_of(call("gold", saved, "--threshold", ".9").out)
    assert all(row["label"] for row in plain)
    for before, after in zip(plain, strict, strict=True):
        settled = float(before["probability"]) >= 0.9
        assert after["state"] == "contested" or (after["state"] == "settled") == settled
        assert after["label"] == (before["label"] if after["state"] == "settled" else "")
    assert len({row["state"] for row in strict}) >= 2


@pytest.mark.slow
def test_a_folder_of_a_run_stands_for_its_fit(saved: Path, call) -> None:
    assert call("gold", saved.parent).out == call("gold", saved).out


def test_datasets_come_back_as_they_were(call, tmp_path: Path) -> None:
    listed = [row["name"] for row in rows_of(call("datasets").out)]
    assert tuple(listed) == am.datasets.names()
    path = tmp_path / "labels.csv"
    assert call("datasets", "anesthesia", "-o", path).code == 0
    original = am.datasets.load("anesthesia")
    again = am.read(path)
    assert again.n_items == original.n_items
    assert again.votes.tolist() == original.votes.tolist()
    assert again.repeats == original.repeats


@pytest.mark.slow
def test_version_names_packages_and_problems(call, monkeypatch) -> None:
    from importlib import metadata

    assert call("--version").out == f"annomodels {am.__version__}\n"
    done = call("--version", "-v")
    facts = dict(line.split(": ", 1) for line in done.out.splitlines()[1:])
    assert facts["numpy"] == np.__version__
    assert (done.code, done.err) == (0, "No problem found.\n")
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda n: "5.1" if n == "pymc" else real(n))
    done = call("--version", "-v")
    assert done.code == 5
    assert "pip install --upgrade 'pymc<7,>=6.2'" in done.err


@pytest.mark.slow
def test_every_package_that_the_project_names_is_found_by_its_module(root: Path) -> None:
    """Of the file itself: what pip wrote down at an older installation may name others."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    used = [text for name in ("readers", "scale", "dask", "polars") for text in extras[name]]
    for text in [*project["dependencies"], *used]:
        needed = Requirement(text)
        assert installed._package(needed.name, needed.specifier, "").problem == "", text


def test_version_says_what_is_missing_and_what_installs_it(call, monkeypatch) -> None:
    from importlib import metadata

    from annomodels.kernels import compile as compiling

    known = metadata.version

    def version(name: str) -> str:
        if name == "pyreadstat":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(compiling, "CACHED", False)
    done = call("--version", "--verbose")
    rows = dict(line.split(": ", 1) for line in done.out.splitlines()[1:])
    assert done.code == 0
    assert "pip install 'pyreadstat>=" in rows["pyreadstat (extra readers)"]
    assert "cache of compiled code: " in done.err
    assert "export NUMBA_CACHE_DIR=" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agree", "check"])
def test_counting_needs_no_pymc(name: str, votes: Path, tmp_path: Path) -> None:
    """In an environment whose PyMC, ArviZ and nutpie are broken."""
    for module in ("pymc", "arviz", "nutpie", "pytensor"):
        (tmp_path / f"{module}.py").write_text("raise ImportError('broken')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "annomodels", name, str(votes), "--format", "json"],
        capture_output=True, text=True, timeout=900, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["crowd", "anesthesia"])
def test_a_bundled_data_set_is_written_with_all_its_columns(
    name: str, tmp_path: Path, call
) -> None:
    """The table holds all that dataset:NAME has; text and batch were left out once."""
    data = am.datasets.load(name)
    call("datasets", name, "-o", tmp_path / "votes.csv")
    again = am.read(
        tmp_path / "votes.csv", **({"text": "text", "group": "batch"} if data.texts else {})
    )
    assert set(again.items) == set(data.items)
    texts = dict(zip(again.items, again.texts or (), strict=bool(again.texts)))
    assert texts == dict(zip(data.items, data.texts or (), strict=bool(data.texts)))
    assert set(again.groups) == set(data.groups)


@pytest.mark.slow
def test_each_form_of_methods_is_what_the_function_gives(saved: Path, tmp_path: Path, call) -> None:
    fit = am.load(saved)
    command = str(fit.tree.attrs["command"])
    assert call("report", saved, "--methods", "-").out == methods(fit, command)
    for name, text in (("m.tex", methods_latex(fit, command)), ("m.bib", bibtex(fit))):
        assert call("report", saved, "--methods", tmp_path / name).code == 0
        assert (tmp_path / name).read_text("utf-8") == text


@pytest.mark.slow
def test_why_holds_every_coder_of_the_item_and_adds_up(saved: Path, call) -> None:
    done = call("gold", saved, "--why", "--item", "3", "--format", "csv")
    assert done.code == 0
    rows = rows_of(done.out)
    assert [row["source"] for row in rows][-2:] == ["(prevalence)", "(sum)"]
    assert {row["source"] for row in rows[:-2]} == {"1", "2", "3", "4", "5"}
    *parts, total = (float(row["log_odds"]) for row in rows)
    assert sum(parts) == pytest.approx(total, abs=1e-3)
    assert "independent of each other" in done.err
