"""Small calculations by hand for the parts that measures of coreference are made of."""

import numpy as np
import pytest

from annomodels.coref.clusterings import groups_of
from annomodels.coref.conditions import chains, condition_named, tops
from annomodels.coref.overtexts import over_texts
from annomodels.coref.resampling import kappas, spread_factor
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
