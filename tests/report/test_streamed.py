"""The page on a streamed fit: what it counts is what a fit in memory counts."""

import re

import numpy as np
import pytest

import annomodels as am
from annomodels.errors import NotApplicable
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import head, sentence
from annomodels.reporting.methods import methods
from annomodels.scale import sorting
from annomodels.scale.tally import tally
from annomodels.summaries.gold import coverage

pytestmark = pytest.mark.slow

RUN = {"chains": 2, "draws": 100, "warmup": 50, "seed": 1, "extend": False}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Fit the crowd, with some known truth, from many small blocks and in memory."""
    folder = tmp_path_factory.mktemp("crowd")
    frame = am.datasets.load("crowd").to_frame().astype(str)
    known = dict.fromkeys(sorted(frame["item"].unique())[:20], "neg")
    frame["gold"] = [known.get(name, "") for name in frame["item"]]
    frame.to_csv(folder / "labels.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "BLOCK_LABELS", 300)
        data = am.scan(folder / "labels.csv", truth="gold")
    assert len(data.blocks) > 5
    whole = am.read(folder / "labels.csv", truth="gold")
    return am.fit(data, "hierarchical", **RUN), am.fit(whole, "hierarchical", **RUN)


def test_the_tally_is_that_of_the_gold_standard_in_memory(both):
    streamed, wanted = both
    found, gold = tally(streamed), wanted.gold().table
    known = gold["state"] == "decided"
    assert found.settled == int(((gold["probability"] >= 0.95) | known).sum())
    assert found.known == 20
    counts = gold["label"].value_counts()
    assert dict(zip(found.labels["label"], found.labels["gold"], strict=True)) == {
        str(name): int(counts.get(name, 0)) for name in wanted.data.labels
    }
    assert np.array_equal(found.per_item, np.bincount(np.diff(wanted.data.starts)))
    kept = coverage(wanted.tree, wanted.data).table
    for name in ("threshold", "kept", "share", "accuracy", "wrong"):
        np.testing.assert_allclose(found.thresholds[name].to_numpy(), kept[name].to_numpy())
    open_items = gold[(gold["probability"] < 0.95) & ~known]
    assert len(found.open) == min(200, len(open_items))
    listed = open_items.set_index("item").loc[found.open["item"]]
    assert listed["label"].tolist() == found.open["label"].tolist()
    assert listed["probability"].to_numpy() == pytest.approx(found.open["probability"].to_numpy())
    assert found.open["doubt"].is_monotonic_decreasing
    assert found.open["probability"].min() == pytest.approx(open_items["probability"].min())


def test_the_page_says_what_is_known_and_what_is_not(both, tmp_path):
    streamed, wanted = both
    html = am.report(streamed, tmp_path / "page.html", target=0.7).read_text("utf-8")
    for name in wanted.data.coders[:5]:
        assert f"<bdi>{name}</bdi>" in html
    left_out = html[html.index("<section id=left-out") :]
    for what in ("Agreement", "Decide", "Labels to buy", "Other priors"):
        assert f"<dt>{what}</dt><dd>Left out: needs the labels in memory" in left_out
    assert re.findall(r"<section id=([\w-]+)", html) == [
        *("summary", "items-section", "coders-section", "scheme", "data", "gold", "believe"),
        *("methods", "left-out"),
    ]
    assert "True labels of 20 items were given and used." in html
    facts = Facts(streamed, 0.7)
    assert sentence(facts) in html
    settled = int((wanted.gold().table["probability"] >= 0.95).sum())
    assert {name: n for _, n, name in head(facts).bar if n} == {
        "settled": settled - 20,
        "need labels": wanted.data.n_items - settled,
        "decided": 20,
    }


def test_the_methods_section_has_numbers_references_and_nothing_that_was_not_looked_at(both):
    streamed, _ = both
    text = methods(streamed, "annomodels run labels.csv --stream -o out")
    assert "annomodels run labels.csv --stream" in text
    assert "streamed from disk and fitted block by block" in text
    assert "@" in text.split("```bibtex")[1]
    assert "alpha" not in text.lower()
    assert "Known labels of 20 items were held fixed" in text


def test_what_needs_the_labels_in_memory_is_refused(both, tmp_path):
    streamed, wanted = both
    for more in ({"others": [wanted]}, {"truth": {"x": "neg"}}):
        with pytest.raises(NotApplicable, match="the labels in memory"):
            am.report(streamed, tmp_path / "page.html", **more)
    assert not list(tmp_path.iterdir())


def test_an_anonymous_page_names_nobody(both, tmp_path):
    streamed, wanted = both
    page = am.report(streamed, tmp_path / "page.html", anonymize=True).read_text("utf-8")
    assert "coder 1<" in page
    assert "labels.csv" not in page
    assert not [name for name in wanted.data.coders if f">{name}<" in page]
