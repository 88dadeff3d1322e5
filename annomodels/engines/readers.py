"""Predictive distribution of one more label of a mention, from exchangeable readers."""

# Models with a truth assume independent errors given the truth, and are overconfident. Here each
# mention has a separate distribution of readings, and readers who agree need not be right:
# phi_i ~ Dirichlet(a pi), psi_ih ~ DP(b_h),
# P(m | labels of i) = (n_ih + a pi_h) / (n_i + a) * n_im / (n_ih + b_h)
# A reader chooses a class h, then an antecedent within it. n_i, n_ih and n_im count labels in all,
# of the class and of the candidate. A class with a single label ("new") needs no second step. The
# remaining probability is that of an unseen label. phi and psi are integrated out; a, pi and b are
# estimated from all mentions (Ferguson 1973, doi:10.1214/aos/1176342360).

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annomodels.data.candidates import NONE, Candidates
from annomodels.priors import LogNormal
from annomodels.types import Floats, Ints, PyMCModel

SPREAD = LogNormal(1.0, 1.5)
"""Prior of the concentrations; with 1, the second of two readers differs in one case of two."""
SHARE = 1.0
GRID = np.linspace(-7.0, 7.0, 1401)
"""Logarithms of the concentration of antecedents that draws are made from."""
DRAWS, WARMUP = 400, 100


@dataclass(frozen=True)
class Readers:
    """Draws of the parameters that all readers share."""

    classes: Floats  # class probabilities pi, shape [draw, class]
    spread: Floats  # concentration a of the classes of a mention, shape [draw]
    # concentration b of antecedents within a class, [draw, class]; 0 for classes of one label
    antecedents: Floats


def counts_of(codes: Candidates) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
    """Return labels and distinct labels [mention, class], votes, and classes of several labels."""
    n = len(codes.classes) - (NONE in codes.classes)
    cells = codes.mention * len(codes.classes) + codes.cls
    shape, size = (len(codes.items), len(codes.classes)), len(codes.items) * len(codes.classes)
    by_class = np.bincount(cells, codes.votes, size).astype(np.int64).reshape(shape)[:, :n]
    distinct = np.bincount(cells[codes.votes > 0], minlength=size).reshape(shape)[:, :n]
    names: list[set[str]] = [set() for _ in codes.classes]
    for label, h in zip(codes.labels, codes.cls, strict=True):
        names[h].add(label)
    return by_class, distinct, codes.votes, np.array([len(each) > 1 for each in names[:n]])


def _urn(log_b: Floats, distinct: Ints, total: Ints) -> Floats:
    """Return the log probability of partitions up to a constant, shaped like `log_b`."""
    from scipy.special import gammaln

    sizes, times = np.unique(total[total > 0], return_counts=True)
    b = np.exp(np.asarray(log_b, dtype=float))[..., None]
    out = distinct.sum() * np.asarray(log_b) - (times * (gammaln(b + sizes) - gammaln(b))).sum(-1)
    return np.asarray(out)


def log_likelihood_of(codes: Candidates, classes: Floats, spread: float, within: Floats) -> float:
    """Return the log probability of all labels, the mentions' distributions integrated out."""
    from scipy.special import gammaln

    by_class, distinct, votes, several = counts_of(codes)
    alpha = spread * classes
    total = float((gammaln(alpha + by_class) - gammaln(alpha)).sum())
    n = by_class.sum(axis=1)
    total -= float((gammaln(spread + n) - gammaln(spread)).sum())
    for h in np.flatnonzero(several):
        total += float(_urn(np.log(within[h]), distinct[:, h], by_class[:, h]))
    said = (votes > 0) & np.isin(codes.cls, np.flatnonzero(several))
    return total + float(gammaln(votes[said]).sum())


def read_shares(codes: Candidates, draws: int = DRAWS, seed: int = 1) -> Readers:
    """Draw the parameters that all readers share given the labels."""
    # Probabilities and concentration of classes are drawn by the slice steps for populations of
    # coders, with mentions in place of coders; concentrations of antecedents come from a grid.
    from annomodels.kernels.population import draw_population

    by_class, distinct, _, several = counts_of(codes)
    n = by_class.shape[1]
    rng = np.random.default_rng([seed, 7])
    key = rng.integers(0, 2**63, dtype=np.uint64)
    mean, spread = np.full((1, n), 1.0 / n), np.array([SPREAD.median])
    counts = np.ascontiguousarray(by_class[:, :, None])
    anchor, scale = np.full((1, n), SHARE), np.array(SPREAD.coefficients())
    everybody = np.zeros(len(counts), dtype=np.int64)
    kept_mean, kept_spread = np.empty((draws, n)), np.empty(draws)
    for iteration in range(-WARMUP, draws):
        when = iteration + WARMUP
        draw_population(counts, everybody, 0, anchor, scale, 2, key, when, mean, spread)
        if iteration >= 0:
            kept_mean[iteration], kept_spread[iteration] = mean[0], spread[0]
    within = np.zeros((draws, n))
    # the Jacobian of log b is a factor b
    prior = SPREAD.logp(np.exp(GRID)) + GRID
    for h in np.flatnonzero(several):
        log_p = prior + _urn(GRID, distinct[:, h], by_class[:, h])
        p = np.exp(log_p - log_p.max())
        place = rng.choice(len(GRID), draws, p=p / p.sum())
        step = GRID[1] - GRID[0]
        within[:, h] = np.exp(GRID[place] + step * (rng.random(draws) - 0.5))
    return Readers(kept_mean, kept_spread, within)


def next_label(codes: Candidates, readers: Readers) -> Floats:
    """Return P(one more reader chooses the candidate) [candidate], the mean over draws."""
    by_class, _, votes, several = counts_of(codes)
    total = by_class.sum(axis=1)
    listed = codes.cls < by_class.shape[1]
    h, i = codes.cls[listed], codes.mention[listed]
    n_class, n_all = by_class[i, h], total[i]
    # a few distinct (class, counts) represent all candidates
    keys, place = np.unique(
        np.stack([h, votes[listed], n_class, n_all]), axis=1, return_inverse=True
    )
    hs, own, of_class, of_all = keys
    alpha = readers.spread[:, None] * readers.classes
    p = (of_class + alpha[:, hs]) / (of_all + readers.spread[:, None])
    b = readers.antecedents[:, hs]
    many = several[hs] & (of_class > 0)
    p *= np.where(many, own / np.maximum(of_class + b, 1e-300), np.where(several[hs], 0.0, 1.0))
    out = np.zeros(len(codes.labels))
    out[listed] = p.mean(axis=0)[place.ravel()]
    return out


def build_readers(codes: Candidates) -> PyMCModel:
    """Build the PyMC model: classes [class], spread, within [class of several labels]."""
    import pymc as pm
    import pytensor.tensor as pt
    from scipy.special import gammaln

    by_class, distinct, votes, several = counts_of(codes)
    total = by_class.sum(axis=1)
    names = np.array(codes.classes[: by_class.shape[1]])
    with pm.Model(coords={"class": names, "several": names[several]}) as built:
        classes = pm.Dirichlet("classes", a=np.full(len(names), SHARE), dims="class")
        spread = SPREAD.pymc("spread", dims=())
        alpha = spread * classes
        value = pt.sum(pt.gammaln(alpha + by_class) - pt.gammaln(alpha))
        value -= pt.sum(pt.gammaln(spread + total) - pt.gammaln(spread))
        if several.any():
            within = SPREAD.pymc("within", dims=("several",))
            value += pt.sum(distinct[:, several].sum(axis=0) * pt.log(within))
            value -= pt.sum(pt.gammaln(within + by_class[:, several]) - pt.gammaln(within))
        said = (votes > 0) & np.isin(codes.cls, np.flatnonzero(several))
        pm.Potential("labels", value + gammaln(votes[said]).sum())
    return built
