"""Posterior of an earlier fit as the prior of a model of the same kind."""

from __future__ import annotations

from annomodels.data.names import label_text
from annomodels.errors import NotApplicable
from annomodels.fitting.fit import Fit
from annomodels.models.base import Earlier, Model, Updatable
from annomodels.types import Floats


def prior_from(fit: Fit, *, coders: bool = True, weight: float = 1.0) -> Model:
    r"""Return a model of the same kind whose priors are the posterior of an earlier fit.

    Every Dirichlet prior gets the posterior's means :math:`m_l` and the total pseudo-counts
    :math:`s = \sum_l m_l (1 - m_l) / \sum_l v_l - 1` that give its variances :math:`v_l`. The
    concentration of the coders gets a log-normal prior with the mean and standard deviation of its
    logarithm over all classes.

    Parameters
    ----------
    fit
        A fit of the models ``hierarchical``, ``dawid-skene`` or ``pooled``, by ``gibbs`` or
        ``nuts``.
    coders
        True if returning coders, matched by name, start from their earlier rows (``hierarchical``
        only). Otherwise they are new members of the population.
    weight
        Fraction of the pseudo-counts to keep: 1 keeps all earlier evidence, 0.2 counts five of its
        labels as one, for example after a change of guidelines or material.

    Returns
    -------
    Model
        Model that can be printed, compared, saved, and fitted to data with the same labels.

    Raises
    ------
    NotApplicable
        If the fit is of another model, or used ``em``, which has no posterior.
    ValueError
        If the weight is not above 0 and at most 1.

    Notes
    -----
    The population prior includes the coders of the earlier fit. Returning coders start from their
    own rows and leave the population, so that no label counts twice. Dependence between
    parameters in the posterior is not carried over.

    Examples
    --------
    >>> import annomodels as am
    >>> first = am.fit(am.datasets.load("anesthesia"), "hierarchical", chains=2, draws=200, seed=1)
    >>> later = am.prior_from(first)
    >>> len(later.returning), later.prevalence.shares[0] > later.prevalence.shares[3]
    (5, True)
    """
    if not 0 < weight <= 1:
        raise ValueError(f"The weight is {weight}; give a number above 0 and at most 1.")
    model = fit.model
    if fit.tree.attrs.get("engine") == "em":
        raise NotApplicable("The engine em has no posterior to use as a prior: use gibbs.")
    posterior = fit.tree["posterior"].to_dataset()

    def draws_of(name: str) -> Floats:
        values: Floats = posterior[name].values.astype(float)
        return values.reshape(-1, *values.shape[2:])

    labels = tuple(label_text(name) for name in fit.data.labels)
    names = tuple(label_text(name) for name in fit.data.coders)
    if not isinstance(model, Updatable):
        raise NotApplicable(
            f"Priors cannot be taken from a fit of the {model.title} model. "
            "Use hierarchical, dawid-skene or pooled."
        )
    return model.updated(Earlier(draws_of, labels, names, weight, coders))
