"""Who is to label what: random assignment of coders to items."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from annomodels.errors import NotApplicable
from annomodels.types import Ints

Workload = Literal["even", "long-tailed"]
PerItem = int | tuple[int, int]


def assign(
    n_items: int, n_coders: int, per_item: PerItem, workload: Workload, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Choose coders for every item, no coder twice.

    Parameters
    ----------
    n_items, n_coders
        Sizes.
    per_item
        Labels of each item, or the fewest and the most; then all numbers between are as likely.
    workload
        "even": every coder gets the same number, within 1 or so; "long-tailed": the r-th
        busiest coder is drawn with weight 1/r, as in crowds of volunteers.
    rng
        Source of chance.

    Returns
    -------
    tuple
        Codes of items and coders, shape [annotation], sorted.

    Raises
    ------
    NotApplicable
        When an item would need more coders than there are.

    Examples
    --------
    >>> item, coder = assign(6, 4, 2, "even", np.random.default_rng(1))
    >>> np.bincount(item).tolist(), np.bincount(coder).tolist()
    ([2, 2, 2, 2, 2, 2], [3, 3, 3, 3])
    """
    fewest, most = (per_item, per_item) if isinstance(per_item, int) else per_item
    if not 0 < fewest <= most <= n_coders:
        wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        raise NotApplicable(
            f"{wanted} labels per item cannot come from {n_coders} coders: give 1 to {n_coders}."
        )
    if workload not in get_args(Workload):
        raise NotApplicable(
            f"workload={workload!r} is unknown. Use one of {', '.join(get_args(Workload))}."
        )
    lengths = rng.integers(fewest, most + 1, n_items)
    item = np.repeat(np.arange(n_items), lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    coder = np.empty(len(item), dtype=np.int64)
    burden = np.zeros(n_coders)
    weight = np.log(1 / (1 + rng.permutation(n_coders)))
    for i in range(n_items):
        # the smallest keys win: even work counts what coders have, a long tail what they like
        if workload == "even":
            keys = burden + 0.5 * rng.random(n_coders)
        else:
            keys = -weight - rng.gumbel(size=n_coders)
        chosen = np.argpartition(keys, lengths[i] - 1)[: lengths[i]]
        burden[chosen] += 1
        coder[starts[i] : starts[i + 1]] = np.sort(chosen)
    return item, coder
