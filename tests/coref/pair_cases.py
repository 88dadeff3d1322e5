"""Judgments drawn from the mention-pair models, and their truths by enumeration."""

from itertools import product

import numpy as np
import pandas as pd

from annomodels.data.candidates import Candidates
from annomodels.models.pairs import PairValues


def design(rng, n_items, n_coders, per_item, n_classes=2, most=3, none=False):
    """Give candidates without decisions: 1 to `most` a mention, the first of class 0."""
    firsts, starts, coder, cls, labels = [0], [0], [], [], []
    for _ in range(n_items):
        who = np.sort(rng.choice(n_coders, per_item, replace=False))
        for m in range(rng.integers(1, most + 1)):
            cls.append(0 if m == 0 else rng.integers(min(1, n_classes - 1), n_classes))
            labels.append(f"c{cls[-1]}({m})")
            coder += list(who)
            starts.append(len(coder))
        if none:
            cls.append(n_classes)
            labels.append("none of these")
            starts.append(len(coder))
        firsts.append(len(cls))
    classes = [f"c{h}" for h in range(n_classes)] + ["none of these"] * none
    codes = (
        np.array(x, dtype=np.int64) for x in (firsts, starts, coder, np.zeros(len(coder)), cls)
    )
    items = tuple(f"t#{i:04d}" for i in range(n_items))
    return Candidates(
        items, tuple(f"j{j}" for j in range(n_coders)), tuple(classes), tuple(labels), *codes
    )


def simulate(model, codes, values: PairValues, rng):
    """Draw truths [candidate] and fill in the decisions."""
    n_kinds = values.rate.shape[1]
    truth = np.zeros(len(codes.labels), dtype=np.int64)
    for i in range(len(codes.items)):
        options = range(codes.firsts[i], codes.firsts[i + 1])
        if not model.single:
            for m in options:
                h = codes.cls[m]
                truth[m] = rng.random() < values.prevalence[h]
                for d in range(codes.starts[m], codes.starts[m + 1]):
                    right = rng.random() < values.rate[codes.coder[d], 2 * h + truth[m]]
                    codes.accepted[d] = truth[m] if right else 1 - truth[m]
            continue
        weight = values.prevalence[codes.cls[codes.firsts[i] : codes.firsts[i + 1]]]
        true = options[rng.choice(len(weight), p=weight / weight.sum())]
        truth[true] = 1
        listed = [m for m in options if codes.cls[m] < n_kinds]
        for place in range(codes.starts[listed[0] + 1] - codes.starts[listed[0]]):
            j = codes.coder[codes.starts[listed[0]] + place]
            others = [m for m in listed if m != true] + [None]  # None: something unlisted
            is_none = codes.cls[true] == n_kinds
            if not is_none and rng.random() < values.rate[j, codes.cls[true]]:
                said = true
            else:
                said = others[rng.integers(len(others))]
            for m in listed:
                codes.accepted[codes.starts[m] + place] = m == said
    return truth


def enumerate_truths(model, codes, values: PairValues):
    """Log likelihood, P(true) [candidate] and P(none, one, several) [mention, 3] by brute force."""
    n, n_kinds = len(codes.labels), values.rate.shape[1]
    total, p, number = 0.0, np.zeros(n), np.zeros((len(codes.items), 3))
    for truth in product((0, 1), repeat=n):
        joint = 1.0
        for i in range(len(codes.items)):
            options = range(codes.firsts[i], codes.firsts[i + 1])
            joint *= (_one if model.single else _any)(codes, values, options, truth, n_kinds)
        total += joint
        p += joint * np.array(truth)
        for i in range(len(codes.items)):
            options = range(codes.firsts[i], codes.firsts[i + 1])
            real = sum(truth[m] for m in options if codes.labels[m] != "none of these")
            number[i, min(real, 2)] += joint
    return np.log(total), p / total, number / total


def _any(codes, values, options, truth, n_kinds):
    joint = 1.0
    for m in options:
        h, t = codes.cls[m], truth[m]
        joint *= values.prevalence[h] if t else 1 - values.prevalence[h]
        for d in range(codes.starts[m], codes.starts[m + 1]):
            rate = values.rate[codes.coder[d], 2 * h + t]
            joint *= rate if codes.accepted[d] == t else 1 - rate
    return joint


def _one(codes, values, options, truth, n_kinds):
    if sum(truth[m] for m in options) != 1:
        return 0.0
    (true,) = (m for m in options if truth[m])
    listed = [m for m in options if codes.cls[m] < n_kinds]
    joint = values.prevalence[codes.cls[true]] / sum(
        values.prevalence[codes.cls[m]] for m in options
    )
    for place in range(codes.starts[listed[0] + 1] - codes.starts[listed[0]]):
        if codes.cls[true] == n_kinds:
            joint /= len(listed) + 1
            continue
        rate = values.rate[codes.coder[codes.starts[true] + place], codes.cls[true]]
        right = codes.accepted[codes.starts[true] + place]
        joint *= rate if right else (1 - rate) / len(listed)
    return joint


def table_of(codes):
    """Give the decisions as a table, without those who accepted nothing of a mention."""
    said = codes.accepted == 1
    candidate = codes.candidate[said]
    return pd.DataFrame(
        {
            "item": [codes.items[i] for i in codes.mention[candidate]],
            "coder": [codes.coders[j] for j in codes.coder[said]],
            "label": [codes.labels[m] for m in candidate],
        }
    )
