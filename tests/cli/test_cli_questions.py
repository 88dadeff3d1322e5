"""``annomodels run --question '*'``: a folder for each question, and a page that links them."""

import json
import re

import pytest

import annomodels as am
from annomodels.cli.jobs import FILES
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
