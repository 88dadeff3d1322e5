"""The page: sound markup, nothing loaded, nothing broken into, small, and written whole."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import pytest

import annomodels as am
from annomodels.report.page import report, verdict
from annomodels.report.tables import MOST

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Markup(HTMLParser):
    """Elements of a page, and whether each one is closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements, self.text, self._open = [], [], []
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "script" not in self._open and "style" not in self._open:
            self.text.append(data)

    def named(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def crowd_html(crowd, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    return report(crowd, path, command="annomodels run crowd -o out/").read_text("utf-8")


@pytest.fixture(scope="module")
def hostile_html(hostile, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    command = "annomodels run '</code><script>x</script>'"
    return report(hostile, path, command=command, target=0.6).read_text("utf-8")


@pytest.fixture(params=["crowd", "hostile"])
def html(request):
    return request.getfixturevalue(f"{request.param}_html")


def test_the_page_is_sound_markup_with_one_name_for_each_part(html):
    markup = Markup(html)
    ids = Counter(attrs["id"] for _, attrs in markup.elements if "id" in attrs)
    assert max(ids.values()) == 1
    for _, attrs in markup.elements:
        for name in attrs.get("aria-labelledby", "").split():
            assert name in ids
        if attrs.get("href", "").startswith("#"):
            assert attrs["href"][1:] in ids


def test_the_page_loads_nothing(html):
    markup = Markup(html)
    for tag, attrs in markup.elements:
        for name in ("src", "href", "srcset", "poster", "action", "data"):
            assert attrs.get(name, "#")[:1] == "#" or attrs[name].startswith("data:"), (tag, attrs)
    assert not re.findall(r"@import|url\((?!#|&#34;#)", html)


def test_the_policy_lets_only_the_scripts_of_the_page_run(html):
    markup = Markup(html)
    (policy,) = (m["content"] for m in markup.named("meta") if "http-equiv" in m)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert not [attrs for _, attrs in markup.elements if any(n.startswith("on") for n in attrs)]


def test_the_page_is_small(html):
    assert len(html.encode()) < 600_000


def test_people_who_do_not_see_or_do_not_use_a_mouse_are_served(html):
    markup = Markup(html)
    assert markup.named("html")[0]["lang"] == "en"
    assert all(h.get("scope") in {"col", "row"} for h in markup.named("th"))
    assert len(markup.named("caption")) == len(markup.named("table"))
    figures = markup.named("svg")
    assert figures
    assert all(f["role"] == "img" and f["aria-labelledby"] for f in figures)
    scrolling = [a for _, a in markup.elements if "scroll" in (a.get("class") or "").split()]
    assert scrolling
    assert all(a["tabindex"] == "0" and a["role"] == "region" for a in scrolling)
    skip = next(a for a in markup.named("a") if a.get("class") == "skip")
    assert skip["href"] == "#verdict"


def test_names_cannot_break_out_of_the_page(hostile_html):
    markup = Markup(hostile_html)
    assert len(markup.named("script")) == 1
    assert not markup.named("img")
    assert not markup.named("b") or all(not attrs for attrs in markup.named("b"))
    text = "".join(markup.text)
    assert "<script>document.title='owned'</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "\x00" not in hostile_html
    assert "\u202e" not in hostile_html
    assert "a" * 200 not in hostile_html
    assert "b" * 200 not in hostile_html


def test_header_verdict_and_sections_are_there(crowd, crowd_html):
    text = " ".join("".join(Markup(crowd_html).text).split())
    assert crowd.data.fingerprint in text
    assert "annomodels run crowd -o out/" in text
    assert f"annomodels {am.__version__}" in text
    badge = {"trust": "✓ Trust", "check": "! Check", "do not use": "✕ Do not use"}
    assert badge[crowd.check().verdict] in text
    for sentence in verdict(crowd):
        assert " ".join(sentence.split()) in text
    ids = {attrs.get("id") for attrs in Markup(crowd_html).named("section")}
    assert ids == {
        "verdict",
        "data",
        "agreement-section",
        "coders-section",
        "items-section",
        "believe",
        "methods",
    }


def test_tables_hold_the_numbers_of_the_summaries(crowd, crowd_html):
    table = re.search(r"<table class=data id=coders>.*?</table>", crowd_html, re.DOTALL)[0]
    rows = re.findall(r"<tr[^>]*><th scope=row><bdi>(.*?)</bdi>", table)
    coders = crowd.coders().table
    assert len(rows) == min(len(coders), MOST)
    assert set(rows) <= set(coders["coder"])
    first = coders.set_index("coder").loc[rows[0]]
    assert f"{first['accuracy']:.2f}" in table[: table.index(rows[1])]


def test_an_anonymous_page_names_no_coder_and_no_file(crowd, tmp_path):
    named = report(crowd, tmp_path / "named.html", command="run secret.csv").read_text("utf-8")
    fit = am.Fit(crowd.data.replace(source="secret.csv"), crowd.model, crowd.tree)
    page = report(fit, tmp_path / "page.html", command="run secret.csv", anonymise=True)
    html = page.read_text("utf-8")
    assert "secret" in named
    assert "secret" not in html
    words = set(re.findall(r"[\w-]+", html))
    for coder in crowd.data.coders:
        assert str(coder) in named
        assert str(coder) not in words
    assert f"coder {crowd.data.n_coders}<" in html


def test_without_intervals_the_page_says_so(tmp_path):
    fit = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1)
    html = report(fit, tmp_path / "r.html").read_text("utf-8")
    Markup(html)
    assert "no interval" in html
    assert ">nan" not in html.lower()
    assert "fig-ranks" not in html


def test_the_same_fit_gives_the_same_bytes(crowd, tmp_path):
    pages = [report(crowd, tmp_path / f"{n}.html").read_bytes() for n in range(2)]
    assert pages[0] == pages[1]


def test_a_file_that_exists_is_not_replaced(crowd, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("precious")
    with pytest.raises(am.AnnotationError, match="exists already"):
        report(crowd, path)
    assert path.read_text() == "precious"
    report(crowd, path, force=True)
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(("where", "what"), [("no/such/r.html", "no such folder"), (".", "folder")])
def test_a_place_that_cannot_be_written_is_named_before_the_work(where, what, tmp_path):
    with pytest.raises(am.AnnotationError, match=what):
        report(None, tmp_path / where)  # type: ignore[arg-type]


def test_nothing_is_left_behind_when_writing_fails(crowd, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(am.AnnotationError, match="No space left"):
        report(crowd, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_a_long_table_says_where_the_rest_is(tmp_path, rng):
    rows = [
        (i, f"c{(i * 3 + j) % 400}", int(rng.random() < 0.5)) for i in range(900) for j in range(3)
    ]
    fit = am.fit(am.Annotations.from_records(rows), chains=2, draws=100, warmup=50, seed=1)
    html = report(fit, tmp_path / "r.html").read_text("utf-8")
    assert "(200 of 400 rows)" in html
    assert "<code>coders.csv</code>" in html
    assert len(html.encode()) < 600_000
