"""Leaving out items and labels: against refits, against ArviZ, against Carpenter's figures."""

import numpy as np
import pytest

import annomodels as am
from annomodels.models.encoded import encode
from annomodels.summaries.draws import thinned
from annomodels.summaries.trust.held_out import held_out, pointwise

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, 60)
    rows = []
    for i, c in enumerate(truth):
        for j in rng.choice(6, 5, replace=False):
            label = c if rng.random() < 0.6 + 0.06 * j else rng.integers(0, 3)
            rows.append((i, int(j), int(label)))
    return am.Annotations.from_records(rows, labels=range(3), truth={0: int(truth[0])})


OPTIONS = {"chains": 4, "draws": 2500, "seed": 2, "extend": False}


def _density(fit, item_rows, data, gold=-1):
    """Log p(labels of an item) on each draw of a fit to other data; rows are (coder, label)."""
    draws = thinned(fit.tree, data)
    joint = np.log(draws.prevalence)
    for coder, label in item_rows:
        joint = joint + np.log(draws.confusion[:, coder, :, label])
    return joint[:, gold] if gold >= 0 else np.logaddexp.reduce(joint, axis=1)


def _mean(values):
    return np.logaddexp.reduce(values) - np.log(len(values))


def _without(data, keep):
    """Leave out annotations; coders and labels stay."""
    rows = [
        (int(data.item[n]), int(data.coder[n]), int(data.label[n])) for n in np.flatnonzero(keep)
    ]
    gold = {0: int(data.gold[0])} if keep[data.item == 0].any() else None
    return am.Annotations.from_records(rows, labels=range(3), truth=gold)


@pytest.mark.calibration
@pytest.mark.parametrize("by", ["item", "label"])
def test_estimates_equal_refits_without_the_point(small, by):
    fit = am.fit(small, "dawid-skene", **OPTIONS)
    found = held_out(fit.tree, small, by)
    codes = encode(small, collapse=False)
    values = np.concatenate(
        [v for _, v in pointwise(thinned(fit.tree, small, 2000), codes, by)], axis=1
    )
    spread = values.std(axis=0)
    # the points that move the posterior most and can still be estimated, and two others
    n_points = small.n_items if by == "item" else len(small)
    exact = np.empty(n_points)
    spread[found.pareto_k > 0.4] = 0.0
    chosen = [0, *np.argsort(-spread)[:3].tolist(), 7]
    for point in chosen:
        owner = point if by == "item" else int(small.item[point])
        mine = small.item == owner
        left_out = mine if by == "item" else np.arange(len(small)) == point
        rest = am.fit(_without(small, ~left_out), "dawid-skene", **OPTIONS)
        gold = int(small.gold[owner])
        whole = [(int(small.coder[n]), int(small.label[n])) for n in np.flatnonzero(mine)]
        density = _density(rest, whole, small, gold)
        if by == "label":
            others = [
                (int(small.coder[n]), int(small.label[n])) for n in np.flatnonzero(mine & ~left_out)
            ]
            density = density - _density(rest, others, small, gold)
        exact[point] = _mean(density)
    np.testing.assert_allclose(found.elpd[chosen], exact[chosen], atol=0.04)
    assert found.total < found.in_sample.sum()


def test_blocks_do_not_change_the_densities(small, monkeypatch):
    from annomodels.summaries.trust import held_out as module

    fit = am.fit(small, "dawid-skene", chains=2, draws=60, seed=1, extend=False)
    draws, codes = thinned(fit.tree, small), encode(small)
    for by in ("item", "label"):
        whole = np.concatenate([v for _, v in pointwise(draws, codes, by)], axis=1)
        with monkeypatch.context() as patch:
            patch.setattr(module, "BLOCK", 120 * 3 * 9)
            parts = list(pointwise(draws, codes, by))
            assert len(parts) > 3
            np.testing.assert_array_equal(np.concatenate([v for _, v in parts], axis=1), whole)


@pytest.fixture(scope="module")
def caries():
    data = am.datasets.load("caries")
    return {name: am.fit(data, name, seed=1) for name in ("dawid-skene", "hierarchical", "pooled")}


@pytest.mark.calibration
def test_espeland_and_handelman_1989_elpd_of_dawid_skene(caries):
    """-7476.4 nats over 3,869 X-rays, as the field's tables have it for Dawid-Skene."""
    assert held_out(caries["dawid-skene"].tree, caries["dawid-skene"].data).total == pytest.approx(
        -7476.4, abs=1.0
    )


@pytest.mark.calibration
def test_the_comparison_ranks_and_says_what_cannot_be_told_apart(caries):
    found = am.compare(caries)
    table = found.table.set_index("model")
    assert table.index[-1] == "pooled"
    assert table.loc["pooled", "verdict"] == "clearly worse"
    first, second = found.table["model"][:2]
    assert table.loc[first, "verdict"] == "best"
    assert table.loc[second, "verdict"].startswith("as good as the best")
    assert table["weight"].sum() == pytest.approx(1.0)
    assert table["difference"].max() == 0.0
    gap = found.draws["elpd"].sel(model="pooled") - found.draws["elpd"].sel(model=first)
    assert float(gap.sum()) == pytest.approx(table.loc["pooled", "difference"])


@pytest.mark.calibration
def test_what_cannot_be_compared_is_refused(caries, small):
    first = caries["dawid-skene"]
    with pytest.raises(am.errors.NotApplicable, match="at least two fits"):
        am.compare([first])
    with pytest.raises(am.errors.NotApplicable, match="different data"):
        am.compare([first, am.fit(small, "hierarchical", chains=2, draws=60, seed=1, extend=False)])
    with pytest.raises(am.errors.NotApplicable, match="1 draw"):
        am.compare([first, am.fit(first.data, "dawid-skene", engine="em", seed=1, starts=1)])
    with pytest.raises(am.errors.NotApplicable, match="item, label"):
        am.compare([first, first], by="coder")
