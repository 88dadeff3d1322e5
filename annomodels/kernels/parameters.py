"""Parameters given counts, and their prior density, whatever the rows come from."""

from __future__ import annotations

from annomodels.kernels.compile import Array, Key, kernel
from annomodels.kernels.densities import log_dirichlet_constant
from annomodels.kernels.dirichlet import draw_prevalence
from annomodels.kernels.rows import Source, draw_rows, rows_logp


@kernel
def draw_parameters(
    counts: Array,
    sizes: Array,
    prevalence: Array,
    prior: Array,
    source: Source,
    key: Key,
    iteration: int,
    log_prevalence: Array,
    logc: Array,
) -> None:
    """Draw prevalence, rows and what these come from, in place.

    `prevalence` holds the pseudo-counts of the classes, `prior` those of Dirichlet rows.
    """
    draw_prevalence(sizes, prevalence, key, iteration, log_prevalence)
    draw_rows(source, counts, prior, key, iteration, logc)


@kernel
def log_prior(
    prevalence: Array, prior: Array, source: Source, log_prevalence: Array, logc: Array
) -> float:
    """Log prior density of prevalence, rows [coder, label, truth] and what these come from."""
    value: float = log_dirichlet_constant(prevalence)
    for k in range(len(log_prevalence)):
        value += (prevalence[k] - 1.0) * log_prevalence[k]
    return value + rows_logp(source, prior, logc)
