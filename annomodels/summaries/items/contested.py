"""Which items divide coders more than their errors explain: P(contested), and the list of them.

Nothing here is drawn at random, so that a list of items is the same for every fit of the labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from annomodels.data.annotations import Annotations
from annomodels.summaries.draws import per_item
from annomodels.types import Floats, Ints

Bools = NDArray[np.bool_]

# shares of contested items, and what each of them is worth before the labels are seen
GRID = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45)
PRIOR = np.array([0.5, *[0.5 / 7] * 7])
# shares of the coders who perceive the first of two readings
SHARES = np.array([0.3, 0.5, 0.7])
# readings are looked for in pairs of so many classes of an item, those with most support
CANDIDATES = 3
# how far the bound lies below the evidence, see contested(), and the share of the items of a list
# that are expected not to be contested
SLACK, FALSE = 0.14, 0.3
# labels and cells of coders' rows from which rows and shares are learnt; more are thinned by item
MOST_LABELS, MOST_CELLS = 50_000, 100_000
ROUNDS, CLOSE = 60, 1e-3
STEP, LEAST, MOST = math.sqrt(2.0), 1.0, 64.0


def contested(data: Annotations) -> Floats:
    r"""P(an item divides coders more than their errors explain), shape [item].

    .. math::

        y_n \sim Cat(\theta_{j_n, k_i}) \text{ or, with probability } \alpha, \;
        u_i Cat(\theta_{j_n, a_i}) + (1 - u_i) Cat(\theta_{j_n, b_i}), \quad
        \theta_{j,k} \sim Dir(c\, m_k)

    An item is read alike by all coders, or each coder perceives one of two classes a and b. Rows
    of the coders get variational posteriors given each share :math:`\alpha` of a grid, so that
    the errors of coders are those on the items that are read alike. Shares are weighed by the
    bound on the evidence and :math:`\kappa D h`: the bound takes no notice of what rows lose by
    items whose states are open, which grows with D, the numbers that the rows leave to the labels,
    and h, the mean entropy of a state in nats.

    :math:`\kappa` = .14 was chosen on 120 made-up crowds of 2 to 5 classes, 120 to 700 items, 6 to
    20 labels an item, and 0 to 30 % of items with two readings, with the bundled crowd in view; see
    :doc:`/concepts` for what lists of other crowds held.

    Parameters
    ----------
    data
        The labels.

    References
    ----------
    M. J. Beal and Z. Ghahramani (2003). The variational Bayesian EM algorithm for incomplete data.
    Bayesian Statistics 7, 453-464.

    Examples
    --------
    >>> import annomodels as am
    >>> data = am.Annotations.from_records(
    ...     [(i, j, "no" if j < 5 and i == 0 else "yes") for i in range(40) for j in range(10)]
    ... )
    >>> p = contested(data)
    >>> int(p.argmax()), bool(p[1:].max() < 0.1)
    (0, True)
    """
    if not len(data) or data.n_labels < 2:
        return np.zeros(data.n_items)
    whole = _readers(data)
    part = whole.thinned(data)
    label_of = _expected_votes(data)[part.number]
    fits: list[_Climbed] = []
    for share in GRID:
        fits.append(_climb(part, share, fits[-1].expected if fits else label_of))
    slack = SLACK * fits[0].degrees
    evidence = np.array([fit.bound + slack * fit.entropy for fit in fits]) + np.log(PRIOR)
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    out = np.zeros(data.n_items)
    for begin, end in whole.blocks():
        block = whole.cut(begin, end)
        for share, fit, w in zip(GRID, fits, weight, strict=True):
            if share and w > 1e-6:
                states = _states(_joint(block, share, fit.rows))[0]
                out[begin:end] += w * states[:, data.n_labels :].sum(axis=1)
    return out


def listed(p: Floats, able: Bools | None = None, false: float = FALSE) -> Bools:
    r"""Which items to call contested, so that a given share of them is expected not to be.

    The longest list, from the largest P down, of which the mean of 1 - P is at most `false`.

    Parameters
    ----------
    p
        P(contested), shape [item].
    able
        Which items may be in the list, all by default.
    false
        Expected share of the list that is not contested.

    References
    ----------
    P. Mueller, G. Parmigiani and K. Rice (2006). FDR and Bayesian multiple comparisons rules.
    Bayesian Statistics 8, 349-370.

    Examples
    --------
    >>> listed(np.array([0.9, 0.1, 0.6, 0.4]), false=0.3)
    array([ True, False,  True, False])
    """
    order = np.arange(len(p)) if able is None else np.flatnonzero(able)
    order = order[np.argsort(-p[order], kind="stable")]
    mean = np.cumsum(1.0 - p[order]) / np.arange(1, len(order) + 1)
    out = np.zeros(len(p), bool)
    out[order[: int((mean <= false).sum())]] = True
    return out


# -- the labels and what is known of the coders ---------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Readers:
    """Labels of items in a row: `number` is where each stands in the data."""

    number: Ints
    coder: Ints
    label: Ints
    starts: Ints
    allowed: Floats
    pairs: Ints  # [item, candidate, 2]
    n_coders: int

    @property
    def n_labels(self) -> int:
        """Number of classes."""
        return int(self.allowed.shape[1])

    @property
    def item(self) -> Ints:
        """Item of each label."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def cut(self, begin: int, end: int, step: int = 1) -> _Readers:
        """Give some of the items."""
        chosen = np.arange(begin, end, step)
        n = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(n)])
        at = np.repeat(self.starts[chosen] - starts[:-1], n) + np.arange(starts[-1])
        return _Readers(
            self.number[at], self.coder[at], self.label[at], starts, self.allowed[chosen],
            self.pairs[chosen], self.n_coders,
        )  # fmt: skip

    def thinned(self, data: Annotations) -> _Readers:
        """Give every m-th item, so that labels and rows stay within what is learnt from."""
        cells = data.n_coders * data.n_labels**2
        step = math.ceil(max(len(data) / MOST_LABELS, cells / MOST_CELLS))
        return self.cut(0, data.n_items, max(1, min(step, data.n_items)))

    def blocks(self) -> list[tuple[int, int]]:
        """Give the items in parts of as many labels."""
        n_items = len(self.starts) - 1
        edges = [0]
        while edges[-1] < n_items:
            reached = self.starts[edges[-1]] + MOST_LABELS
            end = int(np.searchsorted(self.starts, reached, side="right")) - 1
            edges.append(min(n_items, max(end, edges[-1] + 1)))
        return list(pairwise(edges))


def _expected_votes(data: Annotations) -> Floats:
    """Say what each label was given for by the votes of its item, shape [annotation, truth]."""
    votes = data.votes + 0.5
    return np.asarray((votes / votes.sum(axis=1, keepdims=True))[data.item])


def _readers(data: Annotations) -> _Readers:
    k = data.n_labels
    allowed = np.zeros((data.n_items, k))
    if data.gold is not None:
        known = np.flatnonzero(data.gold >= 0)
        allowed[known] = -np.inf
        allowed[known, data.gold[known]] = 0.0
    coder, label = data.coder.astype(np.int64), data.label.astype(np.int64)
    counts = _counts(coder, label, _expected_votes(data), data.n_coders)
    mean = counts.sum(axis=0) + 1.0 / k
    rows = counts + 4.0 * mean / mean.sum(axis=1, keepdims=True)
    rows /= rows.sum(axis=2, keepdims=True)
    spoken = rows[coder, :, label]
    support = per_item(spoken / spoken.sum(axis=1, keepdims=True), data.starts)
    order = np.argsort(-support, axis=1, kind="stable")[:, :CANDIDATES]
    pairs = np.stack([order[:, side] for side in np.triu_indices(order.shape[1], 1)], axis=2)
    number = np.arange(len(data))
    return _Readers(number, coder, label, data.starts, allowed, pairs, data.n_coders)


def _counts(coder: Ints, label: Ints, expected: Floats, n_coders: int) -> Floats:
    """Count the labels by what they were given for, shape [coder, truth, label]."""
    k = expected.shape[1]
    cell = (coder[:, None] * k + np.arange(k)) * k + label[:, None]
    return np.bincount(cell.ravel(), expected.ravel(), n_coders * k * k).reshape(-1, k, k)


# -- variational posteriors given a share of contested items --------------------------------------


@dataclass(frozen=True, eq=False)
class _Rows:
    """Expected log rows [coder, truth, label], log shares of classes and of pairs of them."""

    log_rows: Floats
    log_class: Floats
    log_pair: Floats


@dataclass(frozen=True, eq=False)
class _Climbed:
    """Rows, P(class perceived) of each label, bound on the log evidence, mean entropy of a state.

    `degrees` are the numbers that the rows leave to the labels.
    """

    rows: _Rows
    expected: Floats
    bound: float
    entropy: float
    degrees: float


@dataclass(frozen=True, eq=False)
class _Joint:
    """Log joint of states and labels [item, state]; of pairs, share of the first reading."""

    log: Floats
    first: Floats | None


def _joint(z: _Readers, share: float, rows: _Rows) -> _Joint:
    spoken = rows.log_rows[z.coder, :, z.label]
    log = per_item(spoken, z.starts) + rows.log_class + math.log1p(-share) + z.allowed
    if not share:
        return _Joint(log, None)
    p, at = np.exp(spoken), np.arange(len(spoken))[:, None]
    pairs = z.pairs[z.item]
    a = p[at, pairs[:, :, 0]][:, :, None] * SHARES
    both = a + p[at, pairs[:, :, 1]][:, :, None] * (1.0 - SHARES)
    prior = rows.log_pair[z.pairs[:, :, 0], z.pairs[:, :, 1]] + math.log(share / len(SHARES))
    two = per_item(np.log(both), z.starts) + prior[:, :, None]
    return _Joint(np.concatenate([log, two.reshape(len(log), -1)], axis=1), a / both)


def _states(joint: _Joint) -> tuple[Floats, float]:
    """P(state | labels) [item, state], and the log probability of all labels."""
    top = joint.log.max(axis=1, keepdims=True)
    p = np.exp(joint.log - top)
    total = p.sum(axis=1, keepdims=True)
    return p / total, float((top + np.log(total)).sum())


def _climb(z: _Readers, share: float, expected: Floats) -> _Climbed:
    """Posterior of the rows given a share of contested items, from what labels were given for."""
    k, item = z.n_labels, z.item
    plain = per_item(expected, z.starts) + 1.0 / k
    plain /= plain.sum(axis=1, keepdims=True)
    pair, at = np.zeros(z.pairs.shape[:2]), np.arange(len(item))
    mean, strength = None, 4.0
    for _ in range(ROUNDS):
        counts = _counts(z.coder, z.label, expected, z.n_coders)
        mean, strength = _population(counts, mean, strength)
        own = counts + strength * mean
        log_rows = digamma(own) - digamma(own.sum(axis=2, keepdims=True))
        rows = _Rows(log_rows, *_shares(z, plain, pair))
        joint = _joint(z, share, rows)
        states, log_labels = _states(joint)
        bound = log_labels - _divergence(counts, own, strength * mean, log_rows)
        before, plain = plain, states[:, :k]
        expected = plain[item]
        if joint.first is not None:
            two = states[:, k:].reshape(len(states), *joint.first.shape[1:])
            pair = two.sum(axis=2)
            first = (two[item] * joint.first).sum(axis=2)
            for n in range(pair.shape[1]):
                expected[at, z.pairs[item, n, 0]] += first[:, n]
                expected[at, z.pairs[item, n, 1]] += pair[item, n] - first[:, n]
        if np.abs(plain - before).max() < CLOSE:
            break
    entropy = -float((states * np.log(np.maximum(states, 1e-300))).sum()) / len(states)
    total = counts.sum(axis=2)
    degrees = (k - 1) * float((total / (total + strength)).sum())
    return _Climbed(rows, expected, bound, entropy, degrees)


def _population(counts: Floats, mean: Floats | None, strength: float) -> tuple[Floats, float]:
    """Mean rows of the coders [truth, label] and how alike coders are, from expected labels."""
    if mean is None:
        mean = counts.sum(axis=0) + 1.0 / counts.shape[2]
    else:
        prior = strength * mean
        mean = (digamma(counts + prior) - digamma(prior)).sum(axis=0) * mean + 0.05
    mean = mean / mean.sum(axis=1, keepdims=True)
    total = counts.sum(axis=2)

    def evidence(c: float) -> float:
        of_labels = (gammaln(counts + c * mean) - gammaln(c * mean)).sum()
        return float(of_labels - (gammaln(total + c) - gammaln(c)).sum())

    near = [min(MOST, max(LEAST, strength * by)) for by in (1.0 / STEP, 1.0, STEP)]
    return mean, max(near, key=evidence)


def _shares(z: _Readers, plain: Floats, pair: Floats) -> tuple[Floats, Floats]:
    """Log shares of the classes [truth] and of pairs of them [truth, truth]."""
    k = z.n_labels
    of_class = (plain.sum(axis=0) + 1.0) / (plain.sum() + k)
    cell = (z.pairs[:, :, 0] * k + z.pairs[:, :, 1]).ravel()
    of_pair = np.bincount(cell, pair.ravel(), k * k).reshape(k, k)
    of_pair = of_pair + of_pair.T + 1.0
    return np.log(of_class), np.log(of_pair / (pair.sum() + k * (k - 1) / 2))


def _divergence(counts: Floats, own: Floats, prior: Floats, log_rows: Floats) -> float:
    """Kullback-Leibler divergence of the posteriors of all rows from their prior."""
    constant = (gammaln(prior.sum(axis=1)) - gammaln(prior).sum(axis=1)).sum()
    of_rows = gammaln(own.sum(axis=2)).sum() - gammaln(own).sum() + (counts * log_rows).sum()
    return float(of_rows - len(counts) * constant)
