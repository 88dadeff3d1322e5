"""How often panels of two-label coders give each pattern of labels, seen and expected."""

import numpy as np

from annomodels.summaries.draws import thinned


def pattern_table(data):
    """Give every pattern of labels [pattern, coder] and how many items have it."""
    n = data.n_coders
    patterns = (np.arange(2**n)[:, None] >> np.arange(n)[::-1]) & 1
    labels = np.zeros((data.n_items, n), dtype=int)
    labels[data.item, data.coder] = data.label
    return patterns, np.bincount(labels @ 2 ** np.arange(n)[::-1], minlength=2**n)


def expected_counts(fit, data, n_max=400):
    """Give the expected number of items with each pattern, the posterior mean."""
    patterns, _ = pattern_table(data)
    draws = thinned(fit.tree, data, n_max)
    likelihood = np.ones((len(draws), len(patterns), draws.share.shape[1]))
    for coder in range(data.n_coders):
        likelihood *= draws.emission[:, coder][:, :, patterns[:, coder]].transpose(0, 2, 1)
    return data.n_items * np.einsum("dps,ds->p", likelihood, draws.share) / len(draws)


def chi_square(fit, data):
    """Pearson's statistic over all patterns."""
    _, seen = pattern_table(data)
    expected = expected_counts(fit, data)
    return float(((seen - expected) ** 2 / expected).sum())


def by_votes(fit, data):
    """Give the expected number of items by how many coders said the second label."""
    patterns, _ = pattern_table(data)
    votes = patterns.sum(axis=1)
    return np.bincount(votes, weights=expected_counts(fit, data))
