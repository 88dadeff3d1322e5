"""Tiny random data, and sums over every possible truth by brute force."""

import itertools

import numpy as np

import annomodels as am


def tiny(rng, n_items=4, n_coders=3, n_labels=3, gold=False, repeats=True):
    """Random labels with gaps, repeats and, on demand, one known item."""
    rows = []
    for i in range(n_items):
        for j in range(n_coders):
            times = rng.choice([0, 1, 2], p=[0.25, 0.6, 0.15]) if repeats else 1
            rows += [(i, j, int(rng.integers(n_labels))) for _ in range(times)]
    rows += [(0, 0, 0), (n_items - 1, n_coders - 1, n_labels - 1)]
    known = {1: n_labels - 1} if gold else None
    return am.Annotations.from_records(rows, labels=list(range(n_labels)), truth=known)


def enumerate_truths(data, prevalence, confusion):
    """Log marginal likelihood, P(truth) [item, truth] and expected counts [coder, label, truth].

    `confusion` is [coder, truth, label]; every one of K^I labelings is visited.
    """
    k = data.n_labels
    total = 0.0
    p_truth = np.zeros((data.n_items, k))
    counts = np.zeros((data.n_coders, k, k))
    for truths in itertools.product(range(k), repeat=data.n_items):
        c = np.array(truths)
        if data.gold is not None and (c[data.gold >= 0] != data.gold[data.gold >= 0]).any():
            continue
        weight = prevalence[c].prod() * confusion[data.coder, c[data.item], data.label].prod()
        total += weight
        p_truth[np.arange(data.n_items), c] += weight
        np.add.at(counts, (data.coder, data.label, c[data.item]), weight)
    return np.log(total), p_truth / total, counts / total


def known_items(n_items=12, labels=2, seed=3, gold=False):
    """Labels of five coders, and what is known of the items: a number and a text."""
    rng = np.random.default_rng(seed)
    table = {
        f"i{i}": {"length": int(rng.integers(3, 9)), "genre": "news" if i % 3 else "chat"}
        for i in range(n_items)
    }
    rows = []
    for i in range(n_items):
        truth = rng.integers(labels)
        for coder in "abcde":
            said = truth if rng.random() < 0.7 else rng.integers(labels)
            rows.append((f"i{i}", coder, "xyz"[said]))
    known = {"i1": "x"} if gold else None
    return am.Annotations.from_records(rows, labels=list("xyz")[:labels], truth=known), table
