"""``annomodels audit``, ``annomodels estimate``, and ``--audit`` of ``run`` and ``report``."""

import json
import shutil
from pathlib import Path

import pytest

import annomodels as am
from tests.cli.ptys import on_a_terminal
from tests.cli.rows import judge, rows_of, write_rows

pytestmark = pytest.mark.slow

FEW = ("--chains", 1, "--draws", 60, "--sampler", "warmup=30", "--seed", 1)


@pytest.fixture
def audited(fitted: Path) -> Path:
    """Give the judged items of the first round."""
    return fitted / "judged.csv"


@pytest.fixture
def own(fitted: Path, tmp_path: Path) -> Path:
    """Copy the folder, for tests that draw."""
    return Path(shutil.copytree(fitted, tmp_path / "own"))


def test_items_are_drawn_blind_and_never_twice(call, own: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    done = call("audit", own / "fit.nc", "--size", 20, "--start-over", "-o", first)
    assert done.code == 0
    assert "should be about" in done.err
    assert (own / "audit.json").is_file()
    rows = rows_of(first)
    assert list(rows[0]) == ["item", "label", "audit"]
    assert {row["label"] for row in rows} == {""}
    done = call("audit", own, "--size", 20, "-o", second)
    assert "round 2" in done.err
    others = {row["item"] for row in rows_of(second)}
    assert len(others) == 20
    assert not others & {row["item"] for row in rows}


def test_an_audit_that_cannot_be_written_leaves_no_round(call, own, tmp_path) -> None:
    first = tmp_path / "1.csv"
    done = call("audit", own, "--size", 5, "--start-over", "-o", first)
    assert "round" not in done.err
    before = (own / "audit.json").read_text()
    done = call("audit", own, "--size", 5, "-o", first)
    assert done.code != 0
    assert "already exists" in done.err
    assert (own / "audit.json").read_text() == before
    (own / "audit.json").unlink()
    (own / "audit.json").mkdir()  # a design that cannot be kept: nobody gets the table
    done = call("audit", own, "--size", 5, "-o", tmp_path / "2.csv")
    assert done.code == 2
    assert "audit.json" in done.err
    assert not (tmp_path / "2.csv").exists()
    (own / "audit.json").rmdir()


def test_the_estimate_stands_beside_audit_and_model(call, fitted, audited) -> None:
    done = call("estimate", fitted, "--truth", audited, "--format", "json")
    assert done.code == 0
    assert "drawn at random" in done.err
    rows = {(row["quantity"], row["label"]): row for row in json.loads(done.out)}
    accuracy, model = rows["accuracy", ""], rows["wrong", ""]["model"]
    assert accuracy["low"] < accuracy["value"] < accuracy["high"]
    assert accuracy["audit_low"] <= accuracy["low"]
    data = am.load(fitted / "fit.nc")
    assert model == pytest.approx(150 - data.gold().table["probability"].sum(), abs=1e-6)
    found = am.estimate(data, audited, fitted / "audit.json", seed=1)
    assert accuracy["value"] == pytest.approx(found.row("accuracy")["value"])


def test_items_of_unknown_draw_get_no_guarantee(call, made, fitted, audited, tmp_path) -> None:
    drawn = {line.split(",")[0] for line in audited.read_text().splitlines()}
    rows = [f"{item},{label}" for item, label in made.answers.items() if item not in drawn]
    path = write_rows(tmp_path / "others.csv", rows, "item,label")
    done = call("estimate", fitted, "--truth", path, "--use", "audit", "--format", "json")
    assert {"normal_low", "normal_high"} <= set(json.loads(done.out)[0])
    assert "all items count as drawn with the same chance" in done.err


def test_a_design_elsewhere_may_be_named(call, fitted: Path, audited: Path) -> None:
    words = ("estimate", fitted / "alone", "--truth", fitted / "alone" / "judged.csv")
    found = call(*words, "--truth", fitted / "audit.json")
    assert found.out == call("estimate", fitted, "--truth", audited).out


def test_several_rounds_must_agree(call, made, own: Path, audited: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.csv"
    call("audit", own, "--size", 10, "-o", more)
    second = judge(more, tmp_path / "second.csv", made.answers)
    done = call("estimate", own, "--truth", audited, "--truth", second)
    assert done.code == 0
    other = {item: "no" if truth == "yes" else "yes" for item, truth in made.answers.items()}
    wrong = judge(audited, tmp_path / "wrong.csv", other)
    done = call("estimate", own, "--truth", audited, "--truth", wrong)
    assert done.code == 3
    assert "30 items with different true labels" in done.err
    assert "judged.csv and wrong.csv" in done.err


def test_weights_must_fit_the_sample(call, fitted: Path, audited: Path, tmp_path: Path) -> None:
    rows = [line + ",1" for line in audited.read_text().splitlines()]
    rows[0] = rows[0].removesuffix(",1") + ",weight"
    path = tmp_path / "weighted.csv"
    path.write_text("\n".join(rows))
    done = call("estimate", fitted, "--truth", path, "--weights", "weight")
    assert done.code == 3
    assert "add up to 30, but there are 150 items" in done.err
    path.write_text("\n".join([rows[0], *(row.removesuffix(",1") + ",5" for row in rows[1:])]))
    assert call("estimate", fitted, "--truth", path, "--weights", "weight").code == 0


@pytest.mark.parametrize("command", ["gold", "coders", "next"])
def test_the_fit_of_an_audited_folder_is_said_to_be_older(call, own: Path, command: str) -> None:
    said = "from before the audit"
    assert said not in call(command, own).err
    (own / "estimate.csv").touch()
    assert said in call(command, own).err
    assert said in call(command, own / "fit.nc").err


def test_the_page_of_an_audited_folder_says_that_its_fit_is_older(
    call, own: Path, audited: Path, tmp_path: Path
) -> None:
    said, page = "from before the audit", tmp_path / "page.html"
    assert said not in call("report", own, "-o", page).err
    (own / "estimate.csv").touch()
    assert said in call("report", own, "-o", page, "--force").err
    words = ("--force", "--truth", audited, "--use", "audit")
    assert said not in call("report", own, "-o", page, *words).err


@pytest.mark.calibration
@pytest.mark.slow
def test_a_run_does_all(call, made, fitted: Path, tmp_path: Path) -> None:
    out, asked = tmp_path / "out", tmp_path / "audit.csv"
    words = ("run", fitted / "labels.csv", "-o", out, *FEW, "--model", "hierarchical")
    assert call(*words, "--no-report").code in (0, 4)  # short chains
    assert call("audit", out, "--size", 25, "-o", asked).code == 0
    done = call(*words, "--force", "--truth", judge(asked, tmp_path / "judged.csv", made.answers))
    assert done.code in (0, 4)
    rows = {row["quantity"]: row for row in rows_of(out / "estimate.csv") if not row["label"]}
    assert 0 < float(rows["accuracy"]["low"]) < 1
    assert sum(row["source"] == "audit" for row in rows_of(out / "gold.csv")) == 25
    assert am.load(out / "fit.nc").data.gold is None
    assert (out / "audit.json").is_file()
    assert "audit" in (out / "report.html").read_text()
    page = tmp_path / "page.html"
    judged = tmp_path / "judged.csv"
    assert call("report", out / "fit.nc", "-o", page, "--truth", judged).code == 0
    assert "audit" in page.read_text()


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_names_stay_whole_on_a_terminal(columns: int, fitted, audited, monkeypatch) -> None:
    words = ["estimate", str(fitted), "--truth", str(audited), "-q"]
    code, lines = on_a_terminal(words, columns, monkeypatch)
    assert code == 0
    assert max(map(len, lines)) <= columns
    text = "\n".join(lines)
    assert all(name in text for name in ("accuracy", "prevalence", "quantity", "value"))


@pytest.mark.calibration  # the same in small: audit_of_other_data of tests/test_advice.py
def test_a_design_of_another_fit_never_blocks_an_audit(call, tmp_path: Path) -> None:
    few = ("--model", "hierarchical", "--draws", 60, "--sampler", "warmup=60", "--chains", 2)
    few = (*few, "--seed", 1, "--force")
    out, no_page = tmp_path / "out", "--no-report"
    for n, name in enumerate("ab"):
        made = am.simulate(items=60, coders=8, seed=n + 1)
        made.annotations.to_frame().to_csv(tmp_path / f"{name}.csv", index=False)
        assert call("run", tmp_path / f"{name}.csv", "-o", out, *few, no_page).code == 0
        done = call("audit", out, "--size", 5, "-o", tmp_path / f"audit-{name}.csv")
        assert done.code == 0, done.err
    assert "was the design of an audit of another fit" in done.err
    aside = list(out.glob("audit-*.json"))
    assert len(aside) == 1
    # the design is found next to the judged items as well, and told by the page's own command
    path = tmp_path / "audit.csv"
    rows = (tmp_path / "audit-b.csv").read_text().splitlines()
    label = made.annotations.labels[0]
    given = [row.replace(",,", f",{label},") for row in rows[1:]]
    path.write_text("\n".join([rows[0], *given]) + "\n")
    (tmp_path / "audit.json").write_bytes((out / "audit.json").read_bytes())
    done = call("run", tmp_path / "b.csv", "-o", tmp_path / "new", *few, no_page, "--truth", path)
    assert "is not known" not in done.err
    assert call("run", tmp_path / "b.csv", "-o", out, *few, "--truth", path).code == 0
    page = (out / "report.html").read_text()
    assert f"--truth {out / 'audit.json'} --truth decisions.csv" in page
    # a page of the saved fit repeats the files that it was given
    page = tmp_path / "of-fit.html"
    assert call("report", out, "-o", page, "--truth", path).code == 0
    assert f"--truth {path} --truth {out / 'audit.json'} --truth decisions.csv" in page.read_text()
