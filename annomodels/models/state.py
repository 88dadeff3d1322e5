"""Parameters of one draw, as the kernels hold them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["TRUTH_AXIS", "State"]

Floats = NDArray[np.float64]

# where the classes are in what the rows come from
TRUTH_AXIS = {
    "population": 0, "concentration": 0, "group_population": 1, "group_concentration": 1,
    "answering": 1, "answering_concentration": 1,
}  # fmt: skip


@dataclass
class State:
    """Parameters of one draw, as the kernels hold them.

    Parameters
    ----------
    log_prevalence
        Shape [truth].
    log_confusion
        Shape [row, label, truth]: the order in which a pass reads it.
    population
        Further parameters by name (``population``, ``concentration``).
    """

    log_prevalence: Floats
    log_confusion: Floats
    population: dict[str, Floats] = field(default_factory=dict)

    def ordered(self, order: NDArray[Any]) -> State:
        """Copy in which class k has become class ``order[k]``."""
        back = np.argsort(order)
        return State(
            self.log_prevalence[back],
            np.ascontiguousarray(self.log_confusion[:, :, back]),
            {name: self._moved(name, v, back) for name, v in self.population.items()},
        )

    @staticmethod
    def _moved(name: str, values: Floats, back: NDArray[Any]) -> Floats:
        axis = TRUTH_AXIS.get(name)
        return values if axis is None else np.asarray(np.take(values, back, axis=axis))
