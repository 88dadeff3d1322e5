"""Coders of kinds of items: a row for each kind, around the mean row of a community."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from annomodels.models.base import DrawsOf, State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.dawid_skene import DawidSkene
from annomodels.models.parameters import Parameter
from annomodels.priors import Dirichlet
from annomodels.priors.shares import dirichlet_rows
from annomodels.types import Floats, Ints, Tensor, TensorLike

if TYPE_CHECKING:
    from annomodels.kernels.mixtures.item_kinds import Kinds

# strengths and skills that the prior of a mean may have: 0 is chance, 1 always right
STRENGTHS = (2.0, 4.0, 8.0, 20.0, 60.0)
SKILLS = tuple((x - 0.25) / 0.75 for x in (0.35, 0.5, 0.65, 0.8, 0.9))
# spread of their priors: of the logarithm of a strength, and of an accuracy
SPREAD_STRENGTH, SPREAD_ACCURACY = 0.7, 0.15
# bounds of the concentrations, and where chains begin
BOUNDS = (0.3, 500.0)
FIRST_CONCENTRATION = 8.0
JITTER = 0.3
TINY = 1e-300


@dataclass(frozen=True)
class KindPriors:
    """Numbers of kinds and communities, and priors of coders who tell kinds of items apart.

    Parameters
    ----------
    prevalence
        Prior of the prevalence of the classes.
    kinds
        Number of kinds of items in a class.
    communities
        Number of communities of coders.
    first, others
        Strength (pseudo-counts) and skill (0 chance, 1 always right) that the mean row of a
        community is expected to have for the first kind of a class, and for its other kinds. Both
        are estimated, from a grid.
    shares
        Pseudo-counts of the first kind of a class, and of its other kinds as if they were one more
        than they are.
    concentration
        Shape and rate of the gamma prior of how alike the coders of a community are, in
        pseudo-counts.
    lapse_rate
        Share of the items of a kind whose truth is another class. With a few, kinds that hold
        items with known labels can still move between classes.
    anchored
        Whether two classes change names, on any draw, where more labels are right then. Without it
        nothing tells a community of good coders from one of reversed coders.

    Examples
    --------
    >>> KindPriors(kinds=2).pseudo
    array([1.4, 0.5])
    """

    prevalence: Dirichlet = Dirichlet(1.0)  # noqa: RUF009
    kinds: int = 4
    communities: int = 1
    first: tuple[float, float] = (20.0, 0.6)
    others: tuple[float, float] = (4.0, 0.4)
    shares: tuple[float, float] = (1.4, 1.0)
    concentration: tuple[float, float] = (2.0, 0.2)
    lapse_rate: float = 0.0
    anchored: bool = False

    def __post_init__(self) -> None:
        if self.kinds < 1 or self.communities < 1:
            raise ValueError("KindsOfItems needs one kind and one community, or more.")
        if not 0 <= self.lapse_rate < 0.5:
            raise ValueError("KindsOfItems needs a lapse_rate of at least 0 and below a half.")
        numbers = (self.first[0], self.others[0], *self.shares, *self.concentration)
        if min(numbers) <= 0 or not all(0 <= s <= 1 for s in (self.first[1], self.others[1])):
            raise ValueError(
                "KindsOfItems needs strengths, shares and concentration above 0, and skills "
                "between 0 and 1."
            )

    @property
    def pseudo(self) -> Floats:
        """Pseudo-counts of the kinds of a class, shape [kind]."""
        return np.array([self.shares[0]] + [self.shares[1] / self.kinds] * (self.kinds - 1))

    def levels(self, n_labels: int) -> tuple[Floats, Floats]:
        """Strength and accuracy [level, 2], and their log prior for first and other kinds."""
        return _levels(self.first, self.others, n_labels)

    def centre(self, n_labels: int) -> Floats:
        """Return the expected mean row of every slot, shape [slot, label]."""
        eye, out = np.eye(n_labels, dtype=bool), []
        for m in range(self.kinds):
            skill = (self.others if m else self.first)[1]
            accuracy = 1 / n_labels + (1 - 1 / n_labels) * min(max(skill, 0.05), 0.95)
            out.append(np.where(eye, accuracy, (1 - accuracy) / (n_labels - 1)))
        return np.stack(out, axis=1).reshape(-1, n_labels)

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        first, others = self.first, self.others
        alike = "one community" if self.communities == 1 else f"{self.communities} communities"
        shape, rate = self.concentration
        return [
            f"Every class has {self.kinds} kinds of items, and every coder a row for each; which "
            "class a kind belongs to is inferred. Coders who err on the same items are taken to "
            "do so for a reason.",
            f"Rows of a coder are drawn from {alike} of coders, whose mean and spread for each "
            "kind are estimated.",
            f"Prevalence of the classes: Dirichlet with {self.prevalence.concentration:g} "
            f"pseudo-counts each; shares of kinds within a class: {self.shares[0]:g} for the "
            f"first, {self.shares[1] / self.kinds:g} for each other.",
            f"Mean rows: Dirichlet around the right label; strength about {first[0]:g} and skill "
            f"about {first[1]:g} for the first kind of a class, {others[0]:g} and {others[1]:g} "
            "for the others, estimated from a grid.",
            f"Concentration of the coders around them: gamma with shape {shape:g} and rate "
            f"{rate:g}, between {BOUNDS[0]:g} and {BOUNDS[1]:g}.",
            *(
                [f"Of the items of a kind {100 * self.lapse_rate:.0f} % are of another class."]
                * (self.lapse_rate > 0)
            ),
        ]


@lru_cache(maxsize=64)
def _levels(
    first: tuple[float, float], others: tuple[float, float], n_labels: int
) -> tuple[Floats, Floats]:
    chance = 1 / n_labels
    accuracies = [chance + (1 - chance) * skill for skill in SKILLS]
    levels = np.array([(s, a) for s in STRENGTHS for a in accuracies])
    logs = []
    for strength, skill in (first, others):
        expected = chance + (1 - chance) * skill
        far = (np.log(levels[:, 0]) - np.log(strength)) / SPREAD_STRENGTH
        off = (levels[:, 1] - expected) / SPREAD_ACCURACY
        log_p = -0.5 * (far**2 + off**2)
        logs.append(log_p - np.logaddexp.reduce(log_p))
    return levels, np.stack(logs, axis=1)


@lru_cache(maxsize=64)
def _bases(n_labels: int) -> tuple[Floats, Floats]:
    """Pseudo-counts of means at each level [level, class, label], and constants of the density."""
    from scipy.special import gammaln

    strength, accuracy = _levels((1.0, 0.0), (1.0, 0.0), n_labels)[0].T
    wrong = (1 - accuracy) / (n_labels - 1)
    eye = np.eye(n_labels, dtype=bool)[None]
    alpha = strength[:, None, None] * np.where(eye, accuracy[:, None, None], wrong[:, None, None])
    return alpha, (gammaln(strength)[:, None] - gammaln(alpha).sum(axis=2)).sum(axis=1)


@dataclass(frozen=True)
class KindRows(KindPriors, ConjugateModel):
    """Coders of :class:`annomodels.models.KindsOfItems`: a row per kind.

    Parameters
    ----------
    prevalence, kinds, communities, first, others, shares, concentration, lapse_rate, anchored
        As in :class:`KindPriors`.

    Examples
    --------
    >>> KindRows(kinds=3).own_parameters(2)[0].dims
    ('community', 'perceived', 'label')
    """

    name: ClassVar[str] = "kind-rows"
    title: ClassVar[str] = "rows of kinds of items"
    citation: ClassVar[str] = "this package"
    swappable: ClassVar[bool] = False

    def own_parameters(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the communities; their order means nothing."""
        slots, any_order = ("community", "perceived"), ("community", "perceived")
        own: tuple[Parameter, ...] = (
            Parameter("population", (*slots, "label"), "simplex", "all", any_order),
            Parameter("concentration", slots, "pseudo-counts", "all", any_order),
        )
        if self.communities > 1:
            own += (Parameter("community_share", ("community",), "simplex", "all", ("community",)),)
        return own

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Names along the dimensions that only this model has."""
        return {"community": [str(t + 1) for t in range(self.communities)]}

    # -- Gibbs ---------------------------------------------------------------------------------

    def start(self, counts: Floats, sizes: Floats) -> State:
        """Parameters from soft counts [row, label, truth] and class sizes [truth]."""
        return self.expand(DawidSkene(self.prevalence).start(counts, sizes))

    def expand(self, plain: State) -> State:
        """Expand each class of a Dawid-Skene state into kinds that differ slightly."""
        rows = np.exp(np.repeat(plain.log_confusion, self.kinds, axis=2))
        # the same way for all coders: what kinds are is that coders err together
        rows = rows * np.exp(np.random.default_rng(0).normal(0.0, JITTER, rows.shape[1:]))
        rows /= rows.sum(axis=1, keepdims=True)
        shares = np.log(self.pseudo / self.pseudo.sum())
        log_shares = (plain.log_prevalence[:, None] + shares).ravel()
        t, (slots, k) = self.communities, (centre := self.centre(rows.shape[1])).shape
        population: dict[str, Any] = {
            "population": np.broadcast_to(centre, (t, slots, k)).copy(),
            "concentration": np.full((t, slots), FIRST_CONCENTRATION),
            "community": np.arange(len(rows)) % t,
            "community_share": np.full(t, 1.0 / t),
        }
        return State(log_shares, np.log(rows), population)

    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        """M-step with communities held: the mode given expected counts."""
        return self.with_mode(counts, sizes, self.row_prior(state), state.population)

    def row_prior(self, state: State) -> Floats:
        """Dirichlet pseudo-counts of the rows, shape [row, slot, label]."""
        held = state.population
        shapes = held["concentration"][:, :, None] * held["population"]
        return np.asarray(shapes[held["community"]])

    def collapsed(self, state: State) -> Floats:
        """Pseudo-counts [row, perceived, label] of rows that are Dirichlet given counts."""
        return self.row_prior(state)

    def draw(self, counts: Floats, sizes: Floats, state: State, key: int, iteration: int) -> None:
        """Gibbs step: parameters given counts, in place, where no truth is known."""
        self.draw_beside(
            counts, sizes, np.zeros((len(sizes), counts.shape[1]), np.int64), state, key, iteration
        )

    def draw_beside(
        self, counts: object, sizes: object, known: Ints, state: State, key: int, iteration: int
    ) -> None:
        """Gibbs step; kinds may move, with their counts; `known` [slot, truth] are items."""
        from annomodels.kernels.mixtures.item_kinds import draw_kinds

        draw_kinds(
            counts, sizes, known, *self.step_arguments(state), np.uint64(key), iteration,
            state.log_prevalence, state.log_confusion,
        )  # fmt: skip

    def step_arguments(self, state: State) -> tuple[float, Floats, Kinds]:
        """Return the arguments of a Gibbs step, see ``kernels.mixtures.item_kinds``."""
        from annomodels.kernels.mixtures.item_kinds import Kinds

        held, k = state.population, state.log_confusion.shape[1]
        levels, log_level = self.levels(k)
        source = Kinds(
            held["population"], held["concentration"], held["community"], held["community_share"],
            np.array([*self.concentration, *BOUNDS]), levels, log_level, self.pseudo, self.anchored,
        )  # fmt: skip
        return self.log_odds(k), self.prevalence.alpha(k), source

    def log_odds(self, n_labels: int) -> float:
        """Log of how much more often an item is of the class of its kind than of one other."""
        if not self.lapse_rate:
            return np.inf
        return float(np.log((1.0 - self.lapse_rate) / (self.lapse_rate / (n_labels - 1))))

    def log_prior(self, state: State) -> float:
        """Log prior density of shares, rows and communities; who is in which is summed out."""
        from scipy.special import gammaln

        held, k = state.population, state.log_confusion.shape[1]
        mean, spread = held["population"], held["concentration"]
        share = held.get("community_share", np.ones(1))
        value = float(self.log_shares(np.exp(state.log_prevalence), k, np))
        alpha = np.maximum(spread[:, :, None] * mean, TINY)
        constant = (gammaln(spread) - gammaln(alpha).sum(axis=2)).sum(axis=1)
        rows = state.log_confusion.transpose(0, 2, 1).reshape(len(state.log_confusion), -1)
        each = rows @ (alpha - 1.0).reshape(len(alpha), -1).T + constant
        value += float(np.logaddexp.reduce(np.log(share) + each, axis=1).sum())
        value += float(self.log_means(mean, np).sum())
        if spread.min() < BOUNDS[0] or spread.max() > BOUNDS[1]:
            return -np.inf
        shape, rate = self.concentration
        return value + float(((shape - 1.0) * np.log(spread) - rate * spread).sum())

    def log_shares(self, prevalence: TensorLike, n_labels: int, xp: ModuleType) -> TensorLike:
        """Log density of the shares of all slots, up to a constant."""
        # Dirichlet within a class, and Dirichlet classes: the class sizes c enter to the power of
        # the excess of the pseudo-counts of a class over those of its kinds
        by_class = prevalence.reshape((n_labels, self.kinds))
        whole = xp.log(xp.maximum(by_class.sum(axis=1), TINY))
        value = (self.prevalence.alpha(n_labels) - self.pseudo.sum()) * whole
        return value.sum() + ((self.pseudo - 1.0) * xp.log(xp.maximum(by_class, TINY))).sum()

    def log_means(self, mean: TensorLike, xp: ModuleType) -> TensorLike:
        """Log density of the mean rows [community, slot, label], their levels summed out."""
        k = mean.shape[2] if isinstance(mean, np.ndarray) else int(mean.type.shape[2])
        log_level = self.levels(k)[1]
        alpha, constant = _bases(k)
        logs = xp.log(xp.maximum(mean, TINY)).reshape((self.communities, k, self.kinds, k))
        total: Any = 0.0
        for other, kinds in enumerate((slice(0, 1), slice(1, None))):
            n = 1 if other == 0 else self.kinds - 1
            if n:
                of_class = logs[:, :, kinds].sum(axis=2)
                by_level = (of_class[:, None] * (alpha - 1.0)[None]).sum(axis=(2, 3))
                by_level = by_level + n * constant + log_level[:, other]
                top = by_level.max(axis=1, keepdims=True)
                total = total + top[:, 0] + xp.log(xp.exp(by_level - top).sum(axis=1))
        return total

    def sample_parameters(self, n_rows: int, n_labels: int, rng: np.random.Generator) -> State:
        """Draw parameters from the prior."""
        levels, log_level = self.levels(n_labels)
        t, m, eye = self.communities, self.kinds, np.eye(n_labels, dtype=bool)
        mean = np.empty((t, n_labels, m, n_labels))
        for community in mean:
            for other, kinds in enumerate((slice(0, 1), slice(1, None))):
                strength, right = levels[rng.choice(len(levels), p=np.exp(log_level[:, other]))]
                wrong = (1 - right) / (n_labels - 1)
                alpha = strength * np.where(eye, right, wrong)[:, None]
                shape = community[:, kinds].shape
                community[:, kinds] = dirichlet_rows(np.broadcast_to(alpha, shape), rng)
        population = mean.reshape(t, -1, n_labels)
        shape_, rate = self.concentration
        spread = rng.gamma(shape_, 1 / rate, population.shape[:2])
        while (out := (spread < BOUNDS[0]) | (spread > BOUNDS[1])).any():
            spread[out] = rng.gamma(shape_, 1 / rate, int(out.sum()))
        share = rng.dirichlet(np.ones(t))
        community_of = rng.choice(t, n_rows, p=share)
        rows = dirichlet_rows((spread[:, :, None] * population)[community_of], rng)
        classes = rng.dirichlet(self.prevalence.alpha(n_labels))
        shares = classes[:, None] * rng.dirichlet(self.pseudo, n_labels)
        held: dict[str, Any] = {
            "population": population,
            "concentration": spread,
            "community": community_of,
            "community_share": share,
        }
        log_rows = np.log(np.maximum(rows, TINY)).transpose(0, 2, 1)
        return State(np.log(np.maximum(shares.ravel(), TINY)), np.ascontiguousarray(log_rows), held)

    def new_rows(self, draws_of: DrawsOf, rng: np.random.Generator) -> Floats | None:
        """Draw rows [sample, slot, label] of a coder who is yet to come."""
        mean, spread = draws_of("population"), draws_of("concentration")
        chosen = np.zeros(len(mean), dtype=np.int64)
        if self.communities > 1:
            edges = draws_of("community_share").cumsum(axis=1)[:, :-1]
            chosen = (rng.random((len(mean), 1)) > edges).sum(axis=1)
        each = np.arange(len(mean))
        return dirichlet_rows(spread[each, chosen][:, :, None] * mean[each, chosen], rng)

    # -- PyMC ------------------------------------------------------------------------------------

    def pymc_log_confusion(self, n_labels: int) -> Tensor:
        """Log rows [coder, slot, label] as a tensor, with their priors; in a model context."""
        import pymc as pm
        import pytensor.tensor as pt

        t, slots = self.communities, n_labels * self.kinds
        dims = ("community", "perceived", "label")
        mean = pm.Dirichlet("population", a=np.ones((t, slots, n_labels)), dims=dims)
        pm.Potential("means", self.log_means(mean, pt).sum())
        shape, rate = self.concentration
        spread = pm.Truncated(
            "concentration", pm.Gamma.dist(shape, rate), lower=BOUNDS[0], upper=BOUNDS[1],
            dims=dims[:2],
        )  # fmt: skip
        alpha, dims = spread[:, :, None] * mean, ("coder", "perceived", "label")
        if t == 1:
            return pt.log(pm.Dirichlet("confusion", a=alpha[0][None], dims=dims))
        share = pm.Dirichlet("community_share", a=np.ones(t), dims="community")
        rows = pt.log(pm.Dirichlet("confusion", a=np.ones((1, slots, n_labels)), dims=dims))
        constant = (pt.gammaln(spread) - pt.gammaln(alpha).sum(axis=2)).sum(axis=1)
        each = (rows[:, None] * (alpha - 1.0)[None]).sum(axis=(2, 3)) + constant
        pm.Potential("communities", pt.logsumexp(pt.log(share) + each, axis=1).sum())
        return rows

    def pymc_start(self, state: State) -> dict[str, Floats]:
        """Values of the PyMC variables that correspond to a state."""
        out = super().pymc_start(state)
        idle = {"community"} if self.communities > 1 else {"community", "community_share"}
        return {name: values for name, values in out.items() if name not in idle}
