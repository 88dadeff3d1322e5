"""R-hat and effective draws of the parameters that must have mixed, with their names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.mixing import mixing
from annomodels.models.parameters import watched_draws, watched_names
from annomodels.summaries.draws import model_of
from annomodels.types import Floats

if TYPE_CHECKING:
    import xarray as xr

FEWEST_DRAWS = 8


def convergence(tree: xr.DataTree, data: Annotations) -> tuple[list[str], Floats, Floats]:
    """Rank-normalised split R-hat and bulk effective sample size of what is watched.

    Watched is what the model declares (:meth:`annomodels.models.base.Model.parameters`), the
    parameters of single coders by the accuracy of the hundred busiest. One chain is cut in two.

    Source: Vehtari et al. 2021, doi:10.1214/20-BA1221.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.

    Returns
    -------
    tuple
        Names, R-hat and effective sample sizes; constants are left out, and everything when
        there are too few draws.

    Examples
    --------
    >>> from annomodels.summaries.examples import small_fit
    >>> names, rhat, ess = convergence(*small_fit())
    >>> names[0], bool(rhat.max() < 1.1), bool(ess.min() > 50)
    ('prevalence of neg', True, True)
    """
    posterior = tree["posterior"].to_dataset()
    draws = {str(name): values.values for name, values in posterior.data_vars.items()}
    coords = {str(dim): values.values.tolist() for dim, values in posterior.coords.items()}
    declared = model_of(tree).parameters(data.n_labels)
    names = watched_names(declared, draws, data.per_coder, coords)
    if "watched" in tree.attrs:  # every iteration, of which the tree keeps few
        noted = json.loads(tree.attrs["watched"])
        rhat, ess = np.array(noted["rhat"]), np.array(noted["ess"])
    else:
        chains = posterior.sizes["chain"]
        if posterior.sizes["draw"] // (2 if chains == 1 else 1) < FEWEST_DRAWS:
            return [], np.empty(0), np.empty(0)
        rhat, ess = mixing(watched_draws(declared, draws, data.per_coder))
    members = json.loads(tree.attrs.get("members", "{}"))
    names += [f"worst parameter of the model {name}" for name in members]
    rhat = np.append(rhat, [each["rhat_max"] for each in members.values()])
    ess = np.append(ess, [each["ess_min"] for each in members.values()])
    varies = np.isfinite(ess)
    # a chain that stands still has no variance: R-hat is then infinite, which is the right answer
    rhat = np.nan_to_num(rhat[varies], nan=np.inf)
    return [name for name, keep in zip(names, varies, strict=True) if keep], rhat, ess[varies]
