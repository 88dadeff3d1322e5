"""Intervals of alpha on chains: a jackknife over texts, and none where texts are few."""

from typing import Any

import numpy as np
import pytest

from annomodels.coref import agreement, agreement_table, document


def texts(rng: np.random.Generator, n: int, error: float = 0.1) -> list[Any]:
    out = []
    for t in range(n):
        truth = rng.integers(0, 8, 20)
        said = [np.where(rng.random(20) < error, rng.integers(0, 8, 20), truth) for _ in "ab"]
        clusters = {c: dict(enumerate(x.tolist())) for c, x in zip("ab", said, strict=True)}
        out.append(document(f"t{t}", clusters, genre="fg"[t % 2]))
    return out


@pytest.mark.parametrize("chain", ["none", "incl-", "excl-", "partial", "cluster-own"])
def test_draws_surround_alpha_as_the_jackknife_spreads_it(
    rng: np.random.Generator, chain: str
) -> None:
    made = texts(rng, 7)
    found = agreement(made, chain, "dice", draws=4000, seed=2)
    whole = agreement(made, chain, "dice")
    assert found.value == whole.value
    assert whole.draws is None
    without = np.array([agreement(made[:t] + made[t + 1 :], chain, "dice").value for t in range(7)])
    error = np.sqrt(6 / 7 * ((without - without.mean()) ** 2).sum())
    low, high = found.interval(0.9)
    # Student's interval with six degrees of freedom is 1.943 standard errors long on each side
    assert (high - low) / (2 * 1.943 * error) == pytest.approx(1.07, abs=0.1)
    assert np.median(found.draws) == pytest.approx(whole.value, abs=0.1 * error)
    assert np.array_equal(found.draws, agreement(made, chain, "dice", draws=4000, seed=2).draws)


def test_two_texts_have_no_interval_and_the_result_says_why(rng: np.random.Generator) -> None:
    made = texts(rng, 6)
    found = agreement(made[:2], draws=100)
    assert found.draws is None
    assert any("it needs 3 texts" in note for note in found.notes)
    table = agreement_table(made, by="genre", draws=100).table
    rows = table[table["coefficient"].str.startswith("alpha")]
    assert (rows["low"] < rows["value"]).all()
    assert (rows["value"] < rows["high"]).all()
    few = agreement_table(made[:2], draws=100).table.iloc[-1]
    assert np.isnan(few["low"])
    assert "it needs 3 texts" in few["note"]


def test_k_and_texts_in_which_nothing_was_said_twice(rng: np.random.Generator) -> None:
    made = texts(rng, 4)
    alone = document("alone", {"a": [{1, 2}]})
    plain = agreement(made, coefficient="K", draws=500, seed=1)
    more = agreement([*made, alone], coefficient="K", draws=500, seed=1)
    assert plain.interval() == more.interval()
    assert plain.interval()[0] < plain.value < plain.interval()[1]
