"""Data of a PyMC model as data variables instead of constants of its graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from annomodels.types import Ints, Tensor

if TYPE_CHECKING:
    from pytensor.sparse import SparseVariable
    from scipy.sparse import csr_matrix

    from annomodels.models.encoded import Encoded


def observed(name: str, values: object) -> Tensor:
    """Register an array as a data variable of the PyMC model; call inside a model context."""
    # PyTensor compiles constants into the code, which then works for these data only; variables
    # without a fixed length allow data of any size
    import pymc as pm

    array = np.asarray(values)
    kind = np.int64 if array.dtype.kind in "iub" else np.float64
    return pm.Data(f"data_{name}", np.ascontiguousarray(array, dtype=kind))


def observed_sparse(name: str, matrix: csr_matrix) -> SparseVariable:
    """Register a sparse matrix of data, in a model context; only its width is a constant."""
    import pymc as pm
    import pytensor.tensor as pt
    from pytensor import sparse

    # sparse variables of PyTensor have 32-bit indices
    indices, starts = (
        pm.Data(f"data_{name}_{part}", values.astype(np.int32))
        for part, values in (("indices", matrix.indices), ("starts", matrix.indptr))
    )
    shape = pt.stack([starts.shape[0] - 1, np.int64(matrix.shape[1])]).astype("int32")
    return sparse.CSR(observed(name, matrix.data), indices, starts, shape)


def names_items() -> bool:
    """Return True if the PyMC model names its items, so that each needs a log likelihood."""
    import pymc as pm

    return "item" in pm.modelcontext(None).coords


def observed_labels(
    codes: Encoded,
    of_items: Callable[..., Tensor],
    drawn: Callable[..., Tensor],
    *parameters: Tensor,
    signature: str,
) -> Tensor:
    """Register the labels as an observed variable; call inside a model context."""
    # ``labels`` [annotation] is one joint distribution of all labels: its log density has the truth
    # summed out, and a draw contains new labels for all items.
    import pymc as pm

    given = observed("labels", codes.label)
    by_item(of_items(given, *parameters))
    return pm.CustomDist(
        "labels",
        *parameters,
        dist=drawn,
        logp=lambda value, *known: of_items(value, *known).sum(),
        signature=f"{signature}->(annotation)",
        class_name="Labels",
        observed=given,
        dims="annotation",
    )


def items_of(codes: Encoded) -> tuple[Ints, SparseVariable]:
    """Return the item of each label [annotation], and a sparse matrix for sums by item."""
    from pytensor import sparse
    from scipy.sparse import csr_matrix

    item = np.repeat(np.arange(codes.n_patterns), np.diff(codes.starts))
    ones = np.ones(len(item))
    shape = (codes.n_patterns, len(item))
    return item, sparse.as_sparse_variable(csr_matrix((ones, (item, np.arange(len(item)))), shape))


def by_item(log_likelihood: Tensor) -> Tensor:
    """Register the log likelihood [item], truth summed out; call inside a model context."""
    import pymc as pm

    return pm.Deterministic("log_likelihood", log_likelihood, dims="item")
