"""The page in a real browser: no complaint, no request, tables that sort, filter and download."""

from __future__ import annotations

import csv
import importlib.util
import io
import sys
from pathlib import Path

import pytest

from annomodels.reporting.index import index_page, row_of


def _neighbour(name):
    """Load a module beside this file; test folders are no packages."""
    path = Path(__file__).parent / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"report_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


browsing, looking = _neighbour("browser"), _neighbour("looking")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        browsing.binary() is None,
        reason="There is no Chromium here; ANNOMODELS_CHROMIUM may name one.",
    ),
]


@pytest.fixture(scope="module")
def browser():
    with browsing.Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def paths(crowd_page, hostile_page, coref_page, streamed_page, crowd, tmp_path_factory):
    index = tmp_path_factory.mktemp("index") / "index.html"
    rows = [row_of(name, f"{name}/report.html", crowd) for name in ("one <b>", "two" * 40)]
    index.write_text(index_page(rows, "votes.csv"), "utf-8")
    pages = {"crowd": crowd_page, "hostile": hostile_page, "index": index, "coref": coref_page}
    return {**pages, "streamed": streamed_page}


@pytest.fixture(scope="module")
def pages(paths):
    return {name: path.as_uri() for name, path in paths.items()}


@pytest.fixture(params=["crowd", "hostile", "index", "coref", "streamed"])
def path(request, paths):
    return paths[request.param]


COLUMN = (
    "[...document.querySelectorAll('#coders tbody tr')]"
    ".filter((row) => !row.hidden).map((row) => row.cells[{}].textContent)"
)


def head(at):
    return f"document.querySelectorAll('#coders th .sort')[{at}].click()"


def test_no_name_on_a_page_becomes_its_title(browser, pages):
    for name in ("crowd", "hostile"):
        tab = browser.tab()
        tab.open(pages[name])
        assert tab.evaluate("document.title").startswith("Annotation report")


def test_tables_sort_by_number_both_ways(browser, pages, crowd):
    tab = browser.tab()
    tab.open(pages["crowd"])
    counts = sorted(crowd.coders().table["n"])
    tab.evaluate(head(2))
    shown = [int(text.replace(",", "")) for text in tab.evaluate(COLUMN.format(2))]
    assert shown == counts
    assert tab.evaluate("document.querySelector('#coders th:nth-child(3)').ariaSort") == "ascending"
    tab.evaluate(head(2))
    assert tab.evaluate(COLUMN.format(2))[0].replace(",", "") == str(counts[-1])
    assert tab.evaluate("document.querySelectorAll('#coders [aria-sort]').length") == 1


def test_tables_sort_by_name_as_people_do(browser, pages, crowd):
    tab = browser.tab()
    tab.open(pages["crowd"])
    tab.evaluate(head(0))
    shown = tab.evaluate(COLUMN.format(0))
    order = "[...names].sort(new Intl.Collator(undefined, {numeric: true}).compare)"
    assert tab.evaluate(f"((names) => {order})({COLUMN.format(0)})") == shown
    assert set(shown) == {str(name) for name in crowd.data.coders}


def test_tables_filter_as_one_types(browser, pages, crowd):
    wanted = str(crowd.data.coders[4])
    tab = browser.tab()
    tab.open(pages["crowd"])
    everything = len(tab.evaluate(COLUMN.format(0)))
    typed = (
        "((box, text) => {{ box.value = text; box.dispatchEvent(new Event('input')); }})"
        "(document.querySelector('#coders').parentElement.previousElementSibling"
        ".querySelector('input'), {!r})"
    )
    tab.evaluate(typed.format(wanted))
    left = tab.evaluate(COLUMN.format(0))
    assert wanted in left
    assert len(left) < everything
    tab.evaluate(typed.format(""))
    assert len(tab.evaluate(COLUMN.format(0))) == everything


def test_the_csv_holds_the_table_and_its_intervals(browser, pages, crowd):
    tab = browser.tab()
    tab.open(pages["crowd"])
    text = tab.evaluate("document.querySelector('#coders').annomodelsCsv()")
    rows = {row["coder"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}
    table = crowd.coders().table.set_index("coder")
    assert set(rows) == {str(name) for name in table.index}
    for coder, row in rows.items():
        assert int(row["n"]) == table["n"][coder]
        assert float(row["accuracy"]) == pytest.approx(table["accuracy"][coder], abs=1e-3)
        assert float(row["skill_low"]) == pytest.approx(table["skill_low"][coder], abs=6e-3)


def test_no_cell_of_the_csv_is_a_formula(browser, pages):
    tab = browser.tab()
    tab.open(pages["hostile"])
    text = tab.evaluate("document.querySelector('#coders').annomodelsCsv()")
    names = [row["coder"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert "'=1+1" in names
    assert not [name for name in names if name.startswith(("=", "+", "@"))]


def test_nothing_is_wrong_with_a_page(browser, path):
    assert looking.problems(browser, path) == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<div style='width:500px'>wide</div>", "px of content at a width of 320"),
        ("<div style='position:relative;left:-40px'>cut</div>", "cut off"),
        ("<script>nothing()</script>", "complaint"),
        ("<img src='http://nowhere.invalid/x.png'>", "asked for"),
        (f"<p hidden>{'a' * 600_000}", "bytes"),
        ("<button>dead</button>", "on paper, buttons"),
        ("<svg class=plot width=9 height=9><text x=90 y=5>far</text></svg>", "outside its figure"),
        (
            "<table class=data id=t><thead><tr><th class=n><button class=sort>n</button></thead>"
            "<tbody><tr><td>2<tr><td>1</table><script></script>",
            "not sorted",
        ),
    ],
)
def test_what_is_wrong_with_a_page_is_found(browser, tmp_path, body, said):
    page = tmp_path / "bad.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><title>bad</title>{body}")
    assert [text for text in looking.problems(browser, page) if said in text]


def test_a_page_is_printed_on_few_sheets(browser, path, tmp_path):
    sheets = looking.to_pdf(browser, path, tmp_path / "page.pdf")
    assert 1 <= sheets <= 40


def test_dark_is_dark(browser, pages):
    colour = "getComputedStyle(document.body).backgroundColor"
    grounds = []
    for dark in (False, True):
        tab = browser.tab(dark=dark)
        tab.open(pages["crowd"])
        numbers = tab.evaluate(colour).removeprefix("rgb(").removesuffix(")").split(",")
        grounds.append(sum(map(int, numbers)))
    assert grounds[0] > 3 * 230
    assert grounds[1] < 3 * 40


def test_without_a_script_everything_is_there_and_no_button_is_dead(browser, pages, crowd):
    tab = browser.tab(script=False)
    tab.open(pages["crowd"])
    assert tab.evaluate("document.querySelectorAll('button, input').length") == 0
    assert len(tab.evaluate(COLUMN.format(0))) == crowd.data.n_coders
