"""Simulation-based calibration of the models whose items have states, under Gibbs.

The study is that of benchmarks/calibration_states.py; ANNOMODELS_CALIBRATION=reduced makes it
small.
"""

import dataclasses
import importlib
import os
import sys
from pathlib import Path

import pytest

import annomodels as am
from annomodels.models import resolve
from annomodels.priors import Beta

pytestmark = pytest.mark.calibration

REPLICATIONS = 40 if os.environ.get("ANNOMODELS_CALIBRATION") == "reduced" else 60


@pytest.fixture(scope="module")
def sbc():
    folder = str(Path(__file__).resolve().parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("calibration_states")
    finally:
        sys.path.remove(folder)


@pytest.mark.parametrize(
    "name",
    ["guess-level", "consensus", "easy-hard", "ambiguous", "readings", "spammers"],
)
def test_ranks_are_uniform_and_intervals_cover(sbc, name):
    case = sbc.Case(resolve(name), 2)

    def failures(replications, seed):
        found = sbc.run(case, replications, seed=seed)
        return sbc.calibration.failures([found], p_bound=0.0005, slack=4)

    # Of some 90 quantities one in eleven hundred is off by chance, and with few replications a
    # chi-square test is rough: what is off must be off again, in twice as many other ones.
    if failures(REPLICATIONS, 20):
        assert failures(2 * REPLICATIONS, 21) == []


def test_the_study_finds_a_wrong_prior(sbc):
    model = am.models.EasyHardItems()
    source = dataclasses.replace(model, easy=Beta(60.0, 1.0))
    found = sbc.run(sbc.Case(model, 2, source), REPLICATIONS, seed=20)
    assert found.p_value("easy_share[0]") < 0.001
