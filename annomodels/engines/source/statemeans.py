"""Means over draws of a state model for the items of a partition."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from annomodels.engines.kept import total_gaps
from annomodels.engines.source.held import Block
from annomodels.engines.source.itemsums import ItemMeans
from annomodels.engines.source.states import LOST, Forgotten, StateSums, sums_held
from annomodels.types import Floats


@dataclass(frozen=True, eq=False)
class StateMeans(ItemMeans):
    """Means over all chains for the items of a partition."""

    # mean of what the states of an item stand for, and of its square, shape [2, value, item]
    values: Floats
    p_state: Floats  # shape [item, state]; no item where it was not kept


def means_of(block: Block, chains: int, stage: Hashable, n: int) -> StateMeans:
    """Combine the sums of chains of at least `n` draws over the items of a block."""
    # draws after the last full batch count for the entropy only, unless there is no full batch
    sums: list[StateSums] = []
    for chain in range(chains):
        part = sums_held(block, chain, stage)
        if part is None or part.n < n:
            raise Forgotten(LOST)
        sums.append(part)
    for part in sums:
        if part.open and not part.closed:
            part.length = len(part.open)
            part.close()
    batches = sum(len(part.closed) for part in sums)
    mean = np.sum([part.p_sum for part in sums], axis=0) / batches
    spread = np.maximum(np.sum([part.p_square for part in sums], axis=0) / batches - mean**2, 0.0)
    mcse = np.sqrt(spread / (batches - 1)) if batches > 1 else np.full_like(mean, np.nan)
    entropy = np.mean([(part.entropy + part.open_entropy) / part.n for part in sums], axis=0)
    gaps = total_gaps([part.p_sum / max(len(part.closed), 1) for part in sums])
    total = sum(part.n for part in sums)
    values = [
        np.sum([getattr(part, name) for part in sums], axis=0) / total
        for name in ("value_sum", "value_square")
    ]
    return StateMeans(
        mean, mcse, entropy, gaps,
        values=np.array(values),
        p_state=np.sum([part.p_state for part in sums], axis=0) / total,
    )  # fmt: skip
