"""The stack: P(truth) from one model of coders and the votes, confident as far as data allow."""

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

# what the rows of coders are drawn to at the mode: the mean row of all coders, with so many
# pseudo-labels, and that to one accuracy that all classes share
OWN, POOLED = 5.0, Diagonal(300.0, 0.7, 10.0)
# smallest probability that a mixture is believed to mean
LEAST = 1e-9
# degrees of freedom of the differences between data sets: their tails are heavy
DEGREES = 5.0
# cost of a pass, in labels times classes, from which fewer draws are made; this share of them, at
# least; and the cost up to which a stack is the default
HIGH_COST, LEAST_SHARE, MOST_COST = 3_125_000, 0.25, 125_000_000


@dataclass(frozen=True)
class Dependence:
    """Evidence in the labels on how coders err together."""

    # correlation of the errors of two coders on an item, posterior mean, and what was measured
    # with its standard error
    correlation: float = 0.08
    measured: float = 0.08
    error: float = 1.0
    exchangeable: bool = False  # whether nothing in the labels tells one coder from another
    noise: bool = False  # whether the labels may depend on no truth at all
    # easy and hard items in the votes, see Difficulty
    hard: float = Difficulty.hard
    accuracy: float = Difficulty.accuracy
    scattered: float = Difficulty.scattered
    # of the classes at the mode; even if it is empty, as where nothing tells coders apart
    prevalence: tuple[float, ...] = ()

    @property
    def difficulty(self) -> Difficulty:
        """Easy and hard items in the votes."""
        return Difficulty(self.hard, self.accuracy, self.scattered)


@dataclass(frozen=True)
class Stack(HierarchicalDawidSkene):
    r"""Combine a model of the coders and the votes, confident only as far as the labels allow.

    .. math::

        q_{ik} \propto P_{ik}^{(1 - r) t_i} \left(E_{ik} + (1 - E_{i \cdot})
        \left(\lambda V_{ik} + \frac{1 - \lambda}{K}\right)\right)^r, \quad
        t_i = \frac{1}{1 + g \rho (n_i - 1)}, \quad r = \frac{\rho}{\rho + h}, \\
        P(truth_i = k) = (1 - u) \frac{q_{ik}^{s} e^{\beta_k}}{\sum_l q_{il}^{s} e^{\beta_l}}
        + u \frac{\sqrt{\pi_k}}{\sum_l \sqrt{\pi_l}}, \\
        \log s = \log S + \tau_s z\, c^{[z > 0]}, \quad z \sim N(0, 1), \quad
        \text{logit}\, u \sim t_5(\text{logit}\, U - \log (K - 1), \tau_u), \quad
        \beta_k \sim N(0, \tau_\beta^2)

    Coders of one item err together: an item that misleads one coder misleads others. The
    correlation :math:`\rho` of their errors is measured in the labels. P is P(truth) at the mode
    of the hierarchical model, in which n labels of an item are worth
    :math:`n / (1 + \rho (n - 1))`, as in a survey of clusters (Kish 1965). If errors are
    independent, :math:`\rho` is 0 and P counts as it is.

    If errors go together, the votes count instead. In a model of the votes alone, an item is easy
    or hard (:class:`Difficulty`): E is P(easy and truth k), and on a hard item the share V of the
    votes is believed as far as :math:`\lambda` says. An item on which many labels of several
    classes agree is rarely hard, so it stays clear where others are not. Labels of coders who copy
    each other count once per item in P, and all of them in the votes.

    How far a crowd is from an expert differs from data set to data set beyond what labels show. So
    the sharpness s and the share u of items about which the crowd knows nothing are effects of the
    data set, u with a heavy tail, and so is a tilt :math:`\beta` towards some classes. They are
    calibrated on public data sets of many kinds with known truth, and integrated over. Items of
    known truth update them.

    Coder parameters are those of the hierarchical model given truths drawn from the stack, so
    their intervals include the uncertainty about the truth.

    Parameters
    ----------
    halfway
        Correlation h at which the votes count as much as the model.
    tempering
        The factor g of the correlation in the weight of the labels.
    believed
        The share :math:`\lambda`.
    correlation
        Mean of the correlation before the labels are seen; its prior is exponential.
    most_weighed
        The largest correlation with which labels are weighed while the model is fitted.
    sharpness, unknown
        Medians S and U.
    spread
        Scales :math:`\tau` of log s, logit u and :math:`\beta_k`.
    skew
        How much further s may lie above its median than below, c: where items are only difficult,
        and mislead nobody, what most say of them is nearly always right.
    far_off
        How far the accuracy of a coder lies from that under drawn truths, as a standard deviation
        of its logit.

    References
    ----------
    L. Kish (1965). Survey Sampling. Wiley, section 5.4, for the worth of labels of one item.
    B. Carpenter (2008). Multilevel Bayesian models of categorical data annotation, for easy items.

    Examples
    --------
    >>> Stack().tempered(0.05, np.array([1, 2, 11])).round(2).tolist()
    [1.0, 0.68, 0.17]
    """

    name: ClassVar[str] = "stack"
    title: ClassVar[str] = "stack"
    citation: ClassVar[str] = "this package, after Carpenter (2008) and Dawid and Skene (1979)"
    engines: ClassVar[tuple[str, ...]] = ("gibbs",)
    family: ClassVar[str] = "stack"
    stacks: ClassVar[bool] = True

    # Learned on public sets of nine families by benchmarks/truth.py --learn, and rounded: halfway,
    # tempering, believed, unknown. Chosen on the same sets: the others, for coverage; sharpness is
    # above what is learned, so that clear items among many classes are settled although the tilt
    # spreads over all of them.
    halfway: float = 0.025
    tempering: float = 9.5
    believed: float = 0.74
    correlation: float = 0.08
    most_weighed: float = 0.05
    sharpness: float = 1.4
    unknown: float = 0.003
    spread: tuple[float, float, float] = (0.38, 2.1, 0.6)
    skew: float = 2.0
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
        """State that the order of labels is not used, and which model uses it."""
        if data.scale == "nominal":
            return ""
        return (
            "The labels are ordered, and the stack does not use their order. If errors are mostly "
            f"one step off, also fit {Option('model', 'ordinal')}, which uses the order, and "
            "compare."
        )

    def cost(self, n_given: int, n_coders: int, n_labels: int) -> int:
        """Count the labels and rows that a draw of all truths reads."""
        return n_labels * (n_given + 8 * n_coders * n_labels)

    def affordable(self, n_given: int, n_coders: int, n_labels: int) -> bool:
        """Return True if a stack is the default model."""
        # it is not if labels are so many that draws take the better part of an hour, or if rows
        # of coders for dozens of classes take most of the work
        of_labels = self.cost(n_given, 0, n_labels)
        most = max(HIGH_COST, 2 * of_labels)
        return of_labels <= MOST_COST and self.cost(n_given, n_coders, n_labels) <= most

    def share_of_draws(self, n_given: int, n_coders: int, n_labels: int) -> float:
        """Share of the draws that are made: fewer where labels are very many."""
        return max(LEAST_SHARE, min(1.0, HIGH_COST / self.cost(n_given, n_coders, n_labels)))

    def believed_correlation(self, measured: float, error: float) -> float:
        """Posterior mean of the correlation, above 0, with an exponential prior."""
        from scipy.stats import truncnorm

        # a normal likelihood times an exponential prior is a normal distribution, cut at 0
        at = measured - error**2 / self.correlation
        return float(truncnorm.mean(-at / error, np.inf, loc=at, scale=error))

    def tempered(self, correlation: float, n: Floats | Ints) -> Floats:
        """Power of P(truth) of items with n labels."""
        return np.asarray(1.0 / (1.0 + self.tempering * correlation * (np.asarray(n) - 1.0)))

    def together(self, correlation: float) -> float:
        """Share r of the votes in the mixture, from 0 to 1."""
        return correlation / (correlation + self.halfway)

    def log_mixture(self, log_p: Floats, n: Ints, votes: Floats, dependence: Dependence) -> Floats:
        """Compute the log of the mixture q of a model and the votes, [item, truth]."""
        # log_p is that of the mode, where n labels [item] were weighed already; votes are counts.
        # Copies count once in the model, but all in the votes: judges who are right may agree as
        # copies do, and then most of what shows the truth would be gone.
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
        """Median logit of the share of items about which the crowd knows nothing."""
        # where many agree on one of many classes, they seldom all miss the truth
        return float(np.log(self.unknown / (1.0 - self.unknown)) - np.log(max(n_labels - 1, 1)))

    def layer(self, z: Floats, dependence: Dependence) -> tuple[Floats, Floats, Floats]:
        """Sharpness [draw], share of unknown items and tilt [draw, truth]."""
        # from standard normal numbers z [draw, 2 + truth]
        of_sharpness, of_unknown, of_tilt = self.spread
        t = stdtrit(DEGREES, ndtr(np.clip(z[:, 1], -8.0, 8.0)))
        n_labels = z.shape[1] - 2
        unknown = expit(self.median_log_odds(n_labels) + of_unknown * t)
        off = of_sharpness * z[:, 0] * np.where(z[:, 0] > 0, self.skew, 1.0)
        sharpness = self.sharpness * np.exp(off)
        flat = flat_of(dependence, n_labels)
        return np.asarray(sharpness), np.outer(unknown, flat), of_tilt * z[:, 2:]

    def build_layer(self, log_q: Floats, truth: Ints, dependence: Dependence) -> PyMCModel:
        """Build the PyMC model of the confidence of a mixture given known truths."""
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
            "which items are easy or hard. The more the errors of coders on an item go together, "
            "the less the model counts and the more the votes do.",
            "The confidence of the mixture, the share of items about which the crowd knows "
            "nothing, and the tilt towards some classes have priors calibrated on public data sets "
            "with known truth; known truth of these data updates them.",
            "Parameters of coders are those of the hierarchical model given truths drawn from the "
            "stack:",
            *super().story(),
        ]


def weight_of(correlation: float, n: Floats | Ints) -> Floats:
    """Weight of each of n labels of an item whose errors have a correlation, shape of n."""
    return np.asarray(1.0 / (1.0 + correlation * (np.maximum(n, 1) - 1.0)))


def mode_of(counts: Floats, sizes: Floats, exchangeable: bool) -> tuple[Floats, Floats]:
    """Return rows [coder, truth, label] and prevalence at the mode given counts of their shape."""
    # Coders whom nothing tells apart share one accuracy: how their errors differ by class could not
    # be told from a prevalence that is uneven.
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


def flat_of(dependence: Dependence, n_labels: int) -> Floats:
    """P(truth) of an item about which a crowd knows nothing, shape [truth]."""
    # between the prevalence, which a crowd may have wrong, and none
    root = np.sqrt(np.array(dependence.prevalence or [1.0] * n_labels))
    return np.asarray(root / root.sum())


def layered(log_q: Floats, sharpness: Floats, unknown: Floats, tilt: Floats) -> Floats:
    """P(truth) of a stack under draws of its layer, shape [draw, item, truth]."""
    # log_q [item, truth], sharpness [draw], unknown and tilt [draw, truth]
    p = sharpness[:, None, None] * log_q + tilt[:, None, :]
    p = np.exp(p - p.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    p *= 1.0 - unknown.sum(axis=1)[:, None, None]
    return np.asarray(p + unknown[:, None, :])


def as_far_off(right: Ints, sure: Ints, n_open: Ints, spread: float, seed: int) -> Ints:
    """Right labels of coders, as far from those counted under drawn truths as on public sets."""
    # logit of the accuracy plus tau e, e ~ N(0, 1). Drawn truths err independently of each other,
    # those of a crowd do not: coders who make the errors of the crowd look better, and the others
    # worse, than they are. Labels of items with known labels are counted as they are. right [chain,
    # draw, coder]; sure, n_open [coder]
    rng = np.random.default_rng([seed, 4])
    out: Any = np.empty(right.shape, dtype=np.int32)
    for chain, counted in zip(out, right, strict=True):  # one at a time: these may be large
        hit = counted - sure
        odds = np.log((hit + 0.5) / (n_open - hit + 0.5))
        odds += spread * rng.standard_normal(hit.shape)
        drawn = np.rint((n_open + 1.0) / (1.0 + np.exp(-odds)) - 0.5)
        chain[:] = sure + np.clip(drawn, 0, n_open)
    return cast("Ints", out)
