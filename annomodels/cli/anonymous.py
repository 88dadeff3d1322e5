"""Data without the names of coders and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from annomodels.annotations import Annotations

__all__ = ["anonymous"]


def anonymous(data: Annotations) -> Annotations:
    """Copy with coders called "coder 1", "coder 2", ..., numbered in no order of their names.

    Done before the fit, so that no output can hold a name; the same data always give the same
    numbers. Name of the file and notes of the reader, which may hold names, are dropped.
    """
    shuffle = np.random.default_rng(int(data.fingerprint, 16)).permutation(data.n_coders)
    coder = shuffle[data.coder].astype(np.int32)
    order = np.lexsort((coder, data.item))
    return data.replace(
        item=data.item[order],
        coder=coder[order],
        label=data.label[order],
        coders=tuple(f"coder {j + 1}" for j in range(data.n_coders)),
        source="",
        notes=(),
    )
