"""Estimates of coreference lie inside their intervals."""

import numpy as np
import pytest

import annomodels as am


@pytest.mark.parametrize("seed", range(6))
def test_an_estimate_lies_inside_the_interval_next_to_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = []
    for n in range(int(rng.integers(1, 5))):
        truth = {m: int(rng.integers(4)) for m in range(int(rng.integers(3, 12)))}
        coders = {
            who: {m: k if rng.random() < 1 - 0.2 * (seed % 3) else 9 for m, k in truth.items()}
            for who in ("ana", "ben", "cho")
        }
        texts.append(am.coref.document(f"t{n}", coders, genre=f"g{n % 2}"))
    found = am.coref.pair_posterior(texts, 60, seed, prob=0.5)
    whole = am.coref.agreement_table(texts, ["incl-"], draws=60, prob=0.5)
    tables = [
        (found.table, "kappa", "low", "high"),
        (found.overall, "kappa", "low", "high"),
        (whole.table, "value", "low", "high"),
    ]
    coders = am.coref.coder_table(texts, draws=60, prob=0.5).table
    tables += [
        (coders, "with_others", "low", "high"),
        (coders, "difference", "difference_low", "difference_high"),
    ]
    for table, value, low, high in tables:
        assert not (table[value] < table[low] - 1e-12).any()
        assert not (table[value] > table[high] + 1e-12).any()
