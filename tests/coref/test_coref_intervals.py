"""Intervals of pair kappa and of alpha on chains: weights of mentions and texts, and coverage."""

import os
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import annomodels as am
from annomodels.coref import (
    agreement,
    agreement_table,
    document,
    pair_draws,
    pair_posterior,
    pair_table,
)
from annomodels.coref.posteriors import (
    kappas,
    over_texts,
    pair_blocks,
    spread_factor,
)
from annomodels.coref.tables import kappa_of

REDUCED = os.environ.get("ANNOMODELS_CALIBRATION") == "reduced"


def two_coders(rng: np.random.Generator, mentions: int, error: float) -> list[dict[int, int]]:
    """Chains that grow with their length, and two coders who misplace a mention now and then."""
    truth = np.zeros(mentions, dtype=int)
    chains = 1
    for place in range(1, mentions):
        if rng.random() < 0.55:
            truth[place] = chains
            chains += 1
        else:
            truth[place] = truth[rng.integers(0, place)]
    out = []
    for _ in range(2):
        wrong = rng.random(mentions) < error
        said = np.where(wrong, rng.integers(0, chains, mentions), truth)
        out.append(dict(enumerate(said.tolist())))
    return out


def test_a_pair_counts_with_the_product_of_its_weights(rng: np.random.Generator) -> None:
    x, y = rng.integers(0, 3, 9), rng.integers(0, 3, 9)
    weights = rng.exponential(size=(4, 9))
    for row, found in zip(weights, kappas(x, y, weights), strict=True):
        cells = np.zeros(4)
        for i, j in combinations(range(9), 2):
            cells[2 * (x[i] != x[j]) + (y[i] != y[j])] += row[i] * row[j]
        assert found == pytest.approx(float(kappa_of(*cells)))


def test_equal_weights_give_kappa_itself(rng: np.random.Generator) -> None:
    x, y = two_coders(rng, 40, 0.1)
    codes = (np.array([coding[m] for m in range(40)]) for coding in (x, y))
    assert kappas(*codes, np.ones((1, 40)))[0] == pytest.approx(pair_table(x, y).kappa)


def test_draws_are_those_of_the_seed_and_surround_kappa(rng: np.random.Generator) -> None:
    x, y = two_coders(rng, 80, 0.08)
    draws = pair_draws(x, y, 400, seed=3)
    assert np.array_equal(draws, pair_draws(x, y, 400, seed=3))
    assert not np.array_equal(draws, pair_draws(x, y, 400, seed=4))
    assert np.quantile(draws, 0.05) < pair_table(x, y).kappa < np.quantile(draws, 0.95)


def test_a_mention_of_the_prior_is_one_more_mention(rng: np.random.Generator) -> None:
    x, y = rng.integers(0, 3, 9), rng.integers(0, 3, 9)
    weights = rng.exponential(size=(6, 9))
    at, other, own = rng.integers(0, 9, 6), rng.integers(0, 9, 6), rng.exponential(size=6)
    found = kappas(x, y, weights, [(at, other, own)])
    for n in range(6):
        longer = np.append(x, x[at[n]]), np.append(y, y[other[n]])
        plain = kappas(*longer, np.append(weights[n], own[n])[None])
        assert found[n] == pytest.approx(plain[0])


def test_coders_who_agree_in_everything_are_not_sure_to_do_so_for_ever() -> None:
    same = {m: m // 3 for m in range(60)}
    low, high = np.quantile(pair_draws(same, same, 2000), [0.05, 0.95])
    assert 0.8 < low < 0.98
    assert high > 0.9999
    # without a link of either coder, kappa is 1 by convention, and nothing is known
    single = [{m} for m in range(60)]
    low, high = np.quantile(pair_draws(single, single, 2000), [0.05, 0.95])
    assert low < 0.1
    assert high > 0.9


def test_texts_without_any_pair_and_without_mentions() -> None:
    one = np.zeros(3, dtype=np.int64)
    assert set(kappas(np.arange(3), np.arange(3), np.ones((2, 3)))) == {1.0}
    assert set(kappas(one, one, np.ones((2, 3)))) == {1.0}
    assert np.isnan(pair_draws([{1}], [{1}], 5)).all()
    with pytest.raises(am.errors.NotApplicable, match="No text has two mentions"):
        pair_posterior(document("t", {"a": [{1}], "b": [{1}]}))
    with pytest.raises(am.errors.NotApplicable, match="draws=0"):
        pair_draws([{1}], [{1}], 0)


def texts(rng: np.random.Generator, n: int, coders: int = 2) -> list[Any]:
    out = []
    for place in range(n):
        codings = two_coders(rng, 40, 0.08) + two_coders(rng, 40, 0.08)
        named = dict(zip("abcd"[:coders], codings, strict=False))
        out.append(document(f"t{place}", named, genre="fg"[place % 2]))
    return out


def test_three_quantities(rng: np.random.Generator) -> None:
    found = pair_posterior(texts(rng, 10), 4000)
    draws = {name: values.to_numpy() for name, values in found.draws.items()}
    mean, sigma = found.table["kappa"].mean(), found.table["kappa"].std()
    # nine tenths of the way from the draws to kappa
    these, of_texts = draws["these_texts"], draws["kappa"]
    assert these.mean() == pytest.approx(0.9 * mean + 0.1 * of_texts.mean())
    assert these.std() == pytest.approx(np.sqrt((of_texts.var(1)).sum()) / 10, rel=0.1)
    assert np.median(draws["mean_over_texts"]) == pytest.approx(mean, abs=0.01)
    low, high = np.quantile(draws["mean_over_texts"], [0.05, 0.95])
    # Student's interval is 2 * 1.833 * sigma / sqrt(10); this one is a little longer
    assert 1.0 < (high - low) / (2 * 1.833 * sigma / np.sqrt(10)) < 1.15
    assert draws["new_text"].std() > sigma
    assert draws["new_text"].max() <= 1
    table = found.table
    assert (table["low"] < table["kappa"]).all()
    assert (table["kappa"] <= table["high"]).all()
    assert found.overall["quantity"].tolist() == ["these_texts", "mean_over_texts", "new_text"]
    assert "mean_over_texts" in repr(found)
    assert [name for name, _ in found.tables()] == ["table", "overall"]
    with pytest.raises(am.errors.NotApplicable, match="prob=90"):
        pair_posterior(texts(rng, 2), 10, prob=90)


def test_one_text_does_not_tell_how_texts_differ(rng: np.random.Generator) -> None:
    found = pair_posterior(texts(rng, 1), 50)
    assert np.isnan(found.draws["mean_over_texts"]).all()
    assert np.isnan(found.draws["new_text"]).all()
    assert np.array_equal(found.draws["these_texts"], found.draws["kappa"][0])
    # a text without a disagreement has an interval that ends at 1
    same = {m: m // 3 for m in range(60)}
    one = pair_posterior(document("t", {"a": same, "b": same}), 200)
    assert one.draws["these_texts"].max() <= 1


def test_draws_are_spread_by_what_a_pair_counts_for_two_mentions(rng: np.random.Generator) -> None:
    for _ in range(5):
        x, y = (np.array([coding[m] for m in range(60)]) for coding in two_coders(rng, 60, 0.1))
        value, factor = spread_factor(x, y)
        assert value == pytest.approx(kappas(x, y, np.ones((1, 60)))[0])
        # derivatives by the weight of each pair, by small steps
        sums = np.array([(a[:, None] == a)[np.triu_indices(60, 1)] for a in (x, y)], dtype=float)
        cells = np.array([1 - sums.max(0), sums[0] * (1 - sums[1]), sums[1] * (1 - sums[0]),
                          sums.prod(0)])  # fmt: skip
        total = cells.sum(1)
        slope = np.empty(4)
        for k in range(4):
            moved = total.copy()
            moved[k] += 1e-5
            changed = float(kappa_of(moved[3], moved[1], moved[2], moved[0]))
            slope[k] = (changed - value) / 1e-5
        pair = np.zeros((60, 60))
        pair[np.triu_indices(60, 1)] = slope @ cells
        pair += pair.T
        along, apart = (pair.sum(1) ** 2).sum(), (pair**2).sum() / 2
        share = (along - apart) / (along + apart)
        low, high = share * (1 + 20 / 60), share * (1 + 30 / 60)
        assert factor**2 == pytest.approx(np.median([1.0, low, high]), rel=1e-3)


def test_pairs_that_stand_alone_are_drawn_together() -> None:
    # 20 pairs, of which each coder has missed two, among many mentions that stand alone
    pairs = {m: m // 2 for m in range(40)} | {m: m for m in range(40, 150)}
    a, b = ({**pairs, **{m: 1000 + m for m in lost}} for lost in ((1, 9), (21, 33)))
    codes = [np.unique(list(each.values()), return_inverse=True)[1] for each in (a, b)]
    assert spread_factor(*codes)[1] < 0.75
    wide = kappas(*codes, np.random.default_rng(1).exponential(size=(4000, 150)))
    near = pair_draws(a, b, 4000)
    # four pairs of 20 lost: kappa is 8/9, with a standard deviation of some 5 points
    assert near.std() < 0.8 * wide.std()
    assert near.std() == pytest.approx(0.05, rel=0.35)


def test_the_posterior_over_texts_is_that_of_students_model(rng: np.random.Generator) -> None:
    # by brute force on a grid of mean and spread, with the prior as it is stated
    kappa = np.array([0.9, 0.5, 0.7, 0.75, 0.6, 0.8])
    mu, sigma = np.linspace(-1, 2, 601)[:, None], np.geomspace(0.01, 3, 600)[None]
    squares = ((kappa[:, None, None] - mu) ** 2).sum(0)
    density = sigma ** (-len(kappa) - 0.75) * np.exp(-squares / (2 * sigma**2)) * sigma
    share = density.sum(1) / density.sum()
    found = over_texts(kappa, None, 0.0, 40_000, rng).mean[0]
    for place in (0.05, 0.25, 0.5, 0.75, 0.95):
        exact = mu[np.searchsorted(share.cumsum(), place), 0]
        assert np.quantile(found, place) == pytest.approx(exact, abs=0.012)


def test_types_learn_from_each_other(rng: np.random.Generator) -> None:
    found = pair_posterior(texts(rng, 11), 4000)
    parts = found.by_genre()
    assert {name: len(part.table) for name, part in parts.items()} == {"f": 6, "g": 5}
    for part in parts.values():
        own, all_texts = part.table["kappa"].mean(), found.table["kappa"].mean()
        middle = np.median(part.draws["mean_over_texts"])
        assert min(own, all_texts) - 0.01 < middle < max(own, all_texts) + 0.01
    # alike types are drawn together more than unlike ones
    kappa, group = np.array([0.7, 0.8, 0.75, 0.72, 0.82, 0.78]), np.array([0, 0, 0, 1, 1, 1])
    near = over_texts(kappa, group, 0.0, 20_000, rng).mean
    far = over_texts(kappa - 0.6 * group, group, 0.0, 20_000, rng).mean
    assert np.ptp(np.median(near, axis=1)) < 0.8 * np.ptp([0.75, 0.7733])
    assert np.ptp(np.median(far, axis=1)) > 0.95 * (0.6 - 0.0233)


def test_a_mention_has_one_weight_for_all_pairs_of_coders(rng: np.random.Generator) -> None:
    (text,) = texts(rng, 1, coders=2)
    layers = dict(text.layers)
    copy = am.coref.Layer("c", layers["b"].markables, clusters=layers["b"].clusters)
    three = text.with_layers(layers | {"c": copy})
    (block,) = pair_blocks(three.codes, three.coders, 400, np.random.default_rng(5))
    # b and c have the same clusters; only the mention of the prior tells them apart
    assert np.corrcoef(block["a", "b"], block["a", "c"])[0, 1] > 0.8
    mean = np.mean(list(block.values()), axis=0)
    found = pair_posterior(three, 400, seed=5)
    (values,) = found.draws["kappa"].to_numpy()
    assert len(values) == 400
    assert values.std() == pytest.approx(mean.std(), rel=0.2)


@pytest.fixture(scope="module")
def study(benchmark_script) -> Any:
    return benchmark_script("coverage_coref")


SAMPLES = 150 if REDUCED else 400


def require_covered(study: Any, below: float, above: float) -> None:
    """Allow two points, and three standard errors."""
    error = (study.PROB * (1 - study.PROB) / SAMPLES) ** 0.5
    assert abs(1 - below - above - study.PROB) <= 0.02 + 3 * error


@pytest.mark.calibration
@pytest.mark.parametrize(("mentions", "error"), [(50, 0.03), (50, 0.08), (70, 0.03), (150, 0.08)])
def test_intervals_of_single_texts_in_simulation(study: Any, mentions: int, error: float) -> None:
    *_, found = study.single(study.Cell(mentions, error), SAMPLES, 11)
    below, above, _ = found["here"]
    # pairs taken as independent give far less
    require_covered(study, below, above)


@pytest.mark.calibration
@pytest.mark.parametrize("corpus", ["alike", "varied"])
@pytest.mark.parametrize("texts", [5, 10, 30])
def test_intervals_of_the_mean_over_texts_in_simulation(
    study: Any, corpus: str, texts: int
) -> None:
    sizes, error = study.CORPORA[corpus]
    values, variances = study.population(sizes, error, 300 if REDUCED else 1500, 12)
    found = study.several(values, variances, texts, SAMPLES, 13)
    for name in ("mean", "new"):
        below, above, _ = found[name]
        require_covered(study, below, above)


@pytest.mark.parametrize("chain", ["none", "incl-", "excl-", "partial", "cluster-own"])
def test_draws_surround_alpha_as_the_jackknife_spreads_it(
    rng: np.random.Generator, chain: str
) -> None:
    made = texts(rng, 7)
    found = agreement(made, chain, "dice", draws=4000, seed=2)
    whole = agreement(made, chain, "dice")
    assert found.value == whole.value
    assert whole.draws is None
    without = np.array([agreement(made[:t] + made[t + 1 :], chain, "dice").value for t in range(7)])
    error = np.sqrt(6 / 7 * ((without - without.mean()) ** 2).sum())
    low, high = found.interval(0.9)
    # Student's interval with six degrees of freedom is 1.943 standard errors long on each side
    assert (high - low) / (2 * 1.943 * error) == pytest.approx(1.07, abs=0.1)
    assert np.median(found.draws) == pytest.approx(whole.value, abs=0.1 * error)
    assert np.array_equal(found.draws, agreement(made, chain, "dice", draws=4000, seed=2).draws)


def test_two_texts_have_no_interval_and_the_result_says_why(rng: np.random.Generator) -> None:
    made = texts(rng, 6)
    found = agreement(made[:2], draws=100)
    assert found.draws is None
    assert any("it needs 3 texts" in note for note in found.notes)
    table = agreement_table(made, by="genre", draws=100).table
    rows = table[table["coefficient"].str.startswith("alpha")]
    assert (rows["low"] < rows["value"]).all()
    assert (rows["value"] < rows["high"]).all()
    few = agreement_table(made[:2], draws=100).table.iloc[-1]
    assert np.isnan(few["low"])
    assert "it needs 3 texts" in few["note"]


def test_k_and_texts_in_which_nothing_was_said_twice(rng: np.random.Generator) -> None:
    made = texts(rng, 4)
    alone = document("alone", {"a": [{1, 2}]})
    plain = agreement(made, coefficient="K", draws=500, seed=1)
    more = agreement([*made, alone], coefficient="K", draws=500, seed=1)
    assert plain.interval() == more.interval()
    assert plain.interval()[0] < plain.value < plain.interval()[1]


@pytest.mark.parametrize("seed", range(6))
def test_an_estimate_lies_inside_the_interval_next_to_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = []
    for n in range(int(rng.integers(1, 5))):
        truth = {m: int(rng.integers(4)) for m in range(int(rng.integers(3, 12)))}
        coders = {
            who: {m: k if rng.random() < 1 - 0.2 * (seed % 3) else 9 for m, k in truth.items()}
            for who in ("ana", "ben", "cho")
        }
        texts.append(am.coref.document(f"t{n}", coders, genre=f"g{n % 2}"))
    found = am.coref.pair_posterior(texts, 60, seed, prob=0.5)
    whole = am.coref.agreement_table(texts, ["incl-"], draws=60, prob=0.5)
    tables = [
        (found.table, "kappa", "low", "high"),
        (found.overall, "kappa", "low", "high"),
        (whole.table, "value", "low", "high"),
    ]
    coders = am.coref.coder_table(texts, draws=60, prob=0.5).table
    tables += [
        (coders, "with_others", "low", "high"),
        (coders, "difference", "difference_low", "difference_high"),
    ]
    for table, value, low, high in tables:
        assert not (table[value] < table[low] - 1e-12).any()
        assert not (table[value] > table[high] + 1e-12).any()
