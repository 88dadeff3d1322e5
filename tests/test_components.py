"""Parts of the coders that share no item, against SciPy's graphs."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from annomodels.data.alike import components


def by_scipy(item, coder):
    n_items, n_coders = item.max() + 1, coder.max() + 1
    edges = (np.ones(len(item)), (item, n_items + coder))
    graph = coo_array(edges, shape=(n_items + n_coders,) * 2)
    return connected_components(graph, directed=False)[1][n_items:]


@pytest.mark.parametrize("n_labels", [5, 20, 60, 200])
def test_the_parts_are_those_of_a_graph(n_labels, rng):
    for _ in range(20):
        item, coder = rng.integers(0, 40, n_labels), rng.integers(0, 30, n_labels)
        found, wanted = components(item, coder), by_scipy(item, coder)
        same = found[:, None] == found
        np.testing.assert_array_equal(same, wanted[:, None] == wanted)
        for part in np.unique(found):
            assert np.flatnonzero(found == part).min() == part


class Counted:
    """NumPy that counts how often minima are taken into place."""

    def __init__(self):
        self.minimum = self
        self.calls = 0

    def at(self, *args):
        self.calls += 1
        np.minimum.at(*args)

    def __getattr__(self, name):
        return getattr(np, name)


def test_a_long_chain_is_one_part_and_takes_few_rounds(rng, monkeypatch):
    n = 20_000
    order = rng.permutation(n)
    item = np.repeat(np.arange(n - 1), 2)
    coder = np.stack([order[:-1], order[1:]], axis=1).ravel()
    counted = Counted()
    monkeypatch.setattr("annomodels.data.alike.np", counted)
    assert (components(item, coder) == 0).all()
    assert counted.calls <= 3 * 20  # three a round; one round for each coder on the way would fail
