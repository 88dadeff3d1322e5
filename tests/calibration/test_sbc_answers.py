"""Simulation-based calibration of labels that are not classes, under Gibbs.

The study is that of benchmarks/calibration_answers.py; ANNOMODELS_CALIBRATION=reduced makes it
small.
"""

import dataclasses
import importlib
import os
import sys
from pathlib import Path

import pytest

from annomodels.priors import Beta

pytestmark = pytest.mark.calibration

REPLICATIONS = 60 if os.environ.get("ANNOMODELS_CALIBRATION") == "reduced" else 300


@pytest.fixture(scope="module")
def sbc():
    folder = str(Path(__file__).resolve().parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("calibration_answers")
    finally:
        sys.path.remove(folder)


@pytest.mark.parametrize("name", ["dawid-skene", "hierarchical", "class-conditional"])
def test_ranks_are_uniform_and_intervals_cover(sbc, name):
    found = sbc.run(sbc.Case(sbc.answering(name), 2), REPLICATIONS, seed=20)
    # some 20 quantities are tested, so one p-value in a thousand is nothing
    assert sbc.calibration.failures([found], p_bound=0.0005, slack=4) == []


def test_the_study_finds_a_wrong_prior_of_the_rates(sbc):
    model = sbc.answering("dawid-skene")
    source = dataclasses.replace(model, rate=Beta(4.0, 4.0))
    found = sbc.run(sbc.Case(model, 2, source), 60, seed=20)
    assert found.p_value("no_answer_mean[0, 0]") < 0.001
