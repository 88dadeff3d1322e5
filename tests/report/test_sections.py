"""The table of sections: every page takes from it what its fit can give, and says the rest."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.reporting.facts import Facts
from annomodels.reporting.parts import Part, Section
from annomodels.reporting.sections import sections_of
from annomodels.reporting.sections.results import scheme_notes


def unsupported(*verbs):
    return lambda verb: f"no {verb} here" if verb in verbs else ""


@pytest.mark.parametrize("truth", ["class", "number", "link"])
def test_every_section_of_the_table_is_there_once(truth):
    sections = sections_of(truth)
    keys = [section.key for section in sections]
    assert keys[-1] == "methods"
    assert len(set(keys)) == len(keys)


def test_a_section_is_left_out_with_the_reason_of_its_first_need():
    section = Section("x", "Ranks", "", lambda _: [], ("gold", "items"), (("next", "Requests"),))
    assert section.left_out(unsupported()) == []
    assert section.left_out(unsupported("next")) == [("Requests", "no next here")]
    assert section.unsupported(unsupported("next")) == ""
    assert section.left_out(unsupported("items", "next")) == [("Ranks", "no items here")]


@pytest.mark.slow
def test_a_new_section_is_one_entry_of_the_table(crowd, tmp_path, monkeypatch):
    def shown(facts: Facts) -> list[Part]:
        return [Part("text", f"{facts.data.n_items:,} items and <no> more.")]

    extra = Section("extra", "Extra", "What is extra.", shown, needs=("items",))
    every = [*sections_of("class", audited=False)[:1], extra]
    monkeypatch.setattr("annomodels.reporting.page.sections_of", lambda *_, **__: every)
    html = am.report(crowd, tmp_path / "r.html").read_text("utf-8")
    assert "<section id=extra" in html
    assert f"<p>{crowd.data.n_items:,} items and &lt;no&gt; more.</p>" in html
    assert "left-out" not in re.findall(r"<section id=([\w-]+)", html)


@pytest.mark.slow
def test_a_page_of_a_fit_in_memory_leaves_nothing_out(crowd):
    facts = Facts(crowd)
    assert not [section for section in sections_of("class") if section.left_out(facts.unsupported)]


@pytest.mark.parametrize(
    ("part", "low", "high", "named"),
    [(0.62, 0.5, 0.7, True), (0.37, 0.29, 0.45, False), (0.62, np.nan, np.nan, True)],
)
def test_a_most_confused_pair_is_named_only_if_it_stands_out(part, low, high, named):
    """Of three pairs, one with 37 % (29 % to 45 %) of the confusions is no more than its share."""
    ends = {f"{name}_{end}": 0.7 for name in ("recall", "precision") for end in ("low", "high")}
    labels = pd.DataFrame({"label": ["a", "b", "c"], "recall": 0.7, "precision": 0.7, **ends})
    confused = {"confusions": part, "confusions_low": low, "confusions_high": high}
    pairs = pd.DataFrame({"first": ["a", "a", "b"], "second": ["b", "c", "c"], **confused})
    made = {True: pairs, False: labels}
    fit = SimpleNamespace(labels=lambda pairs=False: SimpleNamespace(table=made[pairs]))
    facts = SimpleNamespace(fit=fit, data=SimpleNamespace(n_labels=3))
    said = " ".join(scheme_notes(facts))
    assert ("a and b" in said) is named
    assert "62 %" in said or not named


@pytest.mark.slow
def test_of_many_pairs_of_labels_none_stands_out(budget_pages):
    assert "confused pair" not in budget_pages["14 classes"].read_text("utf-8")
