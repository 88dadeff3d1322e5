"""Models of items' states find what was put into simulated sets, and nothing where is none."""

import numpy as np
import pytest
from scipy.stats import rankdata

import annomodels as am
from annomodels.engines.starts import state_from_shares
from annomodels.models import MODELS, resolve
from annomodels.models.encoded import encode
from annomodels.models.mixtures.kinds import FAR
from annomodels.models.mixtures.state_model import StateModel
from tests.engines.crowds import alone, p_truth, simulate

pytestmark = pytest.mark.slow

SMALL = {"chains": 2, "draws": 200, "warmup": 150, "seed": 3, "extend": False}
GIBBS = [name for name, model in MODELS.items() if "gibbs" in model.engines]
SWAPPABLE = [
    name
    for name in GIBBS
    if issubclass(MODELS[name], StateModel) and resolve(name).coders.swappable
]


def auc(score, positive):
    """Probability that a positive scores above a negative, ties counting half."""
    n, m = positive.sum(), (~positive).sum()
    return (rankdata(score)[positive].sum() - n * (n + 1) / 2) / (n * m)


def mixed_crowd(rng, n_items=160, n_coders=20, per_item=10, k=3):
    """Give labels of honest coders and spammers on plain and ambiguous items, and who is what."""
    spammer = np.arange(n_coders) % 5 == 0
    ambiguous = np.arange(n_items) % 8 == 0
    habit = rng.dirichlet(np.full(k, 0.5), n_coders)
    truth = rng.integers(k, size=n_items)
    records = []
    for i in range(n_items):
        readings = truth[i], (truth[i] + 1) % k
        for j in rng.choice(n_coders, per_item, replace=False):
            read = readings[rng.integers(2)] if ambiguous[i] else readings[0]
            said = read if rng.random() < 0.85 else rng.integers(k)
            records.append((i, int(j), int(rng.choice(k, p=habit[j]) if spammer[j] else said)))
    return am.Annotations.from_records(records, labels=range(k)), ambiguous, spammer


def test_ambiguous_items_and_spammers_are_found():
    data, ambiguous, spammer = mixed_crowd(np.random.default_rng(5))
    fit = am.fit(data, "ambiguous", **SMALL)
    items, coders = np.array(data.items), np.array(data.coders)
    assert auc(fit.tree["items"]["ambiguous"].values, ambiguous[items]) > 0.9
    p = fit.tree["posterior"]["spammer"].values.mean(axis=(0, 1))
    assert auc(p, spammer[coders]) == 1.0
    assert p[spammer[coders]].min() > 0.5 > p[~spammer[coders]].max()


def test_spammers_are_found_on_plain_items():
    data, _, spammer = mixed_crowd(np.random.default_rng(6))
    fit = am.fit(data, "spammers", **SMALL)
    p = fit.tree["posterior"]["spammer"].values.mean(axis=(0, 1))
    assert auc(p, spammer[np.array(data.coders)]) == 1.0


@pytest.mark.calibration
@pytest.mark.parametrize("name", GIBBS)
def test_labels_at_random_make_no_confident_gold(name):
    rng = np.random.default_rng(8)
    rows = [
        (i, int(j), int(rng.integers(3)))
        for i in range(60)
        for j in rng.choice(8, 5, replace=False)
    ]
    fit = am.fit(am.Annotations.from_records(rows, labels=range(3)), name, **SMALL)
    assert (p_truth(fit).max(axis=1) > 0.95).sum() <= 2
    # chains find different stories, none of them true; a stack averages over them, and the test of
    # noise refuses it
    assert fit.check().verdict == "do not use"


@pytest.mark.few("ambiguous-2", "readings-4")
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("name", SWAPPABLE)
def test_a_start_with_swapped_classes_is_put_right(name, k):
    data, truth = simulate(
        np.random.default_rng(9), n_items=100, n_coders=6, n_labels=k, per_item=5, accuracy=0.8
    )
    codes, model = encode(data, collapse=False), resolve(name)
    order = np.roll(np.arange(k), 1)
    shares = np.eye(k)[order[truth[np.array(data.items)]]] * 0.9 + 0.1 / k
    start = state_from_shares(model.starter, codes, shares)
    assert np.exp(start.log_confusion).mean(axis=0).trace() < k * 0.4
    run = alone(model, codes, start, 4, relabel=True)
    run.slice([60], 1, None, None)
    kept = run.chains[0].room(20, False)
    run.slice([20], 1, [kept], None)
    rows = kept.arrays["perceived_confusion"].mean(axis=(0, 1))
    assert (rows.argmax(axis=1) == np.arange(k)).all()


def test_rows_of_a_spammer_are_their_habit():
    """Under NUTS a spammer has idle rows beside their habit; nothing may look at them."""
    rng = np.random.default_rng(10)
    model = resolve("spammers")
    values = dict(model.coders.pymc_start(model.coders.sample_parameters(6, 3, rng)))
    values["spammer"] = np.array([0.0, 1.0] * 3)
    values["confusion"] = rng.dirichlet(np.ones(3), (6, 3))
    rows = model.result_values(values)["perceived_confusion"]
    np.testing.assert_array_equal(rows[0::2], values["confusion"][0::2])
    expected = np.repeat(values["habit"][1::2, None], 3, axis=1)
    np.testing.assert_array_equal(rows[1::2], expected)


def test_random_numbers_of_coders_and_items_are_not_the_same():
    key = np.array([4, 7], dtype=np.uint64)
    of_items = np.random.Philox(key=key).random_raw(4000)
    of_kinds = np.random.Philox(key=key, counter=FAR).random_raw(4000)
    assert not set(of_items.tolist()) & set(of_kinds.tolist())


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stage_that_is_cut_short_leaves_the_one_before_it(threads):
    """Chains of a short run go on, and are interrupted while they do."""
    data, _ = simulate(np.random.default_rng(3), n_items=80, n_coders=10, n_labels=3)
    options = {"chains": 2, "draws": 40, "warmup": 20, "seed": 2, "threads": threads}
    wanted = am.fit(data, "consensus", extend=False, **options)

    def interrupt(stage, share, message):
        if "1 draw in 2" in message and share > 0.2:
            raise KeyboardInterrupt

    found = am.fit(data, "consensus", progress=interrupt, **options)
    assert found.tree.attrs["stopped"] == "interrupted"
    for group, name in (("posterior", "confusion"), ("truth", "p_truth"), ("items", "p_state")):
        values, reference = (fit.tree[group][name].values for fit in (found, wanted))
        np.testing.assert_array_equal(values, reference)
