"""Places in context, coders against the others, agreement, the page, the command, the reference."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from annomodels.cli.main import main
from annomodels.coref import (
    agreement,
    agreement_table,
    coder_table,
    document,
    pair_agreement,
    pair_table,
    pairs,
    read,
    reading_table,
)
from annomodels.data.document import Document
from annomodels.reporting.links import LinkFacts, cards, head, silver
from annomodels.reporting.page import page


def test_poesio_artstein_2005_who_read_what(first_it: Document) -> None:
    table = reading_table(first_it, "none").table
    assert table["reading"].tolist() == ["E2 [0] or boxcar [1]", "E2 [0]", "boxcar [1]"]
    assert table["n"].tolist() == [9, 6, 3]
    assert table["several"].tolist() == [True, False, False]
    assert set(table["of"]) == {18}
    assert table["coders"][2] == "c15, c16, c17"
    assert set(table["before"]) == {"E2 boxcar"}
    assert set(table["kind"]) == {"explicit and implicit"}


def odd_one_out(texts: int = 3) -> list[Document]:
    rng = np.random.default_rng(2)
    out = []
    for n in range(texts):
        truth = rng.integers(0, 12, 40)
        said = {c: np.where(rng.random(40) < 0.05, rng.integers(0, 12, 40), truth) for c in "abc"}
        said["odd"] = np.where(rng.random(40) < 0.5, rng.integers(0, 12, 40), truth)
        clusters = {c: dict(enumerate(x.tolist())) for c, x in said.items()}
        out.append(document(f"t{n}", clusters, genre="xy"[n % 2]))
    return out


@pytest.mark.slow
def test_only_the_most_contested_places_are_written_out() -> None:
    texts = odd_one_out()
    every, some = reading_table(texts).table, reading_table(texts, most=5).table
    assert len(some.drop_duplicates(["document", "span"])) == 5
    assert len(every.drop_duplicates(["document", "span"])) > 5
    second = every.groupby(["document", "span"])["n"].nlargest(2).groupby(level=[0, 1]).last()
    kept = set(zip(some["document"], some["span"], strict=True))
    assert min(second[key] for key in kept) >= sorted(second, reverse=True)[4]
    assert len(reading_table(texts, kinds=("agreement",)).table["reading"]) > 0
    whole = every.groupby(["document", "span"])["n"].sum()
    assert (whole == every.groupby(["document", "span"])["of"].first()).all()


def test_texts_without_words_name_positions() -> None:
    text = odd_one_out(1)[0]
    blank = Document("t", ("_",) * len(text.tokens), layers=text.layers)
    table = reading_table(blank).table
    assert set(table["before"]) | set(table["after"]) == {""}
    assert all(re.match(r"words? \d", x) for x in table["text"])


def test_a_coder_against_the_others() -> None:
    texts = odd_one_out()
    table = coder_table(texts, draws=200).table
    assert table["coder"][0] == "odd"
    assert table["p_below"][0] > 0.99
    assert (table["p_below"][1:] < 0.5).all()
    rows = pair_agreement(texts).table
    with_odd = rows[(rows["first"] == "odd") | (rows["second"] == "odd")]
    rest = rows.drop(with_odd.index)
    by_text = [frame.groupby("document")["kappa"].mean().mean() for frame in (with_odd, rest)]
    assert table["with_others"][0] == pytest.approx(by_text[0])
    assert table["others"][0] == pytest.approx(by_text[1])
    assert table["difference"][0] == pytest.approx(by_text[0] - by_text[1])
    assert (table["low"] < table["with_others"]).all()
    assert table["alone"][0] > 3 * table["alone"][1:].max()
    with pytest.raises(am.errors.NotApplicable, match="draws=0"):
        coder_table(texts, draws=0)


@pytest.mark.slow
def test_cards_begin_with_the_odd_one_and_name_where_each_was_alone() -> None:
    facts = LinkFacts(odd_one_out(), draws=50)
    shown, rows = cards(facts), facts.coders.table
    assert [card.coder for card in shown] == rows["coder"].tolist()
    assert shown[0].kind == "differs"
    assert "Talk to " + shown[0].coder in page(facts)
    for card, alone in zip(shown, rows["alone"], strict=True):
        said = dict(card.facts)["Alone"]
        assert said == "nowhere" if not alone else said.startswith(f"at {alone} of ")
        assert bool(re.search(r"\bwords? \d", card.feedback)) == bool(alone)
    two = LinkFacts([document("t", {"a": [[1, 2]], "b": [[1], [2]]})], draws=20)
    assert "class=card" not in page(two)


def test_of_two_coders_nobody_is_the_odd_one() -> None:
    table = coder_table(document("t", {"a": [[1, 2], [3]], "b": [[1], [2, 3]]}), draws=20).table
    assert table["p_below"].isna().all()
    assert table["with_others"].tolist() == [pair_table([[1, 2], [3]], [[1], [2, 3]]).kappa] * 2
    assert table["alone"].tolist() == [0, 0]


def test_every_row_says_what_it_is() -> None:
    texts = odd_one_out()
    table = agreement_table(texts, ["none", "excl+"], ["dice", "masi"], draws=2000).table
    rows = table.set_index("coefficient")
    assert rows.index.is_unique
    found = agreement(texts, "excl+", "masi")
    assert rows["value"]["alpha_excl-plus_masi"] == found.value
    assert rows["measure"]["alpha_excl-plus_masi"] == found.title
    assert rows["value"]["pair_kappa"] == pytest.approx(pair_agreement(texts).mean)
    assert rows["low"]["pair_kappa_new"] < rows["low"]["pair_kappa_mean"]
    alphas = rows[rows.index.str.startswith("alpha")]
    assert (alphas["low"] < alphas["value"]).all()
    by_text = agreement_table(texts, by="document", draws=50).table
    assert by_text["part"].unique().tolist() == ["t0", "t1", "t2"]
    own = by_text[by_text["coefficient"] == "pair_kappa"].set_index("part")
    assert own["value"]["t1"] == pytest.approx(pair_agreement(texts[1]).mean)
    with pytest.raises(am.errors.NotApplicable, match="by='coder'"):
        agreement_table(texts, by="coder")  # type: ignore[arg-type]


def test_mention_f1_counts_all_pairs_of_coders() -> None:
    text = document("t", {"a": [[1, 2]], "b": [[1, 3]], "c": [[4, 5]]})
    rows = agreement_table(text, draws=20).table.set_index("coefficient")
    assert rows["value"]["mention_f1"] == pytest.approx(2 * 1 / 12)
    assert math.isnan(rows["value"]["pair_kappa"])
    assert "two mentions that two coders share" in rows["note"]["pair_kappa"]


def test_the_page_stands_alone_and_escapes_what_users_wrote() -> None:
    bad = "<script>alert(1)</script>"
    clusters = {bad: [["a", bad], ["b"]], "ben": [["a", "b", bad]], "cho": [["a", bad, "b"]]}
    made = page(LinkFacts([document(bad, clusters)], draws=20), command=bad)
    assert bad not in made
    assert made.count("&lt;script&gt;") > 3
    assert not re.search(r"(src|href)=[\"']?https?:", made)
    assert "<link rel=icon" in made
    assert "no model was fitted" in made
    assert "<!DOCTYPE html>" in made
    assert made.count("<section") == 7


@pytest.mark.slow
def test_the_page_is_the_same_every_time_and_has_all_parts() -> None:
    texts = odd_one_out()
    first, second = (page(LinkFacts(texts, ["none"], draws=50)) for _ in range(2))
    assert first == second
    for words in (
        "texts like these",
        "one further text",
        "immediate antecedents",
        "odd",
        "by text type",
    ):
        assert words in first
    ids = re.findall(r"\bid=\"?([\w-]+)", first)
    assert len(ids) == len(set(ids))


def test_texts_of_one_coder_have_a_page_that_says_so() -> None:
    made = page(LinkFacts([document("t", {"a": [[1, 2], [3]]})], draws=20))
    assert "so there is nothing to compare" in made
    assert "No text has two mentions that two coders share." in made


@pytest.mark.slow
def test_silver_chains_show_what_one_more_reader_would_say() -> None:
    text = odd_one_out(1)[0]
    blank = Document("t", ("_",) * len(text.tokens), layers=text.layers)
    fit = am.fit(pairs(blank), chains=2, draws=60, warmup=40, seed=1)
    _, table = silver.make(LinkFacts([blank], fit=fit, draws=50))
    links = fit.links().table
    shown = {f"({p:.2f})" for p in links["p_next"]}
    assert len(shown) > 1 or links["p_link"].round(2).iloc[0] != links["p_next"].round(2).iloc[0]
    for row in table.value.rows:
        assert set(re.findall(r"\(\d\.\d\d\)", row[1].text)) <= shown
        assert re.match(r"words? \d", row[1].text)  # positions, where a text has no words


@pytest.mark.slow
def test_a_report_of_a_fit_takes_its_texts_and_names_what_it_lacks_without_them(
    tmp_path: Path,
) -> None:
    text = odd_one_out(1)[0]
    fit = am.fit(pairs(text), chains=2, draws=60, warmup=40, seed=1)
    alone = am.report(fit, tmp_path / "alone.html").read_text("utf-8")
    assert "a fit does not contain the texts" in alone
    assert "Silver chains, weakest link first" in alone
    assert "t0#12 (" in alone
    assert f"{fit.data.n_items} mentions" in alone
    whole = am.report(fit, tmp_path / "whole.html", texts=text).read_text("utf-8")
    assert "Kappa on coreferent pairs" in whole
    assert "a fit does not contain the texts" not in whole
    nameless = am.report(fit, tmp_path / "nameless.html", anonymize=True).read_text("utf-8")
    assert "odd" in alone
    assert ">odd<" not in nameless
    assert "coder 4" in nameless
    target = tmp_path / "no.html"
    for options in ({"texts": text, "anonymize": True}, {"target": 0.8}, {"others": [fit]}):
        with pytest.raises(am.errors.NotApplicable, match="Leave out"):
            am.report(fit, target, **options)  # type: ignore[arg-type]
    labels = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1, starts=1)
    with pytest.raises(am.errors.NotApplicable, match="fits of links"):
        am.report(labels, target, texts=text)
    assert not target.exists()


@pytest.mark.slow
def test_methods_of_a_fit_of_links_name_its_model_and_what_came_out() -> None:
    from annomodels.reporting.methods import methods, methods_latex

    text = odd_one_out(1)[0]
    fit = am.fit(pairs(text), "single", chains=2, draws=60, warmup=40, seed=1)
    told = methods(fit)
    assert f"{fit.data.n_items} mentions were judged by 4 coders, 4 a mention" in told.lower()
    assert "single-truth model" in told
    assert f"go from {len(fit.links(0.5).table)} mentions to an antecedent" in told
    assert fit.data.fingerprint in told
    assert "section*{Methods}" in methods_latex(fit)
    paper = methods(am.fit(pairs(text), chains=2, draws=60, warmup=40, seed=1))
    assert "crowdsourcing coreference" in paper


@pytest.mark.slow
def test_head_badges_and_filter_use_one_vocabulary() -> None:
    facts = LinkFacts(odd_one_out(), draws=50)
    html = page(facts)
    named = {name for _, n, name in head(facts).bar if n}
    badges = set(re.findall(r'<li data-kind="(.*?)"', html))
    offered = set(re.findall(r"<option>(.*?)</option>", html))
    only = set(re.findall(r'data-only="(.*?)"', html))
    assert badges
    assert badges == offered
    assert badges | only <= named
    assert "90 %" not in html
    assert not re.search(r"\bwords \d+\b(?![-:–,])", re.sub("<script.*?</script>", "", html))
    total = sum(n for _, n, _ in head(facts).bar)
    differ = total - {name: n for _, n, name in head(facts).bar}["one reading"]
    assert 0 < differ < total
    assert f"differ on {differ} places of {total}" in html


WORDS = ["The", "engine", "met", "the", "boxcar", ".", "It", "left", "."]
CLUSTERS = {
    "ana": [[[0, 1], [6, 6]], [[3, 4]]],
    "ben": [[[0, 1], [6, 6]], [[3, 4]]],
    "cho": [[[0, 1]], [[3, 4], [6, 6]]],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "texts"
    made.mkdir()
    for coder, clusters in CLUSTERS.items():
        lines = [
            {"doc_key": f"{kind}/{n}", "sentences": [WORDS[:6], WORDS[6:]], "clusters": clusters}
            for n in range(3)
            for kind in ("news", "talk")
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (made / f"{coder}.jsonl").write_text(text)
    return made


@pytest.mark.slow
def test_the_folder_holds_report_tables_and_silver_chains(folder: Path, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    assert main(["coref", str(folder), "-o", str(out), "--draws", "100", "-q"]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "agreement.csv", "coders.csv", "links.csv", "places.csv", "rates.csv", "report.html",
        "silver.conll", "silver.jsonl", "texts.csv", "unaligned.csv",
    ]  # fmt: skip
    for name in ("silver.jsonl", "silver.conll"):
        silver = read(out / name, coder="silver")
        assert len(silver) == 6
        groups = {len(group) for text in silver for group in text.layers["silver"].groups}
        assert groups == {2}
    page = (out / "report.html").read_text("utf-8")
    assert "cho" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    coders = (out / "coders.csv").read_text("utf-8").splitlines()
    assert coders[1].startswith("cho,")
    capsys.readouterr()
    assert main(["coref", str(folder), "-o", str(out), "-q"]) == 2
    assert "already exist" in capsys.readouterr().err
    words = ["coref", str(folder), "-o", str(out), "-q", "--force", "--model", "none"]
    assert main([*words, "--draws", "20"]) == 0


def test_every_public_name_is_in_the_reference(root: Path) -> None:
    page = (root / "docs" / "coref-api.md").read_text("utf-8")
    listed = re.findall(r"^   (\w+)$", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(am.coref.__all__)
    assert not [name for name in am.coref.__all__ if not getattr(am.coref, name).__doc__]


@pytest.mark.slow
def test_the_page_of_the_models_prints_what_it_says(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (root / "docs" / "models" / "mention-pairs.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    exec(compile(code, "<page>", "exec"), {})
    assert capsys.readouterr().out == shown
    pairs, single = am.coref.MentionPairs(), am.coref.SingleTruth()
    assert f"Beta({pairs.sensitivity.a:g}, {pairs.sensitivity.b:g}) for sensitivities" in text
    assert f"Beta({pairs.specificity.a:g}, {pairs.specificity.b:g}) for specificities" in text
    assert single.accuracy == pairs.sensitivity
