"""Models of coders inside models of items: they know the data, by name, wherever they stand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import dirichlet

import annomodels as am
from annomodels.models import from_dict, resolve
from annomodels.models.encoded import encode
from annomodels.models.mixtures.kinds import HonestAndSpammers, Spammers
from annomodels.priors import CoderRows, Diagonal
from tests.models.densities import built
from tests.models.enumeration import tiny
from tests.models.state_definitions import DEFINITIONS, expected, prior_draw

pytestmark = pytest.mark.slow

GROUPS = am.models.GroupedCoders(
    population=Diagonal(30.0, 0.7, 10.0), groups={0: "a", 2: "a"}, rest="b"
)
# coder 1 comes back; so does one who labels nothing here
ROWS = ((9.0, 2.0, 1.0), (3.0, 5.0, 2.0), (0.5, 1.5, 4.0))
BACK = (CoderRows(ROWS, ("0", "1", "2"), "1"), CoderRows(ROWS[::-1], ("0", "1", "2"), "gone"))
RETURNING = am.models.HierarchicalDawidSkene(returning=BACK)
KINDS = HonestAndSpammers(population=Diagonal(30.0, 0.7, 10.0), returning=BACK)

INSIDE = {
    "ambiguous": (GROUPS, RETURNING, KINDS),
    "readings": (GROUPS, RETURNING),
    "guess-level": (GROUPS, RETURNING),
    "consensus": (GROUPS, RETURNING),
    "easy-hard": (GROUPS, RETURNING),
    "spammers": (KINDS,),
}
CASES = [
    pytest.param(name, coders, id=f"{name}, {coders.title}{', returning' * bool(coders.returning)}")
    for name, each in INSIDE.items()
    for coders in each
]


def with_coders(name, coders):
    model = replace(resolve(name), coders=coders)
    if name == "readings":  # the grid of the definition, and no weight that is 0 to the computer
        model = replace(model, labels_per_item=10.0, pseudo_items=(0.5, 1.0, 3.0, 2.0))
    return model


@pytest.mark.parametrize(("name", "coders"), CASES)
def test_coders_are_bound_with_the_model_and_written_down(name, coders, rng):
    data = tiny(rng)
    bound = with_coders(name, coders).with_data(data)
    assert bound.coders == coders.with_data(data)
    assert bound.coders != coders
    assert from_dict(bound.to_dict()) == bound
    strangers = tiny(rng, n_labels=2)
    if coders is GROUPS:
        with pytest.raises(am.errors.AnnotationError, match="not among the coders: 2"):
            with_coders(name, coders).with_data(tiny(rng, n_coders=2))
    elif coders is not KINDS:
        from annomodels.priors import Rows

        earlier = replace(coders, population=Rows(ROWS, ("0", "1", "2")))
        with pytest.raises(am.errors.NotApplicable, match="the data have 0, 1"):
            with_coders(name, earlier).with_data(strangers)


def idle(model, values):
    """Log prior density in PyMC of what is not in use: rows of spammers, habits of the others."""
    held, coders = values, model.coders
    rows = held["concentration"][:, None] * held["population"]
    own = coders.own_rows(len(rows))
    total = 0.0
    for j, spammer in enumerate(held["spammer"]):
        alpha = own[j] if len(own) and own[j, 0, 0] > 0 else rows
        if spammer:
            total += sum(
                dirichlet.logpdf(x, a) for x, a in zip(held["confusion"][j], alpha, strict=True)
            )
        else:
            total += dirichlet.logpdf(held["habit"][j], coders.habit.alpha(len(rows)))
    return total


@pytest.mark.calibration
@pytest.mark.nuts
@pytest.mark.parametrize(("name", "coders"), CASES)
@pytest.mark.usefixtures("uncompiled")
def test_pymc_density_is_the_definition_plus_the_prior(name, coders, rng):
    """Gibbs and PyMC target one density: the difference does not vary."""
    from pymc.model.transform.conditioning import remove_value_transforms

    data = tiny(rng, gold=True)
    model = with_coders(name, coders).with_data(data)
    plain = remove_value_transforms(built(model, data))
    free = [variable.name for variable in plain.free_RVs]
    assert ("group_population" in free) == (coders is GROUPS)
    logp = plain.compile_fn(plain.logp(), inputs=plain.value_vars, mode="FAST_COMPILE")
    differences, kinds = [], set()
    for n in range(6):
        _, values = prior_draw(model, encode(data), rng)
        if "spammer" in values:  # all kinds of coders, the one who comes back too
            values["spammer"] = np.array([n % 2, n // 2 % 2, n // 4], dtype=float)
            values["habit"] = rng.dirichlet(np.full(3, 3.0), 3)
            values["confusion"] = rng.dirichlet(np.full(3, 3.0), (3, 3))
            kinds.add(tuple(values["spammer"]))
        point = {key: np.maximum(v, 1e-300) if v.ndim else v for key, v in values.items()}
        point = {key: point[key] for key in free}
        if "spammer" in point:
            point["spammer"] = values["spammer"].astype(int)
        finished = model.result_values(values)
        ours = expected(data, DEFINITIONS[name](finished, model))[0]
        ours += float(model.log_prior({name: v[None] for name, v in finished.items()})[0])
        if "spammer" in values:
            ours += idle(model, values)
        differences.append(float(logp(point)) - ours)
    assert np.ptp(differences) < 1e-6 * max(1.0, abs(ours))
    assert len(kinds) == (6 if isinstance(coders, HonestAndSpammers) else 0)


def test_odds_of_a_spammer_compare_the_rows_a_coder_has(rng):
    """Evidence of a coder who comes back is that of their own rows, not of the population's."""
    data = tiny(rng)
    model = KINDS.with_data(data)
    state = model.sample_parameters(3, 3, rng)
    counts = rng.integers(0, 5, (3, 3, 3))

    def evidence(n, a):
        return gammaln(a.sum()) - gammaln(a.sum() + n.sum()) + (gammaln(a + n) - gammaln(a)).sum()

    found = model.log_odds(counts, state)
    held = state.population
    q = float(held["spammer_share"])
    for j in range(3):
        rows = held["concentration"][:, None] * held["population"]
        rows = np.array(ROWS) if j == 1 else rows
        own = sum(evidence(counts[j, :, k], rows[k]) for k in range(3))
        habit = evidence(counts[j].sum(axis=1), np.full(3, 0.5))
        assert found[j] == pytest.approx(np.log(q / (1 - q)) + habit - own)


@pytest.mark.calibration
@pytest.mark.parametrize("first", [False, True])
def test_rows_of_an_earlier_fit_stay_with_their_coder_beside_spammers(first, rng):
    """Coder 1 of three, the first or none before them a spammer, has rows of their own."""
    data = tiny(rng)
    sure = tuple(tuple(1e7 * x for x in row) for row in ROWS)
    model = replace(KINDS, returning=(CoderRows(sure, ("0", "1", "2"), "1"),)).with_data(data)
    counts = np.zeros((3, 3, 3), dtype=np.int64)
    counts[:2, np.arange(3), np.arange(3)] = 8
    counts[1] = (8 * np.array(ROWS).T / 3).astype(int)
    if first:  # whatever the truth, the first label
        counts[0] = 0
        counts[0, 0] = 300
    sizes = np.array([9, 9, 9])
    state = model.start(counts.astype(float), sizes.astype(float))
    wanted = np.array(ROWS) / np.sum(ROWS, axis=1, keepdims=True)
    seen = set()
    for n in range(40):
        model.draw(counts, sizes, state, 5, n)
        values = {name: np.array(v)[None] for name, v in model.kept_values(state).items()}
        assert np.isfinite(model.log_prior(values)).all()
        seen.add(tuple(state.population["spammer"][:2]))
        if state.population["spammer"][1] == 0:
            rows = np.exp(state.log_confusion).transpose(0, 2, 1)
            np.testing.assert_allclose(rows[1], wanted, atol=1e-3)
            assert np.abs(rows[2] - wanted).max() > 0.01
    assert ((1.0, 0.0) in seen) == first


@pytest.mark.calibration
def test_a_fit_has_the_populations_of_the_groups_inside(rng):
    data = am.datasets.load("caries")
    data = data.select(items=data.items[:150])
    groups = {name: "x" if n < 2 else "y" for n, name in enumerate(data.coders)}
    inside = am.models.GroupedCoders(groups=groups)
    fit = am.fit(
        data, am.models.EasyHardItems(inside), chains=2, draws=30, warmup=20, seed=3, extend=False
    )
    posterior = fit.tree["posterior"].to_dataset()
    assert posterior["group_population"].dims == ("chain", "draw", "coder_group", "truth", "label")
    assert posterior["coder_group"].values.tolist() == ["x", "y"]
    assert fit.model.coders.members == (0, 0, 1, 1, 1)
    table = fit.groups().table
    assert table["group"].tolist() == ["x", "y", "x - y"]
    assert table["population"].notna().all()


def test_the_second_fit_knows_the_coders_of_the_first_inside_another_model():
    data = am.datasets.load("anesthesia")
    first, second = data.select(items=data.items[:25]), data.select(items=data.items[25:])
    options = {"chains": 2, "draws": 60, "warmup": 30, "seed": 2, "extend": False}
    earlier = am.prior_from(am.fit(first, "hierarchical", **options))
    known = am.fit(second, am.models.Ambiguous(earlier), **options)
    assert known.model.coders.places == (0, 1, 2, 3, 4)
    new = am.fit(second, am.models.Ambiguous(replace(earlier, returning=())), **options)

    def width(fit):
        return fit.tree["posterior"]["perceived_confusion"].values.std(axis=(0, 1)).mean()

    assert width(known) < width(new)


def test_spammers_alone_take_rows_from_an_earlier_fit():
    data = am.datasets.load("anesthesia")
    labels = tuple(map(str, data.labels))
    sure = tuple(tuple(2000.0 if k == y else 500.0 for y in range(4)) for k in range(4))
    model = Spammers(HonestAndSpammers(returning=(CoderRows(sure, labels, "3"),)))
    fit = am.fit(data, model, chains=2, draws=40, warmup=20, seed=2, extend=False)
    spammer = fit.tree["posterior"]["spammer"].values[..., 2]
    rows = fit.tree["posterior"]["perceived_confusion"].values[..., 2, :, :][spammer < 0.5]
    wanted = np.where(np.eye(4, dtype=bool), 2000, 500) / 3500
    np.testing.assert_allclose(rows.mean(axis=0), wanted, atol=0.02)
