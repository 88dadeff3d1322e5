"""Return True if the labels can tell what columns about items are worth."""

from __future__ import annotations

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.validation import counted
from annomodels.summaries.draws import model_of, thinned
from annomodels.summaries.trust.findings import Finding, finding
from annomodels.types import Floats

# items of one value below which a coefficient is mostly its prior, share of the variance of a term
# that the class explains from which the two cannot be told apart, and reach of a column, in its
# standard deviations, from which a few items decide
FEW, EXPLAINED, FAR = 10, 0.8, 15.0


def item_terms_finding(tree: xr.DataTree, data: Annotations) -> Finding | None:
    """Find terms of items whose coefficient rests on the prior, on few items, or on the class."""
    model = model_of(tree)
    declared = model.parameters(data.n_labels)
    terms = [t for each in declared if each.dims == ("item_term",) for t in model.terms(each.name)]
    if not terms:
        return None
    draws = thinned(tree, data, 1)
    kinds = draws.kinds_of(data)
    if draws.kinds is None or kinds is None:
        return None
    truth: Floats = tree["truth"].to_dataset()["p_truth"].values
    votes = np.eye(data.n_labels)[data.votes.argmax(axis=1)]
    split = (data.votes > 0).sum(axis=1) > 1
    several = data.votes.sum(axis=1) > 1
    said = []
    for (term, unit), x in zip(terms, draws.kinds.design[kinds].T, strict=True):
        reasons = []
        if unit.startswith("against"):
            has = x > 0
            if min(has.sum(), (~has).sum()) < FEW:
                few = int(min(has.sum(), (~has).sum()))
                side = "with" if has.sum() == few else "without"
                reasons.append(f"{counted(few, 'item')} {side} it")
            for part, where in ((has, "with it"), (~has, "without it")):
                if (part & several).any() and not (part & split).any() and split.any():
                    reasons.append(f"coders never disagree on items {where}")
        elif np.ptp(x) > FAR:
            far = f"{np.ptp(x):.0f} of its standard deviations"
            reasons.append(f"it reaches over {far}, so take its logarithm")
        if max(_explained(x, truth), _explained(x, votes)) > EXPLAINED:
            reasons.append("it nearly equals the class, so it describes what coders make of it")
        if reasons:
            said.append(f"{term} ({'; '.join(reasons)})")
    state = "prior" if said else "fine"
    return finding("covariates_of_items", state, len(said), terms=said, n=len(terms))


def _explained(x: Floats, truth: Floats) -> float:
    """Share of the variance of a term that P(class) explains, by least squares."""
    left = x - truth @ np.linalg.lstsq(truth, x, rcond=None)[0]
    return float(1.0 - left.var() / max(x.var(), 1e-300))
