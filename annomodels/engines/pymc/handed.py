"""The PyMC model of a fit for users of PyMC, and the draws of the fit under its names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.engines.pymc.nuts import coords_of
from annomodels.errors import NotApplicable
from annomodels.models.base import Model
from annomodels.models.catalog import is_stack
from annomodels.models.continuous.item_covariates import item_kinds
from annomodels.models.encoded import encode
from annomodels.types import AnyArray, PyMCModel

if TYPE_CHECKING:
    import xarray as xr


def with_data(model: Model, data: Annotations) -> PyMCModel:
    """Build the PyMC model of some data, with the labels as an observed variable."""
    # The truth is summed out of the observed variable ``labels`` [annotation]. A draw from it draws
    # a truth of each item from the model, then labels; known truths stay.
    if is_stack(model) or model.truth != "class" or not isinstance(data, Annotations):
        raise NotApplicable(
            f"The {model.title} model is not a single PyMC model of labels. Fit a model of classes "
            "by its name, such as hierarchical, with the labels in memory."
        )
    codes = encode(data, shared=model.shared, collapse=False, kind=item_kinds(model))
    coords = coords_of(model, data, "item", "truth", "label", "coder")
    return model.build(codes, {**coords, "annotation": [str(n) for n in range(len(data))]})


def draws_for(model: Model, data: Annotations, tree: xr.DataTree) -> xr.DataTree:
    """Return the draws of a fit under the names of the free variables of its PyMC model."""
    import xarray as xr

    pymc_model = with_data(model, data)
    posterior = tree["posterior"].to_dataset()
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]

    def flat(values: AnyArray) -> AnyArray:
        return values.reshape(chains * draws, *values.shape[2:]).astype(np.float64)

    kept = {str(name): flat(values.values) for name, values in posterior.items()}
    known = model.pymc_values(kept)
    names = [str(variable.name) for variable in pymc_model.free_RVs]
    if missing := [name for name in names if name not in known]:
        raise NotApplicable(
            f"A result of the {model.title} model keeps no draws of {' and '.join(missing)}, so "
            "PyMC would draw these from their priors. Declare them in variables, or give them "
            "in pymc_values."
        )
    dims = {
        name: pymc_model.named_vars_to_dims.get(name)
        or tuple(f"{name}_{n}" for n in range(known[name].ndim - 1))
        for name in names
    }
    found = {
        name: (
            ("chain", "draw", *dims[name]),
            known[name].reshape(chains, draws, *known[name].shape[1:]),
        )
        for name in names
    }
    of_data = {
        each.name: ([f"{each.name}_{n}" for n in range(each.ndim)], each.get_value())
        for each in pymc_model.data_vars
    }
    used = {dim for along, _ in found.values() for dim in along}
    named = pymc_model.coords.items()
    coords: dict[str, Any] = {dim: list(each) for dim, each in named if dim in used}
    coords |= {dim: posterior[dim].values for dim in ("chain", "draw")}
    return xr.DataTree.from_dict(
        {"/posterior": xr.Dataset(found, coords), "/constant_data": xr.Dataset(of_data)}
    )
