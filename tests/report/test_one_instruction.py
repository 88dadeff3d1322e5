"""Each coder gets one instruction, the same everywhere, and nobody is stopped on a coin toss."""

import re

import numpy as np
import pytest

import annomodels as am
from annomodels.limits import CERTAIN
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import head
from annomodels.reporting.sections.results import WELL, cards

pytestmark = pytest.mark.slow

OPTIONS = {"chains": 2, "draws": 150, "warmup": 100, "seed": 1, "extend": False}


def crowd(seed, n_labels, per_item, n_items=120):
    """Make a crowd with careful coders, one who guesses, one of a habit and one who swaps."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_labels, n_items)
    rows = []
    for i, t in enumerate(truth.tolist()):
        for j in rng.choice(9, per_item, replace=False).tolist():
            right = t if rng.random() < 0.8 else int(rng.integers(n_labels))
            swapped = {0: 1, 1: 0}.get(right, right)
            habit = 0 if rng.random() < 0.9 else right
            said = {0: int(rng.integers(n_labels)), 1: habit, 2: swapped}.get(j, right)
            rows.append((f"i{i}", f"c{j}", "abcd"[said]))
    return am.Annotations.from_records(rows)


@pytest.fixture(
    scope="module",
    params=[(1, 2, 5), (2, 3, 4), (3, 4, 3), (4, 3, 2), (5, 2, 3)],
    ids=lambda each: f"seed{each[0]}",
)
def facts(request):
    return Facts(am.fit(crowd(*request.param), "hierarchical", **OPTIONS))


def test_only_certain_spammers_are_told_to_stop_anywhere(facts):
    table = facts.coders.table.set_index("coder")
    unsure = set(table.index[table["p_spammer"] < CERTAIN])
    stop = set(table.index[table["advice"] == "stop"])
    assert not stop & unsure
    assert not unsure & set(table.index[table["kind"] == "spammer"])
    sent = {card.coder for card in cards(facts) if "please stop" in card.feedback}
    assert sent == stop


def test_who_swaps_is_corrected_and_never_stopped(facts):
    table = facts.coders.table.set_index("coder")
    swaps = table["kind"] == "adversary"
    assert (table["advice"].str.startswith("correct: swaps") == swaps).all()
    sent = {card.coder for card in cards(facts) if "the other way round" in card.feedback}
    assert sent == set(table.index[swaps])


def test_screen_table_cards_and_plan_give_one_instruction(facts):
    advice = facts.coders.table.set_index("coder")["advice"]
    actions = [a.title for a in head(facts).actions if a.href == "#coders-section"]
    verbs = {
        "stop": "stop", "correct": "correct", "give test items to": "give test items",
        "talk to": "retrain",
    }  # fmt: skip
    told = {}
    for part in "; ".join(actions).split("; "):
        verb = next((v for v in verbs if part.lower().startswith(v)), "")
        for name in re.findall(r"\bc\d\b", part):
            assert name not in told
            told[name] = verbs[verb]
    assert bool(told) == bool(len(facts.flagged))
    for name, said in told.items():
        assert advice[name].startswith(said)
    plan = facts.following.coders.set_index("coder")["advice"]
    assert (plan.sort_index() == advice.sort_index()).all()


def test_nobody_does_well_on_a_label_given_to_everything(facts):
    confusion = facts.tree["posterior"]["confusion"].mean(("chain", "draw")).values
    names = [str(name) for name in facts.data.labels]
    for card in cards(facts):
        well = dict(card.facts).get("Does well")
        if well is None:
            continue
        k = names.index(well.split(",")[0])
        mine = confusion[facts.data.coders.index(card.coder)]
        assert mine[k, k] >= WELL
        assert np.delete(mine[:, k], k).min() <= 1 - WELL + 0.05


def test_one_number_is_shown_with_the_digits_that_its_interval_supports(facts):
    shown = {column.name for column in facts.coders.columns}
    assert "share_right" in shown
    assert not {"accuracy", "skill", "bits"} & shown
    assert {"accuracy", "skill", "bits"} <= set(facts.coders.table)
    for card in cards(facts):
        assert re.search(r"labels?, \d+ % \(\d+ % to \d+ %\) right", card.about), card.about
    figure = facts.fit.plot.coders()
    text = " ".join(axis.get_xlabel() for axis in getattr(figure, "figure", figure).axes)
    assert "share of the labels given so far" in text
