"""Opinion pool: P(truth) from several models, each believed only so far."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.models.base import Model
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.mixtures.ambiguous import Ambiguous
from annomodels.models.mixtures.readings import Readings
from annomodels.priors import Beta
from annomodels.types import Floats


@dataclass(frozen=True)
class OpinionPool(Readings):
    r"""Readings, whose P(truth) is pooled with that of other models, each believed only so far.

    .. math::

        P(truth_i = k) = (1 - e) \frac{\prod_m P_m(truth_i = k)^{w_m}}
                                      {\sum_l \prod_m P_m(truth_i = l)^{w_m}} + \frac{e}{K},
        \quad \log w_m \sim N(\log \omega_m, s^2), \quad e \sim Beta(a, b)

    This is a logarithmic opinion pool (Genest & Zidek 1986, doi:10.1214/ss/1177013825) of models
    that are each fitted to the labels alone. Weights below 1 say that a model is surer than it
    should be: Dawid-Skene, which takes labels of an item for independent, by far the most. The sum
    of the weights is not fixed, and a share e of the items has a truth that the crowd knows nothing
    of. Without known truth both keep their prior, over which P(truth) is averaged; items of known
    truth teach them.

    All else, coders, states of items, checks, is that of the readings, fitted with the known truth.

    Parameters
    ----------
    others
        The models beside the readings.
    weights
        Prior medians :math:`\omega` of the weights: of the readings, and of each other model.
    spread
        Prior standard deviation s of the logarithm of a weight.
    error
        Prior of the share of items of whose truth the crowd knows nothing.
    least
        Smallest probability that a model is believed to mean; smaller ones count as this.

    Examples
    --------
    >>> OpinionPool().names
    ('readings', 'ambiguous', 'hierarchical')
    """

    name: ClassVar[str] = "opinion-pool"
    title: ClassVar[str] = "opinion pool"
    citation: ClassVar[str] = "this package, after Genest & Zidek (1986)"
    pools: ClassVar[bool] = True

    others: tuple[Model, ...] = field(
        default_factory=lambda: (Ambiguous(), HierarchicalDawidSkene())
    )
    weights: tuple[float, ...] = (0.6, 0.1, 0.05)
    spread: float = 0.5
    error: Beta = field(default_factory=lambda: Beta(0.15, 20.0))
    least: float = 1e-9

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.weights) != 1 + len(self.others) or min(self.weights) <= 0:
            raise ValueError(
                "An opinion pool needs a weight above 0 for the readings and for each other model."
            )
        if self.spread <= 0 or not 0 < self.least < 1:
            raise ValueError("An opinion pool needs a spread above 0 and a least in (0, 1).")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models that are pooled."""
        return (Readings.name, *(model.name for model in self.others))

    @property
    def readings(self) -> Readings:
        """The first of the models, whose posterior that of the pool is."""
        return Readings(**{f.name: getattr(self, f.name) for f in fields(Readings)})

    def bound(self, data: Annotations) -> Self:
        """Copy that knows the data it will be fitted to, with all of its models."""
        known = super().bound(data)
        return replace(known, others=tuple(model.bound(data) for model in self.others))

    def build_pool(self, log_p: Floats, truth: NDArray[np.int64]) -> Any:
        """Build the PyMC model of the weights and the error.

        Parameters
        ----------
        log_p
            Log P(truth) of each model for the items of known truth, shape [model, item, truth].
        truth
            Their truth, shape [item].

        Returns
        -------
        pymc.Model
        """
        import pymc as pm
        import pytensor.tensor as pt

        with pm.Model(coords={"member": self.names}) as pymc_model:
            centre = np.log(self.weights)
            weight = pm.LogNormal("weight", mu=centre, sigma=self.spread, dims="member")
            error = pm.Beta("error", self.error.a, self.error.b)
            pooled = (weight[:, None, None] * log_p).sum(axis=0)
            pooled = pooled - pt.logsumexp(pooled, axis=1, keepdims=True)
            of_truth = pooled[np.arange(len(truth)), truth]
            flat = pt.log(error) - np.log(log_p.shape[2])
            pm.Potential("truth", pt.logaddexp(pt.log1p(-error) + of_truth, flat).sum())
        return pymc_model

    def describe(self) -> list[str]:
        """Story and priors in sentences."""
        shares = ", ".join(
            f"{name} {weight:g}" for name, weight in zip(self.names, self.weights, strict=True)
        )
        return [
            *super().describe(),
            "P(truth) is pooled from models that are each fitted to the labels alone, the "
            f"logarithms of their probabilities weighted: {shares} (prior medians; the standard "
            f"deviation of the logarithm is {self.spread:g}).",
            f"The crowd knows nothing of a share of the items, {self.error.mean:.1%} by the prior.",
            "Only known gold can teach the weights and that share.",
        ]


def pooled_probabilities(log_p: Floats, weight: Floats, error: Floats) -> Floats:
    """P(truth) of a pool under some weights and errors, shape [draw, item, truth].

    Parameters
    ----------
    log_p
        Log P(truth) of each model, shape [model, item, truth].
    weight, error
        Shapes [draw, model] and [draw].

    Examples
    --------
    >>> log_p = np.log([[[0.8, 0.2]], [[0.5, 0.5]]])
    >>> pooled_probabilities(log_p, np.array([[1.0, 0.3]]), np.array([0.1])).round(2)
    array([[[0.77, 0.23]]])
    """
    p = np.einsum("dm,mik->dik", weight, log_p)
    p = np.exp(p - p.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    e = error[:, None, None]
    return np.asarray((1.0 - e) * p + e / p.shape[2])
