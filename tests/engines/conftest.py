"""Data that several tests fit."""

import numpy as np
import pytest

import annomodels as am
from tests.engines.crowds import simulate


@pytest.fixture(scope="session")
def data() -> am.Annotations:
    return simulate(np.random.default_rng(2))[0]
