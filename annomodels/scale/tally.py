"""Counts of the gold standard of a streamed fit, in one pass over P(truth) by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.names import label_text
from annomodels.engines.source.disk import read_truths
from annomodels.limits import SETTLED
from annomodels.scale.summaries import believed, gold_rows
from annomodels.summaries.gold import LIMITS

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


MOST = 200  # maximum number of listed items
LISTED = ["item", "label", "probability", "runner_up", "n", "doubt"]


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of the gold standard."""

    settled: int  # number of items with a settled label, and of items with known truth
    known: int
    # one row per label: label, gold (items whose most probable label it is), settled
    labels: pd.DataFrame
    # the table of :func:`annomodels.summaries.gold.coverage`: threshold, kept, share,
    # accuracy, wrong; intervals need the labels in memory and are NaN
    thresholds: pd.DataFrame
    per_item: NDArray[np.int64]  # number of items with 0, 1, 2, ... labels
    # at most 200 unsettled items, least certain first; doubt is in bits
    open: pd.DataFrame


def tally(fit: Any) -> Tally:
    """Count the gold standard."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    names = tuple(label_text(name) for name in fit.data.labels)
    limits = np.array(LIMITS)
    dependent = believed(fit.tree, fit.data)
    n_known = 0
    by_label = np.zeros((2, len(names)), dtype=np.int64)
    kept, right = np.zeros(len(limits), dtype=np.int64), np.zeros(len(limits))
    per_item = np.zeros(fit.data.most + 1, dtype=np.int64)
    unsettled: list[pa.Table] = []
    for truth in read_truths(fit.truth, len(fit.data.blocks)):
        rows = gold_rows(truth, names, SETTLED, dependent)
        p = np.column_stack([truth[f"p_{name}"].to_numpy() for name in names])
        state = rows["state"].to_numpy()
        settled, known = state != "needs labels", state == "decided"
        best, sure = p.argmax(axis=1), p.max(axis=1)
        n_known += int(known.sum())
        by_label[0] += np.bincount(best, minlength=len(names))
        by_label[1] += np.bincount(best[settled], minlength=len(names))
        per_item += np.bincount(rows["n"].to_numpy(), minlength=len(per_item))
        above = (sure >= limits[:, None]) & ~known
        kept += above.sum(axis=1)
        right += (above * sure).sum(axis=1)
        more = rows.filter(pc.equal(rows["state"], "needs labels")).select(LISTED)
        least = pa.concat_tables([*unsettled, more]).sort_by([("doubt", "descending")])
        unsettled = [least.slice(0, MOST)]
    accuracy = np.divide(right, kept, out=np.full(len(kept), np.nan), where=kept > 0)
    table = {"threshold": limits, "kept": kept, "share": kept / max(int(kept[0]), 1)}
    ends = dict.fromkeys(("accuracy_low", "accuracy_high"), np.full(len(kept), np.nan))
    table |= {"accuracy": accuracy, **ends, "wrong": kept - right}
    counts = {"label": list(names), "gold": by_label[0], "settled": by_label[1]}
    return Tally(
        settled=int(by_label[1].sum()),
        known=n_known,
        labels=pd.DataFrame(counts),
        thresholds=pd.DataFrame(table),
        per_item=per_item,
        open=unsettled[0].to_pandas(),
    )
