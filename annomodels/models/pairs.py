"""Pairs of mentions and antecedents: true readings, estimated from decisions of coders."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import ClassVar, Literal

import numpy as np

from annomodels.data.candidates import NONE, Candidates
from annomodels.models.base import Model
from annomodels.models.parameters import Defined, DrawnVariables, Known, Parameter, Variables
from annomodels.priors import Beta, Dirichlet, LogNormal, ScalePrior
from annomodels.priors.distributions import Betas, DirichletRows
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
        """Build the values from draws by name."""
        return cls(*(np.asarray(posterior[each.name], dtype=float) for each in fields(cls)))


@dataclass(frozen=True)
class PairModel(Model):
    """Base of both pair models: rates of coders are Beta around a population mean."""

    truth: ClassVar[Literal["class", "number", "link"]] = "link"
    engines: ClassVar[tuple[str, ...]] = ("gibbs", "nuts")
    single: ClassVar[bool]
    # names of the rates of each class, and of the fields with the priors of their means
    quantities: ClassVar[tuple[str, ...]]
    concentration: ScalePrior = field(default_factory=lambda: LogNormal(10.0, 1.0))

    @property
    def has_none(self) -> bool:
        """Return True if "none of these" is a candidate."""
        return False

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        anchor = self.anchor(n_labels)
        means = "; ".join(f"mean {each} {prior.in_words}" for each, prior in self.means)

        def rates(v: Variables) -> Betas:
            mean, concentration = v["mean"][..., None, :], v["concentration"][..., None, :]
            return Betas(concentration * mean, concentration * (1 - mean))

        return (
            self.prevalence_parameter(self.n_weights(n_labels)),
            Parameter(
                "mean", ("kind",), "unit", prior=Betas(anchor[:, 0], anchor[:, 1]),
                about=f"Population of the coders: {means}.",
            ),
            Parameter(
                "concentration", ("kind",), "positive", prior=self.concentration,
                about=f"Concentration of the coders around it: {self.concentration.in_words}.",
            ),
            Parameter("rate", ("coder", "kind"), "unit", prior=rates),
            # with the truth summed out; it monitors the mixing of the many coder rates
            Parameter("log_likelihood"),
        )  # fmt: skip

    @abstractmethod
    def prevalence_parameter(self, n_weights: int) -> Parameter:
        """Declare the prevalence of the classes."""

    def encode(self, data: Candidates) -> Candidates:
        """Return the candidates, with "none of these" if the model allows it."""
        return data.with_none() if self.has_none else data

    def coords(self, labels: Sequence[str]) -> dict[str, list[str]]:
        return {
            "class": [*labels, NONE] if self.has_none else [*labels],
            "kind": [f"{q} of {name}" for name in labels for q in self.quantities],
            "number": ["none", "one", "several"],
        }

    @abstractmethod
    def prevalence_prior(self, n_classes: int) -> Floats:
        """Return the pseudo-counts of the prevalence, shape [class, 2]."""

    @property
    def means(self) -> list[tuple[str, Beta]]:
        """Names of the rates of a class, with the priors of their population means."""
        return [(name, getattr(self, name)) for name in self.quantities]

    def anchor(self, n_classes: int) -> Floats:
        """Return the pseudo-counts of the population means, shape [kind, 2]."""
        return np.tile(np.stack([prior.counts for _, prior in self.means]), (n_classes, 1))

    def n_weights(self, n_classes: int) -> int:
        """Return the number of classes, including "none of these"."""
        return n_classes + self.has_none

    def log_prior(self, values: dict[str, Floats]) -> Floats:
        """Return the log prior density, with the leading dimensions of the values."""
        shape, own = values["mean"].shape, {each.name for each in fields(PairValues)}
        n_classes, lead = shape[-1] // len(self.quantities), shape[:-1]
        known = {n: np.reshape(values[n], (-1, *values[n].shape[len(lead) :])) for n in own}
        found = Known(self.variables(n_classes), n_classes, known).log_priors()
        return np.reshape(sum(found.values()), lead)

    def sample_parameters(
        self, n_coders: int, n_classes: int, rng: np.random.Generator
    ) -> PairValues:
        """Draw parameters from the prior."""
        sizes = {
            "truth": n_classes, "class": self.n_weights(n_classes), "coder": n_coders,
            "kind": n_classes * len(self.quantities),
        }  # fmt: skip
        drawn = DrawnVariables(self.variables(n_classes), sizes, rng)
        rate = drawn["rate"]
        prevalence, mean, concentration = (
            drawn[name] for name in ("prevalence", "mean", "concentration")
        )
        return PairValues(prevalence, mean, concentration, rate)

    def build(self, codes: Candidates, coords: dict[str, list[str]]) -> PyMCModel:
        # variables: prevalence [class], mean and concentration [kind], rate [coder, kind]
        import pymc as pm
        import pytensor.tensor as pt

        n_classes = len(codes.classes) - self.has_none
        sizes = {
            "class": len(codes.classes), "coder": len(codes.coders),
            "kind": n_classes * len(self.quantities),
        }  # fmt: skip
        ranges = {dim: range(size) for dim, size in sizes.items()}
        with pm.Model(coords={**ranges, **coords}) as built:
            v = Defined(self.variables(n_classes), n_classes)
            said = _single if self.single else _pairs
            total = said(codes, v["prevalence"], v["rate"], n_classes, pt)
            pm.Potential("decisions", total)
        return built


@dataclass(frozen=True)
class MentionPairs(PairModel):
    r"""Each interpretation of a mention is true or false; none, one or several are true.

    .. math::

        c_{im} \sim \mathrm{Bernoulli}(\pi_h), \quad
        P(\text{j accepts } m \mid c_{im} = 1) = \alpha_{jh}, \quad
        P(\text{j rejects } m \mid c_{im} = 0) = \beta_{jh}

    for each candidate m, of class h, of mention i. An answer of a coder is a decision on every
    candidate of the mention. Sensitivities :math:`\alpha_{jh} \sim \mathrm{Beta}(s \mu, s (1 -
    \mu))` come from a population with an estimated mean :math:`\mu` and concentration s for each
    class; so do the specificities :math:`\beta_{jh}`. The priors of the means are better than
    chance, which keeps true and false from being swapped.

    Parameters
    ----------
    concentration
        Prior of the concentrations of coders, in pseudo-decisions.
    prevalence
        Prior of the proportion of true candidates of a class.
    sensitivity, specificity
        Priors of the population means.

    References
    ----------
    S. Paun, J. Chamberlain, U. Kruschwitz, J. Yu, M. Poesio (2018). A probabilistic annotation
    model for crowdsourcing coreference. EMNLP, doi:10.18653/v1/D18-1218. In the paper, coders are
    independent, with Beta(1, 1) priors.

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

    # each class has a separate probability, so the probabilities do not sum to one
    prevalence: Beta = field(default_factory=lambda: Beta(1.0, 1.0))  # type: ignore[assignment]
    sensitivity: Beta = field(default_factory=lambda: Beta(8.0, 4.0))
    specificity: Beta = field(default_factory=lambda: Beta(16.0, 4.0))

    def prevalence_prior(self, n_classes: int) -> Floats:
        return np.tile(self.prevalence.counts[::-1], (n_classes, 1))

    def prevalence_parameter(self, n_weights: int) -> Parameter:
        about = f"Share of true candidates of a class: {self.prevalence.in_words}."
        return Parameter("prevalence", ("class",), "unit", prior=self.prevalence, about=about)

    def story(self) -> list[str]:
        return [
            "Each interpretation of a mention is true or not, so a mention may have no, one or "
            "several true interpretations; each coder has a sensitivity for true ones and a "
            "specificity for others, for each class."
        ]


@dataclass(frozen=True)
class SingleTruth(PairModel):
    r"""Exactly one interpretation of a mention is true, and coders choose one.

    .. math::

        P(t_i = m) = \frac{\pi_{h(m)}}{\sum_{m'} \pi_{h(m')}}, \quad
        P(\text{j says } m \mid t_i = t) = \begin{cases} a_{jh(t)} & m = t \\
        (1 - a_{jh(t)}) / M_i & \text{else} \end{cases}

    where :math:`M_i` is the number of candidates: errors are uniform over the other candidates and
    unlisted readings. Accuracies are :math:`a_{jh} \sim \mathrm{Beta}(s \mu, s (1 - \mu))`, as in
    :class:`MentionPairs`. A coder who gives several readings is right if one of them is true.

    Parameters
    ----------
    concentration
        Prior of the concentrations of coders, in pseudo-decisions.
    prevalence
        Prior of the weights of the classes.
    accuracy
        Prior of the population means.
    none
        Whether "none of these" may be the truth; coders then choose uniformly among the candidates
        and unlisted readings.

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
        return self.none

    def prevalence_prior(self, n_classes: int) -> Floats:
        alpha = self.prevalence.alpha(self.n_weights(n_classes))
        return np.stack([np.zeros(len(alpha)), alpha], axis=1)

    def prevalence_parameter(self, n_weights: int) -> Parameter:
        return Parameter(
            "prevalence", ("class",), "simplex",
            prior=DirichletRows(self.prevalence.alpha(n_weights)),
            about=f"Weights of the classes: {self.prevalence.in_words}.",
        )  # fmt: skip

    def story(self) -> list[str]:
        other = ', or "none of these",' if self.none else ""
        return [
            f"One of the interpretations of a mention{other} is true; each coder names it with an "
            "accuracy for each class, and otherwise names one of the others."
        ]


def _by_candidate(codes: Candidates, values: Tensor, pt: ModuleType) -> Tensor:
    return pt.inc_subtensor(pt.zeros(len(codes.labels))[codes.candidate], values)


def _pairs(codes: Candidates, prevalence: Tensor, rate: Tensor, _: int, pt: ModuleType) -> Tensor:
    kind, yes = 2 * codes.cls[codes.candidate], codes.accepted == 1
    off, on = rate[codes.coder, kind], rate[codes.coder, kind + 1]
    rejected = pt.where(yes, pt.log1p(-off), pt.log(off))
    accepted = pt.where(yes, pt.log(on), pt.log1p(-on))
    share = prevalence[codes.cls]
    zero = pt.log1p(-share) + _by_candidate(codes, rejected, pt)
    one = pt.log(share) + _by_candidate(codes, accepted, pt)
    return pt.sum(pt.logaddexp(zero, one))


def _single(
    codes: Candidates, prevalence: Tensor, rate: Tensor, n_classes: int, pt: ModuleType
) -> Tensor:
    per_mention = np.diff(codes.firsts)
    is_none = codes.cls == n_classes
    listed = np.add.reduceat(~is_none, codes.firsts[:-1])
    right = rate[codes.coder, codes.cls[codes.candidate]]
    spread = np.log(listed)[codes.mention][codes.candidate]
    said = pt.where(codes.accepted == 1, pt.log(right), pt.log1p(-right) - spread)
    blind = np.where(is_none, codes.judged()[codes.mention] * np.log1p(listed)[codes.mention], 0.0)
    weight = pt.log(prevalence)[codes.cls]
    joint = weight - blind + _by_candidate(codes, said, pt)
    # matrix [mention, candidate], padded with impossible candidates
    column = np.arange(len(codes.labels)) - codes.firsts[codes.mention]
    room = pt.as_tensor(np.full((len(codes.items), int(per_mention.max())), -np.inf))
    place = codes.mention, column
    top = pt.logsumexp(pt.set_subtensor(room[place], joint), axis=1)
    norm = pt.logsumexp(pt.set_subtensor(room[place], weight), axis=1)
    return pt.sum(top - norm)
