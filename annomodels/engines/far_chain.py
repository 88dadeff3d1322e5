"""A Gibbs chain whose items lie elsewhere: it is given counts, and draws parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from annomodels.engines.chain import Chain
from annomodels.engines.kept import Kept
from annomodels.engines.partition import Source
from annomodels.models.base import State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded

__all__ = ["FarChain"]


class FarChain(Chain):
    """A chain whose items lie elsewhere: its passes are done already when it takes a step.

    Parameters
    ----------
    model, state, key, relabel
        As of a chain.
    source
        The data.
    """

    def __init__(
        self, model: ConjugateModel, source: Source, state: State, key: int, relabel: bool
    ) -> None:
        none, one = np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
        # no items, and a label that nobody looks at
        codes = Encoded(
            one, one, one, none, none.astype(float), none, source.n_rows, source.n_labels
        )
        codes.__dict__["volume"] = source.volume  # which the codes of no item cannot tell
        super().__init__(model, codes, state, key, relabel, 1, map)
        self.counts = np.empty(0, dtype=np.int64)  # those of all partitions
        self.found = 0.0
        self.ordered = -1, self.identity  # iteration, and the order of the classes in it

    def order(self, keep: bool) -> NDArray[Any]:
        """Give the new place of each class, if this iteration is kept."""
        return self._order() if keep else self.identity

    def take(
        self, kept: Kept | None, keep: bool, counts: NDArray[Any], sizes: Any, found: float
    ) -> None:
        """Keep the parameters, and draw new ones given the counts."""
        self.counts, self.sizes, self.found = counts.astype(np.int64), sizes, found
        self._one(kept, keep)

    def _order(self) -> NDArray[Any]:
        if self.ordered[0] != self.iteration:
            self.ordered = self.iteration, super()._order()
        return self.ordered[1]

    def _pass(self, order: NDArray[Any], kept: Kept | None) -> float:
        return self.found

    def _totals(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.counts, self.sizes
