"""Prior against data: a class that most coders take for another one, which the prior rules out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.models.parameters import ExpectedAccuracy
from annomodels.summaries.draws import model_of
from annomodels.summaries.trust.findings import CHECK, Finding
from annomodels.types import Floats

if TYPE_CHECKING:
    import xarray as xr

# standard deviations below what is expected, on average over the posterior, from which the coders
# contradict their prior
FAR = 3.0
# labels of a class from which coders can contradict it
FEWEST_TOLD = 30
NAMED = 5
NAME = "prior against data"


def prior_finding(tree: xr.DataTree, data: Annotations) -> Finding | None:
    """Judge whether a class is mostly taken for another, against what the prior of coders expects.

    The labels of settled items speak: those of each item count for each class by P(truth).

    None where the model expects nothing of a class from the others.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.
    """
    posterior = tree["posterior"].to_dataset()

    def draws_of(name: str) -> Floats:
        values = posterior[name].values
        return np.asarray(values.reshape(-1, *values.shape[2:]), dtype=float)

    if posterior.sizes["chain"] * posterior.sizes["draw"] < 2:
        return None
    try:
        found = model_of(tree).expected_accuracy(draws_of)
    except KeyError:  # a result of an earlier version, which kept less
        return None
    if found is None:
        return None
    p: Floats = tree["truth"].to_dataset()["p_truth"].values
    told = np.zeros((data.n_labels, data.n_labels))
    for label in range(data.n_labels):
        told[:, label] = p[data.item[data.label == label]].sum(axis=0)
    far = ((found.mean - found.seen) / found.spread).mean(axis=0)
    # a class that is but harder than others is what populations of coders are for
    given = told.sum(axis=1)
    mistaken = (told.argmax(axis=1) != np.arange(len(told))) & (given >= FEWEST_TOLD)
    value = float(np.where(mistaken, far, 0.0).max())
    if value < FAR:
        text = "No class is mostly taken for another one against what the prior of coders expects."
        return Finding(NAME, value, FAR, text)
    classes = np.flatnonzero(mistaken & (far >= FAR))
    said = "; ".join(_said(int(k), told, found, data) for k in classes[:NAMED])
    more = f"; and {len(classes) - NAMED:,} more" if len(classes) > NAMED else ""
    text = (
        f"Prior against data: {said}{more}. The prior expects most coders to know each class when "
        "they see it, and pulls coders, prevalence and P(truth) of such a class there. Give the "
        "known truth of some items of it; look whether coders understand it as you do; and "
        "compare am.models.HierarchicalDawidSkene(population=am.priors.Diagonal(6.0, 0.7, 10.0)), "
        "whose prior is weaker."
    )
    return Finding(NAME, value, FAR, text, CHECK)


def _said(k: int, told: Floats, found: ExpectedAccuracy, data: Annotations) -> str:
    """Say what coders call the items of a class, and what the prior expected."""
    share = told[k] / told[k].sum()
    other = int(share.argmax())
    name, instead = (label_text(data.labels[n]) for n in (k, other))
    mean, spread = found.mean[:, k].mean(), found.spread[:, k].mean()
    low, high = (min(max(mean + z * spread, 0.0), 1.0) for z in (-2.0, 2.0))
    return (
        f"coders are right on {found.seen[:, k].mean():.0%} of the items of {name}, and the prior "
        f"allows {low:.0%} to {high:.0%}; of the labels of these items {share[k]:.0%} are {name} "
        f"and {share[other]:.0%} {instead}"
    )
