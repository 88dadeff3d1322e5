"""The five sentences, and the cheapest next step."""

from __future__ import annotations

import copy
import dataclasses
import re

import numpy as np
import pytest

import annomodels as am
from annomodels.reporting.facts import Facts
from annomodels.reporting.page import verdict
from annomodels.reporting.sections.verdict import next_step, sentences


@pytest.fixture(scope="module")
def found(crowd):
    return Facts(crowd)


def with_table(summary, **columns):
    return dataclasses.replace(summary, table=summary.table.assign(**columns))


def changed(found, **summaries):
    """Give the same facts with other summaries."""
    made = copy.copy(found)
    vars(made).update(summaries)
    return made


def quiet(found):
    """Give the same fit where nothing is left to do."""
    return changed(
        found,
        check=dataclasses.replace(found.check, verdict="no problem found"),
        gold=with_table(found.gold, settled=True),
        items=with_table(found.items, quadrant="easy"),
        coders=with_table(
            found.coders,
            kind="good",
            p_spammer=0.0,
            p_adversary=0.0,
            p_no_better_than_chance=0.0,
            p_below_target=0.0,
        ),
    )


def test_there_are_five_sentences_each_with_its_numbers(crowd, found):
    said = verdict(crowd)
    assert said == sentences(found)
    assert len(said) == 5
    assert all(s.endswith(".") and s.count("\n") == 0 for s in said)
    size, gold, errors, coders, items = said
    data = crowd.data
    assert size.startswith(
        f"{data.n_coders} coders gave {len(data):,} labels to {data.n_items} items"
    )
    assert gold.startswith(f"{found.settled} of {data.n_items} items")
    for sentence in (gold, errors, coders):
        assert "95 % interval" in sentence
    assert re.search(r"of the \d+ gold labels, [\d.]+ are expected to be wrong", errors, re.I)
    assert "by majority vote" in errors
    assert "cheapest next step" in items


def test_the_expected_number_of_bad_coders_is_counted_draw_by_draw(found):
    skill = found.coders.draws["skill"].values
    low, high = np.quantile((skill <= 0).sum(axis=1), [0.025, 0.975])
    expected = found.coders.table["p_no_better_than_chance"].sum()
    sentence = sentences(found)[3]
    numbers = [float(n) for n in re.findall(r"; ([\d.]+) are expected", sentence)]
    assert numbers == [pytest.approx(expected, abs=0.06)]
    assert f"interval {low:g} to {high:g}" in sentence


def test_a_target_changes_what_is_asked_of_coders(crowd):
    strict, lax = verdict(crowd, target=0.99)[3], verdict(crowd, target=0.01)[3]
    assert "below the target of 99.0 %" in strict
    n = crowd.data.n_coders
    assert int(re.match(r"\d+", strict)[0]) > n // 2
    assert "0 are expected to be below the target" in lax
    with pytest.raises(am.errors.NotApplicable, match="between 0 and 1"):
        verdict(crowd, target=70)


def test_a_failed_fit_comes_before_everything(found):
    failed = dataclasses.replace(found.check, verdict="do not use")
    assert "repair the fit first" in next_step(changed(found, check=failed))


def test_bad_coders_get_no_more_items(found):
    calm = quiet(found)
    chance = np.zeros(len(calm.coders.table))
    chance[3] = 0.99
    bad = changed(calm, coders=with_table(calm.coders, p_no_better_than_chance=chance))
    name = calm.coders.table["coder"][3]
    assert next_step(bad) == f"give no more items to {name}"


def test_items_without_enough_labels_get_one_from_the_best(found):
    calm = quiet(found)
    where = np.full(len(calm.items.table), "easy", dtype=object)
    where[:7] = "needs more labels"
    step = next_step(changed(calm, items=with_table(calm.items, quadrant=where)))
    best = calm.coders.table.sort_values("bits")["coder"].iloc[-1]
    assert step.startswith("ask for one more label of the 7 items")
    assert f"best from {best}" in step


def test_contested_items_point_to_the_guideline_of_two_labels(found):
    calm = quiet(found)
    where = np.full(len(calm.items.table), "easy", dtype=object)
    where[:3] = "contested"
    label = calm.gold.table["label"].to_numpy(dtype=object).copy()
    runner = calm.gold.table["runner_up"].to_numpy(dtype=object).copy()
    label[:3], runner[:3] = ["pos", "neg", "neu"], ["neg", "pos", "pos"]
    step = next_step(
        changed(
            calm,
            items=with_table(calm.items, quadrant=where),
            gold=with_table(calm.gold, label=label, runner_up=runner),
        )
    )
    assert step.endswith("fix the guideline for neg against pos")
    assert "3 contested items" in step


def test_when_nothing_is_left_the_gold_can_be_handed_on(found):
    calm = quiet(found)
    assert next_step(calm) == "none is needed, the gold standard can be handed on"
    settled = np.ones(len(calm.gold.table), dtype=bool)
    settled[0] = False
    step = next_step(changed(calm, gold=with_table(calm.gold, settled=settled)))
    assert step == "let an expert decide the 1 unsettled item"
