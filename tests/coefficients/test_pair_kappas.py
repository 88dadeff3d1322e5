"""Light's kappa from the labels on shared items, against kappa of each two coders."""

from itertools import combinations

import numpy as np
import pytest

import annomodels as am


def crowd(rng, n_items=60, n_coders=5, n_labels=4):
    rows = [
        (i, int(c), int(rng.integers(n_labels)))
        for i in range(n_items)
        for c in rng.choice(n_coders, rng.integers(1, n_coders + 1), replace=False)
    ]
    return am.Annotations.from_records(rows)


@pytest.mark.parametrize("distance", ["nominal", "linear", "quadratic", "ordinal"])
@pytest.mark.parametrize("missing", ["pairwise", "listwise"])
def test_mean_over_the_pairs_that_have_a_kappa(rng, distance, missing):
    data = crowd(rng)
    each = []
    for a, b in combinations(data.coders, 2):
        two = data.select(coders=[a, b])
        if missing == "listwise":
            whole = np.bincount(data.item, minlength=data.n_items) == data.n_coders
            two = two.select(items=[data.items[i] for i in np.flatnonzero(whole)])
        kappa = am.agreement(two, "weighted_kappa", distance=distance, labels=data.labels, draws=0)
        each.append([kappa.value, kappa.observed, kappa.expected])
    value, *sides = np.transpose([one for one in each if np.isfinite(one[0])])
    found = am.agreement(data, "light_kappa", distance=distance, missing=missing, draws=0)
    assert found.value == pytest.approx(value.mean(), abs=1e-12)
    assert [found.observed, found.expected] == pytest.approx([x.mean() for x in sides], abs=1e-12)


def test_the_note_says_which_pairs_are_left_out():
    # Ann and Ben agree on one label only, Cy shares nothing with Dan; two pairs have a kappa.
    items = {
        "ann": "xxxx----",
        "ben": "xxxx----",
        "cy": "xyxy----",
        "dan": "----xyxy",
        "eve": "----xxyy",
    }
    rows = [(i, c, x) for c, said in items.items() for i, x in enumerate(said) if x != "-"]
    data = am.Annotations.from_records(rows)
    found = am.agreement(data, "light_kappa", draws=0)
    # ann-cy and ben-cy are 0 (a constant coder), dan-eve is 0 by the table.
    assert found.value == pytest.approx(0.0)
    assert (
        "The mean is over 3 of 10 pairs of coders; left out: 6 that share no item, 1 that gave "
        "one and the same label on all items they share (0/0)." in found.note
    )
    whole = am.Annotations.from_records([(i, c, (i + c) % 2) for i in range(6) for c in range(3)])
    assert "left out" not in am.agreement(whole, "light_kappa", draws=0).note
