"""The methods section on several questions: every number belongs to its question and title."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import annomodels as am
from annomodels.cli.tables import by_question
from annomodels.coefficients.catalogue import COEFFICIENTS
from annomodels.data.columns import decimal
from annomodels.errors import NotApplicable
from annomodels.reporting.methods import agreement_methods

SCALES = ("nominal", "ordinal", "interval")
NAMES = ("alpha", "k", "multi_kappa", "weighted_kappa", "ac1", "ac2", "percent")


def question(scale: str, n_groups: int, seed: int) -> am.Annotations:
    """Simulate the labels of three coders on one question."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 5, 24)
    rows = []
    for item, label in enumerate(truth):
        for coder in "abc":
            off = int(rng.integers(-1, 2)) * int(rng.random() < 0.6)
            rows.append((item, coder, int(np.clip(label + off, 1, 4))))
    data = am.Annotations.from_records(rows, scale=scale)
    if not n_groups:
        return data
    code = np.arange(data.n_items) % n_groups
    return data.replace(group=code, groups=tuple(range(n_groups)))


def by_title(data: am.Annotations) -> dict[str, set[str]]:
    """Compute every coefficient with every distance, and write values by title."""
    found: dict[str, set[str]] = {}
    for name in COEFFICIENTS:
        for distance in (None, "nominal", "ordinal", "interval", "quadratic", "linear"):
            try:
                one = am.agreement(data, name, distance=distance, draws=0)
            except NotApplicable:
                continue
            found.setdefault(one.title, set()).add(decimal(one.value))
    return found


@pytest.mark.slow
@settings(deadline=None, max_examples=8)
@given(
    scales=st.lists(st.sampled_from(SCALES), min_size=1, max_size=4),
    names=st.sets(st.sampled_from(NAMES), min_size=1, max_size=4),
    groups=st.sampled_from((0, 3, 12)),
    seed=st.integers(0, 1000),
)
def test_every_number_is_the_one_that_its_question_and_title_say(scales, names, groups, seed):
    """A column with one title never holds the coefficient of another scale."""
    questions = {
        f"q{n}": question(scale, groups if n else 0, seed + n) for n, scale in enumerate(scales)
    }
    tables = {
        name: am.agreement(data, sorted(names), draws=50).table for name, data in questions.items()
    }
    text = agreement_methods(questions, by_question(tables), {})
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    head, rows = lines[0], lines[2:]
    assert len(set(head)) == len(head)
    printed = 0
    for row in rows:
        known = by_title(questions[row[0]])
        for title, cell in zip(head[6:], row[6:], strict=True):
            value = cell.partition(" [")[0]
            if value and value != "not defined":
                assert known[title.removesuffix(" [95 %]")] == {value}, (row[0], title)
                printed += 1
    defined = sum(int(np.isfinite(table["value"]).sum()) for table in tables.values())
    assert printed == defined
    assert ("from resampling items" in text) or ("groups of items" in text)
    if groups == 12 and len(scales) > 1:
        assert "12 groups of items (such as documents or batches), each as a whole" in text


@pytest.mark.parametrize("scale", SCALES)
def test_titles_of_a_table_of_agreement_say_which_coefficient_it_is(scale: str) -> None:
    data = question(scale, 0, 7)
    known = by_title(data)
    for row in am.agreement(data, "all", draws=0).table.to_dict("records"):
        if np.isfinite(row["value"]):
            assert known[row["title"]] == {decimal(row["value"])}, row["title"]
