"""Items given draws of the parameters: P(truth), P(state) and values of the states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from annomodels.models.base import Model, State
from annomodels.models.states import SMALLEST
from annomodels.types import AnyArray, Floats, Ints

if TYPE_CHECKING:
    from annomodels.engines.source.itemsums import ItemSums
    from annomodels.kernels.passes import Given


def state_of(values: Mapping[str, Floats]) -> State:
    """Return the parameters of one draw in the layout of the kernels."""
    confusion = values["confusion"]
    if confusion.ndim == 2:
        confusion = confusion[None]
    tiny = np.finfo(float).tiny  # single precision may have rounded a probability to 0
    rows = np.log(np.maximum(np.ascontiguousarray(confusion.transpose(0, 2, 1)), tiny))
    population = {n: v for n, v in values.items() if n not in ("prevalence", "confusion")}
    return State(np.log(np.maximum(values["prevalence"], tiny)), rows, population)


def given_by(model: Model, values: Mapping[str, AnyArray], kind: Ints | None = None) -> Given:
    """Return one draw of the result variables in the layout of a pass; `kind` is per item."""
    from annomodels.kernels.passes import StateLayout, chances

    exact = {name: np.asarray(value, dtype=float) for name, value in values.items()}
    found = model.states({name: value[None] for name, value in exact.items()})
    if found is None:
        state = state_of(exact)
        return (*chances(state.log_prevalence, state.log_confusion), None)
    share = found.share[0]
    if found.kinds is not None and kind is not None:
        share = np.exp(found.kinds.log_share(0, np.arange(kind.max() + 1)))
    rows = np.maximum(found.emission[0], SMALLEST).transpose(0, 2, 1)
    table = np.ascontiguousarray(rows.reshape(-1, rows.shape[2]))
    numbers = [found.values[name][0] for name in sorted(found.values)]
    truth = np.ascontiguousarray(found.truth[0])
    # rows of labels are drawn only if labels are counted, which is not done here
    no_rows = np.zeros(0, dtype=np.int64)
    of_states = np.array(numbers).reshape(-1, table.shape[1])
    states = StateLayout(truth, no_rows, truth, table, of_states, SMALLEST)
    return np.maximum(share, SMALLEST), table, None, states


def weigh(
    items: tuple[AnyArray, ...],
    weight: Floats,
    given: Given,
    sums: ItemSums,
    kind: Ints | None = None,
) -> float:
    """Add the item statistics of a draw to the sums, and return the log likelihood."""
    from annomodels.kernels.passes import weighing_pass

    share, *rest = given
    found = weighing_pass(items, weight, kind, np.atleast_2d(share), *rest, sums.sums())
    return float(found)
