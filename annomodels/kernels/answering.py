"""Coders who may give no answer: rates of no answer by class, in addition to answers."""

# Matrices 0 to J - 1 are those of the coders' answers. J more matrices follow for each kind of no
# answer, with two labels in use: 1 if the coder gave it and 0 if not, given that the coder gave
# none of the kinds before it.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from annomodels.kernels.compile import Array, Key
from annomodels.kernels.population import draw_population
from annomodels.kernels.random import CONFUSION, address, log_dirichlet, mix
from annomodels.kernels.rows import DRAWS, KEEPS, draw_rows, keep_source

# kinds of no answer use random streams that no coder and no group of coders uses
APART = np.uint64(0x51E7CE00)


class AnsweringSource(NamedTuple):
    """Source of the rows of answers, and the populations of the rates of no answer."""

    # mean [kind, truth, 2], concentration [kind, truth]; anchor [truth, 2] has the pseudo-counts of
    # the mean, scale the coefficients of the log prior density of the concentration

    inner: Any
    mean: Array
    concentration: Array
    anchor: Array
    scale: Array


def draw_answering(
    source: AnsweringSource, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw rows of answers from the inner source, then the rates of no answer."""
    inner, mean, concentration, anchor, scale = source
    n_kinds, n_classes = concentration.shape
    n = len(logc) // (n_kinds + 1)
    draw_rows(inner, counts[:n], prior, key, iteration, logc[:n])
    state, pair = np.empty(1, dtype=np.uint64), np.empty(2)
    shape, row = np.empty(2), np.empty(2)
    # population steps need complete tables, and these rows use only two labels
    two = np.empty((n, 2, n_classes), dtype=np.int64)
    everybody = np.zeros(n, dtype=np.int64)
    for kind in range(n_kinds):
        first = n * (kind + 1)
        for j in range(n):
            for label in range(2):
                for k in range(n_classes):
                    two[j, label, k] = int(counts[first + j, label, k])
        stream = mix(np.uint64(key) ^ (APART + np.uint64(kind)))
        draw_population(
            two,
            everybody,
            0,
            anchor,
            scale,
            1,
            stream,
            iteration,
            mean[kind],
            concentration[kind],
        )
        for j in range(n):
            state[0] = address(stream, iteration, CONFUSION, j)
            for k in range(n_classes):
                for label in range(2):
                    pseudo = concentration[kind, k] * mean[kind, k, label]
                    shape[label] = pseudo + two[j, label, k]
                log_dirichlet(state, pair, shape, row)
                for label in range(2):
                    logc[first + j, label, k] = row[label]


def keep_answering(source: AnsweringSource, n: int, order: Array, kept: tuple[Any, ...]) -> None:
    """Store the draw of the inner source, then means and concentrations of the rates."""
    keep_source(source.inner, n, order, kept[0])
    for kind in range(len(source.mean)):
        for k in range(len(order)):
            kept[2][n, kind, order[k]] = source.concentration[kind, k]
            for label in range(2):
                kept[1][n, kind, order[k], label] = source.mean[kind, k, label]


DRAWS[AnsweringSource] = draw_answering
KEEPS[AnsweringSource] = keep_answering
