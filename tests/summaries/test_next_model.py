"""Rules of which model to try next, as declared."""

from __future__ import annotations

import pytest

from annomodels.models import MODELS
from annomodels.summaries.trust.next_model import OF_ITEMS, RULES, next_model

CASES = [
    ("dawid-skene", ["votes, chi-square"], 2, "scalar-difficulty"),
    ("hierarchical", ["agreement of pairs"], 4, "scalar-difficulty"),
    ("one-coin", ["use of labels", "errors on the same items"], 3, "hierarchical"),
    ("pooled", ["agreement of pairs", "votes, chi-square"], 2, "hierarchical"),
    ("pooled", ["votes, chi-square"], 2, "scalar-difficulty"),
    ("beta-binomial-by-item", ["use of labels"], 2, "hierarchical"),
]


@pytest.mark.parametrize(("model", "rejected", "labels", "expected"), CASES)
def test_the_next_model(model, rejected, labels, expected):
    found = next_model(model, rejected, labels)
    assert (found.values["model"], found.values["other"]) == (model, expected)
    assert str(found.remedy) == f'am.fit(data, "{expected}")'


def test_a_model_that_fits_needs_no_other():
    assert next_model("dawid-skene", [], 3) is None


def test_an_unknown_model_has_no_rule():
    assert next_model("", ["votes, chi-square"], 3) is None


def test_nothing_is_proposed_that_does_not_exist_or_was_tried():
    for rule in RULES:
        missed = [OF_ITEMS[0] if name == "items" else name for name in rule["rejected"]]
        for model in [name for name in MODELS if MODELS[name].family in rule["families"]]:
            for labels in (2, 5):
                if found := next_model(model, missed, labels):
                    assert found.values["other"] != model
                    assert labels >= MODELS[found.values["other"]].fewest_labels
