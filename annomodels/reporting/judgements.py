"""Single labels that look like a slip: the coder usually knows better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.summaries.draws import SMALLEST

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["suspicious"]

_BLOCK = 1_000_000


def suspicious(fit: Any, most: int = 40) -> pd.DataFrame:
    r"""Find the labels that were least to be expected from the other labels of their items.

    With the truth's probabilities p and the mean confusion matrix of the coder,

    .. math:: P(y_n \mid y_{-n}) = 1 / \sum_k p_{ik} / confusion_{j,k,y_n},

    the probability that this coder gives this label to this item, given what all others said.
    Only labels that differ from the gold label are listed.

    Parameters
    ----------
    fit
        A fit.
    most
        How many labels to list.

    Returns
    -------
    pandas.DataFrame
        item, coder, said, gold, probability (of the gold label), expected (the probability above);
        the least expected first.
    """
    import pandas as pd

    data = fit.data
    p = np.asarray(fit.tree["truth"]["p_truth"].values, dtype=float)
    confusion = np.asarray(fit.tree["posterior"]["confusion"].mean(("chain", "draw")).values)
    if confusion.ndim == 2:
        confusion = np.broadcast_to(confusion, (data.n_coders, *confusion.shape))
    inverse = 1.0 / np.maximum(confusion, SMALLEST)
    expected = np.empty(len(data))
    for first in range(0, len(data), _BLOCK):
        part = slice(first, first + _BLOCK)
        item, coder, label = data.item[part], data.coder[part], data.label[part]
        expected[part] = 1.0 / np.einsum("nk,nk->n", p[item], inverse[coder, :, label])
    best = p.argmax(axis=1)
    differs = np.flatnonzero(data.label != best[data.item])
    found = differs[np.argsort(expected[differs], kind="stable")[:most]]
    items = data.item[found]
    return pd.DataFrame(
        {
            "item": [data.items[i] for i in items],
            "coder": [data.coders[j] for j in data.coder[found]],
            "said": [data.labels[k] for k in data.label[found]],
            "gold": [data.labels[k] for k in best[items]],
            "probability": p[items, best[items]],
            "expected": expected[found],
        }
    )
