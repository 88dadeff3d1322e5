"""Models with something discrete left: NUTS takes PyMC's compound step, which is compiled once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.pymc import compiled, compound
from annomodels.engines.pymc.compound import sample_compound
from annomodels.engines.settings import Settings

pytestmark = pytest.mark.slow

WARMUP = 30
SETTINGS = Settings(chains=2, draws=20, warmup=WARMUP, seed=3)
START = {"s": np.array(0.5), "m": np.array(0.1), "z": np.array([0, 1, 1])}
DATA = (1.0, 2.0, 2.5)
MORE_DATA = (0.5, -1.0, 2.0, 4.0)


def small(data, spread=3.0, **discrete):
    """PyMC model with two continuous variables and three that are 0 or 1."""
    import pymc as pm

    with pm.Model() as model:
        labels = pm.Data("labels", np.array(data))
        s = pm.Exponential("s", 1.0)
        m = pm.Normal("m", s, spread)
        z = pm.Bernoulli("z", 0.4, shape=3)
        pm.Potential("like", -0.5 * ((labels - m * z.sum()) ** 2).sum())
        if discrete:
            w = pm.Categorical("w", np.array([0.2, 0.3, 0.5]), shape=2)
            n = pm.Poisson("n", 3.0)
            pm.Potential("more", -0.5 * (w.sum() - m) ** 2 - 0.1 * (n - m) ** 2)
    return model


@pytest.fixture
def quick(monkeypatch):
    """No numba: it would compile these small models for longer than they are sampled."""
    import pytensor
    from pytensor.compile.mode import Mode

    monkeypatch.setattr(compound, "LEAST_WARMUP", WARMUP)
    with pytensor.config.change_flags(mode=Mode("vm", "fast_run")):
        yield


@pytest.fixture(scope="module", autouse=True)
def _forget():
    """Nothing is kept from before, nor afterwards."""
    compiled.forget()
    yield
    compiled.forget()


@pytest.fixture
def count(monkeypatch):
    """Functions that PyTensor made, whatever asked for them."""
    from pytensor.compile.maker import FunctionMaker

    found = []
    create = FunctionMaker.create

    def counted(self, *args, **options):
        found.append(self)
        return create(self, *args, **options)

    monkeypatch.setattr(FunctionMaker, "create", counted)
    compiled.forget()
    return found


def values(tree):
    """Draws and statistics of a tree by name, as arrays."""
    groups = [tree["posterior"].to_dataset(), tree["sample_stats"].to_dataset()]
    return {name: array.values for group in groups for name, array in group.data_vars.items()}


def assert_same(found, wanted):
    assert set(found) == set(wanted)
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.calibration
def test_the_draws_are_those_of_pymc(quick):
    import pymc as pm

    tree, stopped = sample_compound(small(DATA), START, SETTINGS)
    assert stopped == ""
    seed = np.random.SeedSequence(SETTINGS.seed).generate_state(2)[1]
    wanted = pm.sample(
        draws=20, tune=WARMUP, chains=1, cores=1, random_seed=int(seed), initvals=START,
        progressbar=False, quiet=True, target_accept=SETTINGS.target_accept, model=small(DATA),
        compute_convergence_checks=False,
    )  # fmt: skip
    for group, name in [("posterior", n) for n in START] + [("sample_stats", "diverging")]:
        np.testing.assert_array_equal(tree[group][name].values[1], wanted[group][name].values[0])


def test_other_data_are_sampled_without_compiling_as_if_they_were_the_first(quick, count):
    model = small(MORE_DATA)
    sample_compound(small(DATA), START, SETTINGS)
    assert len(count) > 0
    count.clear()
    found = values(sample_compound(model, START, SETTINGS)[0])
    again = values(sample_compound(small(DATA), START, SETTINGS)[0])
    assert len(count) == 0
    compiled.forget()
    wanted = values(sample_compound(small(MORE_DATA), START, SETTINGS)[0])
    assert len(count) > 0
    assert_same(found, wanted)
    assert not np.array_equal(found["m"], again["m"])
    assert not np.array_equal(found["m"][0], found["m"][1])


@pytest.mark.calibration
def test_all_kinds_of_steps_begin_anew(quick, count):
    start = {**START, "w": np.array([0, 1]), "n": np.array(2)}
    found = [values(sample_compound(small(DATA, more=True), start, SETTINGS)[0]) for _ in "12"]
    compiled.forget()
    made = len(count)
    wanted = values(sample_compound(small(DATA, more=True), start, SETTINGS)[0])
    assert len(count) == 2 * made
    assert_same(found[0], wanted)
    assert_same(found[1], wanted)


def test_the_log_density_is_that_of_the_draw(quick):
    model = small(DATA)
    tree, _ = sample_compound(model, START, SETTINGS)
    draw = {name: tree["posterior"][name].values[1, 7] for name in START}
    point = {"s_log__": np.log(draw["s"]), "m": draw["m"], "z": draw["z"]}
    np.testing.assert_allclose(
        tree["sample_stats"]["logp"].values[1, 7], model.compile_logp()(point)
    )


def told(stop_at):
    """Give settings whose run is interrupted when it tells of a draw, and what it tells."""
    heard = []

    def progress(stage, share, message):
        heard.append((stage, share, message))
        if message == stop_at:
            raise KeyboardInterrupt

    return replace(SETTINGS, draws=270, warmup=WARMUP, progress=progress), heard


@pytest.mark.parametrize(
    ("stop_at", "chains", "draws"),
    [("chain 1, draw 200", 1, 170), ("chain 2, draw 100", 1, 270), ("chain 2, draw 200", 2, 170)],
)
def test_what_was_drawn_before_an_interrupt_is_kept(stop_at, chains, draws, quick):
    settings, heard = told(stop_at)
    tree, stopped = sample_compound(small(DATA), START, settings)
    assert stopped == "interrupted"
    assert heard[0] == ("compiling", 1.0, "")
    assert heard[1] == ("sampling", 0.0, "chain 1, draw 100")
    assert heard[-1][2] == stop_at
    assert tree["posterior"]["z"].shape == (chains, draws, 3)
    whole, _ = sample_compound(small(DATA), START, SETTINGS)
    np.testing.assert_array_equal(
        tree["posterior"]["m"].values[:, :20], whole["posterior"]["m"].values[:chains]
    )


def test_an_interrupt_before_the_first_draw_says_so(quick):
    settings = replace(told("chain 1, draw 100")[0], warmup=150)
    with pytest.raises(am.errors.EngineError, match="kept no draw"):
        sample_compound(small(DATA), START, settings)


@pytest.mark.parametrize(("draws_in_time", "chains"), [(0, 0), (45, 2)])
def test_a_time_limit_is_shared_by_the_chains(draws_in_time, chains, quick, monkeypatch):
    class Counted:
        """A clock that is over after so many looks."""

        def __init__(self, limit):
            assert limit == 5.0
            self.looks = 0

        @property
        def over(self):
            self.looks += 1
            return self.looks > draws_in_time

    monkeypatch.setattr(compound, "Clock", Counted)
    settings = replace(SETTINGS, time_limit=10.0)
    if not chains:
        with pytest.raises(am.errors.EngineError, match="kept no draw"):
            sample_compound(small(DATA), START, settings)
        return
    tree, stopped = sample_compound(small(DATA), START, settings)
    assert stopped == "time limit"
    assert tree["posterior"]["m"].shape == (chains, draws_in_time + 1 - WARMUP)


def test_fits_in_threads_do_not_take_each_others_data(quick, count):
    data = [DATA, MORE_DATA, (5.0, 5.0), (-3.0,)]
    wanted = [values(sample_compound(small(each), START, SETTINGS)[0]) for each in data]
    models = [small(each) for each in data]
    made = len(count)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda m: sample_compound(m, START, SETTINGS), models))
    assert len(count) == made
    for (tree, _), want in zip(found, wanted, strict=True):
        assert_same(values(tree), want)
