"""The layer of a stack is that of its PyMC model, and P(truth) and coders follow from it."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import norm, t

import annomodels as am
from annomodels.data.alike import exchangeable, n_distinct, taken_together
from annomodels.engines.layer import draw_layer, elliptical, log_truth
from annomodels.engines.settings import Settings
from annomodels.engines.source.partition import alike, cut
from annomodels.engines.source.spread import Spread
from annomodels.engines.source.stacked import EffectDraws, averaged, vote_patterns
from annomodels.engines.stacking import climbed, measured, of_known
from annomodels.executors.team import Threads
from annomodels.models.catalog import is_stack
from annomodels.models.encoded import encode
from annomodels.models.mixtures.stack import Dependence, as_far_off, layered, mode_of
from annomodels.models.mixtures.votes import (
    Difficulty,
    build_votes,
    difficulty_of,
    easy_share,
    log_parts,
    patterns,
    together,
)
from annomodels.summaries.draws import stacked
from annomodels.summaries.gold import mixture_note
from annomodels.summaries.next_labels import stack_beliefs
from annomodels.summaries.p_next import stacking_weights
from annomodels.summaries.trust.known_truth import known_truth_finding
from tests.engines.crowds import p_truth, simulate

pytestmark = pytest.mark.slow

OPTIONS = {"chains": 2, "draws": 200, "warmup": 100, "seed": 1}
SMALL = am.models.Stack()


def beliefs(rng, n_items, k=3, sharp=3.0):
    """Log probabilities that know something of the truth, and the truth."""
    truth = rng.integers(k, size=n_items)
    logits = sharp * np.eye(k)[truth] + rng.normal(0, 1.5, (n_items, k))
    return logits - logsumexp(logits, axis=1, keepdims=True), truth


@pytest.fixture(scope="module")
def data():
    return simulate(np.random.default_rng(2), n_items=60, n_coders=15, n_labels=3, per_item=5)


@pytest.fixture(scope="module")
def plain(data):
    return am.fit(data[0], "stack", **OPTIONS)


@pytest.mark.usefixtures("uncompiled")
def test_the_density_of_the_layer_is_that_of_the_pymc_model(rng):
    log_q, truth = beliefs(rng, 12)
    dependence = Dependence(prevalence=(0.5, 0.3, 0.2))
    model = SMALL.build_layer(log_q, truth, dependence)
    prior_logp = model.compile_logp(vars=model.free_RVs)
    whole = model.compile_logp()
    median = SMALL.median_log_odds(3)
    for z in rng.normal(size=(5, 5)):
        sharpness, unknown, tilt = SMALL.layer(z[None], dependence)
        # what is said of an item about which nobody knows lies between even and the prevalence
        np.testing.assert_allclose(unknown[0] / unknown[0, 0], np.sqrt([1, 0.6, 0.4]))
        log_odds = np.log(unknown[0].sum() / (1 - unknown[0].sum()))
        point = {"z_sharpness": z[0], "log_odds": log_odds, "tilt": tilt[0]}
        own = norm.logpdf(z[0])
        own += t.logpdf(log_odds, 5, median, SMALL.spread[1])
        own += norm.logpdf(tilt[0], 0, SMALL.spread[2]).sum()
        assert prior_logp(point) == pytest.approx(own, abs=1e-6)
        # standard normal numbers have the probabilities of the effects
        assert norm.cdf(z[1]) == pytest.approx(t.cdf((log_odds - median) / SMALL.spread[1], 5))
        mine = log_truth(log_q, truth, sharpness, unknown, tilt)
        assert whole(point) - prior_logp(point) == pytest.approx(mine, abs=1e-8)


def test_slices_agree_with_a_grid(rng):
    log_q, truth = beliefs(rng, 40, k=2)

    def density(z):
        return log_truth(log_q, truth, *SMALL.layer(np.append(z, [0.0, 0.0])[None], Dependence()))

    grid = np.linspace(-5, 5, 81)
    logp = np.array([[density(np.array([a, b])) for b in grid] for a in grid])
    logp += norm.logpdf(grid)[:, None] + norm.logpdf(grid)
    share = np.exp(logp - logsumexp(logp))
    found = elliptical(density, 2, 4000, rng)
    for axis in (0, 1):
        own = share.sum(axis=1 - axis)
        mean = own @ grid
        deviation = np.sqrt(own @ (grid - mean) ** 2)
        assert abs(found[:, axis].mean() - mean) < 0.15 * deviation
        assert 0.85 < found[:, axis].std() / deviation < 1.15


@pytest.mark.calibration
def test_known_truth_teaches_how_sure_to_be(rng):
    log_q, truth = beliefs(rng, 500)
    nothing = rng.integers(3, size=500)
    right, wrong = (draw_layer(SMALL, log_q, told, Dependence(), 1) for told in (truth, nothing))
    by_right, by_wrong = (averaged(log_q, layer)[0] for layer in (right, wrong))
    assert by_right.max(axis=1).mean() > 0.8
    # a mixture that knows nothing is believed nothing
    assert by_wrong.max(axis=1).mean() < 0.45


def test_without_known_truth_the_layer_keeps_its_prior(data):
    log_q = np.log((data[0].votes + 0.5) / (data[0].votes + 0.5).sum(axis=1, keepdims=True))
    unknown = np.full(len(log_q), -1)
    layer = draw_layer(SMALL, log_q, unknown, Dependence(), 1)
    share = layer.unknown.sum(axis=1)
    odds = np.log(share / (1 - share))
    low, median, high = np.quantile(np.log(layer.sharpness / SMALL.sharpness), [0.025, 0.5, 0.975])
    assert median == pytest.approx(0, abs=0.01)
    assert -low == pytest.approx(norm.ppf(0.975) * SMALL.spread[0], rel=0.02)
    assert high == pytest.approx(-low * SMALL.skew, rel=0.02)
    low, high = np.quantile(odds, [0.025, 0.975])
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 5) * SMALL.spread[1], rel=0.02)
    assert np.median(odds) == pytest.approx(SMALL.median_log_odds(3), abs=0.01)
    assert layer.tilt.std() == pytest.approx(SMALL.spread[2], rel=0.1)
    noise = draw_layer(SMALL, log_q, unknown, Dependence(noise=True), 1)
    nothing = np.isclose(noise.unknown.sum(axis=1), 1)
    assert nothing.mean() == pytest.approx(0.5, abs=0.01)


def test_draws_of_the_layer_decide_no_ties():
    log_q = np.log(np.array([[0.5, 0.5], [0.9, 0.1]]))
    layer = draw_layer(SMALL, log_q, np.full(2, -1), Dependence(), 1)
    tie, clear = averaged(log_q, layer)[0]
    np.testing.assert_allclose(tie, 0.5, atol=1e-12)
    assert clear[0] > 0.8


# -- easy and hard items in the votes -----------------------------------------------------------


def votes_of(rng, n_items, k, per_item, hard, accuracy, concentration):
    """Votes of items of which some are hard, whatever their truth is, and the truths."""
    truth, is_hard = rng.integers(k, size=n_items), rng.random(n_items) < hard
    shares = np.full((n_items, k), (1 - accuracy) / (k - 1))
    shares[np.arange(n_items), truth] = accuracy
    shares[is_hard] = rng.dirichlet(np.full(k, concentration / k), is_hard.sum())
    return np.array([rng.multinomial(per_item, p) for p in shares]), truth, is_hard


@pytest.mark.usefixtures("uncompiled")
def test_the_mode_of_the_difficulty_is_that_of_the_pymc_model(rng):
    votes, times = patterns(votes_of(rng, 60, 4, 5, 0.3, 0.9, 2.0)[0])
    model = build_votes(votes, times)
    logp = model.compile_logp(jacobian=False)
    found = difficulty_of(votes, times)

    def at(difficulty):
        point = {}
        for name in ("hard", "accuracy", "scattered"):
            x = getattr(difficulty, name)
            point[f"{name}_logodds__"] = np.array(np.log(x / (1 - x)))
        return float(logp(point))

    top = at(found)
    for name in ("hard", "accuracy", "scattered"):
        for step in (-0.01, 0.01):
            assert at(replace(found, **{name: getattr(found, name) + step})) < top


def test_probabilities_of_all_votes_sum_to_one():
    votes = np.array([c for c in itertools.product(range(5), repeat=3) if sum(c) == 4])
    parts = np.hstack(log_parts(votes, Difficulty(0.3, 0.8, 0.6)))
    ways = gammaln(5) - gammaln(votes + 1.0).sum(axis=1)
    assert np.exp(logsumexp(parts, axis=1) + ways).sum() == pytest.approx(1)


def test_difficulty_is_found_and_items_cut_apart_give_the_same_one(rng):
    votes, _, is_hard = votes_of(rng, 4000, 5, 10, 0.3, 0.9, 8.0)
    whole = difficulty_of(*together([patterns(votes)]))
    assert whole.hard == pytest.approx(0.3, abs=0.03)
    assert whole.accuracy == pytest.approx(0.9, abs=0.01)
    assert whole.scattered > 0.8
    assert difficulty_of(*together([patterns(votes[:7]), patterns(votes[7:])])) == whole
    easy = easy_share(votes, whole)
    assert easy.sum(axis=1)[is_hard].mean() < 0.2 < 0.9 < easy.sum(axis=1)[~is_hard].mean()
    # items on which ten agree are sure to be easy among many classes, not between two
    few, many = (easy_share(np.eye(k)[:1] * 10, Difficulty(0.4, 0.97, 0.5))[0, 0] for k in (2, 16))
    assert few < 0.9 < 0.94 < many
    no_labels = difficulty_of(*patterns(np.zeros((3, 2), dtype=int)))
    assert no_labels == Difficulty()


def test_copies_count_once_in_the_model_and_others_as_they_are():
    rows = [(i, j, (i + (j == 3)) % 2) for i in range(8) for j in range(5) if (i + j) % 4]
    data = am.Annotations.from_records(rows)
    source = cut(encode(data, collapse=False), 2)
    group = np.array([3, 1, 4])
    codes = [part.open() for part in alike(source, np.arange(5), [group]).partitions]
    rank = {3: 0, 1: 1, 4: 2}
    given = {(r[0], r[1]): r[2] for r in rows}
    for item in range(8):
        whom = [j for j in range(5) if (item, j) in given]
        first = min((j for j in whom if j in rank), key=rank.__getitem__)
        kept = [j for j in whom if j not in rank or j == first]
        part, at = codes[item // 4], item % 4
        mine = slice(part.starts[at], part.starts[at + 1])
        assert part.row[mine].tolist() == kept
        assert part.label[mine].tolist() == [given[item, j] for j in kept]
    # in the votes the labels of all of them count
    with Spread(alike(source, np.arange(5), [group]), Threads(1)) as spread:
        found, times = together(spread.each(vote_patterns))
    wanted, often = patterns(data.votes)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(times, often)


def test_weights_are_those_that_predict_best(rng):
    densities = np.log(rng.uniform(0.1, 1.0, (3, 400)))
    found = stacking_weights(densities)
    best = np.log(found / found.sum() @ np.exp(densities)).sum()
    for _ in range(200):
        other = rng.dirichlet(np.ones(3))
        assert np.log(other @ np.exp(densities)).sum() <= best + 1e-3


def by_hand(data, rho, rows, prevalence):
    """P(truth) [item, truth] in which n labels of an item count 1 / (1 + rho (n - 1)) each."""
    log_p = np.tile(np.log(prevalence), (data.n_items, 1))
    n = np.diff(data.starts)
    for i, j, y in zip(data.item, data.coder, data.label, strict=True):
        log_p[i] += np.log(rows[j, :, y]) / (1 + rho * (n[i] - 1))
    return log_p - logsumexp(log_p, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def unlike():
    """Coders of whom some are good and others hardly better than chance."""
    rng = np.random.default_rng(7)
    truth, right = rng.integers(3, size=150), (0.9, 0.9, 0.9, 0.5, 0.4, 0.35)
    rows = [
        (i, j, int(truth[i] if rng.random() < right[j] else rng.integers(3)))
        for i in range(150)
        for j in range(6)
    ]
    return am.fit(am.Annotations.from_records(rows), "stack", **OPTIONS)


@pytest.mark.parametrize("which", ["plain", "unlike"])
def test_the_mode_is_a_fixed_point_and_its_probabilities_are_those_of_the_definition(
    which, request
):
    plain = request.getfixturevalue(which)
    about = Dependence(**json.loads(plain.tree.attrs["dependence"]))
    assert about.exchangeable == (which == "plain") == (not about.prevalence)
    data, stack = plain.data, plain.tree["stack"].to_dataset()
    log_mode = stack["log_mode"].values
    rho = min(about.correlation, SMALL.most_weighed)
    n = np.diff(data.starts)
    counts = np.zeros((data.n_coders, 3, 3))
    for i, j, y in zip(data.item, data.coder, data.label, strict=True):
        counts[j, :, y] += np.exp(log_mode[i]) / (1 + rho * (n[i] - 1))
    rows, prevalence = mode_of(counts, np.exp(log_mode).sum(axis=0), about.exchangeable)
    again = by_hand(data, rho, rows, prevalence)
    np.testing.assert_allclose(np.exp(again), np.exp(log_mode), atol=1e-4)
    # the mixture of its tempered probabilities and the votes
    r = about.correlation / (about.correlation + SMALL.halfway)
    power = (1 + rho * (n - 1)) / (1 + SMALL.tempering * about.correlation * (n - 1))
    easy = easy_share(data.votes, about.difficulty)
    shares = (data.votes + 1 / 3) / (n[:, None] + 1)
    hard = 1 - easy.sum(axis=1, keepdims=True)
    votes = easy + hard * (SMALL.believed * shares + (1 - SMALL.believed) / 3)
    mixed = np.exp(log_mode * (1 - r) * power[:, None]) * votes**r
    mixed /= mixed.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(stack["log_mixture"].values, np.log(mixed), atol=1e-9)
    total = 0.0
    layers = zip(*(stack[name].values for name in ("sharpness", "unknown", "tilt")), strict=True)
    for sharpness, unknown, tilt in layers:
        raised = mixed**sharpness * np.exp(tilt)
        raised /= raised.sum(axis=1, keepdims=True)
        total = total + (1 - unknown.sum()) * raised + unknown
    np.testing.assert_allclose(p_truth(plain), total / len(stack["sharpness"]), atol=1e-9)
    assert np.isfinite(plain.tree["truth"]["p_truth_mcse"].values).all()


def test_the_correlation_of_errors_is_that_of_all_pairs_of_labels(plain):
    """Counted one pair after the other, with P(truth) of the mode without weights."""
    data = plain.data
    settings = Settings(chains=1, draws=10, warmup=5)
    with Spread(cut(encode(data, collapse=False), 2), Threads(1)) as spread:
        about = measured(SMALL, spread, Dependence(), settings)
    with Spread(cut(encode(data, collapse=False), 1), Threads(1)) as spread:
        rows, _ = climbed(spread, 0.0, False, settings, "starting")
        p = np.exp(spread.each(lambda block: block.memory["log p"])[0])
    product = deviations = variance = 0.0
    for i in range(data.n_items):
        mine = range(data.starts[i], data.starts[i + 1])
        for k in range(3):
            a = [rows[data.coder[n], k, k] for n in mine]
            error = [(data.label[n] == k) - right for n, right in zip(mine, a, strict=True)]
            for x, y in itertools.permutations(range(len(a)), 2):
                v = a[x] * (1 - a[x]) * a[y] * (1 - a[y])
                product += p[i, k] * error[x] * error[y]
                deviations += p[i, k] * np.sqrt(v)
                variance += p[i, k] * 2 * v
    assert about.measured == pytest.approx(product / deviations, rel=1e-3)
    assert about.error == pytest.approx(np.sqrt(variance) / deviations, rel=1e-3)


def test_coders_who_err_together_are_noticed_and_independent_ones_are_not(rng):
    truth = rng.integers(3, size=400)
    ease = rng.normal(1.0, 2.0, size=400)
    rows, alone = [], []
    for i in range(400):
        for j in rng.permutation(20)[:6]:
            p = 1 / (1 + np.exp(-ease[i]))
            said, also = (truth[i] if rng.random() < x else rng.integers(3) for x in (p, 0.7))
            rows.append((i, int(j), int(said)))
            alone.append((i, int(j), int(also)))
    found = []
    for records in (rows, alone):
        fit = am.fit(am.Annotations.from_records(records), "stack", **OPTIONS)
        about = json.loads(fit.tree.attrs["dependence"])
        found.append(about["measured"] / about["error"])
    assert found[0] > 5
    assert abs(found[1]) < 3


def test_coders_named_by_their_place_count_alike(rng, unlike):
    """Labels change places within items at random, so that names say nothing."""
    labels, _ = simulate(rng, n_items=200, n_coders=30, n_labels=3, per_item=4)
    rows = [
        (i, place, int(y))
        for i in range(200)
        for place, y in enumerate(rng.permutation(labels.label[labels.item == i]))
    ]
    fit = am.fit(am.Annotations.from_records(rows), "stack", **OPTIONS)
    assert json.loads(fit.tree.attrs["dependence"])["exchangeable"]
    best = p_truth(fit).argmax(axis=1)
    votes = fit.data.votes
    assert (votes[np.arange(200), best] == votes.max(axis=1)).mean() > 0.97
    assert any("do not distinguish the coders" in note for note in fit.gold().notes)
    assert not exchangeable(unlike.data)


def test_rules_of_programs_that_give_one_label_are_no_better_than_their_votes():
    rng = np.random.default_rng(3)
    truth = rng.random(300) < 0.5
    rows = [
        (i, f"rule {j}", j % 2)
        for i in range(300)
        for j in range(8)
        if rng.random() < (0.5 if truth[i] == j % 2 else 0.1)
    ]
    fit = am.fit(am.Annotations.from_records(rows), "stack", **OPTIONS)
    best = p_truth(fit).argmax(axis=1)
    votes = fit.data.votes
    assert (votes[np.arange(len(votes)), best] == votes.max(axis=1)).mean() > 0.97


def test_coders_are_drawn_given_truths_of_the_stack(plain):
    """The prevalence is that of the truths, and coders' labels of them are in their rows."""
    prevalence = plain.tree["posterior"]["prevalence"].values.mean(axis=(0, 1))
    np.testing.assert_allclose(prevalence, p_truth(plain).mean(axis=0), atol=0.02)
    wrong = plain.tree["sample_stats"]["wrong"].values
    assert wrong.mean() == pytest.approx((1 - p_truth(plain).max(axis=1)).sum(), rel=0.1)
    # truths that vary from draw to draw, and a crowd's errors, widen what is known of the coders
    pooled = plain
    alone = am.fit(plain.data, "hierarchical", **OPTIONS).coders().table
    stacked = pooled.coders().table
    width = [(t["accuracy_high"] - t["accuracy_low"]).mean() for t in (stacked, alone)]
    assert width[0] > width[1]


def test_the_share_of_right_labels_is_counted_and_accuracy_is_of_many_items(data, plain, tmp_path):
    found, truth = plain.coders().table, data[1]
    right = plain.tree["coders"]["right"].values
    n = plain.data.per_coder
    assert (right >= 0).all()
    assert (right <= n).all()
    shares = right.reshape(-1, len(n)) / n
    assert found["share_right"].to_numpy() == pytest.approx(shares.mean(axis=0))
    assert found["share_right_low"].to_numpy() == pytest.approx(np.quantile(shares, 0.025, axis=0))
    # the share itself is held, be it 1: no interval of a rate ends there
    hits = np.bincount(plain.data.coder, truth[plain.data.item] == plain.data.label) / n
    inside = (found["share_right_low"] <= hits) & (hits <= found["share_right_high"])
    assert inside.mean() > 0.85
    rows = plain.tree["posterior"]
    diagonal = np.einsum("cdjkk->cdjk", rows["confusion"].values)
    many = (diagonal * rows["prevalence"].values[:, :, None]).sum(axis=3).mean(axis=(0, 1))
    assert found["accuracy"].to_numpy() == pytest.approx(many, abs=0.02)
    plain.save(tmp_path / "fit.nc")
    again = am.load(tmp_path / "fit.nc").coders().table
    assert again["share_right_high"].tolist() == found["share_right_high"].tolist()


def test_labels_of_known_truth_are_counted_and_only_the_others_are_uncertain(data):
    known = data[0].replace(gold=np.where(np.arange(60) < 50, data[1], -1))
    told = known.item < 50
    hits = told & (known.label == data[1][known.item])
    sure, n_open = of_known(encode(known, collapse=False))
    assert sure.tolist() == np.bincount(known.coder[hits], minlength=15).tolist()
    assert n_open.tolist() == np.bincount(known.coder[~told], minlength=15).tolist()
    half = np.broadcast_to(sure + n_open // 2, (2, 4000, 15))
    assert (as_far_off(half, sure, n_open, 0.0, 1) == half).all()
    wide = as_far_off(half, sure, n_open, 0.5, 1)
    assert (wide >= sure).all()
    assert (wide <= sure + n_open).all()
    all_known = known.replace(gold=data[1])
    exact = np.bincount(known.coder, known.label == data[1][known.item], 15)
    counted = of_known(encode(all_known, collapse=False))
    assert (as_far_off(np.broadcast_to(exact, (1, 9, 15)), *counted, 0.5, 1) == exact).all()
    # of many labels, the odds have the spread that is asked for
    drawn = as_far_off(np.full((1, 4000, 2), 3000), np.zeros(2), np.full(2, 4000), 0.3, 1)
    odds = np.log(drawn / (4000 - drawn))
    assert odds.std() == pytest.approx(0.3, rel=0.03)
    assert np.median(odds) == pytest.approx(np.log(3), abs=0.02)


def test_known_gold_is_kept_and_taught(data, plain):
    labels, truth = data
    # other labels than the true ones, by no rule that a coder could follow
    wrong = {i: int((truth[labels.items.index(i)] + 1 + i % 2) % 3) for i in range(16)}
    told = am.fit(labels.with_truth(wrong), "stack", **OPTIONS)
    known = told.data.gold >= 0
    np.testing.assert_array_equal(p_truth(told)[known], np.eye(3)[told.data.gold[known]])
    # a crowd that is wrong on all of them is believed less on the others
    sure = [p_truth(fit)[~known].max(axis=1).mean() for fit in (told, plain)]
    assert sure[0] < sure[1] - 0.05
    # what is kept of a known item is what its labels say
    own = np.exp(told.tree["stack"]["log_mode"].values)[known, told.data.gold[known]]
    assert own.mean() < 0.6


def test_a_fit_can_be_saved_and_says_what_its_numbers_promise(plain, tmp_path):
    again = am.load(plain.save(tmp_path / "fit.nc"))
    assert again.model == plain.model
    for fit in (plain, again):
        notes = " ".join(fit.gold().notes)
        assert "95 % interval" in notes
        assert "public data sets with known truth" in mixture_note(fit.tree)
        assert any("stack" in note for note in fit.why(0).notes)
        assert "overconfident" not in " ".join([*fit.gold().notes, *fit.next(budget=5).notes])


def test_a_run_that_is_ended_says_so(data):
    fit = am.fit(data[0], "stack", time_limit=1e-6, **{**OPTIONS, "chains": 1})
    assert fit.tree.attrs["stopped"] == "time limit"


@pytest.mark.parametrize(
    "wrong",
    [{"far_off": -1.0}, {"halfway": 0.0}, {"spread": (0.0, 1.0, 1.0)}, {"believed": 1.1}],
    ids=str,
)
def test_what_is_no_stack_is_refused(wrong):
    with pytest.raises(ValueError, match="A stack needs"):
        am.models.Stack(**wrong)


def test_items_of_which_the_crowd_knows_nothing_flatten_the_mixture():
    log_q = np.log([[0.9, 0.1]])
    layer = EffectDraws(np.array([1.0]), np.array([[0.25, 0.25]]), np.zeros((1, 2)))
    p, entropy, _ = averaged(log_q, layer)
    np.testing.assert_allclose(p, [[0.7, 0.3]])
    np.testing.assert_allclose(p, layered(log_q, *layer.part(slice(None)))[0])
    assert entropy[0] == pytest.approx(-(p * np.log(p)).sum())


def test_where_no_model_is_named_a_stack_is_fitted_and_tables_name_their_member(plain):
    assert am.fit(plain.data, chains=1, draws=10, warmup=10, seed=1).model.name == "stack"
    alone = am.fit(plain.data, "hierarchical", chains=1, draws=20, warmup=10, seed=1)
    for table in ("coders", "items", "labels", "prevalence", "agreement"):
        notes = [" ".join(getattr(fit, table)().notes) for fit in (plain, alone)]
        assert "of the hierarchical model, given truths drawn from the stack" in notes[0], table
        assert "stack" not in notes[1], table


def test_the_page_and_the_gold_standard_give_one_interval_of_wrong_labels(plain):
    wrong = plain.wrong_labels()
    (said,) = (note for note in plain.gold().notes if "expected to be wrong" in note)
    assert f"95 % interval {wrong.gold_low:.0f} to {wrong.gold_high:.0f}" in said


@pytest.mark.calibration
def test_only_known_truth_lights_the_third_lamp(data, plain):
    labels, truth = data
    assert plain.check().lamps["tested on known truth"] == "not tested"
    lamps = {"computed well", "fits the labels", "coders", "tested on known truth"}
    assert set(plain.check().lamps) == lamps
    known = {i: int(truth[labels.items.index(i)]) for i in range(25)}
    few = {i: known[i] for i in range(10)}
    for told, lamp in ((known, "passed"), (few, "not tested")):
        check = am.fit(labels.with_truth(told), "stack", **OPTIONS).check(predictive=False)
        assert check.lamps["tested on known truth"] == lamp
        assert ("of 25 items would" in " ".join(check.table["sentence"])) == (len(told) == 25)
    alone = am.fit(labels.with_truth(known), "hierarchical", **OPTIONS)
    assert alone.check(predictive=False).lamps["tested on known truth"] == "not tested"


def test_known_truth_that_nobody_would_expect_turns_the_lamp_amber(plain):
    tree, n = plain.tree.copy(), plain.data.n_items
    wrong = p_truth(plain).argmin(axis=1)
    found = known_truth_finding(tree, plain.data.replace(gold=wrong))
    assert found is not None
    assert found.severity == 1
    assert f"{n} of {n} items would have a wrong gold label" in found.sentence
    best = p_truth(plain).argmax(axis=1)
    stray = np.where(np.arange(n) % 12 == 0, (best + 1) % 3, best)
    found = known_truth_finding(tree, plain.data.replace(gold=stray))
    assert found is not None
    assert found.severity == 0


def test_what_to_label_next_rests_on_what_the_stack_says(plain):
    some, found = np.array([3, 0, 41]), stacked(plain.tree)
    assert found is not None
    (part, believed), *rest = stack_beliefs(found, 150)(some)
    assert not rest
    assert believed[part].shape == (3, 150, 3)
    np.testing.assert_allclose(believed.mean(axis=1), p_truth(plain)[some], atol=0.05)
    outlook = plain.next(budget=10, stop=0.0)
    assert outlook.before == pytest.approx((1 - p_truth(plain).max(axis=1)).sum())
    assert 0 < outlook.after < outlook.before
    # no item whose label the stack is sure of is asked for
    rank = (1 - p_truth(plain).max(axis=1)).argsort()[::-1]
    place = {plain.data.items[i]: n for n, i in enumerate(rank)}
    assert max(place[item] for item in outlook.table["item"]) < 30


def test_priors_from_a_stack_are_those_of_its_coders(plain):
    prior = am.prior_from(plain)
    assert prior.name == "hierarchical"
    assert len(prior.returning) == plain.data.n_coders


def single_labels(n_items, seed=5):
    """Five labels an item, each by a coder who gives no other one."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n_items) < 0.4
    right = rng.random((n_items, 5)) < 0.8
    given = np.where(right, truth[:, None], ~truth[:, None])
    rows = ((i, f"{i}-{j}", "ny"[int(given[i, j])]) for i in range(n_items) for j in range(5))
    return am.Annotations.from_records(rows), truth.astype(int)


def test_a_stack_tells_of_all_coders_whom_its_mode_takes_for_one():
    assert n_distinct(single_labels(80)[0]) == 1
    data, truth = single_labels(60)
    fit = am.fit(data, **OPTIONS)
    assert is_stack(fit.model)
    assert fit.tree["posterior"].sizes["coder"] == data.n_coders == 300
    right = p_truth(fit).argmax(axis=1) == truth[[int(i) for i in data.items]]
    assert right.mean() > 0.8
    p = fit.p_next(by="coder").table
    assert len(p)


def test_coders_with_more_labels_stay_apart():
    rows = [(i, "ab"[j] if j < 2 else f"once{i}", (i + j) % 2) for i in range(9) for j in range(3)]
    data = am.Annotations.from_records(rows)
    assert (taken_together(data) == np.arange(data.n_coders)).all()
    source = cut(encode(data, collapse=False), 2)
    assert alike(source, taken_together(data)) is source
    rows += [(i, f"more{i}-{j}", i % 2) for i in range(9) for j in range(2)]
    data = am.Annotations.from_records(rows)
    place = taken_together(data)
    together = alike(cut(encode(data, collapse=False), 2), place)
    assert together.n_rows == n_distinct(data) == 3
    codes = [part.open() for part in together.partitions]
    np.testing.assert_array_equal(np.concatenate([part.label for part in codes]), data.label)
    row = np.concatenate([part.row for part in codes])
    np.testing.assert_array_equal(row, place[data.coder])
    np.testing.assert_allclose(together.volume, np.bincount(row) / len(data))
    assert np.unique(place[data.per_coder == 1]).tolist() == [np.bincount(row).argmax()]
