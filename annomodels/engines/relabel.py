"""Swapped classes: bring the classes of a draw into the order in which coders are right most."""

from __future__ import annotations

import numpy as np

from annomodels.models.base import State
from annomodels.types import Floats, Ints


def joint_table(state: State, volume: Floats) -> Floats:
    """P(truth, label) of a label chosen at random, shape [truth, label].

    Parameters
    ----------
    state
        Parameters of one draw.
    volume
        Share of the labels that each confusion matrix gave, shape [row].
    """
    rows = np.tensordot(volume, np.exp(state.log_confusion), axes=1)
    return np.asarray((rows * np.exp(state.log_prevalence)).T)


def canonical_order(state: State, volume: Floats) -> Ints:
    """Give each class its new place, so that the share of right labels is as large as possible.

    For two classes this is the mirror test, for more an optimal assignment.
    """
    from annomodels.kernels.products import diagonal_leads

    k = len(state.log_prevalence)
    if diagonal_leads(state.log_prevalence, state.log_confusion, volume):
        return np.arange(k)
    from scipy.optimize import linear_sum_assignment

    table = joint_table(state, volume)
    truth, label = linear_sum_assignment(-table)
    order = np.empty(k, dtype=np.int64)
    order[truth] = label
    if table[truth, label].sum() <= np.trace(table) * (1 + 1e-9):
        return np.arange(k)
    return order
