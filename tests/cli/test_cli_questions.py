"""``annomodels run --question '*'``: a folder for each question, and a page that links them."""

import json
import re

import pytest

import annomodels as am
from annomodels.cli.jobs import FILES
from annomodels.data.columns import decimal
from tests.cli.rows import FEW, write_rows

pytestmark = pytest.mark.slow


@pytest.fixture
def survey(tmp_path):
    rows = []
    for i in range(8):
        for coder in ("ana", "ben", "cem"):
            rows.append(f"t{i},{coder},{'yes' if (i + len(coder[:i])) % 2 else 'no'},rude <b>?")
            rows.append(f"t{i},{coder},{'pos' if i % 3 else 'neg'},tone")
    return write_rows(tmp_path / "survey.csv", rows, "item,coder,label,question")


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


def test_what_cannot_be_analysed_is_named_and_the_rest_is_run(call, survey, tmp_path) -> None:
    path = tmp_path / "more.csv"
    rows = [f"t{i},{c},ok,captcha" for i in range(8) for c in ("ana", "ben", "cem")]
    rows += [f"t{i},{c},words of {c} on {i * 7 % 64},why" for i in range(20) for c in "abc"]
    path.write_text(survey.read_text() + "\n".join(rows) + "\n")
    out = tmp_path / "out"
    done = call("run", path, "-o", out, "--question", "*", "--no-report", *FEW, "--format", "json")
    assert done.code == 0
    assert set(json.loads(done.out)["left_out"]) == {"captcha", "why"}
    page = (out / "index.html").read_text()
    assert "<li><bdi>captcha</bdi>: all 24 answers are &#39;ok&#39;.</li>" in page
    assert "Not analyzed: captcha (all 24 answers are" in (out / "methods.md").read_text()


def test_methods_on_questions_of_two_scales(call, tmp_path) -> None:
    """The nominal and the ordinal alpha stand in two columns."""
    codes = [11 * n % 25 for n in range(1, 21)]
    lines = []
    for item, code in enumerate(codes):
        for coder, tone in (("ana", 1 + code // 5), ("ben", 1 + code % 5)):
            lines.append(f"{item},{coder},{'abc'[tone % 3]},{tone}")
    paper = tmp_path / "m.md"
    coding = write_rows(tmp_path / "coding.csv", lines, "article,coder,topic,tone")
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
