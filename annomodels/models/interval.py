"""Interval labels: the truth is a number, and coders have a bias, a scale and noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import Model
from annomodels.models.numeric import POPULATION, SAMPLED, NumericLabels, numeric_labels
from annomodels.models.observed import observed, observed_sparse
from annomodels.models.parameters import Defined, Parameter, Variables
from annomodels.priors import HalfNormal, LogNormal
from annomodels.priors.distributions import Gamma, Normal
from annomodels.types import Floats, PyMCModel, TensorLike

if TYPE_CHECKING:
    from pytensor.sparse import SparseVariable
    from scipy.sparse import csr_matrix


@dataclass(frozen=True)
class Interval(Model):
    r"""Gaussian truth; coders have a bias, a scale and noise, items have a difficulty.

    .. math::

        x_i \sim N(\mu, \tau^2), \quad
        b_j \sim N(0, \sigma_b^2), \quad s_j \sim N(1, \sigma_s^2), \quad
        \sigma_j^{-2} \sim \Gamma(2 + \alpha, (1 + \alpha) v), \quad
        \delta_i^{-2} \sim \Gamma(2 + \beta, 1 + \beta)

    .. math::

        y_n = \text{round}(y_n^*), \quad
        y_n^* \sim N(\mu + b_j + s_j (x_i - \mu), \; \delta_i^2 \sigma_j^2)

    The bias of a coder is the mean deviation of the coder's labels at the average item. In the
    population of coders, scales have mean 1 and biases have mean 0, so the truth has the scale of
    the labels. The mean of the coders' variances is v, and the mean of the squared difficulties is
    1, so both are identified.
    If coders disagree on an item, the item has a difficulty above 1, and its labels have less
    weight in the estimates of the coders: they have a Student t distribution with at least four
    degrees of freedom. A negative scale means that the coder uses a reversed scale.

    Labels are rounded to the steps of the scale, and a label at an end of the scale means this
    value or anything beyond. If all coders answer 0, the truth may be 0 or below and remains
    uncertain.

    Parameters
    ----------
    location
        Standard deviation of the normal prior of the mean truth.
    truth_spread, bias_spread, scale_spread
        Priors of the standard deviations of truths, biases and scales.
    noise
        Prior of the coders' noise, the square root of their mean variance.
    coder_shape, item_shape
        Priors of the similarity of the coders' variances and of the items' difficulties; large
        values mean similar.
    centre, unit
        Zero point and unit of all priors, as numbers on the scale of the labels; None uses the mean
        and standard deviation of all labels.
    step
        Step of the scale; None uses the smallest difference between observed labels, 0 treats
        labels as exact (for fine scales without ends; mixes faster).
    ends
        Smallest and largest label of the scale; None treats an extreme as an end if it has at least
        2 % of the labels.

    References
    ----------
    The additive part is the two-way random effects model of the intraclass correlation (Shrout &
    Fleiss 1979, doi:10.1037/0033-2909.86.2.420); scale and precision of coders as in Raykar et al.
    (2010), Learning from crowds, JMLR 11.

    Examples
    --------
    >>> Interval().noise
    HalfNormal(spread=1.0)
    """

    name: ClassVar[str] = "interval"
    title: ClassVar[str] = "interval"
    citation: ClassVar[str] = "Shrout & Fleiss (1979), Raykar et al. (2010)"
    truth: ClassVar[Literal["class", "number", "link"]] = "number"
    engines: ClassVar[tuple[str, ...]] = ("gibbs", "nuts")

    location: float = 1.0
    truth_spread: HalfNormal = field(default_factory=lambda: HalfNormal(1.0))
    bias_spread: HalfNormal = field(default_factory=lambda: HalfNormal(0.5))
    scale_spread: HalfNormal = field(default_factory=lambda: HalfNormal(0.5))
    noise: HalfNormal = field(default_factory=lambda: HalfNormal(1.0))
    coder_shape: LogNormal = field(default_factory=lambda: LogNormal(1.0, 1.0))
    item_shape: LogNormal = field(default_factory=lambda: LogNormal(4.0, 1.0))
    centre: float | None = None
    unit: float | None = None
    step: float | None = None
    ends: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.location < math.inf:
            raise ValueError(f"The location needs a spread > 0, not {self.location!r}.")
        if self.unit is not None and not 0 < self.unit < math.inf:
            raise ValueError(f"The unit must be above 0, not {self.unit!r}.")
        if self.step is not None and not 0 <= self.step < math.inf:
            raise ValueError(f"The step must be 0 or more, not {self.step!r}.")
        if self.ends is not None and not self.ends[0] < self.ends[1]:
            raise ValueError(f"The ends must be in order, not {self.ends!r}.")

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        """Declare the variables of the posterior, in label units."""
        mean, *positive = POPULATION
        standard = Normal(0.0, 1.0)

        def precision(v: Variables) -> Gamma:
            alpha, noise = v["coder_shape"][..., None], v["noise"][..., None]
            return Gamma(2.0 + alpha, (1.0 + alpha) * noise**2)

        def ease(v: Variables) -> Gamma:
            beta = v["item_shape"][..., None]
            return Gamma(2.0 + beta, 1.0 + beta)

        return (
            Parameter(
                mean, prior=Normal(0.0, self.location),
                about="Priors in units of the standard deviation of all labels: mean truth normal "
                f"with spread {self.location:g}; spread of truths half-normal "
                f"({self.truth_spread.spread:g}), of biases ({self.bias_spread.spread:g}), of "
                f"scales ({self.scale_spread.spread:g}), noise ({self.noise.spread:g}).",
            ),
            *(Parameter(name, (), "positive", prior=getattr(self, name)) for name in positive),
            Parameter(
                "bias", ("coder",), follows=lambda v: v["bias_spread"][..., None] * v["bias_raw"],
                about=f"Similarity of the coders' variances {self.coder_shape.in_words}; of the "
                f"items' difficulties {self.item_shape.in_words}.",
            ),
            Parameter(
                "scale", ("coder",),
                follows=lambda v: 1.0 + v["scale_spread"][..., None] * v["scale_raw"],
            ),
            Parameter(
                "noise_sd", ("coder",), "positive", watched="",
                follows=lambda v: v["precision"] ** -0.5,
            ),
            # in units of their spreads, so that the sampler can explore small spreads
            Parameter("bias_raw", ("coder",), prior=standard, kept=False),
            Parameter("scale_raw", ("coder",), prior=standard, kept=False),
            Parameter("precision", ("coder",), "positive", prior=precision, kept=False),
            Parameter("ease", ("item",), "positive", prior=ease, kept=False),
        )  # fmt: skip

    def encode(self, data: Annotations) -> NumericLabels:
        """Encode annotations in standard units, with the steps and ends of this model.

        Rejects data without numbers, or in which noise and truth are not identified.
        """
        return numeric_labels(data, self.centre, self.unit, self.step, self.ends)

    def story(self) -> list[str]:
        return [
            "Every item has a true value, drawn from a normal distribution; every coder adds a "
            "bias, stretches distances from the mean truth by a scale, and adds normal noise; "
            "every item multiplies that noise by its difficulty. The result is rounded to a step "
            "of the scale; a result beyond an end of the scale becomes that end.",
            "Biases average 0 and scales 1 over the population of coders, whose spreads are "
            "estimated.",
        ]

    def prior_numbers(self) -> Floats:
        """Return the priors in the format of ``kernels.interval``."""
        spreads = (self.truth_spread, self.bias_spread, self.scale_spread, self.noise)
        shapes = (self.coder_shape, self.item_shape)
        tail = [number for s in shapes for number in (math.log(s.median), s.spread)]
        return np.array([self.location, *(s.spread for s in spreads), *tail])

    @staticmethod
    def mean_labels(
        values: Mapping[str, TensorLike], item: TensorLike, coder: TensorLike
    ) -> TensorLike:
        """Return the means of labels [annotation], without rounding and censoring."""
        deviation = values["truth"][item] - values["truth_mean"]
        return values["truth_mean"] + values["bias"][coder] + values["scale"][coder] * deviation

    def build(self, labels: NumericLabels, coords: dict[str, list[str]]) -> PyMCModel:
        import pymc as pm
        import pytensor.tensor as pt

        with pm.Model(coords=coords) as model:
            declared = Defined(self.variables(0), 0)
            v: dict[str, Any] = {name: declared[name] for name in SAMPLED if name in declared}
            if labels.exact:
                pm.Potential("labels", labels_logp(pt, v, labels))
                return model
            given = np.isfinite(labels.known)
            z = pm.Normal("truth_raw", shape=int((~given).sum()))
            free = v["truth_mean"] + v["truth_spread"] * z
            known = observed("known", np.where(given, labels.known, 0.0))
            truth = pt.set_subtensor(known[observed("open", np.flatnonzero(~given))], free)
            v["truth"] = pm.Deterministic("truth", truth, dims="item")
            if given.any():
                own = pm.Normal.dist(v["truth_mean"], v["truth_spread"])
                places = observed("given", np.flatnonzero(given))
                pm.Potential("known", pt.sum(pm.logp(own, known[places])))
            pm.Potential("labels", _log_cells(v, labels))
        return model


def labels_logp(xp: ModuleType, v: Mapping[str, TensorLike], labels: NumericLabels) -> TensorLike:
    """Return the log density of the labels, for NumPy arrays and PyTensor variables."""
    # the labels of an item are jointly normal with covariance D + tau^2 s s'; its determinant and
    # inverse follow from sums over the labels (Sherman & Morrison 1950)
    of = (lambda _, values: values) if xp is np else observed
    item, coder = of("item", labels.item), of("coder", labels.coder)
    weight = v["ease"][item] * v["precision"][coder]
    s = v["scale"][coder]
    rest = of("y", labels.y) - v["truth_mean"] - v["bias"][coder]
    columns = xp.stack([weight * s * s, weight * s * rest, weight * rest * rest], axis=1)
    sums = _sums(xp, columns, labels)
    a, b, square = sums[:, 0], sums[:, 1], sums[:, 2]
    tau2 = v["truth_spread"] ** 2
    grown = 1.0 + tau2 * a
    open_ = of("open", np.flatnonzero(np.isnan(labels.known)))
    total = 0.5 * xp.sum(xp.log(weight)) - 0.5 * rest.shape[0] * math.log(2 * math.pi)
    unknown = square - tau2 * b * b / grown + xp.log(grown)
    total = total - 0.5 * xp.sum(unknown[open_])
    places = np.flatnonzero(~np.isnan(labels.known))
    if len(places):
        given = of("given", places)
        d = of("known", labels.known[places]) - v["truth_mean"]
        residual = square[given] - 2.0 * d * b[given] + d * d * a[given]
        own = d * d / tau2 + 2.0 * xp.log(v["truth_spread"]) + math.log(2 * math.pi)
        total = total - 0.5 * xp.sum(residual + own)
    return total


def _log_cells(v: Mapping[str, TensorLike], labels: NumericLabels) -> TensorLike:
    """Return the log probability of rounded and censored labels, as a tensor."""
    import pymc as pm
    import pytensor.tensor as pt

    item, coder = observed("item", labels.item), observed("coder", labels.coder)
    sd = (v["ease"][item] * v["precision"][coder]) ** -0.5
    mean = Interval.mean_labels(v, item, coder)
    # a very distant end represents an infinite one
    ends = {"low": labels.low, "high": labels.high}
    low, high = (observed(name, np.clip(x, -1e6, 1e6)) for name, x in ends.items())
    a, b = (low - mean) / sd, (high - mean) / sd
    # reflect to the lower tail, where small probabilities keep their precision
    flip = a + b > 0
    a, b = pt.switch(flip, -b, a), pt.switch(flip, -a, b)
    lower, upper = (pm.logcdf(pm.Normal.dist(), x) for x in (a, b))
    return pt.sum(upper + pt.log1mexp(lower - upper))


def _sums(xp: object, columns: object, labels: NumericLabels) -> csr_matrix | SparseVariable:
    """Sum columns [annotation, column] over each item's labels, shape [item, column]."""
    from scipy.sparse import csr_matrix

    n = len(labels.y)
    table = csr_matrix((np.ones(n), (labels.item, np.arange(n))), shape=(labels.n_items, n))
    if xp is np:
        return table @ columns
    from pytensor import sparse

    return sparse.structured_dot(observed_sparse("of_item", table), columns)
