"""``annomodels run``: one folder with everything, or nothing at all."""

import errno
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import annomodels as am
from annomodels.cli.main import load_command
from tests.cli.rows import FEW, rows_of, write_rows

pytestmark = pytest.mark.slow

FILES = {
    "report.html",
    "gold.csv",
    "coders.csv",
    "agreement.csv",
    "fit.nc",
    "methods.md",
    "next.csv",
}


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    from annomodels.cli.main import main

    folder = tmp_path_factory.mktemp("run") / "deep" / "out"
    words = ["run", "dataset:crowd", "-o", folder, *FEW, "--target", ".7", "-q", "--seed", 5]
    assert main([str(word) for word in words]) == 0
    return folder, "annomodels " + " ".join(str(word) for word in words)


def test_a_run_writes_its_files_and_nothing_else(crowd) -> None:
    folder, _ = crowd
    assert names_in(folder) == FILES
    assert names_in(folder.parent) == {"out"}
    mask = os.umask(0)
    os.umask(mask)
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o666 & ~mask}


@pytest.mark.few("report.html")
@pytest.mark.parametrize("culprit", ["report.html", "fit.nc"])
def test_a_full_disk_leaves_at_most_the_fit(votes, call, tmp_path, monkeypatch, culprit) -> None:
    """The disk fills up while the last files are written; without a fit new folders go as well."""

    def filling(real: Any) -> Any:
        def full(source: object, target: object) -> None:
            if str(target).endswith(culprit):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(source, target)

        return full

    for name in ("replace", "link"):
        monkeypatch.setattr(os, name, filling(getattr(os, name)))
    done = call("run", votes, "-o", tmp_path / "deep" / "out", *FEW)
    assert done.code == 3
    assert "space" in done.err.casefold()
    if names_in(tmp_path) != {"votes.csv"}:
        assert culprit != "fit.nc"
        assert names_in(tmp_path / "deep" / "out") == {"fit.nc"}
        assert len(am.load(tmp_path / "deep" / "out" / "fit.nc").data)


def test_an_interrupt_after_sampling_leaves_the_fit(votes, call, tmp_path, monkeypatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("annomodels.cli.jobs.methods", interrupted)
    done = call("run", votes, "-o", tmp_path / "out", *FEW)
    assert done.code == 130
    assert "Interrupted" in done.err
    assert names_in(tmp_path / "out") == {"fit.nc"}
    assert "annomodels report" in done.err


def test_what_was_sampled_is_written_when_sampling_is_interrupted(
    votes, call, tmp_path, monkeypatch
) -> None:
    import annomodels.fitting.run as fitting

    load_command("run")  # its options come from the real function
    real = fitting.fit

    def stopped(*words: object, **options: object) -> am.Fit:
        fit = real(*words, **options)  # type: ignore[arg-type]
        fit.tree.attrs["stopped"] = "interrupted"
        return fit

    monkeypatch.setattr(fitting, "fit", stopped)
    done = call("run", votes, "-o", tmp_path / "out", *FEW)
    assert done.code == 130
    assert "the draws so far are kept" in done.err
    assert names_in(tmp_path / "out") == FILES


def test_an_untrusted_fit_is_written_and_is_4(votes, call, tmp_path, monkeypatch) -> None:
    from annomodels.summaries.trust import checks

    real = checks.check

    def refuse(*words: object) -> checks.Check:
        found = real(*words)  # type: ignore[arg-type]
        return replace(found, verdict="do not use", sentences=("The chains differ.",))

    monkeypatch.setattr(checks, "check", refuse)
    done = call("run", votes, "-o", tmp_path / "out", *FEW, "--no-report")
    assert done.code == 4
    assert "cannot be trusted" in done.err
    assert "gold.csv" in names_in(tmp_path / "out")
    assert "cannot be trusted" in call("gold", tmp_path / "out", "-q").err


def test_no_output_of_an_anonymous_run_holds_a_name(call, tmp_path: Path) -> None:
    rows = [
        f"t{i},{coder},{'pos' if i % 2 or (coder == 'Zoltan' and i < 3) else 'neg'}"
        for i in range(12)
        for coder in ("Wilhelmina", "Zoltan", "Quentin")
    ]
    path = write_rows(tmp_path / "Wilhelmina.csv", rows)
    done = call("run", path, "-o", tmp_path / "out", *FEW, "--anonymize")
    assert done.code == 0
    for file in (tmp_path / "out").iterdir():
        content = file.read_bytes()
        assert not any(name in content for name in (b"Wilhelmina", b"Zoltan", b"Quentin"))
    fit = am.load(tmp_path / "out" / "fit.nc")
    assert set(fit.data.coders) == {"coder 1", "coder 2", "coder 3"}


def test_methods_are_ready_to_paste(crowd) -> None:
    folder, command = crowd
    fit = am.load(folder / "fit.nc")
    text = (folder / "methods.md").read_text()
    assert "200 items were labeled by 24 coders with 3 labels (neg, neu and pos); 1,600" in text
    row = fit.agreement().table.set_index("coefficient").loc["alpha"]
    assert f"{row['value']:.2f} (95 % interval {row['low']:.2f} to {row['high']:.2f})" in text
    assert f"implies {row['model']:.2f} ({row['model_low']:.2f} to {row['model_high']:.2f})" in text
    assert f"Verdict of the checks: {fit.check().verdict}." in text
    assert f"```sh\n{command}\n```" in text
    keys = re.findall(r"^@\w+\{(\w+),", text, flags=re.MULTILINE)
    assert {"carpenter2008", "dawid1979"} <= set(keys)
    assert len(keys) == len(set(keys)) == text.count("\n* ")
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("model", ["dawid-skene", "pooled"])
def test_methods_of_other_models_and_of_em(model: str) -> None:
    from annomodels.reporting.methods import methods

    data = am.datasets.load("trains")
    text = methods(
        am.fit(data.with_truth({data.items[0]: "Box"}), model, engine="em", seed=1, starts=1)
    )
    assert "Known labels of 1 item were held fixed" in text
    assert "so there are no intervals" in text
    assert "R-hat was" not in text
    assert "nan" not in text
    assert ("paun2018" in text) == (model == "pooled")


def test_the_files_of_a_run_agree_with_its_fit(crowd) -> None:
    folder, command = crowd
    fit = am.load(folder / "fit.nc")
    assert fit.seed == 5
    assert fit.tree.attrs["command"] == command
    assert [row["label"] for row in rows_of(folder / "gold.csv")] == fit.gold().table[
        "label"
    ].tolist()
    below = [float(row["p_below_target"]) for row in rows_of(folder / "coders.csv")]
    assert below == pytest.approx(fit.coders(target=0.7).table["p_below_target"].tolist(), rel=1e-5)
    tables = {"gold": fit.gold(), "next": fit.next(target=0.7)}
    for name, summary in tables.items():
        assert list(rows_of(folder / f"{name}.csv")[0]) == [
            str(column) for column in summary.table.columns
        ]
    assert command in (folder / "report.html").read_text()


def test_a_run_on_made_up_coders_finds_the_planted_truth(crowd) -> None:
    folder, _ = crowd
    gold = {row["item"]: row for row in rows_of(folder / "gold.csv")}
    truth = am.datasets.crowd_truth().truth
    known = {item: label for item, label in truth.items() if label in {"neg", "neu", "pos"}}
    right = sum(gold[item]["label"] == label for item, label in known.items())
    data = am.datasets.load("crowd")
    alone = (data.votes == data.votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
    rows = zip(data.items, data.votes.argmax(axis=1), alone, strict=True)
    most = {name: data.labels[k] for name, k, clear in rows if clear}  # a tie has no majority
    votes = sum(most.get(item) == label for item, label in known.items())
    assert right >= max(votes, 0.9 * len(known))
