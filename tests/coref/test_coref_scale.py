"""Many mentions and many coders: work that grows with pairs of mentions would not end here."""

import numpy as np
import pytest

from annomodels.coref import agreement, document, pair_table, score


def coders(mentions: int, number: int, longest: int) -> dict[str, dict[int, int]]:
    rng = np.random.default_rng(mentions)
    sizes = [longest, *np.minimum(rng.zipf(1.6, mentions), longest // 2)]
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)[:mentions])
    out = {}
    for n in range(number):
        said = np.where(rng.random(mentions) < 0.1, rng.permutation(truth), truth)
        out[f"c{n:02}"] = {m: int(k) for m, k in enumerate(said)}
    return out


@pytest.mark.slow
def test_pairs_links_and_scores_of_a_hundred_thousand_mentions() -> None:
    made = coders(100_000, 2, 4_000)
    cells = pair_table(*made.values())
    found = score(*made.values())
    assert cells.n == 100_000 * 99_999 // 2
    assert 0 < found["ceaf_e"].f1 < 1


@pytest.mark.few("incl-")
@pytest.mark.slow
@pytest.mark.parametrize("chain", ["partial", "incl-", "excl+", "cluster-own"])
def test_chains_of_twenty_coders(chain: str) -> None:
    text = document("t", coders(2_000, 20, 150), order=range(2_000))
    found = agreement(text, chain, "masi")
    assert found.n_labels == 40_000
    assert 0 < found.value < 1
