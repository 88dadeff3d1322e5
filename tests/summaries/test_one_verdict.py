"""Verdict, lamps and coders say the same about the same."""

from __future__ import annotations

import numpy as np
import pytest

from annomodels.summaries.coders.coders import spammers
from annomodels.summaries.skills import CoderDraws
from annomodels.summaries.trust.checks import judged
from annomodels.summaries.trust.findings import CODERS, FITS, FORBIDS, REVIEW, Finding


@pytest.mark.parametrize("lamp", [CODERS, FITS])
@pytest.mark.parametrize("severity", [REVIEW, FORBIDS])
def test_a_lamp_needs_review_only_if_the_verdict_does(lamp: str, severity) -> None:
    """Coders who need advice do not make the result doubtful, and nothing says that they do."""
    check = judged([Finding("x", 1, 0, "It is so.", severity, lamp)], "All is well.")
    states = set(check.lamps.values())
    assert ("needs review" in states) == (check.verdict == "needs review")
    assert ("failed" in states) == (check.verdict == "do not use")
    assert ("see advice" in states) == (lamp == CODERS and severity == REVIEW)


def test_who_swaps_classes_is_no_spammer() -> None:
    """Two of three classes are swapped: no more labels are right than by chance."""
    one = np.full((4, 1), 0.05)  # of a skill near 0, with few bits
    draws = CoderDraws(
        accuracy=one + 0.3, skill=one, bits=one, recall=one[..., None],
        over_use=one[..., None],
        prevalence=np.full((4, 3), 1 / 3),
    )  # fmt: skip
    for swapping, expected in ((False, [True, False]), (True, [False, True])):
        found = spammers(draws, np.array([swapping]))
        assert [bool(each.all()) for each in found] == expected
