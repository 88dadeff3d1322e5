"""The stack: P(truth) from several models and the votes, weighed by the labels they foretell."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import Earlier, Model
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.mixtures.item_kinds import KindsOfItems
from annomodels.types import Floats, Ints

VOTES = "votes"
# probability of a label that nobody gave, in labels
PSEUDO = 0.5
# share of strays in the kinds of the members
STRAYS = 0.02
# smallest probability that a member is believed to mean
LEAST = 1e-9
ROUNDS = 300
# looks of an iteration from which members run for fewer iterations, at least this share of them;
# from which fewer draws are made; and looks at labels up to which a stack is fitted by default
LOOKS, LEAST_SHARE, MANY_LOOKS, MOST_LOOKS = 1_600_000, 0.25, 25_000_000, 1_000_000_000


@dataclass(frozen=True)
class Stack(HierarchicalDawidSkene):
    r"""Several models and the votes put together, as sure as such a mixture was on public sets.

    .. math::

        q_{ik} = (1 - v) \sum_m w_m \frac{P_{mik}^{t_m}}{\sum_l P_{mil}^{t_m}} + v \, V_{ik},
        \quad w_m \propto b_m \hat w_m^g, \\
        P(truth_i = k) = (1 - u) \frac{q_{ik}^{s} e^{\beta_k}}{\sum_l q_{il}^{s} e^{\beta_l}}
        + \frac{u}{K}, \\
        \log s \sim N(\log S - c G, \tau_s^2), \quad
        \text{logit}\, u \sim N(\text{logit}\, U, \tau_u^2), \quad
        \beta_k \sim N(0, \tau_\beta^2)

    No model is right on all data. So the members are fitted, and the weights :math:`\hat w` make
    their mixture foretell each label from the others best (stacking, Yao et al. 2018). V are the
    shares of the votes, which always count. How sure the mixture may be is a property of the data
    at hand that labels hardly show: a sharpness s, a share u of items of which the crowd knows
    nothing, and a tilt :math:`\beta` towards some classes. How these differ from set to set was
    learnt on public sets with known truth, and is their prior here; G is how much better labels
    are foretold where items of a class come in kinds, a sign that coders err together. Items of
    known truth teach s, u and :math:`\beta`, and all members.

    Parameters of coders are those of the hierarchical model given truths drawn from the stack, so
    that their intervals hold what is not known of the truth.

    Parameters
    ----------
    members
        The models beside the votes.
    favour
        Logarithm of b, the weight of each member before the labels are seen.
    powers
        Powers t of the members, below 1 where a member is surer than it should be.
    evidence
        The exponent g: how far weights follow the labels that members foretell.
    votes
        Weight v of the votes.
    sharpness, unknown
        Prior medians S and U.
    together
        The slope c.
    spread
        Standard deviations :math:`\tau` of log s, logit u and :math:`\beta_k`.
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
    ('votes', 'item-kinds 4', 'item-kinds 2 x 3', 'item-kinds 1 x 3')
    """

    name: ClassVar[str] = "stack"
    title: ClassVar[str] = "stack"
    citation: ClassVar[str] = (
        "this package, after Yao et al. (2018), Carpenter (2008) and Dawid and Skene (1979)"
    )
    engines: ClassVar[tuple[str, ...]] = ("gibbs",)
    family: ClassVar[str] = "stack"
    stacks: ClassVar[bool] = True
    misjudged: ClassVar[tuple[float, float]] = (0.0, 0.6)
    teller: ClassVar[str] = (
        "Coders and classes are those of the hierarchical model, given truths drawn from the "
        "stack: intervals hold what is not known of the truth. Accuracy is the share of the labels "
        "given that are right."
    )

    members: tuple[Model, ...] = field(
        default_factory=lambda: (
            KindsOfItems(kinds=4, strays=STRAYS),
            KindsOfItems(kinds=2, communities=3, strays=STRAYS),
            KindsOfItems(kinds=1, communities=3, strays=STRAYS),
        )
    )
    # learnt on seventeen public sets by benchmarks/truth.py --learn; the spread with eight chains
    favour: tuple[float, ...] = (0.54, -0.60, 0.06)
    powers: tuple[float, ...] = (0.53, 0.44, 0.41)
    evidence: float = 0.77
    votes: float = 0.22
    sharpness: float = 2.9
    unknown: float = 0.0047
    together: float = 6.5
    spread: tuple[float, float, float] = (0.27, 0.43, 0.49)
    far_off: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not len(self.members) == len(self.favour) == len(self.powers) > 0:
            raise ValueError("A stack needs one or more members, each with a favour and a power.")
        if min(*self.powers, *self.spread, self.sharpness) <= 0:
            raise ValueError("A stack needs powers, a sharpness and spreads above 0.")
        if self.far_off < 0:
            raise ValueError("Coders of a stack cannot be less than nothing off: far_off is >= 0.")
        if not (0 <= self.votes < 1 and 0 < self.unknown < 1):
            raise ValueError("A stack needs a share of votes in [0, 1) and an unknown in (0, 1).")

    def learnt(self, earlier: Earlier) -> HierarchicalDawidSkene:
        """Give the hierarchical model of its coders with the posterior of an earlier fit."""
        return HierarchicalDawidSkene().learnt(earlier)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the votes and the members."""
        return (VOTES, *(model.full_name for model in self.members))

    def bound(self, data: Annotations) -> Self:
        """Copy that knows the data it will be fitted to, with all of its members."""
        known = super().bound(data)
        return replace(known, members=tuple(model.bound(data) for model in self.members))

    def looks(self, n_given: int, n_coders: int, n_labels: int) -> int:
        """Count the looks of an iteration of all members at labels and rows: their work.

        Parameters
        ----------
        n_given, n_coders, n_labels
            Numbers of labels given, of coders, and of classes.
        """
        states = sum(model.n_states(n_labels) for model in self.members)
        return states * (n_given + 8 * n_coders * n_labels)

    def share_of_iterations(self, n_given: int, n_coders: int, n_labels: int) -> float:
        """Share of the iterations that members need: the more labels, the fewer.

        P(truth) of many items is averaged over; no clock is asked, so that the same data give the
        same draws everywhere.
        """
        looks = self.looks(n_given, n_coders, n_labels)
        return max(LEAST_SHARE, min(1.0, LOOKS / looks))

    def affordable(self, n_given: int, n_coders: int, n_labels: int) -> bool:
        """Whether a stack is what is fitted by default.

        It is not where labels are so many that members take the better part of an hour, or where
        rows of coders for dozens of classes take most of the work.
        """
        of_labels = self.looks(n_given, 0, n_labels)
        most = max(MANY_LOOKS, 2 * of_labels)
        return of_labels <= MOST_LOOKS and self.looks(n_given, n_coders, n_labels) <= most

    def share_of_draws(self, n_given: int, n_coders: int, n_labels: int) -> float:
        """Share of the draws that are made: fewer where labels are very many."""
        return max(LEAST_SHARE, min(1.0, MANY_LOOKS / self.looks(n_given, n_coders, n_labels)))

    def weights(self, foretold: Floats) -> Floats:
        """Weights of the votes and the members, shape [1 + member], with a sum of 1.

        Parameters
        ----------
        foretold
            Weights with which the members foretell held-out labels best, shape [member]; see
            :func:`stacking_weights`.
        """
        own = np.exp(np.array(self.favour)) * foretold**self.evidence
        return np.concatenate([[self.votes], (1.0 - self.votes) * own / own.sum()])

    def gain(self, densities: Floats, n_labels: int) -> float:
        """Nats a label by which members with kinds of items foretell labels better than others."""
        plain = np.array([model.n_states(n_labels) <= n_labels for model in self.members])
        each = densities.mean(axis=1)
        if plain.all() or not plain.any():
            return 0.0
        return max(0.0, float(each[~plain].max() - each[plain].max()))

    def log_mixture(self, p: Floats, weights: Floats) -> Floats:
        """Log of the mixture of the votes and the members, shape [item, truth].

        Parameters
        ----------
        p
            Shares of the votes and P(truth) of the members, shape [1 + member, item, truth].
        weights
            Shape [1 + member].
        """
        mixed = weights[0] * p[0]
        for power, weight, each in zip(self.powers, weights[1:], p[1:], strict=True):
            raised = np.maximum(each, LEAST) ** power
            mixed = mixed + weight * raised / raised.sum(axis=1, keepdims=True)
        return np.asarray(np.log(mixed))

    def layer(self, z: Floats, gain: float) -> tuple[Floats, Floats, Floats]:
        """Sharpness, share of unknown items and tilt, from numbers that are standard normal.

        Parameters
        ----------
        z
            Shape [draw, 2 + truth].
        gain
            See :meth:`gain`.

        Returns
        -------
        tuple
            Shapes [draw], [draw] and [draw, truth].
        """
        of_sharpness, of_unknown, of_tilt = self.spread
        centre = np.log(self.sharpness) - self.together * gain
        odds = self.unknown / (1.0 - self.unknown) * np.exp(of_unknown * z[:, 1])
        return np.exp(centre + of_sharpness * z[:, 0]), odds / (1.0 + odds), of_tilt * z[:, 2:]

    def build_layer(self, log_q: Floats, truth: Ints, gain: float) -> Any:
        """Build the PyMC model of sharpness, unknown share and tilt given known truths.

        Parameters
        ----------
        log_q
            Log of the mixture for the items of known truth, shape [item, truth].
        truth
            Their truth, shape [item].
        gain
            See :meth:`gain`.

        Returns
        -------
        pymc.Model
        """
        import pymc as pm
        import pytensor.tensor as pt

        n_labels = log_q.shape[1]
        with pm.Model(coords={"truth": range(n_labels)}) as pymc_model:
            centre = np.log(self.sharpness) - self.together * gain
            sharpness = pm.LogNormal("sharpness", mu=centre, sigma=self.spread[0])
            centre = np.log(self.unknown / (1 - self.unknown))
            odds = pm.Normal("log_odds", mu=centre, sigma=self.spread[1])
            unknown = pm.Deterministic("unknown", pm.math.sigmoid(odds))
            tilt = pm.Normal("tilt", 0.0, self.spread[2], dims="truth")
            log_p = sharpness * log_q + tilt
            log_p = log_p - pt.logsumexp(log_p, axis=1, keepdims=True)
            of_truth = log_p[np.arange(len(truth)), truth]
            flat = pt.log(unknown) - np.log(n_labels)
            pm.Potential("known_truth", pt.logaddexp(pt.log1p(-unknown) + of_truth, flat).sum())
        return pymc_model

    def describe(self) -> list[str]:
        """Story and priors in sentences."""
        return [
            f"P(truth) is a mixture of the shares of the votes, which count {self.votes:.0%}, and "
            f"of {len(self.members)} models ({', '.join(self.names[1:])}), weighed by how well "
            "they foretell labels that are held out.",
            "How sure the mixture may be, of which share of items the crowd knows nothing, and "
            "towards which classes it leans, has a prior that was learnt on public sets with "
            "known truth; known truth of these data teaches more.",
            "Parameters of coders are those of the hierarchical model given truths drawn from the "
            "stack:",
            *super().describe(),
        ]


def vote_shares(votes: Floats | Ints) -> Floats:
    """Shares of the votes of each item, with half a vote more for every class.

    Examples
    --------
    >>> vote_shares(np.array([[3, 0], [0, 0]])).round(3)
    array([[0.875, 0.125],
           [0.5  , 0.5  ]])
    """
    smooth = votes + PSEUDO
    return np.asarray(smooth / smooth.sum(axis=1, keepdims=True))


def stacking_weights(densities: Floats) -> Floats:
    r"""Weights with which a mixture foretells the points best, by EM.

    .. math:: \hat w = \arg\max_w \sum_n \log \sum_m w_m p_m(y_n \mid y_{-n})

    Parameters
    ----------
    densities
        Log densities of the points, each left out, shape [model, point].

    Returns
    -------
    ndarray
        Shape [model]; none below a thousandth, so that a model is never lost.

    References
    ----------
    Yao, Vehtari, Simpson and Gelman (2018), doi:10.1214/17-BA1091.

    Examples
    --------
    >>> stacking_weights(np.log([[0.9, 0.9, 0.1], [0.2, 0.2, 0.8]])).round(1)
    array([0.7, 0.3])
    """
    density = np.exp(densities - densities.max(axis=0))
    weights = np.full(len(density), 1.0 / len(density))
    for _ in range(ROUNDS):
        share = weights[:, None] * density
        weights = (share / share.sum(axis=0)).mean(axis=1)
    return np.asarray(np.maximum(weights, 1e-3))


def layered(log_q: Floats, sharpness: Floats, unknown: Floats, tilt: Floats) -> Floats:
    """P(truth) of a stack under draws of its layer, shape [draw, item, truth].

    Parameters
    ----------
    log_q
        Log of the mixture, shape [item, truth].
    sharpness, unknown, tilt
        Shapes [draw], [draw] and [draw, truth].

    Examples
    --------
    >>> one = np.array([1.0]), np.array([0.1]), np.zeros((1, 2))
    >>> layered(np.log([[0.8, 0.2]]), *one).round(2)
    array([[[0.77, 0.23]]])
    """
    p = sharpness[:, None, None] * log_q + tilt[:, None, :]
    p = np.exp(p - p.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    u = unknown[:, None, None]
    return np.asarray((1.0 - u) * p + u / p.shape[2])


def as_far_off(right: Ints, sure: Ints, n_open: Ints, spread: float, seed: int) -> Ints:
    r"""Right labels of coders, as far from those counted under drawn truths as on public sets.

    .. math:: \text{logit}\,\tilde a_j = \text{logit}\,a_j + \tau \varepsilon_j,
        \quad \varepsilon_j \sim N(0, 1)

    Drawn truths err independently of each other, those of a crowd do not: coders who make the
    errors of the crowd look better, and the others worse, than they are. Labels of items of known
    truth are counted as they are.

    Parameters
    ----------
    right
        Right labels under drawn truths, shape [chain, draw, coder].
    sure, n_open
        Right labels of items of known truth, and labels of all others, shape [coder].
    spread
        Standard deviation :math:`\tau`.
    seed
        Seed of the run.
    """
    rng = np.random.default_rng([seed, 4])
    out: Any = np.empty(right.shape, dtype=np.int32)
    for chain, counted in zip(out, right, strict=True):  # one at a time: these may be large
        hit = counted - sure
        odds = np.log((hit + 0.5) / (n_open - hit + 0.5))
        odds += spread * rng.standard_normal(hit.shape)
        drawn = np.rint((n_open + 1.0) / (1.0 + np.exp(-odds)) - 0.5)
        chain[:] = sure + np.clip(drawn, 0, n_open)
    return cast("Ints", out)
