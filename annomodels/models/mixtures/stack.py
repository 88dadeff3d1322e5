"""The stack: P(truth) from several models and the votes, weighted by held-out predictions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.errors import Option
from annomodels.models.base import Earlier, Model
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.mixtures.item_kinds import KindsOfItems
from annomodels.models.mixtures.kinds import Independent
from annomodels.renamed import renamed
from annomodels.types import Floats, Ints, PyMCModel

VOTES = "votes"
# probability of a label that nobody gave, in labels
PSEUDO = 0.5
# share of the items of a kind that are of another class, in the members
LAPSE_RATE = 0.02
# smallest probability that a member is believed to mean
LEAST = 1e-9
ROUNDS = 300
# cost of an iteration, in reads of a label, from which members run for fewer iterations, at least
# this share of them; from which fewer draws are made; and up to which a stack is the default
COST, LEAST_SHARE, HIGH_COST, MOST_COST = 1_600_000, 0.25, 25_000_000, 1_000_000_000
# what an ordered scale takes from the log-odds of independent coders
ORDERED = 5.0
# labels alone never make it certain that coders err independently: all may share an error
MOST_INDEPENDENT = 0.85
# two ways to put the members together: pooled and flattened with the votes, or as they are
POOLED, APART = 0, 1


@dataclass(frozen=True)
class Dependence:
    """Evidence in the labels that coders err together given the truth."""

    # nats per label by which members with kinds of items predict held-out labels better than
    # members without
    gain: float = 0.0
    deviations: float = 0.0  # the same in its own standard errors
    # probability that coders err independently given the truth, before any truth is known
    independent: float = 0.0
    noise: bool = False  # whether the labels may depend on no truth at all


@renamed(favour="log_prior_weight")
@dataclass(frozen=True)
class Stack(HierarchicalDawidSkene):
    r"""Combine several models and the votes, confident only as far as the labels allow.

    .. math::

        q_{ik} = (1 - v) \sum_m w_m \frac{P_{mik}^{t_m}}{\sum_l P_{mil}^{t_m}} + v \, V_{ik},
        \quad w_m \propto b_m \hat w_m^g, \qquad
        r_{ik} = \frac{\sum_m a_m \hat w_m P_{mik}}{\sum_m a_m \hat w_m}, \\
        P(truth_i = k) = (1 - u) \frac{x_{ik}^{s} e^{\beta_k}}{\sum_l x_{il}^{s} e^{\beta_l}}
        + \frac{u}{K}, \quad
        x = r \text{ with probability } \omega, \text{ else } q, \\
        \log s \sim N(\log S - c G, \tau_s^2), \quad
        \text{logit}\, u \sim N(\text{logit}\, U, \tau_u^2), \quad
        \beta_k \sim N(0, \tau_\beta^2), \\
        \text{logit}\, \omega = o_0 + o_1 Z

    No model is right for all data. So the members are fitted, and the weights :math:`\hat w` make
    their mixture predict each label from the others best (stacking, Yao et al. 2018). If coders
    err independently given the truth, the members without kinds of items are right as they are
    (r, with S = 1). If they do not, these members are far too confident, and P(truth) is a
    flattened mixture of all members and the votes V. G is how much better labels are predicted when
    the items of a class come in kinds, per label and (Z) in standard errors: a sign that coders err
    together. :math:`\omega` follows from both. The remaining confidence of the flattened mixture is
    a property of the data that labels hardly show: a sharpness s, a share u of items about which
    the crowd knows nothing, and a tilt :math:`\beta` towards some classes. How these differ from
    data set to data set is calibrated on public data with known truth, :math:`\omega` on these and
    simulated crowds. Items of known truth update :math:`\omega`, s, u, :math:`\beta` and all
    members.

    Coder parameters are those of the hierarchical model given truths drawn from the stack, so
    their intervals include the uncertainty about the truth.

    Parameters
    ----------
    members
        The models beside the votes.
    log_prior_weight
        Logarithm of b, the weight of each member before the labels are seen.
    powers
        Powers t of the members, below 1 if a member is overconfident.
    apart
        Weights a of the members if coders err independently, before the labels are seen.
    evidence
        The exponent g: how far weights follow the held-out predictions of the members.
    votes
        Weight v of the votes.
    sharpness, unknown
        Prior medians S and U.
    together
        The slope c.
    spread
        Standard deviations :math:`\tau` of log s, logit u and :math:`\beta_k`.
    independence
        The numbers o, from which :math:`\omega` follows; it is never above .85.
    unknown_apart, spread_apart
        U and standard deviations :math:`\tau` if coders err independently.
    far_off
        How far the accuracy of a coder lies from that under drawn truths, as a standard deviation
        of its logit.

    References
    ----------
    Y. Yao, A. Vehtari, D. Simpson and A. Gelman (2018). Using stacking to average Bayesian
    predictive distributions. Bayesian Analysis 13(3), 917-1007, doi:10.1214/17-BA1091.

    Examples
    --------
    >>> Stack().names
    ('votes', 'item-kinds 4', 'item-kinds 2 x 3', 'item-kinds 1 x 3', 'independent')
    """

    name: ClassVar[str] = "stack"
    title: ClassVar[str] = "stack"
    citation: ClassVar[str] = (
        "this package, after Yao et al. (2018), Carpenter (2008) and Dawid and Skene (1979)"
    )
    engines: ClassVar[tuple[str, ...]] = ("gibbs",)
    family: ClassVar[str] = "stack"
    stacks: ClassVar[bool] = True
    calibration_prior: ClassVar[tuple[float, float]] = (0.0, 0.6)
    coder_note: ClassVar[str] = (
        "Coders and classes are those of the hierarchical model, given truths drawn from the "
        "stack: their intervals include the uncertainty about the truth."
    )

    members: tuple[Model, ...] = field(
        default_factory=lambda: (
            KindsOfItems(kinds=4, lapse_rate=LAPSE_RATE),
            KindsOfItems(kinds=2, communities=3, lapse_rate=LAPSE_RATE, anchored=True),
            KindsOfItems(kinds=1, communities=3, anchored=True),
            Independent(),
        )
    )
    # calibrated on seventeen public sets by benchmarks/truth.py --learn; the spread with eight
    # chains
    log_prior_weight: tuple[float, ...] = (0.54, -0.60, 0.06, -9.0)
    powers: tuple[float, ...] = (0.53, 0.44, 0.41, 0.41)
    apart: tuple[float, ...] = (0.0, 0.0, 0.4, 1.0)
    evidence: float = 0.77
    votes: float = 0.22
    sharpness: float = 2.9
    unknown: float = 0.0047
    together: float = 6.5
    spread: tuple[float, float, float] = (0.27, 0.43, 0.49)
    # calibrated on the public sets and on simulated crowds (docs/research/stack.md)
    independence: tuple[float, float] = (3.5, -1.3)
    unknown_apart: float = 0.001
    spread_apart: tuple[float, float, float] = (0.2, 0.5, 0.3)
    far_off: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        n = len(self.members)
        if not n == len(self.log_prior_weight) == len(self.powers) == len(self.apart) > 0:
            raise ValueError(
                "A stack needs members, each with a value in log_prior_weight, powers and apart."
            )
        if min(self.apart) < 0:
            raise ValueError("Weights of the members of a stack are not below 0.")
        if min(*self.powers, *self.spread, *self.spread_apart, self.sharpness) <= 0:
            raise ValueError("A stack needs powers, a sharpness and spreads above 0.")
        if self.far_off < 0:
            raise ValueError("A stack needs a far_off of 0 or more.")
        if not (0 <= self.votes < 1 and 0 < self.unknown < 1 and 0 < self.unknown_apart < 1):
            raise ValueError("A stack needs a share of votes in [0, 1) and an unknown in (0, 1).")

    def updated(self, earlier: Earlier) -> HierarchicalDawidSkene:
        """Return the hierarchical model of its coders with the posterior of an earlier fit."""
        return HierarchicalDawidSkene().updated(earlier)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the votes and the members."""
        return (VOTES, *(model.full_name for model in self.members))

    def with_data(self, data: Annotations) -> Self:
        """Copy that knows the data it will be fitted to, with all of its members."""
        known = super().with_data(data)
        first, slope = self.independence
        if data.scale != "nominal":
            # items between two classes of a scale draw errors to both sides, which kinds miss
            first -= ORDERED
        members = tuple(model.with_data(data) for model in self.members)
        return replace(known, members=members, independence=(first, slope))

    def unused(self, data: Annotations) -> str:
        """State that the order of labels is hardly used, and which model uses it."""
        if data.scale == "nominal":
            return ""
        return (
            "The labels are ordered. The stack uses their order only to expect that coders err on "
            "the same items, not to expect errors close to the true label. If errors are mostly "
            f"one step off, also fit {Option('model', 'ordinal')}, which uses the order, and "
            "compare."
        )

    def cost(self, n_given: int, n_coders: int, n_labels: int) -> int:
        """Count the labels and rows that an iteration of all members reads."""
        states = sum(model.n_states(n_labels) for model in self.members)
        return states * (n_given + 8 * n_coders * n_labels)

    def share_of_iterations(self, n_given: int, n_coders: int, n_labels: int) -> float:
        """Share of the iterations that members need: the more labels, the fewer."""
        # P(truth) of many items is averaged over; no clock is asked, so that the same data give the
        # same draws everywhere
        cost = self.cost(n_given, n_coders, n_labels)
        return max(LEAST_SHARE, min(1.0, COST / cost))

    def affordable(self, n_given: int, n_coders: int, n_labels: int) -> bool:
        """Return True if a stack is the default model."""
        # it is not if labels are so many that members take the better part of an hour, or if rows
        # of coders for dozens of classes take most of the work
        of_labels = self.cost(n_given, 0, n_labels)
        most = max(HIGH_COST, 2 * of_labels)
        return of_labels <= MOST_COST and self.cost(n_given, n_coders, n_labels) <= most

    def share_of_draws(self, n_given: int, n_coders: int, n_labels: int) -> float:
        """Share of the draws that are made: fewer where labels are very many."""
        return max(LEAST_SHARE, min(1.0, HIGH_COST / self.cost(n_given, n_coders, n_labels)))

    def weights(self, held_out_weight: Floats) -> Floats:
        """Compute weights of the votes and the members in both mixtures, shape [2, 1 + member]."""
        own = np.exp(np.array(self.log_prior_weight)) * held_out_weight**self.evidence
        pooled = np.concatenate([[self.votes], (1.0 - self.votes) * own / own.sum()])
        apart = np.array([0.0, *(np.array(self.apart) * held_out_weight)])
        # a run that was stopped may lack the members without kinds
        return np.stack([pooled, apart / apart.sum() if apart.any() else pooled])

    def dependence(self, densities: Floats, n_labels: int) -> Dependence:
        """Measure by held-out log densities [member, label] whether coders err together."""
        plain = np.array([model.n_states(n_labels) <= n_labels for model in self.members])
        if plain.all() or not plain.any():
            return Dependence()
        each = densities.mean(axis=1)
        with_kinds, without = np.where(plain, -np.inf, each), np.where(plain, each, -np.inf)
        gained = densities[with_kinds.argmax()] - densities[without.argmax()]
        gain = float(gained.mean())
        error = max(float(gained.std()) / np.sqrt(gained.size), 1e-12)
        first, slope = self.independence
        independent = MOST_INDEPENDENT / (1.0 + np.exp(-(first + slope * gain / error)))
        return Dependence(max(0.0, gain), gain / error, float(independent))

    def log_mixture(self, p: Floats, weights: Floats) -> Floats:
        """Compute logs of the pooled mixture and of the members apart, [item, 2, truth]."""
        pooled, apart = (own[0] * p[0] for own in weights)
        for power, (weight, alone), each in zip(self.powers, weights.T[1:], p[1:], strict=True):
            raised = np.maximum(each, LEAST) ** power
            pooled = pooled + weight * raised / raised.sum(axis=1, keepdims=True)
            apart = apart + alone * each
        return np.asarray(np.log(np.maximum(np.stack([pooled, apart], axis=1), LEAST)))

    def layer(
        self, z: Floats, dependence: Dependence, view: int = POOLED
    ) -> tuple[Floats, Floats, Floats]:
        """Sharpness [draw, 2], share of unknown items [draw] and tilt [draw, truth]."""
        # from standard normal numbers z [draw, 2 + truth]; view is the mixture, 0 pooled or 1
        # apart, and the sharpness of the other one is 0
        centre, unknown, (of_sharpness, of_unknown, of_tilt) = self._prior(dependence, view)
        odds = unknown / (1.0 - unknown) * np.exp(of_unknown * z[:, 1])
        sharpness = np.zeros((len(z), 2))
        sharpness[:, view] = np.exp(centre + of_sharpness * z[:, 0])
        return sharpness, odds / (1.0 + odds), of_tilt * z[:, 2:]

    def _prior(
        self, dependence: Dependence, view: int
    ) -> tuple[float, float, tuple[float, float, float]]:
        """Return median log sharpness, median unknown share and the spreads of a mixture."""
        if view == APART:
            return 0.0, self.unknown_apart, self.spread_apart
        centre = float(np.log(self.sharpness)) - self.together * dependence.gain
        return centre, self.unknown, self.spread

    def build_layer(
        self, log_q: Floats, truth: Ints, dependence: Dependence, view: int = POOLED
    ) -> PyMCModel:
        """Build the PyMC model of the confidence of a mixture given known truths."""
        import pymc as pm
        import pytensor.tensor as pt

        n_labels = log_q.shape[2]
        centre, share, spread = self._prior(dependence, view)
        with pm.Model(coords={"truth": range(n_labels)}) as pymc_model:
            sharpness = pm.LogNormal("sharpness", mu=centre, sigma=spread[0])
            odds = pm.Normal("log_odds", mu=np.log(share / (1 - share)), sigma=spread[1])
            unknown = pm.Deterministic("unknown", pm.math.sigmoid(odds))
            tilt = pm.Normal("tilt", 0.0, spread[2], dims="truth")
            log_p = sharpness * log_q[:, view] + tilt
            log_p = log_p - pt.logsumexp(log_p, axis=1, keepdims=True)
            of_truth = log_p[np.arange(len(truth)), truth]
            flat = pt.log(unknown) - np.log(n_labels)
            pm.Potential("known_truth", pt.logaddexp(pt.log1p(-unknown) + of_truth, flat).sum())
        return pymc_model

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        return [
            "P(truth) is a mixture of the shares of the votes and "
            f"of {len(self.members)} models ({', '.join(self.names[1:])}), weighted by how well "
            "they predict held-out labels.",
            "If coders err independently given the truth, as far as held-out labels show, P(truth) "
            "is that of the models without kinds of items.",
            "The confidence of the mixture, the share of items about which the crowd knows "
            "nothing, and the tilt towards some classes have priors calibrated on public data sets "
            "with known truth; known truth of these data updates them.",
            "Parameters of coders are those of the hierarchical model given truths drawn from the "
            "stack:",
            *super().describe(),
        ]


def vote_shares(votes: Floats | Ints) -> Floats:
    """Shares of the votes of each item, with half a vote more for every class."""
    smooth = votes + PSEUDO
    return np.asarray(smooth / smooth.sum(axis=1, keepdims=True))


def stacking_weights(densities: Floats) -> Floats:
    """Weights with which a mixture predicts the points [model, point] best, by EM."""
    # argmax_w sum_n log sum_m w_m p_m(y_n | y_-n): Yao, Vehtari, Simpson and Gelman (2018),
    # doi:10.1214/17-BA1091
    density = np.exp(densities - densities.max(axis=0))
    weights = np.full(len(density), 1.0 / len(density))
    for _ in range(ROUNDS):
        share = weights[:, None] * density
        weights = (share / share.sum(axis=0)).mean(axis=1)
    return np.asarray(np.maximum(weights, 1e-3))


def layered(log_q: Floats, sharpness: Floats, unknown: Floats, tilt: Floats) -> Floats:
    """P(truth) of a stack under draws of its layer, shape [draw, item, truth]."""
    # log_q [item, 2, truth], sharpness [draw, 2], unknown [draw], tilt [draw, truth]
    p = np.tensordot(sharpness, log_q, axes=(1, 1)) + tilt[:, None, :]
    p = np.exp(p - p.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    u = unknown[:, None, None]
    return np.asarray((1.0 - u) * p + u / p.shape[2])


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
