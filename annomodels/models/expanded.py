"""Annotations in which whether a coder answered is a label by a shadow of that coder."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from annomodels.data.annotations import Annotations

__all__ = ["Expanded", "expanded"]


@dataclass(frozen=True, eq=False, repr=False)
class Expanded(Annotations):
    """Annotations whose last coders are shadows: their labels are no votes.

    Parameters
    ----------
    n_silent
        Number of shadows.
    """

    n_silent: int = 0


def expanded(data: Annotations) -> Expanded:
    """Give each coder a shadow for each kind of no answer.

    The shadow of coder j and kind m stands at place J (m + 1) + j. Where the coder gave that kind,
    it says 1; where they gave a later kind or a class, 0; where they gave an earlier kind, nothing.
    For the confusion family, P(labels | truth) is then a product over coders and shadows.

    Parameters
    ----------
    data
        Annotations with labels that are no class.

    Examples
    --------
    >>> rows = [(1, "a", "x"), (1, "b", "dk"), (2, "a", "y"), (2, "b", "x")]
    >>> found = expanded(Annotations.from_records(rows, dont_know=["dk"]))
    >>> found.coder.tolist(), found.label.tolist()
    ([0, 2, 3, 0, 1, 2, 3], [0, 0, 1, 1, 0, 0, 0])
    """
    kinds, coders = len(data.dont_know), data.n_coders
    none = np.empty((0, 3), dtype=np.int32)
    item_no, coder_no, kind = (none if data.unanswered is None else data.unanswered).T
    item, coder, label = [data.item], [data.coder], [data.label]
    for m in range(kinds):
        later = kind >= m
        item += [data.item, item_no[later]]
        shadow = coders * (m + 1)
        coder += [data.coder + shadow, coder_no[later] + shadow]
        label += [np.zeros_like(data.label), (kind[later] == m).astype(np.int32)]
    items, whose, said = np.concatenate(item), np.concatenate(coder), np.concatenate(label)
    order = np.lexsort((whose, items))
    shadows = [(name, text) for text in data.dont_know for name in data.coders]
    kept = {f.name: getattr(data, f.name) for f in fields(Annotations)}
    kept |= {
        "item": items[order],
        "coder": whose[order],
        "label": said[order],
        "coders": (*data.coders, *shadows),
        "unanswered": None,
        "dont_know": (),
    }
    return Expanded(**kept, n_silent=kinds * coders)
