"""Data and request of a breakdown, checked once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annomodels.coefficients.agreement import Convention, Resample, by_group
from annomodels.coefficients.catalogue import Request, find
from annomodels.coefficients.distances import DistanceLike
from annomodels.coefficients.evaluation import pairwise
from annomodels.coefficients.formulas import EXPECTED
from annomodels.coefficients.reasons import before, refuse
from annomodels.coefficients.requests import make_requests
from annomodels.coefficients.rows import (
    CONVENTIONS,
    Duplicates,
    Rows,
    collapse,
    prepare,
    with_labels,
)
from annomodels.coefficients.rows import Convention as Weighing
from annomodels.coefficients.sums import Sums, of_items
from annomodels.coefficients.weights import Sample, make_sample
from annomodels.data.annotations import Annotations
from annomodels.errors import NotApplicable, Option
from annomodels.types import Floats


@dataclass(frozen=True, eq=False)
class Setup:
    """Data and request of a breakdown."""

    data: Annotations  # the annotations, with the label set that counts
    rows: Rows  # their codes, one item for each item of the data
    sample: Sample  # equal items counted once, and how their weights are drawn
    request: Request  # coefficient, distance and convention
    duplicates: Duplicates  # what was done where a coder labeled an item twice

    @property
    def convention(self) -> Weighing:
        """Weights of an item by its number of labels."""
        if self.request.convention not in CONVENTIONS:
            raise NotApplicable(
                'With missing="pairwise" every pair of coders is separate. Take '
                f"{Option('by', 'pair')}, or one of {', '.join(CONVENTIONS)}."
            )
        return CONVENTIONS[self.request.convention]

    @cached_property
    def sums(self) -> Sums:
        """Label pairs and labels of all data under the convention."""
        if self.request.convention == "pairwise":
            return pairwise(self.sample.rows, self.request)
        return of_items(self.sample.rows, self.convention)

    def shares(self, sums: Sums) -> Callable[[Floats], tuple[Floats, Floats]]:
        """Shares of parts under weights of the items; the distance is that of the data."""
        return lambda weights: sums.shares(weights, self.request.distance, self.pooled)

    @cached_property
    def pooled(self) -> Floats:
        """Weight of each label in all data [label]."""
        return np.asarray(of_items(self.sample.rows, self.convention).of_all @ self.sample.point)


def set_up(
    data: Annotations,
    name: str,
    distance: DistanceLike | None = None,
    missing: Convention | None = None,
    duplicates: Duplicates = "first",
    resample: Resample = "auto",
    labels: Sequence[Hashable] | None = None,
    whole: bool = False,
) -> Setup:
    """Check what is asked for; see :func:`~annomodels.agreement` for the parameters."""
    if labels is not None:
        data = with_labels(data, labels)
    # asked first, as the request would ask for chance levels that nothing here takes
    taken_apart = not find(name).chance
    request = make_requests(data, name, distance, missing)[0] if taken_apart else None
    if request is not None and not whole:
        entry = request.coefficient
        taken_apart = entry.expectation in (None, *EXPECTED)
    if request is None or not taken_apart:
        raise NotApplicable(
            f"{find(name).title} cannot be taken apart this way. Use alpha, k, multi_kappa, s, "
            "ac1 or percent."
        )
    rows = prepare(data, duplicates, by_group(data, resample))
    # items of different groups are never counted as one, as their groups may be asked for
    apart = rows if data.group is not None else collapse(rows)
    return Setup(data, rows, make_sample(apart), request, duplicates)


def refuse_unfit(setup: Setup) -> None:
    """Refuse a coefficient that these coders rule out."""
    entry, rows = setup.request.coefficient, setup.rows
    refuse(before(entry, rows, setup.request.convention), entry, rows)
