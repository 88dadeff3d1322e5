"""Simulated crowds with one property each, for checks and regimes.

Every generator is `name(rng, size, **options) -> (records, truth)`: rows of item, coder and label,
item after item, and the label of every item. `size` is the number of items. Names of items sort in
the order in which they were labeled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = list[tuple[str, str, str]]
Truth = dict[str, str]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Rng = np.random.Generator


def item_name(i: int) -> str:
    """Name an item, so that names sort as numbers do."""
    return f"i{i:05d}"


def coder_name(j: int) -> str:
    """Name a coder."""
    return f"c{j:03d}"


def one_coin(accuracy: float, k: int) -> Floats:
    """Confusion matrix of a coder whose errors are spread evenly."""
    out = np.full((k, k), (1.0 - accuracy) / max(k - 1, 1))
    np.fill_diagonal(out, accuracy)
    return out


def labeled(
    rng: Rng, truth: Ints, confusion: Floats | Sequence[Floats], per_item: int | None
) -> Ints:
    """Draw labels [item, coder], -1 where none, independent given the truth."""
    rows = np.asarray(confusion)
    n, j = len(truth), len(rows)
    p = rows[:, truth].transpose(1, 0, 2)
    y = (rng.random((n, j, 1)) > p.cumsum(axis=2)).sum(axis=2)
    y = np.minimum(y, rows.shape[2] - 1)
    return thinned(rng, y, per_item)


def thinned(rng: Rng, y: Ints, per_item: int | None) -> Ints:
    """Keep some labels of each item, chosen at random."""
    if per_item is not None and per_item < y.shape[1]:
        rank = rng.random(y.shape).argsort(axis=1).argsort(axis=1)
        y = np.where(rank < per_item, y, -1)
    return y


def records(y: Ints, names: Sequence[str] | None = None) -> Rows:
    """Turn labels [item, coder] into rows."""
    names = [item_name(i) for i in range(len(y))] if names is None else names
    return [
        (names[i], coder_name(j), f"L{y[i, j]}")
        for i, j in zip(*(part.tolist() for part in np.nonzero(y >= 0)), strict=True)
    ]


def told(truth: Ints) -> Truth:
    """Give the truth by names."""
    return {item_name(i): f"L{t}" for i, t in enumerate(truth.tolist())}


def _prevalence(rng: Rng, k: int, skew: float) -> Floats:
    return (
        rng.dirichlet(np.full(k, 30.0))
        if skew <= 0
        else (lambda p: p / p.sum())(np.exp(-skew * np.arange(k)))
    )


def clean(
    rng: Rng,
    size: int = 200,
    *,
    k: int = 3,
    n_coders: int = 8,
    per_item: int | None = 5,
    low: float = 0.65,
    high: float = 0.9,
    skew: float = 0.0,
) -> tuple[Rows, Truth]:
    """Draw coders of accuracy `low` to `high` who err independently given the truth."""
    truth = rng.choice(k, size, p=_prevalence(rng, k, skew))
    y = labeled(rng, truth, [one_coin(a, k) for a in rng.uniform(low, high, n_coders)], per_item)
    return records(y), told(truth)


# the kinds of clean crowds that a finding must be silent about
CLEAN: dict[str, dict[str, Any]] = {
    "panel": {"k": 3, "n_coders": 6, "per_item": None, "low": 0.7, "high": 0.9},
    "two classes": {"k": 2, "n_coders": 8, "per_item": 5},
    "sixty coders": {"k": 3, "n_coders": 60, "per_item": 5},
    "eight classes": {"k": 8, "n_coders": 12, "per_item": 6},
    "skewed": {"k": 4, "n_coders": 10, "per_item": 5, "skew": 1.0},
    "very good": {"k": 3, "n_coders": 6, "per_item": 5, "low": 0.94, "high": 0.99},
    "very good, two classes": {"k": 2, "n_coders": 6, "per_item": None, "low": 0.94, "high": 0.99},
}


def noise(
    rng: Rng,
    size: int = 200,
    *,
    k: int = 3,
    n_coders: int = 8,
    per_item: int | None = 5,
    habits: float = 0.0,
) -> tuple[Rows, Truth]:
    """Draw labels that depend on no truth; `habits` above 0 make coders prefer some labels."""
    truth = rng.integers(0, k, size)
    share = np.full((n_coders, k), 1.0 / k)
    if habits > 0:
        share = rng.dirichlet(np.full(k, 1.0 / habits), n_coders)
    y = labeled(rng, truth, [np.tile(each, (k, 1)) for each in share], per_item)
    return records(y), told(truth)


def rare(
    rng: Rng, size: int = 500, *, share: float = 0.02, n_coders: int = 15, per_item: int = 5
) -> tuple[Rows, Truth]:
    """Draw a class that is rare, with coders who miss some of it and invent a little."""
    truth = (rng.random(size) < share).astype(np.int64)
    hit, right = rng.uniform(0.5, 0.85, n_coders), rng.uniform(0.94, 0.99, n_coders)
    rows = [np.array([[r, 1 - r], [1 - h, h]]) for h, r in zip(hit, right, strict=True)]
    return records(labeled(rng, truth, rows, per_item)), told(truth)


def adversaries(
    rng: Rng, size: int = 200, *, good: int = 6, chance: int = 3, reversed_: int = 2,
    per_item: int = 7,
) -> tuple[Rows, Truth]:  # fmt: skip
    """Draw two classes, good coders, coders at chance, and coders who are reversed."""
    truth = rng.integers(0, 2, size)
    right = np.r_[np.full(reversed_, 0.2), np.full(chance, 0.5), rng.uniform(0.7, 0.9, good)]
    y = labeled(rng, truth, [one_coin(a, 2) for a in right], per_item)
    return records(y), told(truth)


def spammers(
    rng: Rng, size: int = 200, *, k: int = 4, n_coders: int = 10, per_item: int = 6
) -> tuple[Rows, Truth]:
    """Let half of the coders be at chance, each with habits."""
    truth = rng.integers(0, k, size)
    half = n_coders // 2
    rows = [one_coin(a, k) for a in rng.uniform(0.7, 0.9, n_coders - half)]
    rows += [np.tile(p, (k, 1)) for p in rng.dirichlet(np.full(k, 2.0), half)]
    return records(labeled(rng, truth, rows, per_item)), told(truth)


def two_coders(rng: Rng, size: int = 200, *, k: int = 3) -> tuple[Rows, Truth]:
    """Draw two coders who label everything."""
    return clean(rng, size, k=k, n_coders=2, per_item=None, low=0.7, high=0.85)


def sparse(
    rng: Rng, size: int = 400, *, k: int = 3, n_coders: int = 40
) -> tuple[Rows, Truth]:  # fmt: skip
    """Draw one or two labels per item, of many coders."""
    truth = rng.integers(0, k, size)
    y = labeled(rng, truth, [one_coin(a, k) for a in rng.uniform(0.6, 0.9, n_coders)], 2)
    for i in np.flatnonzero(rng.random(size) < 0.5).tolist():
        y[i, np.flatnonzero(y[i] >= 0)[0]] = -1
    return records(y), told(truth)


def near_chance(
    rng: Rng, size: int = 200, *, k: int = 2, n_coders: int = 30, per_item: int = 25,
    low: float = 0.52, high: float = 0.7,
) -> tuple[Rows, Truth]:  # fmt: skip
    """Draw many labels by coders who are little better than chance."""
    return clean(rng, size, k=k, n_coders=n_coders, per_item=per_item, low=low, high=high)


def difficult(
    rng: Rng, size: int = 200, *, k: int = 3, n_coders: int = 10, per_item: int = 7, sd: float = 1.5
) -> tuple[Rows, Truth]:
    """Draw items that differ in difficulty; wrong labels are spread evenly."""
    truth = rng.integers(0, k, size)
    logit = rng.normal(1.3, 0.4, n_coders) - rng.normal(0.0, sd, size)[:, None]
    right = rng.random((size, n_coders)) < 1.0 / k + (1 - 1.0 / k) / (1 + np.exp(-logit))
    other = (truth[:, None] + rng.integers(1, k, (size, n_coders))) % k
    return records(thinned(rng, np.where(right, truth[:, None], other), per_item)), told(truth)


def shared_bias(
    rng: Rng, size: int = 200, *, k: int = 2, n_coders: int = 6, misread: float = 0.25,
    follow: float = 0.85,
) -> tuple[Rows, Truth]:  # fmt: skip
    """Draw a panel that misreads some items together, as language models do."""
    truth = rng.integers(0, k, size)
    seen = np.where(rng.random(size) < misread, (truth + rng.integers(1, k, size)) % k, truth)
    y = labeled(rng, seen, [one_coin(follow, k)] * n_coders, None)
    return records(y), told(truth)


def cliques(
    rng: Rng, size: int = 200, *, k: int = 3, groups: int = 3, each: int = 4, shared: float = 0.25,
    per_item: int | None = 8,
) -> tuple[Rows, Truth]:  # fmt: skip
    """Draw groups of coders who misread the same items: a family each, none copies another."""
    truth = rng.integers(0, k, size)
    y = np.empty((size, groups * each), dtype=np.int64)
    for g in range(groups):
        wrong = rng.random(size) < shared
        seen = np.where(wrong, (truth + rng.integers(1, k, size)) % k, truth)
        rows = [one_coin(a, k) for a in rng.uniform(0.75, 0.9, each)]
        y[:, g * each : (g + 1) * each] = labeled(rng, seen, rows, None)
    return records(thinned(rng, y, per_item)), told(truth)


def copies(
    rng: Rng, size: int = 200, *, k: int = 3, n_coders: int = 9, copiers: int = 2,
    rate: float = 0.97, per_item: int | None = None, low: float = 0.6, high: float = 0.8,
) -> tuple[Rows, Truth]:  # fmt: skip
    """Let coders 1 to `copiers` give the label of coder 0 at `rate`, else a label of their own."""
    truth = rng.integers(0, k, size)
    y = labeled(rng, truth, [one_coin(a, k) for a in rng.uniform(low, high, n_coders)], None)
    for j in range(1, copiers + 1):
        y[:, j] = np.where(rng.random(size) < rate, y[:, 0], y[:, j])
    return records(thinned(rng, y, per_item)), told(truth)


def split_guideline(
    rng: Rng, size: int = 200, *, k: int = 3, n_coders: int = 8, per_item: int | None = 5,
    low: float = 0.75, high: float = 0.92, source: int = 2, target: int = 1, share: float = 0.5,
    steady: float = 1.0,
) -> tuple[Rows, Truth]:  # fmt: skip
    """Let the first coders read class `source` as `target`: a `share` of them, `steady`-ly."""
    truth = rng.integers(0, k, size)
    y = np.empty((size, n_coders), dtype=np.int64)
    for j, a in enumerate(rng.uniform(low, high, n_coders)):
        turned = (truth == source) & (j < share * n_coders) & (rng.random(size) < steady)
        y[:, j] = labeled(rng, np.where(turned, target, truth), [one_coin(a, k)], None)[:, 0]
    return records(thinned(rng, y, per_item)), told(truth)


def swapped(
    rng: Rng, size: int = 200, *, k: int = 3, n_coders: int = 8, per_item: int | None = 5,
    low: float = 0.7, high: float = 0.9, classes: tuple[int, int] = (0, 1), swappers: int = 1,
) -> tuple[Rows, Truth]:  # fmt: skip
    """Let the first coders take two classes for each other; with k = 2 they are reversed."""
    truth = rng.integers(0, k, size)
    rows = [one_coin(a, k) for a in rng.uniform(low, high, n_coders)]
    order = np.arange(k)
    order[list(classes)] = classes[::-1]
    rows[:swappers] = [row[order] for row in rows[:swappers]]
    return records(labeled(rng, truth, rows, per_item)), told(truth)


def spoiled(rng: Rng, truth: Truth, known: int = 40, wrong: int = 8) -> Truth:
    """Give known truth of the first items, some of it wrong."""
    labels = sorted(set(truth.values()))
    gold = dict(sorted(truth.items())[:known])
    for name in rng.choice(sorted(gold), wrong, replace=False).tolist():
        gold[name] = str(rng.choice([label for label in labels if label != gold[name]]))
    return gold


def items_twice(
    rng: Rng, size: int = 200, *, k: int = 3, n_coders: int = 8, per_item: int | None = 5,
    low: float = 0.65, high: float = 0.9, twice: int = 30, same: float = 1.0,
) -> tuple[Rows, Truth]:  # fmt: skip
    """Repeat some items under other names, with `same` of the labels that they have."""
    truth = rng.integers(0, k, size)
    y = labeled(rng, truth, [one_coin(a, k) for a in rng.uniform(low, high, n_coders)], per_item)
    again = rng.choice(size, twice, replace=False)
    copy = y[again]
    changed = (copy >= 0) & (rng.random(copy.shape) >= same)
    copy = np.where(changed, rng.integers(0, k, copy.shape), copy)
    y, truth = np.concatenate([y, copy]), np.concatenate([truth, truth[again]])
    return records(y), told(truth)


def drift(
    rng: Rng, size: int = 300, *, k: int = 3, n_coders: int = 6, per_item: int | None = 5,
    fall: int = 3, low: float = 0.8, high: float = 0.95, after: float = 0.4,
) -> tuple[Rows, Truth]:  # fmt: skip
    """Let the accuracy of the first `fall` coders drop to `after` halfway through the items."""
    truth = rng.integers(0, k, size)
    right = rng.uniform(low, high, n_coders)
    later = np.r_[np.full(fall, after), right[fall:]]
    half = size // 2
    y = np.concatenate(
        [
            labeled(rng, part, [one_coin(a, k) for a in each], per_item)
            for part, each in ((truth[:half], right), (truth[half:], later))
        ]
    )
    return records(y), told(truth)
