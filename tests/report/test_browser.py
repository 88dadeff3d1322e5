"""The page in a real browser: no complaint, no request, tables that sort, filter and download."""

import csv
import dataclasses
import io
import json
import re
import shlex
import time

import numpy as np
import pytest

import annomodels as am
from annomodels.cli.main import main
from annomodels.coref import document
from annomodels.data.columns import COLUMNS
from annomodels.io.mappings import entries_of
from annomodels.reporting.links import LinkFacts
from annomodels.reporting.page import index_page, row_of
from annomodels.reporting.page import page as page_of
from tests.report import browser as browsing
from tests.report import looking

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


@pytest.fixture
def opened(browser):
    """Open a page in a tab of its own; `fresh` forgets what was decided on it before."""

    def tab_of(path, fresh=False, **kind):
        tab = browser.tab(**kind)
        tab.open(path.as_uri())
        if fresh:
            tab.evaluate("localStorage.clear()")
            tab.open(path.as_uri())
        return tab

    return tab_of


@pytest.fixture
def tab(opened, crowd_page):
    """Page of the crowd."""
    return opened(crowd_page)


def text(tab, selector):
    return tab.evaluate(f"document.querySelector({selector!r}).textContent")


@pytest.fixture(params=["crowd", "hostile", "index", "coref", "streamed"])
def path(request, paths):
    return paths[request.param]


COLUMN = (
    "[...document.querySelectorAll('#coders tbody tr')]"
    ".filter((row) => !row.hidden).map((row) => row.cells[{}].textContent)"
)


def head(at):
    return f"document.querySelectorAll('#coders th .sort')[{at}].click()"


def test_tables_sort_by_name_as_people_do(tab, crowd):
    tab.evaluate(head(0))
    shown = tab.evaluate(COLUMN.format(0))
    tab.evaluate("document.querySelector('.scroll:has(#coders) + .pager :last-child').click()")
    shown += tab.evaluate(COLUMN.format(0))
    order = "[...names].sort(new Intl.Collator(undefined, {numeric: true}).compare)"
    assert tab.evaluate(f"((names) => {order})({json.dumps(shown)})") == shown
    assert set(shown) == {str(name) for name in crowd.data.coders}


def test_paper_has_the_flagged_coders_and_the_screen_all_again(tab, crowd):
    before = tab.evaluate(COLUMN.format(0))
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    advice = crowd.coders().table.set_index("coder")["advice"]
    flagged = advice[~advice.str.startswith("ask")]
    assert set(tab.evaluate(COLUMN.format(0))) == set(flagged.index)
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.evaluate(COLUMN.format(0)) == before


def turned(tab):
    """Turn the pages of the list of items from the first to the last."""
    yield
    while not tab.evaluate("document.getElementById('forth').disabled"):
        tab.evaluate("document.getElementById('forth').click()")
        yield


def test_a_number_is_rounded_once(tab, crowd):
    rows = "[...document.querySelectorAll('#all-items tbody tr:not(.why)')]"
    cells = f"{rows}.map((row) => [row.cells[0].textContent, row.cells[3].textContent])"
    reason = "[...document.querySelectorAll('#all-items .why')].map((row) => row.textContent)"
    shown, said = [], []
    for _ in turned(tab):
        shown += tab.evaluate(cells)
        said += tab.evaluate(reason)
    wanted = {
        row.item: COLUMNS["probability"].cell(row).text for row in crowd.gold().table.itertuples()
    }
    assert dict(shown) == wanted
    named = [found for text in said for found in re.findall(r"has probability ([<>\d.]+\d)", text)]
    assert named
    assert set(named) <= set(wanted.values())


def test_a_file_of_the_page_is_that_of_the_folder(tab, crowd_options):
    assert tab.evaluate("annomodelsFile('gold.csv')") == crowd_options["files"]["gold.csv"]
    buttons = "[...document.querySelectorAll('button')].map((b) => b.textContent)"
    assert tab.evaluate(buttons)[0] == "Download gold.csv"  # the product comes first


def press(tab, keys):
    for key in keys:
        event = f"new KeyboardEvent('keydown', {{key: {key!r}, bubbles: true, cancelable: true}})"
        tab.evaluate(f"document.activeElement.dispatchEvent({event})")


def decisions(tab):
    return list(csv.DictReader(io.StringIO(tab.evaluate("annomodelsDecisions()"))))


def test_items_are_decided_by_keyboard_and_kept(opened, crowd_page, crowd):
    tab = opened(crowd_page, fresh=True)
    contested = int((crowd.items().table["state"] == "contested").sum())
    assert text(tab, ".progress").startswith(f"0 decided, {contested} left")
    away = "document.querySelector('main').style.paddingTop = {!r}; scrollTo(0, 0)"
    tab.evaluate(away.format("20000px"))
    press(tab, "1")
    assert decisions(tab) == []  # nobody decides by a key what is not on the screen
    tab.evaluate(away.format("0"))
    tab.evaluate("document.querySelector('.card').scrollIntoView()")
    press(tab, "123tsu")
    said = decisions(tab)
    names = [str(name) for name in crowd.data.labels]
    assert [row["label"] for row in said] == [*names, ""]
    assert [row["decision"] for row in said] == ["decided"] * 3 + ["two readings"]
    assert {row["fit"] for row in said} == {crowd.data.fingerprint}
    doubt = 1 - crowd.tree["truth"]["p_truth"].values.max(axis=1)
    kept = dict(zip(crowd.data.items, doubt, strict=True))
    assert [row["item"] for row in said] == sorted(
        [row["item"] for row in said], key=lambda name: -kept[name]
    )
    left = doubt.sum() - sum(kept[row["item"]] for row in said)
    status = text(tab, ".progress")
    assert status.startswith(f"3 decided, 1 with two readings, {contested - 4} left")
    assert f": {doubt.sum():.0f} → {left:.0f}" in status
    tab.open(crowd_page.as_uri())
    assert decisions(tab) == said
    tab.evaluate("localStorage.clear()")


CHOICE = "document.querySelectorAll('.choices button')[{}]"
CARD = ".card h3 bdi"
ASKED = '.actions a[href="#decide"] b'
LEGEND = (
    "Object.fromEntries([...document.querySelectorAll('#summary .legend li')]"
    ".map((x) => [x.querySelector('.key').classList[1], Number(x.querySelector('b').textContent)]))"
)


def test_twenty_items_by_keyboard_and_mouse_are_fed_back(opened, crowd, tmp_path):
    votes = tmp_path / "votes.csv"
    frame = crowd.data.to_frame().astype(str)
    texts = dict(zip(crowd.data.items, crowd.data.texts, strict=True))
    frame["remark"] = [texts[name] for name in frame["item"]]
    frame.to_csv(votes, index=False)
    options = [
        "--model", "hierarchical", "--draws", "60", "--sampler", "warmup=60", "--chains", "2",
        "--seed", "1", "-q",
    ]  # fmt: skip
    assert main(["run", str(votes), "-o", str(tmp_path / "out"), *options]) == 0
    tab = opened(tmp_path / "out" / "report.html", fresh=True, width=1440)
    before, asked = tab.evaluate(LEGEND), text(tab, ASKED)
    choose_queue = (
        "((box) => { box.value = box.options.length - 1; box.dispatchEvent(new Event('change')); })"
        "(document.querySelector('#desk select'))"
    )
    tab.evaluate(choose_queue)
    tab.evaluate("document.querySelector('.card').scrollIntoView()")
    assert text(tab, ".card .text") in set(texts.values())
    wanted = {}
    for n in range(20):
        name = text(tab, CARD)
        assert tab.evaluate("document.querySelectorAll('.card .chips').length") == 0  # blind
        assert text(tab, ".card .share") == ""
        wanted[name] = str(crowd.data.labels[n % 3])
        if n % 4 == 0:
            tab.evaluate("document.activeElement.blur()")
            press(tab, str(n % 3 + 1))
        elif n % 4 == 1:  # as Tab and Enter do
            tab.evaluate(CHOICE.format(n % 3) + ".focus()")
            tab.evaluate("document.activeElement.click()")
            assert tab.evaluate(f"document.activeElement === {CHOICE.format(n % 3)}")
        elif n % 4 == 2:
            tab.evaluate(CHOICE.format(n % 3) + ".click()")
        else:
            press(tab, "vv" + str(n % 3 + 1))
            wanted[text(tab, CARD)] = "two readings" if n % 8 == 3 else "skipped"
            press(tab, "t" if n % 8 == 3 else "s")
        assert text(tab, CARD) not in wanted
        assert "Last: " in text(tab, ".last")
    told = [name for name, what in wanted.items() if what not in ("two readings", "skipped")]
    two = [name for name, what in wanted.items() if what == "two readings"]
    skipped = [name for name, what in wanted.items() if what == "skipped"]
    assert len(told) == 20
    left = crowd.data.n_items - len(wanted)
    assert text(tab, ".progress").startswith(
        f"20 decided, {len(two)} with two readings, {len(skipped)} skipped, {left} left"
    )
    after = tab.evaluate(LEGEND)
    assert after["decided"] == before.get("decided", 0) + len(told) + len(two)
    assert sum(after.values()) == crowd.data.n_items
    assert f"{len(told) + len(two)} items are decided on this page" in text(tab, ".headline")
    now = asked.replace(str(before["contested"]), str(after["contested"]))
    assert text(tab, ASKED) == now
    said = {row["item"]: row["label"] or row["decision"] for row in decisions(tab)}
    assert said == wanted
    (tmp_path / "decisions.csv").write_text(tab.evaluate("annomodelsDecisions()"))
    words = shlex.split(text(tab, "#desk .copy code"))[1:]
    assert words[-2:] == ["--truth", "decisions.csv"]
    words[-1] = str(tmp_path / "decisions.csv")
    assert main(words) == 0
    again = tmp_path / "out-decided"
    with (again / "gold.csv").open() as file:
        gold = {row["item"]: row for row in csv.DictReader(file)}
    assert all(gold[name]["label"] == wanted[name] for name in told)
    by_decision = {name for name in gold if gold[name]["source"] == "decision"}
    assert by_decision == {*told, *two}
    assert {gold[name]["state"] for name in by_decision} == {"decided"}
    assert all("two readings" in gold[name]["reason"] for name in two)
    tab.open((again / "report.html").as_uri())
    assert tab.evaluate(LEGEND)["decided"] == after["decided"]
    assert f"of {crowd.data.n_items - len(told) - len(two)} gold labels" in text(tab, ".headline")
    assert {row["item"]: row["label"] or row["decision"] for row in decisions(tab)} == wanted
    with (again / "next.csv").open() as file:
        assert not {row["item"] for row in csv.DictReader(file)} & {*told, *two}


def test_decisions_that_the_fit_was_given_are_there_without_the_storage(opened, crowd, tmp_path):
    first, second, third = (str(name) for name in crowd.data.items[:3])
    label = str(crowd.data.labels[1])
    path = tmp_path / "decisions.csv"
    path.write_text(
        f'item,label,decision,note\n{first},{label},decided,"so, yes"\n'
        f"{second},,two readings,\n{third},,skipped,\n"
    )
    tree = crowd.tree.copy()
    tree.attrs["decisions"] = json.dumps(entries_of(path, crowd.data))
    page = am.report(dataclasses.replace(crowd, tree=tree), tmp_path / "r.html")
    tab = opened(page, fresh=True)
    said = decisions(tab)
    assert [row["item"] for row in said] == [first, second, third]
    assert [row["decision"] for row in said] == ["decided", "two readings", "skipped"]
    assert (said[0]["label"], said[0]["note"]) == (label, "so, yes")
    tab.evaluate("document.querySelector('.card').scrollIntoView()")
    press(tab, "1")
    tab.open(page.as_uri())
    assert decisions(tab)[:3] == said
    assert len(decisions(tab)) == 4
    tab.evaluate("localStorage.clear()")


def test_places_of_coreference_are_cut_to_what_an_action_names(opened, tmp_path):
    left, right = ([[0, 1], [2]], [[0], [1, 2]])
    texts = [
        document(f"t{n}", {c: left if c < "d" else right for c in ("abcde", "abcd")[n % 2]})
        for n in range(40)
    ]
    page = tmp_path / "coref.html"
    page.write_text(page_of(LinkFacts(texts, draws=100)), encoding="utf-8")
    tab = opened(page)
    shown = (
        "[...document.querySelectorAll('.places > li:not([hidden])')].map((x) => x.dataset.kind)"
    )
    kinds = tab.evaluate(shown)
    assert len(kinds) == 20
    assert kinds == ["two readings"] * 20
    tab.evaluate("document.querySelector('.places + .pager button').click()")
    assert len(tab.evaluate(shown)) > 20
    tab.evaluate("document.querySelectorAll('a[data-only=\"one coder differs\"]')[0].click()")
    assert set(tab.evaluate(shown)) == {"one coder differs"}


SHOWN = "[...document.querySelectorAll('#all-items .open')].map((name) => name.textContent)"


def choose(tab, name, value):
    tab.evaluate(
        f"((box) => {{ box.value = {value!r}; box.dispatchEvent(new Event('input')); }})"
        f"(document.getElementById({name!r}))"
    )


def test_every_item_is_reached_by_pages_and_filters(tab, crowd):
    seen = [name for _ in turned(tab) for name in tab.evaluate(SHOWN)]
    assert sorted(seen) == sorted(map(str, crowd.data.items))
    choose(tab, "f-coder", "4")
    n = len(set(crowd.data.item[crowd.data.coder == 4].tolist()))
    assert text(tab, "#page").endswith(f" of {n} items")
    choose(tab, "f-coder", "")
    choose(tab, "f-state", "2")
    contested = int((crowd.items().table["state"] == "contested").sum())
    assert text(tab, "#page").endswith(f" of {contested} items")
    choose(tab, "f-state", "")
    choose(tab, "f-text", str(crowd.data.items[7]))
    assert tab.evaluate(SHOWN) == [str(crowd.data.items[7])]


def test_the_number_of_wrong_labels_is_on_the_first_screen_of_a_phone(opened, crowd_page):
    tab = opened(crowd_page, width=400)
    bottom = "document.querySelector('.headline').getBoundingClientRect().bottom"
    assert tab.evaluate(bottom) < 600


def test_a_phone_shows_what_to_know_about_a_coder_and_an_item(opened, crowd_page):
    tab = opened(crowd_page, width=400)
    inside = """(id) => {
      const table = document.getElementById(id);
      const right = table.parentElement.getBoundingClientRect().right;
      return [...table.tBodies[0].rows[0].cells].filter((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getBoundingClientRect().right <= right;
      }).length;
    }"""
    assert tab.evaluate(f"({inside})('coders')") >= 4  # coder, kind, right so far, advice
    assert tab.evaluate(f"({inside})('all-items')") >= 2  # item, state


@pytest.mark.parametrize(
    ("name", "words", "sheets"),
    [("crowd", 3000, 5), ("many coders", 2500, 4), ("14 classes", 3000, 5)],
)
def test_the_page_is_short(browser, opened, budget_pages, tmp_path, name, words, sheets):
    tab = opened(budget_pages[name], width=1440)
    # with all that folds open, but without Details
    tab.evaluate("document.querySelectorAll('.more').forEach((part) => { part.open = true; })")
    tab.evaluate("document.getElementById('details').remove()")
    assert 300 < tab.evaluate("document.body.innerText.trim().split(/\\s+/).length") <= words
    assert looking.to_pdf(browser, budget_pages[name], tmp_path / "page.pdf") <= sheets


@pytest.mark.calibration
def test_ten_thousand_items_open_and_filter_at_once(browser, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=10_000)
    item = np.repeat(np.arange(10_000), 5)
    said = np.where(rng.random(50_000) < 0.7, truth[item], rng.integers(3, size=50_000))
    names = np.array(["neg", "neu", "pos"])[said]
    coders = np.concatenate([rng.choice(40, 5, replace=False) for _ in range(10_000)])
    data = am.Annotations.from_records(
        zip((f"i{n:05}" for n in item), (f"c{j}" for j in coders), names, strict=True)
    )
    few = {"chains": 2, "draws": 100, "warmup": 50, "extend": False}
    page = am.report(am.fit(data, "hierarchical", seed=1, **few), tmp_path / "r.html")
    assert page.stat().st_size < 6_000_000
    tab = browser.tab()
    start = time.perf_counter()
    tab.open(page.as_uri())
    assert text(tab, "#page").endswith("10,000 items")
    assert time.perf_counter() - start < 2.0
    took = tab.evaluate(
        "(() => { const t = performance.now(); const box = document.getElementById('f-text');"
        "box.value = 'i09'; box.dispatchEvent(new Event('input')); document.body.offsetHeight;"
        "return performance.now() - t; })()"
    )
    assert took < 200


def test_nothing_is_wrong_with_a_page(browser, path):
    assert looking.problems(browser, path) == []


def test_a_page_is_printed_on_few_sheets(browser, path, tmp_path):
    sheets = looking.to_pdf(browser, path, tmp_path / "page.pdf")
    assert 1 <= sheets <= 40


def test_without_a_script_everything_is_there_and_no_button_is_dead(opened, crowd_page, crowd):
    tab = opened(crowd_page, script=False)
    seen = "[...document.querySelectorAll('button, input, select')].filter((x) => x.offsetParent)"
    assert tab.evaluate(f"{seen}.length") == 0
    assert tab.evaluate("document.querySelector('.paper').offsetHeight") > 0
    assert len(tab.evaluate(COLUMN.format(0))) == 12
    shown = f"(12 of {crowd.data.n_coders}; all are in coders.csv)"
    assert text(tab, "#cap-coders").endswith(shown)
