"""Models whose items have states: each against its definition, written out by brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from enumeration import tiny

import annomodels as am
from annomodels.engines.nuts import start_point
from annomodels.engines.state_chain import StateChain
from annomodels.models import MODELS, resolve
from annomodels.models.encoded import encode
from annomodels.models.mixture import StateModel
from annomodels.models.readings import Readings, _cells
from annomodels.models.states import SMALLEST
from annomodels.schema import names

STATE_MODELS = [name for name, model in MODELS.items() if issubclass(model, StateModel)]


def guess_level(v, model):
    """P(labels, truth) of an item, shape [truth], from its labels (coder, label)."""

    def joint(labels):
        out = v["perceived_prevalence"].copy()
        each = np.zeros((len(out), len(model.levels)))
        for k, g in product(range(len(out)), range(len(model.levels))):
            each[k, g] = v["level_share"][g]
            for j, y in labels:
                own = v["perceived_confusion"][j, k, y]
                share = model.levels[g]
                each[k, g] *= (1 - share) * own + share * v["common_guess"][y]
        return out * each.sum(axis=1)

    return joint


def consensus(v, model):
    def joint(labels):
        out = np.zeros(len(v["perceived_prevalence"]))
        for k, t in product(range(len(out)), repeat=2):
            own = [v["perceived_confusion"][j, k, y] for j, y in labels]
            out[t] += v["perceived_prevalence"][k] * np.prod(own) * v["consensus"][k, t]
        return out

    return joint


def easy_hard(v, model):
    def joint(labels):
        easy, hard = v["easy_share"]
        out = np.zeros(len(v["perceived_prevalence"]))
        for k in range(len(out)):
            own = np.prod([v["perceived_confusion"][j, k, y] for j, y in labels])
            all_right = all(y == k for _, y in labels)
            out[k] = v["perceived_prevalence"][k] * (easy * all_right + hard * own)
        return out

    return joint


def ambiguous(v, model):
    def joint(labels):
        plain, two = v["ambiguous_share"]
        theta = v["perceived_confusion"]
        out = np.zeros(len(v["perceived_prevalence"]))
        for k in range(len(out)):
            own = np.prod([theta[j, k, y] for j, y in labels])
            out[k] += plain * v["perceived_prevalence"][k] * own
        for n, (a, b) in enumerate(combinations(range(len(out)), 2)):
            for u in model.shares:
                each = two * v["pair_share"][n] / len(model.shares)
                for j, y in labels:
                    each *= u * theta[j, a, y] + (1 - u) * theta[j, b, y]
                out[a] += each * u
                out[b] += each * (1 - u)
        return out

    return joint


def readings(v, model):
    """Every label by every class that its coder may have read, or as a guess."""

    def joint(labels):
        theta, guess, g = v["perceived_confusion"], v["common_guess"], model.floor
        n = len(v["perceived_prevalence"])
        out = np.zeros(n)
        for cell, k in product(_cells(n, model.concentrations), range(n)):
            others = [m for m in range(n) if m != k]
            for m in others if cell.second else [None]:
                rest = [x for x in others if x != m]
                phi = {k: cell.first, m: cell.second}
                left = 1 - sum(phi.values())
                phi = np.array([phi.get(x, left / max(1, len(rest))) for x in range(n)])
                each = v["perceived_prevalence"][k] * cell.weight
                if m is not None:
                    each /= len(others)
                for j, y in labels:
                    read = [(1 - g) * phi[z] * theta[j, z, y] for z in range(n)]
                    each *= sum(read) + g * guess[y]
                for w, power in zip(v["sharpness"], model.sharpness, strict=True):
                    out += each * w * phi**power / sum(phi**power)
        return out

    return joint


def spammers(v, model):
    def joint(labels):
        theta = v["perceived_confusion"]
        own = [np.prod([theta[j, k, y] for j, y in labels]) for k in range(theta.shape[1])]
        return v["perceived_prevalence"] * own

    return joint


def subtypes(v, model):
    def joint(labels):
        theta, m = v["perceived_confusion"], model.coders.subtypes
        own = [np.prod([theta[j, s, y] for j, y in labels]) for s in range(theta.shape[1])]
        return (v["perceived_prevalence"] * own).reshape(-1, m).sum(axis=1)

    return joint


DEFINITIONS = {
    "guess-level": guess_level,
    "consensus": consensus,
    "easy-hard": easy_hard,
    "ambiguous": ambiguous,
    "readings": readings,
    "spammers": spammers,
    "subtypes": subtypes,
}


def test_every_state_model_is_written_down_here():
    assert set(DEFINITIONS) == set(STATE_MODELS)


def _prior_draw(model, codes, rng):
    """Variables of the result, drawn from the prior."""
    state = model.coders.sample_parameters(codes.n_rows, codes.n_labels, rng)
    values = model.coders.pymc_start(state)
    for name, alpha in model.alphas(codes.n_rows, codes.n_labels).items():
        flat = np.reshape(alpha, (-1, alpha.shape[-1]))
        values[name] = np.stack([rng.dirichlet(a) for a in flat]).reshape(alpha.shape)
    return state, {name: np.asarray(v, dtype=float) for name, v in values.items()}


def _expected(data, joint):
    """Log likelihood and P(truth), item by item."""
    total, p = 0.0, np.zeros((data.n_items, data.n_labels))
    for i in range(data.n_items):
        inside = slice(data.starts[i], data.starts[i + 1])
        each = joint(list(zip(data.coder[inside], data.label[inside], strict=True)))
        if data.gold is not None and data.gold[i] >= 0:
            total += np.log(each[data.gold[i]])
            p[i, data.gold[i]] = 1.0
        else:
            total += np.log(each.sum())
            p[i] = each / each.sum()
    return total, p


@pytest.mark.parametrize("name", STATE_MODELS)
@pytest.mark.parametrize(("n_labels", "gold"), [(2, False), (3, True)])
def test_a_pass_over_states_equals_the_definition(name, n_labels, gold, rng):
    from annomodels.kernels.states import state_pass

    data, model = tiny(rng, n_labels=n_labels, gold=gold), resolve(name)
    for collapse in (True, False):
        codes = encode(data, collapse=collapse)
        _, values = _prior_draw(model, codes, rng)
        finished = model.finish(values)
        found = model.states({n: v[None] for n, v in finished.items()})
        expected, p_truth = _expected(data, DEFINITIONS[name](finished, model))
        n_states = found.share.shape[1]
        emission = np.log(np.maximum(found.emission[0], SMALLEST)).transpose(0, 2, 1)
        p, entropy = np.zeros((codes.n_patterns, n_labels)), np.zeros(codes.n_patterns)
        p_state, none = np.zeros((codes.n_patterns, n_states)), np.zeros((0, codes.n_patterns))
        total = state_pass(
            *codes.arrays, codes.weight, np.log(found.share[0]),
            np.ascontiguousarray(emission.reshape(-1, n_states)), found.truth[0],
            np.zeros((0, n_states)), SMALLEST, p, entropy, p_state, none, none,
        )  # fmt: skip
        assert total == pytest.approx(expected, rel=1e-10)
        np.testing.assert_allclose(p[codes.inverse], p_truth, atol=1e-12)
        np.testing.assert_allclose(p_state.sum(axis=1), 1.0)
        assert found.share.sum() == pytest.approx(1.0)
        assert finished["prevalence"].sum() == pytest.approx(1.0)
        np.testing.assert_allclose(finished["confusion"].sum(axis=2), 1.0)


@pytest.mark.parametrize("name", STATE_MODELS)
def test_sampled_states_and_rows_have_the_expected_frequencies(name, rng):
    """A Gibbs pass with the parameters held: shares of states, and of the labels' rows."""
    data, model = tiny(rng, n_labels=3, gold=True), resolve(name)
    codes = encode(data, collapse=False)
    state, values = _prior_draw(model, codes, rng)
    k = model.layout(3).n_perceived
    chain = StateChain(
        model, codes, model.starter.sample_parameters(codes.n_rows, 3, rng), 1, False
    )
    chain.state = state
    chain.items = {n: values[n] for n in model.variables(3)}
    kept, n_draws = chain.room(1, False), 3000
    sizes, rows = np.zeros(len(chain.sizes)), np.zeros((len(codes.row), k))
    for n in range(n_draws):
        chain.iteration = n
        chain._pass(kept, keep=True)
        sizes += chain.sizes
    p_state = kept.p_state / n_draws
    assert np.ptp(kept.batch / n_draws - _expected(
        data, DEFINITIONS[name](model.finish(values), model)
    )[1]) < 1e-10  # fmt: skip
    np.testing.assert_allclose(p_state.sum(axis=1), 1.0)
    assert np.abs(sizes / n_draws - p_state.sum(axis=0)).max() < 4.5 * np.sqrt(
        data.n_items / n_draws
    )
    # every label was counted once, on one row
    assert chain.counts.sum() + chain.extra.sum() == len(rows)


@pytest.mark.nuts
@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize("name", STATE_MODELS)
def test_pymc_density_is_the_definition_plus_the_prior(name, gold, rng):
    """Gibbs and PyMC target one density: the difference does not vary."""
    from pymc.model.transform.conditioning import remove_value_transforms

    data, model = tiny(rng, n_labels=3, gold=gold), resolve(name)
    codes = encode(data)
    labels = names(data)["label"]
    coords = {**{dim: names(data)[dim] for dim in ("truth", "label", "coder")}}
    built = model.build(codes, {**coords, **model.coords(labels)})
    free = [variable.name for variable in built.free_RVs]
    plain = remove_value_transforms(built)
    logp = plain.compile_fn(plain.logp(), inputs=plain.value_vars, mode="FAST_COMPILE")
    differences = []
    for _ in range(5):
        _, values = _prior_draw(model, codes, rng)
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
        finished = model.finish(values)
        ours = _expected(data, DEFINITIONS[name](finished, model))[0]
        ours += model.log_prior_of(finished)
        differences.append(float(logp(point)) - ours)
    assert np.ptp(differences) < 1e-6 * max(1.0, abs(ours))


@pytest.mark.nuts
@pytest.mark.parametrize("name", STATE_MODELS)
def test_start_has_finite_density_and_gradient(name, rng):
    from pymc.initial_point import make_initial_point_fn

    data, model = tiny(rng, n_items=8, n_coders=4), resolve(name)
    codes = encode(data)
    coords = {dim: names(data)[dim] for dim in ("truth", "label", "coder")}
    built = model.build(codes, {**coords, **model.coords(coords["label"])})
    start = {k: v for k, v in start_point(model, codes).items() if k in built.named_vars}
    if "spammer" in start:
        start["spammer"] = start["spammer"].astype(int)
    point = make_initial_point_fn(
        model=built, overrides={built[k]: v for k, v in start.items()}, return_transformed=True
    )(0)
    density = built.compile_fn(
        [built.logp(), built.dlogp()], inputs=built.value_vars, mode="FAST_COMPILE"
    )
    value, gradient = density(point)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


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
    bound = Readings().bound(am.Annotations.from_records(rows))
    assert bound.labels_per_item == 4
    second = [
        m.layout(2).weight @ m.layout(2).values["second_reading"] for m in (bound, Readings())
    ]
    assert second[0] < 0.6 * second[1]
    assert Readings(labels_per_item=7.0).bound(am.Annotations.from_records(rows)) == Readings(
        labels_per_item=7.0
    )
