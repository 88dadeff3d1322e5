"""The page of an audited fit: first screen, third lamp, section, advice where there was none."""

import dataclasses
import math
import re

import numpy as np
import pytest

import annomodels as am
from annomodels.errors import AnnotationError
from annomodels.plots.trust import audited
from annomodels.reporting.anonymous import anonymized
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import head
from annomodels.reporting.methods import audit_results, methods, model_error, panel_sentences
from annomodels.reporting.page import page
from annomodels.reporting.parts import badge_of
from annomodels.reporting.sections.details import tables
from annomodels.summaries.trust.findings import TESTED
from annomodels.summaries.trust.known_truth import known_truth_finding, to_be_expected

pytestmark = pytest.mark.slow

MADE = am.datasets.crowd_truth()
TRUTH = {**dict.fromkeys(MADE.ambiguous, "neu"), **MADE.truth}  # an expert decides for a reading


def cuts(fit):
    return {"batch": {item: f"batch {n % 3}" for n, item in enumerate(fit.data.items)}}


def matches(fit):
    return {item: (("A", "B"), ("B", "C"))[n % 2] for n, item in enumerate(fit.data.items)}


def known(items):
    """Answers of an expert, who leaves items with two readings empty."""
    return {item: TRUTH[item] for item in items if item in TRUTH}


def with_truth(fit, size=60):
    """Count the items that an audit draws and that have a true label."""
    return len(known(am.audit(fit, size, seed=1).table["item"]))


def judged(fit, size=60, **options):
    audit = am.audit(fit, size, seed=1)
    answers = known(audit.table["item"])
    return am.estimate(fit, answers, audit, draws=1000, **options)


def as_predicted(fit):
    """Estimate of an audit whose answers are as P(truth) says."""
    audit, rng = am.audit(fit, 60, seed=1), np.random.default_rng(1)
    p = dict(zip(fit.data.items, fit.tree["truth"].to_dataset()["p_truth"].values, strict=True))
    answers = {i: fit.data.labels[rng.choice(3, p=p[i])] for i in audit.table["item"]}
    return am.estimate(fit, answers, audit, draws=400)


@pytest.fixture(scope="module")
def stacked():
    return am.fit(am.datasets.load("crowd"), "stack", chains=2, draws=100, warmup=60, seed=1)


@pytest.fixture(scope="module")
def found(crowd):
    """Estimate of an audit of the crowd, with slices and systems."""
    return judged(crowd, by=cuts(crowd), pairs=matches(crowd))


@pytest.fixture(scope="module")
def chosen(crowd):
    """Estimate of items that nobody drew."""
    return am.estimate(crowd, known(crowd.data.items[:62]), draws=1000)


@pytest.fixture(scope="module")
def facts(crowd, found):
    return Facts(found.after(crowd), estimate=found)


@pytest.fixture(scope="module")
def audited_page(facts):
    return page(facts)


def words_of(html):
    text = re.sub(r"<svg.*?</svg>|<style.*?</style>|<script.*?</script>", "", html, flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", text).replace("\u00a0", " ").split())


def shown_in(found):
    return {key: made.value.rows for key, (made,) in tables(found).items()}


def test_the_first_screen_has_the_audited_numbers(crowd, found, tmp_path):
    html = am.report(crowd, tmp_path / "r.html", estimate=found).read_text("utf-8")
    first = words_of(html.split("<section id=decide")[0])
    left = found.row("still_wrong")
    ends = f"{math.floor(left['low'])} to {math.ceil(left['high'])}"
    assert f"gold labels are wrong ({ends})" in first
    n = with_truth(crowd)  # items with two readings stay empty
    assert f"An expert judged {n} items drawn at random." in first
    assert not re.search(r"Check \d+ random", first)
    text = words_of(html)
    assert model_error(found) in text
    # of the made-up crowd, whose ambiguous items this model takes for plain ones
    assert "! tested on known truth" in text
    said = "The probabilities are too high: more gold labels are wrong than expected. "
    assert re.search(rf"{said}\d+ of {n} audited", first)
    assert first.index(said) < first.index("About ")
    assert " settled" not in first.split("An expert judged")[1].split("Decide")[0]


def test_sentence_and_table_say_one_number(facts, found):
    left = found.row("still_wrong")
    n = 200 - with_truth(facts.fit)
    assert f"About {left['value']:.0f} of {n} gold labels" in head(facts).sentence
    row = next(
        r for r in shown_in(facts.estimate)["overall"] if r[0].text == "wrong gold labels, now"
    )
    assert row[1].text == f"{left['value']:.0f}"
    (said,) = (
        note for note in facts.fit.gold().notes if "expected to be wrong by the audit" in note
    )
    counted = float(re.search(r"labels, ([\d.]+) are", said).group(1))
    assert counted == pytest.approx(left["value"], abs=0.51)  # the note has whole numbers


def test_the_section_has_slices_systems_coders_and_what_more_takes(
    audited_page, facts, found, crowd
):
    html = audited_page
    text = words_of(html.split("<section id=audit-section")[1].split("</section>")[0])
    assert f"judged {with_truth(crowd)} items of the 200" in text
    assert "drawn at random by annomodels audit" in text
    for title in (
        "Gold labels above a probability",
        "Slices",
        "Systems",
        "Audits for a narrower interval",
    ):
        assert title in text
    for sentence in panel_sentences(found):
        assert sentence in text
    shown = shown_in(found)
    assert len(shown["slices"]) == len(found.slices)
    assert len(shown["systems"]) == 3
    assert len(shown["needs"]) == len(found.needs)
    sure = [abs(float(row[-1].value) - 0.5) for row in shown["differences"]]
    assert sure == sorted(sure, reverse=True)
    shown = re.search(r"<table class=data id=audited-coders>(.*?)</table>", html, re.S).group(1)
    assert shown.count("<tr") == crowd.data.n_coders + 1


def test_a_page_without_an_audit_has_no_such_section_and_says_how_to_get_one(crowd, crowd_page):
    html = crowd_page.read_text("utf-8")
    assert "audit-section" not in html
    text, (size, _) = words_of(html), Facts(crowd).to_audit
    assert text.count(f"annomodels audit fit.nc --size {size} -o audit.csv") == 1
    assert "annomodels estimate fit.nc --truth audit.csv" in text
    assert "--truth truth.csv --use test" in text
    assert head(Facts(crowd)).actions[-1].title in text


def test_a_page_that_was_tested_asks_for_no_audit(crowd, audited_page):
    assert not re.search(r"--size \d+ -o audit.csv", words_of(audited_page))
    some = known(crowd.data.items[:40])
    assert not re.search(r"Check \d+ random items", words_of(page(Facts(crowd, known=some))))


@pytest.mark.calibration
def test_an_audit_of_any_model_lights_the_lamp(crowd, stacked):
    for fit in (crowd, stacked):
        assert fit.check(predictive=False).lamps[TESTED] == "not tested"
        told = as_predicted(fit)
        check = told.after(fit).check(predictive=False)
        assert dict(badge_of(check).lamps)[TESTED] == "passed"
        assert check.lamps[TESTED] == "passed"
        (said,) = check.table.query("name == @TESTED")["sentence"]
        assert " of 60 audited gold labels were wrong (expected: " in said


@pytest.mark.few("crowd")
@pytest.mark.parametrize("name", ["crowd", "stacked"])
def test_a_model_that_is_wrong_needs_review(name, request):
    fit = request.getfixturevalue(name)
    audit = am.audit(fit, 60, seed=1)
    runner = dict(zip(fit.data.items, fit.gold().table["runner_up"], strict=True))
    wrong = {item: runner[item] for item in audit.table["item"]}
    found = am.estimate(fit, wrong, audit, draws=400)
    check = found.after(fit).check(predictive=False)
    assert check.lamps[TESTED] == "needs review"
    assert check.verdict == "needs review"
    assert "60 of 60 audited gold labels were wrong" in " ".join(check.sentences)
    assert "overconfident" in model_error(found)


@pytest.mark.calibration
def test_items_that_nobody_drew_light_no_lamp_and_guarantee_nothing(crowd, stacked, chosen):
    answers = known(stacked.data.items[:62])
    of_stack = am.estimate(stacked, answers, draws=1000)
    for fit, found in ((crowd, chosen), (stacked, of_stack)):
        after = found.after(fit)
        assert after.check(predictive=False).lamps[TESTED] == "not tested"
        text = words_of(page(Facts(after, estimate=found)))
        assert "tested on known truth: not yet" in text
        assert f"An expert judged {len(answers)} items that were not drawn at random." in text
        assert "no coverage is guaranteed" in text
        assert "Audited coders" not in text
        assert "by the conservative model" in text


def test_few_audited_items_test_nothing(crowd):
    few = judged(crowd, 12)
    assert few.after(crowd).check(predictive=False).lamps[TESTED] == "not tested"


def test_what_is_expected_is_that_of_exactly_these_items(crowd):
    p = crowd.tree["truth"].to_dataset()["p_truth"].values
    best, wrong = p.argmax(axis=1), 1 - p.max(axis=1)
    doubtful, sure = np.argsort(-wrong)[:30], np.argsort(wrong)[:30]
    for items in (doubtful, sure):
        drawn = to_be_expected(crowd.tree, crowd.data, items, best[items])
        spread = np.sqrt((wrong[items] * (1 - wrong[items])).sum())
        assert drawn.mean() == pytest.approx(wrong[items].sum(), abs=0.02 + 0.3 * spread)
    backwards = to_be_expected(crowd.tree, crowd.data, doubtful[::-1], best[doubtful[::-1]])
    assert backwards.mean() == pytest.approx(wrong[doubtful].sum(), abs=0.3 * spread + 1)


def test_the_lamp_does_not_depend_on_the_chances(crowd):
    wrong = 1 - crowd.tree["truth"].to_dataset()["p_truth"].values.max(axis=1)
    # doubtful items only: many are wrong, which is what was to be expected of them
    of_truth = [n for n in np.argsort(-wrong) if crowd.data.items[n] in TRUTH][:40]
    doubtful = [crowd.data.items[n] for n in of_truth]
    answers, tested = known(doubtful), []
    for weights in ((5.0, 5.0), (4.0, 6.0)):
        each = dict(zip(doubtful, 20 * weights, strict=True))
        found = am.estimate(crowd, answers, weights=each, draws=400)
        after = found.after(crowd)
        tested.append((known_truth_finding(after.tree, after.data), after))
    (finding, after), (other, _) = tested
    assert finding == other
    gold = crowd.gold().table.set_index("item")["label"]
    number = sum(gold[item] != TRUTH[item] for item in doubtful)
    assert finding.value == pytest.approx(number / 40)
    expected = after.tree["audit"]["expected_wrong"].values
    low, high = np.quantile(expected, [0.025, 0.975])
    assert (finding.severity == 0) == (low <= number <= high)
    # of exactly these items, not of 40 like all others: their P(truth), within Monte Carlo error
    mine = wrong[of_truth]
    error = np.sqrt((mine * (1 - mine)).sum() / len(expected))
    assert expected.mean() == pytest.approx(mine.sum(), abs=3 * error)
    assert mine.sum() > 40 * wrong.mean() + 6 * error


def test_an_estimate_of_another_fit_is_refused(crowd, stacked, found, tmp_path):
    with pytest.raises(AnnotationError, match="belongs to other data"):
        am.report(stacked, tmp_path / "r.html", estimate=found)
    other = am.fit(am.datasets.load("anesthesia"), "hierarchical", chains=2, draws=40, seed=1)
    with pytest.raises(AnnotationError, match="belongs to other data"):
        am.report(other, tmp_path / "r.html", estimate=found)
    with pytest.raises(AnnotationError, match=r"Use estimate\.after\(fit\)"):
        Facts(crowd, estimate=found)
    assert not list(tmp_path.iterdir())


def test_coders_stay_anonymous_after_an_audit(crowd, found, tmp_path):
    html = am.report(crowd, tmp_path / "r.html", estimate=found, anonymize=True).read_text("utf-8")
    assert not [name for name in crowd.data.coders if re.search(rf"\b{name}\b", html)]
    shown = Facts(found.after(anonymized(crowd)), estimate=found).estimate
    numbers = ["share_right", "audited"]
    assert shown.coders[numbers].equals(found.coders[numbers])
    assert set(shown.coders["coder"]) == {f"coder {n + 1}" for n in range(crowd.data.n_coders)}


def test_a_fit_after_an_audit_is_saved_and_compared_as_before(crowd, found, tmp_path):
    after = found.after(crowd)
    loaded = am.load(after.save(tmp_path / "fit.nc"))
    assert loaded.check(predictive=False).lamps == after.check(predictive=False).lamps
    facts = Facts(loaded, estimate=found)
    assert facts.fingerprint == crowd.data.fingerprint
    rival = am.fit(crowd.data, "pooled", chains=2, draws=100, warmup=50, seed=1)
    alone = Facts(crowd, others=[rival]).comparison.table
    assert Facts(after, others=[rival], estimate=found).comparison.table.equals(alone)


def test_methods_tell_of_the_audit(facts, found, chosen, crowd):
    text = methods(facts)
    assert audit_results(facts) in text
    assert "the model alone" not in text
    assert "were held fixed" not in text
    after = Facts(chosen.after(crowd), estimate=chosen)
    assert "no coverage is guaranteed" in methods(after)


@pytest.mark.calibration
def test_a_part_of_the_items_is_named(crowd):
    among = crowd.data.items[:120]
    audit = am.audit(crowd, 40, seed=1, among=among)
    found = am.estimate(crowd, known(audit.table["item"]), audit, draws=400)
    text = words_of(page(Facts(found.after(crowd), estimate=found)))
    assert "the 120 items that could be drawn, of 200 without a known label" in text


def test_the_panel_is_told_in_words(found):
    rows = found.panel.copy()
    # the intervals of these two covered too seldom, so they have none
    bare = rows[rows["coder"] == ""]
    assert bare["quantity"].tolist() == ["effective_coders", "error_correlation"]
    assert bare[["low", "high"]].isna().all(axis=None)
    assert rows[rows["coder"] != ""][["low", "high"]].notna().all(axis=None)
    rows.loc[rows["quantity"] == "effective_coders", "value"] = 2.0
    better = rows["quantity"] == "gold_less_best_coder"
    rows.loc[better, ["value", "low", "high"]] = 0.05, 0.02, 0.08
    first, second = panel_sentences(dataclasses.replace(found, panel=rows))
    assert first.startswith("Your 24 coders are worth about 2 independent ones, because")
    assert second.endswith(
        "5.0 percentage points better (2.0 to 8.0): the panel beats its best coder."
    )
    rows.loc[better, ["value", "low", "high"]] = -0.05, -0.08, -0.02
    assert (
        "one coder alone beats the panel"
        in panel_sentences(dataclasses.replace(found, panel=rows))[1]
    )


def test_the_figure_has_three_intervals_in_each_row(found, chosen, crowd):
    (axes,) = audited(found).axes
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["gold labels right", *crowd.data.labels]
    assert [line.get_label() for line in axes.lines] == [
        "audit and model",
        "audit alone",
        "model alone",
    ]
    (axes,) = audited(chosen).axes
    assert [line.get_label() for line in axes.lines] == ["conservative model", "model alone"]
