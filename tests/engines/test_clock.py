"""Nothing but a time limit follows the clock: a run is as long as data, options and seed say."""

import signal
import time

import numpy as np
import pytest

import annomodels as am
from annomodels.engines.run import cost
from annomodels.engines.settings import Settings
from annomodels.fitting.run import runner
from annomodels.models import resolve
from tests.engines.crowds import assert_same, simulate

pytestmark = pytest.mark.slow

OPTIONS = {"draws": 100, "warmup": 20, "chains": 2, "seed": 1}


@pytest.fixture(scope="module")
def data():
    """Labels on which chains of this length do not mix."""
    rng = np.random.default_rng(3)
    return simulate(rng, n_items=150, n_coders=60, per_item=3, accuracy=0.6)[0]


class HandClock:
    def __init__(self, monkeypatch):
        self.now = 1e6
        self.step = lambda: 0.0
        for name in ("perf_counter", "monotonic", "time"):
            monkeypatch.setattr(time, name, self.read)

    def read(self):
        self.now += self.step()
        return self.now


@pytest.fixture
def clock(monkeypatch):
    return HandClock(monkeypatch)


def numbers():
    rows = [(i, j, 10 * i + j + i * j % 3) for i in range(20) for j in range(4)]
    return am.Annotations.from_records(rows, scale="interval")


FITS = {
    "memory": lambda data: am.fit(data, "hierarchical", **OPTIONS),
    "threads": lambda data: am.fit(data, "hierarchical", executor="threads", threads=2, **OPTIONS),
    "few draws": lambda data: am.fit(
        data, "hierarchical", memory=data.n_coders * 9 * 8 * 40, **OPTIONS
    ),
    "states": lambda data: am.fit(data, "guess-level", engine="gibbs", **OPTIONS),
    "em": lambda data: am.fit(data, "dawid-skene", engine="em", seed=1, starts=3),
    "numbers": lambda _: am.fit(numbers(), "interval", **OPTIONS),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("memory", "em") else pytest.mark.calibration)
        for name in FITS
    ],
)
def test_slow_and_busy_machines_change_nothing(name, data, monkeypatch):
    wanted = FITS[name](data)
    if name not in ("em", "numbers"):
        assert int(wanted.tree.attrs["thin"]) > 1
    rng = np.random.default_rng(1)
    clock = HandClock(monkeypatch)
    # no time at all, and every look some time later, up to a thousand seconds
    for step in (lambda: 0.0, lambda: 10.0 ** rng.uniform(-6, 3)):
        clock.step = step
        fit = FITS[name](data)
        assert_same(fit, wanted)
        for said in ("thin", "stopped", "draws"):
            assert fit.tree.attrs[said] == wanted.tree.attrs[said]


def test_patience_is_work(data):
    """A stage of twice the length follows if the run then stays within it."""
    work = cost(len(data), data.n_coders, data.n_labels)
    assert work == (450 + 20 * 60 * 3) * 3
    first_stage = work * 2 * (20 + 100)
    for patience, thin in ((3 * first_stage - 1, 1), (3 * first_stage, 2)):
        settings = Settings(patience=patience, threads=2, **OPTIONS)
        result = runner("gibbs")(resolve("hierarchical"), data, settings)
        assert result.attrs["thin"] == thin


@pytest.mark.few("None")
@pytest.mark.parametrize("partitions", [None, 2])
def test_a_time_limit_keeps_what_was_sampled(data, clock, partitions):
    """Also where only the warm-up was cut short: the result says so."""

    def progress(stage, share, message):
        if stage == due and 0 < share < 1:
            clock.now += 60.0

    options = {
        "seed": 1,
        "chains": 2,
        "extend": False,
        "time_limit": 100.0,
        "partitions": partitions,
    }
    due = "sampling"
    fit = am.fit(data, "hierarchical", draws=20_000, warmup=20, progress=progress, **options)
    assert fit.tree.attrs["stopped"] == "time limit"
    n = fit.tree.attrs["draws"]
    assert 0 < n < 20_000
    whole = am.fit(data, "hierarchical", draws=n, warmup=20, **options)
    assert whole.tree.attrs["stopped"] == ""
    for name, values in whole.tree["posterior"].data_vars.items():
        np.testing.assert_array_equal(fit.tree["posterior"][name].values, values.values)
    np.testing.assert_allclose(fit.tree["truth"]["p_truth"].values.sum(axis=1), 1.0)
    due = "warm-up"
    fit = am.fit(data, "hierarchical", draws=20, warmup=100_000, progress=progress, **options)
    assert fit.tree.attrs["draws"] == 20
    assert fit.tree.attrs["stopped"] == "time limit"


@pytest.mark.few("guess-level")
@pytest.mark.parametrize("model", ["hierarchical", "guess-level"])
def test_a_stage_that_was_cut_short_leaves_the_one_before_it(data, model):
    """What its draws say of the items is counted again from the parameters that were kept."""

    def interrupt(stage, share, message):
        if message == "keeping 1 draw in 2" and share < 1:
            signal.raise_signal(signal.SIGINT)

    cut_short = am.fit(data, model, progress=interrupt, **OPTIONS)
    assert cut_short.tree.attrs["stopped"] == "interrupted"
    whole = am.fit(data, model, extend=False, **OPTIONS)
    assert_same(cut_short, whole)
    if "items" in whole.tree.children:
        for name, values in whole.tree["items"].data_vars.items():
            np.testing.assert_allclose(cut_short.tree["items"][name].values, values, atol=1e-9)
