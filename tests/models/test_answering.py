"""Labels that are not classes: the density is that of K rows with K + 1 labels."""

import itertools

import numpy as np
import pytest

import annomodels as am
from annomodels.data.schema import RawResult, conform, data_of
from annomodels.engines.em import expect
from annomodels.engines.given import state_of
from annomodels.models import resolve
from annomodels.models.answering import MEAN, RATES, SPREAD, Answering, result_draws
from annomodels.models.encoded import encode
from annomodels.priors import LogNormal
from tests.models.densities import built, evaluate

BASES = ["dawid-skene", "hierarchical", "class-conditional", "one-coin", "mace"]


def tiny(rng, kinds=("dk",), n_items=4, n_coders=3, gold=True):
    """Random labels of three classes, and labels that are none."""
    rows = [
        (i, j, int(rng.integers(3)) if rng.random() < 0.7 else str(rng.choice(kinds)))
        for i in range(n_items)
        for j in range(n_coders)
        for _ in range(rng.choice([0, 1, 2], p=[0.15, 0.7, 0.15]))
    ]
    rows += [(i, j, (i + j) % 3) for i in range(n_items) for j in range(n_coders) if (i + j) % 2]
    known = {1: 2} if gold else None
    return am.Annotations.from_records(
        [*rows, (0, 0, 0)], labels=[0, 1, 2], dont_know=kinds, truth=known
    )


def by_hand(data, prevalence, confusion, no_answer):
    """Log likelihood and P(truth): a sum over all truths, with rows of K + M labels."""
    answers = confusion * (1 - no_answer.sum(axis=-1, keepdims=True))
    wide = np.concatenate([answers, no_answer], axis=2)
    item_no, coder_no, kind = data.unanswered.T
    item = np.concatenate([data.item, item_no])
    coder = np.concatenate([data.coder, coder_no])
    label = np.concatenate([data.label, 3 + kind])
    total, p = 0.0, np.zeros((data.n_items, 3))
    for truths in itertools.product(range(3), repeat=data.n_items):
        c = np.array(truths)
        if data.gold is not None and (c[data.gold >= 0] != data.gold[data.gold >= 0]).any():
            continue
        weight = prevalence[c].prod() * wide[coder, c[item], label].prod()
        total += weight
        p[np.arange(data.n_items), c] += weight
    return np.log(total), p / total


def separated(model, state):
    """Rows of answers and rates of no answer of one state."""
    held = {name: value[None, None] for name, value in model.kept_values(state).items()}
    out = result_draws(model, held)
    return out["confusion"][0, 0], out["no_answer"][0, 0]


@pytest.mark.parametrize("kinds", [("dk",), ("dk", "skip")])
@pytest.mark.parametrize("base", BASES)
def test_expected_counts_are_those_of_rectangular_rows(base, kinds, rng):
    data = tiny(rng, kinds)
    model = Answering(resolve(base)).with_data(data)
    codes = encode(data, unanswered=True)
    state = model.sample_parameters(data.n_coders, 3, rng)
    confusion, no_answer = separated(model, state)
    prevalence = np.exp(state.log_prevalence)
    np.testing.assert_allclose(confusion.sum(axis=-1), 1.0)
    assert no_answer.shape == (3, 3, len(kinds))
    total, p_truth = by_hand(data, prevalence, confusion, no_answer)
    _, _, p, found = expect(codes, state)
    assert found == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(p[codes.inverse], p_truth, atol=1e-12)


def test_rows_of_coders_who_hardly_ever_answer_are_kept(rng):
    model = Answering(resolve("dawid-skene"), ("dk", "skip"))
    rows = rng.dirichlet(np.ones(3), (2, 3))
    values = {"prevalence": np.full(3, 1 / 3), "confusion": rows, SPREAD: np.ones((2, 3))}
    values[MEAN], values[RATES] = np.full((2, 3, 2), 0.5), np.full((2, 2, 3, 2), (1e-300, 1.0))
    drawn = {n: v[None, None].astype(np.float32) for n, v in model.result_values(values).items()}
    found = result_draws(model, drawn)
    np.testing.assert_allclose(found["confusion"][0, 0], rows, rtol=1e-5)
    np.testing.assert_allclose(found["no_answer"][0, 0, ..., 0], 1.0)


@pytest.mark.few("hierarchical")
@pytest.mark.nuts
@pytest.mark.parametrize("base", ["dawid-skene", "hierarchical"])
@pytest.mark.usefixtures("uncompiled")
def test_pymc_density_equals_enumeration_plus_prior(base, rng):
    data = tiny(rng, ("dk", "skip"))
    model = Answering(resolve(base)).with_data(data)
    codes, used = encode(data, unanswered=True), [p.name for p in model.variables(3)]
    differences = []
    for found, prior, potential in evaluate(model, data, rng, 4, 0.3):
        values = model.result_values({name: found[name] for name in used if name in found})
        state = state_of(values)
        enumerated = by_hand(data, values["prevalence"], *separated(model, state))[0]
        assert potential == pytest.approx(enumerated, rel=1e-9)
        ours = model.log_prior({name: value[None] for name, value in values.items()})
        differences.append(prior + potential - expect(codes, state)[3] - float(ours[0]))
    assert np.ptp(differences) < 1e-8 * max(1.0, abs(differences[0]))
    start = model.pymc_start(model.sample_parameters(data.n_coders, 3, rng))
    for each in built(model, data).free_RVs:
        assert np.shape(start[each.name]) == tuple(each.shape.eval())


@pytest.mark.calibration
@pytest.mark.usefixtures("unsampled")
def test_a_fit_by_nuts_holds_what_a_fit_by_gibbs_holds(rng):
    options = {"chains": 2, "draws": 10, "warmup": 10, "seed": 1}
    fits = [
        am.fit(tiny(rng, ("dk",)), "dawid-skene", engine=e, **options) for e in ("gibbs", "nuts")
    ]
    by_gibbs, by_nuts = ({n: v.dims for n, v in f.tree["posterior"].items()} for f in fits)
    assert by_gibbs == by_nuts
    assert "no_answer" in by_nuts


@pytest.mark.slow
def test_draws_of_the_rates_have_their_conditional_distribution(rng):
    """Given counts and a firm population, rates are Beta with pseudo-counts and counts added."""
    from annomodels.kernels.rows import draw_parameters

    model = Answering(resolve("dawid-skene"), concentration=LogNormal(6.0, 1e-4))
    state = model.sample_parameters(2, 2, rng)
    state.population[MEAN][:] = [0.8, 0.2]
    counts = np.zeros((2, 3, 2), dtype=np.int64)
    counts[:, 0], counts[:, 2] = 12, 5
    drawn = []
    for n in range(3000):
        draw_parameters(
            counts, np.array([9, 9]), *model.priors(state), np.uint64(3), n,
            state.log_prevalence, state.log_confusion,
        )  # fmt: skip
        drawn.append((np.exp(state.log_confusion[0, 2, 0]), state.population[MEAN][0, 0, 1]))
        state.population[SPREAD][:] = 6.0
    rate, mean = np.array(drawn).T
    expected = (6.0 * mean + 5) / 23
    assert abs((rate - expected).mean()) < 4 * rate.std() / np.sqrt(3000 / 2)
    spread = np.sqrt(expected.mean() * (1 - expected.mean()) / 24)
    assert rate.std() == pytest.approx(spread, rel=0.1)


def test_dont_know_is_missing_to_coefficients_and_survives_selection(rng):
    rows = [(i, j, "x" if (i + j) % 3 else "y") for i in range(6) for j in range(3)]
    asked = [(0, 9, "x"), (1, 9, "y"), (2, 9, "dk"), (3, 9, "dk"), (7, 9, "dk"), (2, 8, "dk")]
    data = am.Annotations.from_records([*rows, *asked], dont_know=["dk"])
    plain = am.Annotations.from_records([*rows, *asked[:2]])
    assert data.labels == ("x", "y")
    assert repr(am.agreement(data, "alpha")) == repr(am.agreement(plain, "alpha"))
    assert data.unanswered.tolist() == [[2, 3, 0], [3, 3, 0]]
    assert "1 item." in data.notes[-2]
    assert "1 coder." in data.notes[-1]
    part = data.select(items=[1, 3, 4])
    assert part.items[part.unanswered[0, 0]] == 3
    assert part.coders[part.unanswered[0, 1]] == 9
    assert "2 times dk" in repr(data)
    assert data.fingerprint != plain.fingerprint
    assert data.without_dont_know().fingerprint == plain.fingerprint
    empty = RawResult({}, np.zeros((1, 1)), *np.zeros((2, 6, 2)), np.zeros(6))
    tree = conform(empty, data, am.models.DawidSkene())
    back = data_of(tree)
    np.testing.assert_array_equal(back.unanswered, data.unanswered)
    assert back.dont_know == ("dk",)


def test_only_labels_that_are_no_class_are_refused():
    with pytest.raises(am.errors.AnnotationError, match="None of the labels is a class"):
        am.Annotations.from_records([(1, "a", "dk")], dont_know="dk")
