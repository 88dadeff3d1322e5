"""The page is short: words outside Details, sheets of paper, no row left out without a count."""

import re

import pytest

from annomodels.reporting.parts import PAGE

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "most_words"), [("crowd", 3000), ("many coders", 2500), ("14 classes", 3000)]
)
def test_few_words_stand_outside_details(budget_pages, name, most_words):
    html = budget_pages[name].read_text("utf-8")
    outside = re.sub(r"<details id=details>.*</details>", "", html, flags=re.DOTALL)
    shown = re.sub(r"<(script|style|template|title)\b.*?</\1>", "", outside, flags=re.DOTALL)
    assert 300 < len(re.sub(r"<[^>]*>", " ", shown).split()) <= most_words


@pytest.mark.parametrize("name", ["crowd", "many coders", "14 classes"])
def test_a_table_shows_its_first_rows_and_says_how_many_there_are(budget_pages, name):
    html = budget_pages[name].read_text("utf-8")
    tables = re.findall(r"<table class=data .*?</table>", html, re.DOTALL)
    assert tables
    for table in tables:
        shown, _, rest = table.partition("<template>")
        if rest:
            n, total = shown.count("<tr") - 1, table.count("<tr") - 1
            assert n == PAGE
            assert f"({n} of {total}" in shown


def test_only_coders_that_need_somebody_have_cards_and_are_printed(budget_pages):
    html = budget_pages["many coders"].read_text("utf-8")
    section = re.search(r"<section id=coders-section .*?</section>", html, re.DOTALL)[0]
    flagged = section.count("class=flagged")
    assert 0 < flagged < 30
    assert f"Printed: the {flagged} flagged of 60; all are in coders.csv." in section
    assert section.count("<article class=card>") <= max(flagged, 6)


def test_paper_says_what_it_leaves_out(budget_pages, streamed_page, coref_page):
    titles = {}
    for name, path in {**budget_pages, "scan": streamed_page, "coref": coref_page}.items():
        html = path.read_text("utf-8")
        (line,) = re.findall(r'<p class="printed[^>]*>Not printed: (.*?)\.</p>', html)
        titles[name] = re.sub(r"<[^>]+>", "", line).split(", ")
        sections = re.findall(r"<section id=\S+ class=screen .*?<h2[^>]*>(.*?)</h2>", html, re.S)
        assert [title for title in titles[name] if not title.startswith("the ")] == [
            *sections, "Details",
        ]  # fmt: skip
        assert ("the list of all items" in line) == ("<div id=explorer" in html)
    assert titles["crowd"][:3] == ["Decide", "Labels to buy", "Agreement"]


def test_many_labels_have_confusions_in_words_and_few_long_ones_columns_with_numbers(budget_pages):
    assert "matrix scroll" not in budget_pages["14 classes"].read_text("utf-8")
    html = budget_pages["many coders"].read_text("utf-8")
    assert "matrix scroll" in html
    heads = re.findall(r"<th scope=col><bdi>(.*?)</bdi>", html)
    assert all(len(head) <= 14 for head in heads)
