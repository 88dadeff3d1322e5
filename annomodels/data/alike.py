"""Coders who gave one label: nothing tells one of them from another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations

# share of the labels by coders who gave no other one from which these coders are taken for one
MOSTLY = 0.5


def single_labels(data: Annotations) -> float:
    """Share of the labels that come from coders who gave no other label.

    Examples
    --------
    >>> rows = [("t1", "a", 0), ("t1", "b", 1), ("t2", "a", 1), ("t2", "c", 1)]
    >>> single_labels(Annotations.from_records(rows))
    0.5
    """
    return float((data.per_coder == 1).sum()) / max(len(data), 1)


def told_apart(data: Annotations) -> int:
    """Count the coders that are told apart, those who are not as one.

    Examples
    --------
    >>> rows = [("t1", "a", 0), ("t1", "b", 1), ("t2", "a", 1), ("t2", "c", 1)]
    >>> told_apart(Annotations.from_records(rows))
    2
    """
    if single_labels(data) < MOSTLY:
        return data.n_coders
    return data.n_coders - int((data.per_coder == 1).sum()) + 1


def taken_together(data: Annotations) -> tuple[Annotations, NDArray[np.int64]]:
    """Take coders who gave one label for one coder, where most labels are theirs.

    A label that is all that is known of its coder is a draw from the population of coders, and
    nothing is lost: given the truth such labels are independent and alike.

    Parameters
    ----------
    data
        The labels.

    Returns
    -------
    tuple
        Data with as many labels, in another order within items, and the place of each coder among
        the coders of these data.
    """
    place = np.arange(data.n_coders)
    if single_labels(data) < MOSTLY:
        return data, place
    one = data.per_coder == 1
    first = int(one.argmax())
    kept = np.flatnonzero(~one | (place == first))
    place = np.searchsorted(kept, np.where(one, first, place))
    coder = place[data.coder]
    order = np.lexsort((coder, data.item))
    together = data.replace(
        item=data.item[order],
        coder=coder[order].astype(data.coder.dtype),
        label=data.label[order],
        coders=tuple(data.coders[j] for j in kept),
        dont_know=(),
        unanswered=None,
    )
    return together, place
