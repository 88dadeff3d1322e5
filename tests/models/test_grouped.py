"""Groups of coders: a population each; with one group, the hierarchical model draw by draw."""

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.em import climb
from annomodels.engines.starts import state_from_shares, vote_shares
from annomodels.models.base import State
from annomodels.models.encoded import encode
from tests.models.enumeration import tiny


def grouped(data, **priors):
    """Coders 0 and 2 in one group, the others in another."""
    return am.models.GroupedCoders(groups={0: "a", 2: "a"}, rest="b", **priors).with_data(data)


@pytest.mark.calibration
@pytest.mark.slow
def test_one_group_is_the_hierarchical_model_draw_by_draw():
    data = am.datasets.load("anesthesia")
    one = am.models.GroupedCoders(groups=dict.fromkeys(data.coders, "all"))
    for engine in ("gibbs", "em"):
        fits = [
            am.fit(
                data,
                model,
                engine=engine,
                chains=2,
                draws=40,
                warmup=20,
                seed=4,
                **({"starts": 2} if engine == "em" else {"extend": False}),
            )
            for model in (one, am.models.HierarchicalDawidSkene())
        ]
        posteriors = [fit.tree["posterior"].to_dataset() for fit in fits]
        assert set(posteriors[0]) == set(posteriors[1])
        for name in posteriors[0]:
            np.testing.assert_array_equal(*(each[name].values for each in posteriors))
        assert fits[0].groups(dict.fromkeys(data.coders, "all")).table.shape[0] == 1


@pytest.mark.slow
def test_em_with_groups_never_goes_down_and_starts_nuts_with_its_variables(rng):
    data = tiny(rng, n_items=12, n_coders=4)
    model, codes = grouped(data), encode(data)
    mode = climb(model, codes, state_from_shares(model, codes, vote_shares(codes)))
    assert (np.diff(mode.trace) > -1e-9 * abs(mode.objective)).all()
    found = model.pymc_start(mode.state)
    assert found["group_population"].shape == (2, 3, 3)
    assert found["group_accuracy"].shape == (2,)
    np.testing.assert_allclose(found["group_population"].sum(axis=-1), 1.0)


def test_classes_change_places_in_all_groups(rng):
    mean, concentration = rng.random((2, 3, 3)), rng.random((2, 3))
    right = np.array([0.6, 0.8])
    held = {"group_population": mean, "group_concentration": concentration, "group_accuracy": right}
    state = State(rng.random(3), rng.random((4, 3, 3)), held)
    model = am.models.GroupedCoders(members=(0, 1, 0, 1))
    found = model.ordered(state, np.array([1, 2, 0])).population
    np.testing.assert_array_equal(found["group_population"][:, 1], mean[:, 0])
    np.testing.assert_array_equal(found["group_concentration"][:, 0], concentration[:, 2])
    np.testing.assert_array_equal(found["group_accuracy"], right)


def test_groups_are_written_down_and_strange_names_refused(rng):
    from annomodels.models import from_dict

    data = tiny(rng)
    model = grouped(data)
    assert from_dict(model.to_dict()) == model
    assert model.groups == (("0", "a"), ("1", "b"), ("2", "a"))
    assert model.members == (0, 1, 0)
    assert "a, b" in model.describe()[1]
    with pytest.raises(am.errors.AnnotationError, match="not among the coders: nobody"):
        am.models.GroupedCoders(groups={"nobody": "a"}).with_data(data)
