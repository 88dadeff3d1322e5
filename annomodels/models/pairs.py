"""Pairs of mentions and antecedents: which readings are true, judged by coders with rates."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import ClassVar, Literal

import numpy as np

from annomodels.data.candidates import NONE, Candidates
from annomodels.errors import NotApplicable
from annomodels.models.base import Model
from annomodels.models.parameters import Parameter
from annomodels.priors import Beta, Dirichlet, LogNormal, ScalePrior
from annomodels.types import ByName, Floats, PyMCModel, Tensor


@dataclass(frozen=True)
class PairValues:
    """Values of all parameters, or draws of them with leading dimensions."""

    prevalence: Floats  # [class]
    mean: Floats  # [kind]
    concentration: Floats  # [kind]
    rate: Floats  # [coder, kind]

    @classmethod
    def of(cls, posterior: ByName) -> PairValues:
        """Take them from draws by name."""
        return cls(*(np.asarray(posterior[each.name], dtype=float) for each in fields(cls)))


@dataclass(frozen=True)
class PairModel(Model):
    """Base of both models of pairs: rates of coders are Beta around a population's mean."""

    truth: ClassVar[Literal["class", "number", "link"]] = "link"
    engines: ClassVar[tuple[str, ...]] = ("gibbs", "nuts")
    single: ClassVar[bool]
    # what a rate is of, for each class
    quantities: ClassVar[tuple[str, ...]]
    concentration: ScalePrior = field(default_factory=lambda: LogNormal(10.0, 1.0))

    @property
    def has_none(self) -> bool:
        """Return True if "none of these" is a candidate."""
        return False

    @property
    def proper(self) -> bool:
        """Return True if all priors are proper, as sampling needs."""
        return True

    def parameters(self, n_labels: int = 2) -> tuple[Parameter, ...]:
        """Declare the variables of the posterior; kinds are the rates of each class."""
        return (
            Parameter("prevalence", ("class",), "simplex" if self.single else "unit"),
            Parameter("mean", ("kind",), "unit"),
            Parameter("concentration", ("kind",), "positive"),
            Parameter("rate", ("coder", "kind"), "unit"),
            # with the truth summed out; it moves with the rates of all coders, which are many
            Parameter("log_likelihood"),
        )

    def require_fittable(self, data: object) -> None:
        """Refuse annotations, which name no antecedents."""
        raise NotApplicable(
            f"The {self.title} model is of mentions and their antecedents, not of labels of "
            "items. Fit it to am.coref.pairs(documents or a table of judgments)."
        )

    def encode(self, data: Candidates) -> Candidates:
        """Candidates as this model sees them, with "none of these" among them if it may be."""
        return data.with_none() if self.has_none else data

    def coords(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """Names of classes, of kinds of rates, and of numbers of readings that are true."""
        return {
            "class": [*labels, NONE] if self.has_none else [*labels],
            "kind": [f"{q} of {name}" for name in labels for q in self.quantities],
            "number": ["none", "one", "several"],
        }

    @abstractmethod
    def prevalence_prior(self, n_classes: int) -> Floats:
        """Pseudo-counts of the prevalence, shape [class, 2]."""

    @abstractmethod
    def anchor(self, n_classes: int) -> Floats:
        """Pseudo-counts of the population means, shape [kind, 2]."""

    def n_weights(self, n_classes: int) -> int:
        """Count the classes, "none of these" included."""
        return n_classes + self.has_none

    def log_prior(self, values: PairValues) -> Floats:
        """Log density of the parameters, with the leading dimensions of the values."""
        from scipy.stats import beta

        kinds = values.mean.shape[-1]
        total = self._log_prevalence(values.prevalence)
        a, b = self.anchor(kinds if self.single else kinds // 2).T
        total = total + beta.logpdf(values.mean, a, b).sum(axis=-1)
        total += self.concentration.logp(values.concentration).sum(axis=-1)
        a, b = values.concentration * values.mean, values.concentration * (1 - values.mean)
        coders = beta.logpdf(values.rate, a[..., None, :], b[..., None, :])
        return np.asarray(total + coders.sum(axis=(-2, -1)))

    @abstractmethod
    def _log_prevalence(self, prevalence: Floats) -> Floats:
        """Log prior density of the prevalence."""

    def sample_parameters(
        self, n_coders: int, n_classes: int, rng: np.random.Generator
    ) -> PairValues:
        """Draw parameters from the prior."""
        anchor = self.anchor(n_classes)
        mean = rng.beta(anchor[:, 0], anchor[:, 1])
        concentration = self.concentration.sample(rng, (len(anchor),))
        shape = (n_coders, len(anchor))
        rate = rng.beta(concentration * mean, concentration * (1 - mean), shape)
        prevalence = self._sample_prevalence(self.n_weights(n_classes), rng)
        # a rate so near to 0 or 1 that its logarithm is lost is moved to the next that is not
        return PairValues(prevalence, mean, concentration, np.clip(rate, 1e-12, 1 - 1e-12))

    @abstractmethod
    def _sample_prevalence(self, n_weights: int, rng: np.random.Generator) -> Floats:
        """Draw the prevalence from its prior."""

    def build(self, codes: Candidates, coords: dict[str, list[str]]) -> PyMCModel:
        """Build the PyMC model with the truth summed out, the target of all engines."""
        # variables are prevalence [class], mean and concentration [kind], rate [coder, kind]
        import pymc as pm
        import pytensor.tensor as pt

        n_classes = len(codes.classes) - self.has_none
        anchor = self.anchor(n_classes)
        with pm.Model(coords={"kind": range(len(anchor)), **coords}) as built:
            prevalence = self._pymc_prevalence(len(codes.classes))
            mean = pm.Beta("mean", anchor[:, 0], anchor[:, 1], dims="kind")
            concentration = self.concentration.pymc("concentration", dims="kind")
            shape = (len(codes.coders), len(anchor))
            a, b = concentration * mean, concentration * (1 - mean)
            rate = pm.Beta("rate", a[None], b[None], shape=shape)
            total = (_single if self.single else _pairs)(codes, prevalence, rate, pt)
            pm.Potential("decisions", total)
        return built

    @abstractmethod
    def _pymc_prevalence(self, n: int) -> Tensor:
        """Prior of the prevalence within a PyMC model."""


@dataclass(frozen=True)
class MentionPairs(PairModel):
    r"""Every interpretation of a mention is true or not: none, one or several may be.

    .. math::

        c_{im} \sim \mathrm{Bernoulli}(\pi_h), \quad
        P(\text{j accepts } m \mid c_{im} = 1) = \alpha_{jh}, \quad
        P(\text{j rejects } m \mid c_{im} = 0) = \beta_{jh}

    for each candidate m, of class h, of mention i. What a coder says is a decision on every
    candidate of the mention. Sensitivities :math:`\alpha_{jh} \sim \mathrm{Beta}(s \mu, s (1 -
    \mu))` come from a population whose mean :math:`\mu` and concentration s are estimated for each
    class, and so do the specificities :math:`\beta_{jh}`. The means are believed to be better than
    chance, which keeps true and false from being swapped.

    Parameters
    ----------
    concentration
        Prior of the concentrations of coders, in pseudo-decisions.
    prevalence
        Prior of the share of true candidates of a class.
    sensitivity, specificity
        Priors of the means of the population.

    References
    ----------
    S. Paun, J. Chamberlain, U. Kruschwitz, J. Yu, M. Poesio (2018). A probabilistic annotation
    model for crowdsourcing coreference. EMNLP, doi:10.18653/v1/D18-1218. There the coders are
    independent of each other, with Beta(1, 1) priors.

    Examples
    --------
    >>> MentionPairs().specificity
    Beta(a=16.0, b=4.0)
    """

    name: ClassVar[str] = "pairs"
    title: ClassVar[str] = "mention-pair"
    citation: ClassVar[str] = "doi:10.18653/v1/D18-1218"
    single: ClassVar[bool] = False
    quantities: ClassVar[tuple[str, ...]] = ("specificity", "sensitivity")

    # classes are true each for itself here, so that their shares do not add up to one
    prevalence: Beta = field(default_factory=lambda: Beta(1.0, 1.0))  # type: ignore[assignment]
    sensitivity: Beta = field(default_factory=lambda: Beta(8.0, 4.0))
    specificity: Beta = field(default_factory=lambda: Beta(16.0, 4.0))

    def prevalence_prior(self, n_classes: int) -> Floats:
        """Pseudo-counts of candidates that are not true and that are, shape [class, 2]."""
        return np.tile(self.prevalence.counts[::-1], (n_classes, 1))

    def anchor(self, n_classes: int) -> Floats:
        """Pseudo-counts of right and wrong: specificity and sensitivity, class after class."""
        return np.tile(np.stack([self.specificity.counts, self.sensitivity.counts]), (n_classes, 1))

    def _log_prevalence(self, prevalence: Floats) -> Floats:
        from scipy.stats import beta

        log_p = beta.logpdf(prevalence, self.prevalence.a, self.prevalence.b)
        return np.asarray(log_p.sum(axis=-1))

    def _sample_prevalence(self, n_weights: int, rng: np.random.Generator) -> Floats:
        share = rng.beta(self.prevalence.a, self.prevalence.b, n_weights)
        return np.clip(share, 1e-12, 1 - 1e-12)

    def _pymc_prevalence(self, n: int) -> Tensor:
        import pymc as pm

        return pm.Beta("prevalence", self.prevalence.a, self.prevalence.b, shape=n)

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        share, on, off = self.prevalence, self.sensitivity, self.specificity
        return [
            "Each interpretation of a mention is true or not, so that a mention may have none, one "
            "or several; a coder accepts true ones with a sensitivity and rejects others with a "
            "specificity that are their own for each class.",
            f"Share of true candidates of a class: Beta({share.a:g}, {share.b:g}).",
            f"Mean sensitivity of the coders: Beta({on.a:g}, {on.b:g}); mean specificity: "
            f"Beta({off.a:g}, {off.b:g}).",
            f"Concentration of the coders around them: {self.concentration.in_words}.",
        ]


@dataclass(frozen=True)
class SingleTruth(PairModel):
    r"""Exactly one interpretation of a mention is true, and coders choose.

    .. math::

        P(t_i = m) = \frac{\pi_{h(m)}}{\sum_{m'} \pi_{h(m')}}, \quad
        P(\text{j says } m \mid t_i = t) = \begin{cases} a_{jh(t)} & m = t \\
        (1 - a_{jh(t)}) / M_i & \text{else} \end{cases}

    where :math:`M_i` is the number of candidates: errors go to the others, or to something that is
    not listed, alike. Accuracies :math:`a_{jh} \sim \mathrm{Beta}(s \mu, s (1 - \mu))` as in
    :class:`MentionPairs`. A coder who gives several readings is right if the truth is among them.

    Parameters
    ----------
    concentration
        Prior of the concentrations of coders, in pseudo-decisions.
    prevalence
        Prior of the weights of the classes.
    accuracy
        Prior of the means of the population.
    none
        Whether "none of these" may be the truth; coders then take each candidate, or something
        that is not listed, alike.

    Examples
    --------
    >>> SingleTruth().accuracy
    Beta(a=8.0, b=4.0)
    """

    name: ClassVar[str] = "single"
    title: ClassVar[str] = "single-truth"
    citation: ClassVar[str] = "this package"
    single: ClassVar[bool] = True
    quantities: ClassVar[tuple[str, ...]] = ("accuracy",)

    prevalence: Dirichlet = field(default_factory=lambda: Dirichlet(1.0))
    accuracy: Beta = field(default_factory=lambda: Beta(8.0, 4.0))
    none: bool = False

    @property
    def has_none(self) -> bool:
        """Return True if "none of these" is a candidate."""
        return self.none

    def prevalence_prior(self, n_classes: int) -> Floats:
        """Pseudo-counts of the classes in the second column, shape [class, 2]."""
        alpha = self.prevalence.alpha(self.n_weights(n_classes))
        return np.stack([np.zeros(len(alpha)), alpha], axis=1)

    def anchor(self, n_classes: int) -> Floats:
        """Pseudo-counts of right and wrong, shape [class, 2]."""
        return np.tile(self.accuracy.counts, (n_classes, 1))

    def _log_prevalence(self, prevalence: Floats) -> Floats:
        alpha = self.prevalence.alpha(prevalence.shape[-1])
        constant = math.lgamma(alpha.sum()) - sum(math.lgamma(a) for a in alpha)
        return np.asarray(constant + ((alpha - 1) * np.log(prevalence)).sum(axis=-1))

    def _sample_prevalence(self, n_weights: int, rng: np.random.Generator) -> Floats:
        share = np.maximum(rng.dirichlet(self.prevalence.alpha(n_weights)), 1e-12)
        return np.asarray(share / share.sum())

    def _pymc_prevalence(self, n: int) -> Tensor:
        import pymc as pm

        return pm.Dirichlet("prevalence", a=self.prevalence.alpha(n))

    def describe(self) -> list[str]:
        """Assumptions and priors as text."""
        other = ', or "none of these",' if self.none else ""
        return [
            f"One of the interpretations of a mention{other} is true; a coder names it with an "
            "accuracy that is their own for each class, and else one of the others.",
            f"Weights of the classes: {self.prevalence.in_words}.",
            f"Mean accuracy of the coders: Beta({self.accuracy.a:g}, {self.accuracy.b:g}).",
            f"Concentration of the coders around it: {self.concentration.in_words}.",
        ]


def _by_candidate(codes: Candidates, values: Tensor, pt: ModuleType) -> Tensor:
    """Sum over the decisions on each candidate."""
    return pt.inc_subtensor(pt.zeros(len(codes.labels))[codes.candidate], values)


def _pairs(codes: Candidates, prevalence: Tensor, rate: Tensor, pt: ModuleType) -> Tensor:
    kind, yes = 2 * codes.cls[codes.candidate], codes.accepted == 1
    off, on = rate[codes.coder, kind], rate[codes.coder, kind + 1]
    rejected = pt.where(yes, pt.log1p(-off), pt.log(off))
    accepted = pt.where(yes, pt.log(on), pt.log1p(-on))
    share = prevalence[codes.cls]
    zero = pt.log1p(-share) + _by_candidate(codes, rejected, pt)
    one = pt.log(share) + _by_candidate(codes, accepted, pt)
    return pt.sum(pt.logaddexp(zero, one))


def _single(codes: Candidates, prevalence: Tensor, rate: Tensor, pt: ModuleType) -> Tensor:
    n_kinds = int(rate.type.shape[1])
    per_mention = np.diff(codes.firsts)
    is_none = codes.cls == n_kinds
    listed = np.add.reduceat(~is_none, codes.firsts[:-1])
    right = rate[codes.coder, codes.cls[codes.candidate]]
    spread = np.log(listed)[codes.mention][codes.candidate]
    said = pt.where(codes.accepted == 1, pt.log(right), pt.log1p(-right) - spread)
    blind = np.where(is_none, codes.judged()[codes.mention] * np.log1p(listed)[codes.mention], 0.0)
    weight = pt.log(prevalence)[codes.cls]
    joint = weight - blind + _by_candidate(codes, said, pt)
    # candidates side by side in a matrix, filled up with impossible ones
    column = np.arange(len(codes.labels)) - codes.firsts[codes.mention]
    room = pt.as_tensor(np.full((len(codes.items), int(per_mention.max())), -np.inf))
    place = codes.mention, column
    top = pt.logsumexp(pt.set_subtensor(room[place], joint), axis=1)
    norm = pt.logsumexp(pt.set_subtensor(room[place], weight), axis=1)
    return pt.sum(top - norm)
