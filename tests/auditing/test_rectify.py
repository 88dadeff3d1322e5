"""The posterior of shares on a grid, against the model it is of, quadrature and its limits."""

import numpy as np
import pytest
from scipy.special import betaln, expit, logit, logsumexp
from scipy.stats import beta, betabinom, norm, truncnorm

from annomodels.auditing.estimator import (
    GROUPS,
    OF_SHARES,
    OF_WRONG,
    STEEPEST,
    WEAK,
    Prior,
    Rectifier,
    moved,
    of_group,
)

FEW = {
    "few strata": ([0.03, 0.2, 0.45], [500, 200, 100], [12, 10, 8], [1, 4, 3]),
    "zero found": ([0.01, 0.15], [700, 120], [20, 12], [0, 0]),
}


def totals(grid, seen, found, draws, rng):
    """Draws of how many of all items have what is counted, and of the shares."""
    shares = grid.shares(seen, found, draws, rng)
    rest = np.round(grid.size - seen).astype(int)
    return rng.binomial(rest[None], shares).sum(axis=1) + found.sum(), shares


def arrays(case):
    mean, size, seen, found = (np.array(part, dtype=float) for part in case)
    return mean, size, seen, found


def prior_draws(mean, size, prior, n, rng):
    """Shares as the formulas of the prior say, with the centre of each slope by Newton."""
    far = rng.random(n) < prior.doubt
    shift = prior.shift + rng.standard_normal(n) * np.where(far, prior.far, prior.near)
    slope = truncnorm(-1 / prior.slope, (STEEPEST - 1) / prior.slope, 1, prior.slope)
    slope = slope.rvs(n, random_state=rng)[:, None]
    weight = prior.weight * np.exp(prior.weight_spread * rng.standard_normal(n))[:, None]
    centre = (1 - slope) * (logit(mean) * size).sum() / size.sum()
    for _ in range(30):
        p = expit(slope * logit(mean) + centre)
        step = (size * (p - mean)).sum(axis=1) / (size * p * (1 - p)).sum(axis=1)
        centre = centre - np.clip(step, -1, 1)[:, None]
    mu = expit(shift[:, None] + centre + slope * logit(mean))
    return np.clip(rng.beta(weight * mu + 1e-12, weight * (1 - mu) + 1e-12), 1e-300, 1 - 1e-16)


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("prior", [OF_WRONG, OF_SHARES, WEAK], ids=["wrong", "shares", "weak"])
def test_the_grid_is_the_posterior_by_weighted_draws_of_the_prior(name, prior):
    mean, size, seen, found = arrays(FEW[name])
    share = prior_draws(mean, size, prior, 80_000, np.random.default_rng(2))
    log_p = (found * np.log(share) + (seen - found) * np.log1p(-share)).sum(axis=1)
    p = np.exp(log_p - logsumexp(log_p))
    assert 1 / (p**2).sum() > 5000
    grid = Rectifier(mean, size, prior).shares(seen, found, 60_000, np.random.default_rng(1))
    for stratum in range(len(mean)):
        order = np.argsort(share[:, stratum])
        below = np.cumsum(p[order])
        # Kolmogorov's distance of the two samples, where shares are no rounded zeros
        steps = np.searchsorted(np.sort(grid[:, stratum]), share[order, stratum]) / len(grid)
        assert np.abs(below - steps)[share[order, stratum] > 1e-9].max() < 0.03


def by_quadrature(mean, size, seen, found, prior, points=400):
    """Probability of each total of one stratum: the model summed over a fine grid."""
    shift = np.linspace(-12, 12, 4 * points) * max(prior.near, prior.far) / 2 + prior.shift
    w = np.exp(np.log(prior.weight) + prior.weight_spread * np.linspace(-5, 5, points // 4))
    of_shift = np.logaddexp(
        np.log1p(-prior.doubt) + norm.logpdf(shift, prior.shift, prior.near),
        np.log(prior.doubt) + norm.logpdf(shift, prior.shift, prior.far),
    )
    of_weight = norm.logpdf(np.linspace(-5, 5, points // 4))
    mu = expit(logit(mean) + shift)[:, None]
    a, b = w * mu, w * (1 - mu)
    log_p = of_shift[:, None] + of_weight + betaln(a + found, b + seen - found) - betaln(a, b)
    p = np.exp(log_p - logsumexp(log_p)).ravel()
    use = p > 1e-9
    rest = np.arange(size - seen + 1)
    a, b, p = a.ravel()[use] + found, b.ravel()[use] + seen - found, p[use]
    return sum(
        weight * betabinom.pmf(rest, size - seen, x, y)
        for weight, x, y in zip(p, a, b, strict=True)
    )


@pytest.mark.few("0.05-60-15-9-prior1", "0.3-40-10-4-prior2")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mean", "size", "seen", "found", "prior"),
    [
        (0.05, 60, 15, 0, OF_WRONG),
        (0.05, 60, 15, 9, OF_WRONG),
        (0.3, 40, 10, 4, OF_SHARES),
        (0.5, 30, 1, 1, Prior(shift=1.0, near=1.0, far=1.5)),
        (0.02, 80, 0, 0, OF_WRONG),
    ],
)
def test_totals_of_one_stratum_are_those_of_quadrature(mean, size, seen, found, prior):
    exact = by_quadrature(mean, size, seen, found, prior, 120)
    assert exact.sum() == pytest.approx(1, abs=1e-4)
    grid = Rectifier(np.array([mean]), np.array([size]), prior)
    total, _ = totals(
        grid, np.array([float(seen)]), np.array([float(found)]), 40_000, np.random.default_rng(5)
    )
    drawn = np.bincount((total - found).astype(int), minlength=len(exact)) / 40_000
    # Kolmogorov's distance, of which 40,000 draws leave .007
    assert np.abs(np.cumsum(drawn) - np.cumsum(exact)).max() < 0.02


def test_a_model_that_is_trusted_is_repeated():
    mean, size = np.array([0.1, 0.4]), np.array([30_000, 20_000])
    sure = Prior(near=1e-3, far=1e-3, slope=1e-3, weight=1e7, weight_spread=1e-2)
    seen, found = np.array([20.0, 20]), np.array([15.0, 1])
    _, shares = totals(Rectifier(mean, size, sure), seen, found, 2000, np.random.default_rng(1))
    np.testing.assert_allclose(shares.mean(axis=0), mean, atol=2e-3)
    np.testing.assert_allclose(shares.std(axis=0), 0, atol=2e-3)


def test_a_model_that_is_not_trusted_leaves_the_audit():
    # with a vanishing weight each stratum is Beta(found, seen - found): its mean is found / seen
    mean, size = np.array([0.1, 0.9]), np.array([50_000, 50_000])
    none = Prior(near=2.0, far=4.0, weight=1e-4, weight_spread=0.1)
    seen, found = np.array([40.0, 60]), np.array([30.0, 6])
    shares = Rectifier(mean, size, none).shares(seen, found, 40_000, np.random.default_rng(1))
    expected = found / seen
    np.testing.assert_allclose(shares.mean(axis=0), expected, atol=2e-3)
    spread = np.sqrt(expected * (1 - expected) / (seen + 1))
    np.testing.assert_allclose(shares.std(axis=0), spread, rtol=0.03)


def test_slopes_keep_the_total_that_the_model_expects():
    mean, size = np.array([0.01, 0.2, 0.7]), np.array([800.0, 150, 50])
    grid = Rectifier(mean, size)
    slopes = np.array([0.3, 1.0, 3.0])
    totals = (expit(grid._centred(slopes)) * size).sum(axis=1)
    np.testing.assert_allclose(totals, (mean * size).sum(), rtol=1e-9)


def test_points_of_the_grid_weigh_as_the_density_says():
    # with nothing seen the weights are the prior, whose shift has the mean and variance of its
    # mixture and whose doubles of the weight are as likely as its halves
    prior = Prior(shift=0.7, near=0.5, far=1.3, doubt=0.3)
    grid = Rectifier(np.array([0.5]), np.array([1e9]), prior)
    p = grid.weights(np.zeros(1), np.zeros(1))
    total = grid.a[:, 0] + grid.b[:, 0]
    shift = logit(grid.a[:, 0] / total)
    assert (p * shift).sum() == pytest.approx(0.7, abs=1e-9)
    variance = (p * (shift - 0.7) ** 2).sum()
    assert variance == pytest.approx(0.7 * 0.25 + 0.3 * 1.69, rel=0.03)
    assert (p * np.log(total)).sum() == pytest.approx(np.log(prior.weight), abs=1e-9)


def test_everything_seen_leaves_nothing_open():
    mean, size = np.array([0.1, 0.4]), np.array([30, 20])
    seen, found = np.array([30.0, 20]), np.array([7.0, 20])
    total, _ = totals(Rectifier(mean, size), seen, found, 500, np.random.default_rng(1))
    assert (total == 27).all()


def test_impossible_and_certain_means_are_only_nearly_so():
    mean, size = np.array([0.0, 1.0, 0.5]), np.array([100, 100, 100])
    seen, found = np.array([10.0, 10, 10]), np.array([4.0, 5, 5])
    shares = Rectifier(mean, size).shares(seen, found, 2000, np.random.default_rng(1))
    assert np.isfinite(shares).all()
    assert shares[:, 0].mean() > 0.02
    assert shares[:, 1].mean() < 0.98


def test_shares_that_are_moved_stay_shares_and_meet_their_strata():
    rng = np.random.default_rng(6)
    p = rng.beta(0.5, 2, 300)
    stratum, group = rng.integers(3, size=300), rng.integers(5, size=300)
    expected, n = np.zeros((3, 5)), np.zeros((3, 5))
    np.add.at(expected, (stratum, group), p)
    np.add.at(n, (stratum, group), 1)
    mean = expected.sum(axis=1) / n.sum(axis=1)
    shares = rng.random((50, 3))
    out = moved(expected, n, mean, shares)
    assert (out >= -1e-9).all()
    assert (out <= n.sum(axis=0) + 1e-9).all()
    np.testing.assert_allclose(out.sum(axis=1), shares @ n.sum(axis=1))


def test_a_group_follows_its_own_audited_units():
    # by quadrature: h ~ Beta, shift ~ mixture, found ~ Binomial(seen, expit(logit(rate) + shift))
    prior = Prior(near=0.3, far=1.0, doubt=0.2)
    n, seen, found, rate = 1000.0, 30.0, 15.0, 0.1
    shift = np.linspace(-6, 6, 6001)
    near, far = (norm.pdf(shift, 0, spread) for spread in (0.3, 1.0))
    near, far = near / near.sum(), far / far.sum()
    share = expit(logit(rate) + shift)
    told = share**found * (1 - share) ** (seen - found)
    h = (np.arange(400) + 0.5) / 400
    # the group without audited units says nothing of h; the other one does
    of_h = beta(GROUPS * 0.2, GROUPS * 0.8).pdf(h) * ((1 - h) * (told @ near) + h * (told @ far))
    mean_h = float((h * of_h).sum() / of_h.sum())
    out = of_group(
        np.full((20_000, 2), rate * n), np.full(2, n), np.array([seen, 0]), np.array([found, 0]),
        np.array([rate * seen, 0]), np.random.default_rng(1), prior,
    )  # fmt: skip
    prior_h = beta(GROUPS * 0.2, GROUPS * 0.8).pdf(h)
    prior_h = float((h * prior_h).sum() / prior_h.sum())
    density = told * ((1 - prior_h) * near + prior_h * far)
    expected = float((density / density.sum() * share).sum())
    assert (out[:, 0] - found).mean() / n == pytest.approx(expected, rel=0.02)
    # one without audited units keeps to what was expected, but for the prior and for h
    assert mean_h > prior_h + 0.03
    alone = (1 - mean_h) * near + mean_h * far
    assert out[:, 1].mean() / n == pytest.approx(float(alone @ share), rel=0.01)
    assert (out <= n + found).all()
