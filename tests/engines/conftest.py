"""Helpers of this folder can be imported by name; data that several tests fit."""

import sys
from pathlib import Path

import numpy as np
import pytest

import annomodels as am

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def data() -> am.Annotations:
    from crowds import simulate

    return simulate(np.random.default_rng(2))[0]
