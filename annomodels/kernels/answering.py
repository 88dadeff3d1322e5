"""Coders who may give no answer: rates of no answer by class, in addition to answers."""

# Labels K to K + M - 1 of a coder are the kinds of no answer. The rate of a kind is its probability
# given that the coder gave none of the kinds before it.

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
    # the mean, scale the coefficients of the log prior density of the concentration; least is the
    # smallest log probability of any answer

    inner: Any
    mean: Array
    concentration: Array
    anchor: Array
    scale: Array
    least: float


def draw_answering(
    source: AnsweringSource, counts: Array, prior: Array, key: Key, iteration: int, logc: Array
) -> None:
    """Draw rows of answers from the inner source, then the rates of no answer."""
    inner, mean, concentration, anchor, scale, least = source
    n, (n_kinds, n_classes) = len(logc), concentration.shape
    answers = np.empty((n, n_classes, n_classes))
    classes = np.ascontiguousarray(counts[:, :n_classes])
    draw_rows(inner, classes, prior, key, iteration, answers)
    state, pair = np.empty(1, dtype=np.uint64), np.empty(2)
    shape, row = np.empty(2), np.empty(2)
    # labels of later kinds and classes, and of a kind
    two = np.empty((n, 2, n_classes), dtype=np.int64)
    left = np.zeros((n, n_classes))  # log probability of later kinds and classes
    everybody = np.zeros(n, dtype=np.int64)
    for kind in range(n_kinds):
        code = n_classes + kind
        two[:, 0] = classes.sum(axis=1) + counts[:, code + 1 :].sum(axis=1)
        two[:, 1] = counts[:, code]
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
                for said in range(2):
                    shape[said] = concentration[kind, k] * mean[kind, k, said] + two[j, said, k]
                log_dirichlet(state, pair, shape, row)
                logc[j, code, k] = left[j, k] + row[1]
                left[j, k] += row[0]
    for j in range(n):
        for label in range(n_classes):
            for k in range(n_classes):
                logc[j, label, k] = answers[j, label, k] + max(left[j, k], least)


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
