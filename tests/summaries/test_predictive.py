"""Posterior predictive checks: silent when the model is true, loud when it is not."""

import numpy as np
import pytest

import annomodels as am
from annomodels.data.annotations import Annotations
from annomodels.models import MODELS
from annomodels.summaries.trust.predictive import (
    BY_CHANCE,
    FITS,
    OF_ITEMS,
    RULES,
    CheckRows,
    aspects,
    next_model,
    reproduced,
)

# Espeland & Handelman 1989, as tabled by Carpenter 2008: calls of five dentists, number of X-rays
CARIES = (
    "00000:1880 00001:789 00010:43 00011:75 00100:23 00101:63 00110:8 00111:22 01000:188 01001:191 "
    "01010:17 01011:67 01100:15 01101:85 01110:8 01111:56 10000:22 10001:26 10010:6 10011:14 "
    "10100:1 10101:20 10110:2 10111:17 11000:2 11001:20 11010:6 11011:27 11100:3 11101:72 11110:1 "
    "11111:100"
)


@pytest.fixture(scope="module")
def caries(make):
    cells = [cell.split(":") for cell in CARIES.split()]
    calls = np.repeat(
        [[int(c) for c in calls] for calls, _ in cells], [int(n) for _, n in cells], axis=0
    )
    n_items = len(calls)
    data = make.coded(
        np.repeat(np.arange(n_items), 5),
        np.tile(np.arange(5), n_items),
        calls.ravel(),
        n_items,
        5,
        2,
    )
    return data, make.gibbs(data, chains=2, draws=200, warmup=150)


@pytest.mark.slow
def test_caries_rejects_dawid_skene_espeland_handelman_1989(caries):
    data, tree = caries
    found = aspects(tree, data)[0]
    table = found.table.set_index("statistic")
    cells = table.iloc[:6]
    np.testing.assert_array_equal(cells["observed"], [1880, 1065, 404, 247, 173, 100])
    published = [1834.6, 1156.9, 313.1, 289.7, 215.9, 58.8]
    np.testing.assert_allclose(cells["expected"], published, rtol=0.03)
    assert table.loc["votes, chi-square", "p_value"] < 0.01
    assert table.loc["votes, chi-square", "verdict"] != "fits"
    assert table.loc["errors on the same items", "p_value"] < 0.01
    assert "are not spread over the items" in found.notes[0]
    assert (
        table.loc[["items with 2 of 5 labels b"], "verdict"].item() == "more than the model expects"
    )


@pytest.mark.calibration
@pytest.mark.few("2-5")
@pytest.mark.parametrize(("n_labels", "per_item"), [(2, 5), (4, 6)])
def test_a_true_model_is_not_rejected(make, n_labels, per_item):
    accuracy = np.linspace(0.5, 0.95, 15)
    rejected = []
    for seed in range(4):
        world = make.world(
            seed, n_items=300, n_coders=15, n_labels=n_labels, per_item=per_item, accuracy=accuracy
        )
        _, found = aspects(make.gibbs(world.data, draws=150), world.data)
        rejected += [aspect.state != "fine" for aspect in found]
    assert len(rejected) == 28
    assert sum(rejected) <= 2


@pytest.mark.slow
def test_a_copying_coder_is_named(make):
    world = make.world(n_items=300, n_coders=10, per_item=10, accuracy=0.75)
    data = world.data
    label = data.label.copy().reshape(300, 10)
    label[:, 4] = np.where(np.random.default_rng(1).random(300) < 0.6, label[:, 1], label[:, 4])
    data = data.replace(label=label.ravel())
    found = aspects(make.gibbs(data), data)[0]
    row = found.table[found.table["statistic"] == "c1 and c4 agree"]
    assert row["verdict"].item() == "more than the model expects"
    assert any("c1 and c4 agree more often" in note for note in found.notes)


def test_the_pooled_model_cannot_reproduce_coders(make):
    world = make.world(n_items=300, n_coders=6, per_item=6)
    confusion = world.confusion.copy()
    confusion[2] = [[0.1, 0.9], [0.1, 0.9]]
    data = make.annotate(np.random.default_rng(2), world.truth, confusion, 6)
    tree = make.exact(data, world.prevalence, confusion.mean(axis=0))
    summary, found = aspects(tree, data)
    use = next(aspect for aspect in found if aspect.code == "use_of_labels")
    assert use.state != "fine"
    assert "c2 says" in use.values["which"]
    assert "c2 says" in " ".join(summary.notes)


def test_p_values_count_ties_half_and_see_both_sides():
    seen = np.array([0.0, 1.0, 1.0, 2.0] * 50)
    rows = CheckRows()
    assert rows.two_sided("middle", 1.0, seen).p_value == 0.5
    assert not rows.two_sided("high", 3.0, seen).fits
    assert not rows.two_sided("low", -1.0, seen).fits
    verdicts = rows.table()["verdict"].tolist()
    assert verdicts == [FITS, "more than the model expects", "less than the model expects"]


def test_a_value_outside_its_interval_is_not_said_to_fit():
    """The worst of many entries is often outside, which its own p-value allows for."""
    seen = np.random.default_rng(0).normal(size=(400, 50))
    rows = CheckRows()
    rows.worst([f"c{n}" for n in range(50)], np.append(np.zeros(49), 2.5), seen)
    table = rows.table()
    inside = table["observed"].between(table["low"], table["high"])
    assert table["verdict"].tolist() == [FITS if each else BY_CHANCE for each in inside]
    assert not inside.all()


@pytest.mark.parametrize(("ratio", "warned"), [(1.06, False), (1.09, False), (1.11, True)])
def test_what_is_significant_must_also_matter(make, ratio, warned):
    """Errors with 1.06 times the variance are sure on many items, and change no number."""
    from annomodels.summaries.trust.checks import check

    world = make.world(n_items=60, n_coders=4, per_item=4)
    tree = make.gibbs(world.data, chains=2, draws=200, warmup=100)
    seen = CheckRows().realised("errors on the same items", np.full(200, ratio), np.full(200, 1.0))
    assert not seen.fits
    finding = reproduced("errors_on_the_same_items", seen, times=ratio)
    found = check(tree, world.data, [finding])
    assert bool(finding.severity) is warned
    assert (finding.said in found.details) is not warned
    assert (finding.said in found.sentences) is warned


@pytest.mark.slow
def test_many_coders_raise_no_false_alarm(rng):
    """The p-value of the worst of 100 entries is uniform, not that of one entry alone."""
    seen = rng.normal(size=(2000, 100))
    p = [CheckRows().worst(["x"] * 100, rng.normal(size=100), seen).p_value for _ in range(200)]
    assert 0.35 < np.mean(p) < 0.65
    assert np.mean(np.array(p) < 0.05) < 0.12


def test_few_draws_serve_more_than_once(make):
    world = make.world(n_items=60, n_coders=4, per_item=3)
    tree = make.exact(world.data, world.prevalence, world.confusion, engine="em")
    found = aspects(tree, world.data)[0]
    assert found.draws.sizes["draw"] >= 100
    assert (found.table["high"] >= found.table["low"]).all()


def test_single_labels_have_no_votes_to_compare():
    data = Annotations.from_records([(i, i % 3, "ab"[i % 2]) for i in range(30)])
    from annomodels.summaries.trust.predictive import Assignment

    assert not Assignment(data).has_pairs


def test_alpha_of_replicates_is_that_of_the_coefficients(rng):
    from annomodels.summaries.trust.predictive import Assignment

    rows = [(i, int(j), int(rng.integers(3))) for i in range(40) for j in rng.permutation(5)[:3]]
    rows += [(40, 0, 1), (41, 1, 2), (41, 4, 2)]
    data = am.Annotations.from_records(rows, labels=range(3))
    design = Assignment(data)
    expected = am.agreement(data, "alpha", draws=0).value
    assert design.alpha(design.votes(data.label)) == pytest.approx(expected, abs=1e-12)


def test_replicates_without_variation_leave_no_row_that_is_not_a_number():
    rows = [(i, j, "x" if (i, j) != (0, 0) else "y") for i in range(6) for j in range(3)]
    fit = am.fit(
        am.Annotations.from_records(rows), "hierarchical", chains=2, draws=60, seed=1, extend=False
    )
    table = fit.predictive().table
    assert np.isfinite(table[["observed", "expected", "low", "high"]].to_numpy()).all()


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
                    assert labels > 2 or found.values["other"] != "ambiguous"
