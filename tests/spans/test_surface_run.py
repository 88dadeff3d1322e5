"""The commands on a project of spans, as a new user gives them, and the page in a browser."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

import annomodels as am
from annomodels.cli.main import main
from annomodels.errors import AnnotationError, NotApplicable
from annomodels.io.reading import read_any
from annomodels.io.span_builder import Spans
from tests.report.browser import Browser, binary

ROOT = Path(__file__).resolve().parent.parent.parent
Run = Callable[..., tuple[int, str, str]]
pytestmark = pytest.mark.slow


def brat_project(folder: Path, notices: int = 24) -> set[tuple[str, int, int, str]]:
    """Write the project of the example, and return the right spans."""
    code = (ROOT / "examples" / "gold_spans.py").read_text("utf-8").partition("\nwith tempfile")[0]
    names: dict[str, object] = {}
    exec(compile(code, "gold_spans.py", "exec"), names)
    made = names["project"](folder, notices)  # type: ignore[operator]
    assert isinstance(made, set)
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("spans")
    right = brat_project(folder / "project")
    (folder / "right.json").write_text(json.dumps(sorted(right)))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["run", "project", "-o", "out", "--seed", "1", "-q"]) == 0
        yield folder


@pytest.fixture
def run(made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(made)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def table(text: str, mark: str = "\t") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=mark))


def test_a_run_needs_no_units_and_writes_gold_spans(made: Path, run: Run) -> None:
    names = ["agreement.csv", "coders.csv", "fit.nc", "gold.csv", "report.html"]
    assert sorted(path.name for path in (made / "out").iterdir()) == names
    gold = pd.read_csv(made / "out" / "gold.csv", keep_default_na=False)
    head = "document start end label text p_exact p_span runner_up votes state reason source"
    assert list(gold) == head.split()
    for _, rows in gold.sort_values(["document", "start"]).groupby("document"):
        ends = rows[["start", "end"]].to_numpy()
        assert (ends[1:, 0] >= ends[:-1, 1]).all()  # a flat layer has no overlap
    assert (gold["p_span"] >= gold["p_exact"]).all()
    spans = am.read_spans(made / "project")
    for row in gold.itertuples():
        assert spans.texts[str(row.document)][row.start : row.end] == row.text
    code, out, _ = run("run", "project", "-o", "again", "--seed", "1")
    first, verdict, *_ = out.splitlines()
    assert (code, first) == (0, "again/report.html")
    assert verdict.startswith("verdict: ")
    assert "Expected F1 of the" in out
    assert (made / "again" / "gold.csv").read_bytes() == (made / "out" / "gold.csv").read_bytes()
    code, _, err = run("run", "project", "-o", "out")
    assert code == 2
    assert "already exist" in err


def test_units_make_items_as_before(made: Path, run: Run) -> None:
    code, out, _ = run("check", "project", "--units", "overlap", "--question", "type")
    assert code == 0
    assert "labels given" in out
    code, out, _ = run("check", "project")
    rows = {row["check"]: row["value"] for row in table(out)}
    assert (code, rows["documents"], rows["coders"]) == (0, "24", "4")
    assert rows["supports"] == "gold spans, agreement"


def test_options_that_chains_of_spans_do_not_know_are_refused(run: Run) -> None:
    code, _, err = run("run", "project", "-o", "late", "--time-limit", "9")
    assert code != 0
    assert "Spans are fitted without --time-limit: leave out --time-limit." in err


def test_json_has_the_quality(run: Run) -> None:
    code, out, _ = run("run", "project", "-o", "as-json", "--seed", "1", "--format", "json", "-q")
    told = json.loads(out)
    assert code == 0
    assert [row["quantity"] for row in told["quality"]] == ["precision", "recall", "f1"]
    assert set(told["states"]) == {"settled", "needs labels", "contested", "decided"}


def test_agreement_is_by_label_and_gates_name_labels(run: Run) -> None:
    code, out, _ = run("agree", "project")
    values = {row["coefficient"]: row for row in table(out)}
    assert code == 0
    assert {"span_f1", "span_f1:LOC", "span_f1_overlapping:PER", "alpha_u", "token_alpha"} <= {
        *values
    }
    exact, overlapping = (float(values[n]["value"]) for n in ("span_f1", "span_f1_overlapping"))
    assert exact < overlapping < 1
    assert float(values["alpha_u"]["low"]) < float(values["alpha_u"]["value"])
    code, _, err = run("agree", "project", "--fail-if", "span_f1:PER<0.99")
    assert code == 1
    assert "span_f1:PER" in err
    code, _, err = run("agree", "project", "--coefficient", "alpha")
    assert code == 2
    assert "--units" in err


@pytest.mark.parametrize(
    ("to", "how"),
    [
        ("brat", {}),
        ("webanno", {}),
        ("doccano", {}),
        ("prodigy", {"item": "document"}),
        ("label-studio", {"item": "document", "models": True}),
    ],
)
def test_gold_goes_back_into_the_tool(
    made: Path, run: Run, to: str, how: dict[str, object]
) -> None:
    place = made / f"gold-{to}" if to in ("brat", "webanno") else made / f"gold-{to}.jsonl"
    code, _, _ = run("gold", "out", "--to", to, "-o", str(place), "--force")
    assert code == 0
    found = read_any(place if how else {"gold": place}, **how)
    assert isinstance(found, Spans)
    gold = pd.read_csv(made / "out" / "gold.csv", keep_default_na=False)
    rows = gold[["document", "start", "end", "label"]].itertuples(index=False, name=None)
    assert sorted((s.document, s.start, s.end, s.label) for s in found.spans) == sorted(rows)


def test_a_folder_is_named_for_tools_that_take_one(run: Run) -> None:
    code, _, err = run("gold", "out", "--to", "brat")
    assert code == 2
    assert "-o" in err
    code, out, _ = run("gold", "out", "--to", "conll")
    assert code == 0
    assert out.startswith("-DOCSTART- (notice_01) O\n")


def test_an_audit_of_documents_corrects_the_quality(made: Path, run: Run) -> None:
    right = [tuple(row) for row in json.loads((made / "right.json").read_text())]
    code, _, err = run("audit", "out", "--size", "8", "-o", "audit.csv", "--force")
    assert code == 0
    assert "8 documents of 24, drawn at random" in err
    drawn = pd.read_csv(made / "audit.csv", dtype=str, keep_default_na=False)
    assert list(drawn) == ["document", "text", "start", "end", "label", "audit"]
    assert (drawn[["start", "end", "label"]] == "").all(axis=None)
    marks = [row for row in right if row[0] in set(drawn["document"])]
    filled = pd.DataFrame(marks, columns=["document", "start", "end", "label"])
    filled.assign(audit=drawn["audit"].iloc[0]).to_csv(made / "filled.csv", index=False)
    code, out, err = run("estimate", "out", "--truth", "filled.csv")
    rows = {row["quantity"]: row for row in table(out)}
    assert code == 0
    assert "8 documents of 24 judged" in err
    gold = pd.read_csv(made / "out" / "gold.csv", keep_default_na=False)
    found = set(gold[["document", "start", "end", "label"]].itertuples(index=False, name=None))
    hits = len(found & set(right))
    actual = {
        "precision": hits / len(found),
        "recall": hits / len(right),
        "f1": 2 * hits / (len(found) + len(right)),
    }
    for name, value in actual.items():
        low, high = (float(rows[name][end]) for end in ("low", "high"))
        assert low - 0.02 <= value <= high + 0.02, (name, value, low, high)
        for part in ("", "audit_", "model_"):
            ends = [float(rows[name][f"{part}{end}"]) for end in ("low", "high")]
            assert ends[0] <= float(rows[name][part.rstrip("_") or "value"]) <= ends[1]
    # a run with the audit shows it, and a second round draws other documents
    words = ("run", "project", "-o", "audited", "--seed", "1", "--truth", "filled.csv", "--force")
    for more in ((), ("--threshold", "0.8")):
        code, out, _ = run(*words, *more)
        assert code == 0
        assert "from audit and model" in (made / "audited" / "report.html").read_text("utf-8")
        # terminal, page and files tell the same of the same layer
        gold = pd.read_csv(made / "audited" / "gold.csv", keep_default_na=False)
        told = pd.read_csv(made / "audited" / "estimate.csv").set_index("quantity").loc["f1"]
        sentence = (
            f"Expected F1 of the {len(gold)} gold spans is {told['value']:.2f} "
            f"({told['low']:.2f} to {told['high']:.2f})"
        )
        assert sentence in " ".join(out.split())
        assert sentence in (made / "audited" / "report.html").read_text("utf-8")
        code, out, _ = run(*words, *more, "--format", "json")
        quality = {row["quantity"]: row for row in json.loads(out)["quality"]}
        assert quality["f1"]["value"] == pytest.approx(told["value"])
        assert sum(json.loads(out)["states"].values()) == len(gold)
    code, out, _ = run("audit", "out", "--size", "4")
    assert not {row["document"] for row in table(out)} & {*drawn["document"]}
    code, _, err = run("audit", "out", "--size", "40")
    assert code == 3
    assert "12 can be drawn: 12 documents are already drawn" in err
    code, _, err = run("estimate", "out", "--truth", "audit.csv")
    assert code == 3
    assert "No document was judged" in err


def test_decisions_are_used_by_a_run(made: Path, run: Run) -> None:
    gold = pd.read_csv(made / "out" / "gold.csv", keep_default_na=False)
    first = gold.sort_values("p_exact").iloc[0]
    rows = [[first.document, first.start, first.end, "(none)"]]
    rows += [[first.document, "", "", ""]]  # an empty row is no decision
    names = ["document", "start", "end", "label"]
    pd.DataFrame(rows, columns=names).to_csv(made / "decisions.csv", index=False)
    code, _, err = run("run", "project", "-o", "decided", "--seed", "1", "--truth",
                       "decisions.csv", "--force")  # fmt: skip
    assert code == 0, err
    after = pd.read_csv(made / "decided" / "gold.csv", keep_default_na=False)
    same = (after["document"] == first.document) & (after["start"] < first.end)
    assert not (same & (after["end"] > first.start)).any()


@pytest.mark.skipif(binary() is None, reason="needs Chromium")
def test_places_are_decided_on_the_page(made: Path, run: Run) -> None:
    with Browser() as browser:
        for width in (1440, 400):
            tab = browser.tab(width=width)
            tab.open((made / "out" / "report.html").as_uri())
            wide = tab.evaluate("document.documentElement.scrollWidth")
            assert wide <= width
            assert tab.complaints == []
            assert all(url.startswith("file:") for url in tab.requests)
            tab.close()
        tab = browser.tab()
        tab.open((made / "out" / "report.html").as_uri())
        tab.evaluate("localStorage.clear()")
        mark = tab.evaluate("document.querySelector('#desk mark').textContent")
        place = tab.evaluate("document.querySelector('#desk h3 bdi').textContent")
        answers = tab.evaluate(
            "[...document.querySelectorAll('#desk .choices bdi')].map(one => one.textContent)"
        )
        assert "no span" in answers
        assert mark in am.read_spans(made / "project").texts[place.split()[0]]
        tab.evaluate("document.querySelector('#desk .choices button').click()")
        tab.evaluate(
            "[...document.querySelectorAll('#desk .choices button')]"
            ".find(one => one.textContent.includes('no span')).click()"
        )
        text = tab.evaluate("annomodelsDecisions()")
        assert "1 decided" not in text
        assert tab.evaluate("document.querySelector('.headline').textContent").count("decided") == 1
        tab.close()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == ["document", "start", "end", "label", "decision", "note", "fit"]
    assert {row["decision"] for row in rows} == {"decided"}
    assert sum(row["label"] == "(none)" for row in rows) == 1
    (made / "page.csv").write_text(text)
    code, _, err = run("run", "project", "-o", "paged", "--seed", "1", "--truth", "page.csv",
                       "--force")  # fmt: skip
    assert code == 0, err
    gold = pd.read_csv(made / "paged" / "gold.csv", keep_default_na=False)
    kept = next(row for row in rows if row["label"] != "(none)")
    mine = gold[(gold["document"] == kept["document"]) & (gold["start"] == int(kept["start"]))]
    assert mine[["label", "state", "source"]].to_numpy().tolist() == [
        [kept["label"], "decided", "decision"]
    ]
    page = (made / "paged" / "report.html").read_text("utf-8")
    assert "2 places are decided" in page
    assert "They do not change the other places." in page


def test_names_of_coders_stay_out_of_all_outputs(made: Path, run: Run) -> None:
    code, _, _ = run("run", "project", "-o", "hidden", "--seed", "1", "--anonymize")
    assert code == 0
    text = "".join((made / "hidden" / n).read_text("utf-8") for n in ("coders.csv", "report.html"))
    assert "coder 1" in text
    assert not any(name in text for name in (">ana<", ">ben<", '"ana"', "ana,"))


def test_a_page_is_made_again_from_the_fit(run: Run) -> None:
    code, out, _ = run("report", "out", "-o", "again.html", "--force")
    assert (code, out) == (0, "again.html\n")
    code, _, err = run("report", "out", "-o", "again.html", "--force", "--target", "0.8")
    assert code == 2
    assert "-o and --force" in err


def test_audits_of_spans_in_python(made: Path) -> None:
    fit = am.load(made / "out" / "fit.nc")
    drawn = am.audit(fit, 6, seed=1)
    right = [tuple(row) for row in json.loads((made / "right.json").read_text())]
    rows = [row for row in right if row[0] in set(drawn.table["document"])]
    truth = pd.DataFrame(rows, columns=["document", "start", "end", "label"])
    found = am.estimate(fit, truth, drawn)
    again = am.estimate(fit, truth, drawn.save(made / "design.json", force=True))
    assert found.table.equals(again.table)
    assert (found.table["low"] <= found.table["value"]).all()
    with pytest.raises(NotApplicable, match="width="):
        am.audit(fit, width=0.1)
    rest = len(fit.groups.documents) - 6
    later = am.audit(fit, earlier=drawn)
    assert f"With earlier rounds, {6 + min(rest, 20)} documents in all." in later.notes
    assert any(note.startswith("Only") for note in later.notes) == (rest < 20)
    with pytest.raises(AnnotationError, match="Judge at least 2"):
        am.estimate(fit, truth[truth["document"] == truth["document"].iloc[0]], drawn)
