"""Annotations without items: names and counts of coders, for summaries that ask for no more."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.types import Ints


def _none() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Shell(Annotations):
    """Labels that are elsewhere, as annotations of no item that remember counts."""

    # number of labels that each coder gave, shape [coder]
    counts: Ints = field(default_factory=_none)
    # pairs of labels that each coder gave to one item, and how many are equal
    repeated: tuple[Ints, Ints] = field(default_factory=lambda: (_none(), _none()))
    n_repeats: int = 0  # labels given by a coder who had labeled the item before

    @property
    def per_coder(self) -> Ints:
        """Number of labels that each coder gave, shape [coder]."""
        return self.counts

    @property
    def repeats_by_coder(self) -> tuple[Ints, Ints]:
        """Pairs of labels that each coder gave to one item, and how many are equal, [coder]."""
        return self.repeated

    @property
    def repeats(self) -> int:
        """Number of labels that repeat the same coder on the same item."""
        return self.n_repeats
