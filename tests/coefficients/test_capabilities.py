"""What the table of coefficients promises is what the code accepts, and nothing else is."""

import itertools

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients import sums
from annomodels.coefficients.catalogue import COEFFICIENTS, CONVENTION_NAMES
from annomodels.coefficients.distances import make_distance
from annomodels.coefficients.implied import evaluate, implied
from annomodels.coefficients.tables import from_joint
from annomodels.errors import NotApplicable
from tests.coefficients.test_edges import GIVEN

TABLE = am.coefficients.table().set_index("coefficient")
NAMES = list(TABLE.index)


def made(coders, kind="numbers", n_labels=3):
    rng = np.random.default_rng(8)
    truth = rng.integers(0, n_labels, 30)
    names = {"numbers": [1, 2, 4], "words": ["a", "b", "c"], "two": [1, 2]}[kind]
    rows = [
        (i, c, names[t if rng.random() < 0.7 else rng.integers(n_labels)])
        for i, t in enumerate(truth)
        for c in range(coders)
    ]
    return am.Annotations.from_records(rows, labels=names)


def suited(name, coders=2):
    """Give data that the coefficient fits, and what it cannot do without."""
    two = TABLE.loc[name, "labels"] == "two"
    data = made(coders, "two", 2) if two else made(coders)
    return data, ({"chance": np.full(30, 0.4)} if TABLE.loc[name, "chance"] else {})


def accepts(data, name, **options):
    try:
        found = am.agreement(data, name, draws=0, **options)
    except NotApplicable:
        return False
    assert np.isfinite(found.value), name
    return True


def test_the_table_is_the_catalogue():
    assert list(COEFFICIENTS) == NAMES
    assert TABLE["draws"].all()
    assert not TABLE.drop(columns="doi").isna().any().any()
    assert set(TABLE["coders"]) == {"2", "2 or more"}
    assert set(TABLE["labels"]) == {"any", "two", "numbers"}


@pytest.mark.parametrize("name", NAMES)
def test_number_of_coders(name):
    for coders in (2, 3):
        data, given = suited(name, coders)
        declared = coders == 2 or TABLE.loc[name, "coders"] == "2 or more"
        assert accepts(data, name, **given) == declared


@pytest.mark.parametrize("name", NAMES)
def test_kinds_of_labels(name):
    declared = {
        "any": {"numbers", "words", "two"},
        "numbers": {"numbers", "two"},
        "two": {"two"},
    }[TABLE.loc[name, "labels"]]
    _, given = suited(name)
    for kind in ("numbers", "words", "two"):
        data = made(2, kind, 2 if kind == "two" else 3)
        assert accepts(data, name, **given) == (kind in declared), kind


@pytest.mark.parametrize(
    ("name", "missing"), list(itertools.product(NAMES, CONVENTION_NAMES)), ids="-".join
)
def test_conventions_for_missing_labels(name, missing):
    data, given = suited(name)
    declared = missing in TABLE.loc[name, "missing"].split(", ")
    assert accepts(data, name, missing=missing, **given) == declared


@pytest.mark.parametrize("name", NAMES)
def test_distances(name):
    """Kappa and AC1 become weighted kappa and AC2; the others take what is declared."""
    data, given = suited(name)
    takes = TABLE.loc[name, "distance"]
    turns = {"kappa": "weighted_kappa", "ac1": "ac2"}
    for distance in ("nominal", "interval", "quadratic", np.ones((3, 3)) - np.eye(3)):
        named = distance if isinstance(distance, str) else "table"
        declared = takes == "any" or named in ("nominal", takes) or name in turns
        if data.n_labels == 2 and named == "table":
            continue
        assert accepts(data, name, distance=distance, **given) == declared, named
    if name in turns:
        found = am.agreement(data, name, distance="quadratic", draws=0)
        assert found.name == turns[name]
        assert "with the distance quadratic is" in found.note
        same = am.agreement(data, turns[name], distance="quadratic", draws=0)
        assert found.value == same.value


@pytest.mark.parametrize("name", NAMES)
def test_margins_and_chance(name):
    data, given = suited(name)
    even = dict.fromkeys(data.labels, 1 / data.n_labels)
    assert accepts(data, name, margins=even, **given) == TABLE.loc[name, "margins"]
    takes_chance = TABLE.loc[name, "chance"]
    assert accepts(data, name, chance=np.full(30, 0.4)) == takes_chance
    assert accepts(data, name) == (not takes_chance)


@pytest.mark.parametrize("name", NAMES)
def test_draws(name):
    data, given = suited(name)
    found = am.agreement(data, name, draws=50, **given)
    assert found.draws.shape == (50,)
    assert np.isfinite(found.draws).all()
    assert np.ptp(found.draws) > 0
    parts = found.parts()
    assert np.array_equal(parts.value, found.draws)


@pytest.mark.parametrize("name", NAMES)
def test_analytic_errors(name):
    data, given = suited(name)
    found = am.agreement(data, name, draws=0, **given)
    if TABLE.loc[name, "analytic"]:
        error = found.analytic()
        assert error.low < found.value < error.high
        assert error.value == found.value
    else:
        with pytest.raises(NotApplicable):
            found.analytic()


@pytest.mark.parametrize("name", NAMES)
def test_what_a_model_implies(name):
    coder = np.array([[0.8, 0.2], [0.3, 0.7]])
    arguments = ([[0.5, 0.5]], [[coder, coder]], name)
    joint = from_joint([[40, 9], [6, 45]], n=np.inf)
    distance = make_distance(
        "interval" if TABLE.loc[name, "labels"] == "numbers" else "nominal",
        [1, 2],
        np.array([1.0, 2.0]),
    )
    if TABLE.loc[name, "model"]:
        assert np.isfinite(implied(*arguments, values=[1.0, 2.0])[name]).all()
        assert np.isfinite(evaluate(name, joint, distance).value)
    else:
        with pytest.raises(NotApplicable, match=r"Use am\.agreement"):
            implied(*arguments)
        with pytest.raises(NotApplicable, match="needs the items"):
            evaluate(name, joint)


@pytest.mark.parametrize(
    ("name", "plain"),
    [("weighted_kappa", "kappa"), ("ac2", "ac1"), ("alpha_kappa", "multi_kappa")],
)
def test_without_a_distance_it_says_that_nothing_is_weighted(name, plain):
    found = am.agreement(made(2, "words"), name, draws=0)
    assert f"Without a distance it is {plain}" in found.note
    assert found.value == pytest.approx(am.agreement(made(2, "words"), plain, draws=0).value)
    assert not am.agreement(made(2), name, distance="linear", draws=0).note


def test_a_panel_of_everything_says_why_something_does_not_apply():
    panel = am.agreement(made(3, "words"), "all", draws=0)
    assert list(panel) == NAMES
    reasons = {name: found.reason for name, found in panel.items()}
    for name in NAMES:
        if TABLE.loc[name, "coders"] == "2":
            assert reasons[name] == "two_coders_only"
        elif TABLE.loc[name, "labels"] == "numbers":
            assert reasons[name] == "needs_numbers"
        else:
            assert reasons[name] == ("needs_chance" if name == "s_item" else "")
        assert np.isnan(panel[name].value) == bool(reasons[name])
        assert bool(panel[name].note) == bool(reasons[name])
    assert panel.table["value"].isna().sum() == sum(map(bool, reasons.values()))


def test_the_name_is_a_folder_and_a_verb():
    import annomodels.coefficients.agreement as module

    assert module.agreement is am.agreement
    assert am.coefficients.agreement is module
    assert len(am.coefficients.table()) == len(COEFFICIENTS)


def test_a_panel_of_names_holds_each_once():
    panel = am.agreement(made(2), ["cohen_kappa", "Cohen's kappa", "fleiss_kappa"], draws=0)
    assert list(panel) == ["kappa", "k"]


@pytest.mark.parametrize(("typed", "name"), GIVEN["names"].items())
def test_names_of_other_packages(typed, name):
    data, given = suited(name)
    assert am.agreement(data, typed, draws=0, **given).name == name


def test_a_panel_sums_the_pairs_of_labels_once_for_each_convention(monkeypatch):
    made_for = []
    whole = sums.of_items

    def counting(rows, convention, values=None):
        made_for.append((convention.name, values is None))
        return whole(rows, convention, values)

    monkeypatch.setattr(sums, "of_items", counting)
    data = made(3)
    am.agreement(data, ["k", "s", "ac1", "alpha", "multi_kappa", "icc_1"], draws=0)
    assert len(made_for) == len(set(made_for)) >= 2
