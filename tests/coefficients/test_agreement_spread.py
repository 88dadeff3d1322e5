"""Draws of coefficients do not depend on who makes them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import annomodels as am
from annomodels.coefficients import weights

NAMES = ["percent_agreement", "alpha", "multi_kappa", "light_kappa", "ac1"]


@pytest.fixture
def data() -> am.Annotations:
    return am.datasets.load("anesthesia")


@pytest.fixture
def blocks_of_a_hundred(data: am.Annotations, monkeypatch: pytest.MonkeyPatch) -> None:
    # chance items are items too, so the blocks are somewhat smaller
    monkeypatch.setattr(weights, "MEMORY", 100 * (data.n_items + 20))


@pytest.mark.usefixtures("blocks_of_a_hundred")
@pytest.mark.parametrize("executor", ["serial", "threads", "pool"])
def test_an_executor_gives_the_same_draws(data: am.Annotations, executor: str) -> None:
    here = am.agreement(data, NAMES, draws=730, seed=3)
    with ThreadPoolExecutor(3) as pool:
        there = am.agreement(
            data, NAMES, draws=730, seed=3, executor=pool if executor == "pool" else executor
        )
    for name in NAMES:
        assert len(here[name].draws) == 730
        np.testing.assert_array_equal(here[name].draws, there[name].draws)


@pytest.mark.usefixtures("blocks_of_a_hundred")
def test_blocks_have_draws_of_their_own(data: am.Annotations) -> None:
    draws = am.agreement(data, "alpha", draws=400, seed=3).draws
    assert draws is not None
    assert len(np.unique(draws)) == 400


def test_processes_give_the_same_draws(data: am.Annotations) -> None:
    # one block: what is sent to a process and back is what counts here
    here = am.agreement(data, NAMES, draws=200, seed=3)
    there = am.agreement(data, NAMES, draws=200, seed=3, executor="processes")
    for name in NAMES:
        np.testing.assert_array_equal(here[name].draws, there[name].draws)
