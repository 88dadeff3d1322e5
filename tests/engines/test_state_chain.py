"""What one chain of a model with states counts for each of the items' own variables."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.item_parameters import ItemParameters, PassCounts
from annomodels.models.encoded import encode
from annomodels.models.mixtures.layout import ExtraRow, Factor, Judgement, Layout, TruthVariable
from annomodels.models.mixtures.state_model import StateModel
from annomodels.models.parameters import Parameter
from annomodels.priors.distributions import DirichletRows
from tests.engines.crowds import alone

pytestmark = pytest.mark.slow

EYE = np.eye(2)
FACTORS = (
    Factor("tempo", np.ones(2), np.array([0, 1, -1, 1]), ("slow", "quick")),
    Factor("place", np.ones(2), np.array([1, 1, 0, -1]), ("here", "there")),
)
ROWS = (ExtraRow("habit", np.ones(2), True), ExtraRow("common", np.ones(2), False))
TABLES = np.array([[[1.0, 0.0]] * 2 + [[0.0, 1.0]] * 2, [[0.0, 1.0]] * 2 + [[1.0, 0.0]] * 2])
LAYOUT = Layout(
    names=("a", "b", "c", "d"),
    mix=np.array([[0.6, 0, 0.3, 0.1], [0.5, 0.5, 0, 0], [0, 1, 0, 0], [0, 0.8, 0, 0.2]]),
    base=np.array([0, 0, 1, 1]),
    truth=np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.0, 1.0]]),
    factors=FACTORS,
    rows=ROWS,
)
TOLD = {
    "truths": replace(LAYOUT, truths=TruthVariable("worth", 1.0 + 3.0 * EYE)),
    "judgement": replace(
        LAYOUT, judgement=Judgement("way", np.ones(2), TABLES, ("straight", "reversed"))
    ),
}


@dataclass(frozen=True)
class Everything(StateModel):
    """Every kind of variable that a layout has."""

    name: ClassVar[str] = "everything"
    title: ClassVar[str] = "everything"
    citation: ClassVar[str] = ""

    coders: am.models.DawidSkene = field(default_factory=am.models.DawidSkene)
    told: str = "truths"

    def layout(self, n_labels):
        return TOLD[self.told]

    def story(self):
        return []


@dataclass(frozen=True)
class Unheard(Everything):
    """One variable more than its layout has."""

    def item_parameters(self, n_labels):
        prior = DirichletRows(np.ones((2, 2)))
        more = Parameter("unheard", ("perceived", "truth"), "simplex", prior=prior)
        return (*super().item_parameters(n_labels), more)


def run_of(model):
    rows = [(i, j, (i * j) % 2) for i in range(6) for j in range(3)]
    data = am.Annotations.from_records(rows, labels=[0, 1], truth={0: 0, 1: 0, 2: 1, 3: 1})
    start = model.coders.sample_parameters(3, 2, np.random.default_rng(1))
    run = alone(model, encode(data, collapse=False), start)
    run.begin()
    return run


@pytest.mark.parametrize("told", TOLD)
def test_each_kind_of_variable_is_given_what_concerns_it(told, rng):
    items = ItemParameters(Everything(told=told), 3, 2)
    counted = PassCounts(
        extra=np.arange(12).reshape(6, 2),
        sizes=np.array([1, 2, 4, 8]),
        golds=np.array([[5, 0], [0, 0], [0, 7], [3, 0]]),
    )
    expected = {"tempo": [1, 10], "place": [4, 3], "common": [15, 21]}
    expected["habit"] = [[0, 2], [4, 6], [8, 10]]
    if told == "truths":  # state 0 is class 0, states 2 and 3 are class 1
        expected["worth"] = [[5, 0], [3, 7]]
    else:  # of items in state 3, truth 0 is reversed
        expected["way"] = [12, 3]
    for name, wanted in expected.items():
        np.testing.assert_array_equal(items.counts_of(name, counted, rng), wanted)
    np.testing.assert_array_equal(items.by_class(counted.sizes), [3, 12])


@pytest.mark.parametrize("told", TOLD)
def test_a_variable_that_the_layout_does_not_have_is_no_truth(told):
    with pytest.raises(am.errors.EngineError, match="cannot sample unheard"):
        run_of(Unheard(told=told)).slice([1], 1, None, None)


@pytest.mark.parametrize("told", TOLD)
def test_a_chain_moves_through_all_kinds(told):
    run = run_of(Everything(told=told))
    own = run.chains[0].own
    before = {name: values.copy() for name, values in own.values.items()}
    run.slice([1], 1, None, None)
    assert set(before) == {each.name for each in own.model.item_parameters(2)} == set(own.values)
    for name, values in own.values.items():
        assert np.abs(values - before[name]).max() > 1e-3
        np.testing.assert_allclose(values.sum(axis=-1), 1.0)


def test_a_layout_says_once_where_the_truth_comes_from_and_names_variables_apart():
    with pytest.raises(ValueError, match="not both"):
        replace(TOLD["truths"], judgement=TOLD["judgement"].judgement)
    with pytest.raises(ValueError, match="different names, not tempo, place, tempo"):
        replace(LAYOUT, rows=(ExtraRow("tempo", np.ones(2), False),))
