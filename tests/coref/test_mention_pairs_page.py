"""The page on the mention-pair models prints what it says, and has the default priors."""

from __future__ import annotations

import re

import annomodels as am


def test_the_page_prints_what_it_says(root, capsys):
    text = (root / "docs" / "coref-model.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    exec(compile(code, "<page>", "exec"), {})
    assert capsys.readouterr().out == shown


def test_the_page_has_the_default_priors_and_all_tables(root):
    text = (root / "docs" / "coref-model.md").read_text("utf-8")
    pairs, single = am.coref.MentionPairs(), am.coref.SingleTruth()
    assert f"Beta({pairs.sensitivity.a:g}, {pairs.sensitivity.b:g}) for sensitivities" in text
    assert f"Beta({pairs.specificity.a:g}, {pairs.specificity.b:g}) for specificities" in text
    assert single.accuracy == pairs.sensitivity
    methods = {name for name in vars(am.coref.PairFit) if not name.startswith("_")}
    told = set(re.findall(r"`fit\.(\w+)", text))
    assert told <= methods
    assert methods - told <= {"describe", "p_true", "p_next", "mixing", "mixed"}
