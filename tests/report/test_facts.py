"""Facts behind the page: data health, wrong labels, cards of coders, anonymous fits."""

from types import SimpleNamespace

import numpy as np
import pytest

import annomodels as am
from annomodels.reporting.anonymous import anonymized
from annomodels.reporting.facts import Facts, health
from annomodels.reporting.sections.details import health_notes
from annomodels.reporting.sections.results import cards

pytestmark = pytest.mark.slow


def test_health_of_a_table_counted_by_hand():
    rows = [("t1", "ana", "x"), ("t1", "ben", "x"), ("t2", "ben", "y"), ("t3", "cem", "x")]
    rows += [(f"u{n}", "dee", "z") for n in range(12)]
    rows += [("t1", "ana", "y"), ("t2", "ana", None)]
    found = health(am.Annotations.from_records(rows, labels=["x", "y", "z", "never"]))
    assert (found.n_parts, found.parts) == (3, (12, 2, 1))
    assert found.label_counts.tolist() == [3, 2, 12, 0]
    assert found.unused == ("never",)
    assert found.single == 14
    assert found.few == ("ana", "ben", "cem")
    assert found.constant == ("dee",)
    assert (found.per_item.least, found.per_item.median, found.per_item.most) == (1, 1.0, 3)


def test_groups_of_coders_are_told_once_and_other_notes_on_groups_stay():
    rows = [(f"{g}{i}", f"{g}{c}", "xy"[i % 2]) for g in "ab" for i in range(12) for c in range(2)]
    data = am.Annotations.from_records(rows)
    own = "Read from two groups with no item in common."
    assert any("2 groups with no item in common" in note for note in data.notes)
    data = data.replace(notes=(*data.notes, own))
    facts = SimpleNamespace(data=data, health=health(data), on_disk=False, told_items=0)
    about_groups = [note for note in health_notes(facts) if "groups" in note]
    assert len(about_groups) == 2
    assert about_groups[0].startswith("The data fall into 2 groups")
    assert about_groups[1] == own


def test_an_anonymous_fit_is_the_same_fit_under_other_names(crowd):
    hidden = anonymized(crowd)
    assert sorted(hidden.data.coders) == sorted(
        f"coder {n}" for n in range(1, crowd.data.n_coders + 1)
    )
    assert hidden.data.coders != tuple(f"coder {n + 1}" for n in range(crowd.data.n_coders))
    assert (hidden.data.source, hidden.data.notes) == ("", ())
    assert (hidden.data.votes == crowd.data.votes).all()
    before, after = crowd.coders().table, hidden.coders().table
    np.testing.assert_array_equal(before["accuracy"], after["accuracy"])
    np.testing.assert_array_equal(crowd.coders().draws["skill"], hidden.coders().draws["skill"])
    assert not set(map(str, crowd.data.coders)) & set(after["coder"])
    assert anonymized(crowd).data.coders == hidden.data.coders
    assert str(crowd.data.coders[0]) in crowd.gold().table["why"].str.cat()


def test_cards_begin_with_the_coders_to_stop_and_say_what_to_send(crowd):
    facts = Facts(crowd)
    shown = cards(facts)
    bad = [*facts.flagged["coder"], *facts.advised("retrain")["coder"]]
    assert len(bad) <= len(shown) <= max(len(bad), 6)
    assert [card.coder for card in shown[: len(bad)]] == bad
    assert len({card.feedback for card in shown}) > len(shown) - 6
    for card in shown:
        assert card.feedback.endswith(".")
        for _, row in card.rows:
            assert sum(row) == pytest.approx(100, abs=len(row))
