"""``annomodels run --every-question``: a folder for each question, and a page that links them."""

from __future__ import annotations

import json
import re

import pytest

import annomodels as am
from annomodels.cli.jobs import names_of

pytestmark = pytest.mark.slow

FEW = ("--chains", 2, "--draws", 60, "--warmup", 30, "--allow-unconverged", "--seed", 3)


@pytest.fixture
def survey(tmp_path):
    rows = ["item,coder,label,question"]
    for i in range(8):
        for coder in ("ana", "ben", "cem"):
            rows.append(f"t{i},{coder},{'yes' if (i + len(coder[:i])) % 2 else 'no'},rude <b>?")
            rows.append(f"t{i},{coder},{'pos' if i % 3 else 'neg'},tone")
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_each_question_gets_a_folder_and_the_index_links_them(call, survey, tmp_path) -> None:
    out = tmp_path / "out"
    done = call("run", survey, "-o", out, "--every-question", *FEW, "--json")
    assert done.code == 0
    facts = json.loads(done.out)
    assert facts["index"] == str(out / "index.html")
    assert list(facts["questions"]) == ["rude <b>?", "tone"]
    assert {path.name for path in out.iterdir()} == {"index.html", "rude-b", "tone"}
    for name, labels in (("rude-b", ("no", "yes")), ("tone", ("neg", "pos"))):
        assert {path.name for path in (out / name).iterdir()} == set(names_of(report=True))
        assert am.load(out / name / "fit.nc").data.labels == labels
    page = (out / "index.html").read_text()
    assert re.findall(r'href="([^"]+html)"', page) == ["rude-b/report.html", "tone/report.html"]
    assert "rude &lt;b&gt;?" in page
    assert "<b>?" not in page
    assert "8 items, 3 coders, 2 labels; 24 given" in page
    again = call("run", survey, "-o", out, "--every-question", *FEW)
    assert again.code == 2
    assert "--force" in again.err


def test_without_the_option_the_questions_are_named_and_nothing_is_written(
    call, survey, tmp_path
) -> None:
    done = call("run", survey, "-o", tmp_path / "out", *FEW)
    assert done.code == 3
    assert "2 questions" in done.err
    assert "--every-question" in done.err
    assert not (tmp_path / "out").exists()


def test_the_option_is_refused_where_it_makes_no_sense(call, survey, votes, tmp_path) -> None:
    out = tmp_path / "out"
    both = call("run", survey, "-o", out, "--every-question", "--question", "tone")
    assert (both.code, "not both" in both.err) == (2, True)
    one = call("run", votes, "-o", out, "--every-question")
    assert (one.code, "only one question" in one.err) == (2, True)
    piped = call("run", "-", "-o", out, "--every-question")
    assert (piped.code, "give a file" in piped.err) == (2, True)
    missing = call("run", tmp_path / "no.csv", "-o", out, "--every-question")
    assert missing.code == 3
    assert not out.exists()


def test_a_report_compares_the_fits_it_is_given(call, votes, tmp_path) -> None:
    for model in ("hierarchical", "pooled"):
        words = ("fit", votes, "-o", tmp_path / f"{model}.nc", "--model", model, *FEW)
        assert call(*words).code == 0
    page = tmp_path / "r.html"
    rival = tmp_path / "pooled.nc"
    done = call("report", tmp_path / "hierarchical.nc", "-o", page, "--compare", rival)
    assert done.code == 0
    html = page.read_text()
    assert "<table class=data id=comparison>" in html
    assert "This page is of the model hierarchical." in html


def test_agreement_of_every_question_stands_in_one_table(call, survey) -> None:
    words = ("agree", survey, "--every-question", "--coefficient", "alpha", "--json")
    done = call(*words, "--fail-if", "alpha.low<0.99")
    assert done.code == 1
    rows = json.loads(done.out)
    assert [(row["question"], row["coefficient"]) for row in rows] == [
        ("rude <b>?", "alpha"),
        ("tone", "alpha"),
    ]
    tone = json.loads(call("agree", survey, "--question", "tone", "--json").out)
    alpha = next(row for row in tone if row["coefficient"] == "alpha")
    assert {**rows[1], "question": ""} == {**alpha, "question": ""}
    assert "alpha.low of question rude <b>? is" in done.err
    assert "alpha.low of question tone is" in done.err
    both = call("agree", survey, "--every-question", "--by", "label")
    assert (both.code, "--by" in both.err) == (2, True)
