"""Models with something discrete left: NUTS takes the compound step of PyMC."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.pymc import compound
from annomodels.engines.pymc.compound import sample_compound
from annomodels.engines.settings import Clock, Settings

pytestmark = pytest.mark.slow

WARMUP = 30
SETTINGS = Settings(chains=2, draws=20, warmup=WARMUP, seed=3)
START = {"s": np.array(0.5), "m": np.array(0.1), "z": np.array([0, 1, 1])}
DATA = (1.0, 2.0, 2.5)


def small(data):
    """PyMC model with two continuous variables and three that are 0 or 1."""
    import pymc as pm

    with pm.Model() as model:
        labels = pm.Data("labels", np.array(data))
        s = pm.Exponential("s", 1.0)
        m = pm.Normal("m", s, 3.0)
        z = pm.Bernoulli("z", 0.4, shape=3)
        pm.Potential("like", -0.5 * ((labels - m * z.sum()) ** 2).sum())
    return model


@pytest.fixture
def quick(monkeypatch):
    """No numba: it would compile these small models for longer than they are sampled."""
    import pytensor
    from pytensor.compile.mode import Mode

    monkeypatch.setattr(compound, "LEAST_WARMUP", WARMUP)
    with pytensor.config.change_flags(mode=Mode("vm", "fast_run")):
        yield


def test_a_seed_gives_the_same_draws(quick):
    found, again = (sample_compound(small(DATA), START, SETTINGS) for _ in "12")
    assert found[1] == ""
    for name in START:
        np.testing.assert_array_equal(found[0]["posterior"][name], again[0]["posterior"][name])
    first, second = found[0]["posterior"]["m"].values
    assert not np.array_equal(first, second)


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


def test_an_interrupt_before_the_first_draw_has_nothing_to_keep(quick):
    settings = replace(told("chain 1, draw 100")[0], warmup=150)
    with pytest.raises(KeyboardInterrupt):
        sample_compound(small(DATA), START, settings)


@pytest.mark.parametrize("limit", [0.05, 10.0])
def test_a_time_limit_is_shared_by_the_chains(limit, quick, monkeypatch):
    looks = itertools.count(1)
    monkeypatch.setattr(Clock, "seconds", property(lambda _: next(looks) / 10))
    settings = replace(SETTINGS, draws=200, time_limit=limit)
    if limit < 1:
        with pytest.raises(am.errors.EngineError, match="kept no draw"):
            sample_compound(small(DATA), START, settings)
        return
    tree, stopped = sample_compound(small(DATA), START, settings)
    assert stopped == "time limit"
    # a look for each draw, of which there are 50 within half of the time
    assert tree["posterior"]["m"].shape == (2, 50 - WARMUP)
    assert tree["sample_stats"]["logp"].shape == (2, 50 - WARMUP)
