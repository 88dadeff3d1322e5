"""What each command gives: the result on stdout, everything else on stderr."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

import annomodels as am
from annomodels.cli import installed
from tests.cli.rows import rows_of


def test_check_counts_groups_without_overlap(tmp_path: Path, call) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,coder,label\nt1,a,x\nt1,b,y\nt2,c,x\nt2,d,x\nt3,c,x\n")
    done = call("check", path)
    found = {row["check"]: row for row in rows_of(done.out)}
    assert found["overlap groups"]["value"] == "2"
    assert "2, 1 items" in found["overlap groups"]["remark"]
    assert found["items with one label"]["value"] == "1"


def test_check_reads_standard_input(votes: Path, call, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(votes.read_bytes())))
    done = call("check", "-")
    assert done.code == 0
    assert "standard input" in done.out


def test_agree_is_the_panel_of_the_package(call) -> None:
    done = call("agree", "dataset:trains")
    assert done.code == 0
    panel = am.agreement(am.datasets.load("trains"))
    rows = {row["coefficient"]: row for row in rows_of(done.out)}
    assert float(rows["k"]["value"]) == pytest.approx(panel["k"].value, abs=1e-6)
    assert float(rows["k"]["value"]) == pytest.approx(0.8244, abs=5e-5)  # Carpenter & Poesio 2010
    assert rows["kappa"]["value"] == ""
    assert "two coders" in rows["kappa"]["note"]


@pytest.mark.parametrize("word", ["document", "group"])
def test_agree_by_document_is_agreement_of_its_items(word: str, votes: Path, call) -> None:
    done = call("agree", votes, "--group", "page", "--by", word)
    rows = [row for row in rows_of(done.out) if row["coefficient"] == "percent"]
    assert [row[word] for row in rows] == ["p1", "p2"]
    assert [float(row["value"]) for row in rows] == pytest.approx([2 / 3, 2 / 3], abs=1e-6)
    assert "mean over groups: 0.667" in done.err
    assert "pooled: 0.667" in done.err


def test_agree_by_document_with_the_rules_for_labels_nobody_gave(tmp_path: Path, call) -> None:
    rows = [("a", "none", "none"), ("b", "link", "none"), ("c", "link", "link")]
    lines = [
        f"{page}{n},{coder},{'none' if n else label},{page}"
        for page, *labels in rows
        for n in range(3)
        for coder, label in zip("XY", labels, strict=True)
    ]
    path = tmp_path / "links.csv"
    path.write_text("\n".join(["item,coder,label,page", *lines]))
    words = ["--group", "page", "--by", "document", "--coefficient", "kappa"]
    done = call("agree", path, *words, "--positive", "link")
    assert [float(row["value"]) for row in rows_of(done.out)] == [1, 0, 1]
    assert "decide 2 of 3 groups: 1 count as 1, 1 as 0" in done.err
    plain = rows_of(call("agree", path, *words).out)
    assert [row["value"] for row in plain] == ["", "0", "1"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["table", "tsv", "csv", "json", "md", "tex"])
@pytest.mark.parametrize("by", ["label", "item", "coder", "pair"])
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


def test_diagnose_writes_sentences_and_shares(votes: Path, call) -> None:
    done = call("agree", votes, "--diagnose", "--coefficient", "k")
    assert done.code == 0
    rows = rows_of(done.out)
    assert {row["part"] for row in rows} == {"label pair", "coder", "item"}
    for part in ("label pair", "coder", "item"):
        shares = [float(row["share"]) for row in rows if row["part"] == part]
        assert sum(shares) == pytest.approx(1, abs=1e-5)
    assert "* Coders disagree on 2 of 4 items" in done.err
    drawn = call("agree", votes, "--diagnose", "--format", "table")
    assert "* Coders disagree on 2 of 4 items" in drawn.out
    whole = json.loads(call("agree", votes, "--diagnose", "--format", "json").out)
    assert {"title", "sentences", "agreement", "coders", "items", "components"} <= set(whole)
    assert whole["coders"][0]["coder"] == "cem"


def test_a_gate_can_watch_a_diagnosis_and_names_its_own_coefficient(votes: Path, call) -> None:
    assert call("agree", votes, "--diagnose", "--fail-if", "alpha<0.9").code == 1
    assert call("agree", votes, "--by", "pair", "--fail-if", "s<-1").code == 0


@pytest.mark.parametrize(
    ("gate", "code"),
    [("k<0.5", 0), ("k<0.9", 1), ("k.low<0.8", 1), ("kappa<0.1", 1), ("percent>0.5", 1),
     ("percent >= .88", 1), ("alpha<=-1e3", 0)],
)  # fmt: skip
def test_gates(gate: str, code: int, call) -> None:
    done = call("agree", "dataset:trains", "--fail-if", gate)
    assert done.code == code
    assert ("FAILED " in done.err) == (code == 1)
    assert done.out.startswith("coefficient\t")


def test_a_gate_looks_at_every_part(votes: Path, call) -> None:
    done = call("agree", votes, "--by", "coder", "--fail-if", "percent<0.7")
    assert done.code == 1
    assert "of coder cem" in done.err
    assert "of coder ana" not in done.err


@pytest.mark.slow
def test_quiet_says_nothing_and_verbose_says_more(votes: Path, call) -> None:
    assert call("agree", "dataset:anesthesia", "-q").err == ""
    few = ["--draws", 20, "--sampler", "warmup=10", "--chains", 2, "--force"]
    path = votes.with_name("out")
    plain = call("run", votes, "-o", path, *few).err
    more = call("run", votes, "-o", path, *few, "-v").err
    assert "seed 1" in plain
    assert "gibbs" in plain
    assert "seconds" in plain
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


@pytest.mark.slow
def test_report_writes_one_page(saved: Path, call, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    done = call("report", saved, "-o", page)
    assert (done.code, done.out) == (0, f"{page}\n")
    assert "<html" in page.read_text().casefold()
    assert call("report", saved, "-o", page).code == 2


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


def test_every_package_that_the_project_names_is_found_by_its_module(root: Path) -> None:
    """Of the file itself: what pip wrote down at an older installation may name others."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for text in [*project["dependencies"], *extras["readers"], *extras["dask"], *extras["polars"]]:
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
