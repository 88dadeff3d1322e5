"""Small calculations by hand for the parts that measures of coreference are made of."""

import numpy as np
import pytest

import annomodels as am
from annomodels.coref.clusterings import groups_of
from annomodels.coref.conditions import chains, condition_named, tops
from annomodels.coref.posteriors import kappas, over_texts, spread_factor
from annomodels.coref.tables import kappa_of


def test_pointers_lead_to_chains():
    found = tops({"b": ["a"], "d": ["c"], "e": ["a", "c"]})
    assert (sorted(found["e"]), sorted(found["b"])) == (["a", "c"], ["a"])
    full = chains({"B": ["A"], "D": ["C"], "E": ["A", "C"]})
    assert ["".join(sorted(full[node])) for node in "EAD"] == ["ABCDE", "ABE", "CDE"]


def test_conditions_and_clusters_are_written_in_many_ways():
    names = [condition_named(name).name for name in ("Inclusive [−top]", "no chain")]
    assert names == ["incl-", "none"]
    assert groups_of({"a": 1, "b": 2, "c": 1, "d": None}, "x") == [["a", "c"], ["b"], ["d"]]


def test_kappas_of_tables_mentions_and_texts():
    found = kappa_of([6, 47], [1, 14], [1, 10], [2, 29])
    assert found == pytest.approx([0.5238, 0.5047], abs=5e-5)
    one = kappas(np.array([0, 1, 0, 1, 1]), np.array([0, 1, 2, 1, 2]), np.ones((1, 5)))
    assert one == pytest.approx([0.0909], abs=5e-5)
    alone = spread_factor(np.array([0, 0, 1, 1, 2, 3, 4, 5]), np.array([0, 0, 1, 2, 3, 4, 5, 5]))
    assert alone[1] < 1
    texts = np.array([0.7, 0.8, 0.75, 0.78, 0.72])
    over = over_texts(texts, None, 0.0, 2000, np.random.default_rng(1))
    assert np.quantile(over.mean[0], [0.05, 0.95]) == pytest.approx([0.71, 0.79], abs=0.005)


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
    found = am.coref.pair_posterior(texts, 60, seed)
    tables = [
        (found.table(0.5), "kappa", "low", "high"),
        (found.summary(0.5), "kappa", "low", "high"),
        (am.coref.agreement_table(texts, ["incl-"], draws=60, prob=0.5), "value", "low", "high"),
    ]
    coders = am.coref.coder_table(texts, draws=60, prob=0.5)
    tables += [
        (coders, "with_others", "low", "high"),
        (coders, "difference", "difference_low", "difference_high"),
    ]
    for table, value, low, high in tables:
        assert not (table[value] < table[low] - 1e-12).any()
        assert not (table[value] > table[high] + 1e-12).any()
