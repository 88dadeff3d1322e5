"""What kept draws say of the items, taken up again from the parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.kept import Kept
from annomodels.models.encoded import Encoded

__all__ = ["kernel_parameters", "recount"]

Floats = NDArray[np.float64]


def kernel_parameters(prevalence: NDArray[Any], confusion: NDArray[Any]) -> tuple[Floats, Floats]:
    """Log prevalence and log confusion [row, label, truth] of a kept draw.

    Parameters
    ----------
    prevalence
        Shape [truth].
    confusion
        Shape [row, truth, label], or [truth, label] for one matrix for all coders.
    """
    tiny = np.finfo(float).tiny  # what single precision took for nothing is not impossible
    rows = np.maximum(np.asarray(confusion, dtype=float), tiny)
    rows = rows[None] if rows.ndim == 2 else rows
    log_rows = np.ascontiguousarray(np.log(rows).transpose(0, 2, 1))
    return np.log(np.maximum(np.asarray(prevalence, dtype=float), tiny)), log_rows


def recount(codes: Encoded, kept: Kept) -> None:
    """Sum the class probabilities of all kept draws anew, in the batches they were kept in."""
    from annomodels.kernels.passes import truth_pass
    from annomodels.kernels.products import chances

    for draw in range(kept.n):
        parameters = kernel_parameters(
            kept.arrays["prevalence"][draw], kept.arrays["confusion"][draw]
        )
        given = chances(*parameters)
        truth_pass(*codes.arrays, given, 0, codes.n_patterns, kept.batch, kept.entropy)
        kept.book[1] += 1
        if kept.book[1] >= kept.book[4]:
            kept.close_batch()
