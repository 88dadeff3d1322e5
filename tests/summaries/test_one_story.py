"""Files of a run tell one story: of intervals, of items, of coders, and in the methods."""

import csv
import re

import pytest

import annomodels as am
from annomodels.cli.main import main
from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.limits import CODER_JUDGED
from annomodels.reporting.facts import ADVICE, Facts

pytestmark = pytest.mark.slow

CROWDS = {
    "spammers": {"spammers": 0.3, "adversaries": 0.1, "labels": 3, "seed": 1},
    "two readings": {"ambiguous": 0.2, "difficulty": 1.0, "labels": 3, "seed": 2},
    "few labels": {"spammers": 0.2, "labels": 2, "labels_per_item": 3, "seed": 3},
}


def number(text):
    return float(text) if text else float("nan")


@pytest.fixture(scope="module", params=CROWDS)
def run(request, tmp_path_factory):
    """Folder of a run on a simulated crowd, its tables, and the fit."""
    folder = tmp_path_factory.mktemp("run")
    made = am.simulate(items=150, coders=15, **CROWDS[request.param])
    made.annotations.to_frame().to_csv(folder / "votes.csv", index=False)
    short = ["--draws", "150", "--sampler", "warmup=100", "--chains", "2", "-q", "--no-report"]
    out = folder / "out"
    assert main(["run", str(folder / "votes.csv"), "-o", str(out), "--seed", "1", *short]) == 0
    tables = {}
    for name in ("gold", "coders", "next", "agreement"):
        with (out / f"{name}.csv").open() as file:
            tables[name] = list(csv.DictReader(file))
    return out, tables, am.load(out / "fit.nc")


def test_every_estimate_is_inside_its_interval(run):
    _, tables, _ = run
    seen = 0
    for rows in tables.values():
        for row in rows:
            for end in [name for name in row if name.endswith("_low")]:
                name = end.removesuffix("_low")
                middle = row.get(name) or row.get("value" if name == "" else name, "")
                low, value, high = (number(x) for x in (row[end], middle, row[f"{name}_high"]))
                assert not value < low, (name, row)
                assert not value > high, (name, row)
                seen += low == low
    assert seen > 30


def test_no_item_is_contested_and_next_and_no_flagged_coder_is_asked(run):
    _, tables, _ = run
    contested = {row["item"] for row in tables["gold"] if row["state"] == "contested"}
    asked = {row["coder"] for row in tables["next"]}
    assert tables["next"]
    assert not contested & {row["item"] for row in tables["next"]}
    advice = {row["coder"]: row["advice"] for row in tables["coders"]}
    assert not [name for name in asked if advice.get(name, "").startswith(ADVICE[:3])]


def test_a_coder_has_one_kind_one_advice_and_one_place(run):
    _, tables, fit = run
    flagged = set(Facts(fit).flagged["coder"])
    for row in tables["coders"]:
        kind, advice = row["kind"], row["advice"]
        assert (kind == "adversary") <= advice.startswith("correct: ")
        assert (kind == "spammer") <= (advice == "stop")
        if kind == "good":  # of whom one can be sure that labels depend on the items
            assert float(row["skill_low"]) >= 0.2
            assert not advice.startswith(ADVICE)
        # who is named in the table is named on the first screen, but for hardly any labels
        named = advice.startswith(ADVICE) and int(row["n"]) >= CODER_JUDGED
        assert named == (row["coder"] in flagged)
    printed = repr(fit.coders()).splitlines()
    head = next(line for line in printed if line.startswith("coder"))
    assert all(name in head for name in ("kind", "advice", "n", "share right"))
    table = printed[printed.index(head) : printed.index(head) + 12]
    assert max(map(len, table)) <= 100


def test_numbers_of_the_methods_are_those_of_the_tables(run):
    out, tables, fit = run
    text = (out / "methods.md").read_text()
    settled = sum(row["state"] in ("settled", "decided") for row in tables["gold"])
    assert f"{settled} items of {len(tables['gold'])} (" in text or settled == len(tables["gold"])
    expected = sum(1 - float(row["probability"]) for row in tables["gold"])
    (said,) = re.findall(r"By these probabilities ([\d.]+) of the gold labels", text)
    assert float(said) == pytest.approx(expected, abs=0.6)
    for row in tables["agreement"]:
        if row["value"]:
            span = (
                f"{float(row['value']):.2f} | [{float(row['low']):.2f}, {float(row['high']):.2f}]"
            )
            assert f"| {COEFFICIENTS[row['coefficient']].title} | {span}" in text
    right = sorted(float(row["share_right"]) for row in tables["coders"] if row["share_right"])
    (middle,) = re.findall(r"share of right labels is ([\d.]+)", text)
    assert float(middle) == pytest.approx(right[len(right) // 2], abs=0.006)
    (worst,) = re.findall(r"for the median coder, ([\d.]+)", text)
    assert float(worst) == pytest.approx(right[0], abs=0.006)
    assert f"Verdict of the checks: {fit.check().verdict}." in text
