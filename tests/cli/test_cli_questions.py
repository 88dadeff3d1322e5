"""``annomodels run --question '*'``: a folder for each question, and a page that links them."""

from __future__ import annotations

import json
import re

import pytest

import annomodels as am
from annomodels.cli.jobs import FILES
from annomodels.data.columns import decimal

pytestmark = pytest.mark.slow

FEW = ("--chains", 2, "--draws", 60, "--sampler", "warmup=30", "--seed", 3)


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
    done = call("run", survey, "-o", out, "--question", "*", *FEW, "--format", "json")
    assert done.code == 0
    facts = json.loads(done.out)
    assert facts["index"] == str(out / "index.html")
    assert list(facts["questions"]) == ["rude <b>?", "tone"]
    whole = {"index.html", "agreement.csv", "methods.md"}
    assert {path.name for path in out.iterdir()} == {*whole, "rude-b", "tone"}
    told = (out / "methods.md").read_text()
    assert "2 questions were analyzed separately" in told
    assert "| tone | nominal | 8 | 3 | 2 | 24 |" in told
    assert (out / "agreement.csv").read_text().count("\ntone,alpha,") == 1
    for name, labels in (("rude-b", ("no", "yes")), ("tone", ("neg", "pos"))):
        assert {path.name for path in (out / name).iterdir()} == {"report.html", *FILES}
        assert am.load(out / name / "fit.nc").data.labels == labels
    page = (out / "index.html").read_text()
    assert re.findall(r'href="([^"]+html)"', page) == ["rude-b/report.html", "tone/report.html"]
    assert "rude &lt;b&gt;?" in page
    assert "<b>?" not in page
    assert "8 items, 3 coders, 2 labels; 24 given" in page
    again = call("run", survey, "-o", out, "--question", "*", *FEW)
    assert again.code == 2
    assert "--force" in again.err


def test_without_the_option_the_questions_are_named_and_nothing_is_written(
    call, survey, tmp_path
) -> None:
    done = call("run", survey, "-o", tmp_path / "out", *FEW)
    assert done.code == 3
    assert "2 questions" in done.err
    assert "--question '*'" in done.err
    assert not (tmp_path / "out").exists()


def test_the_option_is_refused_where_it_makes_no_sense(call, survey, tmp_path) -> None:
    out = tmp_path / "out"
    alone = tmp_path / "alone.csv"
    alone.write_text("item,coder,label\nt,ana,yes\nt,ben,no\n")
    one = call("run", alone, "-o", out, "--question", "*")
    assert (one.code, "only one question" in one.err) == (2, True)
    missing = call("run", tmp_path / "no.csv", "-o", out, "--question", "*")
    assert missing.code == 3
    assert not out.exists()


def test_a_report_compares_the_fits_it_is_given(call, votes, tmp_path) -> None:
    for model in ("hierarchical", "pooled"):
        words = ("run", votes, "-o", tmp_path / model, "--no-report", "--model", model, *FEW)
        assert call(*words).code == 0
    page = tmp_path / "r.html"
    rival = tmp_path / "pooled"
    done = call("report", tmp_path / "hierarchical", "-o", page, "--compare", rival)
    assert done.code == 0
    html = page.read_text()
    assert "<table class=data id=comparison>" in html
    assert "This page shows the model hierarchical." in html


def test_agreement_of_every_question_stands_in_one_table(call, survey) -> None:
    words = ("agree", survey, "--question", "*", "--coefficient", "alpha", "--format", "json")
    done = call(*words, "--fail-if", "alpha.low<0.99")
    assert done.code == 1
    rows = json.loads(done.out)
    assert [(row["question"], row["coefficient"]) for row in rows] == [
        ("rude <b>?", "alpha"),
        ("tone", "alpha"),
    ]
    tone = json.loads(call("agree", survey, "--question", "tone", "--format", "json").out)
    alpha = next(row for row in tone if row["coefficient"] == "alpha")
    assert {**rows[1], "question": ""} == {**alpha, "question": ""}
    assert "alpha.low of question rude <b>? " in done.err
    assert "alpha.low of question tone " in done.err
    both = call("agree", survey, "--question", "*", "--by", "label")
    assert (both.code, "--by" in both.err) == (2, True)


def test_what_cannot_be_analysed_is_named_and_the_rest_is_done(call, survey, tmp_path) -> None:
    path = tmp_path / "more.csv"
    rows = [f"t{i},{c},ok,captcha" for i in range(8) for c in ("ana", "ben", "cem")]
    rows += [f"t{i},{c},words of {c} on {i * 7 % 64},why" for i in range(20) for c in "abc"]
    path.write_text(survey.read_text() + "\n".join(rows) + "\n")
    done = call("agree", path, "--question", "*", "--coefficient", "alpha", "--format", "json")
    assert done.code == 0
    told = {row["question"]: row for row in json.loads(done.out)}
    assert list(told) == ["rude <b>?", "tone", "captcha", "why"]
    assert told["captcha"]["note"] == "Left out: all 24 answers are 'ok'."
    assert told["captcha"]["coefficient"] is None
    assert "warning: left out: why: free text, 60 different answers among 60." in done.err
    gate = call("agree", path, "--question", "*", "--fail-if", "alpha<-1", "--format", "md")
    assert (gate.code, "captcha" in gate.out) == (0, False)
    out = tmp_path / "out"
    done = call("run", path, "-o", out, "--question", "*", "--no-report", *FEW, "--format", "json")
    assert done.code == 0
    assert set(json.loads(done.out)["left_out"]) == {"captcha", "why"}
    page = (out / "index.html").read_text()
    assert "<li><bdi>captcha</bdi>: all 24 answers are &#39;ok&#39;.</li>" in page
    assert "Not analyzed: captcha (all 24 answers are" in (out / "methods.md").read_text()
    nothing = call("agree", path, "--question", "c*", "--question", "w*")
    assert nothing.code == 3
    assert "None of 2 questions can be read: 'captcha' (all 24" in nothing.err


@pytest.fixture
def coding(tmp_path):
    rows = ["item,coder,stage_1,stage_2,stage_free,tone"]
    for i in range(9):
        for k, coder in enumerate(("ana", "ben")):
            rows.append(f"t{i},{coder},{(i + k) % 4 + 1},{i % 4 + 1},x{i}{k},{'ab'[(i + k) % 2]}")
    path = tmp_path / "coding.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_questions_are_chosen_by_names_and_patterns_each_with_its_scale(
    call, coding, tmp_path
) -> None:
    words = (
        "agree",
        coding,
        "--coefficient",
        "alpha",
        "--format",
        "json",
        "--question",
        "stage_[12]",
    )
    scaled = ("--scale", "stage_2=ordinal", "--question", "tone")
    paper = tmp_path / "paper.md"
    done = call(*words, *scaled, "--methods", paper)
    assert [row["question"] for row in json.loads(done.out)] == ["stage_1", "stage_2", "tone"]
    text = paper.read_text()
    assert "3 questions were analyzed separately (stage\\_1, stage\\_2 and tone)" in text
    assert "| stage\\_2 | ordinal | 9 | 2 | 4 | 18 |" in text
    assert "| stage\\_1 | nominal |" in text
    assert "krippendorff2019" in text
    one = call("agree", coding, "--question", "stage_2", "--scale", "ordinal", "--format", "json")
    alpha = next(row for row in json.loads(one.out) if row["coefficient"] == "alpha")
    assert json.loads(done.out)[1]["value"] == alpha["value"]
    wrong = call(*words, "--scale", "stage_9=ordinal")
    assert (wrong.code, "No question is called 'stage_9'" in wrong.err) == (3, True)
    wrong = call(*words, "--scale", "stage_1=ranked")
    assert (wrong.code, "QUESTION=SCALE" in wrong.err) == (2, True)
    wrong = call("convert", coding, "-o", tmp_path / "f.csv", "--question", "stage_[12]")
    assert (wrong.code, "takes one question" in wrong.err) == (2, True)
    wrong = call("agree", coding, "--question", "tone", "--methods", paper, "--force")
    assert (wrong.code, "--methods needs" in wrong.err) == (2, True)


def test_check_of_every_question_is_one_table_and_says_what_is_supported(call, coding) -> None:
    done = call(
        "check", coding, "--question", "*", "--format", "json", "--scale", "stage_2=ordinal"
    )
    told = json.loads(done.out)
    assert list(told["questions"]) == ["stage_1", "stage_2", "stage_free", "tone"]
    checks = told["questions"]["stage_1"]["checks"]
    assert checks["labels_given"]["value"] == 18
    assert "the numbers 1 to 4" in checks["scale"]["remark"]
    assert "--scale ordinal" in checks["scale"]["remark"]
    assert told["questions"]["stage_2"]["checks"]["scale"] == {"value": "ordinal", "remark": ""}
    assert {"question": "tone", "what": "alpha"} in told["supports"]
    why = {"question": "tone", "what": "coders' accuracy", "why": "2 coders"}
    assert why in told["not_yet"]
    drawn = call("check", coding, "--question", "*")
    assert drawn.out.splitlines()[1].startswith("stage_1\t9\t2\t18\t4\t0\tnominal\t")
    assert "supports: alpha by question" in drawn.err
    assert "coders' accuracy (2 coders)" in drawn.err
    alone = call("check", coding, "--question", "tone", "--format", "json")
    assert {"what": "gold"} in json.loads(alone.out)["supports"]
    lines = call("check", coding, "--question", "tone").out.splitlines()
    assert "supports\talpha, gold\t" in lines
    kinds = [line.split("\t")[0] for line in lines]
    assert kinds[kinds.index("model") - 1] == "not yet"


def test_methods_on_questions_of_two_scales(call, tmp_path) -> None:
    """The nominal and the ordinal alpha stand in two columns."""
    codes = [11 * n % 25 for n in range(1, 21)]
    lines = ["article,coder,topic,tone"]
    for item, code in enumerate(codes):
        for coder, tone in (("ana", 1 + code // 5), ("ben", 1 + code % 5)):
            lines.append(f"{item},{coder},{'abc'[tone % 3]},{tone}")
    coding, paper = tmp_path / "coding.csv", tmp_path / "m.md"
    coding.write_text("\n".join(lines) + "\n")
    said = ("--item", "article", "--scale", "tone=ordinal", "--coefficient", "alpha")
    assert call("agree", coding, "--question", "*", *said, "--methods", paper).code == 0
    text = paper.read_text()
    titles = ("Krippendorff's alpha", "Krippendorff's alpha, ordinal")
    assert " | ".join(f"{title} [95 %]" for title in titles) in text
    cells = {
        line[2:7].strip(): line.split("|")[7:9] for line in text.splitlines() if "| 20 |" in line
    }
    for question, place, scale in (("topic", 0, "nominal"), ("tone", 1, "ordinal")):
        data = am.read(coding, item="article", question=question, scale=scale)
        value = am.agreement(data, "alpha", draws=0).value
        assert cells[question][place].startswith(f" {decimal(value)} [")
        assert not cells[question][1 - place].strip()
