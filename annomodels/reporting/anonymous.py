"""A fit without the names of its coders and files."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


def anonymised(fit: Any) -> Any:
    """Copy of a fit whose coders are called "coder 1" to "coder J".

    The numbers are shuffled, so that they do not follow the alphabet; the same data always give
    the same numbers. Name of the file and notes of the reader, which may hold names, are dropped.

    Parameters
    ----------
    fit
        A fit.
    """
    data = fit.data
    shuffle = np.random.default_rng(int(data.fingerprint, 16)).permutation(data.n_coders)
    names = tuple(f"coder {n + 1}" for n in shuffle)
    tree = fit.tree.copy()
    posterior = tree["posterior"].to_dataset()
    if "coder" in posterior.coords:
        tree["posterior"] = type(tree)(posterior.assign_coords(coder=list(names)))
    nameless = dataclasses.replace(data, coders=names, source="", notes=())
    return dataclasses.replace(fit, data=nameless, tree=tree)
