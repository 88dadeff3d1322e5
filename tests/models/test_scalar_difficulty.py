"""Scalar difficulty and beta-binomial by item equal their definitions, integrated by hand."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betaln, expit
from scipy.stats import beta, norm

import annomodels as am
from annomodels.models.base import sample_values
from annomodels.models.continuous.centring import centred_share
from annomodels.models.continuous.quadrature import beta_nodes, normal_nodes
from annomodels.models.encoded import encode
from annomodels.models.states import marginals
from annomodels.priors import Beta, Pareto
from tests.models.enumeration import tiny

FULL = am.models.ScalarDifficulty(discrimination=0.5, guessing=Beta(1, 4), nodes=41, by_class=True)
VARIANTS = {
    "default": am.models.ScalarDifficulty(nodes=41),
    "by class": am.models.ScalarDifficulty(by_class=True, nodes=41),
    "fixed": am.models.ScalarDifficulty.carpenter(1.0),
    "no difficulty": am.models.ScalarDifficulty.carpenter(0.0),
    "discrimination and guessing": FULL,
}


def names(data):
    labels = [str(name) for name in data.labels]
    return {"truth": labels, "label": labels, "coder": [str(name) for name in data.coders]}


def rows_by_hand(values, coder, truth, delta):
    """P(label) of one coder under difficulties, straight from the formula: [..., label]."""
    k = values["ability"].shape[1]
    delta = np.asarray(delta)
    leaning = values["leaning"][coder, truth] if "leaning" in values else np.zeros(k)
    slope = values["discrimination"][coder] if "discrimination" in values else 1.0
    logits = np.tile(leaning, (*delta.shape, 1))
    logits[..., truth] = values["ability"][coder, truth] - slope * delta
    p = np.exp(logits)
    p /= p.sum(axis=-1, keepdims=True)
    if "guessing" in values:
        lucky = values["guessing"][truth]
        p = (1 - lucky) * p + lucky * (np.arange(k) == truth)
    return p


def difficulty_scale(model, values):
    scale = values.get("difficulty_scale", np.array(model.difficulty))
    return np.broadcast_to(scale, values["prevalence"].shape)


def by_hand(model, data, values, item):
    """P(labels of an item, truth) by truth, summed over a fine grid of difficulties."""
    scale = difficulty_scale(model, values)
    own = data.item == item
    out = []
    for truth in range(data.n_labels):
        grid = scale[truth] * np.linspace(-9, 9, 1201)
        density = norm.pdf(np.linspace(-9, 9, 1201)) * 18 / 1200
        p = values["prevalence"][truth] * density
        for j, label in zip(data.coder[own], data.label[own], strict=True):
            p = p * rows_by_hand(values, j, truth, grid)[..., label]
        out.append(p.sum())
    return np.array(out)


def coin_by_hand(data, values, item):
    """P(labels of an item, truth) by truth, the item's coin integrated out by SciPy."""
    labels = data.label[data.item == item]
    ones, zeros = labels.sum(), (1 - labels).sum()
    b, a = (values["concentration"] * values["population"].T).astype(float)
    return values["prevalence"] * np.exp(betaln(a + ones, b + zeros) - betaln(a, b))


@pytest.mark.parametrize("n", [1, 5, 21])
def test_nodes_of_a_normal_distribution_have_its_moments(n):
    nodes, weights = normal_nodes(n)
    for power in range(min(2 * n, 12)):
        assert weights @ nodes**power == pytest.approx(norm.moment(power) if power else 1, abs=1e-6)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.5, 0.5), (0.3, 2), (30, 4)])
def test_nodes_of_a_beta_distribution_have_its_moments(a, b):
    nodes, weights = beta_nodes(6, np.array(float(a)), np.array(float(b)))
    for power in range(1, 12):
        assert weights @ nodes**power == pytest.approx(beta(a, b).moment(power), rel=1e-8)


def test_quadrature_is_good_enough_for_many_labels_of_an_item():
    """Relative error of P(labels of an item) with the nodes of the default, half of them right."""
    model = am.models.ScalarDifficulty()
    nodes, weights = normal_nodes(model.nodes)
    worst = {}
    for n in (5, 10, 20, 40):
        right = n // 2

        def density(x, right=right, n=n):
            return expit(1.5 - 1.2 * x) ** right * expit(1.2 * x - 1.5) ** (n - right)

        exact = quad(lambda x, f=density: f(x) * norm.pdf(x), -9, 9, epsabs=0, limit=200)[0]
        worst[n] = abs(weights @ density(nodes) / exact - 1)
    assert worst[5] < 1e-5
    assert worst[10] < 1e-3
    assert worst[40] < 0.05


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_are_those_of_the_formula(variant, k, rng):
    model = VARIANTS[variant]
    values = sample_values(model, 4, k, rng)
    found = model.states({name: value[None] for name, value in values.items()})
    delta = found.values["difficulty"][0]
    truth = found.truth[0].argmax(axis=1)
    for coder, state in itertools.product(range(4), range(0, len(truth), 3)):
        expected = rows_by_hand(values, coder, truth[state], delta[state])
        np.testing.assert_allclose(found.emission[0, coder, state], expected, atol=1e-12)
    np.testing.assert_allclose(found.share.sum(), 1.0)
    prevalence, confusion = marginals(found.share[0], found.emission[0], found.truth[0])
    np.testing.assert_allclose(prevalence, values["prevalence"])
    np.testing.assert_allclose(confusion, values["confusion"])


def test_labels_are_exchangeable(rng):
    """Renaming three labels renames the rows and changes nothing else."""
    values = sample_values(FULL, 3, 3, rng)
    order = np.array([2, 0, 1])
    renamed = {
        name: value[:, order][:, :, order]
        if name in ("leaning", "confusion")
        else value[order][:, order]
        if name == "mean_leaning"
        else value[:, order]
        if name == "ability"
        else value
        if name == "discrimination"
        else value[order]
        for name, value in values.items()
    }
    moved = FULL.result_values({name: renamed[name] for name in values})
    np.testing.assert_allclose(moved["confusion"], values["confusion"][:, order][:, :, order])


def test_a_coder_with_many_labels_is_centred():
    rows = [(i, "busy", i % 2) for i in range(6000)] + [(i, "rare", 0) for i in range(4)]
    share = centred_share(encode(am.Annotations.from_records(rows)))
    assert share[0] > 0.9
    assert share[1] < 0.2


@pytest.mark.slow
def test_more_labels_than_two_or_too_many_of_an_item_are_refused_in_words(rng):
    data = tiny(rng, n_labels=3)
    with pytest.raises(am.errors.NotApplicable, match=r"two labels, not 3.*scalar-difficulty"):
        am.fit(data, "beta-binomial-by-item", draws=10)
    two = tiny(rng, n_labels=2)
    with pytest.raises(am.errors.NotApplicable, match=r"BetaBinomialByItem\(nodes="):
        am.fit(two, am.models.BetaBinomialByItem(nodes=1), draws=10)


def compiled(model, data, gradient=False):
    codes = encode(data, shared=model.shared)
    built = model.build(codes, {**names(data), **model.coords([str(x) for x in data.labels])})
    kept = sorted({each.name for each in model.parameters(data.n_labels)} & set(built.named_vars))
    outputs = built.replace_rvs_by_values([built["labels"], *(built[name] for name in kept)])
    density = [built.logp(), built.dlogp()] if gradient else [built.logp()]
    function = built.compile_fn([*density, *outputs], inputs=built.value_vars, mode="FAST_COMPILE")
    return codes, built, kept, function


@pytest.mark.nuts
@pytest.mark.parametrize(
    ("variant", "k", "gold"),
    [("default", 3, True), ("by class", 2, False), ("discrimination and guessing", 3, False)],
)
@pytest.mark.usefixtures("uncompiled")
def test_pymc_density_equals_numerical_integration(variant, k, gold, rng):
    """The sum over truths and the integral over difficulties, without quadrature nodes."""
    model = VARIANTS[variant]
    data = tiny(rng, n_labels=k, n_items=3, gold=gold)
    codes, built, kept, function = compiled(model, data)
    start = built.initial_point()
    for _ in range(2):
        point = {key: value + rng.normal(0, 0.3, np.shape(value)) for key, value in start.items()}
        total, potential, *drawn = map(np.asarray, function(point))
        assert np.isfinite(total)
        values = dict(zip(kept, drawn, strict=True))
        expected = 0.0
        for item in range(data.n_items):
            joint = by_hand(model, data, values, item)
            known = -1 if data.gold is None else data.gold[item]
            expected += np.log(joint.sum() if known < 0 else joint[known])
        assert float(potential) == pytest.approx(expected, abs=2e-4)
    assert (codes.gold >= 0).any() == gold


@pytest.mark.nuts
def test_by_item_density_equals_the_beta_binomial_and_its_quadrature(rng):
    model = am.models.BetaBinomialByItem(concentration=Pareto(1.5, 1.0))
    data = tiny(rng, n_labels=2, gold=True)
    codes, built, kept, function = compiled(model, data)
    start = built.initial_point()
    for _ in range(3):
        point = {key: value + rng.normal(0, 0.5, np.shape(value)) for key, value in start.items()}
        _, potential, *drawn = map(np.asarray, function(point))
        values = dict(zip(kept, drawn, strict=True))
        states = model.states({name: value[None] for name, value in values.items()})
        expected = 0.0
        for item in range(data.n_items):
            joint = coin_by_hand(data, values, item)
            labels = data.label[data.item == item]
            by_nodes = states.share[0] * states.emission[0, 0][:, labels].prod(axis=1)
            np.testing.assert_allclose(by_nodes @ states.truth[0], joint, rtol=1e-9)
            known = data.gold[item]
            expected += np.log(joint.sum() if known < 0 else joint[known])
        assert float(potential) == pytest.approx(expected, rel=1e-9)
    assert codes.n_rows == 1


@pytest.mark.nuts
def test_by_item_density_of_coins_that_are_all_alike(rng):
    """A concentration of some 1e60, where differences of log gamma functions are noise."""
    data = tiny(rng, n_labels=2, gold=True)
    _, built, kept, function = compiled(am.models.BetaBinomialByItem(), data)
    point = built.initial_point()
    (name,) = (key for key in point if key.startswith("concentration"))
    point[name] = np.full_like(point[name], 140.0)
    _, potential, *drawn = map(np.asarray, function(point))
    values = dict(zip(kept, drawn, strict=True))
    assert (values["concentration"] > 1e60).all()
    expected = 0.0
    for item in range(data.n_items):
        labels = data.label[data.item == item]
        joint = values["prevalence"] * values["population"][:, labels].prod(axis=1)
        known = data.gold[item]
        expected += np.log(joint.sum() if known < 0 else joint[known])
    assert float(potential) == pytest.approx(expected, rel=1e-9)
