"""Annotations without items: names and counts of coders, for summaries by coder."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.types import Ints


def _none() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Shell(Annotations):
    """Annotations without items that contain counts of labels stored elsewhere."""

    # number of labels of each coder, shape [coder]
    counts: Ints = field(default_factory=_none)
    # label pairs of each coder on the same item, and number of equal pairs
    repeated: tuple[Ints, Ints] = field(default_factory=lambda: (_none(), _none()))
    n_repeats: int = 0  # labels by a coder who had labeled the item before

    @property
    def per_coder(self) -> Ints:
        """Number of labels of each coder, shape [coder]."""
        return self.counts

    @property
    def repeats_by_coder(self) -> tuple[Ints, Ints]:
        """Label pairs of each coder on the same item, and number of equal pairs, [coder]."""
        return self.repeated

    @property
    def repeats(self) -> int:
        """Number of labels that repeat the same coder on the same item."""
        return self.n_repeats
