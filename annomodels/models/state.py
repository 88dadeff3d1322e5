"""Parameters of one draw, as the kernels hold them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["State"]

Floats = NDArray[np.float64]

BY_TRUTH = ("population", "concentration")


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
            {name: v[back] if name in BY_TRUTH else v for name, v in self.population.items()},
        )
