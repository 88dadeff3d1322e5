"""What one more reader would say: shares summed out, one definition, and a right forecast."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from annomodels.coref import pairs
from annomodels.engines import readers

pytestmark = pytest.mark.slow


def _codes(said):
    rows = [(f"t#{i:04}", f"c{j}", x) for i, xs in enumerate(said) for j, x in enumerate(xs)]
    return pairs(pd.DataFrame(rows, columns=["item", "coder", "label"]))


def _sample(rng, n, coders, shares=(0.6, 0.4), spread=0.8, within=0.5):
    """Draw labels one after the other: the class by an urn, the antecedent by another."""
    out = []
    for _ in range(n):
        own: list[str] = []
        for _ in range(coders):
            new = sum(x == "DN()" for x in own)
            if rng.random() < (new + spread * shares[0]) / (len(own) + spread):
                own.append("DN()")
                continue
            old = [x for x in own if x != "DN()"]
            if rng.random() < within / (len(old) + within):
                own.append(f"DO({len(set(old))})")
            else:
                own.append(old[rng.integers(len(old))])
        out.append(own)
    return out


SAID = [
    ["DN()", "DN()", "DO(1)"],
    ["DO(1)", "DO(1)", "DO(2)", "DO(3)"],
    ["DN()"],
    ["DO(4)", "expletive"],
]
SHARES, SPREAD, WITHIN = np.array([0.5, 0.3, 0.2]), 0.7, np.array([0.0, 1.3, 0.0])


def _in_turn(labels):
    """Log probability of labels that are said one after the other."""
    total, seen = 0.0, Counter()
    for n, label in enumerate(labels):
        name = label.split("(")[0]
        h = ["DN", "DO", "expletive"].index(name)
        own = sum(times for x, times in seen.items() if x.split("(")[0] == name)
        total += np.log((own + SPREAD * SHARES[h]) / (n + SPREAD))
        if name == "DO":
            total += np.log((seen[label] or WITHIN[h]) / (own + WITHIN[h]))
        seen[label] += 1
    return total


def test_the_likelihood_is_that_of_labels_one_after_the_other(rng):
    wanted = sum(_in_turn(rng.permutation(labels)) for labels in SAID)
    found = readers.log_likelihood_of(_codes(SAID), SHARES, SPREAD, WITHIN)
    assert found == pytest.approx(wanted, rel=1e-12)


def test_the_forecast_is_the_ratio_of_likelihoods_with_one_label_more():
    codes = _codes(SAID)
    drawn = readers.Readers(SHARES[None], np.array([SPREAD]), WITHIN[None])
    p = readers.next_label(codes, drawn)
    before = readers.log_likelihood_of(codes, SHARES, SPREAD, WITHIN)
    for m, (i, label) in enumerate(zip(codes.mention, codes.labels, strict=True)):
        more = [labels + [label] * int(n == i) for n, labels in enumerate(SAID)]
        after = readers.log_likelihood_of(_codes(more), SHARES, SPREAD, WITHIN)
        assert p[m] == pytest.approx(np.exp(after - before), rel=1e-10)
    # with what nobody said yet it is a distribution
    for i, labels in enumerate(SAID):
        rest = {"DN()", "DO(99)", "expletive"} - set(labels)
        other = [np.exp(_in_turn([*labels, x]) - _in_turn(labels)) for x in rest]
        assert p[codes.mention == i].sum() + sum(other) == pytest.approx(1.0)


@pytest.mark.usefixtures("uncompiled")
def test_joint_densities_are_one():
    from scipy.stats import dirichlet

    codes = _codes(SAID)
    built = readers.build_readers(codes)
    names = ["classes", "spread", "within"]
    wanted = built.replace_rvs_by_values([built[name] for name in names])
    logp = built.compile_fn(
        [built.logp(jacobian=False), *wanted], inputs=built.value_vars, mode="FAST_COMPILE"
    )
    rng, start = np.random.default_rng(3), built.initial_point()
    for _ in range(3):
        point = {key: value + rng.normal(0, 0.5, np.shape(value)) for key, value in start.items()}
        total, classes, spread, within = map(np.asarray, logp(point))
        own = np.array([0.0, within[0], 0.0])
        mine = readers.log_likelihood_of(codes, classes, float(spread), own)
        mine += dirichlet.logpdf(classes, np.ones(3))
        mine += float(readers.SPREAD.logp(spread) + readers.SPREAD.logp(within[0]))
        assert float(total) == pytest.approx(mine, rel=1e-7)


def test_draws_have_the_posterior_of_a_grid(rng):
    codes = _codes(_sample(rng, 40, 4))
    drawn = readers.read_shares(codes, draws=4000)
    share, spread = np.linspace(0.01, 0.99, 50), np.exp(np.linspace(-3.5, 2.5, 40))
    log_p = np.array(
        [
            [
                readers.log_likelihood_of(codes, np.array([x, 1 - x]), a, np.array([0.0, 1.0]))
                # in terms of log a
                + float(readers.SPREAD.logp(a)) + np.log(a)
                for a in spread
            ]
            for x in share
        ]
    )  # fmt: skip
    p = np.exp(log_p - logsumexp(log_p))
    for values, grid, weight in (
        (drawn.classes[:, 0], share, p.sum(axis=1)),
        (np.log(drawn.spread), np.log(spread), p.sum(axis=0)),
    ):
        mean = (grid * weight).sum()
        sd = np.sqrt(((grid - mean) ** 2 * weight).sum())
        assert values.mean() == pytest.approx(mean, abs=0.1 * sd)
        assert values.std() == pytest.approx(sd, rel=0.1)


def test_the_forecast_is_right_on_average(rng):
    said = _sample(rng, 4000, 6)
    codes = _codes([labels[:5] for labels in said])
    found = readers.read_shares(codes)
    assert found.spread.mean() == pytest.approx(0.8, abs=0.12)
    assert found.antecedents[:, 1].mean() == pytest.approx(0.5, abs=0.1)
    p = readers.next_label(codes, found)
    came = np.array(
        [codes.labels[m] == said[i][5] for m, i in enumerate(codes.mention)], dtype=float
    )
    for edge in np.arange(0, 1, 0.2):
        chosen = (p >= edge) & (p < edge + 0.2)
        error = np.sqrt((p * (1 - p))[chosen].sum()) / chosen.sum()
        assert abs(p[chosen].mean() - came[chosen].mean()) < 4 * error


@pytest.mark.full("Compiles for a minute; reduced runs have the density and intervals that cover.")
def test_nuts_gives_the_same(rng):
    import nutpie

    codes = _codes(_sample(rng, 200, 4))
    compiled = nutpie.compile_pymc_model(readers.build_readers(codes), backend="numba")
    tree = nutpie.sample(compiled, draws=1000, tune=500, chains=2, seed=1, progress_bar=False)
    found, drawn = tree["posterior"].to_dataset(), readers.read_shares(codes, draws=2000)
    pairs = {
        "spread": drawn.spread,
        "classes": drawn.classes[:, 0],
        "within": drawn.antecedents[:, 1],
    }
    for name, values in pairs.items():
        other = found[name].values.reshape(2000, -1)[:, 0]
        assert values.mean() == pytest.approx(other.mean(), abs=0.15 * other.std())
        assert values.std() == pytest.approx(other.std(), rel=0.15)
