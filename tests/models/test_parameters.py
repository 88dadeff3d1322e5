"""Every variable is declared, and one that is not in the same place in all chains is seen."""

import numpy as np
import pytest
from scipy import stats

import annomodels as am
from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult, conform
from annomodels.limits import P_OFF_WORST
from annomodels.models import MODELS
from annomodels.models.catalog import EVERY
from annomodels.models.parameters import Parameter, watched_names
from annomodels.priors.distributions import Gamma
from annomodels.summaries.draws import thinned, truth_probabilities
from annomodels.summaries.trust.checks import check
from annomodels.summaries.trust.convergence import convergence
from annomodels.summaries.trust.findings import FINE, FORBIDS

CHAINS, DRAWS = 4, 300
VARIANTS = {
    "groups": am.models.GroupedCoders(groups={"c0": "x", "c1": "x"}),
    "discrimination": am.models.ScalarDifficulty(
        discrimination=0.5, guessing=am.priors.Beta(1.0, 1.0)
    ),
}
NAMES = [*(name for name in MODELS if name != "groups"), *VARIANTS]


def data_of(labels: int) -> Annotations:
    rows = [(i, f"c{j}", (i * (j + 1) + i * i // 3) % labels) for i in range(20) for j in range(4)]
    rows += [(i, "c3", "?") for i in range(20, 24)]
    rows += [(i, "c0", 0) for i in range(20, 24)]
    return Annotations.from_records(rows, labels=list(range(labels)), dont_know=["?"])


def model_for(name: str, data: Annotations) -> am.models.base.Model:
    return (VARIANTS[name] if name in VARIANTS else MODELS[name]()).with_data(data)


def made_up(model, data: Annotations, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draws of every declared variable, in which all chains agree."""
    labels = [str(name) for name in data.labels]
    sizes = {"truth": data.n_labels, "label": data.n_labels, "coder": data.n_coders}
    sizes |= {dim: len(names) for dim, names in model.coords(labels).items()} | {"dont_know": 1}
    out = {}
    for each in model.parameters(data.n_labels):
        shape = (CHAINS, DRAWS, *(sizes[dim] for dim in each.dims))
        if each.support == "simplex":
            out[each.name] = rng.dirichlet(np.ones(shape[-1]), shape[:-1])
        elif each.support == "unit":
            out[each.name] = rng.uniform(0.2, 0.8, shape)
        else:
            out[each.name] = np.exp(rng.normal(size=shape))
        if "cut" in each.dims:
            out[each.name].sort(axis=-1)
    return out


def tree_of(model, data: Annotations, posterior: dict[str, np.ndarray]):
    n, k = data.n_items, data.n_labels
    result = RawResult(
        posterior, np.zeros((CHAINS, DRAWS)), np.full((n, k), 1 / k), np.zeros((n, k)), np.zeros(n),
        attrs={"engine": "gibbs", "stopped": ""},
    )  # fmt: skip
    return conform(result, data, model)


def apart(tree, data: Annotations) -> float:
    """Difference of P(truth) between the first chain and the mean of all, mean over items."""
    draws = thinned(tree, data, 1000)
    p = np.stack([each for _, each in truth_probabilities(draws, data)])
    p = p.reshape(CHAINS, -1, *p.shape[1:]).mean(axis=1)
    return float(np.abs(p[0] - p.mean(axis=0)).sum(axis=1).mean() / 2)


@pytest.mark.few("hierarchical", "ambiguous", "mace")
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_watched_parameter_of_every_model_is_seen_by_check(name: str) -> None:
    """One chain of each variable moves: R-hat says so, and forbids the use if results moved."""
    data = data_of(2 if name == "beta-binomial-by-item" else 3)
    model, rng = model_for(name, data), np.random.default_rng(5)
    posterior = made_up(model, data, rng)
    _, rhat, _ = convergence(tree_of(model, data, posterior), data)
    assert rhat.max() < 1.05
    forbids = []
    for each in model.parameters(data.n_labels):
        moved = posterior[each.name].copy()
        if each.watched == "accuracy":
            moved[0] = 0.1 * moved[0] + 0.9 * np.eye(data.n_labels)
        elif each.support == "simplex":
            share = 0.1 * moved[0]
            share[..., 0] += 0.9
            moved[0] = share
        elif each.support == "unit":
            moved[0] = 0.9 + 0.1 * moved[0]
        else:
            moved[0] = moved[0] + 50
        bad = tree_of(model, data, {**posterior, each.name: moved})
        names, rhat, _ = convergence(bad, data)
        if each.watched:
            assert rhat.max() > 1.1, each
            at = names[int(rhat.argmax())]
            assert each.words in at or each.name == "prevalence", (each, at)
            found = check(bad, data, seen=())
            (seen,) = (finding for finding in found.findings if finding.code == "r_hat")
            assert f"R-hat of the {at} is {rhat.max():.3f}" in seen.said
            assert seen.said in (*found.sentences, *found.details)
            forbidden = apart(bad, data) >= P_OFF_WORST
            assert (seen.severity == FORBIDS) == forbidden, each
            assert (found.sentences[0] == seen.said) == forbidden
            forbids.append(forbidden)
    assert any(forbids)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_watched_belongs_to_single_coders_and_shows_in_what_is(name: str) -> None:
    data = data_of(2 if name == "beta-binomial-by-item" else 3)
    declared = model_for(name, data).parameters(data.n_labels)
    assert [each.name for each in declared[:2]] == ["prevalence", "confusion"]
    assert all(each.watched or "coder" in each.dims for each in declared)
    assert len({each.name for each in declared}) == len(declared)


HYPERPARAMETERS = ("cuts", "shift_scale", "spread_scale", "lapse_scale", "lapse_location")


@pytest.mark.parametrize("name", HYPERPARAMETERS)
def test_a_hyperparameter_in_two_places_is_named_and_judged_by_the_results(name: str) -> None:
    """One chain of a hyperparameter moves by 50; P(truth) comes from the rows, which agree."""
    data = am.datasets.load("anesthesia")
    model = am.models.Ordinal().with_data(data)
    posterior = made_up(model, data, np.random.default_rng(1))
    (words,) = {each.words for each in model.parameters(data.n_labels) if each.name == name}
    agreed = tree_of(model, data, posterior)
    together = check(agreed, data, seen=())
    assert not any("R-hat of the" in text for text in together.details)
    posterior[name][0] += 50
    tree = tree_of(model, data, posterior)
    names, rhat, _ = convergence(tree, data)
    at = int(rhat.argmax())
    assert names[at].startswith(words)
    assert rhat[at] > 1.5  # of ranks: that chain has the highest ones
    found = check(tree, data, seen=())
    (seen,) = (finding for finding in found.findings if finding.code == "r_hat")
    assert f"R-hat of the {names[at]} is {rhat[at]:.3f}" in seen.said
    assert seen.said in found.details
    # the verdict is that of the results, which are the same as before
    assert apart(tree, data) == apart(agreed, data)
    assert (seen.severity, found.verdict) == (FINE, together.verdict)


def test_a_variable_that_nobody_declares_is_refused() -> None:
    data = data_of(2)
    model = am.models.DawidSkene()
    posterior = made_up(model, data, np.random.default_rng(1))
    with pytest.raises(ValueError, match=r"dawid-skene does not declare tempo.*variables"):
        tree_of(model, data, {**posterior, "tempo": np.zeros((CHAINS, DRAWS))})


@pytest.mark.slow
def test_engine_and_check_give_the_same_numbers() -> None:
    data = am.datasets.load("anesthesia")
    for options in (
        {"model": "hierarchical"},
        {"model": "spammers"},
        {"model": "hierarchical", "chains": 1},
    ):
        few = {"chains": 2, "draws": 100, "warmup": 50, "seed": 1, "extend": False}
        fit = am.fit(data, **{**few, **options})
        _, rhat, ess = convergence(fit.tree, data)
        assert fit.tree.attrs["rhat_max"] == pytest.approx(rhat.max(), rel=1e-12)
        assert fit.tree.attrs["ess_min"] == pytest.approx(ess.min(), rel=1e-12)


def test_names_are_those_that_people_use() -> None:
    parameters = (
        Parameter("prevalence", ("truth",), "simplex"),
        Parameter("confusion", ("coder", "truth", "label"), "simplex", watched="accuracy"),
        Parameter("scale", ("truth",), "positive"),
        Parameter("spread_scale", (), "positive"),
    )
    shapes = {"prevalence": (1, 1, 2), "confusion": (1, 1, 3, 2, 2), "scale": (1, 1, 2)}
    posterior = {name: np.ones(shape) for name, shape in shapes.items()}
    posterior["spread_scale"] = np.ones((1, 1))
    coords = {"truth": ["no", "yes"], "coder": ["ada", "ben", "eve"]}
    assert watched_names(parameters, posterior, np.array([1, 3, 2]), coords) == [
        "prevalence of no", "prevalence of yes", "accuracy of ben", "accuracy of eve",
        "accuracy of ada", "scale of no", "scale of yes", "spread scale",
    ]  # fmt: skip


def test_every_variable_has_a_prior_or_follows_from_others() -> None:
    """Only matrices averaged over states, and the log likelihood, follow from a fit."""
    silent = [
        (name, each.name)
        for name in EVERY
        for each in EVERY[name]().variables(3)
        if each.prior is None and each.follows is None and not each.optional
    ]
    assert {each for _, each in silent} <= {"confusion", "log_likelihood"}, silent


def test_a_gamma_prior_is_the_gamma_distribution(rng) -> None:
    shape, rate = np.array([2.0, 3.0]), np.array([0.5, 4.0])
    prior, same = Gamma(shape, rate), stats.gamma(shape, scale=1.0 / rate)
    drawn = prior.sample(rng, (4000, 2))
    np.testing.assert_allclose(prior.logp(drawn), same.logpdf(drawn))
    assert (np.abs(drawn.mean(axis=0) - same.mean()) < 5 * same.std() / np.sqrt(4000)).all()
