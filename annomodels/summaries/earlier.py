"""What an earlier fit teaches a later one: its posterior as the prior of a model of its kind."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.errors import NotApplicable
from annomodels.models.base import Model
from annomodels.models.dawid_skene import DawidSkene, Pooled
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.priors import CoderRows, Dirichlet, LogNormal, Rows

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["dirichlet_like", "prior_from"]

Floats = NDArray[np.float64]
LEAST = 0.02


class Fitted(Protocol):
    """A fit: data, model and tree."""

    @property
    def data(self) -> Annotations:
        """What was fitted."""

    @property
    def model(self) -> Model:
        """The model with its priors."""

    @property
    def tree(self) -> xr.DataTree:
        """The tree of results."""


def prior_from(fit: Fitted, *, coders: bool = True, weight: float = 1.0) -> Model:
    r"""Give a model of the same kind whose priors are the posterior of an earlier fit.

    Every Dirichlet prior gets the posterior's means :math:`m_l` and the total pseudo-counts
    :math:`s = \sum_l m_l (1 - m_l) / \sum_l v_l - 1` that give its variances :math:`v_l`; the
    concentration of the coders a log-normal prior with the mean and standard deviation of its
    logarithm over all classes.

    Parameters
    ----------
    fit
        A fit of the models ``hierarchical``, ``dawid-skene`` or ``pooled``, by ``gibbs`` or
        ``nuts``.
    coders
        Whether coders that come back, by name, start from their own rows (``hierarchical`` only).
        Without, they are new members of the population.
    weight
        Share of the pseudo-counts to keep: 1 takes the earlier evidence at face value, .2 counts
        five of its labels as one, for guidelines or material that have changed.

    Returns
    -------
    Model
        It can be printed, compared, written down, and fitted to data with the same labels.

    Raises
    ------
    NotApplicable
        When the fit is of another model, or by ``em``, which has no posterior.
    ValueError
        When the weight is not above 0 and at most 1.

    Notes
    -----
    The coders of the earlier fit taught the population what it is; those who come back stand for
    themselves from then on, so that nothing is counted twice. Dependence between parameters in the
    posterior is not carried over.

    Examples
    --------
    >>> import annomodels as am
    >>> first = am.fit(am.datasets.load("anesthesia"), chains=2, draws=200, seed=1)
    >>> later = am.prior_from(first)
    >>> len(later.returning), later.prevalence.shares[0] > later.prevalence.shares[3]
    (5, True)
    """
    if not 0 < weight <= 1:
        raise ValueError(f"The weight is {weight}; give a number above 0 and at most 1.")
    model = fit.model
    if fit.tree.attrs.get("engine") == "em":
        raise NotApplicable("The engine em has no posterior to take priors from: use gibbs.")
    if not isinstance(model, HierarchicalDawidSkene | DawidSkene):
        raise NotApplicable(
            f"Priors cannot be taken from a fit of the {model.title} model. "
            "Use hierarchical, dawid-skene or pooled."
        )
    posterior = fit.tree["posterior"].to_dataset()
    if "group_population" in posterior:
        raise NotApplicable(
            "Priors cannot be taken from a fit with several groups of coders. Use hierarchical."
        )

    def draws(name: str) -> Floats:
        values: Floats = posterior[name].values.astype(float)
        return values.reshape(-1, *values.shape[2:])

    labels = tuple(label_text(name) for name in fit.data.labels)
    prevalence = dirichlet_like(draws("prevalence")) * weight
    total = float(prevalence.sum())
    shares = tuple(float(x) for x in prevalence / total)
    common: dict[str, Any] = {"prevalence": Dirichlet(total / len(labels), shares)}
    if isinstance(model, HierarchicalDawidSkene):
        logs = np.log(draws("concentration"))
        spread = math.hypot(float(logs.std()), 1e-3) / math.sqrt(weight)
        confusion = draws("confusion")
        returning = [
            CoderRows(_table(dirichlet_like(confusion[:, j]) * weight), labels, label_text(name))
            for j, name in enumerate(fit.data.coders)
        ]
        return replace(
            model,
            **common,
            population=Rows(_table(dirichlet_like(draws("population")) * weight), labels),
            concentration=LogNormal(float(np.exp(logs.mean())), spread),
            returning=tuple(returning) if coders else (),
            places=(),
        )
    confusion = draws("confusion")
    if not isinstance(model, Pooled):
        # a new coder is any of the coders there were
        confusion = confusion.reshape(-1, *confusion.shape[2:])
    return replace(
        model, **common, confusion=Rows(_table(dirichlet_like(confusion) * weight), labels)
    )


def dirichlet_like(draws: Floats) -> Floats:
    """Pseudo-counts of the Dirichlet distributions with the moments of draws [draw, ..., class].

    Examples
    --------
    >>> found = dirichlet_like(np.random.default_rng(1).dirichlet([6.0, 3.0], 20_000))
    >>> found.round()
    array([6., 3.])
    """
    mean = draws.mean(axis=0)
    variance = np.maximum(draws.var(axis=0).sum(axis=-1), 1e-12)
    total = (mean * (1 - mean)).sum(axis=-1) / variance - 1
    return np.asarray(np.maximum(mean * np.maximum(total, 1.0)[..., None], LEAST))


def _table(counts: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in np.maximum(row, LEAST)) for row in counts)
