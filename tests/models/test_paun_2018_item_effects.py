"""ItemDiff and LogRndEff equal the definitions of Paun et al. (2018), by brute force."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import dirichlet, norm

import annomodels as am
from annomodels.models.continuous.contrasts import difficulties
from annomodels.models.continuous.item_difficulty import ItemDifficulty
from annomodels.models.continuous.logistic_random_effects import LogisticRandomEffects
from annomodels.models.continuous.quadrature import effect_nodes
from annomodels.models.encoded import encode
from tests.models.densities import enumerated, evaluate, half_normal_logpdf, integrate
from tests.models.enumeration import tiny

MODELS = {"item-difficulty": ItemDifficulty, "logistic-random-effects": LogisticRandomEffects}


def item_probability(data, values, i):
    """P(labels of item i | class), its logits or effects integrated out, as the paper writes it."""
    mine = np.flatnonzero(data.item == i)
    k = data.n_labels

    def of_class(c):
        def labels(z):
            p = np.ones(len(z))
            for n in mine:
                logits = np.zeros((len(z), k))
                if "coder_logit" in values:
                    theta = z * values["item_spread"][c]
                    logits[:, :-1] = values["coder_logit"][data.coder[n], c] - theta
                else:
                    logits[:, :-1] = values["item_location"][c] + z * values["item_spread"][c]
                p *= softmax(logits, axis=1)[:, data.label[n]]
            return p

        return integrate(labels, k - 1, order={2: 100, 3: 60, 4: 30}[k])

    return np.array([of_class(c) for c in range(k)])


@pytest.mark.nuts
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("n_labels", "gold", "nodes"), [(2, False, 61), (3, True, 31)])
def test_density_equals_enumeration_times_integration(name, n_labels, gold, nodes, rng):
    data = tiny(rng, n_labels=n_labels, gold=gold)
    model = MODELS[name](nodes=nodes)
    for values, prior, potential in evaluate(model, data, rng):
        expected = enumerated(
            data, values["prevalence"], lambda i, v=values: item_probability(data, v, i)
        )
        assert potential == pytest.approx(expected, abs=5e-5)
        assert prior == pytest.approx(log_prior(values), abs=1e-6)


def log_prior(values):
    total = dirichlet.logpdf(values["prevalence"], np.ones(len(values["prevalence"])))
    for name, value in values.items():
        if name.endswith("_location"):
            total += norm.logpdf(value).sum()
        if name.endswith("_spread"):
            total += half_normal_logpdf(value, 1.0).sum()
    if "coder_logit" in values:
        around = norm(values["coder_location"], values["coder_spread"])
        total += around.logpdf(values["coder_logit"]).sum()
    return total


def _values(model, n_labels, n_coders, rng):
    shape = (1, n_labels, n_labels - 1)
    spread = np.abs(rng.normal(0.8, 0.3, shape))
    values = {"prevalence": rng.dirichlet(np.full(n_labels, 3.0), 1), "item_spread": spread}
    lead = 1.5 * (2.0 * np.eye(n_labels)[:, :-1] - 0.5)
    if model.shared:
        return {**values, "item_location": lead + rng.normal(0, 0.3, shape)}
    shape = (1, n_coders, n_labels, n_labels - 1)
    return {**values, "coder_logit": lead + rng.normal(0, 0.5, shape)}


def _item_log_likelihoods(model, data, values):
    codes = encode(data, shared=model.shared, collapse=False)
    found = model.states(values)
    table = np.log(found.emission[0]).transpose(0, 2, 1).reshape(-1, found.share.shape[1])
    joint = np.log(found.share[0]) + codes.counts @ table
    return np.logaddexp.reduce(joint, axis=1)


def _crowd(rng, n_labels, n_items=60, per_item=8):
    truth = rng.integers(n_labels, size=n_items)
    right = rng.random((n_items, per_item)) < 0.7
    label = np.where(right, truth[:, None], rng.integers(n_labels, size=right.shape))
    rows = [(i, j, int(label[i, j])) for i in range(n_items) for j in range(per_item)]
    return am.Annotations.from_records(rows, labels=list(range(n_labels)))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("n_labels", "many", "tolerance"),
    [(2, 201, 1e-4), (3, 61, 1e-3), (4, 11, 0.02), (5, 4096, 0.1)],
)
def test_more_nodes_hardly_change_the_likelihood_of_an_item(name, n_labels, many, tolerance, rng):
    data = _crowd(rng, n_labels)
    usual, fine = MODELS[name](), MODELS[name](nodes=many)
    values = _values(usual, n_labels, data.n_coders, rng)
    gap = _item_log_likelihoods(usual, data, values) - _item_log_likelihoods(fine, data, values)
    assert np.abs(gap).mean() < tolerance
    assert np.abs(gap).max() < 8 * tolerance
    # and few nodes do: the test can fail
    few = MODELS[name](nodes=3 if n_labels < 5 else 10)
    rough = _item_log_likelihoods(few, data, values) - _item_log_likelihoods(fine, data, values)
    assert np.abs(rough).mean() > 2 * np.abs(gap).mean()


def test_cloud_is_centred_and_of_unit_variance():
    for n_dims in (4, 5):
        points, weights = effect_nodes(n_dims, 256)
        np.testing.assert_allclose(weights @ points, 0.0, atol=1e-12)
        np.testing.assert_allclose(weights @ points**2, 1.0, atol=1e-12)
        products = (points.T * weights) @ points - np.eye(n_dims)
        assert np.abs(products).max() < 0.1
    with pytest.raises(ValueError, match="3 points"):
        effect_nodes(1, 2)
    with pytest.raises(ValueError, match="even number"):
        effect_nodes(4, 7)


@pytest.mark.parametrize("name", MODELS)
def test_classes_can_swap_their_names_and_labels_cannot(name, rng):
    """Truths are exchangeable for any K; labels are not for K > 2: the last is the reference."""
    model = MODELS[name]()
    data = _crowd(rng, 3, n_items=12, per_item=4)
    values = _values(model, 3, data.n_coders, rng)
    order = np.array([2, 0, 1])
    moved = {
        key: value[:, :, order] if key == "coder_logit" else value[:, order]
        for key, value in values.items()
    }
    before = _item_log_likelihoods(model, data, values)
    np.testing.assert_allclose(_item_log_likelihoods(model, data, moved), before, rtol=1e-12)
    # the same parameters read with another label as the reference are another model
    found, wanted = model.states(values), np.zeros(3)
    for k in range(3):
        mine = found.truth[0][:, k] == 1
        rows = np.log(found.emission[0, 0, mine])
        weight = found.share[0, mine] / found.share[0, mine].sum()
        against_first = rows[:, 2] - rows[:, 0], rows[:, 1] - rows[:, 0]
        centred = [x - weight @ x for x in against_first]
        wanted[k] = weight @ (centred[0] * centred[1])
    # effects against the last label are independent; against the first they share its effect
    assert (wanted > 0.1).all()


def test_with_two_labels_either_may_be_the_reference(rng):
    model = LogisticRandomEffects()
    data = _crowd(rng, 2, n_items=12, per_item=4)
    values = _values(model, 2, data.n_coders, rng)
    flipped = am.Annotations.from_records(
        [
            (int(i), int(j), 1 - int(y))
            for i, j, y in zip(data.item, data.coder, data.label, strict=True)
        ],
        labels=[0, 1],
    )
    mirrored = {
        "prevalence": values["prevalence"][:, ::-1],
        "item_spread": values["item_spread"][:, ::-1],
        "coder_logit": -values["coder_logit"][:, :, ::-1],
    }
    np.testing.assert_allclose(
        _item_log_likelihoods(model, flipped, mirrored),
        _item_log_likelihoods(model, data, values),
        rtol=1e-10,
    )


def test_difficulty_is_what_the_right_label_loses_against_the_others():
    effect = np.array([[[-2.0, 1.0]], [[-2.0, 1.0]], [[-2.0, 1.0]]])
    # logits change by (-2, 1, 0)
    np.testing.assert_allclose(difficulties(effect)[:, 0], [2.5, -2.0, -0.5])
