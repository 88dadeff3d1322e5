"""The NUTS engine: the logit-normal model recovers, a stopped run keeps its draws."""

import numpy as np
import pytest

import annomodels as am
from tests.engines.crowds import draws, p_truth, simulate

pytestmark = pytest.mark.nuts


@pytest.fixture(scope="module")
def crowd():
    """Labels of one size, so that a model is compiled once."""
    return simulate(np.random.default_rng(6), n_items=150, n_coders=6, per_item=4)


@pytest.mark.calibration
def test_the_logit_normal_model_recovers_truth_and_skill_and_says_how_far_it_is(crowd):
    data, truth = crowd
    told = []
    options = {"seed": 1, "chains": 2, "draws": 500, "progress": lambda *said: told.append(said)}
    fit = am.fit(data, "logit-normal", **options)
    shares = [share for stage, share, _ in told if stage == "sampling"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any(text.endswith(f" of {2 * (500 + 500):,} draws") for _, _, text in told)
    assert (p_truth(fit).argmax(axis=1) == truth).mean() > 0.9
    assert float(fit.tree.attrs["rhat_max"]) < 1.05
    confusion = draws(fit, "confusion")
    np.testing.assert_allclose(confusion.sum(axis=-1), 1.0, atol=1e-6)
    for j in range(data.n_coders):
        mine = data.coder == j
        right = (data.label[mine] == truth[data.item[mine]]).mean()
        accuracy = np.einsum("skk,sk->s", confusion[:, j], draws(fit, "prevalence"))
        low, high = np.quantile(accuracy, [0.001, 0.999])
        assert low < right < high


@pytest.mark.calibration
@pytest.mark.usefixtures("unending_sampler")
def test_a_time_limit_keeps_the_draws_of_all_chains_that_got_far(crowd):
    """A sampler that would go on is stopped; one chain has hardly begun, and nutpie pads it."""
    options = {"chains": 4, "draws": 100_000, "warmup": 200, "seed": 1}
    fit = am.fit(crowd[0], "logit-normal", time_limit=0.1, **options)
    assert fit.tree.attrs["stopped"] == "time limit"
    assert dict(fit.tree["posterior"].sizes)["chain"] == 3
    assert fit.tree["posterior"].sizes["draw"] == 60
    assert np.isfinite(draws(fit, "confusion")).all()
    np.testing.assert_allclose(p_truth(fit).sum(axis=1), 1.0)


@pytest.mark.usefixtures("uncompiled")
def test_concentrations_that_are_all_rounding_errors_are_ruled_out():
    """At e^60 the last digit of log gamma is some 1e12, so that its sums may hold a chain."""
    from scipy.special import gammaln

    from annomodels.engines.pymc.nuts import MOST_CONCENTRATED, bound_concentrations, start_point
    from annomodels.models import resolve
    from annomodels.models.encoded import encode

    codes = encode(simulate(np.random.default_rng(8), n_items=20)[0])
    model = resolve("hierarchical")
    built = model.build(codes, {name: list("abc") for name in ("truth", "label")} | {
        "coder": [f"c{j}" for j in range(codes.n_rows)]
    })  # fmt: skip
    plain = built.compile_logp()
    free = built.initial_point()
    (log_name,) = (name for name in free if name.startswith("concentration"))
    near, edge, far = ({**free, log_name: np.full(3, x)} for x in (4.0, 20.0, 60.0))
    before = [float(plain(point)) for point in (near, edge)]
    bound_concentrations(built, ["concentration"])
    bounded = built.compile_logp()
    assert np.exp(20.0) < MOST_CONCENTRATED < np.exp(21.0)
    assert [float(bounded(point)) for point in (near, edge)] == pytest.approx(before, rel=1e-12)
    # what it guards against; whether errors cancel differs from machine to machine
    assert np.isfinite(float(plain(far)))
    assert np.spacing(gammaln(np.exp(60.0))) > 1e12
    assert float(bounded(far)) == -np.inf
    assert start_point(model, codes)["concentration"].max() < MOST_CONCENTRATED
