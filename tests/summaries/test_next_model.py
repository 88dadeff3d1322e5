"""Rules of which model to try next, as declared."""

from __future__ import annotations

import pytest

from annomodels.models import MODELS
from annomodels.summaries.trust.next_model import RULES, next_model

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
    assert found.name == expected
    assert f'am.fit(data, "{expected}")' in found.sentence
    assert found.sentence.startswith(f"The model {model} does not reproduce the data.")


def test_a_model_that_fits_needs_no_other():
    assert next_model("dawid-skene", [], 3) is None


def test_an_unknown_model_has_no_rule():
    assert next_model("", ["votes, chi-square"], 3) is None


def test_nothing_is_proposed_that_does_not_exist_or_was_tried():
    for rule in RULES:
        for model in [name for name in MODELS if MODELS[name].family in rule.families]:
            for labels in (2, 5):
                found = next_model(model, rule.rejected, labels)
                assert found is None or found.name in MODELS
                assert found is None or found.name != model
                assert found is None or labels >= MODELS[found.name].fewest_labels
