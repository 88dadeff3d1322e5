"""The same numbers as other packages on random data."""

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import annomodels as am


def random_matrix(rng, n_items=40, n_coders=5, n_labels=5, missing=0.3):
    truth = rng.integers(1, n_labels + 1, n_items)
    labels = np.where(
        rng.random((n_coders, n_items)) < 0.6,
        truth,
        rng.integers(1, n_labels + 1, (n_coders, n_items)),
    ).astype(float)
    labels[rng.random(labels.shape) < missing] = np.nan
    return labels


def annotations(matrix, n_labels):
    rows = [(i, c, int(x)) for (c, i), x in np.ndenumerate(matrix) if not np.isnan(x)]
    return am.Annotations.from_records(rows, labels=range(1, n_labels + 1))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("n_labels", [2, 5, 30])
def test_krippendorff_package(level, n_labels, rng):
    for _ in range(5):
        matrix = random_matrix(rng, n_labels=n_labels)
        expected = krippendorff.alpha(
            matrix, value_domain=list(range(1, n_labels + 1)), level_of_measurement=level
        )
        found = am.agreement(annotations(matrix, n_labels), "alpha", distance=level, draws=0)
        assert found.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("n_labels", [2, 6])
def test_scikit_learn_cohen_kappa(weights, n_labels, rng):
    for _ in range(5):
        matrix = random_matrix(rng, n_coders=2, n_labels=n_labels, missing=0.0)
        expected = cohen_kappa_score(*matrix, labels=range(1, n_labels + 1), weights=weights)
        name = "weighted_kappa" if weights else "kappa"
        found = am.agreement(annotations(matrix, n_labels), name, distance=weights, draws=0)
        assert found.value == pytest.approx(expected, abs=1e-12)
