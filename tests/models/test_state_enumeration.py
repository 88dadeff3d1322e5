"""Models whose items have states: each against its definition, written out by brute force."""

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.chain import Chain
from annomodels.engines.given import given_by, weigh
from annomodels.engines.source.held import OpenBlock
from annomodels.engines.source.itemsums import ItemSums, Stage
from annomodels.engines.source.jobs import Keeping, sampled
from annomodels.engines.source.partition import cut
from annomodels.models import MODELS, resolve
from annomodels.models.base import n_states
from annomodels.models.encoded import encode
from annomodels.models.mixtures.readings import Readings
from annomodels.models.mixtures.state_model import StateModel
from tests.models.enumeration import tiny
from tests.models.state_definitions import DEFINITIONS, expected, prior_draw

pytestmark = pytest.mark.slow

STATE_MODELS = [name for name, model in MODELS.items() if issubclass(model, StateModel)]


def test_every_state_model_is_written_down_here():
    assert set(DEFINITIONS) == set(STATE_MODELS)


@pytest.mark.parametrize("name", STATE_MODELS)
@pytest.mark.parametrize(("n_labels", "gold"), [(2, False), (3, True)])
def test_a_pass_over_states_equals_the_definition(name, n_labels, gold, rng):
    data, model = tiny(rng, n_labels=n_labels, gold=gold), resolve(name)
    for collapse in (True, False):
        codes = encode(data, collapse=collapse)
        _, values = prior_draw(model, codes, rng)
        finished = model.result_values(values)
        found = model.states({n: v[None] for n, v in finished.items()})
        known, p_truth = expected(data, DEFINITIONS[name](finished, model))
        given = given_by(model, finished)
        stage = Stage(1, 2, found.share.shape[1], len(found.values))
        sums = ItemSums(codes.n_patterns, n_labels, stage)
        total = weigh(codes.arrays, codes.weight, given, sums)
        assert total == pytest.approx(known, rel=1e-10)
        np.testing.assert_allclose(sums.batch[codes.inverse], p_truth, atol=1e-12)
        np.testing.assert_allclose(sums.p_state.sum(axis=1), 1.0)
        assert found.share.sum() == pytest.approx(1.0)
        assert finished["prevalence"].sum() == pytest.approx(1.0)
        np.testing.assert_allclose(finished["confusion"].sum(axis=2), 1.0)


@pytest.mark.parametrize("name", STATE_MODELS)
def test_sampled_states_and_rows_have_the_expected_frequencies(name, rng):
    """A Gibbs pass with the parameters held: shares of states, and of the labels' rows."""
    data, model = tiny(rng, n_labels=3, gold=True), resolve(name)
    codes = encode(data, collapse=False)
    state, values = prior_draw(model, codes, rng)
    chain = Chain(model, codes.volume, state, 1, False)
    chain.own.values = {n: values[n] for n in (each.name for each in model.item_parameters(3))}
    block = OpenBlock(cut(codes, 1).partitions[0], alone=True)
    n_draws, size = 3000, n_states(model, 3)
    stage, sizes = Stage(1, n_draws + 1, size, len(chain.own.names)), np.zeros(size)
    for n in range(n_draws):
        keeping = Keeping(stage, n, [chain.order()], [0])
        drawn = sampled(block, [chain.passing(here=True)], [chain.key], n, keeping)
        counts, extra, of_states, *_ = drawn
        sizes += of_states[0]
    kept = block.sums_of(0, stage)
    p_state = kept.p_state / n_draws
    assert np.ptp(kept.batch / n_draws - expected(
        data, DEFINITIONS[name](model.result_values(values), model)
    )[1]) < 1e-10  # fmt: skip
    np.testing.assert_allclose(p_state.sum(axis=1), 1.0)
    assert np.abs(sizes / n_draws - p_state.sum(axis=0)).max() < 4.5 * np.sqrt(
        data.n_items / n_draws
    )
    # every label was counted once, on one row
    assert counts.sum() + extra.sum() == len(codes.row)


@pytest.mark.few(*(f"{name}-True" for name in STATE_MODELS))
@pytest.mark.nuts
@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize("name", STATE_MODELS)
@pytest.mark.usefixtures("uncompiled")
def test_pymc_density_is_the_definition_plus_the_prior(name, gold, rng):
    """Gibbs and PyMC target one density: the difference does not vary."""
    from pymc.model.transform.conditioning import remove_value_transforms

    data, model = tiny(rng, n_labels=3, gold=gold), resolve(name)
    codes = encode(data)
    labels = data.coords["label"]
    coords = {**{dim: data.coords[dim] for dim in ("truth", "label", "coder")}}
    built = model.build(codes, {**coords, **model.coords(labels)})
    free = [variable.name for variable in built.free_RVs]
    plain = remove_value_transforms(built)
    logp = plain.compile_fn(plain.logp(), inputs=plain.value_vars, mode="FAST_COMPILE")
    differences = []
    for _ in range(5):
        _, values = prior_draw(model, codes, rng)
        while values.get("sharpness", np.ones(1)).min() < 1e-25:  # lp takes 1e-30 for the least
            _, values = prior_draw(model, codes, rng)
        if "spammer" in values:  # idle parameters follow their prior, which Gibbs leaves out
            values["spammer"][:] = 0.0
            state = model.coders.sample_parameters(codes.n_rows, 3, rng)
            while state.population["spammer"].any():
                state = model.coders.sample_parameters(codes.n_rows, 3, rng)
            values |= {n: np.asarray(v) for n, v in model.coders.pymc_start(state).items()}
            values["habit"][:] = 1 / 3
        tiny_ = np.finfo(float).tiny
        point = {n: np.maximum(values[n], tiny_) if values[n].ndim else values[n] for n in free}
        if "spammer" in point:
            point["spammer"] = values["spammer"].astype(int)
        finished = model.result_values(values)
        ours = expected(data, DEFINITIONS[name](finished, model))[0]
        ours += float(model.log_prior({name: v[None] for name, v in finished.items()})[0])
        differences.append(float(logp(point)) - ours)
    assert np.ptp(differences) < 1e-6 * max(1.0, abs(ours))


@pytest.mark.few("ambiguous")
@pytest.mark.parametrize("name", STATE_MODELS)
def test_draws_do_not_depend_on_the_order_of_rows_and_are_repeated_by_a_seed(name, rng):
    data = am.datasets.load("anesthesia")
    fits = [am.fit(data, name, draws=30, warmup=20, chains=2, seed=5, extend=False) for _ in "ab"]
    for variable, values in fits[0].tree["posterior"].data_vars.items():
        np.testing.assert_array_equal(values, fits[1].tree["posterior"][variable])
    p = fits[0].tree["truth"]["p_truth"].values
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


# the more classes, the more the grid spreads what it takes to be several other readings evenly
@pytest.mark.parametrize(("k", "near"), [(2, 0.015), (3, 0.015), (5, 0.07), (20, 0.1)])
def test_the_grid_of_readings_has_the_moments_of_its_dirichlet_distributions(k, near):
    """P(two readers read alike), P(three do) and P(the first class is read), in closed form."""
    model = Readings(concentrations=(0.4, 2.0))
    layout = model.layout(k)
    phi = layout.mix[:, :k] / (1 - model.floor)
    share = layout.weight / k  # all classes equally likely
    assert share.sum() == pytest.approx(1)
    assert share @ phi == pytest.approx(np.full(k, 1 / k))
    total = np.array(model.concentrations)
    two = (total / k + 1) / (total + 1)
    three = two * (total / k + 2) / (total + 2)
    # cells stand at their means, which lie a little further inside
    assert share @ (phi**2).sum(axis=1) == pytest.approx(two.mean(), abs=near)
    assert share @ (phi**3).sum(axis=1) == pytest.approx(three.mean(), abs=near)


def test_items_with_few_labels_are_believed_to_divide_readers_less():
    rows = [(i, j, int(i % 2 == 0)) for i in range(6) for j in range(4)]
    bound = Readings().with_data(am.Annotations.from_records(rows))
    assert bound.labels_per_item == 4
    second = [
        m.layout(2).weight @ m.layout(2).values["second_reading"] for m in (bound, Readings())
    ]
    assert second[0] < 0.6 * second[1]
    assert Readings(labels_per_item=7.0).with_data(am.Annotations.from_records(rows)) == Readings(
        labels_per_item=7.0
    )
