"""Draws of a fit under the variable names that ArviZ expects."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.mixing import ess_of_mean
from annomodels.errors import NotApplicable, Option
from annomodels.models.encoded import encode
from annomodels.summaries.skills import BUDGET, coder_draws
from annomodels.summaries.trust.held_out import pointwise, whole_chains


def arviz_tree(tree: xr.DataTree, data: object, *, log_likelihood: bool) -> xr.DataTree:
    """Return posterior, sampler statistics and the log-likelihood of each item."""
    if tree.attrs["engine"] == "em":
        raise NotApplicable(
            "The engine em gives one estimate and no draws, so there is nothing for ArviZ. Fit "
            f'with {Option("engine", "gibbs")} or "nuts".'
        )
    # ArviZ treats a variable of this name as the log-likelihood of one observation
    stats = tree["sample_stats"].to_dataset().drop_vars("log_likelihood", errors="ignore")
    groups = {"/posterior": posterior(tree, data), "/sample_stats": stats}
    if log_likelihood and "confusion" in tree["posterior"] and isinstance(data, Annotations):
        groups["/log_likelihood"] = _log_likelihood(tree, data)
    return xr.DataTree.from_dict(groups)


def posterior(tree: xr.DataTree, data: Any) -> xr.Dataset:
    """Return the posterior and coder accuracy; the dimension `label` becomes `given`."""
    # ArviZ creates a dimension `label` itself.
    found = tree["posterior"].to_dataset()
    if "confusion" in found:
        chains, draws = found.sizes["chain"], found.sizes["draw"]
        n_coders, room = data.n_coders, 8 * data.n_coders * (3 + 2 * data.n_labels)
        accuracy = coder_draws(tree, data, max(BUDGET, room * chains * draws)).accuracy
        named = {"coder": [str(name) for name in data.coders]}
        found = found.assign_coords(named).assign(
            accuracy=(("chain", "draw", "coder"), accuracy.reshape(chains, draws, n_coders))
        )
    return found.rename({"label": "given"} if "label" in found.dims else {})


def effective_share(found: xr.Dataset, n_draws: int) -> float:
    """Return the mean effective sample size per draw over all variables; 1 with one chain."""
    chains, draws = found.sizes["chain"], found.sizes["draw"]
    if chains == 1:
        return 1.0
    flat = [np.reshape(each.values, (chains, draws, -1)) for each in found.values()]
    sizes = np.concatenate([ess_of_mean(columns) for columns in flat])
    # constants count in full: the draws in both halves of every chain
    return float(np.where(np.isnan(sizes), chains * 2 * (draws // 2), sizes).mean() / n_draws)


def _log_likelihood(tree: xr.DataTree, data: Annotations) -> xr.Dataset:
    """Return log p(labels of an item) on each draw, marginal over unknown truths."""
    draws = whole_chains(tree, data)
    codes = encode(data, kind=draws.kinds_of(data))
    values = np.concatenate([part for _, part in pointwise(draws, codes, "item")], axis=1)
    chains = tree["posterior"].sizes["chain"]
    values = values[:, codes.inverse].reshape(chains, -1, data.n_items)
    names = [str(name) for name in data.items]
    return xr.Dataset({"labels": (("chain", "draw", "item"), values)}, coords={"item": names})
