"""The verdict on a result: warnings have a size and a consequence, the worst stands first."""

from pathlib import Path

import numpy as np
import pytest

import annomodels as am
from annomodels.limits import LONG_SCALE, P_OFF
from annomodels.summaries.coders import spammers
from annomodels.summaries.skills import CoderDraws
from annomodels.summaries.trust import known_truth
from annomodels.summaries.trust.checks import check, judged
from annomodels.summaries.trust.convergence import Results, chains_apart, fit_findings
from annomodels.summaries.trust.findings import (
    CODERS,
    FITS,
    FORBIDS,
    MESSAGES,
    REVIEW,
    TESTED,
    Finding,
    scale_of,
)

PACKAGE = Path(am.__file__).parent


def test_every_warning_says_first_what_it_does_to_the_result():
    """What was found is a concern with an effect, or noted; and every message is used."""
    code = "".join(path.read_text("utf-8") for path in (PACKAGE / "summaries").rglob("*.py"))
    found = {
        (name, state): bool(message.get("effect")) != message.get("noted", False)
        for name, about in MESSAGES.items()
        for state, message in about.items()
        if isinstance(message, dict)
    }
    assert len(found) > 50
    assert not [each for each, fine in found.items() if not fine]
    assert not [name for each in found for name in each if f'"{name}"' not in code]


def test_a_warning_begins_with_its_effect(make):
    found = Finding("x", 1, 0, "There are three copies.", REVIEW, effect="Gold labels are off.")
    assert judged([found], "").sentences == ("Gold labels are off. There are three copies.",)


def finding(name, severity, lamp):
    return Finding(name, 1, 0, f"Found {name}.", severity, lamp, f"Effect of {name}.")


def test_the_worst_stands_first_and_known_truth_before_all():
    some = [
        finding("coders", REVIEW, CODERS),
        finding("labels", REVIEW, "fits the labels"),
        finding("run", FORBIDS, "computed well"),
        finding("truth", REVIEW, TESTED),
    ]
    said = judged(some, "").sentences
    assert [each.split()[2].strip(".") for each in said] == ["truth", "run", "labels", "coders"]


def test_findings_about_coders_stand_under_coders_and_leave_the_verdict():
    found = judged([finding("swaps", REVIEW, CODERS)], "All well.")
    assert found.verdict == "no problem found"
    assert found.lamps["coders"] == "see advice"
    assert found.lamps["fits the labels"] != "needs review"
    assert found.sentences[0].startswith("All well.")
    assert found.of_coders == ["Effect of swaps. Found swaps."]


def test_what_is_small_is_a_detail():
    small = Finding("x", 1.06, 1.25, "Errors gather a little.", noted=True)
    found = judged([small], "All well.")
    assert found.verdict == "no problem found"
    assert found.details == ("Errors gather a little.",)
    assert not any("gather" in text for text in found.sentences)


@pytest.fixture(scope="module")
def apart(make):
    """Fit of which one chain has another accuracy of one coder, and the same truths."""
    world = make.world(2, n_items=300, n_coders=8, per_item=6)
    tree = make.gibbs(world.data, chains=4, draws=200, warmup=100)
    values = tree["posterior"]["confusion"].values
    values[0, :, 0] = 0.5 * values[0, :, 0] + 0.5 * np.eye(2)
    return world.data, tree


@pytest.mark.slow
def test_chains_that_differ_in_a_coder_only_do_not_forbid_the_result(apart):
    data, tree = apart
    found = check(tree, data)
    row = found.table.set_index("name").loc["R-hat"]
    assert row["ok"]
    assert "R-hat of the accuracy" in row["sentence"]
    assert found.verdict == "no problem found"
    # judged by parameters alone, the same run is not to be used
    assert max(each.severity for each in fit_findings(tree, data)) == FORBIDS


@pytest.mark.parametrize(
    ("results", "severity"),
    [
        (Results(1.01, 500, 0.001), 0),
        (Results(1.07, 500, 0.001), REVIEW),
        (Results(1.2, 500, 0.001), FORBIDS),
        (Results(1.01, 500, 0.03), REVIEW),
        (Results(1.01, 60, 0.001), REVIEW),
        (Results(1.01, 20, 0.001), FORBIDS),
    ],
)
def test_wrong_labels_shares_and_probabilities_decide(apart, results, severity):
    data, tree = apart
    first = fit_findings(tree, data, results)[:2]
    assert max(each.severity for each in first) == severity


def crowd_with_splits(wrong):
    """Make a crowd that splits on known items; `wrong` other known labels are turned."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200)
    y = np.where(rng.random((200, 10)) < 0.85, truth[:, None], 1 - truth[:, None])
    y[:6] = np.arange(10) < 3
    known = {f"i{i:03d}": "ab"[1] for i in range(6)}  # the reading of the smaller part
    known |= {f"i{i:03d}": "ab"[truth[i]] for i in range(6, 50)}
    turned = [i for i in range(6, 50) if (y[i] == truth[i]).sum() >= 9][:wrong]
    known |= {f"i{i:03d}": "ab"[1 - truth[i]] for i in turned}
    rows = [(f"i{i:03d}", f"c{j}", "ab"[y[i, j]]) for i in range(200) for j in range(10)]
    return am.Annotations.from_records(rows, truth=known)


@pytest.mark.parametrize(("wrong", "warned"), [(0, False), (6, True)])
def test_decided_items_on_which_coders_split_do_not_contradict_them(wrong, warned):
    from annomodels.summaries.trust.patterns import patterns

    found = {each.code: each for each in patterns(crowd_with_splits(wrong))}
    assert bool(found["known_labels_against_the_coders"].severity) is warned


@pytest.mark.parametrize(
    ("wrong", "severity", "against"),
    [(6, 0, False), (20, REVIEW, True), (0, REVIEW, False)],
)
def test_known_truth_confirms_or_contradicts(wrong, severity, against):
    drawn = np.random.default_rng(0).binomial(100, 0.06, 400).astype(float)
    found = known_truth._finding(wrong, 100, drawn, "audited")
    assert (found.severity, known_truth.contradicted(found)) == (severity, against)
    verdict = judged([found], "").verdict
    assert verdict == ("needs review" if severity else "confirmed")


def near_misses(points: int, shuffled: bool = False) -> am.Annotations:
    """Labels of 80 items on a scale: errors are one point away, whatever the points are called."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, points, 80)
    off = rng.choice([-1, 0, 0, 1], (80, 4))
    given = np.clip(truth[:, None] + off, 0, points - 1)
    name = rng.permutation(points) if shuffled else np.arange(points)
    rows = [(i, f"c{j}", int(name[label])) for (i, j), label in np.ndenumerate(given)]
    return am.Annotations.from_records(rows)


@pytest.mark.parametrize(("points", "shuffled", "tested", "verdict"), [
    (4, False, False, "no problem found"),
    (5, False, False, "needs review"),
    (9, False, False, "needs review"),
    (6, True, False, "no problem found"),
    (9, True, False, "no problem found"),
    (5, False, True, "confirmed"),
])  # fmt: skip
def test_a_long_rating_scale_asks_for_an_audit(points, shuffled, tested, verdict):
    """Numbers that only name classes, such as codes of genres, are no rating scale."""
    found = [scale_of(near_misses(points, shuffled))]
    found += [Finding("test", 0, 0, "As expected.", lamp=TESTED)] if tested else []
    assert judged(found, "").verdict == verdict


@pytest.mark.slow
@pytest.mark.parametrize("model", ["stack", "dawid-skene"])
def test_a_long_rating_scale_is_named_before_and_after_a_fit_of_the_default(model):
    data = near_misses(LONG_SCALE)
    said = scale_of(data).said
    found = am.fit(data, model, seed=1, draws=100).check()
    assert (said in found.sentences) == (model == "stack")
    assert said in am.advise(data).notes


def test_few_different_labels_or_a_declared_order_are_taken_at_their_word():
    """Between two labels there is no order to compare; nor is one needed that is declared."""
    rows = [(i, j, 4 + (i + j) % 2) for i in range(20) for j in range(3)]
    two = am.Annotations.from_records(rows, labels=[1, 2, 3, 4, 5])
    alike = am.Annotations.from_records([(i, j, 1 + i % 7) for i in range(30) for j in range(3)])
    shuffled = near_misses(6, shuffled=True)
    ordinal = am.Annotations.from_frame(shuffled.to_frame(), scale="ordinal")
    assert scale_of(two).severity
    assert scale_of(alike).severity
    assert not scale_of(shuffled).severity
    assert scale_of(ordinal).severity


@pytest.mark.slow
def test_a_scan_finds_the_same_rating_scale(tmp_path):
    data = near_misses(LONG_SCALE)
    data.to_frame().to_csv(tmp_path / "labels.csv", index=False)
    fit = am.fit(am.scan(tmp_path / "labels.csv"), seed=1, draws=50)
    assert scale_of(data).said in fit.check().sentences


def test_messages_name_no_command_as_a_verdict():
    """'check' is a command; no verdict is called so."""
    from annomodels.summaries.trust.checks import LAMPS, UNTESTED, VERDICTS

    assert not {"check", "trust", "amber", "green", "grey"} & {*VERDICTS, *LAMPS, UNTESTED}


def halves_of(chains: int, draws: int, shift: float, seed: int) -> np.ndarray:
    """Make means over halves of independent draws; the first chain is shifted."""
    rng = np.random.default_rng(seed)
    p = rng.beta(4, 2, (chains, draws, 300))
    p[0] += shift
    means = p.reshape(chains, 2, draws // 2, 300).mean(axis=2)
    return np.stack([means, 1 - means], axis=-1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("draws", [20, 50, 200])
def test_chains_that_agree_are_not_apart_however_few_their_draws(draws: int, seed: int) -> None:
    halves = halves_of(4, draws, 0.0, seed)
    mean = halves.mean(axis=1)
    plain = np.abs(mean - mean.mean(axis=0)).sum(axis=2).mean(axis=1).max() / 2
    assert plain > (P_OFF if draws < 30 else 0)  # the noise alone is beyond the limit
    assert chains_apart(halves) < (P_OFF if draws < 30 else P_OFF / 2)


@pytest.mark.parametrize("draws", [50, 200])
def test_chains_that_differ_are_as_far_apart_as_they_are(draws: int) -> None:
    # the mean of four chains moves by a quarter of the shift of one
    assert chains_apart(halves_of(4, draws, 0.08, 1)) == pytest.approx(0.06, abs=0.012)


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
