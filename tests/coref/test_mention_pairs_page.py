"""The page on the mention-pair models prints what it says, and has the default priors."""

from __future__ import annotations

import re

import pytest

import annomodels as am


@pytest.mark.slow
def test_the_page_prints_what_it_says(root, capsys):
    text = (root / "docs" / "coref-model.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    exec(compile(code, "<page>", "exec"), {})
    assert capsys.readouterr().out == shown


@pytest.mark.slow
def test_the_page_has_the_default_priors_and_all_tables(root):
    text = (root / "docs" / "coref-model.md").read_text("utf-8")
    pairs, single = am.coref.MentionPairs(), am.coref.SingleTruth()
    assert f"Beta({pairs.sensitivity.a:g}, {pairs.sensitivity.b:g}) for sensitivities" in text
    assert f"Beta({pairs.specificity.a:g}, {pairs.specificity.b:g}) for specificities" in text
    assert single.accuracy == pairs.sensitivity
    told = set(re.findall(r"`fit\.(\w+)", text))
    verbs = {"interpretations", "mentions", "ambiguous", "links", "chains", "coders", "check"}
    candidates = am.coref.pairs(am.coref.document("t", {"a": [[1, 2]], "b": [[1, 2]]}))
    fit = am.fit(candidates, chains=1, draws=20, warmup=0, seed=1)
    assert not [verb for verb in verbs if fit.lacks(verb)]
    assert told >= verbs
    assert not [verb for verb in told if not hasattr(fit, verb)]
