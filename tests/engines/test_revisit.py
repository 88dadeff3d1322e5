"""What draws of NUTS say of the items does not depend on how classes are called in a chain."""

import numpy as np
import pytest

from annomodels.engines.pymc.revisit import revisited
from annomodels.models.continuous.item_difficulty import ItemDifficulty
from annomodels.models.continuous.logistic_random_effects import LogisticRandomEffects
from annomodels.models.encoded import encode
from tests.engines.crowds import simulate

pytestmark = pytest.mark.slow


def _draws(model, rng, n_coders, k, draws=6):
    shape = (1, draws, k, k - 1)
    lead = 2.0 * (2.0 * np.eye(k)[:, :-1] - 0.5)
    out = {
        "prevalence": rng.dirichlet(np.full(k, 9.0), (1, draws)),
        "item_spread": np.abs(rng.normal(0.5, 0.1, shape)),
    }
    if model.shared:
        return {**out, "item_location": lead + rng.normal(0, 0.2, shape)}
    logit = lead + rng.normal(0, 0.2, (1, draws, n_coders, k, k - 1))
    return {**out, "coder_location": logit.mean(axis=2), "coder_logit": logit}


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("model", [ItemDifficulty(), LogisticRandomEffects()], ids=lambda m: m.name)
def test_swapped_chains_are_put_right(model, k, rng):
    data, _ = simulate(rng, n_items=15, n_coders=4, n_labels=k)
    codes = encode(data, shared=model.shared)
    plain = _draws(model, rng, data.n_coders, k)
    order = np.roll(np.arange(k), 1)
    swapped = {
        name: np.take(values, order, axis=2 if name == "prevalence" else -2)
        for name, values in plain.items()
    }
    lp = np.zeros(plain["prevalence"].shape[:2])
    (expected, found, left), (wanted, right, wrong) = zip(
        *(
            [each[0] for each in revisited(model, codes, values, lp, relabel)[:2]]
            for values, relabel in ((plain, True), (swapped, True), (swapped, False))
        ),
        strict=True,
    )
    assert (expected.relabelled, found.relabelled, left.relabelled) == (0, 6, 0)
    np.testing.assert_allclose(right.p_sum, wanted.p_sum, atol=1e-12)
    np.testing.assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-12)
    for name, values in expected.arrays.items():
        np.testing.assert_allclose(found.arrays[name], values, err_msg=name)
    assert np.abs(wrong.p_sum - wanted.p_sum).max() > 0.5
