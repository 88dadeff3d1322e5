"""What the choice of a model depends on, counted without fitting anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annomodels.data.annotations import Annotations


@dataclass(frozen=True)
class Facts:
    """Numbers about a data set.

    Parameters
    ----------
    items, coders, labels, annotations
        Sizes; labels is the size of the label set.
    per_item, per_coder
        Labels of the median item, and of the median coder.
    shared
        Share of items that two coders or more labelled.
    scale
        Scale of the labels.
    gold
        Number of items of known gold.
    repeats
        Labels that are a further one of the same coder on the same item.
    agreement
        Share of the pairs of labels of an item that are the same; NaN without pairs.
    """

    items: int
    coders: int
    labels: int
    annotations: int
    per_item: float
    per_coder: float
    shared: float
    scale: str
    gold: int
    repeats: int
    agreement: float


def facts_of(data: Annotations) -> Facts:
    """Count what the choice of a model depends on.

    Parameters
    ----------
    data
        The annotations.

    Examples
    --------
    >>> rows = [("t1", "a", "x"), ("t1", "b", "y"), ("t2", "a", "x")]
    >>> found = facts_of(Annotations.from_records(rows))
    >>> found.per_item, found.per_coder, found.shared, found.agreement
    (1.5, 1.5, 0.5, 0.0)
    """
    once = data.without_repeats()
    n = np.diff(once.starts)
    busy = np.bincount(data.coder, minlength=data.n_coders)
    pairs = float((n * (n - 1)).sum())
    same = float((once.votes * (once.votes - 1)).sum())
    return Facts(
        items=data.n_items,
        coders=data.n_coders,
        labels=data.n_labels,
        annotations=len(data),
        per_item=float(np.median(n)),
        per_coder=float(np.median(busy[busy > 0])),
        shared=float((n >= 2).mean()),
        scale=data.scale,
        gold=0 if data.gold is None else int((data.gold >= 0).sum()),
        repeats=data.repeats,
        agreement=same / pairs if pairs else float("nan"),
    )
