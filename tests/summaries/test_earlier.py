"""Priors from an earlier fit: two batches one after the other say what both at once say."""

import json

import numpy as np
import pytest

import annomodels as am
from annomodels.models import from_dict
from annomodels.models.encoded import encode
from annomodels.priors import CoderRows, Dirichlet, Rows

pytestmark = pytest.mark.slow

K, CODERS, ITEMS = 3, 8, 120


@pytest.fixture(scope="module")
def batches():
    """Two batches by the same coders, one of whom is careless, and one coder only in the second."""
    rng = np.random.default_rng(11)
    rows = np.stack(
        [rng.dirichlet(30 * np.where(np.eye(K), 0.8, 0.1)[k], CODERS) for k in range(K)], 1
    )
    rows[0] = rng.dirichlet([2.0] * K, K)
    truth = rng.choice(K, 2 * ITEMS, p=[0.6, 0.3, 0.1])
    out = []
    for batch in range(2):
        records = []
        for i in range(batch * ITEMS, (batch + 1) * ITEMS):
            for j in rng.permutation(CODERS - 1 + batch)[:4]:
                label = int(rng.choice(K, p=rows[j, truth[i]]))
                records += [(i, f"c{j}", label)]
        out.append(records)
    data = [am.Annotations.from_records(part, labels=range(K)) for part in (*out, out[0] + out[1])]
    return data, truth


def fitted(data, model="hierarchical"):
    return am.fit(data, model, chains=2, draws=1000, seed=1)


def mean_of(fit, name):
    return fit.tree["posterior"][name].mean(("chain", "draw")).values


@pytest.mark.calibration
@pytest.mark.parametrize("model", ["hierarchical", "pooled"])
def test_batches_one_after_the_other_are_both_at_once(batches, model) -> None:
    (one, two, both), _ = batches
    first, together, alone = fitted(one, model), fitted(both, model), fitted(two, model)
    later = fitted(two, am.prior_from(first))
    for name, near in (("prevalence", 0.02), ("confusion", 0.05)):
        target, found, without = (mean_of(f, name) for f in (together, later, alone))
        assert np.abs(found - target).mean() < near, name
        assert np.abs(found - target).max() < 3 * near, name
        assert np.abs(found - target).mean() < 0.75 * np.abs(without - target).mean(), name
    p_later = later.tree["truth"]["p_truth"].values
    p_both = together.tree["truth"]["p_truth"].values[ITEMS:]
    p_alone = alone.tree["truth"]["p_truth"].values
    gap, gap_alone = np.abs(p_later - p_both).mean(), np.abs(p_alone - p_both).mean()
    assert gap < 0.6 * gap_alone


def test_the_population_goes_on_and_new_coders_join_it(batches) -> None:
    (one, two, both), _ = batches
    first = fitted(one)
    model = am.prior_from(first)
    later, together = fitted(two, model), fitted(both)
    assert np.abs(mean_of(later, "population") - mean_of(together, "population")).max() < 0.06
    assert [rows.coder for rows in model.returning] == list(first.data.coders)
    assert later.model.places == (*range(CODERS - 1), -1)
    everyone_new = am.prior_from(first, coders=False)
    assert everyone_new.returning == ()


def test_weight_discounts_the_earlier_evidence(batches) -> None:
    (one, *_), _ = batches
    first = fitted(one)
    full, half = am.prior_from(first), am.prior_from(first, weight=0.5)
    assert half.population.strength == pytest.approx(full.population.strength / 2)
    assert half.prevalence.alpha(K) == pytest.approx(full.prevalence.alpha(K) / 2)
    with pytest.raises(ValueError, match="weight"):
        am.prior_from(first, weight=0)


@pytest.mark.calibration
@pytest.mark.parametrize("model", ["hierarchical", "pooled", "dawid-skene"])
def test_it_is_a_model_like_any_other(batches, tmp_path, model) -> None:
    (one, two, _), _ = batches
    prior = am.prior_from(am.fit(one, model, chains=2, draws=100, seed=1))
    assert from_dict(json.loads(json.dumps(prior.to_dict()))) == prior
    assert "Rows(" in repr(prior)
    assert all("nan" not in line for line in prior.describe())
    fit = am.fit(two, prior, chains=2, draws=100, seed=1)
    assert am.load(fit.save(tmp_path / "fit.nc")).model == fit.model
    em = am.fit(two, prior, engine="em", seed=1)
    assert np.abs(mean_of(em, "prevalence") - mean_of(fit, "prevalence")).max() < 0.05
    with pytest.raises(am.errors.NotApplicable, match="em"):
        am.prior_from(em)


def test_labels_must_be_the_same(batches) -> None:
    (one, two, _), _ = batches
    prior = am.prior_from(fitted(one))
    renamed = two.replace(labels=("x", "y", "z"))
    with pytest.raises(am.errors.NotApplicable, match="labels 0, 1, 2"):
        am.fit(renamed, prior)
    with pytest.raises(am.errors.NotApplicable, match="cannot be taken"):
        am.prior_from(am.fit(one, "mace", chains=1, draws=50, seed=1))


def informed() -> am.models.HierarchicalDawidSkene:
    own = ((6.0, 2.0), (1.0, 3.0))
    return am.models.HierarchicalDawidSkene(
        Dirichlet(2.0, (0.3, 0.7)),
        Rows(((40.0, 10.0), (15.0, 45.0)), ("0", "1")),
        returning=(CoderRows(own, ("0", "1"), "1"),),
    )


def small(rng) -> am.Annotations:
    rows = [(i, j, int(rng.integers(2))) for i in range(8) for j in range(3)]
    return am.Annotations.from_records(rows, labels=[0, 1], truth={0: 1})


@pytest.mark.usefixtures("uncompiled")
def test_the_densities_of_gibbs_and_pymc_differ_by_a_constant(rng) -> None:
    data = small(rng)
    model = informed().with_data(data)
    assert model.places == (-1, 0, -1)
    codes = encode(data)
    pymc_model = model.build(
        codes, {"truth": ["0", "1"], "label": ["0", "1"], "coder": ["0", "1", "2"]}
    )
    logp = pymc_model.compile_logp(jacobian=False)
    from annomodels.engines.em import expect

    gaps = []
    for _ in range(5):
        state = model.sample_parameters(3, 2, rng)
        values = model.pymc_start(state)
        point = {}
        for rv in pymc_model.free_RVs:
            value = pymc_model.rvs_to_values[rv]
            transform = pymc_model.rvs_to_transforms[rv]
            raw = values[rv.name]
            args = rv.owner.inputs
            point[value.name] = transform.forward(raw, *args).eval() if transform else raw
        prior = float(model.log_prior({name: v[None] for name, v in values.items()})[0])
        gaps.append(float(logp(point)) - expect(codes, state)[3] - prior)
    assert np.ptp(gaps) < 1e-6


@pytest.mark.calibration
def test_draws_given_no_labels_are_those_of_the_prior(rng) -> None:
    data = small(rng)
    model = informed().with_data(data)
    state = model.sample_parameters(3, 2, rng)
    counts, sizes = np.zeros((3, 2, 2)), np.zeros(2)
    kept, prior = [], []
    for n in range(6000):
        model.draw(counts, sizes, state, np.uint64(5), n)
        kept.append(np.exp(state.log_confusion[:, 0, 0]))
        prior.append(np.exp(model.sample_parameters(3, 2, rng).log_confusion[:, 0, 0]))
    kept, prior = np.array(kept), np.array(prior)
    assert kept.mean(axis=0) == pytest.approx(prior.mean(axis=0), abs=0.02)
    assert kept.std(axis=0) == pytest.approx(prior.std(axis=0), abs=0.02)
    assert kept.mean(axis=0)[1] == pytest.approx(0.75, abs=0.01)
