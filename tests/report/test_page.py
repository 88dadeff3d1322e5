"""The page: sound markup, nothing loaded, nothing broken into, small, and written whole."""

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest

import annomodels as am
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import sentence
from annomodels.reporting.page import report
from annomodels.reporting.parts import BADGES, MOST

pytestmark = pytest.mark.slow

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
def crowd_html(crowd_page):
    return crowd_page.read_text("utf-8")


@pytest.fixture(scope="module")
def hostile_html(hostile_page):
    return hostile_page.read_text("utf-8")


@pytest.fixture(scope="module")
def streamed_html(streamed_page):
    return streamed_page.read_text("utf-8")


@pytest.fixture(scope="module", params=["crowd", "hostile", "streamed"])
def html(request):
    return request.getfixturevalue(f"{request.param}_html")


@pytest.fixture(scope="module")
def markup(html):
    """Elements of a page, which is parsed once for all tests."""
    return Markup(html)


def test_the_page_is_sound_markup_with_one_name_for_each_part(markup):
    ids = Counter(attrs["id"] for _, attrs in markup.elements if "id" in attrs)
    assert max(ids.values()) == 1
    for _, attrs in markup.elements:
        for name in attrs.get("aria-labelledby", "").split():
            assert name in ids
        if attrs.get("href", "").startswith("#"):
            assert attrs["href"][1:] in ids


def test_the_page_loads_nothing(markup, html):
    for tag, attrs in markup.elements:
        for name in ("src", "href", "srcset", "poster", "action", "data"):
            assert attrs.get(name, "#")[:1] == "#" or attrs[name].startswith("data:"), (tag, attrs)
    assert not re.findall(r"@import|url\((?!#|&#34;#)", html)


def test_the_policy_lets_only_the_scripts_of_the_page_run(markup, html):
    (policy,) = (m["content"] for m in markup.named("meta") if "http-equiv" in m)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert all(attrs.get("type") == "application/json" for attrs in markup.named("script") if attrs)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert not [attrs for _, attrs in markup.elements if any(n.startswith("on") for n in attrs)]


def test_people_who_do_not_see_or_do_not_use_a_mouse_are_served(markup):
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
    assert skip["href"] == "#summary"


def test_names_cannot_break_out_of_the_page(hostile_html):
    markup = Markup(hostile_html)
    assert [attrs.get("type") for attrs in markup.named("script")] == ["application/json", None]
    assert not markup.named("img")
    assert all(not attrs or attrs == {"aria-hidden": "true"} for attrs in markup.named("b"))
    text = "".join(markup.text)
    assert "<script>document.title='owned'</script>" in text
    assert "{{ 7 * 7 }}" in text
    assert "\x00" not in hostile_html
    assert "\u202e" not in hostile_html
    assert "a" * 200 not in hostile_html
    # files of decisions need whole names, which only the data hold
    seen = re.sub(r"<script type=.*?</script>", "", hostile_html, flags=re.DOTALL)
    assert "b" * 200 not in seen


def test_sentence_details_and_sections_are_there(crowd, crowd_html):
    text = " ".join("".join(Markup(crowd_html).text).replace("\u00a0", " ").split())
    assert crowd.data.fingerprint in text
    assert "annomodels run crowd -o out/" in text
    assert f"annomodels {am.__version__}" in text
    assert BADGES[crowd.check().verdict][1] in text
    assert text.index(sentence(Facts(crowd))) < text.index("Details for the statistician")
    ids = [attrs.get("id") for attrs in Markup(crowd_html).named("section")]
    assert ids == [
        *("summary", "decide", "items-section", "labels-to-buy", "coders-section", "scheme"),
        *("agreement-section", "data", "gold", "believe", "methods"),
    ]


def test_a_coefficient_that_is_not_defined_has_its_reason(crowd_html):
    text = " ".join("".join(Markup(crowd_html).text).replace("\u00a0", " ").split())
    why = "defined for two coders, but there are 24"
    assert f"Not defined here: Scott's pi and Cohen's kappa ({why})." in text


def test_no_sentence_is_on_the_page_twice(crowd_html):
    own = crowd_html.split("<section id=methods")[0]  # a text to paste repeats what it needs
    page = re.sub(r"<(svg|script|style|pre|table).*?</\1>", "", own, flags=re.DOTALL)
    parts = re.findall(r"<(?:p|li)\b.*?</(?:p|li)>", page, re.DOTALL)
    texts = [" ".join(re.sub("<[^>]+>", "", part).split()) for part in parts]
    each = [said for text in texts for said in re.split(r"(?<=[.!?]) ", text)]
    said = Counter(text for text in each if len(text.split()) > 6 and "“" not in text)
    assert not [text for text, n in said.items() if n > 1]


def test_tables_hold_the_numbers_of_the_summaries(crowd, crowd_html):
    table = re.search(r"<table class=data id=coders .*?</table>", crowd_html, re.DOTALL)[0]
    rows = re.findall(r"<tr[^>]*><th scope=row><bdi>(.*?)</bdi>", table)
    coders = crowd.coders().table
    assert len(rows) == min(len(coders), MOST)
    assert set(rows) <= set(coders["coder"])
    first = coders.set_index("coder").loc[rows[0]]
    assert f"{first['share_right']:.2f}" in table[: table.index(rows[1])]


def test_an_anonymous_page_names_no_coder_and_no_file(crowd, crowd_html, tmp_path):
    fit = am.Fit(crowd.data.replace(source="secret.csv"), crowd.model, crowd.tree)
    page = report(fit, tmp_path / "page.html", command="run secret.csv", anonymize=True)
    html = page.read_text("utf-8")
    assert "run crowd -o out/" in crowd_html
    assert "secret" not in html
    words = set(re.findall(r"[\w-]+", html))
    for coder in crowd.data.coders:
        assert str(coder) in crowd_html
        assert str(coder) not in words
    assert f"coder {crowd.data.n_coders}<" in html


def test_without_intervals_the_page_says_so(tmp_path):
    fit = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1, starts=1)
    html = report(fit, tmp_path / "r.html").read_text("utf-8")
    Markup(html)
    assert sentence(Facts(fit)) in html
    assert "(" not in sentence(Facts(fit))
    assert ">nan" not in html.lower()
    assert "fig-ranks" not in html


def test_a_file_that_exists_is_not_replaced_and_the_same_fit_gives_the_same_bytes(
    crowd, crowd_page, crowd_options, tmp_path
):
    path = tmp_path / "report.html"
    path.write_text("precious")
    with pytest.raises(am.errors.AnnotationError, match="already exists"):
        report(crowd, path)
    assert path.read_text() == "precious"
    report(crowd, path, force=True, **crowd_options)
    assert path.read_bytes() == crowd_page.read_bytes()
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(("where", "what"), [("no/such/r.html", "not exist"), (".", "folder")])
def test_a_place_that_cannot_be_written_is_named_before_the_work(where, what, tmp_path):
    with pytest.raises(am.errors.AnnotationError, match=what):
        report(None, tmp_path / where)  # type: ignore[arg-type]


@pytest.mark.calibration
def test_a_long_table_says_where_the_rest_is(tmp_path, rng):
    rows = [
        (i, f"c{(i * 3 + j) % 400}", int(rng.random() < 0.5)) for i in range(900) for j in range(3)
    ]
    fit = am.fit(
        am.Annotations.from_records(rows), "hierarchical", chains=2, draws=100, warmup=50, seed=1
    )
    html = report(fit, tmp_path / "r.html").read_text("utf-8")
    assert "(200 of 400; all are in coders.csv)" in html
    assert len(html.encode()) < 800_000


def section(html, name):
    found = re.search(rf"<section id={name} .*?</section>", html, re.DOTALL)[0]
    return " ".join(" ".join(Markup(found).text).split())


@pytest.fixture(scope="module")
def unsure():
    """Fit of coders who take b for c nearly half of the time."""
    rng = np.random.default_rng(4)
    rows = []
    for i in range(90):
        truth = rng.integers(3)
        for coder in rng.choice(9, size=5, replace=False):
            right = rng.random() < (0.55 if truth == 1 else 0.9)
            label = truth if right else (truth + (1 if rng.random() < 0.95 else 2)) % 3
            rows.append((f"i{i}", f"w{coder}", "abc"[label]))
    data = am.Annotations.from_records(rows)
    return am.fit(data, "hierarchical", chains=2, draws=200, warmup=100, seed=1)


@pytest.fixture(scope="module")
def unsure_html(unsure, tmp_path_factory):
    path = tmp_path_factory.mktemp("unsure") / "page.html"
    return report(unsure, path).read_text("utf-8")


def test_the_scheme_section_names_the_label_that_is_used_worst(unsure, unsure_html):
    text = section(unsure_html, "scheme")
    table = unsure.labels().table
    worst = table.loc[table[["recall", "precision"]].min(axis=1).idxmin(), "label"]
    named = re.search(r"Fix the definitions? of ([^:]+):", text)
    assert named[1].split(" and ")[0].split(", ")[0] == worst
    top = unsure.labels(pairs=True).table.iloc[0]
    stands_out = f"The most confused pair is {top['first']} and {top['second']}" in text
    assert stands_out is bool(top["confusions_low"] > 1 / 3)
    assert (f"with {top['confusions'] * 100:.0f} %" in text) is stands_out


def test_thresholds_and_labels_to_buy_are_shown(unsure, unsure_html):
    text = section(unsure_html, "gold")
    kept = int((unsure.tree["truth"]["p_truth"].values.max(axis=1) >= 0.95).sum())
    assert f"≥ 0.95 {kept}" in text
    following = unsure.next(100)
    first = following.table["item"].iloc[0]
    asked = (following.table["item"] == first).sum()
    assert f"{first} {asked}" in section(unsure_html, "labels-to-buy")
    assert "fig-coverage-title" in unsure_html


@pytest.mark.calibration
def test_truth_that_was_held_back_tests_the_probabilities(crowd, tmp_path):
    best = crowd.gold().table
    known = dict(zip(best["item"][:30], best["label"][:30], strict=True))
    html = report(crowd, tmp_path / "r.html", truth=known).read_text("utf-8")
    assert "30 of 30 gold labels match the true labels that were held back" in html
    told = am.fit(
        crowd.data.with_truth(known), "hierarchical", chains=2, draws=100, warmup=50, seed=1
    )
    page = report(told, tmp_path / "told.html").read_text("utf-8")
    assert "30 items are decided." in page
    with pytest.raises(am.errors.NotApplicable, match="already used its true label"):
        report(told, tmp_path / "none.html", truth=known)


@pytest.mark.calibration
def test_another_model_is_compared_when_it_is_given(crowd, crowd_html, tmp_path):
    assert "One model was fitted" in section(crowd_html, "believe")
    other = am.fit(crowd.data, "pooled", chains=2, draws=100, warmup=50, seed=1)
    html = report(crowd, tmp_path / "r.html", others=[other]).read_text("utf-8")
    text = section(html, "believe")
    found = am.compare([crowd, other]).table
    assert list(found["model"]) == ["hierarchical", "pooled"]
    assert re.search(r"hierarchical −[\d,]+ [\d.]+ 0 0 [\d.]+ \d+ best", text)
    assert found["verdict"].iloc[1] in text


def test_the_page_says_what_other_priors_would_change(crowd, crowd_html):
    text = section(crowd_html, "believe")
    found = crowd.prior_sensitivity()
    for note in found.notes:
        assert " ".join(note.split()) in text
    assert "Other priors" in text
    away = (found.table["stronger"] - found.table["mean"]).abs()
    row = found.table.loc[away[found.table["what"] == "accuracy"].idxmax()]
    assert f"accuracy {row['name']} {row['mean']:.3f}" in text
