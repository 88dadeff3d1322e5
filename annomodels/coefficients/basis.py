"""What a coefficient was computed from, kept so that more can be asked of it later."""

from __future__ import annotations

from dataclasses import dataclass

from annomodels.coefficients.evaluation import Request
from annomodels.coefficients.rows import Rows
from annomodels.coefficients.weights import Sample
from annomodels.data.annotations import Annotations

__all__ = ["Basis"]


@dataclass(frozen=True, eq=False)
class Basis:
    """Data, sample and request behind a coefficient.

    Parameters
    ----------
    data
        Who labelled which item how, with the label set that was used.
    rows
        The same with repeats settled.
    sample
        Items with how their weights are drawn.
    request
        Coefficient, distance and convention.
    draws, seed
        Number of draws and their seed.
    """

    data: Annotations
    rows: Rows
    sample: Sample
    request: Request
    draws: int
    seed: int
