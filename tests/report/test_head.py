"""The first screen: one sentence, items by state, at most four actions; the queue, the data."""

import base64
import copy
import csv
import dataclasses
import io
import json
import math
import re
import zlib
from itertools import batched

import numpy as np
import pytest
import xarray as xr

import annomodels as am
from annomodels.auditing.design import Items, calibration_prior
from annomodels.auditing.estimator import forecast_widths
from annomodels.cli.jobs import files_of
from annomodels.data.columns import COLUMNS
from annomodels.limits import AUDIT_GOAL, AUDIT_MOST, AUDIT_WORTH
from annomodels.reporting.explorer import ROOM, payload, queue
from annomodels.reporting.facts import Facts, Shown
from annomodels.reporting.head import _price, head, sentence
from annomodels.reporting.sections.details import distance
from annomodels.reporting.sections.results import labels_to_buy
from annomodels.summaries.gold import as_coders_read

pytestmark = pytest.mark.slow
TRUTH = am.datasets.crowd_truth().truth


@pytest.fixture(scope="module")
def found(crowd):
    return Facts(crowd)


@pytest.fixture(scope="module")
def stacked():
    """Facts of the default, which leaves more items open than a single model."""
    return Facts(am.fit(am.datasets.load("crowd"), chains=2, draws=100, warmup=60, seed=1))


def changed(facts, **known):
    """Give the same facts with other summaries."""
    made = copy.copy(facts)
    for name in ("state", "states"):
        vars(made).pop(name, None)
    vars(made).update(known)
    return made


def with_table(summary, **columns):
    return dataclasses.replace(summary, table=summary.table.assign(**columns))


def test_the_sentence_has_the_number_and_an_interval_around_it(found):
    wrong = found.wrong
    pattern = r"About ([\d,]+) of 200 gold labels (?:is|are) wrong \((\d+) to (\d+)\)\."
    value, low, high = map(int, re.match(pattern, sentence(found)).groups())
    assert value == round(wrong.gold)
    assert (low, high) == (math.floor(wrong.gold_low), math.ceil(wrong.gold_high))
    assert low <= value <= high
    assert sentence(found).endswith("Not yet checked by an expert.")  # of a single model


def test_the_distance_from_an_expert_is_told_with_what_replaces_it(stacked):
    facts = stacked
    low, high = facts.as_coders_read
    width = facts.wrong.gold_high - facts.wrong.gold_low
    assert facts.wrong.gold_low <= low < high <= facts.wrong.gold_high
    assert facts.distance == pytest.approx(1 - (high - low) / width)
    assert facts.distance > 0.5
    assert sentence(facts).endswith(
        "Not yet checked by an expert: an hour of audit replaces most of that doubt."
    )
    # the sentence and the action name the same time
    longer = changed(facts, to_audit=(130, AUDIT_GOAL))
    assert sentence(longer).endswith(": 2 hours of audit replace most of that doubt.")
    assert head(longer).actions[-1].about.startswith("about 2 hours; ")
    for size, share in [(60, 0.7), (60, float("nan"))]:
        assert sentence(changed(facts, to_audit=(size, share))).endswith("by an expert.")
    said = distance(facts)
    assert said.startswith(f"{100 * facts.distance:.0f} % of the width")
    assert f"the interval would be {low:,} to {high:,}" in said
    # a layer that is the same in all draws leaves no such doubt
    tree = facts.tree.copy(deep=True)
    layer = tree["stack"].to_dataset()
    for name in ("sharpness", "unknown", "tilt"):
        layer[name] = layer[name].copy(
            data=np.broadcast_to(np.median(layer[name].values, axis=0), layer[name].shape)
        )
    tree["stack"] = xr.DataTree(layer)
    assert as_coders_read(tree, facts.data) == (low, high)


def test_a_price_cannot_be_read_as_labels_per_item(found):
    plan = found.following
    table = plan.table.iloc[:0].reindex(range(16))
    plan = dataclasses.replace(plan, table=table, before=9.0, after=8.65)
    assert _price(plan) == " (46 or more new labels to correct one)"
    assert _price(dataclasses.replace(plan, before=math.nan, after=math.nan)) == ""
    assert not _price(dataclasses.replace(plan, after=plan.before))


def test_known_truth_gives_the_tested_number(crowd):
    best = dict(zip(crowd.data.items, crowd.gold().table["label"], strict=True))
    wrong = sum(best[item] != truth for item, truth in TRUTH.items())
    said = sentence(Facts(crowd, known=TRUTH))
    # eight items have two readings and no truth: of these nothing is known
    assert f"{wrong} of 192 tested gold labels were wrong" in said
    assert "192 of them were compared with true labels." in said
    every = {item: TRUTH.get(item, best[item]) for item in best}
    assert f"{wrong} of 200 gold labels are wrong according to the true labels" in sentence(
        Facts(crowd, known=every)
    )
    some = {item: TRUTH[item] for item in list(TRUTH)[:50]}
    assert "50 of them were compared with true labels." in sentence(Facts(crowd, known=some))


def test_states_add_up_and_actions_name_their_counts(stacked):
    found = stacked
    shown = head(found)
    assert sum(n for _, n, _ in shown.bar) == found.data.n_items
    assert len(shown.actions) <= 4
    contested = found.states["contested"]
    assert shown.actions[0].title == f"Decide {contested} items"
    (coders,) = (each for each in shown.actions if each.href == "#coders-section")
    for name in found.flagged["coder"][:3]:
        assert name in coders.title
    assert re.fullmatch(r"Check \d+ random items", shown.actions[-1].title)
    assert "errors that all coders share" in shown.actions[-1].about


def test_an_audit_is_said_to_narrow_the_interval_only_if_it_does(found):
    """The size halves the interval; an audit that narrows by less than a fifth is for errors."""
    fit = found.fit
    items, prior = Items(fit), calibration_prior(fit)
    for times in (0.05, 0.2, 0.5, 1.0, 2.0, 5.0):
        of, now = found.wrong, found.wrong.gold_high - found.wrong.gold_low
        wrong = dataclasses.replace(of, gold_high=of.gold_low + times * now)
        facts = changed(found, wrong=wrong)
        size, share = facts.to_audit
        if size >= of.n:
            assert head(facts).actions[-1].title == f"Check all {of.n} items"
            continue
        after = forecast_widths(items.p, items.open(), prior, (size,))[0][1] * of.n / (times * now)
        about = head(facts).actions[-1].about
        assert ("half as wide" in about) == (share == AUDIT_GOAL)
        if "half as wide" in about:
            assert after <= 1.2 * AUDIT_GOAL
        assert ("narrower" in about or "half as wide" in about) == (share <= AUDIT_WORTH)
        assert size <= AUDIT_MOST


def test_labels_are_bought_for_items_that_need_some_and_no_others(stacked):
    found = stacked
    plan, need = found.following.table, np.flatnonzero(found.state == 1)
    names = {found.data.items[i] for i in need}
    assert set(plan["item"]) <= names
    (buy,) = (each for each in head(found).actions if each.href == "#labels-to-buy")
    bought = plan["item"].nunique()
    whose = f"{bought} of the " * (bought < len(need)) + f"{len(need)} items that need labels"
    assert buy.title == f"Buy {len(plan)} labels"
    assert buy.about.startswith(f"for {whose}: up to ")


@pytest.mark.parametrize("told", ["audit", "test"])
def test_no_label_is_bought_by_probabilities_that_known_truth_contradicts(stacked, told):
    """Screen, section, file and command rest on one result, which says why it is empty."""
    fit = stacked.fit
    gold, plan = fit.gold().table.set_index("item")["label"], am.audit(fit, 60, seed=1)
    other = {"neg": "pos", "neu": "neg", "pos": "neu"}
    answers = {item: gold[item] for item in plan.table["item"]}
    answers |= {item: other[answers[item]] for item in plan.table["item"][:40]}
    if told == "audit":
        estimate = am.estimate(fit, answers, plan, draws=400)
        facts = Facts(estimate.after(fit), estimate=estimate)
        assert facts.fit.next().notes == facts.following.notes
    else:
        facts = Facts(fit, known=answers)
    assert facts.contradicted
    assert len(stacked.following.table)
    asked = facts.following
    assert not len(asked.table)
    assert not asked.finished
    assert not asked.coders["asked"].any()
    assert "known truth contradicts the probabilities" in asked.notes[0]
    assert [part.value for part in labels_to_buy.make(facts)] == [asked.notes[0]]
    assert facts.states["settled"] == 0
    assert "#labels-to-buy" in {each.href for each in head(stacked).actions}
    assert "#labels-to-buy" not in {each.href for each in head(facts).actions}
    assert files_of(facts)["next.csv"] == "item,coder,gain,n,label,probability\n"


def test_nothing_is_left_of_a_quiet_fit(found):
    settled = with_table(found.fit.gold(), state="settled")
    fit = copy.copy(found.fit)
    vars(fit)["gold"] = lambda *_: settled
    calm = changed(
        found,
        fit=fit,
        coders=with_table(
            found.coders,
            kind="good",
            advice="ask",
            p_spammer=0.0,
            p_adversary=0.0,
            p_chance=0.0,
        ),
        following=dataclasses.replace(found.following, table=found.following.table.head(0)),
    )
    assert calm.states["settled"] == found.data.n_items
    assert [each.title for each in head(calm).actions] == [head(found).actions[-1].title]
    failed = dataclasses.replace(found.check, verdict="do not use")
    assert head(changed(found, check=failed)).warning.startswith("Do not use these results yet.")


def test_the_queue_begins_where_a_decision_removes_most(crowd):
    p = crowd.tree["truth"]["p_truth"].values
    known = np.zeros(len(p), bool)
    order = queue(p, known)
    doubt = (1 - p.max(axis=1))[order]
    assert (np.diff(doubt) <= 0).all()
    known[order[0]] = True
    assert queue(p, known)[-1] == order[0]


def test_the_data_of_the_page_are_those_of_the_fit(crowd, found):
    data = json.loads(payload(found, "annomodels run crowd -o out/"))
    assert data["fit"] == crowd.data.fingerprint
    assert data["command"] == "annomodels run crowd -o out-decided --truth decisions.csv"
    assert data["left"] == 0
    assert len(data["items"]) == crowd.data.n_items
    gold = crowd.gold().table.set_index("item")
    for name, label, _, likely, votes, *_ in data["items"]:
        assert data["names"][label] == gold["label"][name]
        assert likely[0] == label
        assert likely[1] == pytest.approx(gold["probability"][name], abs=6e-4)
        assert likely[2] == COLUMNS["probability"].written(gold["probability"][name]).text
        assert len(votes) == 3 * gold["n"][name]


@pytest.mark.parametrize(
    "model", [None, pytest.param("guess-level", marks=pytest.mark.calibration)]
)
def test_page_gold_table_and_reasons_of_one_item_give_the_same_numbers(model):
    """Each averaged over draws of its own, and rare labels differed by a log-odds of 1."""
    data = am.datasets.load("crowd")
    known = dict(list(TRUTH.items())[:20])
    data = data.with_truth(known)
    fit = am.fit(data, *filter(None, [model]), chains=2, draws=300, warmup=60, seed=1)
    page = {each[0]: each[4] for each in json.loads(payload(Facts(fit), ""))["items"]}
    gold, parts = fit.gold().table.set_index("item"), fit.why(list(data.items)).table
    for name, rows in parts.groupby("item", sort=False):
        value = rows.set_index("source")["log_odds"]
        shown = {fit.data.coders[j]: tenths / 10 for j, _, tenths in batched(page[name], 3)}
        assert shown == pytest.approx(value[list(shown)].to_dict(), abs=0.0501)
        if name not in known:
            assert rows["runner_up"].iloc[0] == gold["runner_up"][name]
            for said in gold["why"][name].split(", "):
                source, number = said.rsplit(" ", 1)
                if source in shown:
                    assert float(number) == pytest.approx(value[source], abs=0.0501)


def test_what_does_not_fit_is_left_out_from_the_end(crowd, monkeypatch):
    texts = dict.fromkeys(crowd.data.items, "word " * 400)
    shown = Shown(texts, {"source": dict.fromkeys(crowd.data.items, "x")})
    whole = json.loads(payload(Facts(crowd, shown=shown), ""))
    assert whole["left"] == 0
    assert whole["columns"] == ["source"]
    assert whole["items"][0][7] == "x"
    monkeypatch.setattr("annomodels.reporting.explorer.ROOM", ROOM // 200)
    cut = json.loads(payload(Facts(crowd, shown=shown), ""))
    assert 0 < len(cut["items"]) < 200
    assert cut["left"] == 200 - len(cut["items"])
    assert [each[0] for each in cut["items"]] == [
        each[0] for each in whole["items"][: len(cut["items"])]
    ]


def test_the_tables_of_the_page_are_the_files_of_the_folder(crowd_page, crowd_options):
    html = crowd_page.read_text("utf-8")
    packed = json.loads(re.search(r"id=files-data>(.*?)</script>", html)[1])
    unpacked = zlib.decompress(base64.b64decode(packed["gold.csv"])).decode()
    assert unpacked == crowd_options["files"]["gold.csv"]
    assert list(csv.reader(io.StringIO(unpacked)))[1] == ["=1+1", "</script>"]
