"""``annomodels audit``, ``annomodels estimate``, and ``--audit`` of ``run`` and ``report``."""

import json
from pathlib import Path

import pytest

import annomodels as am
from tests.cli.ptys import on_a_terminal
from tests.cli.rows import judge, rows_of

pytestmark = pytest.mark.slow

FEW = ("--chains", 1, "--draws", 60, "--sampler", "warmup=30", "--seed", 1)


@pytest.fixture
def audited(fitted: Path) -> Path:
    """Give the judged items of the first round."""
    return fitted / "judged.csv"


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


def test_a_design_elsewhere_may_be_named(call, fitted: Path, audited: Path) -> None:
    words = ("estimate", fitted / "alone", "--truth", fitted / "alone" / "judged.csv")
    found = call(*words, "--truth", fitted / "audit.json")
    assert found.out == call("estimate", fitted, "--truth", audited).out


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
