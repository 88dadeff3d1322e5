"""Counts of repeats and of groups of coders among sorted labels."""

from __future__ import annotations

import numpy as np

from annomodels.kernels.compile import Array, inlined, kernel


@inlined
def root_of(parent: Array, j: int) -> int:
    """Return the root of the component of coders that share items with coder j."""
    while parent[j] != j:
        parent[j] = parent[parent[j]]
        j = parent[j]
    return j


@kernel
def survey(
    starts: Array, coder: Array, label: Array, n_labels: int,
    pairs: Array, same: Array, parent: Array,
) -> tuple[int, int, int]:  # fmt: skip
    """Count repeats, repeats that differ, and items with two coders among sorted labels."""
    # also adds to pairs [coder], label pairs of one coder on one item, and to same [coder], the
    # equal ones; joins coders who share an item in parent
    repeats, conflicts, shared = 0, 0, 0
    votes = np.zeros(n_labels, dtype=np.int64)
    for i in range(len(starts) - 1):
        lo, hi = starts[i], starts[i + 1]
        first = root_of(parent, coder[lo])
        at = lo
        while at < hi:
            stop = at
            j = coder[at]
            while stop < hi and coder[stop] == j:
                stop += 1
            other = root_of(parent, j)
            if other != first:
                parent[other] = first
            if stop - at > 1:
                votes[:] = 0
                for n in range(at, stop):
                    votes[label[n]] += 1
                    if n > at:
                        repeats += 1
                        conflicts += label[n] != label[n - 1]
                pairs[j] += (stop - at) * (stop - at - 1) // 2
                for k in range(n_labels):
                    same[j] += votes[k] * (votes[k] - 1) // 2
            if at == lo and stop < hi:
                shared += 1
            at = stop
    return repeats, conflicts, shared
