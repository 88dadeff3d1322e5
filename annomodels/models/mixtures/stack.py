"""Stack: P(truth) from a model of the coders and the votes, with calibrated confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from scipy.special import expit, logsumexp, ndtr, stdtrit

from annomodels.errors import Option
from annomodels.models.base import Earlier
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.mixtures.votes import Difficulty, easy_share
from annomodels.priors import Diagonal
from annomodels.types import Floats, Ints, PyMCModel

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations

# shrinkage at the mode: pseudo-labels of the mean row in the rows of a coder, and prior of the
# mean row, with one accuracy for all classes
OWN, POOLED = 5.0, Diagonal(300.0, 0.7, 10.0)
# minimum probability in a mixture
LEAST = 1e-9
# degrees of freedom of the differences between data sets, which have heavy tails
DEGREES = 5.0
# labels per item from which labels show whether errors of exchangeable coders are correlated
FEW = 4
# cost of a pass, in labels times classes, above which the number of draws is reduced; minimum
# proportion of the draws; and maximum cost at which a stack is the default
HIGH_COST, LEAST_SHARE, MOST_COST = 3_125_000, 0.25, 125_000_000


@dataclass(frozen=True)
class Dependence:
    """Dependence between coder errors, estimated from the labels."""

    # correlation of the errors of two coders on an item: posterior mean, estimate and standard
    # error
    correlation: float = 0.08
    measured: float = 0.08
    error: float = 1.0
    exchangeable: bool = False  # whether the labels do not distinguish the coders
    noise: bool = False  # whether the labels may be independent of the truth
    # easy and hard items in the votes, see Difficulty
    hard: float = Difficulty.hard
    accuracy: float = Difficulty.accuracy
    scattered: float = Difficulty.scattered
    # prevalence at the mode; uniform if empty, as for exchangeable coders
    prevalence: tuple[float, ...] = ()

    @property
    def difficulty(self) -> Difficulty:
        """Easy and hard items in the votes."""
        return Difficulty(self.hard, self.accuracy, self.scattered)


@dataclass(frozen=True)
class Stack(HierarchicalDawidSkene):
    r"""Combine a model of the coders and the votes, with calibrated confidence.

    .. math::

        q_{ik} \propto P_{ik}^{(1 - r) t_i} \left(E_{ik} + (1 - E_{i \cdot})
        \left(\lambda V_{ik} + \frac{1 - \lambda}{K}\right)\right)^r, \quad
        t_i = \frac{1}{1 + g \rho (n_i - 1)}, \quad r = \frac{\rho}{\rho + h}, \\
        P(truth_i = k) = (1 - u) \frac{q_{ik}^{s} e^{\beta_k}}{\sum_l q_{il}^{s} e^{\beta_l}}
        + u \frac{\sqrt{\pi_k}}{\sum_l \sqrt{\pi_l}}, \\
        \log s = \log S + \tau_s z\, c^{[z > 0]}, \quad z \sim N(0, 1), \quad
        \text{logit}\, u \sim t_5(\text{logit}\, U - \log (K - 1), \tau_u), \quad
        \beta_k \sim N(0, \tau_\beta^2)

    Coder errors on an item are correlated: an item that misleads one coder misleads others. The
    labels determine the correlation :math:`\rho` of the errors. P is P(truth) at the mode of the
    hierarchical model, in which n labels of an item count as :math:`n / (1 + \rho (n - 1))` labels,
    as in cluster sampling (Kish 1965). If errors are independent, :math:`\rho` is 0 and P is not
    tempered.

    If errors are correlated, the votes have more weight. In a model of the votes alone, an item is
    easy or hard (:class:`Difficulty`): E is P(easy and truth k), and on a hard item the proportion
    V of the votes has weight :math:`\lambda`. With several classes, an item on which many labels
    agree is rarely hard, so it stays clear even if other items do not. Labels of coders who copy
    each other count once per item in P, and individually in the votes.

    The difference between a crowd and an expert varies between data sets more than labels show. So
    the sharpness s, the proportion u of items about which the crowd has no information (with a
    heavy tail), and a tilt :math:`\beta` toward some classes are effects of the data set. They are
    calibrated on public data sets of many kinds with known truth, and integrated out. Items with
    known truth update them.

    Coder parameters are those of the hierarchical model given truths drawn from the stack, so
    their intervals include the uncertainty about the truth.

    Parameters
    ----------
    halfway
        Correlation h at which the votes and the model have equal weight.
    tempering
        Factor g of the correlation in the weight of the labels.
    believed
        Weight :math:`\lambda` of the votes on hard items.
    correlation
        Prior mean of the correlation; its prior is exponential.
    most_weighed
        Maximum correlation in the weights of labels while the model is fitted.
    sharpness, unknown
        Medians S and U.
    spread
        Scales :math:`\tau` of log s, logit u and :math:`\beta_k`.
    skew
        Ratio c of the scales of log s above and below its median: if items are only difficult and
        not misleading, the majority is nearly always right.
    far_off
        Standard deviation of the logit of a coder's accuracy around its value under drawn truths.

    References
    ----------
    L. Kish (1965). Survey Sampling. Wiley, section 5.4, for the weight of labels of one item.
    B. Carpenter (2008). Multilevel Bayesian models of categorical data annotation, for easy items.

    Examples
    --------
    >>> Stack().tempered(0.05, np.array([1, 2, 11])).round(2).tolist()
    [1.0, 0.63, 0.15]
    """

    name: ClassVar[str] = "stack"
    title: ClassVar[str] = "stack"
    citation: ClassVar[str] = "this package, after Carpenter (2008) and Dawid and Skene (1979)"
    engines: ClassVar[tuple[str, ...]] = ("gibbs",)
    family: ClassVar[str] = "stack"

    # tempering, believed and unknown: calibrated on public data sets of nine families by
    # benchmarks/truth.py --learn, and rounded. Halfway is below its calibrated .029, for the log
    # loss of the first seventeen. The others: chosen for coverage on the same data sets, skew also
    # on simulated crowds. Sharpness is above its calibrated value, so that clear items with many
    # classes are settled in spite of the tilt.
    halfway: float = 0.025
    tempering: float = 11.5
    believed: float = 0.75
    correlation: float = 0.08
    most_weighed: float = 0.05
    sharpness: float = 1.4
    unknown: float = 0.0025
    spread: tuple[float, float, float] = (0.38, 2.1, 0.6)
    skew: float = 2.6
    far_off: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        above = self.halfway, self.tempering, self.correlation, self.sharpness, self.skew
        if min(*above, *self.spread) <= 0:
            raise ValueError(
                "A stack needs halfway, tempering, correlation, sharpness, skew and spread above 0."
            )
        if self.far_off < 0 or self.most_weighed < 0:
            raise ValueError("A stack needs a far_off and a most_weighed of 0 or more.")
        if not (0 <= self.believed <= 1 and 0 < self.unknown < 1):
            raise ValueError("A stack needs a believed in [0, 1] and an unknown in (0, 1).")

    def updated(self, earlier: Earlier) -> HierarchicalDawidSkene:
        """Return the hierarchical model of its coders with the posterior of an earlier fit."""
        return HierarchicalDawidSkene().updated(earlier)

    def unused(self, data: Annotations) -> str:
        """Return a note if the labels are ordered, with a model that uses the order."""
        if data.scale == "nominal":
            return ""
        return (
            "The labels are ordered, and the stack does not use their order. If errors are mostly "
            f"one step off, also fit {Option('model', 'ordinal')}, which uses the order, and "
            "compare."
        )

    def cost(self, n_given: int, n_coders: int, n_labels: int) -> int:
        """Return the number of reads of labels and rows for a draw of all truths."""
        return n_labels * (n_given + 8 * n_coders * n_labels)

    def affordable(self, n_given: int, n_coders: int, n_labels: int) -> bool:
        """Return True if a stack is the default model."""
        # it is not if draws of many labels would take most of an hour, or if the rows of coders
        # for dozens of classes would take most of the time
        of_labels = self.cost(n_given, 0, n_labels)
        most = max(HIGH_COST, 2 * of_labels)
        return of_labels <= MOST_COST and self.cost(n_given, n_coders, n_labels) <= most

    def share_of_draws(self, n_given: int, n_coders: int, n_labels: int) -> float:
        """Return the proportion of the draws to make, which is lower for very many labels."""
        return max(LEAST_SHARE, min(1.0, HIGH_COST / self.cost(n_given, n_coders, n_labels)))

    def believed_correlation(self, measured: float, error: float) -> float:
        """Return the posterior mean of the positive correlation, with an exponential prior."""
        from scipy.stats import truncnorm

        # a normal likelihood times an exponential prior is a normal distribution, truncated at 0
        at = measured - error**2 / self.correlation
        return float(truncnorm.mean(-at / error, np.inf, loc=at, scale=error))

    def least_correlation(self, per_item: float) -> float:
        """Return the least correlation of exchangeable coders, given the labels per item."""
        # with few labels per item, correlated errors of exchangeable coders cannot be told from
        # classes; with many they can, so the design effect is at most that of `FEW` labels
        return self.correlation * min(1.0, (FEW - 1) / max(per_item - 1.0, 1.0))

    def tempered(self, correlation: float, n: Floats | Ints) -> Floats:
        """Return the exponent of P(truth) for items with n labels."""
        return np.asarray(1.0 / (1.0 + self.tempering * correlation * (np.asarray(n) - 1.0)))

    def together(self, correlation: float) -> float:
        """Return the weight r of the votes in the mixture, from 0 to 1."""
        return correlation / (correlation + self.halfway)

    def log_mixture(self, log_p: Floats, n: Ints, votes: Floats, dependence: Dependence) -> Floats:
        """Compute the log of the mixture q of a model and the votes, [item, truth]."""
        # log_p is log P(truth) at the mode, where the n labels [item] are already weighted; votes
        # are counts. Copies count once in the model but individually in the votes: accurate coders
        # may agree like copies, and most of the evidence would be lost.
        rho, k = dependence.correlation, votes.shape[1]
        r = self.together(rho)
        weighed = 1.0 / weight_of(min(rho, self.most_weighed), n)
        power = (1.0 - r) * self.tempered(rho, np.maximum(n, 1)) * weighed
        easy = easy_share(votes, dependence.difficulty)
        shares = (votes + 1.0 / k) / (votes.sum(axis=1, keepdims=True) + 1.0)
        of_hard = self.believed * shares + (1.0 - self.believed) / k
        of_votes = easy + (1.0 - easy.sum(axis=1, keepdims=True)) * of_hard
        log_q = log_p * power[:, None] + r * np.log(np.maximum(of_votes, LEAST))
        return np.asarray(log_q - logsumexp(log_q, axis=1, keepdims=True))

    def median_log_odds(self, n_labels: int) -> float:
        """Return the median logit of u, which decreases with the number of classes."""
        # coders who agree on one of many classes are seldom all wrong
        return float(np.log(self.unknown / (1.0 - self.unknown)) - np.log(max(n_labels - 1, 1)))

    def layer(self, z: Floats, dependence: Dependence) -> tuple[Floats, Floats, Floats]:
        """Return sharpness [draw], proportion of unknown items and tilt [draw, truth]."""
        # z: standard normal variates [draw, 2 + truth]
        of_sharpness, of_unknown, of_tilt = self.spread
        t = stdtrit(DEGREES, ndtr(np.clip(z[:, 1], -8.0, 8.0)))
        n_labels = z.shape[1] - 2
        unknown = expit(self.median_log_odds(n_labels) + of_unknown * t)
        off = of_sharpness * z[:, 0] * np.where(z[:, 0] > 0, self.skew, 1.0)
        sharpness = self.sharpness * np.exp(off)
        flat = flat_of(dependence, n_labels)
        return np.asarray(sharpness), np.outer(unknown, flat), of_tilt * z[:, 2:]

    def build_layer(self, log_q: Floats, truth: Ints, dependence: Dependence) -> PyMCModel:
        """Build the PyMC model of a mixture's confidence, given known truths."""
        import pymc as pm
        import pytensor.tensor as pt

        n_labels = log_q.shape[1]
        median, spread = self.median_log_odds(n_labels), self.spread
        with pm.Model(coords={"truth": range(n_labels)}) as pymc_model:
            z = pm.Normal("z_sharpness", 0.0, 1.0)
            scale = spread[0] * pm.math.switch(z > 0, self.skew, 1.0)
            sharpness = pm.Deterministic("sharpness", self.sharpness * pm.math.exp(scale * z))
            odds = pm.StudentT("log_odds", nu=DEGREES, mu=median, sigma=spread[1])
            unknown = pm.Deterministic("unknown", pm.math.sigmoid(odds))
            tilt = pm.Normal("tilt", 0.0, spread[2], dims="truth")
            log_p = sharpness * log_q + tilt
            log_p = log_p - pt.logsumexp(log_p, axis=1, keepdims=True)
            of_truth = log_p[np.arange(len(truth)), truth]
            flat = pt.log(unknown) + np.log(flat_of(dependence, n_labels)[truth])
            pm.Potential("known_truth", pt.logaddexp(pt.log1p(-unknown) + of_truth, flat).sum())
        return pymc_model

    def story(self) -> list[str]:
        return [
            "P(truth) is a mixture of the hierarchical model at its mode and of the votes, in "
            "which items are easy or hard. The more the errors of coders on an item correlate, the "
            "less the model counts and the more the votes count.",
            "The confidence of the mixture, the share of items on which labels carry no "
            "information, and the tilt towards some classes have priors calibrated on public data "
            "sets with known truth; known truth in your data updates them.",
            "Parameters of coders are those of the hierarchical model given truths drawn from the "
            "stack:",
            *super().story(),
        ]


def weight_of(correlation: float, n: Floats | Ints) -> Floats:
    """Return the weight of each of n labels of an item with correlated errors, shape of n."""
    return np.asarray(1.0 / (1.0 + correlation * (np.maximum(n, 1) - 1.0)))


def mode_of(counts: Floats, sizes: Floats, exchangeable: bool) -> tuple[Floats, Floats]:
    """Return the mode of rows [coder, truth, label] and prevalence, given counts."""
    # Exchangeable coders share one accuracy, because errors that differ by class cannot be
    # distinguished from a nonuniform prevalence.
    k = len(sizes)
    pooled = counts.sum(axis=0)
    right = float(np.trace(pooled)) + POOLED.accuracy * POOLED.certainty
    accuracy = right / (float(pooled.sum()) + POOLED.certainty)
    even: Any = np.full((k, k), (1.0 - accuracy) / max(k - 1, 1))
    np.fill_diagonal(even, accuracy)
    if exchangeable:
        return np.repeat(even[None], len(counts), axis=0), np.full(k, 1.0 / k)
    mean = pooled + POOLED.strength * even
    mean /= mean.sum(axis=1, keepdims=True)
    rows = counts + OWN * mean
    rows /= rows.sum(axis=2, keepdims=True)
    return rows, (sizes + 1.0) / (sizes.sum() + k)


def flat_of(dependence: Dependence, n_labels: int, power: float | Floats = 0.5) -> Floats:
    """Return P(truth) of an item about which the crowd has no information, shape [..., truth]."""
    # a compromise between the estimated prevalence, which may be wrong, and a uniform one
    prevalence = np.array(dependence.prevalence or [1.0] * n_labels)
    part = prevalence ** np.asarray(power)[..., None]
    return np.asarray(part / part.sum(axis=-1, keepdims=True))


def layered(log_q: Floats, sharpness: Floats, unknown: Floats, tilt: Floats) -> Floats:
    """Return P(truth) of a stack under draws of its layer, shape [draw, item, truth]."""
    # log_q [item, truth], sharpness [draw], unknown and tilt [draw, truth]
    p = sharpness[:, None, None] * log_q + tilt[:, None, :]
    p = np.exp(p - p.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    p *= 1.0 - unknown.sum(axis=1)[:, None, None]
    return np.asarray(p + unknown[:, None, :])


def as_far_off(right: Ints, sure: Ints, n_open: Ints, spread: float, seed: int) -> Ints:
    """Add calibrated noise to the counts of the coders' right labels under drawn truths."""
    # logit of the accuracy plus tau e, e ~ N(0, 1). Errors of drawn truths are independent, but
    # errors of a crowd are not: accuracy is overestimated for coders who share the errors of the
    # crowd, and underestimated for others. Labels of items with known truth have no noise. right
    # [chain, draw, coder]; sure, n_open [coder]
    rng = np.random.default_rng([seed, 4])
    out: Any = np.empty(right.shape, dtype=np.int32)
    for chain, counted in zip(out, right, strict=True):  # one chain at a time, to limit memory
        hit = counted - sure
        odds = np.log((hit + 0.5) / (n_open - hit + 0.5))
        odds += spread * rng.standard_normal(hit.shape)
        drawn = np.rint((n_open + 1.0) / (1.0 + np.exp(-odds)) - 0.5)
        chain[:] = sure + np.clip(drawn, 0, n_open)
    return cast("Ints", out)
