"""The reference of coreference lists every name; its model page prints what it says."""

import re
from pathlib import Path

import pytest

import annomodels as am


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
