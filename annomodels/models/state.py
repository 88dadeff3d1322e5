"""Parameters of one draw, as the kernels hold them."""

from __future__ import annotations

from dataclasses import dataclass, field

from annomodels.types import Floats


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
