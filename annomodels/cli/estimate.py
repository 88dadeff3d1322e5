"""A guess at how long a fit will take, said before it begins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from annomodels.cli.options import Sampling

if TYPE_CHECKING:
    from annomodels.data.annotations import Annotations

__all__ = ["duration", "seconds_of_fit"]

# Seconds for one label, one possible truth and one sweep, and before the first sweep; measured on
# ordinary cores. NUTS takes many likelihoods per draw and compiles the model first.
_PER_LABEL = {"gibbs": 6e-9, "nuts": 2.5e-7, "em": 6e-9}
_PER_ROW = {"gibbs": 4e-7, "nuts": 2e-6, "em": 1e-8}
_START = {"gibbs": 2.0, "nuts": 25.0, "em": 2.0}


def seconds_of_fit(data: Annotations, sampling: Sampling, engine: str) -> float:
    """Guess the seconds of a fit, to within a factor of two or three.

    Parameters
    ----------
    data
        What will be fitted.
    sampling
        Numbers of chains, draws and threads.
    engine
        ``gibbs``, ``nuts`` or ``em``.
    """
    cores = min(sampling.threads or os.cpu_count() or 1, sampling.chains)
    rounds = -(-sampling.chains // cores)
    sweeps = rounds * (sampling.draws + sampling.warmup)
    if engine == "em":
        sweeps = 500
    labels = len(data) * data.n_labels
    rows = data.n_coders * data.n_labels**2
    seconds = _START[engine] + sweeps * (_PER_LABEL[engine] * labels + _PER_ROW[engine] * rows)
    return min(seconds, sampling.time_limit) if sampling.time_limit else seconds


def duration(seconds: float) -> str:
    """Give a length of time in words.

    Examples
    --------
    >>> duration(3.2), duration(80), duration(4000), duration(200_000)
    ('some 5 seconds', 'some 80 seconds', 'some 67 minutes', 'some 56 hours')
    """
    if seconds < 100:
        return f"some {max(5, round(seconds / 5) * 5)} seconds"
    if seconds < 7200:
        return f"some {round(seconds / 60)} minutes"
    return f"some {round(seconds / 3600)} hours"
