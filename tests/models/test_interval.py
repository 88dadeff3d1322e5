"""The interval model: its density, its PyMC definition, its sampler, its tables."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import chisquare, gamma, norm

import annomodels as am
from annomodels.engines import interval
from annomodels.engines.interval import gibbs
from annomodels.engines.settings import Settings
from annomodels.limits import STATES
from annomodels.models.interval import POPULATION, Interval, labels_logp
from annomodels.models.numeric import NumericLabels, numeric_labels
from annomodels.summaries.numbers import implied_alpha
from annomodels.summaries.trust.checks import VERDICTS

pytestmark = pytest.mark.slow

Values = dict[str, NDArray[Any]]
MODEL = Interval(centre=0.0, unit=1.0)


def sampled_parameters(n_items: int, n_coders: int, rng: Any) -> Values:
    """Draw all parameters and truths from the prior, in standard units."""
    out: Values = {"truth_mean": np.asarray(rng.normal(0.0, MODEL.location))}
    for name in POPULATION[1:]:
        out[name] = getattr(MODEL, name).sample(rng, ())
    alpha, beta = out["coder_shape"], out["item_shape"]
    out["bias"] = rng.normal(0.0, out["bias_spread"], n_coders)
    out["scale"] = rng.normal(1.0, out["scale_spread"], n_coders)
    out["precision"] = rng.gamma(2 + alpha, 1 / ((1 + alpha) * out["noise"] ** 2), n_coders)
    out["ease"] = rng.gamma(2 + beta, 1 / (1 + beta), n_items)
    out["truth"] = rng.normal(out["truth_mean"], out["truth_spread"], n_items)
    return out


def sampled_labels(values: Values, item: Any, coder: Any, rng: Any) -> NDArray[Any]:
    """Draw labels, not yet rounded, in standard units."""
    precision = values["ease"][item] * values["precision"][coder]
    return rng.normal(MODEL.mean_labels(values, item, coder), 1 / np.sqrt(precision))


def log_density(v: Values, labels: NumericLabels) -> float:
    """Log joint density of parameters and labels; unknown truths summed out if labels are exact."""
    alpha, beta = v["coder_shape"], v["item_shape"]
    total = norm.logpdf(v["truth_mean"], 0, MODEL.location)
    for name in POPULATION[1:]:
        total = total + getattr(MODEL, name).logp(v[name])
    total += norm.logpdf(v["bias"], 0, v["bias_spread"]).sum()
    total += norm.logpdf(v["scale"], 1, v["scale_spread"]).sum()
    rate = (1 + alpha) * v["noise"] ** 2
    total += gamma.logpdf(v["precision"], 2 + alpha, scale=1 / rate).sum()
    total += gamma.logpdf(v["ease"], 2 + beta, scale=1 / (1 + beta)).sum()
    if labels.exact:
        return float(total + labels_logp(np, v, labels))
    total += norm.logpdf(v["truth"], v["truth_mean"], v["truth_spread"]).sum()
    sd = (v["ease"][labels.item] * v["precision"][labels.coder]) ** -0.5
    mean = MODEL.mean_labels(v, labels.item, labels.coder)
    a, b = (labels.low - mean) / sd, (labels.high - mean) / sd
    flip = a + b > 0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    return float(total + (log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))).sum())


def design(n_items: int, n_coders: int, each: int, rng: Any) -> tuple[Any, Any]:
    coder = np.concatenate([np.sort(rng.permutation(n_coders)[:each]) for _ in range(n_items)])
    return np.repeat(np.arange(n_items), each), coder


def made(
    rng: Any, n_items: int = 4, n_coders: int = 3, each: int = 2, known: int = 0, **fixed: float
):
    """Parameters and labels from the model, some of the parameters given."""
    values = sampled_parameters(n_items, n_coders, rng)
    if fixed:
        values |= {name: np.asarray(x) for name, x in fixed.items()}
        v = values
        values["bias"] = rng.normal(0, v["bias_spread"], n_coders)
        values["scale"] = rng.normal(1, v["scale_spread"], n_coders)
        a, b = v["coder_shape"], v["item_shape"]
        values["precision"] = rng.gamma(2 + a, 1 / ((1 + a) * v["noise"] ** 2), n_coders)
        values["ease"] = rng.gamma(2 + b, 1 / (1 + b), n_items)
        values["truth"] = rng.normal(v["truth_mean"], v["truth_spread"], n_items)
    item, coder = design(n_items, n_coders, each, rng)
    y = sampled_labels(values, item, coder, rng)
    given = np.full(n_items, np.nan)
    given[:known] = values["truth"][:known]
    item, coder = item.astype(np.int32), coder.astype(np.int32)
    return values, exactly(item, coder, y, given, n_coders)


def exactly(item: Any, coder: Any, y: Any, known: Any, n_coders: int) -> NumericLabels:
    return NumericLabels(item, coder, y, y, y, known, n_coders, 0.0, 1.0)


def rounded(labels: NumericLabels, step: float, low: float, high: float) -> NumericLabels:
    """Give the same labels as steps of a scale with ends."""
    y = np.clip(np.round(labels.y / step) * step, low, high)
    below = np.where(y <= low + 1e-9, -np.inf, y - step / 2)
    above = np.where(y >= high - 1e-9, np.inf, y + step / 2)
    return replace(labels, y=y, low=below, high=above, ends=(low, high))


def annotations(labels: NumericLabels) -> am.Annotations:
    rows = zip(labels.item.tolist(), labels.coder.tolist(), labels.y.round(3).tolist(), strict=True)
    return am.Annotations.from_records(list(rows), scale="interval")


def without_labels(labels: NumericLabels) -> NumericLabels:
    none = labels.item[:0]
    nan = np.full(labels.n_items, np.nan)
    return exactly(none, none, labels.y[:0], nan, labels.n_coders)


def test_the_truth_is_summed_out_as_an_integral_does_it(rng) -> None:
    values, labels = made(rng, n_items=3, known=1)
    found = log_density(values, labels) - log_density(values, without_labels(labels))
    total = 0.0
    for i in range(labels.n_items):
        mine = labels.item == i
        j = labels.coder[mine]
        sd = (values["ease"][i] * values["precision"][j]) ** -0.5
        mu, tau = values["truth_mean"], values["truth_spread"]

        def density(x: float, j=j, sd=sd, mine=mine, mu=mu, tau=tau) -> float:
            mean = mu + values["bias"][j] + values["scale"][j] * (x - mu)
            return float(norm.pdf(x, mu, tau) * norm.pdf(labels.y[mine], mean, sd).prod())

        if np.isfinite(labels.known[i]):
            total += np.log(density(labels.known[i]))
        else:
            peak = max(np.linspace(mu - 8 * tau, mu + 8 * tau, 4001), key=density)
            width = 1 / np.sqrt(tau**-2 + (values["scale"][j] ** 2 / sd**2).sum())
            ends = peak - 12 * width, peak + 12 * width
            total += np.log(quad(density, *ends, points=[peak], epsabs=0, limit=200)[0])
    assert found == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("steps", [False, True], ids=["exact", "steps with ends"])
@pytest.mark.usefixtures("uncompiled")
def test_the_pymc_model_has_the_density_of_the_definition(rng, steps: bool) -> None:
    values, labels = made(rng, known=1)
    if steps:
        labels = rounded(labels, 0.5, -1.0, 1.0)
    coords = {"coder": list("abc"), "item": list("ijkl")}
    model = MODEL.build(labels, coords)
    logp = model.compile_logp(jacobian=False)
    points = [values] + [sampled_parameters(4, 3, rng) for _ in range(3)]
    gaps = []
    for v in points:
        point = {name: v[name] for name in (*POPULATION, "precision", "ease")}
        point["bias_raw"] = v["bias"] / v["bias_spread"]
        point["scale_raw"] = (v["scale"] - 1) / v["scale_spread"]
        v["truth"][0] = labels.known[0]
        point["truth_raw"] = ((v["truth"] - v["truth_mean"]) / v["truth_spread"])[1:]
        free = {
            model.rvs_to_values[rv].name: np.log(point[rv.name])
            if model.rvs_to_values[rv].name.endswith("_log__")
            else point[rv.name]
            for rv in model.free_RVs
        }
        # biases in units of their spread: the density differs by the Jacobian
        jacobian = labels.n_coders * np.log(v["bias_spread"] * v["scale_spread"])
        jacobian += 3 * np.log(v["truth_spread"]) * steps
        gaps.append(float(logp(free)) - log_density(v, labels) - jacobian)
    assert np.ptp(gaps) < 1e-6


def run(labels: NumericLabels, seed: int = 1, **options: Any):
    settings = Settings(**{"chains": 2, "draws": 1000, "seed": seed, "extend": False, **options})
    return gibbs(MODEL, labels, settings)


TYPICAL = {
    "truth_mean": 0.3, "truth_spread": 1.2, "bias_spread": 0.4, "scale_spread": 0.2, "noise": 0.5,
    "coder_shape": 1.0, "item_shape": 3.0,
}  # fmt: skip


@pytest.mark.calibration
def test_parameters_and_truths_are_recovered(rng) -> None:
    values, labels = made(rng, n_items=300, n_coders=15, each=6, **TYPICAL)
    found = run(labels)
    truth = values["truth"]
    assert np.corrcoef(found.truth_mean, truth)[0, 1] > 0.95
    for name in ("bias", "scale", "noise_sd"):
        true = values["precision"] ** -0.5 if name == "noise_sd" else values[name]
        draws = found.posterior[name]
        z = (draws.mean((0, 1)) - true) / draws.std((0, 1))
        assert np.abs(z).max() < 4
        assert np.corrcoef(draws.mean((0, 1)), true)[0, 1] > 0.8, name
    low, high = np.quantile(found.truth.reshape(-1, 300), [0.05, 0.95], axis=0)
    assert 0.84 < ((low <= truth) & (truth <= high)).mean() < 0.96
    hard = values["ease"] ** -0.5
    assert np.corrcoef(found.difficulty, hard)[0, 1] > 0.4


def test_known_gold_is_clamped_and_ties_the_scale(rng) -> None:
    values, labels = made(rng, n_items=200, n_coders=8, each=4, known=60, **TYPICAL)
    # all coders are half a unit too high: only known truths can tell
    shifted = exactly(labels.item, labels.coder, labels.y + 0.5, labels.known, labels.n_coders)
    found = run(shifted)
    assert np.allclose(found.truth_mean[:60], values["truth"][:60])
    assert found.truth_sd[:60].max() == 0
    rest = found.truth_mean[60:] - values["truth"][60:]
    assert abs(rest.mean()) < 0.12
    free = run(replace(shifted, known=np.full(200, np.nan)))
    assert (free.truth_mean[60:] - values["truth"][60:]).mean() > 0.25


@pytest.mark.calibration
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            False, id="exact", marks=pytest.mark.full("Compiles; reduced runs have steps.")
        ),
        pytest.param(True, id="steps with ends"),
    ],
)
def test_gibbs_and_nuts_agree(rng, steps: bool) -> None:
    from annomodels.engines.interval_nuts import nuts

    _, labels = made(rng, n_items=40, n_coders=6, each=4, known=2, **TYPICAL)
    if steps:
        labels = rounded(labels, 0.5, -1.0, 1.5)
    one = run(labels, draws=4000)
    two = nuts(MODEL, labels, Settings(chains=2, draws=1500, seed=2))
    from annomodels.data.mixing import ess

    for name in one.posterior:
        a, b = one.posterior[name], two.posterior[name]
        a, b = (x.reshape(*x.shape[:2], -1) for x in (a, b))
        if name in POPULATION[1:]:
            a, b = np.log(a), np.log(b)
        error = np.hypot(a.std((0, 1)) / np.sqrt(ess(a)), b.std((0, 1)) / np.sqrt(ess(b)))
        assert (np.abs(a.mean((0, 1)) - b.mean((0, 1))) < 4.5 * error).all(), name
    error = np.hypot(one.truth_mcse, two.truth_mcse) + 1e-9
    assert (np.abs(one.truth_mean - two.truth_mean) < 6 * error).all()
    assert np.allclose(one.truth_sd, two.truth_sd, rtol=0.15, atol=0.02)


def test_an_interrupt_keeps_the_draws(rng) -> None:
    _, labels = made(rng, n_items=20, n_coders=4, each=3, **TYPICAL)
    whole = run(labels, draws=400, warmup=20)

    def interrupted(stage: str, share: float, message: str) -> None:
        if stage == "sampling":
            raise KeyboardInterrupt

    part = run(labels, draws=400, warmup=20, progress=interrupted)
    assert part.attrs["stopped"] == "interrupted"
    n = part.log_likelihood.shape[1]
    assert 0 < n < 400
    np.testing.assert_array_equal(part.posterior["bias"], whole.posterior["bias"][:, :n])
    assert np.isfinite(part.truth_mean).all()
    with pytest.raises(KeyboardInterrupt):
        run(labels, draws=400, warmup=20, progress=lambda *_: _stop())


def test_an_interrupt_in_a_further_stage_keeps_the_stage_before(rng, monkeypatch) -> None:
    _, labels = made(rng, n_items=20, n_coders=4, each=3, **TYPICAL)
    monkeypatch.setattr(interval, "_mixed", lambda *_: False)

    def interrupted(stage: str, share: float, message: str) -> None:
        if "1 draw in 4" in message:
            raise KeyboardInterrupt

    part = run(labels, draws=400, warmup=20, extend=True, progress=interrupted)
    assert part.attrs["stopped"] == "interrupted"
    assert part.attrs["thin"] == 2
    assert part.log_likelihood.shape[1] == 400
    assert np.isfinite(part.truth_mean).all()


def _stop() -> None:
    raise KeyboardInterrupt


@pytest.mark.calibration
@pytest.mark.usefixtures("unending_sampler")
def test_nuts_keeps_what_there_is_when_the_time_is_over(rng) -> None:
    from annomodels.engines.interval_nuts import nuts

    _, labels = made(rng, n_items=20, n_coders=4, each=3, **TYPICAL)
    found = nuts(MODEL, labels, Settings(chains=3, draws=500, seed=2, time_limit=0.1))
    assert found.attrs["stopped"] == "time limit"
    assert found.log_likelihood.shape == found.diverging.shape == (2, 60)
    assert np.isfinite(found.posterior["bias"]).all()
    assert found.truth.shape == (2, 60, 20)
    assert np.isfinite(found.truth_mcse).all()


def ranks(replications: int, seed: int, steps: bool) -> dict[str, NDArray[Any]]:
    """Ranks of true values among 99 draws: parameters, a truth, a difficulty."""
    out: dict[str, list[int]] = {}
    for number in range(replications):
        rng = np.random.default_rng([seed, number])
        values, labels = made(rng, n_items=12, n_coders=4, each=3, known=number % 2)
        if steps:
            labels = rounded(labels, 0.5, -1.0, 1.0)
            values["truth"] = np.clip(values["truth"], -1.0, 1.0)
        found = run(labels, chains=1, draws=99 * 20, warmup=300, seed=number, threads=1)
        thin = slice(19, None, 20)
        true = {name: float(values[name]) for name in POPULATION}
        draws = {name: found.posterior[name][0, thin] for name in POPULATION}
        for name in ("bias", "scale"):
            true[name], draws[name] = values[name][0], found.posterior[name][0, thin, 0]
        true["noise_sd"] = values["precision"][0] ** -0.5
        draws["noise_sd"] = found.posterior["noise_sd"][0, thin, 0]
        true["truth"], draws["truth"] = values["truth"][5], found.truth[0, thin, 5]
        for name, value in true.items():  # truths at an end of the scale tie
            ties = rng.integers((draws[name] == value).sum() + 1)
            out.setdefault(name, []).append(int((draws[name] < value).sum() + ties))
    return {name: np.array(found) for name, found in out.items()}


def assert_uniform(found: dict[str, NDArray[Any]], bins: int, p: float) -> None:
    for name, values in found.items():
        counts, _ = np.histogram(values, bins, (0, 100))
        assert chisquare(counts).pvalue > p, (name, counts)


@pytest.mark.calibration
@pytest.mark.parametrize("steps", [False, True], ids=["exact", "steps with ends"])
def test_ranks_of_true_values_are_uniform(steps: bool) -> None:
    found = ranks(400, 2, steps)
    assert_uniform(found, 10, 1e-3)
    inside = np.concatenate([(r >= 5) & (r <= 94) for r in found.values()])
    assert 0.87 < inside.mean() < 0.93


def test_names_and_units_do_not_matter(rng) -> None:
    _, labels = made(rng, n_items=60, n_coders=6, each=4, **TYPICAL)
    data = annotations(labels)
    one = am.fit(data, "interval", seed=3, chains=2, draws=1500)
    rows = [
        (f"x{99 - data.items[i]}", f"c{9 - data.coders[j]}", 50 + 10 * data.labels[y])
        for i, j, y in zip(data.item, data.coder, data.label, strict=True)
    ]
    other = am.Annotations.from_records(rows[::-1], scale="interval")
    two = am.fit(other, "interval", seed=4, chains=2, draws=1500)
    value = two.gold().table.set_index("item")["value"]
    value = value.reindex([f"x{99 - i}" for i in data.items]).to_numpy()
    first = one.gold().table
    assert (np.abs((value - 50) / 10 - first["value"]) < 0.25 * first["sd"]).all()


def test_the_tables_say_what_the_draws_say(rng, tmp_path: Path) -> None:
    values, labels = made(rng, n_items=80, n_coders=6, each=5, **TYPICAL)
    values["scale"][0], values["bias"][1] = -1.0, 3.0
    y = sampled_labels(values, labels.item, labels.coder, rng)
    labels = replace(labels, y=y)
    fit = am.fit(annotations(labels), Interval(step=0.0), seed=1, chains=2, draws=500)
    coders = fit.coders().table
    assert coders["kind"][0] == "reversed"
    assert coders["kind"][1] == "biased"
    assert coders["bias"][1] - coders["bias"][2] == pytest.approx(3.0, abs=1.2)
    gold = fit.gold().table
    assert ((gold["low"] < gold["value"]) & (gold["value"] < gold["high"])).all()
    assert np.allclose(gold["value"] - gold["mean"], gold["shift"])
    assert set(fit.items().table["state"]) <= set(STATES)
    agreement = fit.agreement().table.set_index("coefficient")
    assert agreement["value"]["gold"] > agreement["value"]["alpha"]
    loaded = am.load(fit.save(tmp_path / "fit.nc"))
    assert loaded.model == fit.model
    assert repr(loaded) == repr(fit)
    assert loaded.gold().table.equals(gold)
    assert loaded.check().verdict in VERDICTS


def test_implied_alpha_is_the_alpha_of_many_labels(rng) -> None:
    _, labels = made(rng, n_items=4000, n_coders=4, each=4, **TYPICAL)
    data = annotations(labels)
    fit = am.fit(data, Interval(step=0.0), seed=1, chains=1, draws=200, warmup=200, extend=False)
    direct = am.agreement(data, "alpha", draws=0).value
    assert np.median(implied_alpha(fit.tree, data)) == pytest.approx(direct, abs=0.01)


def test_the_check_sees_a_scale_with_ends(rng) -> None:
    _, labels = made(rng, n_items=60, n_coders=6, each=5, **TYPICAL)
    cut = replace(labels, y=np.clip(labels.y, -0.4, 0.8))
    none = Interval(ends=(-np.inf, np.inf))
    fit = am.fit(annotations(cut), none, seed=1, chains=2, draws=300)
    assert any("beyond -0.4 and 0.8" in sentence for sentence in fit.check().sentences)
    free = am.fit(annotations(labels), "interval", seed=1, chains=2, draws=300)
    assert not any("beyond" in sentence for sentence in free.check().sentences)


def test_what_cannot_be_fitted_is_refused_in_a_sentence() -> None:
    words = am.Annotations.from_records([(1, "a", "x"), (1, "b", "y")])
    with pytest.raises(am.errors.NotApplicable, match="numbers"):
        am.fit(words, "interval")
    same = am.Annotations.from_records([(1, "a", 2), (1, "b", 2)], scale="interval")
    with pytest.raises(am.errors.AnnotationError, match="nothing to learn"):
        am.fit(same, "interval")
    alone = am.Annotations.from_records([(1, "a", 2), (2, "a", 3)], scale="interval")
    with pytest.raises(am.errors.AnnotationError, match="one coder"):
        am.fit(alone, "interval")
    numbers = am.Annotations.from_records([(1, "a", 2), (1, "b", 3)], scale="interval")
    fit = am.fit(numbers.replace(scale="interval"), "interval", draws=20, warmup=20, seed=1)
    assert fit.unsupported("why") == "numbers have no classes"
    with pytest.raises(am.errors.NotApplicable, match="no classes"):
        fit.why()
    with pytest.raises(am.errors.NotApplicable, match=r"interval \(1\) cannot be compared"):
        am.compare([fit, fit])
    reasons = {verb: fit.unsupported(verb) for verb in ("next", "plot.ranks", "write_gold")}
    assert "numbers have no classes" not in reasons.values()
    assert reasons["plot.ranks"] == "this plot is for classes only"
    with pytest.raises(am.errors.NotApplicable, match="takes no threshold="):
        fit.gold(0.9)
    with pytest.raises(am.errors.NotApplicable, match="executor="):
        am.fit(numbers, "interval", executor="threads")
    with pytest.raises(am.errors.NotApplicable, match="gibbs"):
        am.fit(numbers, "interval", engine="em")


@pytest.mark.calibration
def test_items_that_all_coders_give_the_same_number_do_no_harm(rng) -> None:
    _, labels = made(rng, n_items=120, n_coders=8, each=6, **TYPICAL)
    y = labels.y.copy()
    y[np.isin(labels.item, np.arange(50))] = -1.0
    fit = am.fit(annotations(replace(labels, y=y)), "interval", seed=1, chains=2)
    gold = fit.gold().table
    assert np.isfinite(gold["value"]).all()
    assert (gold["value"][:50] + 1).abs().max() < 0.75
    assert float(fit.tree.attrs["rhat_max"]) < 1.05


def test_standard_units_are_those_of_the_labels() -> None:
    rows = [("a", "x", 1.0), ("a", "y", 2.0), ("b", "x", 3.0), ("b", "y", 6.0)]
    data = am.Annotations.from_records(rows, scale="interval", truth={"b": 3.0})
    labels = numeric_labels(data)
    assert labels.y.mean() == pytest.approx(0)
    assert labels.y.std() == pytest.approx(1)
    assert labels.known[1] * labels.unit + labels.centre == pytest.approx(3.0)
    assert np.isnan(labels.known[0])
