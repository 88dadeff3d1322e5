"""Model-free test of whether labels depend on the items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annomodels.data.alike import mostly_plain
from annomodels.types import AnyArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# p from which labels are as by chance, and upper end of alpha from which they may still be worth
# something all the same
BY_CHANCE, WEAK = 0.01, 0.3
# pairs of labels, and cells of the tables of pairs of coders, that are looked at
PAIRS, CELLS, AT_ONCE = 5_000_000, 50_000_000, 2_000_000


def chance_p_value(
    coder: AnyArray, label: AnyArray, starts: AnyArray, n_coders: int, n_labels: int
) -> float:
    """Test whether coders label independently of each other; small if they do not."""
    # With x_ij the label of coder j as an indicator less the shares of the coder's labels, two
    # coders give the table C_ab = sum_i x_ia x_ib^T over their common items. If labels depend only
    # on the coder, permuting the labels of each coder changes nothing. The statistics are
    # sum_ab |C_ab|^2, which sees every dependence, also that of coders who answer the other way
    # round, and sum_ab tr(C_ab), which sees agreement if each pair has few items. Both are compared
    # with their moments under such permutations, one by a gamma and one by a normal distribution;
    # the smaller p is doubled. The first label of a coder on an item counts. Of very many labels
    # every n-th item is used, and pairs of coders with most items in common.
    from scipy.special import gammaincc, ndtr

    one, two = _row_pairs(np.asarray(coder, np.int64), np.asarray(starts, np.int64))
    coder, label = np.asarray(coder, np.int64), np.asarray(label, np.int64)
    n = np.bincount(coder, minlength=n_coders)
    share = np.bincount(coder * n_labels + label, minlength=n_coders * n_labels)
    p: Floats = share.reshape(-1, n_labels) / np.maximum(n, 1)[:, None]
    pair, place = np.unique(coder[one] * n_coders + coder[two], return_inverse=True)
    if not len(pair):
        return 1.0
    common = np.bincount(place)
    most = np.argsort(-common, kind="stable")[: max(1, CELLS // n_labels**2)]
    order = np.argsort(place, kind="stable")
    cell = label[one] * n_labels + label[two]
    ends = np.r_[0, np.cumsum(common)]
    square = agree = mean = square_var = agree_var = 0.0
    step = max(1, AT_ONCE // n_labels**2)
    for begin in range(0, len(most), step):
        some = most[begin : begin + step]
        m = common[some]
        rows = order[np.repeat(ends[some] - np.r_[0, np.cumsum(m)[:-1]], m) + np.arange(m.sum())]
        flat = np.repeat(np.arange(len(some)), m) * n_labels**2 + cell[rows]
        table = np.bincount(flat, minlength=len(some) * n_labels**2)
        a, b = np.divmod(pair[some], n_coders)
        pa, pb = p[a], p[b]
        c = table.reshape(-1, n_labels, n_labels).astype(np.float64)
        c -= pa[:, :, None] * c.sum(axis=1)[:, None] + c.sum(axis=2)[:, :, None] * pb[:, None]
        c += m[:, None, None] * pa[:, :, None] * pb[:, None]
        va, vb = 1.0 - (pa**2).sum(axis=1), 1.0 - (pb**2).sum(axis=1)
        # the labels of a coder are drawn without replacement
        spread = m + m * (m - 1.0) / np.maximum((n[a] - 1.0) * (n[b] - 1.0), 1.0)
        fa, fb = _squared(pa), _squared(pb)
        fourth = (va**2 + _varied(pa)) * (vb**2 + _varied(pb)) - (va * vb) ** 2
        square += float((c**2).sum())
        agree += float(np.trace(c, axis1=1, axis2=2).sum())
        mean += float((spread * va * vb).sum())
        square_var += float(((spread / m) ** 2 * (2 * m * (m - 1) * fa * fb + m * fourth)).sum())
        both = (pa * pb).sum(axis=1)
        trace = both - (pa * pb * (pa + pb)).sum(axis=1) + both**2
        agree_var += float((spread * trace).sum())
    if min(mean, square_var, agree_var) <= 1e-12:
        return 1.0
    by_square = float(gammaincc(mean**2 / square_var, square * mean / square_var))
    by_agreement = float(ndtr(-agree / np.sqrt(agree_var)))
    return min(1.0, 2.0 * min(by_square, by_agreement))


def _row_pairs(coder: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Return pairs of rows: labels of an item by two coders, the lower coder first."""
    n = np.diff(starts)
    work = np.cumsum(n * (n - 1) // 2)
    step = 1 + int(work[-1] // PAIRS) if len(work) else 1
    found = []
    item = np.repeat(np.arange(len(n)), n)
    first = np.ones(len(coder), dtype=bool)
    first[1:] = (item[1:] != item[:-1]) | (coder[1:] != coder[:-1])
    rows = np.flatnonzero(first & (item % step == 0))
    rest = 2 * PAIRS
    for distance in range(1, int(n.max(initial=0))):
        same = item[rows[distance:]] == item[rows[:-distance]]
        found.append((rows[:-distance][same], rows[distance:][same]))
        # if an item has thousands of labels, only pairs of coders next to each other are taken
        rest -= len(found[-1][0])
        if not len(found[-1][0]) or rest <= 0:
            break
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    one, two = (np.concatenate(part) for part in zip(*found, strict=True))
    return one, two


def _squared(p: Floats) -> Floats:
    """Return the sum of squared covariances of an indicator with these proportions, by row."""
    square = p**2
    return ((p * (1 - p)) ** 2).sum(axis=1) + square.sum(axis=1) ** 2 - (square**2).sum(axis=1)


def _varied(p: Floats) -> Floats:
    """Return the variance of the squared norm of a centered indicator, by row."""
    return 4.0 * ((p**3).sum(axis=1) - (p**2).sum(axis=1) ** 2)


def alpha_high(label: Ints, starts: Ints, n_labels: int) -> float:
    """Return the upper end of the 95 % interval of nominal Krippendorff's alpha, over items.

    >>> alpha_high(np.array([0, 0, 1, 1]), np.array([0, 2, 4]), 2)
    1.0
    """
    ends = np.asarray(starts, np.int64)
    n = ends[1:] - ends[:-1]
    item, label = np.repeat(np.arange(len(n)), n), np.asarray(label, np.int64)
    # only nonzero cells: the full table is too large with many labels
    cells, votes = np.unique(item * n_labels + label, return_counts=True)
    squares = np.bincount(cells // n_labels, votes.astype(np.float64) ** 2, len(n))[n > 1]
    of_label = np.bincount(label[n[item] > 1], minlength=n_labels)
    n = n[n > 1].astype(np.float64)
    total = n.sum()
    pairs = max(float(total * (total - 1)), 1.0)
    expected = (total**2 - (of_label.astype(np.float64) ** 2).sum()) / pairs
    if expected <= 0:
        return 1.0
    apart = (n**2 - squares) / (n - 1)
    seen = apart.sum() / total
    error = np.sqrt(((apart - seen * n) ** 2).sum()) / total
    return float(1.0 - (seen - 1.96 * error) / expected)


def by_chance(
    coder: AnyArray, label: AnyArray, starts: AnyArray, n_coders: int, n_labels: int
) -> bool:
    """Return True if labels show no dependence on items, and alpha is at most small."""
    if alpha_high(label, starts, n_labels) >= WEAK:
        return False
    # coders with a single label offer no comparison
    if mostly_plain(coder, label, n_coders, n_labels):
        return False
    return chance_p_value(coder, label, starts, n_coders, n_labels) > BY_CHANCE
